#' Fit a Gaussian-process model
#'
#' Regression or classification with a Gaussian-process prior on the latent function, by expectation
#' propagation. Hyperparameters are chosen by maximising the log evidence plus log [priors], and
#' with few observations integrated out ([integration]).
#'
#' The formula method prepares the response and the inputs as [lm()] does, without an intercept
#' column. A factor is one input unless a kernel, contrasts or interactions ask for columns, see
#' "Factors".
#'
#' @section Factors:
#' By default (`coding = NULL`, no `kernel`) a factor or character among the inputs is one input, as
#' a number is. Kernels see it as an indicator of every level; the variances of these sum
#' to that of one standardised number: two different levels are at squared distance 2 / V, with V
#' one minus the sum of the squared proportions of the levels, whatever their order, their names,
#' and how rare they are. No such columns are made: a level is a number, which is compared, so a
#' factor may have thousands of levels. It has one length scale (with `ard = TRUE` of its own), in
#' units of the standardised indicators: divided by \eqn{\sqrt{2 / V}}{sqrt(2 / V)} it is in units
#' of the distance of two levels. In [kernel_linear()] and [kernel_poly()] the product of two inputs
#' is 1 / V within a level and 0 between levels: a random effect. With `scale = FALSE` V is 1.
#' Logicals are numbers 0 and 1, which comes to the same. An ordered factor is read as the number of
#' its level, or as other factors are if that is better: a default fit compares both ([structure]).
#' Levels that no row had are predicted as further ones, see `unseen` of
#' [predict][predict.sparsegp]; [update()][update.sparsegp] learns them.
#'
#' Factors are columns of contrasts (`coding = "contrasts"` says so for all) where a `kernel` is
#' given, for factors that interactions of the formula are with, and for those that have contrasts
#' (`contrasts(f) <- `). `coding = "levels"` makes one input of each with any kernel of distances or
#' inner products; [kernel_periodic()], [kernel_trig()] and kernels of fields want numbers.
#'
#' @section What happens to the data:
#' Rows with missing values are left to `na.action`; rows with a missing response are kept
#' by the likelihood for rows without labels, [lik_nullcat()]. Inputs are centred and
#' divided by their standard deviations when `scale = TRUE`; a constant input is kept out and
#' reported, and where all are constant there is a warning. A factor of one level is a constant
#' input, too. There is a warning where the response does not vary or there are fewer than three
#' rows to learn from. For regression the average of the response less the offset is removed from
#' the response and added again at prediction, and the response is standardised inside, so
#' adding 100 to it or multiplying it by 1e100 changes nothing else (but with `mean = "zero"`).
#'
#' Columns of class `integer64`, as databases return them, become doubles, `POSIXlt` becomes
#' `POSIXct`; of dates and times the number of days or seconds counts, of a `difftime` the number in
#' the units of the first rows, into which later ones are converted. Columns that a formula cannot
#' use, such as lists or complex numbers, are errors.
#'
#' @section The prior mean:
#' For a response of numbers the prior mean is \eqn{m(x) = \sum_j c_j \phi_j(x)}{m(x) = sum_j c_j
#' phi_j(x)}, by default with the constant \eqn{\phi_1 = 1}{phi_1 = 1} alone. The coefficients have
#' the vague prior N(0, v), v = `r format(policy$mean_variance, scientific = TRUE)` in variances of
#' the response (inputs have standard deviation 1), and are integrated out, as in ordinary and
#' universal kriging. Near the data that changes little; far from them predictions return to the
#' estimate by generalised least squares and not to the average of the response, and their variance
#' has that of the coefficients in it. With \eqn{\Phi}{Phi} of the observations, their kernel matrix
#' K, sites of precisions T and \eqn{W = (K + T^{-1})^{-1}}{W = (K + T^-1)^-1}, \deqn{c \sim
#' N(P^{-1} \Phi' W \tilde y, P^{-1}), \quad P = \Phi' W \Phi + I / v,}{% c ~ N(P^-1 Phi'W y, P^-1),
#' P = Phi'W Phi + I / v,} \deqn{\mathrm{var}\, f(x) = k(x, x) - k' W k + u' P^{-1} u, \quad u =
#' \phi(x) - \Phi' W k}{% var f(x) = k(x, x) - k'W k + u'P^-1 u,   u = phi(x) - Phi'W k} with k the
#' kernel between x and the observations and \eqn{\tilde y}{y} the responses, or the means of their
#' sites. `summary()` shows estimates and standard errors, `print()` those of the constant. Several
#' components have coefficients each.
#'
#' A vague prior takes log(v) / 2 off the log evidence for each coefficient, however well the model
#' fits. The log evidence that is reported is that of the model plus log(v) / 2: the value under a
#' prior whose density is that of N(0, 1) at 0, in standard deviations of the response, which is
#' worth about one observation (Kass and Wasserman 1995). So `compare()` may decide between
#' `"constant"` and `"zero"`; with `"average"` nothing is paid for a constant that was read off the
#' responses.
#'
#' On a basis the coefficients are carried beside the inducing points, with the same prior, and
#' [updates][update.sparsegp], [merged fits][merge.sparsegp] and sources have them, too. Streams,
#' fits by the active observations alone (`method_ivm(refine = "active")` or `"none"`), sweeps that
#' give the posterior (`projection = "kl"`, `freeze = Inf`) and fits with `augment` have the average
#' plugged in, as all fits of earlier versions; there `"constant"` and formulas are errors if they
#' are asked for. A linear mean is of inputs of the model: `sparsegp(y ~ x + z, data, kernel =
#' kernel_rbf(vars = "x"), mean = ~ z)` has z in the mean only.
#'
#' Labels, counts and positive numbers have a bias with a normal prior of its own, see [priors]. It
#' is learned: default fits of at most `r policy$integrated_rows` observations integrate over it
#' with the other hyperparameters ([integration]), others have it at its maximum. With `mean =
#' "constant"` it is integrated out as above, under its own prior: `coef()` then has the mean of
#' that prior, `print()` shows the estimate, and far from the data predictions are less sure. In
#' simulations of 15 to 60 observations (`bench/constant.R`) 90 % intervals of the linear predictor
#' beyond the data held 0.76 with all hyperparameters at their maximum, 0.94 with the bias
#' integrated out, and 0.92 by default; with 400 labels 0.84 by default, and 0.97. Left-out
#' observations of seven sets, which lie among the others, hardly differ. It is for one latent
#' function: two classes, not several.
#'
#' @section Matrices:
#' A sparse matrix of package Matrix with up to 1e8 numbers, zeros included, becomes an ordinary
#' one.
#'
#' @section Checkpoints:
#' A fit of a source writes the `checkpoint` of [gp_control()] after hyperparameters and basis are
#' settled, after each evaluation of the evidence of all rows and after each sweep, whole or not at
#' all; sites are in a folder of that name with `.sites` after it. If the process is killed, the
#' same call with the same rows continues from there and ends with the same numbers: if kernel or
#' method draw at random, the state of the generator is in the file, too. At the end both are
#' removed. A file of another fit, rows that have changed since, and a folder of that name that is
#' not the fit's are errors.
#'
#' @section What is chosen:
#' Without a `kernel` the log evidence of some rows decides about the scale of the inputs, about one
#' length scale or one for each input, and about the kernel: see [structure]. `fit$choices` has all
#' candidates, `print()` and `summary()` show them.
#'
#' @section Skewed inputs:
#' With `scale = "log"` an input whose skewness is at least `r policy$skewed_inputs` in size, and
#' that has at least `r policy$skewed_values` different values, is replaced by \eqn{\log(1 +
#' d/u)}{log(1 + d / u)}, d its distance from its smallest value (from its largest one with the sign
#' changed, if it is skewed to the left), before it is centred and divided by its standard
#' deviation. The unit u > 0 is that by which it is most like a normal sample, by maximum
#' likelihood: a small one is the logarithm, a large one leaves the input as it is. Beyond the
#' smallest value the map goes on as a straight line, so new values may lie anywhere. Units and
#' origin of an input change nothing. Times, levels of factors, inputs of periodic kernels and those
#' of a vector field are left alone.
#'
#' The map is part of the fit (`fit$scaling$warp`): data, plots, [basis()] and [next_points()] are
#' in the inputs' own units. `coef()` shows length scales of the scaled inputs, as always;
#' `summary()` shows them in units of the input, too, which for such an input are those at its
#' median: the function bends over shorter distances where it is smaller (or, skewed to the left,
#' larger). For a stream the map is settled by its pilot, for a source by the rows in memory.
#'
#' @section Units of inputs and order of levels:
#' The units and the origin of the response, the order of columns and of the response's classes
#' change no answer, and neither does that of rows, while all are fitted at once. (The inputs of a
#' vector field go with its components in pairs: order these alike.) By default two things may:
#'
#' * The units of the inputs. One scale for all inputs is among what the evidence chooses from, and
#'   it is another one once an input is in other units: in trials with three classes probabilities
#'   then changed by up to 0.25. With `scale = TRUE` units change nothing. A change of unit that all
#'   inputs share matters only with `scale = FALSE`. `print()` and `summary()` show which scaling
#'   was chosen.
#' * The order of a factor's levels among the inputs, with `coding = "contrasts"`. Treatment
#'   contrasts put the first level nearer to all others than these are to each other; in trials its
#'   choice changed predictions by some per cent. Factors that are one input treat all levels alike.
#'
#' @section The response:
#' Numbers: regression, unless a binary likelihood is given, which then takes 0/1 or -1/1. A
#' logical, or a factor or character vector with two levels: classification; the model is for the
#' probability of the second level. With more levels: one model of all classes by [lik_mprobit()],
#' or one-vs-rest models by `lik_probit()` where there are many rows and neither a method,
#' a basis nor a likelihood was given, or if `lik_probit()` or `lik_logit()` is asked for. Whole
#' numbers are classes for `lik_mprobit()` and `lik_softmax()`. An ordered factor with more than two
#' levels: ordered categories, by [lik_ordinal()], unless a latent function for each category
#' predicts better ([structure]). That likelihood also takes whole numbers and plain factors if
#' asked for. With a likelihood of classes, such as [lik_mprobit()], an ordered factor has the model
#' of one without an order, and the predictions of ordered categories. Two columns of counts,
#' `cbind(successes, failures)`: [lik_binomial()], unless another likelihood is given. Other columns
#' of numbers, `cbind(u, v) ~ x + y`: components of one response, see below. With the family
#' `binomial`, numbers with `weights` are proportions of as many trials, as in [glm()].
#'
#' @section Several components:
#' `cbind(u, v) ~ x + y` fits 2 to 8 components at once, by one kernel that knows how they go
#' together: [kernel_helmholtz()] for currents and winds, [kernel_coregion()] (the default) for any
#' numbers. In a row some components may be missing; a row without any is left to `na.action`. Their
#' noise is that of [lik_gaussian()], by default of one variance for all. All components have one
#' unit, so the fit turns with the field; each has its own constant (fields that have none want
#' `mean = "zero"`). An `offset()` may have a column for each. Sizes of bases count locations, of
#' which every one carries all components.
#'
#' Predictions are matrices with a column for each component, see [predict][predict.sparsegp].
#' Residuals are such matrices; quantile residuals are of each component by itself. `loo_lpd()` is
#' of a row's components together. `simulate()` gives a data frame of matrices.
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
#' added, exchanged or skipped (see [methods]), and `trace`, see [plot][plot.sparsegp]. For fits of
#' all rows at once `fit$convergence` records `sweeps`, `change` (the largest distance of a tilted
#' moment from the posterior's), `tol`, `converged`, `damped` and `sequential` (sweeps), `skipped`
#' (refused site updates), `widening` (sites of negative precision), `flat` (rows that were kept
#' from having one, see [likelihoods]) and `trace` (log evidence and change, sweep by sweep);
#' `fit$learning` the search. `print()` and `summary()` say when something did not converge, and
#' there is one warning.
#'
#' @param x A formula; or a numeric matrix, vector or data frame of numbers with a row for each
#'   observation and a column for each input. See "Matrices" for sparse ones.
#' @param formula,data Model formula, and a data frame or environment with its variables, or a
#'   source of more rows than memory holds ([row_source()]). Terms `offset()` are known prior means
#'   of the latent function. The data may stand first: `data |> sparsegp(y ~ x)`.
#' @param y Response: one value for each row, or a matrix with a column for each component.
#' @param likelihood `NULL` (chosen from the response), a [likelihood][likelihoods], its name, or an
#'   R `family`. `"binomial"` is the name of [lik_binomial()], which is for trials.
#' @param family As `likelihood`, by the names of [glm()]: see [likelihoods].
#' @param kernel A [kernel][kernels], or its name, such as `"rbf"` or `"matern52"`. `NULL`: chosen
#'   by the evidence, see [structure]; with `learn = FALSE` `kernel_rbf()`.
#' @param method `NULL` (full EP of small data, inducing points (the *basis*) beyond), a
#' [method][methods] such as
#'   `method_ep(size = 100)`, or its name.
#' @param learn `TRUE` (learn all hyperparameters that are not `fixed()`), `FALSE`, or a
#'   [learn_control()].
#' @param prior Named list of [priors] that replace the defaults.
#' @param basis Inducing points (the *basis*) of your own: two or more row numbers (among the rows
#'   used), a matrix with the inputs' columns, or for formulas a data frame, see [basis]. `NULL`:
#'   left to the method.
#' @param transform The scale on which a response of numbers is fitted, such as `"log"` or
#'   `"identity"`, or a [response_scale()]. `NULL`: that of `likelihood`, or chosen, see
#'   [structure].
#' @param mean The prior mean of the latent function: `"constant"`, a constant that is integrated
#'   out, and with `NULL` the default, but for [fields][kernels_of_vectors]; a formula such as `~ x +
#'   z`, likewise; `"average"`, that of the response, as if it were known; `"zero"`. Of labels and
#'   counts `NULL` learns the bias, `"constant"` integrates it out, and `"average"` is the same as
#'   `NULL`. See "The prior mean".
#' @param coding How factors become inputs: `"levels"`, one input each; `"contrasts"`, columns as in
#'   [lm()]; `NULL`: levels unless a kernel, contrasts or interactions need columns. See "Factors".
#' @param structure `NULL`: response scale, kernel and input scale are chosen if they are left open,
#'   see [structure]. `"fixed"`: [kernel_rbf()] with one length scale, and nothing is chosen.
#' @param subset Rows to use, an expression in the variables of `data`, as in [lm()].
#' @param weights Positive numbers: the noise variance of an observation is `noise / weight`
#'   (Gaussian), its number of trials ([lik_binomial()]), or how many observations it stands for
#'   ([lik_poisson()], [lik_negbin()]). Those of weight 0 are left out, and `nobs()` without them.
#' @param na.action What to do with rows with missing values, a function such as [na.omit()] or
#'   [na.exclude()]; default `getOption("na.action")`.
#' @param offset Known prior mean of the latent function, a number for each row; for a formula an
#'   expression in the variables of `data`. Not with several coupled or joint classes.
#' @param scale `TRUE`: each input is divided by its standard deviation; `"common"`: all by one
#'   number; `"log"`: as `TRUE`, with skewed inputs on a log scale; `FALSE`: not scaled. `NULL`:
#'   chosen, see [structure], or `TRUE` if a kernel is given. Kernel arguments and `coef()` are in
#'   scaled units.
#' @param like A fit on inducing points. The new fit has its formula, likelihood, kernel,
#'   hyperparameters, scaling and points, and learns nothing; such fits can be
#'   [merged][merge.sparsegp]. Only `data` (or `x`, `y`, `offset`), `weights`, `basis` and
#'   `control` may be given with it.
#' @param augment `NULL`, or a function that makes virtual copies of rows, such as [shift_images()]
#'   or [jitter_rows()], see [copies]. Not with points that are learned.
#' @param control A [gp_control()]: the computational budget, whether hyperparameters are integrated
#'   out, what is kept, shown and saved on the way.
#' @param ... Nothing: an unknown argument is an error. Arguments of [gp_control()] are taken with a
#'   message.
#' @return An object of class `sparsegp`, plain R data that can be saved. Methods: `print`,
#'   [summary][summary.sparsegp], [predict][predict.sparsegp], [plot][plot.sparsegp], `coef`
#'   (hyperparameters on the natural scale), `fitted`, [residuals][residuals.sparsegp], `logLik`
#'   (log evidence), `nobs`, `formula`, [update][update.sparsegp], [simulate][simulate.sparsegp],
#'   [draws()], [loo()], [compare()], [calibration()], [importance()], [confint][confint.sparsegp],
#'   [family][frames], [sites()], [basis()], [kl()], [merge][merge.sparsegp], and more of [lm()]'s
#'   ([frames]) and of [other packages][other-packages]. Fits by `method_online()` keep no rows:
#'   `fitted`, `residuals`, `sites`, `loo_lpd` and predictions without `newdata` are errors.
#'
#' Bad input is an error of class `sparsegp_error` that names the argument and the remedy.
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
#' @concept kriging
#' @concept Gaussian process regression
#' @concept emulator
#' @concept surrogate
#' @concept sparse GP
#' @concept inducing points
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' fit
#' predict(fit, data.frame(speed = c(10, 20)), interval = "prediction")
#'
#' fit <- sparsegp(factor(am) ~ wt + hp, mtcars, likelihood = "probit")
#' predict(fit, mtcars[1:3, ], type = "prob")
#'
#' fit <- sparsegp(Species ~ Petal.Length + Petal.Width, iris[1:50 * 3, ])
#' summary(fit)
#'
#' set.seed(1)
#' d <- data.frame(x = runif(40, 0, 3), y = runif(40, 0, 3))
#' d$u <- sin(d$y) + 0.1 * rnorm(40)
#' d$v <- cos(d$x) + 0.1 * rnorm(40)
#' fit <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel_helmholtz())
#' predict(fit, d[1:2, ], se.fit = TRUE)
#' @export
sparsegp <- function(x, ...) UseMethod("sparsegp")

#' @rdname sparsegp
#' @export
sparsegp.formula <- function(formula, data, likelihood = NULL, kernel = NULL,
                             method = NULL, learn = TRUE, prior = NULL, basis = NULL, subset,
                             weights, na.action, scale = NULL, like = NULL, family = NULL,
                             offset, augment = NULL, coding = NULL, transform = NULL,
                             structure = NULL, mean = NULL, control = gp_control(), ...) {
  control <- full_control(control, ...)
  call <- with_own_words(match.call(), parent.frame())
  call[[1L]] <- quote(sparsegp)
  if (!missing(offset)) {
    if (is.character(call$offset)) {
      stop_sparsegp("offset", "is text", "Give an expression in the variables of `data`, no name")
    }
    call$formula <- formula <- with_offset(formula, call$offset)
    call$offset <- NULL
  }
  if (!is.null(like)) return(fit_like(like, call, control, parent.frame()))
  if (length(formula) < 3L) {
    stop_sparsegp("formula", "has no response", "Write it as response ~ inputs")
  }
  check_foreign_terms(formula)
  likelihood <- likelihood_or_family(likelihood, family)
  setup <- check_setup(likelihood, kernel, method, learn, prior, scale, control, basis, augment,
                       transform, structure, mean)
  setup["coding"] <- list(check_coding(coding))
  data <- if (!missing(data)) evaluated_data(data)
  source <- source_for(data, formula, call, setup)
  recipe <- new_recipe(formula, call, parent.frame(), setup$likelihood, time_column(setup$method),
                       drop = is.null(source) && !setup$streams)
  fit <- if (!is.null(source)) {
    if (!is.null(augment)) refuse_augment("is for rows in memory, and these are of a source")
    blaming("data", fit_source(source, recipe, setup, control$checkpoint))
  } else {
    refuse_checkpoint(control$checkpoint)
    first <- first_rows(recipe, data, setup)
    if (setup$streams) {
      blaming("data", start_stream(first$rows, first$setup, first$recipe$terms, first$clocks))
    } else {
      made <- fit_read(first$recipe, first$rows, first$setup)
      made$clocks <- first$clocks
      with_frame(made, first$rows$x)
    }
  }
  fit$call <- call
  integrated_fit(packed_fit(fit), setup)
}

# Returns data as a source of the columns that a call names, or NULL, see as_source().
source_for <- function(data, formula, call, setup) {
  source <- as_source(data)
  if (is.null(source)) return(NULL)
  others <- c(as.character(time_column(setup$method)), setup$likelihood$custom$data)
  narrowed_to(source, variables_of_call(list(formula, setup$mean), call, others))
}

# Returns the call with what its user wrote in place of `..1`, which stands for an argument that a
# function passes on as `...`. frame: of that function.
with_own_words <- function(call, frame) {
  symbols <- which(vapply(as.list(call), is.symbol, NA))
  words <- vapply(as.list(call)[symbols], as.character, "")
  passed <- grepl("^[.][.][0-9]+$", words)
  written <- if (any(passed)) as.list(eval(quote(substitute(list(...))), frame))[-1L]
  call[symbols[passed]] <- written[as.integer(substring(words[passed], 3L))]
  call
}

#' @rdname sparsegp
#' @export
sparsegp.default <- function(x, y, likelihood = NULL, kernel = NULL, method = NULL,
                             learn = TRUE, prior = NULL, basis = NULL, weights = NULL,
                             na.action = NULL, offset = NULL, scale = NULL, like = NULL,
                             family = NULL, augment = NULL, transform = NULL, structure = NULL,
                             mean = NULL, control = gp_control(), ...) {
  call <- with_own_words(match.call(expand.dots = TRUE), parent.frame())
  call[[1L]] <- quote(sparsegp)
  if (!is.null(like)) return(fit_like(like, call, control_beside(control, ...), parent.frame()))
  if ("formula" %in% names(call) || !missing(y) && inherits(y, "formula")) {
    first <- formula_first(call)
    if (identical(first, call)) { # which has brought us here
      stop_sparsegp("formula", "is no formula", "Write it as response ~ inputs")
    }
    return(eval(first, parent.frame()))
  }
  if (missing(x)) stop_sparsegp("x", "is missing", "Give a formula or a matrix first")
  if (is.character(x)) {
    stop_sparsegp("x", "is text", "Give numbers, or write the formula without quotes")
  }
  control <- full_control(control, ...)
  likelihood <- likelihood_or_family(likelihood, family)
  setup <- check_setup(likelihood, kernel, method, learn, prior, scale, control, basis, augment,
                       transform, structure, mean)
  y <- if (!missing(y)) plain_column(y, "y")
  setup <- complete_setup(setup, y, weights)
  lik <- setup$likelihood
  weights <- weights_of_fit(lik, weights, NROW(x))
  if (!is.null(time_column(setup$method))) {
    stop_sparsegp(clock_argument(setup$method), "names a column, and the rows are a matrix",
                  "Fit a formula, or give a half-life in rows")
  }
  recipe <- new_matrix_recipe(na.action, lik)
  rows <- read_rows(recipe, x, y, offset, weights)
  names <- colnames(rows$x)
  setup$kernel <- share_inputs(setup$kernel, names, names)
  setup["na.action"] <- list(na.action)
  if (chunk_size(rows) == 0L && !setup$streams) {
    if (is.null(rows$omitted)) stop_sparsegp("x", "has no rows", "Give one row per observation")
    stop_incomplete("x", c(as.list(as.data.frame(check_inputs(x))), list(y = y),
                           list("(weights)" = weights)[!is.null(weights)]))
  }
  fit <- if (setup$streams) blaming("x", start_stream(rows, setup))
         else fit_read(recipe, rows, setup)
  fit$call <- call
  integrated_fit(packed_fit(fit), setup)
}

check_coding <- function(coding) {
  if (is.null(coding)) return(NULL)
  check_choice(coding, c("levels", "contrasts"), "coding")
}

# Returns the call with the formula first, where the data stand there: d |> sparsegp(y ~ x), or
# sparsegp(data = d, formula = y ~ x).
formula_first <- function(call) {
  names <- names(call)
  if (all(c("data", "x") %in% names)) stop_sparsegp("x", "is given beside `data`", "Give one")
  if (!"formula" %in% names) names[names == "y"] <- "formula"
  if (!"data" %in% names) names[names == "x"] <- "data"
  names(call) <- names
  call[c(1L, order(names[-1L] != "formula") + 1L)]
}

# Every argument that is not data, checked.
check_setup <- function(likelihood, kernel, method, learn, prior, scale, control = gp_control(),
                        basis = NULL, augment = NULL, transform = NULL, structure = NULL,
                        mean = NULL) {
  if (!is.null(kernel)) kernel <- as_kernel(kernel)
  likelihood <- as_likelihood(likelihood)
  if (!is.null(transform)) likelihood <- with_transform(likelihood %||% lik_gaussian(), transform)
  method <- as_method(method, control$effort)
  search <- as_learn(learn)
  if (!is.null(scale) && !is_flag(scale) && !is_word(scale, c("common", "log"))) {
    stop_sparsegp("scale", "must be TRUE, FALSE, \"common\", \"log\" or NULL",
                  paste("TRUE divides every input by its own standard deviation, \"common\" all by",
                        "one; \"log\" takes logarithms of skewed inputs before"))
  }
  check_criterion(search, method, basis)
  refuse_variances_of_stream(likelihood, streams(method))
  refuse_constants_of_stream(likelihood, streams(method))
  list(likelihood = likelihood, kernel = kernel, method = method,
       streams = streams(method), control = search, prior = prior,
       scale = scale, keep_x = control$keep_x, verbose = control$verbose, basis = basis,
       augment = check_augment(augment, basis, streams(method)),
       structure = check_structure(structure), integrate = control$integrate,
       mean = check_mean(mean))
}

check_structure <- function(structure) {
  if (is.null(structure) || identical(structure, "fixed") || is_known_structure(structure)) {
    return(structure)
  }
  stop_sparsegp("structure", "must be NULL or \"fixed\"",
                "Leave it out for a model whose structure is chosen, or give a kernel")
}
