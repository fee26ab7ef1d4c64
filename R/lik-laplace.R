# Laplace noise: the twin of src/lik_laplace.c.

#' @rdname likelihoods_numbers
#' @order 10
#' @export
lik_laplace <- function(scale = NULL, transform = NULL) {
  with_transform(new_likelihood("laplace", list(scale = scale)), transform)
}

laplace_traits <- function() c(lik_code("numbers", density = TRUE), lik_hyper(
  about = list(scale = noise_scale)
), lik_sample(
  draw = function(f, value, weights) {
    side <- ifelse(stats::runif(length(f)) < 0.5, -1, 1)
    f + side * value[["scale"]] * stats::rexp(length(f))
  },
  outcomes = function(mean, var, value, weights) number_outcomes(mean, var, value[["scale"]])
))
