#' Likelihoods of numbers: normal, heavy-tailed and uneven errors
#'
#' `lik_gaussian()` is the default for numbers. `lik_laplace()` and `lik_student()` are robust
#' against outliers, and `lik_heteroscedastic()` lets the size of the errors depend on the inputs.
#'
#' | errors | likelihood | hyperparameters, in `coef()` |
#' |---|---|---|
#' | symmetric, without outliers | `lik_gaussian()` | `noise`, their variance, in squared units of the response; divided by `weights` of [sparsegp()] |
#' | of known variances | `lik_gaussian(variance = v)` | none |
#' | of several components, `cbind(u, v) ~ x + y` (multi-output, co-kriging) | `lik_gaussian(covariance = "full")` | `noise.u`, `noise.v`, `correlation.u.v` |
#' | larger for some inputs than for others | `lik_heteroscedastic()` | `noise`, the variance where the log standard deviation is 0 |
#' | some outliers | `lik_laplace()` | `scale`, the mean absolute error |
#' | gross outliers, to be ignored | `lik_student()` | `scale`; `df`, 4 by default |
#'
#' @details
#' ## Normal errors
#'
#' `lik_gaussian()` is for symmetric errors without outliers.
#'
#' * The hyperparameter `noise` is the variance of the errors, in squared units of the response.
#'   `weights` of [sparsegp()] divide it, observation by observation.
#' * *Known variances.* Measurements with error bars of their own have `variance = <vector>`. The
#'   noise is then not learned; `coef()` shows the variances' geometric mean as `noise`. Prediction
#'   intervals need the variances of the new observations ([predict(weights = 1 /
#'   variance)][predict.sparsegp]). For streams use `lik_gaussian(fixed(1))` with `weights = 1 /
#'   variance`.
#' * *Several components*, `cbind(u, v) ~ x + y`. `covariance = "spherical"`: independent errors of
#'   one variance `noise`; `"diagonal"`: a variance for each, `noise.u` and `noise.v`; `"full"`:
#'   with correlations, `correlation.u.v`, for more than two components partial correlations given
#'   the components before the first of the two. A component may be missing in an observation. There
#'   are no weights.
#' * Outliers pull the function with a force that grows with their distance, and the scatter of
#'   counts and proportions depends on their mean: use other likelihoods for these.
#' * *Source*: thesis, section 2.4; in closed form.
#'
#' ## Computer experiments
#'
#' The result of a deterministic program has no noise. A default fit compares almost no noise with
#' the usual prior ([model_structure], "noise"), and chooses it if the evidence is higher and no two
#' rows with the same inputs differ. With a `kernel` of your own give the noise:
#' `lik_gaussian(variance = fixed(1e-8 * var(y)))`. A variance of 0 is refused, as the covariance
#' matrix of close rows could not be factorised.
#'
#' ## Errors that change their size
#'
#' A default fit takes `lik_student()` or `lik_heteroscedastic()` by itself where its residuals
#' suggest it ([model_structure], "The noise").
#'
#' Under `lik_heteroscedastic()` both the mean \eqn{u} and the log standard deviation \eqn{g} of the
#' errors are functions of the inputs, \eqn{y \sim N(u, noise \exp(2 g))}{y ~ N(u, noise exp(2 g))}.
#'
#' * It has two latent functions, `mean` and `log_sd`, and an observation's site is a 2 x 2 block.
#'   The kernel is of these components, by default `kernel_coregion(rank = 0)`: independent a
#'   priori, with length scales in common ([model_structure], "Several latent functions"). Give a
#'   sum of two such kernels for others.
#' * `predict()` gives the mean, and prediction intervals that are as wide as the errors there.
#'   `type = "latent"` gives both functions, the second as the logarithm of the errors' standard
#'   deviation in units of the response, with their covariances.
#' * The hyperparameter `noise` is the variance where \eqn{g = 0}{g = 0}. Not log-concave.
#' * `plot()` has types `"fit"`, `"trace"` and `"choices"`; measures of influence, degrees of
#'   freedom and [importance()] are errors.
#' * *Accuracy*: on half of `MASS::mcycle` the log evidence was 0.55 nats too low, and standard
#'   deviations of the latent functions were 7 per cent too small.
#' * *Source*: none of the papers; compare package hetGP. The integral over the mean is in closed
#'   form, that over the spread by quadrature, to 1e-10.
#'
#' ## Outliers
#'
#' `lik_laplace()` has heavier tails than the normal distribution: the pull of an outlier does not
#' grow with its distance, but it does not vanish either.
#'
#' * The hyperparameter `scale` is the mean absolute error, in units of the response. The variance
#'   of the errors is \eqn{2 scale^2}{2 scale^2}.
#' * *Source*: the thesis (section 5.5) names it as future work. The integrals involve two
#'   truncated normal distributions and are accurate in all tails.
#'
#' `lik_student()` ignores gross outliers: their pull falls to zero.
#'
#' * The hyperparameters are `scale`, in units of the response, and `df`, above 2, where the errors
#'   have a variance. `df` is `fixed(4)` by default, because a few outliers carry little information
#'   about it.
#' * Not log-concave. An observation may widen the posterior, and its site then has a negative
#'   precision (`fit$convergence$widening` counts these); evidence and gradient remain exact. A step
#'   of EP is halved until the posterior is a proper distribution. If there is no such fixed point
#'   nearby, negative site precisions are clipped to zero, `fit$convergence$flat` counts them, and
#'   the gradient of the evidence is a few per cent off: compare a few given values by `logLik()`
#'   then, or use a larger `scale`.
#' * For data without outliers `lik_gaussian()` is exact, faster, and has fewer local optima.
#' * *Accuracy*: on `airquality` and, with its outliers, on `MASS::phones` the log evidence was
#'   within 0.03 nats of long Monte Carlo runs, and means of the latent function within 0.01 of its
#'   standard deviations.
#' * *Source*: none of the papers.
#'
#' @param variance Noise variance, in squared units of the response: `NULL` (learned), a positive
#'   number (start of learning) or `fixed(value)`. Or known variances, a positive number for each
#'   row of the data (before `subset` and `na.action`); they are not looked up in `data`. For the
#'   other covariances of several components one number for all, or one for each.
#' @param covariance Covariance of the errors of several components: `"spherical"`, `"diagonal"` or
#'   `"full"`. For a single response only `"spherical"` is allowed.
#' @param correlation `covariance = "full"`: between -1 and 1, one for all pairs of components or
#'   for each; `NULL` (learned) or `fixed()`.
#' @param transform The scale on which the response has this noise, such as `"log"` or `"identity"`,
#'   or a [response_scale()]. `NULL`: left to [sparsegp()].
#' @param scale Scale of the errors, in units of the response: `NULL` (learned), a positive number
#'   or `fixed(value)`.
#' @param df Degrees of freedom of Student's t: `fixed(value)`, a number greater than 2 (start of
#'   learning) or `NULL` (learned).
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Values outside the ranges above, and responses of another kind, are errors of class
#'   `sparsegp_error`.
#' @concept robust regression
#' @concept outliers
#' @concept heteroscedastic
#' @concept multi-output
#' @concept co-kriging
#' @references See [likelihoods].
#' @seealso [likelihoods] for all, [response_scale()] for skewed responses.
#' @examplesIf requireNamespace("MASS", quietly = TRUE)
#' lik_gaussian(variance = fixed(0.1))
#' lik_gaussian(covariance = "full")
#'
#' robust <- sparsegp(calls ~ year, as.data.frame(MASS::phones),
#'                    likelihood = lik_student(transform = "identity"))
#' plot(robust)
#' @name likelihoods_numbers
#' @order 1
NULL
