# Errors whose size is a function of the inputs, too: the twin of src/lik_heteroscedastic.c.

#' @rdname likelihoods
#' @order 20
#' @export
lik_heteroscedastic <- function(variance = NULL) {
  new_likelihood("heteroscedastic", list(noise = variance))
}

# mean and var of quantile() and cdf(): n x 2, of mean and logarithm of the spread, and their
# covariances, four for each row.
heteroscedastic_traits <- function() c(lik_code(
  response = "spreads", weighted = FALSE,
  data_rows = function(y, weights) rbind(y)
), lik_hyper(
  about = list(noise = list(
    argument = "variance", log = TRUE, unit_power = 2, start = function(rows, offset) log(0.1),
    prior = function(unit, offset) default_lognormal(-2, 2)(unit)
  ))
), lik_sample(
  draw = function(f, value, weights) {
    stats::rnorm(nrow(f), f[, 1L], sqrt(value[["noise"]]) * exp(f[, 2L]))
  },
  quantile = function(p, mean, var, value, weights) {
    in_blocks(nrow(mean), function(rows) {
      own <- given_spread(mean[rows, , drop = FALSE], matrix(var, 4L)[, rows, drop = FALSE], value)
      middle <- mean[rows, 1L]
      crossing(p, function(y) own(y, TRUE), middle, own(NULL))
    })
  },
  cdf = function(y, mean, var, value, weights, lower) {
    in_blocks(nrow(mean), function(rows) {
      own <- given_spread(mean[rows, , drop = FALSE], matrix(var, 4L)[, rows, drop = FALSE], value)
      own(y[rows], lower)
    })
  },
  extra_var = function(value, weights, within) 0,
  outcomes = function(mean, var, value, weights) {
    number_outcomes(mean[, 1L], matrix(var, 4L)[1L, ], sqrt(value[["noise"]]) * exp(mean[, 2L]))
  },
  entropy = function(mean, var, value, weights) {
    log(2 * pi * exp(1) * value[["noise"]]) / 2 + mean[, 2L]
  }
))

# The distribution function of responses y, (y, lower): given the spread they are normal, and over
# its logarithm goes the trapezoid rule. Without y their typical size.
given_spread <- function(mean, var, value) {
  REACH <- 8
  sd <- sqrt(pmax(var[4L, ], 0))
  half <- min(ceiling(4 * REACH * max(2 * sd, 1)), 2000)
  t <- REACH * seq(-1, 1, length.out = 2 * half + 1)
  w <- stats::dnorm(t) / sum(stats::dnorm(t))
  slope <- ifelse(sd > 0, var[2L, ] / sd, 0)
  at <- mean[, 1L] + outer(slope, t)
  total <- pmax(var[1L, ] - slope^2, 0) + value[["noise"]] * exp(2 * (mean[, 2L] + outer(sd, t)))
  function(y, lower) {
    if (is.null(y)) return(sqrt(pmax(var[1L, ], 0) + value[["noise"]] * exp(2 * mean[, 2L])))
    drop(stats::pnorm(y, at, sqrt(total), lower.tail = lower) %*% w)
  }
}
