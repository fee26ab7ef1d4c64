# The posterior by nearest neighbours: `basis`, the rows' inputs, and `neighbours`, list(k, tau, nu,
# latent): the sites of the rows. A point is given the values of 2 (k + 1) nodes, see
# informative_rows(), whose posterior has a sparse precision (posterior-factor.R). With Gaussian
# noise and so many rows that its factor would be too large (latent FALSE), sites are responses
# nu / tau with noise of variance 1 / tau, and a point is given k + 1 rows: at a row these are
# itself and the k that its cavity is given.
# alpha and the J of a mean are what they are in other posteriors; there are no factors G and H.

is_of_neighbours <- function(posterior) !is.null(posterior$neighbours)

# Returns moments as site_moments() has them. Joint ones are of points in maximin order, each given
# its nearest rows and the k nearest of the points before it.
neighbour_moments <- function(spec, theta, posterior, x, v = NULL, parts = NULL, joint = FALSE) {
  if (!is.null(parts)) refuse_some_parts(spec, parts)
  if (joint) refuse_many_neighbours(nrow(x), 1 + !is.null(v))
  known <- remembered_rows(spec, theta, posterior)
  if (joint) return(joint_by_neighbours(spec, theta, known, posterior, x, v, is.null(parts)))
  found <- lapply(blocks_of_points(nrow(x), nrow(known$x)), function(at) {
    moments_of_points(spec, theta, known, posterior, x[at, , drop = FALSE],
                      if (!is.null(v)) v[at, , drop = FALSE], is.null(parts))
  })
  list(mean = unlist(lapply(found, `[[`, "mean")), var = unlist(lapply(found, `[[`, "var")))
}

# Returns blocks of m points whose neighbours among n rows and weights are in memory together. Each
# takes some time for all rows, so that there are not more than ten for as many points.
blocks_of_points <- function(m, n) row_blocks(m, max(POINTS_AT_ONCE, ceiling(n / 10)))

POINTS_AT_ONCE <- 20000L

MOST_JOINT_NEIGHBOURS <- 2000L # points of which there is a covariance matrix

refuse_many_neighbours <- function(points, each) {
  most <- MOST_JOINT_NEIGHBOURS
  refuse_if(points * each > most, "newdata",
            paste0("has ", points, " rows, and a joint covariance by ",
                   "method_neighbours() is of at most ",
                   most %/% each), "Give `newdata` with fewer rows")
}

# Values of all parts but constants, which drop out of what is centred, are those of the sum.
refuse_some_parts <- function(spec, parts) {
  if (all(parts | vapply(spec$parts, function(part) part$type == "constant", NA))) {
    return(invisible())
  }
  stop_sparsegp("object", paste("is a fit by method_neighbours(), whose predictions cannot be",
                                "split into those of the parts of a kernel"),
                "Use method_ep(size =) for effects of parts")
}

# Returns known_rows() of a posterior, or those of the last one where it is the same: predictions
# are often of few rows, and an order of all rows or a factor takes much longer.
remembered_rows <- function(spec, theta, posterior) {
  of <- list(spec, theta, posterior$basis, posterior$neighbours, posterior$trend)
  if (identical(of, REGISTRY$known$of)) return(REGISTRY$known$rows)
  rows <- known_rows(spec, theta, posterior)
  few <- utils::object.size(list(of, rows)) <= MOST_KNOWN
  REGISTRY$known <- if (few) list(of = of, rows = rows)
  rows
}

MOST_KNOWN <- 2e8 # bytes that are remembered of a posterior

# Returns what points are given of a posterior: list(x, noise, z, phi, factor, order). Of Gaussian
# noise these are the rows with their responses, less the mean's estimate, and the mean's functions;
# else latent_posterior().
known_rows <- function(spec, theta, posterior) {
  sites <- posterior$neighbours
  if (sites$latent) return(latent_posterior(spec, theta, posterior))
  trend <- posterior$trend
  z <- sites$nu / sites$tau
  phi <- if (!is.null(trend)) mean_functions(trend, posterior$basis)
  order <- neighbours_before(in_lengthscales(spec, theta, posterior$basis), 0L, z)$order
  if (!is.null(trend)) z <- z - drop(phi %*% c(trend$coef))
  list(x = posterior$basis, noise = 1 / sites$tau, z = z, phi = phi, factor = NULL, order = order)
}

# Returns list(near, weights, root) of points.
given_points <- function(spec, theta, known, k, x, v, before = NULL) {
  count <- (k + 1) * if (is.null(known$factor)) 1 else NODES_GIVEN
  near <- informative_rows(spec, theta, known, x, min(count, nrow(known$x)), v)
  c(neighbour_weights(spec, theta, known$x, known$noise, x, near, v, before), list(near = near))
}

NODES_GIVEN <- 2 # times k + 1: without noise of their own they cost less than they tell

# Returns the functions of a mean at points, and their derivatives along v after each: a row for
# each value.
mean_at_points <- function(trend, x, v) {
  phi <- mean_functions(trend, x)
  if (is.null(v)) return(phi)
  rbind(phi, mean_slopes(trend, x, v))[order(rep(seq_len(nrow(x)), 2L)), , drop = FALSE]
}

# Moments of points, each by itself; with v 2 and 4 numbers a point. whole: with the mean?
moments_of_points <- function(spec, theta, known, posterior, x, v, whole) {
  w <- 1L + !is.null(v)
  given <- given_points(spec, theta, known, posterior$neighbours$k, x, v)
  near <- given$near[, rep(seq_len(nrow(x)), each = w), drop = FALSE]
  mean <- weighted_sums(given$weights, near, known$z)
  var <- blocks_of_roots(given$root, w)
  if (!is.null(known$factor)) {
    var <- var + factor_squares(known$factor, given$near, given$weights, w)
  }
  trend <- posterior$trend
  if (!is.null(trend)) {
    u <- residuals_of_mean(given, near, known, trend, x, v, whole)
    if (whole) mean <- mean + drop(mean_at_points(trend, x, v) %*% c(trend$coef))
    at <- function(a) u[seq(a, by = w, length.out = nrow(x)), , drop = FALSE]
    for (a in seq_len(w)) for (b in seq_len(w)) {
      var[a + w * (b - 1L), ] <- var[a + w * (b - 1L), ] + rowSums(at(a) * at(b))
    }
  }
  list(mean = mean, var = c(var))
}

# Returns L^-T (phi - sum of weights times phi of rows) of each value, a row each.
residuals_of_mean <- function(given, near, known, trend, x, v, whole) {
  phi <- mean_at_points(trend, x, v)
  sums <- vapply(seq_len(ncol(phi)), function(j) weighted_sums(given$weights, near, known$phi[, j]),
                 numeric(nrow(phi)))
  (whole * phi - matrix(sums, nrow(phi))) %*% trend$root
}

# Returns U'U of upper factors, w w numbers a column.
blocks_of_roots <- function(root, w) {
  if (w == 1L) return(root^2)
  rbind(root[1L, ]^2, root[1L, ] * root[3L, ], root[1L, ] * root[3L, ],
        root[3L, ]^2 + root[4L, ]^2)
}

# Joint moments of all points: with v of the values, then of the derivatives. A value is its weights
# times those before it, and a part of its own: the factor of the covariance is a triangular solve.
joint_by_neighbours <- function(spec, theta, known, posterior, x, v, whole) {
  n <- nrow(x)
  w <- 1L + !is.null(v)
  order <- neighbours_before(in_lengthscales(spec, theta, x), min(posterior$neighbours$k, n - 1L),
                             seq_len(n))
  given <- given_points(spec, theta, known, posterior$neighbours$k, x, v, order$near)
  rows <- nrow(given$near)
  own <- given$weights[seq_len(rows), , drop = FALSE]
  near <- given$near[, rep(seq_len(n), each = w), drop = FALSE]
  solve <- solver_of_points(given$weights[-seq_len(rows), , drop = FALSE], order, w)
  root <- solve(roots_of_points(given$root, w))
  mean <- drop(solve(matrix(weighted_sums(own, near, known$z))))
  var <- tcrossprod(root)
  if (!is.null(known$factor)) {
    of_rows <- factor_products(known$factor, near, own)
    of_points <- solve(t(solve(of_rows)))
    var <- var + (of_points + t(of_points)) / 2
  }
  trend <- posterior$trend
  if (!is.null(trend)) {
    phi <- mean_at_points(trend, x, v)
    sums <- phi * 0
    for (j in seq_len(ncol(phi))) sums[, j] <- weighted_sums(own, near, known$phi[, j])
    var <- var + tcrossprod((whole * phi - solve(sums)) %*% trend$root)
    if (whole) mean <- mean + drop(phi %*% c(trend$coef))
  }
  first <- order(rep(seq_len(w), n))
  list(mean = mean[first], var = var[first, first, drop = FALSE])
}

# Returns a function that solves (I - B) X = Y, B the weights of points that are before others.
solver_of_points <- function(weights, order, w) {
  size <- ncol(weights)
  from <- order$near[rep(seq_len(nrow(order$near)), each = w), rep(seq_len(size %/% w), each = w),
                     drop = FALSE]
  from <- w * (from - 1L) + rep_len(seq_len(w), nrow(weights))
  there <- which(from > 0L)
  place <- order(rep(order(order$order), each = w)) # values in the order of their points
  at <- order(place)
  B <- Matrix::sparseMatrix(i = c(at, at[(there - 1L) %/% nrow(weights) + 1L]),
                            j = c(at, at[from[there]]), x = c(rep(1, size), -weights[there]),
                            dims = c(size, size), triangular = TRUE)
  function(Y) as.matrix(Matrix::solve(B, Y[place, , drop = FALSE]))[at, , drop = FALSE]
}

# Returns the block-diagonal matrix of transposed upper factors.
roots_of_points <- function(root, w) {
  out <- matrix(0, w * ncol(root), w * ncol(root))
  at <- w * (seq_len(ncol(root)) - 1L)
  for (a in seq_len(w)) for (b in seq_len(a)) {
    out[cbind(at + a, at + b)] <- root[b + w * (a - 1L), ]
  }
  out
}
