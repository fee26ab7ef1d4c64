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

# Returns the k rows of x that are nearest to each of `points`, a column each. without: a row that
# does not count, of each point one; NULL: all rows count.
neighbours_of <- function(x, values, points, k, without = NULL) {
  first <- order_of_rows(x, values)
  own <- if (!is.null(without)) order(first)[without]
  found <- .Call(sg_neighbours_of, unname(x[first, , drop = FALSE]), unname(points), own,
                 as.integer(k))
  matrix(c(0L, first)[found + 1L], nrow(found))
}

# Returns list(weights, root) of points given their nearest rows, `near`, a column each, and maybe
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
