# Counts: rows are as given. The twin of src/lik_poisson.c.

#' @rdname likelihoods_counts
#' @order 12
#' @export
lik_poisson <- function(bias = NULL) new_likelihood("poisson", list(bias = bias))

poisson_traits <- function() c(lik_code(
  response = "counts", weighted = TRUE, repeated = TRUE, data_rows = count_rows
), lik_hyper(
  about = list(bias = log_rate_bias)
), lik_sample(
  draw = function(f, value, weights) {
    as.double(stats::rpois(length(f), exp(pmin(f + value[["bias"]], 700)))) # 1e304
  },
  outcomes = function(mean, var, value, weights) count_outcomes(mean + value[["bias"]], var)
))
