# Counts: rows are as given. The twin of src/lik_poisson.c.

#' @rdname likelihoods
#' @order 12
#' @export
lik_poisson <- function(bias = NULL) new_likelihood("poisson", list(bias = bias))

poisson_traits <- function() list(
  response = "counts", weighted = FALSE,
  about = list(bias = log_rate_bias),
  data_rows = function(y, weights) count_rows(y),
  draw = function(f, value, weights) {
    as.double(stats::rpois(length(f), exp(pmin(f + value[["bias"]], 700)))) # 1e304
  },
  extra_var = function(value, weights, within) 0,
  outcomes = function(mean, var, value, weights) count_outcomes(mean + value[["bias"]], var)
)
