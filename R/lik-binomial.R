# Successes of trials: the response is their proportion, the weights are the trials. The twin of
# src/lik_binomial.c.

#' @rdname likelihoods_counts
#' @order 14
#' @export
lik_binomial <- function(bias = NULL) new_likelihood("binomial", list(bias = bias))

binomial_traits <- function() c(lik_code(
  response = "trials", weighted = TRUE,
  data_rows = function(y, weights) {
    won <- as_whole(y * weights)
    # lchoose(weights, won), whatever division has made of whole numbers
    ways <- -log1p(weights) - lbeta(weights - won + 1, won + 1)
    rbind(won, weights, ways, deparse.level = 0L)
  }
), lik_hyper(
  about = list(bias = bias_of_odds(function(rows) {
    log(sum(rows[1L, ]) + 0.5) - log(sum(rows[2L, ] - rows[1L, ]) + 0.5)
  }))
), lik_sample(
  draw = function(f, value, weights) {
    stats::rbinom(length(f), weights, stats::plogis(f + value[["bias"]])) / weights
  },
  extra_var = function(value, weights, within) within * (1 / weights - 1),
  outcomes = function(mean, var, value, weights) {
    won <- outer(rep(1, length(mean)), 0:max(weights))
    list(y = pmin(won, weights) / weights, size = (won <= weights) + 0)
  }
))
