# Positive numbers whose standard deviation grows as their mean does: the twin of src/lik_gamma.c.

#' @rdname likelihoods_positive
#' @order 2
#' @export
lik_gamma <- function(bias = NULL, shape = NULL) {
  new_likelihood("gamma", list(bias = bias, gamma_shape = shape))
}

gamma_traits <- function() c(lik_code(
  response = "positive", density = TRUE, weighted = FALSE,
  data_rows = function(y, weights) rbind(y, log(y), deparse.level = 0L)
), lik_hyper(
  about = list(bias = log_mean_bias, gamma_shape = list(
    argument = "shape", log = TRUE, unit_power = 0,
    # half of the squared coefficient of variation is the function's
    start = function(rows, offset) {
      ratio <- rows[1L, ] / exp(offset - max(offset))
      ratio <- ratio / mean(ratio)
      log(min(max(2 / mean((ratio - 1)^2), 0.5), 100))
    },
    prior = function(unit, offset) prior_lognormal(log(5), 2)
  ))
), lik_sample(
  draw = function(f, value, weights) {
    shape <- value[["gamma_shape"]]
    rate <- shape / exp(pmax(pmin(f + value[["bias"]], 300), -300)) # as in C
    pmax(stats::rgamma(length(f), shape, rate), .Machine$double.xmin)
  },
  outcomes = function(mean, var, value, weights) {
    gamma_outcomes(mean + value[["bias"]], var, value[["gamma_shape"]])
  }
))

# The bias of a logarithmic link of numbers that are not counts. It starts where it and the offset
# give their mean, about which its prior is, so that their unit changes nothing.
log_mean_bias <- list(
  argument = "bias", log = FALSE, unit_power = 0,
  start = function(rows, offset) {
    largest <- max(rows[1L, ])
    log(sum(rows[1L, ] / largest)) + log(largest) - max(offset) -
      log(sum(exp(offset - max(offset))))
  },
  around = function(start) function(unit) prior_normal(start, 10)
)

# A rule for integrals over positive numbers (`outcomes`, lik-contract.R) that are exp(N(eta, var))
# times a gamma variable of mean 1: along their logarithms, with steps that resolve the narrowest
# density and the steep end of a gamma variable's.
gamma_outcomes <- function(eta, var, shape) {
  TAIL <- 1e-16
  REACH <- 8.5
  STEP <- 0.5
  MOST <- 300 # as in C
  ends <- log(pmax(stats::qgamma(c(TAIL, 1 - TAIL), shape) / shape, 1e-300))
  sd <- sqrt(var)
  from <- pmax(eta - REACH * sd + ends[1L], -MOST)
  to <- pmax(pmin(eta + REACH * sd + ends[2L], MOST), from + 1)
  count <- max(ceiling((to - from) / (STEP * pmin(sqrt(var + 1 / shape), 0.6))), 1)
  step <- (to - from) / count
  y <- exp(from + outer(step, 0:count))
  list(y = y, size = y * step)
}
