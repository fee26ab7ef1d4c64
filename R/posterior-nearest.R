# Nearest neighbours (src/neighbours.h), and distributions of points given them (src/vecchia.h).

# Returns list(order, near): rows of x in maximin order, and a column for each with the k nearest of
# those before it, 0 where there are fewer. x: inputs divided by length scales. Rows that are
# equally far are taken by their inputs and then by `values`, so that their order does not matter.
neighbours_before <- function(x, k, values) {
  first <- order_of_rows(x, values)
  found <- .Call(sg_neighbours_before, unname(x[first, , drop = FALSE]), as.integer(k))
  near <- matrix(0L, nrow(found$near), nrow(x))
  near[, first] <- c(0L, first)[found$near + 1L]
  list(order = first[found$order], near = near)
}

order_of_rows <- function(x, values) {
  do.call(order, c(lapply(seq_len(ncol(x)), function(j) x[, j]), list(values)))
}

# Returns the k rows of x that are nearest to each of `points`, a column each: of all rows, or for
# each number of `prefix`, which fall, of so many first ones of `order`.
neighbours_of <- function(x, values, points, k, order = seq_len(nrow(x)), prefix = nrow(x)) {
  first <- order_of_rows(x, values)
  found <- .Call(sg_neighbours_at_levels, unname(x[first, , drop = FALSE]), match(order, first),
                 unname(points), as.integer(k), as.integer(prefix))
  matrix(c(0L, first)[found + 1L], nrow(found))
}

# Returns the k rows that each of `points` is to be given, a column each: those that leave the least
# of its variance (src/informative.h) among its nearest rows, and the nearest ones of first parts of
# the maximin order, which lie on all sides of it. So one of rows that nearly coincide is taken, and
# several clusters of rows count. rows: list(x, z, noise, order); v: directions of slopes
informative_rows <- function(spec, theta, rows, points, k, v = NULL) {
  n <- nrow(rows$x)
  u <- in_lengthscales(spec, theta, rows$x)
  at <- in_lengthscales(spec, theta, points)
  if (k >= n) return(neighbours_of(u, rows$z, at, n))
  prefix <- n %/% THINNED^(0:max(0, floor(log(n / FEWEST_THINNED, THINNED))))
  near <- neighbours_of(u, rows$z, at, ceiling(CANDIDATES * k / length(prefix)), rows$order, prefix)
  chosen_rows(spec, theta, rows, points, near, k, v)
}

CANDIDATES <- 3 # for each row that a point is given (bench/near_rows.R)

THINNED <- 9 # times fewer rows in each part of the order than in the one before

FEWEST_THINNED <- 15 # rows of such a part

# Returns k of the candidates `near` of each point, a column each, 0 where there are fewer.
chosen_rows <- function(spec, theta, rows, points, near, k, v = NULL) {
  .Call(sg_informative_rows, spec, theta, unname(rows$x), rows$noise,
        list(x = unname(points), v = if (!is.null(v)) unname(v), rows = near,
             points = matrix(0L, 0L, nrow(points))), as.integer(k))
}

# Returns list(weights, root) of points given rows, `near`, a column each, and maybe
# points before them, as src/vecchia.h has them. noise: variances of the rows' responses; NULL: the
# rows' values are known. v: directions; before: which points are given, a column each
neighbour_weights <- function(spec, theta, x, noise, points, near, v = NULL, before = NULL) {
  if (is.null(before)) before <- matrix(0L, 0L, nrow(points))
  found <- .Call(sg_vecchia_weights, spec, theta, unname(x), noise,
                 list(x = unname(points), v = if (!is.null(v)) unname(v), rows = near,
                      points = before))
  if (found$status == 0L) return(found[c("weights", "root")])
  stop_sparsegp("object", "has hyperparameters at which neighbours have no kernel matrix to factor",
                "Fit again from less extreme hyperparameters")
}

# Length scales below 1e-150 of the inputs' unit have no squares.
SHORTEST <- 1e-150

# Returns the rows or points x as neighbours are looked for: inputs that the kernel reads, each
# divided by its shortest length scale.
in_lengthscales <- function(spec, theta, x) {
  scales <- input_lengthscales(spec, theta, ncol(x))
  read <- which(is.finite(scales))
  unname(x[, read, drop = FALSE]) / rep(pmax(scales[read], SHORTEST), each = nrow(x))
}

# Returns the shortest length scale of each of so many inputs, Inf of those that no stationary part
# reads.
input_lengthscales <- function(spec, theta, inputs) {
  scales <- rep(Inf, inputs)
  if (spec$type %in% STATIONARY) {
    at <- spec$vars + 1L
    scales[at] <- exp(theta[1L + if (spec$ard) seq_along(at) else rep(1L, length(at))])
  }
  for (part in spec$parts) {
    own <- seq_len(count_kernel_hyper(part))
    scales <- pmin(scales, input_lengthscales(part, theta[own], inputs))
    theta <- theta[-own]
  }
  scales
}

STATIONARY <- c("rbf", "matern12", "matern32", "matern52", "rq")

# Sums of values of neighbours times their weights, of each point: near has 0 where there is none.
weighted_sums <- function(weights, near, values) {
  colSums(weights * c(0, values)[near + 1L])
}
