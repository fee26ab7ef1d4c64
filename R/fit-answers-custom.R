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

# The mean response is no monotone function of one latent value: bounds are those of a normal
# distribution with its mean and standard deviation.
#' @export
confidence_bound.response_pairs <- function(object, latent, type, z) {
  mean_response(object, latent) + z * standard_deviation(object, latent, type)
}

#' @export
predicted.response_pairs <- function(object, latent, request) {
  if (request$type %in% c("link", "latent")) predicted.response_components(object, latent, request)
  else predicted.response(object, latent, request)
}

# Draws of the latent functions, or of the mean response given them.
#' @export
draws_of.response_pairs <- function(object, latent, n, type) {
  if (type %in% c("link", "latent")) return(draws_of.response_components(object, latent, n, type))
  f <- latent$values[[1L]]
  each <- lapply(seq_len(n), function(j) {
    seen <- seen_mean(object, list(mean = f[, j], offset = latent$offset))
    engine_lik_eval(object, seen, weights = latent$weights)$mean
  })
  restore_rows(drawn_matrix(unlist(each), n), latent)
}
