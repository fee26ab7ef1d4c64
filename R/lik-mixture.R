# Rows of which one of several parts is meant: the twin of src/lik_mixture.c.

#' @rdname mixture
#' @order 19
#' @export
lik_mixture <- function() new_likelihood("mixture", list())

# `modal`: EP finds one of several modes, and which depends on where it starts.
mixture_traits <- function() c(lik_code(
  response = "mixtures", density = TRUE, weighted = FALSE, modal = TRUE,
  data_rows = function(y, weights) natural_parts(y)
), lik_hyper(), lik_sample(
  draw = function(f, value, weights) f
))

# Returns C's data of each row: of every part c, h and the lower triangle of P (lik_mixture.c).
natural_parts <- function(y) {
  parts <- mixture_parts(y)
  each <- lapply(seq_len(parts), function(j) natural_part(mixture_part(y, j)))
  if (is_scaled_mixture(y)) {
    prior <- natural_part(c(list(weight = 1), mixture_part(y, parts + 1L)[-1L]))
    each <- lapply(each, `-`, prior)
  }
  t(do.call(cbind, each))
}

natural_part <- function(part) {
  n <- nrow(part$mean)
  w <- ncol(part$mean)
  at <- lower.tri(diag(w), diag = TRUE)
  L <- row_factors(part$covariance, w)
  whitened <- row_solve(L, part$mean)
  log_det <- rowSums(matrix(vapply(seq_len(w), function(a) log(L[, a, a]), numeric(n)), n))
  inverse <- lapply(seq_len(w), function(a) {
    row_solve(L, matrix(as.double(seq_len(w) == a), n, w, byrow = TRUE))
  })
  pairs <- which(at, arr.ind = TRUE)
  P <- vapply(seq_len(nrow(pairs)), function(k) {
    rowSums(inverse[[pairs[k, 1L]]] * inverse[[pairs[k, 2L]]])
  }, numeric(n))
  h <- vapply(seq_len(w), function(a) rowSums(inverse[[a]] * whitened), numeric(n))
  c <- log(part$weight) - rowSums(whitened^2) / 2 - log_det - w / 2 * log(2 * pi)
  cbind(c, matrix(h, n), matrix(P, n), deparse.level = 0L)
}

# Returns log p_j(0) of each row and part, n x J, of what natural_parts() gives C; -Inf: the part is
# not there.
logs_at_zero <- function(rows, w) {
  size <- 1L + moment_count(w)
  t(rows[seq(1L, nrow(rows), by = size), , drop = FALSE])
}

# Returns the rows with one of them at its likeliest part at 0 alone: parts that mirror each other
# leave an online pass at 0 unless its first row breaks the symmetry.
with_row_at_part <- function(rows, w, row) {
  at_zero <- logs_at_zero(rows[, row, drop = FALSE], w)
  others <- seq_along(at_zero)[-which.max(at_zero)]
  rows[1L + (others - 1L) * (1L + moment_count(w)), row] <- -Inf
  rows
}

# Lower Cholesky factors (n x w x w) of matrices whose lower triangles are rows.
row_factors <- function(lower, w) {
  L <- array(0, c(nrow(lower), w, w))
  L[rep(lower.tri(diag(w), diag = TRUE), each = nrow(lower))] <- lower
  for (j in seq_len(w)) {
    for (k in seq_len(j - 1L)) L[, j:w, j] <- L[, j:w, j] - L[, j:w, k] * L[, j, k]
    L[, j:w, j] <- L[, j:w, j] / sqrt(L[, j, j])
  }
  L
}

# L^{-1} x, row by row
row_solve <- function(L, x) {
  for (i in seq_len(ncol(x))) {
    for (k in seq_len(i - 1L)) x[, i] <- x[, i] - L[, i, k] * x[, k]
    x[, i] <- x[, i] / L[, i, i]
  }
  x
}
