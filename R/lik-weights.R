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

# Stops where what a user gave of new responses is not for them. of_noise: does the answer depend
# on their noise?
check_new_responses <- function(object, of_noise, weights) {
  UseMethod("check_new_responses", weighting(object$likelihood))
}

#' @export
check_new_responses.weights_given <- function(object, of_noise, weights) {
  traits <- lik_traits(object$likelihood)
  for_weights <- of_noise && traits$weighted && !traits$repeated
  refuse_if(!is.null(weights) && !for_weights, "weights",
            paste("change only prediction intervals, and means of a transformed response, under a",
                  "likelihood that takes weights"),
            "Leave them out")
}
