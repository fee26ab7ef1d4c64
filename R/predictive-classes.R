# Answers of classes with a latent function for each: latent moments are matrices.

#' @export
mean_response.response_classes <- function(object, latent) class_probabilities(object, latent)

#' @export
class_probabilities.response_classes <- function(object, latent) {
  prob <- engine_lik_predict(object, seen_mean(object, latent), latent$var)$mean
  colnames(prob) <- object$response$levels
  adding_to_one(prob)
}

# Scales rows so that they add up to one; where all probabilities underflowed they are equal.
adding_to_one <- function(prob) {
  prob[rowSums(prob) == 0, ] <- 1
  prob / rowSums(prob)
}

# The median over the posterior of each class's probability given the latent functions, each class
# by itself: those of a row do not add up to one. Latent values are taken at the points of a lattice
# and at its reflections: the median of 2046 probabilities, without randomness; of an ensemble
# of those of all members, by their weights. O(n C points log points), and what the likelihood
# takes.
#' @export
median_response.response_classes <- function(object, latent, shift = 0) {
  levels <- object$response$levels
  medians <- as.double(lattice_quantiles(object, latent, 0.5))
  matrix(medians, ncol = length(levels), dimnames = list(NULL, levels))
}

#' @export
mixture_bound.response_classes <- function(object, latent, type, z) {
  if (type == "median") median_response(object, latent) else NextMethod()
}

LATTICE_POINTS <- 1023L # and as many reflections
MEMBER_POINTS <- 255L # fewest of a member of an ensemble
MEDIAN_NUMBERS <- 1000000L # probabilities at hand

# Returns quantiles over the posterior: a row for each row, and a column for each mean response of
# it and each of p.
lattice_quantiles <- function(object, latent, p) {
  lattice_summary(object, latent, function(values, weights) weighted_quantiles(values, weights, p))
}

# Returns of each column the `summary` of its values and weights, see pooled_responses().
lattice_summary <- function(object, latent, summary) {
  n <- latent_count(latent, n_outputs(object))
  members <- max(1L, length(latent$members))
  points <- if (members == 1L) LATTICE_POINTS else max(LATTICE_POINTS %/% members, MEMBER_POINTS)
  size <- 2L * points * length(object$response$levels) * members
  each <- lapply(row_blocks(n, max(1L, MEDIAN_NUMBERS %/% size)), function(rows) {
    pool <- pooled_responses(object, latent, rows, points)
    matrix(summary(pool$values, pool$weights), length(rows))
  })
  do.call(rbind, each)
}

# Returns list(values, weights) of m points of the posteriors of all members: mean responses, m x
# (rows times classes, or rows), and the points' weights, m x rows. points: of a lattice, for each
# member
pooled_responses <- function(object, latent, rows, points) {
  if (is.null(latent$members)) {
    values <- lattice_responses(object, latent_of_rows(object, latent, rows), points)
    return(list(values = values,
                weights = matrix(1 / nrow(values), nrow(values), length(rows))))
  }
  pools <- over_members(object, latent, function(...) pooled_responses(..., rows, points))
  weights <- Map(function(pool, k) {
    share <- share_of(latent$shares, k)
    pool$weights * rep(if (length(share) == 1L) share else share[rows],
                       each = nrow(pool$weights))
  }, pools, seq_along(pools))
  list(values = do.call(rbind, lapply(pools, `[[`, "values")), weights = do.call(rbind, weights))
}

# Returns the weighted quantiles of columns, those of the first of p before others. weights: of the
# first columns, and of as many after each other; the mean of two values where the weight up to the
# first is p.
weighted_quantiles <- function(values, weights, p) {
  ROUNDING <- 1e-9
  sorted <- order(col(values), values, method = "radix")
  of_value <- weights[, rep_len(seq_len(ncol(weights)), ncol(values)), drop = FALSE]
  below <- matrix(of_value[sorted], nrow(values))
  below[] <- apply(below, 2L, cumsum)
  values[] <- values[sorted]
  each <- vapply(p, function(p) {
    part <- rep(p * below[nrow(below), ], each = nrow(below))
    at <- function(count) values[cbind(pmin(count + 1, nrow(values)), seq_along(count))]
    (at(colSums(below < part * (1 - ROUNDING))) + at(colSums(below <= part * (1 + ROUNDING)))) / 2
  }, numeric(ncol(values)))
  c(each)
}

# Returns the rows' mean responses at the points of a lattice of latent values: points x (rows times
# classes), or of ordered ones points x rows.
lattice_responses <- function(object, latent, points) {
  UseMethod("lattice_responses", codec_of(object))
}

#' @export
lattice_responses.response_classes <- function(object, latent, points) {
  half <- normal_lattice(points, processes(object))
  z <- rbind(half, -half)
  rows <- rep(seq_len(nrow(latent$mean)), each = nrow(z))
  at <- rep_len(seq_len(nrow(z)), length(rows))
  f <- latent$mean[rows, , drop = FALSE] +
    sqrt(latent$var)[rows, , drop = FALSE] * z[at, , drop = FALSE]
  matrix(known_probabilities(object, f, latent$offset[rows]), nrow(z))
}

# Returns the probabilities of the classes where the latent functions f are known: a row for each
# of f. They are those of class_probabilities() without variances, which takes integrals.
known_probabilities <- function(object, f, offset) {
  UseMethod("known_probabilities", codec_of(object))
}

#' @export
known_probabilities.response_classes <- function(object, f, offset) {
  seen <- seen_mean(object, list(mean = f, offset = offset))
  adding_to_one(matrix(engine_lik_eval(object, seen)$mean, nrow(f)))
}

#' @export
known_probabilities.response_rest <- function(object, f, offset) {
  class_probabilities(object, list(mean = f, var = 0 * f, offset = offset))
}

#' @export
known_response.response_classes <- function(object, f, offset) {
  mean_response(object, list(mean = f, var = 0 * f, offset = offset))
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
  f <- drawn_functions(object, latent)
  offset <- rep(latent$offset, length.out = nrow(f))
  drawn <- as.matrix(switch(type, response = known_response(object, f, offset),
                            link = to_link(object, f, offset), to_latent(object, f, offset)))
  by_class(object, lapply(seq_len(ncol(drawn)), function(class) {
    restore_rows(drawn_matrix(drawn[, class], n), latent)
  }))
}

# Returns the draws of the latent functions: a row for each draw of a row, and a column for each
# class.
drawn_functions <- function(object, latent) UseMethod("drawn_functions", codec_of(object))

#' @export
drawn_functions.response_classes <- function(object, latent) {
  f <- vapply(latent$values, c, numeric(length(latent$values[[1L]])))
  matrix(f, ncol = processes(object))
}

# A matrix of each latent function: of one alone itself, of several in an array.
by_class <- function(object, each) {
  if (length(each) == 1L) return(each[[1L]])
  array(unlist(each), c(dim(each[[1L]]), length(each)),
        c(dimnames(each[[1L]]), list(object$response$levels)))
}

# ---- Rows of the fit ----

#' @export
point_moments.response_classes <- function(object, latent) indicator_moments(object, latent)

# Classes have no order.
#' @export
response_tails.response_classes <- function(object, y, latent) NULL

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
