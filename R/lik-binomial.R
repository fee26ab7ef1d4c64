# Successes of trials: the response is their share, the weights are the trials. The twin of
# src/lik_binomial.c.

#' @rdname likelihoods
#' @order 14
#' @export
lik_binomial <- function(bias = NULL) new_likelihood("binomial", list(bias = bias))

# Successes of trials: the response is their share, the weights are the trials.
binomial_traits <- function() c(lik_code(
  response = "trials", weighted = TRUE,
  data_rows = function(y, weights) {
    won <- as_whole(y * weights)
    # lchoose(weights, won), whatever division has made of whole numbers
    ways <- -log1p(weights) - lbeta(weights - won + 1, won + 1)
    rbind(won, weights, ways, deparse.level = 0L)
  }
), lik_hyper(
  about = list(bias = list(
    argument = "bias", log = FALSE, unit_power = 0,
    start = function(rows, offset) {
      log(sum(rows[1L, ]) + 0.5) - log(sum(rows[2L, ] - rows[1L, ]) + 0.5) - mean(offset)
    },
    prior = function(unit, offset) prior_normal(-mean(offset), 5)
  ))
), lik_sample(
  draw = function(f, value, weights) {
    stats::rbinom(length(f), weights, stats::plogis(f + value[["bias"]])) / weights
  },
  quantile = function(p, mean, var, value, weights) {
    by_trials(weights, mean, function(at, trials) {
      cdf <- function(y, f) stats::pbinom(y, trials, stats::plogis(f))
      whole_quantile(p, mean[at] + value[["bias"]], sqrt(var[at]), cdf,
                     width = function(y) 1 / sqrt(trials),
                     start = function(p, f) stats::qbinom(p, trials, stats::plogis(f))) / trials
    })
  },
  cdf = function(y, mean, var, value, weights, lower) {
    by_trials(weights, mean, function(at, trials) {
      cdf <- function(y, f) stats::pbinom(y, trials, stats::plogis(f), lower.tail = lower)
      mixed_tail(round(y[at] * trials), mean[at] + value[["bias"]], sqrt(var[at]), cdf,
                 width = function(y) 1 / sqrt(trials))
    })
  },
  extra_var = function(value, weights, within) within * (1 / weights - 1),
  outcomes = function(mean, var, value, weights) {
    won <- outer(rep(1, length(mean)), 0:max(weights))
    list(y = pmin(won, weights) / weights, size = (won <= weights) + 0)
  }
))

# fun(at, trials) of the rows `at` of as many trials each, for all of them
by_trials <- function(weights, mean, fun) {
  weights <- rep_len(weights, length(mean))
  out <- numeric(length(mean))
  for (trials in unique(weights)) {
    at <- weights == trials
    out[at] <- fun(at, trials)
  }
  out
}
