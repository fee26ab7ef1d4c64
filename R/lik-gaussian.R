# Gaussian noise: the twin of src/lik_gaussian.c. Known variances are in lik-known-variances.R.

#' @rdname likelihoods_numbers
#' @order 2
#' @export
lik_gaussian <- function(variance = NULL, covariance = c("spherical", "diagonal", "full"),
                         correlation = NULL, transform = NULL) {
  covariance <- check_choice(covariance, COVARIANCES, "covariance")
  if (covariance != "spherical" || !is.null(correlation)) {
    return(with_transform(gaussian_of_vectors(variance, covariance, correlation), transform))
  }
  given <- plain_numbers(given_value(variance))
  if (is.numeric(given) && identical(as.double(given), 0)) {
    stop_sparsegp("variance", "must be positive", paste(
      "For a noise-free response leave it out, and it is learned to be almost zero, or give",
      "fixed(1e-8) times the variance of the response"
    ))
  }
  if (length(given) < 2L) {
    return(with_transform(new_likelihood("gaussian", list(noise = variance)), transform))
  }
  refuse_no_variance(given)
  check_hyper(given, "variance")
  lik <- new_likelihood("gaussian", list(noise = fixed(exp(mean(log(given))))))
  lik$variances <- as.double(given)
  with_transform(lik, transform)
}

# Errors of a normal distribution, row by row of variance noise / weight.
gaussian_traits <- function() c(lik_code(
  response = "numbers", density = TRUE, weighted = TRUE, exact = TRUE,
  data_rows = function(y, weights) rbind(y, weights)
), lik_hyper(list(noise = noise_variance), noise_near_none), lik_sample(
  draw = function(f, value, weights) {
    stats::rnorm(length(f), f, sqrt(value[["noise"]] / weights))
  },
  extra_var = function(value, weights, within) value[["noise"]] * (1 / weights - 1)
))

# Could the noise of a likelihood be near none? If it is Gaussian, and was left open.
may_be_noiseless <- function(lik) {
  lik$type == "gaussian" && "noise" %in% names(lik$params) && is.null(lik$params$noise) &&
    is.null(lik$variances) && is.null(lik$noiseless)
}
