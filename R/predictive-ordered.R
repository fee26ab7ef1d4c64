# Answers of ordered categories, whose responses are the categories' numbers, from 1. What is about
# new responses follows from the categories' probabilities, of whatever likelihood. What is about
# the mean response over the posterior follows from the latent function, in whose order it is; where
# there is one for each category, from the points of a lattice (predictive-classes.R).

# ---- From probabilities ----

#' @export
mean_response.response_in_order <- function(object, latent) {
  table_mean(label_table(object, latent))
}

#' @export
response_moments.response_in_order <- function(object, latent) {
  moments <- table_moments(label_table(object, latent))
  list(mean = moments$mean, sd = sqrt(moments$var))
}

#' @export
response_quantile.response_in_order <- function(object, p, latent) {
  table_quantile(label_table(object, latent), p)
}

#' @export
response_tails.response_in_order <- response_tails.response_factor

#' @export
point_moments.response_in_order <- function(object, latent) point_moments.response(object, latent)

# ---- One latent function ----

#' @export
class_probabilities.response_ordered <- function(object, latent) {
  engine_label_probabilities(object, seen_mean(object, latent), latent$var, latent$weights)
}

# ---- A latent function for each category ----

#' @export
known_response.response_ordered_classes <- function(object, f, offset) {
  table_mean(table_of_labels(known_probabilities(object, f, offset)))
}

#' @export
lattice_responses.response_ordered_classes <- function(object, latent, points) {
  prob <- NextMethod()
  each <- table_of_labels(matrix(prob, ncol = length(object$response$levels)))
  matrix(table_mean(each), nrow(prob))
}

# The median of the mean response over the posterior
#' @export
median_response.response_ordered_classes <- function(object, latent, shift = 0) {
  confidence_bound(object, latent, "median", 0)
}

# Both ends of an interval, and all fits of an ensemble, from the same points
#' @export
confidence_bounds.response_ordered_classes <- function(object, latent, type, z) {
  bounds <- as.double(lattice_quantiles(object, latent, stats::pnorm(z)))
  bounds <- matrix(bounds, ncol = length(z)) # of no rows, too
  lapply(seq_along(z), function(k) bounds[, k])
}

#' @export
confidence_bound.response_ordered_classes <- function(object, latent, type, z) {
  as.double(lattice_quantiles(object, latent, stats::pnorm(z)))
}

#' @export
mixture_bound.response_ordered_classes <- confidence_bound.response_ordered_classes

#' @export
standard_deviation.response_ordered_classes <- function(object, latent, type) {
  if (type %in% c("link", "latent")) return(NextMethod())
  as.double(lattice_summary(object, latent, function(values, weights) {
    sqrt(colSums(weights * (values - rep(colSums(weights * values), each = nrow(values)))^2))
  }))
}
