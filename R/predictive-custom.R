# Answers of likelihoods that are R functions which differ from those of other responses.

# A density that is not normalised is treated as the normalised one.
#' @export
class_probabilities.response_ranks <- function(object, latent) {
  prob <- NextMethod()
  prob / rowSums(prob)
}

# ---- Two latent functions of one response ----

# Constants of the latent functions: none is removed.
#' @export
component_centres.response_pairs <- function(object) numeric(n_outputs(object))

# The mean response where the latent functions are known
#' @export
response_at.response_pairs <- function(object, latent, shift = 0) {
  engine_lik_eval(object, seen_mean(object, latent), weights = latent$weights)$mean
}
