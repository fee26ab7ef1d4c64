# Answers of classes that one process has all latent values of. Latent moments are as C has them, a
# mean for each class of a row after the other and a block of covariances for each row; answers are
# those of classes.

#' @export
seen_mean.response_coupled <- function(object, latent) latent$mean

#' @export
class_probabilities.response_coupled <- function(object, latent) {
  by_component(engine_lik_predict(object, latent$mean, latent$var)$mean, components(object))
}

#' @export
centre_answer.response_coupled <- function(object, latent, type) {
  mean <- by_component(latent$mean, components(object))
  switch(type, link = to_link(object, mean, 0), latent = to_latent(object, mean, 0),
         median = median_response(object, latent), mean_response(object, latent))
}

# Uses the lattice of independent functions, rotated to the row's own covariance.
#' @export
lattice_responses.response_coupled <- function(object, latent, points) {
  names <- components(object)
  half <- normal_lattice(points, length(names))
  z <- rbind(half, -half)
  mean <- by_component(latent$mean, names)
  blocks <- matrix(latent$var, length(names)^2)
  each <- vapply(seq_len(nrow(mean)), function(row) {
    own <- eigen(matrix(blocks[, row], length(names)), TRUE)
    f <- z %*% own$vectors %*% (sqrt(pmax(own$values, 0)) * t(own$vectors)) # see lattice_of_row()
    known_probabilities(object, f + rep(mean[row, ], each = nrow(z)), 0)
  }, matrix(0, nrow(z), length(names))) # points x classes x rows
  matrix(aperm(each, c(1L, 3L, 2L)), nrow(z))
}

#' @export
standard_deviation.response_coupled <- function(object, latent, type) {
  sqrt(component_vars(latent$var, components(object)))
}

#' @export
drawn_functions.response_coupled <- function(object, latent) {
  by_component(c(latent$values[[1L]]), components(object))
}

#' @export
draw_response.response_coupled <- function(object, f, weights, prob) {
  draw_response.response(object, by_component(f, components(object)), weights, prob)
}

#' @export
site_table.response_coupled <- function(object) site_table.response_components(object)

#' @export
offset_of_rows.response_coupled <- function(object, offset, n) {
  matrix(0, n, n_outputs(object)) # which shifts all classes alike
}

#' @export
known_probabilities.response_coupled <- function(object, f, offset) {
  by_component(engine_lik_eval(object, c(t(f)))$mean, components(object))
}

#' @export
known_response.response_coupled <- function(object, f, offset) {
  known_probabilities(object, f, offset)
}

# Uses the probabilities of predict(), which sum to 1.
#' @export
lpd_of_rows.response_coupled <- function(object) label_lpd(loo_probabilities(object), object$y)
