# Points that were seen, and nothing else: the twin of src/lik_density.c.

#' @rdname likelihoods
#' @order 18
#' @export
lik_density <- function() new_likelihood("density", list())

# Points that were seen, and nothing else: the response is 1. What is predicted is f^2.
density_traits <- function() c(lik_code(
  response = "seen", weighted = FALSE,
  data_rows = function(y, weights) rbind(rep(1, length(y)), deparse.level = 0L)
), lik_hyper(), lik_sample(
  draw = function(f, value, weights) f^2,
  quantile = function(p, mean, var, value, weights) {
    sd <- sqrt(var)
    cdf <- function(root) {
      below <- ifelse(sd > 0, stats::pnorm((root - mean) / sd), root >= mean)
      ifelse(root < 0, 0, below - ifelse(sd > 0, stats::pnorm((-root - mean) / sd), -root > mean))
    }
    pmax(crossing(p, cdf, abs(mean), sd), 0)^2
  },
  extra_var = function(value, weights, within) 0
))
