# Laplace noise: the twin of src/lik_laplace.c.

#' @rdname likelihoods
#' @order 10
#' @export
lik_laplace <- function(scale = NULL) new_likelihood("laplace", list(scale = scale))

laplace_traits <- function() list(
  response = "numbers", weighted = FALSE, about = list(scale = noise_scale),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    side <- ifelse(stats::runif(length(f)) < 0.5, -1, 1)
    f + side * value[["scale"]] * stats::rexp(length(f))
  },
  extra_var = function(value, weights, within) 0,
  outcomes = function(mean, var, value, weights) number_outcomes(mean, var, value[["scale"]])
)
