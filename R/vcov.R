#' Standard errors of hyperparameters
#'
#' Learning finds the hyperparameters at which log evidence plus log [priors] is largest. The
#' curvature there, from exact gradients, is the inverse of a covariance matrix (the Laplace
#' approximation of their posterior).
#'
#' Positive hyperparameters are searched as logarithms, on which the approximation is better:
#' `confint()` computes intervals on that scale, so their ends are positive and not symmetric.
#' `vcov()` refers to the values that [coef()] shows, to first order. If a fit is integrated over
#' its hyperparameters ([integration]), its intervals use the densities along the axes of the
#' curvature, which need not be symmetric. Predictions of other fits ignore this uncertainty; wide
#' intervals here are a sign that prediction intervals may be too narrow.
#'
#' @param object A fit of [sparsegp()] with learned hyperparameters, by full EP or on a basis
#'   (for the given basis), with its inputs (`gp_control(keep_x = TRUE)`); not a stream.
#' @param parm Names or numbers of hyperparameters; missing: all that were learned.
#' @param level Nominal coverage of the intervals: one number in (0, 1).
#' @param ... Not used; unknown arguments are an error.
#' @return `vcov()`: the covariance matrix of the learned hyperparameters, named as in `coef()`, in
#'   squares and products of their units. `confint()`: a matrix with a row for each and two columns.
#'   Errors of class `sparsegp_error`: nothing was learned, the fit keeps no rows or inputs, or the
#'   evidence is flat or still rises in some direction, so the curvature has no inverse.
#' @references Rasmussen, C. E. and Williams, C. K. I. (2006). *Gaussian Processes for Machine
#'   Learning*, section 5.2. MIT Press.
#' @examples
#' fit <- sparsegp(mpg ~ wt, mtcars)
#' sqrt(diag(vcov(fit)))
#' confint(fit)
#' @name curvature
NULL

#' @rdname curvature
#' @importFrom stats vcov
#' @export
vcov.sparsegp <- function(object, ...) {
  object <- ready(object)
  free <- learned_rows(object)
  covariance <- shown_covariance(object$hyper, free, theta_covariance(object))
  dimnames(covariance) <- rep(list(names(coef(object))[free]), 2L)
  covariance
}

# Returns the covariance of the values shown, to first order, from that of theta.
shown_covariance <- function(table, free, covariance) {
  slopes <- diag(hyper_slope(table, hyper_value(table)), nrow(table)) # d shown_values / d theta
  for (i in which(table$adds_to != "")) slopes[i, ] <- slopes[i, ] + slopes[i - 1L, ]
  slopes <- slopes[free, free, drop = FALSE]
  slopes %*% covariance %*% t(slopes)
}

#' @rdname curvature
#' @importFrom stats confint
#' @export
confint.sparsegp <- function(object, parm, level = 0.95, ...) {
  object <- ready(object)
  check_number(level, "level", 0, 1)
  free <- learned_rows(object)
  names <- names(coef(object))[free]
  at <- if (missing(parm)) seq_along(names) else chosen_parameters(parm, names)
  tails <- c((1 - level) / 2, (1 + level) / 2)
  reach <- theta_reach(object)
  ends <- vapply(stats::qnorm(tails), function(z) interval_end(object$hyper, free, reach(z), z),
                 numeric(length(free)))
  dim(ends) <- c(length(free), 2L)
  dimnames(ends) <- list(names, paste(format(100 * tails, trim = TRUE, digits = 3L), "%"))
  ends[at, , drop = FALSE]
}

chosen_parameters <- function(parm, names) {
  at <- if (is.numeric(parm)) match(parm, seq_along(names)) else match(parm, names)
  if (!anyNA(at)) return(at)
  stop_sparsegp("parm", paste0("names hyperparameters that were not learned: ",
                               toString(parm[is.na(at)])),
                paste0("These were learned: ", toString(names)))
}

# Returns ends of intervals. Cut points add up, so the errors of theta are not theirs. reach:
# list(far, covariance): how far theta is from the mode there, and a covariance of theta for sums
interval_end <- function(table, free, reach, z) {
  moved <- replace(table$theta, free, table$theta[free] + reach$far)
  alone <- hyper_value(table, moved)[free]
  sums <- shown_values(table)[free] +
    sign(z) * sqrt(diag(shown_covariance(table, free, reach$covariance)))
  ifelse(table$adds_to[free] == "", alone, sums)
}

# Returns the reach of theta as a function of z, the standard normal quantile of an end: by the
# curvature, or of a fit that is integrated over its hyperparameters by the densities along the axes
# of these.
theta_reach <- function(object) {
  made <- object$ensemble$made
  if (is.null(made$places)) {
    covariance <- theta_covariance(object)
    return(function(z) list(far = z * sqrt(diag(covariance)), covariance = z^2 * covariance))
  }
  side <- function(z) apply(made$places, 1L, place_at, z)
  function(z) {
    up <- sweep(made$axes, 2L, side(z), "*")
    down <- sweep(made$axes, 2L, side(-z), "*")
    # towards an end by the side of each axis on which theta moves to it
    along <- ifelse(made$axes > 0, up, down)
    list(far = sign(z) * sqrt(rowSums(along^2)), covariance = tcrossprod((up - down) / 2))
  }
}

# z at which the places on the axes are kept
PLACES <- seq(-4, 4, by = 0.5)

# Returns the places at z on an axis that has `places` at PLACES.
place_at <- function(places, z) stats::approx(PLACES, places, z, rule = 2L)$y

# Returns the rows of the table of hyperparameters that were learned.
learned_rows <- function(object) {
  free <- which(object$hyper$free)
  if (!is.null(object$learning) && length(free)) return(free)
  stop_sparsegp("object", "has not learned its hyperparameters, so they are not estimates",
                "Fit with learn = TRUE")
}

# Returns the inverse of the curvature of log evidence plus log prior in the learned theta.
theta_covariance <- function(object) {
  STEP <- 1e-3 # of logarithms, mostly; the gradient is exact
  table <- object$hyper
  free <- which(table$free)
  criterion <- evidence_criterion(problem_of_fit(with_rows(object)))
  gradient <- function(values) {
    theta <- replace(table$theta, free, values)
    run <- criterion(theta)
    if (run$status != 0L) stop_without_curvature()
    -run$gradient[free] - hyper_log_prior(table, theta)$gradient
  }
  curvature <- stats::optimHess(table$theta[free], NULL, gradient,
                                control = list(ndeps = rep(STEP, length(free))))
  factor <- tryCatch(chol(curvature), error = function(e) stop_without_curvature())
  chol2inv(factor)
}

stop_without_curvature <- function() {
  stop_sparsegp("object", paste("has a log evidence that does not decrease in every direction from",
                                "its hyperparameters"),
                "Fix one of them, see fixed(), or give it an informative prior")
}
