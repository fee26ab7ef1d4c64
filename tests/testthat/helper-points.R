# The gradient of a log evidence in the inputs of inducing points, by dense formulas.

# K of x with z, and its derivatives along input k of every point of z (a matrix n x m), by
# extrapolated differences of reference_kernel().
reference_point_slopes <- function(kernel, theta, x, z, k) {
  pairs <- expand.grid(i = seq_len(nrow(x)), j = seq_len(nrow(z)))
  slope <- function(i, j) {
    numeric_gradient(function(at) reference_pair(kernel, theta, x[i, ], replace(z[j, ], k, at)),
                     z[j, k], h = 0.02, levels = 5L)
  }
  matrix(mapply(slope, pairs$i, pairs$j), nrow(x))
}

# Log evidence of FITC with Gaussian noise (Snelson and Ghahramani 2006): y is
# N(offset, Q + diag(K - Q) + noise I), Q = K_nz K_z^{-1} K_zn. Dense, for a few observations.
reference_fitc <- function(kernel, theta, noise, x, z, y, offset = 0) {
  fitc <- reference_fitc_covariance(kernel, theta, noise, x, z)
  reference_gaussian_evidence(fitc$C, y, 0, offset)
}

reference_fitc_covariance <- function(kernel, theta, noise, x, z) {
  Kz <- reference_kernel(kernel, theta, z)
  Kxz <- reference_kernel(kernel, theta, x, z)
  P <- t(solve(Kz, t(Kxz)))
  Q <- P %*% t(Kxz)
  own <- vapply(seq_len(nrow(x)), function(i) reference_pair(kernel, theta, x[i, ], x[i, ]), 0)
  list(C = Q + diag(own - diag(Q) + noise), P = P)
}

# Its gradient in z, a matrix as z, point by point and input by input:
#   d log p = tr(A dC) / 2,  A = C^{-1} r r' C^{-1} - C^{-1},  r = y - offset,
#   dC = dQ - diag(dQ),  dQ = dK_xz P' + P dK_zx - P dK_z P'.
reference_fitc_slopes <- function(kernel, theta, noise, x, z, y, offset = 0) {
  fitc <- reference_fitc_covariance(kernel, theta, noise, x, z)
  inverse <- solve(fitc$C)
  A <- tcrossprod(inverse %*% (y - offset)) - inverse
  diag(A) <- 0 # C's diagonal does not move
  slopes <- 0 * z
  for (k in seq_len(ncol(z))) {
    along <- reference_point_slopes(kernel, theta, x, z, k)
    among <- reference_point_slopes(kernel, theta, z, z, k) # in the second of two points
    for (j in seq_len(nrow(z))) {
      only <- function(D) replace(0 * D, cbind(seq_len(nrow(D)), j), D[, j])
      dK <- only(among)
      cross <- tcrossprod(only(along), fitc$P)
      dQ <- cross + t(cross) - fitc$P %*% (dK + t(dK)) %*% t(fitc$P)
      slopes[j, k] <- sum(A * dQ) / 2
    }
  }
  slopes
}
