# Draws as packages around Stan have them: a row for each draw.

#' Posterior draws for packages around Stan
#'
#' Methods for the generics of packages rstantools, posterior and bayesplot, registered when these
#' are loaded. `posterior_predict()`, `posterior_epred()` and `posterior_linpred()` draw new
#' responses, the expected response and the linear predictor; [simulate()][simulate.sparsegp] and
#' [draws()] give the same draws with a column for each. `as_draws()` draws the hyperparameters,
#' and `bayesplot::pp_check()` compares draws of new responses with the observed ones.
#'
#' `as_draws()` uses the Laplace approximation of the posterior, normal in the logarithms of
#' positive hyperparameters, as [confint()][confint.sparsegp] does; for a fit that is integrated
#' over its hyperparameters it uses the densities along the axes ([integration]), which need not be
#' symmetric. `as_draws_matrix()`, `as_draws_df()` and `summarise_draws()` of package posterior
#' follow.
#'
#' @param object,x A fit of [sparsegp()]; for `as_draws()` as for [vcov()][vcov.sparsegp].
#' @param newdata Data frame with the variables of the formula, or a matrix; `NULL`: the
#'   observations of the fit.
#' @param ndraws,draws Number of draws, a whole number of at least 1, by either name; `NULL`: 1000,
#'   for `pp_check()` 50.
#' @param transform `TRUE` to draw the expected response instead of the linear predictor.
#' @param seed A number for `set.seed()`, or `NULL`.
#' @param type Name of a picture, that of a function of bayesplot after `ppc_`, such as `"stat"` or
#'   `"intervals"`. `NULL`: `"bars"` for classes, counts and successes in trials, `"km_overlay"`
#'   (which needs package ggfortify) for censored times, `"dens_overlay"` for other numbers.
#' @param ... `pp_check()`: arguments of that function, such as `stat = "max"`. Otherwise not used;
#'   further arguments are ignored.
#' @return `as_draws()`: a `draws_matrix` of package posterior with a row for each draw and a column
#'   for each learned hyperparameter, in the units of [coef()]. `pp_check()`: a `ggplot`. The
#'   others: a matrix with a row for each draw and a column for each observation; for several
#'   classes or components an array with these in its third dimension. New responses that are
#'   classes are numbers of their levels, and trials the number of successes. Errors are of class
#'   `sparsegp_error`; `pp_check()` is one for several components.
#' @concept posterior predictive
#' @concept tidybayes
#' @concept pp_check
#' @concept posterior predictive check
#' @seealso [draws()], [simulate()][simulate.sparsegp], [other-packages].
#' @examplesIf requireNamespace("rstantools", quietly = TRUE)
#' fit <- sparsegp(dist ~ speed, cars)
#' dim(rstantools::posterior_predict(fit, data.frame(speed = c(10, 20)), ndraws = 100))
#' @examplesIf requireNamespace("posterior", quietly = TRUE)
#' posterior::summarise_draws(sparsegp(dist ~ speed, cars))
#' @name posterior-draws
NULL

#' @rdname posterior-draws
#' @exportS3Method rstantools::posterior_epred
posterior_epred.sparsegp <- function(object, newdata = NULL, ndraws = NULL, draws = NULL, ...) {
  rows_of_draws(object, newdata, number_of_draws(ndraws, draws), "response")
}

#' @rdname posterior-draws
#' @exportS3Method rstantools::posterior_linpred
posterior_linpred.sparsegp <- function(object, transform = FALSE, newdata = NULL, ndraws = NULL,
                                       draws = NULL, ...) {
  type <- if (check_flag(transform, "transform")) "response" else "link"
  rows_of_draws(object, newdata, number_of_draws(ndraws, draws), type)
}

#' @rdname posterior-draws
#' @exportS3Method rstantools::posterior_predict
posterior_predict.sparsegp <- function(object, newdata = NULL, ndraws = NULL, draws = NULL,
                                       seed = NULL, ...) {
  made <- stats::simulate(object, number_of_draws(ndraws, draws), seed = seed, newdata = newdata)
  each <- lapply(made, function(one) {
    if (is.data.frame(one)) as.matrix(one)
    else if (is.factor(one) || is.logical(one)) as.integer(one) else one
  })
  first <- each[[1L]]
  if (!is.matrix(first)) {
    found <- unname(t(matrix(unlist(each), ncol = length(each))))
    return(if (is_of_trials(object)) successes(object, found, newdata) else found)
  }
  found <- aperm(array(unlist(each), c(dim(first), length(each))), c(3L, 1L, 2L))
  dimnames(found) <- list(NULL, NULL, colnames(first))
  found
}

is_of_trials <- function(object) inherits(codec_of(object), "response_trials")

# Returns numbers of successes from proportions, a row for each draw; new rows have one trial each.
successes <- function(object, proportions, newdata) {
  trials <- if (is.null(newdata)) per_row(object, own_weights(object) %||% 1) else 1
  round(sweep(proportions, 2L, trials, "*"))
}

number_of_draws <- function(ndraws, draws) check_count(ndraws %||% draws %||% 1000L, "ndraws")

# Returns draws with a row for each, and classes in the third dimension.
rows_of_draws <- function(object, newdata, n, type) {
  found <- if (is.null(newdata)) draws(object, n = n, type = type)
           else draws(object, newdata, n = n, type = type)
  if (length(dim(found)) == 2L) return(unname(t(found)))
  found <- aperm(found, c(2L, 1L, 3L))
  dimnames(found)[1:2] <- list(NULL, NULL)
  found
}

# ---- Hyperparameters ----

#' @rdname posterior-draws
#' @exportS3Method posterior::as_draws
as_draws.sparsegp <- function(x, ndraws = NULL, draws = NULL, ...) {
  x <- ready(x)
  refuse_if_average(x, "x")
  posterior::as_draws_matrix(hyper_draws(x, number_of_draws(ndraws, draws)))
}

# Returns draws of the learned hyperparameters as coef() shows them, a row for each.
hyper_draws <- function(object, n) {
  free <- learned_rows(object)
  table <- object$hyper
  values <- apply(table$theta[free] + theta_moves(object, n), 2L, function(theta) {
    shown_values(table, replace(table$theta, free, theta))[free]
  })
  matrix(values, n, length(free), byrow = TRUE, dimnames = list(NULL, names(coef(object))[free]))
}

# Returns n draws of theta minus its mode, a column each: by the curvature, or of a fit that is
# integrated over its hyperparameters by the densities along the axes of these.
theta_moves <- function(object, n) {
  made <- object$ensemble$made
  if (is.null(made$places)) {
    factor <- chol(theta_covariance(object))
    return(crossprod(factor, matrix(stats::rnorm(n * nrow(factor)), ncol = n)))
  }
  along <- apply(made$places, 1L, function(places) place_at(places, stats::rnorm(n)))
  made$axes %*% t(matrix(along, n))
}

# ---- Posterior predictive checks ----

#' @rdname posterior-draws
#' @exportS3Method bayesplot::pp_check
pp_check.sparsegp <- function(object, type = NULL, ndraws = NULL, draws = NULL, seed = NULL, ...) {
  object <- with_rows(ready(object))
  made <- posterior_predict.sparsegp(object, NULL, number_of_draws(ndraws, draws %||% 50L),
                                     seed = seed)
  refuse_if(length(dim(made)) == 3L,
            "object", "has several components, for which there is no such picture",
            "Draw one of those of rstantools::posterior_predict(fit)")
  seen <- checked_responses(object)
  pictures <- sub("^ppc_", "", grep("^ppc_", getNamespaceExports("bayesplot"), value = TRUE))
  type <- check_choice(type %||% seen$type, sort(pictures), "type")
  made <- made[, !is.na(made[1L, ]), drop = FALSE] # rows that na.exclude has left out
  known <- !is.na(seen$y)
  given <- list(y = seen$y[known], yrep = made[, known, drop = FALSE], ...)
  if (type == "km_overlay") given$status_y <- given$status_y %||% seen$status[known]
  do.call(getExportedValue("bayesplot", paste0("ppc_", type)), given)
}

# Returns the responses as posterior_predict() has them, `y`, the usual type of picture, and of
# times whether there was an event, `status`.
checked_responses <- function(object) {
  table <- as.data.frame(loo(object))
  if (!is.null(table$status)) {
    event <- table$status == "event"
    return(list(y = table$time, status = as.double(event),
                type = if (all(event)) "dens_overlay" else "km_overlay"))
  }
  y <- table$observed
  if (is.factor(y) || is.character(y)) {
    return(list(y = match(as.character(y), object$response$levels), type = "bars"))
  }
  if (is_of_trials(object)) {
    return(list(y = round(y * (own_weights(object) %||% 1)), type = "bars"))
  }
  counts <- inherits(codec_of(object), "response_counts")
  list(y = y, type = if (counts) "bars" else "dens_overlay")
}
