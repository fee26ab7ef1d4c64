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

# As of independent functions, at the points of the same lattice under the row's own covariance.
#' @export
lattice_probabilities.response_coupled <- function(object, latent, points) {
  names <- components(object)
  half <- normal_lattice(points, length(names))
  z <- rbind(half, -half)
  mean <- by_component(latent$mean, names)
  blocks <- matrix(latent$var, length(names)^2)
  each <- vapply(seq_len(nrow(mean)), function(row) {
    own <- eigen(matrix(blocks[, row], length(names)), TRUE)
    f <- z %*% (sqrt(pmax(own$values, 0)) * t(own$vectors))
    probabilities_at(object, f + rep(mean[row, ], each = nrow(z)))
  }, matrix(0, nrow(z), length(names))) # points x classes x rows
  matrix(aperm(each, c(1L, 3L, 2L)), nrow(z))
}

#' @export
standard_deviation.response_coupled <- function(object, latent, type) {
  sqrt(component_vars(latent$var, components(object)))
}

# rows x draws x classes
#' @export
draws_of.response_coupled <- function(object, latent, n, type) {
  names <- components(object)
  each <- lapply(seq_len(n), function(j) {
    f <- by_component(latent$values[[1L]][, j], names)
    if (type == "response") probabilities_at(object, f)
    else if (type == "link") to_link(object, f, 0)
    else to_latent(object, f, 0)
  })
  drawn <- array(unlist(each), c(length(latent$values[[1L]]) / n / length(names), length(names), n))
  drawn <- aperm(drawn, c(1L, 3L, 2L))
  dimnames(drawn) <- list(NULL, paste0("draw_", seq_len(n)), names)
  restore_rows(drawn, latent)
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

# Probabilities at known latent values, a column for each class of f.
probabilities_at <- function(object, f) {
  by_component(engine_lik_eval(object, c(t(f)))$mean, components(object))
}

# Of the same probabilities as predict(), which sum to 1.
#' @export
lpd_of_rows.response_coupled <- function(object) label_lpd(loo_probabilities(object), object$y)
