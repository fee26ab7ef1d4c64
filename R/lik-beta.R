# Proportions that are not successes of trials: the twin of src/lik_beta.c.

#' @rdname likelihoods_positive
#' @order 3
#' @export
lik_beta <- function(bias = NULL, precision = NULL) {
  new_likelihood("beta", list(bias = bias, precision = precision))
}

beta_traits <- function() c(lik_code(
  response = "proportions", beyond_moments = TRUE, density = TRUE, weighted = FALSE,
  data_rows = function(y, weights) rbind(y, stats::qlogis(y), deparse.level = 0L)
), lik_hyper(
  about = list(bias = bias_of_odds(function(rows) {
    stats::qlogis(mean(rows[1L, ]))
  }), precision = list(
    argument = "precision", log = TRUE, unit_power = 0,
    # half of the variance m (1 - m) / (1 + precision) is the function's
    start = function(rows, offset) {
      middle <- mean(rows[1L, ])
      log(min(max(2 * middle * (1 - middle) / mean((rows[1L, ] - middle)^2) - 1, 1), 200))
    },
    prior = function(unit, offset) prior_lognormal(log(10), 2)
  ))
), lik_sample(
  draw = function(f, value, weights) {
    at <- f + value[["bias"]]
    y <- stats::rbeta(length(f), value[["precision"]] * stats::plogis(at),
                      value[["precision"]] * stats::plogis(-at))
    pmin(pmax(y, .Machine$double.xmin), 1 - .Machine$double.neg.eps)
  },
  outcomes = function(mean, var, value, weights) {
    beta_outcomes(mean + value[["bias"]], var, value[["precision"]])
  }
))

# A rule for integrals over proportions (`outcomes`, lik-contract.R) of mean plogis(N(eta, var)):
# along their log odds. To either side as far as the quantiles of the two ends of the mean.
beta_outcomes <- function(eta, var, precision) {
  TAIL <- 1e-16
  REACH <- 8.5
  STEP <- 0.5
  MOST <- 700  # log odds of numbers of full precision
  NEAREST <- 36 # log odds beyond which a number is 1
  at <- function(p, z) {
    stats::qlogis(stats::qbeta(p, precision * stats::plogis(z), precision * stats::plogis(-z)))
  }
  sd <- sqrt(var)
  from <- pmin(pmax(at(TAIL, eta - REACH * sd), -MOST), NEAREST - 1)
  # the upper tail as the lower one of 1 - y, which has its digits
  to <- pmax(pmin(-at(TAIL, -eta - REACH * sd), NEAREST), from + 1)
  narrow <- pmin(sqrt(var + 1 / precision), 0.6)
  count <- max(ceiling((to - from) / (STEP * narrow)), 1)
  step <- (to - from) / count
  y <- stats::plogis(from + outer(step, 0:count))
  list(y = y, size = y * (1 - y) * step)
}
