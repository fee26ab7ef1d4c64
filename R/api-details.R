# The help page of the details of a fit; sparsegp() is in api-sparsegp.R.

#' Details of a fit: factors, prior mean, scales, components, checkpoints
#'
#' How [sparsegp()] treats factors, missing values, constant and skewed inputs, units, several
#' responses and files, and the model for the mean.
#'
#' @details
#' The arguments are those of [sparsegp()] and [gp_control()].
#'
#' @section Factors:
#' By default (no `coding`, no `kernel`) a factor or character among the inputs is one input, as a
#' number is. Kernels treat it as an indicator of every level; the variances of these sum to that of
#' one standardised number: two different levels are at squared distance 2 / V, with V one minus the
#' sum of the squared proportions of the levels, whatever their order, their names, and how rare
#' they are. The indicators are not stored, so a factor may have thousands of levels. It has one
#' length scale (with `ard = TRUE` of its own), in units of the standardised indicators: divided by
#' \eqn{\sqrt{2 / V}}{sqrt(2 / V)} it is in units of the distance of two levels. In
#' [kernel_linear()] and [kernel_poly()] the product of two inputs is 1 / V within a level and 0
#' between levels: a random effect. With `scale = FALSE` V is 1. Logicals are coded 0/1, which is
#' equivalent. An ordered factor is coded by level number or as an unordered factor, whichever has
#' the higher evidence ([model_structure]). New levels are predicted from the prior, see `unseen` of
#' [predict][predict.sparsegp]; [update()][update.sparsegp] learns them.
#'
#' Factors are columns of contrasts (with `gp_control(coding = "contrasts")` all of them) where a
#' `kernel` is given, for factors in an interaction, and for those that have contrasts
#' (`contrasts(f) <- `). `coding = "levels"` makes one input of each with any kernel of distances or
#' inner products; [kernel_periodic()], [kernel_trig()] and kernels of fields need numbers.
#'
#' @section What happens to the data:
#' Rows with missing values are left to `na.action`; rows with a missing response are kept by the
#' likelihood for rows without labels, [lik_nullcat()]. Inputs are centred and divided by their
#' standard deviations when `scale = TRUE`; a constant input is left out, which `print()` shows, and
#' there is a warning if all are constant. A factor of one level is a constant input, too. There is
#' also a warning if the response does not vary, or if there are fewer than three rows to learn
#' from. For regression the average of the response minus the offset is removed from the response
#' and added again at prediction, and the response is standardised inside, so adding 100 to it or
#' multiplying it by 1e100 changes nothing else (except with `mean = "zero"`).
#'
#' Columns of class `integer64`, as databases return them, become doubles, `POSIXlt` becomes
#' `POSIXct`; dates are measured in days, date-times in seconds, and a `difftime` in the units of
#' the first rows, into which later ones are converted. Columns that a formula cannot use, such as
#' lists or complex numbers, are errors.
#'
#' @section The prior mean:
#' For a response of numbers the prior mean is \eqn{m(x) = \sum_j c_j \phi_j(x)}{m(x) = sum_j c_j
#' phi_j(x)}, by default with the constant \eqn{\phi_1 = 1}{phi_1 = 1} alone. The coefficients have
#' the vague prior N(0, v), v = `r format(policy$mean_variance, scientific = TRUE)` in variances of
#' the response (inputs have standard deviation 1), and are integrated out, as in ordinary and
#' universal kriging. Near the data that changes little; far from them predictions return to the
#' estimate by generalised least squares and not to the average of the response, and their variance
#' includes that of the coefficients. With \eqn{\Phi}{Phi} of the observations, their kernel matrix
#' K, sites of precisions T and \eqn{W = (K + T^{-1})^{-1}}{W = (K + T^-1)^-1}, \deqn{c \sim
#' N(P^{-1} \Phi' W \tilde y, P^{-1}), \quad P = \Phi' W \Phi + I / v,}{c ~ N(P^-1 Phi'W y, P^-1), P
#' = Phi'W Phi + I / v,} \deqn{\mathrm{var}\, f(x) = k(x, x) - k' W k + u' P^{-1} u, \quad u =
#' \phi(x) - \Phi' W k}{var f(x) = k(x, x) - k'W k + u'P^-1 u,   u = phi(x) - Phi'W k} with k the
#' kernel between x and the observations and \eqn{\tilde y}{y} the responses, or the means of their
#' sites. `summary()` shows estimates and standard errors, `print()` those of the constant. Several
#' components have coefficients each.
#'
#' A vague prior takes log(v) / 2 off the log evidence for each coefficient, however well the model
#' fits. The log evidence that is reported is that of the model plus log(v) / 2: the value under a
#' prior whose density is that of N(0, 1) at 0, in standard deviations of the response, which is
#' worth about one observation (Kass and Wasserman 1995). So `compare()` may decide between
#' `"constant"` and `"zero"`; with `"average"` the evidence is not penalised for estimating the
#' constant.
#'
#' On a basis the coefficients are carried beside the inducing points (the *basis*), with the same
#' prior, and [updates][update.sparsegp], [merged fits][merge.sparsegp] and sources have them, too.
#' Streams, fits by the active observations alone (`method_ivm(refine = "active")` or `"none"`),
#' sweeps that give the posterior (`projection = "kl"`, `freeze = Inf`) and fits with `augment` have
#' the average plugged in; there `"constant"` and formulas are
#' errors. A linear mean uses inputs of the model: `sparsegp(y ~ x + z, data, kernel =
#' kernel_rbf(vars = "x"), mean = ~ z)` has z in the mean only.
#'
#' Classes, counts and positive numbers have a bias with a normal prior of its own, see [priors]. It
#' is learned: default fits of at most `r policy$integrated_rows` observations integrate over it
#' with the other hyperparameters ([integration]), larger data use its posterior mode. With `mean =
#' "constant"` it is integrated out as above, under its own prior: `coef()` then has the mean of
#' that prior, `print()` shows the estimate, and far from the data predictions are less sure. In
#' simulations of 15 to 60 observations (`bench/constant.R`) 90 % intervals of the linear predictor
#' beyond the data covered 76 % of true values with all hyperparameters at their maximum, 94 % with
#' the bias integrated out, and 92 % by default; with 400 labels 84 % by default, and 97 % with the
#' bias integrated out. Among the data the choice hardly matters: predictions of left-out
#' observations of seven data sets were nearly the same. `mean = "constant"` is for one latent
#' function: two classes, not several.
#'
#' @section Matrices:
#' A sparse matrix of package Matrix with up to 1e8 numbers, zeros included, becomes an ordinary
#' one.
#'
#' @section Checkpoints:
#' A fit of a source writes the `checkpoint` of [gp_control()] after hyperparameters and basis are
#' chosen, after each evaluation of the evidence of all rows and after each sweep, whole or not at
#' all; sites are in a folder of that name with `.sites` after it. If the process is killed, the
#' same call with the same rows continues from there and ends with the same numbers: if kernel or
#' method draw at random, the state of the generator is in the file, too. At the end both are
#' removed. A file of another fit, rows that have changed since, and a folder of that name that is
#' not the fit's are errors.
#'
#' @section Skewed inputs:
#' With `scale = "log"` an input whose skewness is at least `r policy$skewed_inputs` in size, and
#' that has at least `r policy$skewed_values` different values, or `r policy$widening_values` whose
#' widest gap is at least `r policy$widening_gaps` times the narrowest, as of tenfold doses, is
#' replaced by \eqn{\log(1 + d/u)}{log(1 + d / u)}, d its distance from its smallest value (from its
#' largest one with the sign changed, if it is skewed to the left), before it is centred and divided
#' by its standard deviation. The unit u > 0 is that by which it is most like a normal sample, by
#' maximum likelihood: a small unit gives the logarithm, a large one leaves the input unchanged.
#' Beyond the smallest value the map continues as \eqn{-\log(1 + |d|/u)}{-log(1 + |d| / u)}, so new
#' values may lie anywhere. Units and origin of an input change nothing. Times, levels of factors,
#' inputs of periodic kernels and those of a vector field are left alone.
#'
#' The map is part of the fit (`fit$scaling$warp`): data, plots, [basis()] and [next_points()] are
#' in the inputs' own units. `coef()` shows length scales of the scaled inputs, as always;
#' `summary()` shows them in units of the input, too, which for such an input are those at its
#' median: the function bends over shorter distances where it is smaller (or, skewed to the left,
#' larger). For a stream the pilot determines the map, for a source the rows in memory.
#'
#' @section Units of inputs and order of levels:
#' The units and the origin of the response, the order of columns and of the response's classes
#' change no answer, and neither does that of rows, while all are fitted at once. (The inputs of a
#' vector field go with its components in pairs: order these alike.) By default two things may
#' change them:
#'
#' * The units of the inputs. One scale for all inputs is among what the evidence chooses from, and
#'   that scale depends on the units of each input: in trials with three classes probabilities
#'   then changed by up to 0.25. With `scale = TRUE` units change nothing. A change of unit that all
#'   inputs share matters only with `scale = FALSE`. `print()` and `summary()` show which scaling
#'   was chosen.
#' * The order of a factor's levels among the inputs, with `coding = "contrasts"`. Treatment
#'   contrasts put the first level nearer to all others than these are to each other; in trials its
#'   choice changed predictions by several per cent. Factors that are one input treat all levels
#'   alike.
#'
#' @section Several components:
#' `cbind(u, v) ~ x + y` fits 2 to 8 components at once, by one kernel for the dependence between
#' components: [kernel_helmholtz()] for currents and winds, [kernel_coregion()] (the default, see
#' [model_structure]) for any numbers. In a row some components may be missing; a row without any is
#' left to `na.action`.
#' Their noise is that of [lik_gaussian()], by default of one variance for all. All components have
#' one unit, so the fit of a rotated field is the rotated fit; each has its own constant (for fields
#' without one use `mean = "zero"`). An `offset()` may have a column for each. The size of a basis
#' counts locations, each of which carries all components.
#'
#' Predictions are matrices with a column for each component, see [predict][predict.sparsegp].
#' Residuals are such matrices; quantile residuals are computed for each component separately.
#' `loo_lpd()` is the joint log density of a row's components. `simulate()` gives a data frame of
#' matrices.
#'
#' @section Saving fits:
#' A fit can be saved by [saveRDS()]. It holds its call and formula, the inducing points, and for
#' many fits the inputs and responses of all rows. As with [lm()], a formula that was written inside
#' a function brings that function's variables along, however large or secret they are: write the
#' formula outside, or set `environment(formula) <- globalenv()` before the fit. A [shard()][shards]
#' carries neither rows nor such variables. Files of `checkpoint` hold the fit so far, with the
#' permissions that new files have (see [Sys.umask()]), often readable by others. Load fits and
#' checkpoints only from those you trust: `predict()` evaluates expressions of the formula, and
#' `update()` the call.
#'
#' @section Convergence:
#' For streams `fit$convergence` holds `fates`, the number of rows that were projected, declined,
#' added, exchanged or skipped (see [fit_methods]), and `trace`, see [plot][plot.sparsegp]. For fits
#' of all rows at once `fit$convergence` records `sweeps`, `change` (the largest distance of a
#' tilted moment from the posterior's), `tol`, `converged`, `damped` and `sequential` (sweeps),
#' `skipped` (refused site updates), `widening` (sites of negative precision), `flat` (sites whose
#' negative precision was clipped to zero, see [lik_student()]) and `trace` (log evidence and
#' change, sweep by sweep); `fit$learning` the search. `print()` and `summary()` report what did not
#' converge, and there is one warning.
#'
#' @references Kass, R. E. and Wasserman, L. (1995). A reference Bayesian test for nested hypotheses
#'   and its relationship to the Schwarz criterion. *Journal of the American Statistical
#'   Association* 90, 928-934.
#'
#' O'Hagan, A. (1978). Curve fitting and optimal design for prediction. *Journal of the Royal
#' Statistical Society B* 40, 1-42.
#'
#' Rasmussen, C. E. and Williams, C. K. I. (2006). *Gaussian processes for machine learning*,
#' section 2.7.
#'
#' Minka, T. P. *Gaussian EP* (update formulas), eqs 71-94. Seeger, M. (2002). *Notes on Minka's
#' expectation propagation for Gaussian process classification*.
#' @seealso [sparsegp()], [gp_control()].
#' @name sparsegp_details
NULL
