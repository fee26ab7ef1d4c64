# Laplace noise: the twin of src/lik_laplace.c.

#' @rdname likelihoods
#' @order 10
#' @export
lik_laplace <- function(scale = NULL) new_likelihood("laplace", list(scale = scale))

laplace_traits <- function() c(lik_code(
  response = "numbers", weighted = FALSE,
  data_rows = function(y, weights) rbind(y)
), lik_hyper(
  about = list(scale = noise_scale)
), lik_sample(
  draw = function(f, value, weights) {
    side <- ifelse(stats::runif(length(f)) < 0.5, -1, 1)
    f + side * value[["scale"]] * stats::rexp(length(f))
  },
  quantile = function(p, mean, var, value, weights) {
    scale <- value[["scale"]]
    mean + crossing(p, function(r) laplace_cdf(r, sqrt(var), scale), 0 * mean, scale + sqrt(var))
  },
  cdf = function(y, mean, var, value, weights, lower) {
    laplace_cdf(if (lower) y - mean else mean - y, sqrt(var), value[["scale"]])
  },
  extra_var = function(value, weights, within) 0,
  outcomes = function(mean, var, value, weights) number_outcomes(mean, var, value[["scale"]])
))
