# Answers of ordered categories that differ from those of other responses with one latent function.

#' @export
class_probabilities.response_ordered <- function(object, latent) {
  engine_label_probabilities(object, seen_mean(object, latent), latent$var, latent$weights)
}

#' @export
response_tails.response_ordered <- response_tails.response_numbers

#' @export
response_jumps.response_ordered <- response_jumps.response_counts
