# Points that were seen, and nothing else: the twin of src/lik_density.c.

#' @rdname gp_density
#' @order 30
#' @export
lik_density <- function() new_likelihood("density", list())

# Points that were seen, and nothing else: the response is 1. What is predicted is f^2.
density_traits <- function() c(lik_code(
  response = "seen", density = TRUE, weighted = FALSE, even = TRUE,
  data_rows = function(y, weights) rbind(rep(1, length(y)), deparse.level = 0L)
), lik_hyper(), lik_sample(
  draw = function(f, value, weights) f^2
))
