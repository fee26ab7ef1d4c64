#' Residuals of a Gaussian-process fit
#'
#' @param object A fit of [sparsegp()].
#' @param type `"response"`: response minus its fitted mean (two classes: the second level counts 1,
#'   the first 0; ordered categories: their numbers, from 1). `"pearson"`: that, divided by the
#'   predictive standard deviation of the response. `"quantile"`: the normal quantile at which the
#'   response stands in its predictive distribution given the other rows.
#' @param ... Nothing.
#' @return A numeric vector, one per row of the data (rows dropped by `na.exclude` are `NA`, as are
#'   rows without a label). With a latent function for each class, unless these are in an order, a
#'   matrix with a column for each: 1 for the row's class and 0 for the others, minus the
#'   probability; `"quantile"` is an error then, as classes without an order have no quantiles.
#' @details
#' If the model is right, quantile residuals are standard normal, whatever the likelihood: look at
#' them with [stats::qqnorm()]. The distribution is the leave-one-out one (see [loo()]), as that of
#' a fit that has seen the response would follow it. Where responses are counts or classes it jumps,
#' and the quantile is drawn at random within the jump (Dunn and Smyth's randomised quantile
#' residuals): they differ from call to call, unless [set.seed()] is called. For other numbers
#' nothing is random. Their size is at most 37.
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
