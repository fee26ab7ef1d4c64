#' Residuals of a Gaussian-process fit
#'
#' @param object A fit of [sparsegp()].
#' @param type `"response"`: response minus its fitted mean (two classes: the second level counts 1,
#'   the first 0; ordered categories: their numbers, from 1). `"pearson"`: that, divided by the
#'   predictive standard deviation of the response. `"quantile"`: the normal quantile at which the
#'   response stands in its predictive distribution given the other rows.
#' @param ... Nothing.
#' @return A numeric vector, one per row of the data (rows dropped by `na.exclude` are `NA`, as are
#'   rows without a label). With a latent function for each class a matrix with a column for each: 1
#'   for the row's class and 0 for the others, minus the probability; `"quantile"` is an error then,
#'   as classes without an order have no quantiles.
#' @details
#' If the model is right, quantile residuals are standard normal, whatever the likelihood: look at
#' them with [stats::qqnorm()]. The distribution is the leave-one-out one (see [loo()]), as that of
#' a fit that has seen the response would follow it. Where responses are counts or classes it jumps,
#' and the quantile is drawn at random within the jump (Dunn and Smyth's randomised quantile
#' residuals): they differ from call to call, unless [set.seed()] is called. For other numbers
#' nothing is random. None is larger than 37 in size.
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

plain_residuals <- function(object, pearson) {
  latent <- training_latent(object)
  observed <- observed_values(object)
  if (processes(object) > 1L) {
    prob <- class_probabilities(object, latent)
    residual <- observed - prob
    if (pearson) residual <- residual / sqrt(prob * (1 - prob))
  } else if (pearson) {
    moments <- response_moments(object, latent)
    residual <- (observed - moments$mean) / moments$sd
  } else {
    residual <- observed - mean_response(object, latent)
  }
  residual[is.nan(residual) & !is.na(observed)] <- 0 # as it should be, and no doubt about it
  residual
}

# Dunn and Smyth's, from what the leave-one-out distributions have below and above the responses. A
# quantile is taken from the smaller of its two tails, which has the digits.
quantile_residuals <- function(object) {
  if (codec_of(object)$several) return(vector_loo_quantiles(object))
  labels <- has_classes(object)
  if (processes(object) > 1L || (!labels && !has_tails(object$likelihood))) {
    stop_sparsegp("type", "= \"quantile\" is for responses that have an order",
                  "Use type = \"response\" or \"pearson\"")
  }
  tails <- if (labels) label_tails(object) else response_tails(object, object$y, loo_latent(object))
  tail_quantiles(tails, if (tails$jumps) stats::runif(length(tails$below)) else 0)
}

# up: how far up a jump the quantile lies, from 0 to 1
tail_quantiles <- function(tails, up) {
  mass <- pmax(1 - tails$below - tails$above, 0)
  # 37 standard deviations off the numbers end; tails that add up to 1 may do so but for rounding
  inside <- function(p) pmin(pmax(p, .Machine$double.xmin), 1)
  lower <- inside(tails$below + up * mass)
  upper <- inside(tails$above + (1 - up) * mass)
  ifelse(lower < upper, stats::qnorm(lower), stats::qnorm(upper, lower.tail = FALSE))
}

# Probabilities of less than each response and of more, at latent moments of the rows.
response_tails <- function(object, y, latent) {
  codec <- codec_of(object)
  tails <- of_responses(engine_lik_tails, object, codec$codes(y, object$response), latent)
  c(tails, list(jumps = !is.null(codec$jump)))
}

label_tails <- function(object) {
  prob <- loo_probabilities(object)
  at <- as.integer(object$y)
  sum_where <- function(side) rowSums(prob * outer(at, seq_len(ncol(prob)), side))
  list(below = sum_where(`>`), above = sum_where(`<`), jumps = TRUE)
}
