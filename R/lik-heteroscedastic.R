# Errors whose size is a function of the inputs, too: the twin of src/lik_heteroscedastic.c.

#' @rdname likelihoods_numbers
#' @order 20
#' @export
lik_heteroscedastic <- function(variance = NULL, transform = NULL) {
  with_transform(new_likelihood("heteroscedastic", list(noise = variance)), transform)
}

# mean and var of outcomes() and entropy(): n x 2, of mean and logarithm of the spread, and their
# covariances, four for each row.
heteroscedastic_traits <- function() c(lik_code("spreads", density = TRUE), lik_hyper(
  about = list(noise = noise_variance)
), lik_sample(
  draw = function(f, value, weights) {
    stats::rnorm(nrow(f), f[, 1L], sqrt(value[["noise"]]) * exp(f[, 2L]))
  },
  outcomes = function(mean, var, value, weights) {
    number_outcomes(mean[, 1L], matrix(var, 4L)[1L, ], sqrt(value[["noise"]]) * exp(mean[, 2L]))
  },
  entropy = function(mean, var, value, weights) {
    log(2 * pi * exp(1) * value[["noise"]]) / 2 + mean[, 2L]
  }
))
