# Draws as packages around Stan have them: a row for each draw.

#' Posterior draws for packages around Stan
#'
#' Methods for the generics of package rstantools, which bayesplot, tidybayes and loo use: draws of
#' the expected response, of the linear predictor, and of new responses.
#' `rstantools::posterior_predict(fit, newdata)` works once rstantools is installed; [draws()] and
#' [simulate()][simulate.sparsegp] give the same draws with a column for each.
#'
#' @param object A fit of [sparsegp()].
#' @param newdata Data frame with the variables of the formula, or a matrix; `NULL`: the
#'   observations of the fit.
#' @param ndraws,draws Number of draws, by either name; `NULL`: 1000.
#' @param transform Draw the expected response instead of the linear predictor?
#' @param seed A seed, or `NULL`.
#' @param ... Not used; further arguments are ignored.
#' @return A matrix with a row for each draw and a column for each observation; for several classes
#'   or components an array with these in its third dimension. New responses that are classes are
#'   numbers of their levels, and trials the number of successes. Errors are of class
#'   `sparsegp_error`.
#' @concept posterior predictive
#' @concept tidybayes
#' @seealso [draws()], [simulate()][simulate.sparsegp], [other-packages].
#' @examplesIf requireNamespace("rstantools", quietly = TRUE)
#' fit <- sparsegp(dist ~ speed, cars)
#' dim(rstantools::posterior_predict(fit, data.frame(speed = c(10, 20)), ndraws = 100))
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
  if (!is.matrix(first)) return(unname(t(matrix(unlist(each), ncol = length(each)))))
  if (inherits(codec_of(object), "response_trials")) { # successes and failures
    return(unname(t(vapply(each, function(one) as.double(one[, 1L]), numeric(nrow(first))))))
  }
  found <- aperm(array(unlist(each), c(dim(first), length(each))), c(3L, 1L, 2L))
  dimnames(found) <- list(NULL, NULL, colnames(first))
  found
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
