# Answers of classes with a latent function for each: latent moments are matrices.

#' @export
mean_response.response_classes <- function(object, latent) class_probabilities(object, latent)

#' @export
class_probabilities.response_classes <- function(object, latent) {
  own <- engine_lik_predict(object, seen_mean(object, latent), latent$var)$mean
  own[rowSums(own) == 0, ] <- 1 # all underflowed
  prob <- own / rowSums(own)
  colnames(prob) <- object$response$levels
  prob
}

# The median over the posterior of each class's probability given the latent functions, each class
# by itself: those of a row do not add up to one. The functions are independent, and their values
# are taken at the points of a lattice and at its reflections: the median of 2046 values, without
# randomness. O(n C points log points), and what the likelihood takes.
#' @export
median_response.response_classes <- function(object, latent, shift = 0) {
  half <- normal_lattice(1023L, processes(object))
  z <- rbind(half, -half)
  n <- nrow(latent$mean)
  latent$offset <- rep_len(latent$offset, n)
  blocks <- row_blocks(n, max(1L, MEDIAN_NUMBERS %/% length(z)))
  medians <- lapply(blocks, function(rows) medians_at(object, some_latent(latent, rows, 1L), z))
  matrix(as.double(do.call(rbind, medians)), n, ncol(z),
         dimnames = list(NULL, object$response$levels))
}

MEDIAN_NUMBERS <- 1000000L # probabilities at hand

# Returns the medians of the rows' class probabilities at latent values mean + z sd; z: m x C.
medians_at <- function(object, latent, z) {
  m <- nrow(z)
  rows <- rep(seq_len(nrow(latent$mean)), each = m)
  at <- rep_len(seq_len(m), length(rows))
  f <- latent$mean[rows, , drop = FALSE] +
    sqrt(latent$var)[rows, , drop = FALSE] * z[at, , drop = FALSE]
  prob <- class_probabilities(object, list(mean = f, var = 0 * f, offset = latent$offset[rows]))
  group <- rows + nrow(latent$mean) * (rep(seq_len(ncol(prob)), each = nrow(prob)) - 1L)
  sorted <- matrix(prob[order(group, prob, method = "radix")], m)
  middle <- colMeans(sorted[m / 2 + 0:1, , drop = FALSE])
  matrix(middle, ncol = ncol(prob))
}

# Richtmyer's lattice (Niederreiter 1992, p. 74), whose steps are the square roots of primes, in so
# many dimensions, as standard normal values: a row for each point.
normal_lattice <- function(points, dimensions) {
  stats::qnorm(outer(seq_len(points), sqrt(first_primes(dimensions))) %% 1)
}

first_primes <- function(count) {
  found <- 2
  while (length(found) < count) {
    next_one <- found[length(found)] + 1
    while (any(next_one %% found == 0)) next_one <- next_one + 1
    found <- c(found, next_one)
  }
  found
}

# One-vs-rest, where the odds of a likelihood's probabilities are what they are made of.
#' @export
class_probabilities.response_rest <- function(object, latent) {
  if (!lik_traits(object$likelihood)$tempered) return(NextMethod())
  prob <- temper(log_scores(object, latent), object$power)
  colnames(prob) <- object$response$levels
  prob
}

#' @export
draws_of.response_classes <- function(object, latent, n, type) {
  f <- vapply(latent$values, c, numeric(length(latent$values[[1L]])))
  f <- matrix(f, ncol = processes(object))
  offset <- rep(latent$offset, length.out = nrow(f))
  drawn <- centre_answer(object, list(mean = f, var = 0 * f, offset = offset), type)
  by_class(object, lapply(seq_len(ncol(drawn)), function(class) {
    restore_rows(drawn_matrix(drawn[, class], n), latent)
  }))
}

# A matrix of each latent function: of one alone itself, of several in an array.
by_class <- function(object, each) {
  if (length(each) == 1L) return(each[[1L]])
  array(unlist(each), c(dim(each[[1L]]), length(each)),
        c(dimnames(each[[1L]]), list(object$response$levels)))
}

# ---- Rows of the fit ----

#' @export
plain_residuals.response_classes <- function(object, pearson) {
  observed <- observed_values(object)
  prob <- class_probabilities(object, rows_latent(object))
  scale <- if (pearson) sqrt(prob * (1 - prob)) else 1
  known_residuals((observed - prob) / scale, observed)
}

#' @export
quantile_residuals.response_classes <- function(object) refuse_quantiles()

# log Z is that of the indicators of all classes, not of the row's class.
#' @export
lpd_of_rows.response_rest <- function(object) label_lpd(loo_probabilities(object), object$y)

# The evidences of separate models do not add up to one for the labels.
#' @export
evidence_of.response_rest <- function(object) NA_real_

#' @export
site_table.response_classes <- function(object) {
  levels <- object$response$levels
  data.frame(NextMethod(), class = factor(rep(levels, each = object$n), levels))
}
