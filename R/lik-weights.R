# Weights of observations, by functions that dispatch on what a likelihood has: weights as they are
# given, known variances (lik-known-variances.R), or constants (lik-custom-data.R).

weighting <- function(likelihood) {
  own <- if (length(likelihood$custom$data)) "constants"
         else if (!is.null(likelihood$variances)) "variances"
  structure(0L, class = paste0("weights_", c(own, "given")))
}

# Returns the weights of a fit, which may be a call that reads columns. rows: how many there are,
# where that is known.
weights_of_fit <- function(likelihood, given, rows = NULL) {
  UseMethod("weights_of_fit", weighting(likelihood))
}

#' @export
weights_of_fit.weights_given <- function(likelihood, given, rows = NULL) given

# Returns the weights that go with more rows: as they are given, or constants as a matrix.
more_weights <- function(likelihood, weights, n) UseMethod("more_weights", weighting(likelihood))

#' @export
more_weights.weights_given <- function(likelihood, weights, n) weights

# Returns the weights of new responses at the rows of a fit, NULL where they have none.
own_weights <- function(object) {
  if (!lik_traits(object$likelihood)$repeated) object$weights
}

# Returns weights of new responses at the complete rows of `latent` (api-predict.R).
# weights: those that the user gave; needed: is there no answer without weights that must be given?
weights_at <- function(object, latent, weights, needed = TRUE) {
  UseMethod("weights_at", weighting(object$likelihood))
}

#' @export
weights_at.weights_given <- function(object, latent, weights, needed = TRUE) {
  rows <- length(latent$complete)
  if (lik_traits(object$likelihood)$repeated) return(1)
  if (!is.null(weights)) {
    if (length(weights) == 1L) weights <- rep(weights, rows)
    return(check_per_row(weights, rows, "weights", positive = TRUE)[latent$complete])
  }
  if (!is.null(latent$weights)) return(latent$weights) # of the training rows
  if (any(object$weights != 1)) {
    warn_sparsegp("The fit has weights, and new responses are given weight 1: give ",
                  "`weights`.")
  }
  1
}

# Does an answer depend on the noise of new responses? Intervals for these do, and means on scales.
is_of_noise <- function(object, request) {
  codec <- codec_of(object)
  scaled <- inherits(codec, "response_transformed") && !inherits(codec, "response_times")
  request$interval == "prediction" ||
    scaled && request$type == "response" && has_usable_mean(object)
}

# Stops where what a user gave of new responses is not for them.
check_new_responses <- function(object, request, weights) {
  UseMethod("check_new_responses", weighting(object$likelihood))
}

#' @export
check_new_responses.weights_given <- function(object, request, weights) {
  traits <- lik_traits(object$likelihood)
  for_weights <- is_of_noise(object, request) && traits$weighted && !traits$repeated
  refuse_if(!is.null(weights) && !for_weights, "weights",
            "are for prediction intervals of likelihoods that have weights, and means on scales",
            "Leave them out")
}
