#' Leverage and influence of the rows
#'
#' The diagnostics of [stats::lm.influence()] for a Gaussian-process fit, from leave-one-out
#' predictions and without refitting. Hyperparameters, and the constant that was removed from the
#' response, are held fixed.
#'
#' For Gaussian noise all of it is exact. A fitted mean is a linear function of the responses, and
#' `hatvalues()` is the derivative of a row's fitted mean in its own response, \eqn{h}{h}; their sum
#' is the effective number of parameters, and [df.residual()][frames] the number of
#' rows less that sum. The residual \eqn{e}{e} of a row has variance
#' \eqn{\sigma^2 (1 - h)}{sigma^2 (1 - h)} under the model; `rstandard()` is the residual divided by
#' the root of that. `cooks.distance()` is
#' \eqn{\Delta' C^{-1} \Delta / \sum h}{d' C^-1 d / sum(h)}, with \eqn{\Delta}{d} the
#' change of all fitted means when the row is left out and \eqn{C}{C} the posterior covariance of
#' these means. A linear kernel with a wide prior gives the numbers of a linear model.
#'
#' Other likelihoods have a Gaussian site for each row, as if there were a response `shift /
#' precision` with noise of variance `1 / precision` (see [sites()]). Residuals and distances are
#' those of these responses, with the sites of the other rows held, as those of a generalised linear
#' model are of its working responses. The precision of a site depends on the response of its row,
#' but leverage is a property of the design: `hatvalues()` has, in its place, the precision that is
#' expected at the mean of the latent function given the other rows (the Fisher information of a
#' response; \eqn{m'(f)^2 / v(f)}{m'(f)^2 / v(f)} if the variance follows from the mean, as for
#' counts), as the weights of a generalised linear model are. A site of negative precision, which an
#' outlier gets under [lik_student()], has no standardised residual; nor has a site without
#' precision, as under [lik_laplace()].
#'
#' For any likelihood `rstudent()` is the response minus its leave-one-out mean, divided by its
#' leave-one-out standard deviation (see [loo()]). For Gaussian noise it equals `rstandard()`, since
#' the noise is held fixed.
#'
#' @param model A fit of [sparsegp()] that keeps its rows, with one latent function.
#' @param ... Not used; unknown arguments are an error.
#' @return Named vectors without unit, an entry for each row of the data; `NA` for rows that
#'   `na.exclude` has left out and, but for `hatvalues()`, for rows without a label or a residual.
#'   `influence()`: a list of three such vectors, `hat`, `dffit`, the change of the latent
#'   function's mean at the row itself when the row is left out (in units of the latent function),
#'   and `wt.res`, the residuals (in units of the response).
#'
#'   Errors of class `sparsegp_error`: streams and other fits that keep no rows; several classes or
#'   components, and [lik_heteroscedastic()], where a row has several latent values.
#' @references Cook, R. D. and Weisberg, S. (1982). *Residuals and Influence in Regression*. Chapman
#'   and Hall.
#' @seealso [residuals()][residuals.sparsegp], [loo()], and `plot(fit, "residuals")`.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' head(cbind(hat = hatvalues(fit), rstandard = rstandard(fit), cook = cooks.distance(fit)), 3)
#' sum(hatvalues(fit))
#' which.max(cooks.distance(fit))
#' @name influence
#' @aliases leverage
NULL

#' @rdname influence
#' @importFrom stats hatvalues
#' @export
hatvalues.sparsegp <- function(model, ...) {
  model <- with_single_rows(model)
  per_row(model, leverages(model))
}

#' @rdname influence
#' @importFrom stats rstandard
#' @export
rstandard.sparsegp <- function(model, ...) {
  model <- with_single_rows(model)
  per_row(model, site_residuals(model))
}

#' @rdname influence
#' @importFrom stats rstudent
#' @export
rstudent.sparsegp <- function(model, ...) {
  model <- with_single_rows(model)
  moments <- point_moments(model, loo_latent(model))
  per_row(model, (observed_values(model) - moments$mean) / moments$sd)
}

#' @rdname influence
#' @importFrom stats cooks.distance
#' @export
cooks.distance.sparsegp <- function(model, ...) {
  model <- with_single_rows(model)
  shift <- model$latent$mean - model$cavity$mean
  distance <- shift^2 / (fitted_variances(model) * sum(leverages(model), na.rm = TRUE))
  per_row(model, ifelse(is.na(model$y), NA, distance))
}

#' @rdname influence
#' @importFrom stats influence
#' @export
influence.sparsegp <- function(model, ...) {
  model <- with_single_rows(model)
  shift <- (model$latent$mean - model$cavity$mean) * model$response$unit
  list(hat = hatvalues.sparsegp(model),
       dffit = per_row(model, ifelse(is.na(model$y), NA, shift)),
       wt.res = stats::residuals(model))
}

# Returns a fit that keeps its rows, each of which has one latent value, or stops.
with_single_rows <- function(model) {
  model <- with_rows(model)
  check_measured(codec_of(model), "influence", "model", "See loo()")
  model
}

# Returns the slope h of each row's fitted mean in its site's response. With v the variance of that
# mean's cavity and u = tau v it is u / (1 + u). Under a basis the stored variances of cavity and
# posterior both have a part in addition that the basis leaves, which their difference
# v u / (1 + u) is free of: q = tau times that solves u^2 - q u - q = 0.
site_leverages <- function(model) {
  u <- site_weights(model)
  u / (1 + u)
}

# Returns u of each row.
site_weights <- function(model) {
  tau <- c(model$sites$tau)
  q <- pmax(tau * (model$cavity$var - model$latent$var), 0)
  (q + sign(tau) * sqrt(q^2 + 4 * q)) / 2
}

# Returns the leverages of rows, u / (1 + u) with the information i that a response is expected to
# give at the cavity's mean in the place of tau, so that a row's leverage does not depend on its
# response: u = i v. An average's mean with weights that do not change has the slope sum_k w_k h_k.
leverages <- function(model) {
  if (isTRUE(model$ensemble$fixed)) {
    return(mixed(each_member(model, leverages), model$ensemble$weights))
  }
  if (lik_traits(model$likelihood)$exact) return(site_leverages(model))
  tau <- c(model$sites$tau)
  v <- if (every_row_in_basis(model)) model$cavity$var else {
    v <- site_weights(model) / tau
    ifelse(is.finite(v) & v > 0, v, model$cavity$var)
  }
  information <- expected_information(model)
  expected <- is.finite(information) & information >= 0 & !is.na(model$y)
  u <- ifelse(expected, information, tau) * v
  u / (1 + u)
}

# Returns each site's response less the mean of its cavity, over their standard deviation, the root
# of 1 / tau + v = 1 / (tau (1 - h)); this is the residual over the root of its variance
# (1 - h) / tau. A precision so small that the result is above LARGEST is nothing but rounding,
# unless the site is the likelihood itself.
site_residuals <- function(model) {
  LARGEST <- 1e4
  tau <- c(model$sites$tau)
  tau[tau <= 0 | is.na(model$y)] <- NA
  wrong <- (c(model$sites$nu) / tau - model$cavity$mean) * sqrt(tau * (1 - site_leverages(model)))
  exact <- lik_traits(model$likelihood)$exact
  if (exact) wrong else ifelse(abs(wrong) < LARGEST, wrong, NA_real_)
}

# Returns the posterior variances of the rows' fitted means, h / tau; where there is no leverage
# those of the latent function, which are at least as large.
fitted_variances <- function(model) {
  NO_LEVERAGE <- 1e-6
  h <- site_leverages(model)
  ifelse(abs(h) < NO_LEVERAGE, model$latent$var, h / c(model$sites$tau))
}
