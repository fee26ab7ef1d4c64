# Counts that vary more than a rate alone explains: the twin of src/lik_negbin.c.

#' @rdname likelihoods_counts
#' @order 13
#' @export
lik_negbin <- function(bias = NULL, size = NULL) {
  new_likelihood("negbin", list(bias = bias, size = size))
}

negbin_traits <- function() c(lik_code(
  response = "counts", weighted = TRUE, repeated = TRUE, data_rows = count_rows
), lik_hyper(
  about = list(bias = log_rate_bias, size = list(
    argument = "size", log = TRUE, unit_power = 0, start = function(rows, offset) log(5),
    prior = function(unit, offset) prior_lognormal(log(5), 2)
  ))
), lik_sample(
  draw = function(f, value, weights) {
    as.double(stats::rnbinom(length(f), value[["size"]],
                             mu = exp(pmin(f + value[["bias"]], 300)))) # as in C
  },
  outcomes = function(mean, var, value, weights) {
    # a Poisson count by then
    count_outcomes(mean + value[["bias"]], var, min(value[["size"]], 1e15))
  }
))
