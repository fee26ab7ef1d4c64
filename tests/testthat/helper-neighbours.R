# Plain R definitions of a prior by nearest neighbours, dense and slow, to test faster code against.

reference_distances <- function(A, B) {
  sqrt(pmax(outer(rowSums(A^2), rowSums(B^2), "+") - 2 * A %*% t(B), 0))
}

reference_matern32 <- function(A, B, variance, lengthscale) {
  r <- sqrt(3) * reference_distances(A, B) / lengthscale
  variance * (1 + r) * exp(-r)
}

# Rows so that each is as far as can be from those before it.
reference_maximin <- function(X) {
  o <- which.min(colSums((t(X) - colMeans(X))^2))
  d <- colSums((t(X) - X[o, ])^2)
  for (q in seq_len(nrow(X))[-1L]) {
    d[o] <- -1
    o[q] <- which.max(d)
    d <- pmin(d, colSums((t(X) - X[o[q], ])^2))
  }
  o
}

# The k nearest of the rows before each, a list.
reference_before <- function(X, order, k) {
  D <- as.matrix(stats::dist(X))
  N <- vector("list", nrow(X))
  for (q in seq_along(order)[-1L]) {
    i <- order[q]
    earlier <- order[seq_len(q - 1L)]
    N[[i]] <- earlier[base::order(D[i, earlier])[seq_len(min(k, q - 1L))]]
  }
  N
}

# Log density of responses y with covariance C, each given those of N.
reference_density <- function(C, y, N) {
  each <- vapply(seq_along(y), function(i) {
    b <- if (length(N[[i]])) solve(C[N[[i]], N[[i]]], C[N[[i]], i]) else numeric()
    stats::dnorm(y[i], sum(b * y[N[[i]]]), sqrt(C[i, i] - sum(b * C[N[[i]], i])), log = TRUE)
  }, 0)
  sum(each)
}

# The k of candidates that leave the least of a value's variance, each chosen given those before
# it, by conditional variances from scratch. K: covariance matrix of the candidates (with noise) and
# then of the value.
reference_informative <- function(K, k) {
  last <- nrow(K)
  chosen <- integer()
  for (q in seq_len(k)) {
    open <- vapply(setdiff(seq_len(last - 1L), chosen), function(j) {
      N <- c(chosen, j)
      K[last, last] - sum(K[N, last] * solve(K[N, N], K[N, last]))
    }, 0)
    chosen <- c(chosen, setdiff(seq_len(last - 1L), chosen)[which.min(open)])
  }
  chosen
}
