#' Residuals of a Gaussian-process fit
#'
#' Residuals on the scale of the response, standardised, or as normal quantiles.
#'
#' @param object A fit of [sparsegp()] that keeps its rows.
#' @param type `"response"`: response minus its fitted mean, in the units of the response (for two
#'   classes 0 or 1 minus the probability of the second; for ordered categories their numbers, from
#'   1). `"pearson"`: the same divided by the predictive standard deviation of the response.
#'   `"quantile"`: the normal quantile of the response in its leave-one-out predictive distribution.
#' @param ... Not used; unknown arguments are an error.
#' @return A numeric vector, one per row of the data; rows dropped by `na.exclude`, and rows without
#'   a label, are `NA`. With a latent function for each class, unless the classes are ordered, a
#'   matrix with a column for each: 1 for the class of the row and 0 for the others, minus the
#'   probability; `"quantile"` is an error then, as unordered classes have no quantiles.
#' @details If the model is right, quantile residuals are standard normal, for every likelihood:
#' plot them with [stats::qqnorm()]. They use leave-one-out predictive distributions (see [loo()]),
#' since a fit follows the responses it was fitted to. For counts and classes the distribution has
#' jumps, and the quantile is drawn at random within the jump (randomised quantile residuals of Dunn
#' and Smyth): they differ from call to call, unless [set.seed()] is called. For other numbers
#' nothing is random. Their absolute size is at most 37.
#' @references Dunn, P. K. and Smyth, G. K. (1996). Randomized quantile residuals. *Journal of
#'   Computational and Graphical Statistics* 5, 236-244.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' head(residuals(fit, "pearson"))
#' qqnorm(residuals(fit, "quantile"))
#' @export
residuals.sparsegp <- function(object, type = c("response", "pearson", "quantile"), ...) {
  check_no_dots(...)
  type <- check_choice(type, c("response", "pearson", "quantile"), "type")
  object <- with_rows(object)
  residual <- if (type == "quantile") quantile_residuals(object)
              else plain_residuals(object, pearson = type == "pearson")
  if (!is.matrix(residual)) return(per_row(object, residual))
  rownames(residual) <- object$row_names
  if (is.null(object$na.action)) residual else stats::naresid(object$na.action, residual)
}
