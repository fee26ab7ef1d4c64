# Kernels of vectors, and what is derived from them, in naive R.

# a = g'(s) / g'(0), b = 2 a', e = d(s b) / ds of g(s), s = |x - z|^2 / lengthscale^2, with g'(0).
# Where b has no limit at 0 it is 0: it only meets eta eta'.
REFERENCE_RADIALS <- list(
  rbf = list(slope = function(v) -1 / 2, a = function(s, v) exp(-s / 2),
             b = function(s, v) -exp(-s / 2), e = function(s, v) (s / 2 - 1) * exp(-s / 2)),
  matern32 = list(
    slope = function(v) -3 / 2, a = function(s, v) exp(-sqrt(3 * s)),
    b = function(s, v) if (s > 0) -3 * exp(-sqrt(3 * s)) / sqrt(3 * s) else 0,
    e = function(s, v) if (s > 0) 1.5 * (1 - 1 / sqrt(3 * s)) * exp(-sqrt(3 * s)) else 0
  ),
  matern52 = list(
    slope = function(v) -5 / 6, a = function(s, v) (1 + sqrt(5 * s)) * exp(-sqrt(5 * s)),
    b = function(s, v) -5 * exp(-sqrt(5 * s)),
    e = function(s, v) 5 * (sqrt(5 * s) / 2 - 1) * exp(-sqrt(5 * s))
  ),
  rq = list(
    slope = function(v) -1 / 2, a = function(s, v) (1 + s / 2 / v$shape)^-(v$shape + 1),
    b = function(s, v) -(1 + 1 / v$shape) * (1 + s / 2 / v$shape)^-(v$shape + 2),
    e = function(s, v) {
      t <- s / 2 / v$shape
      -(1 + 1 / v$shape) * (1 + t)^-(v$shape + 3) * (1 - (v$shape + 1) * t)
    }
  )
)

# One entry of a field's kernel: x and z with their components in the kernel's own column. A
# negative component of x is a derived field, as kern_vector.c numbers them.
reference_field <- function(x, z, theta, kernel) {
  base <- kernel$parts[[1L]]
  v <- kernel_values(base, theta)
  r <- REFERENCE_RADIALS[[base$type]]
  i <- x[kernel$vars + 1L]
  j <- z[kernel$vars + 1L]
  eta <- (x - z)[base$vars + 1L] / v$lengthscale
  D <- length(eta)
  s <- sum(eta^2)
  if (i < 0) return(v$variance * reference_derived(r, v, s, eta, i, j, kernel$type))
  b <- r$b(s, v)
  turned <- kernel$type == "divfree"
  A <- r$a(s, v) + if (turned && b != 0) s * b / (D - 1) else 0
  B <- if (turned) -b / (D - 1) else b
  v$variance * ((i == j) * A + if (b != 0) (B * eta[i]) * eta[j] else 0)
}

reference_derived <- function(r, v, s, eta, field, j, type) {
  along <- if (type == "divfree") c(-eta[2L], eta[1L])[j] else eta[j]
  own <- if (type == "divfree") c(source = -3, flux = -2) else c(source = -4, flux = -1)
  if (field == own[["source"]]) return(v$lengthscale * r$a(s, v) * along)
  if (field != own[["flux"]]) return(0)
  (length(eta) * r$b(s, v) + 2 * r$e(s, v)) * along / v$lengthscale
}

# B of kernel_coregion() from the components' variances and their partial correlations, row by row
# of its factor; degree: components and rank.
coregion_matrix <- function(v, degree) {
  w <- degree[[1L]]
  L <- diag(w)
  at <- 0L
  for (j in seq_len(min(degree[[2L]], w - 1L))) {
    for (i in seq(j + 1L, length.out = w - j)) {
      L[i, j] <- v$correlation[at <- at + 1L] * L[i, i]
      L[i, i] <- sqrt(L[i, i]^2 - L[i, j]^2)
    }
  }
  tcrossprod(sqrt(v$variance) * L)
}

# A kernel of D inputs and as many components in the next column, resolved for C.
resolved_field <- function(kernel, D = 2L) {
  names <- c("x", "y", "z")[seq_len(D)]
  resolve_kernel(kernel, list(names = names, terms = names, kept = rep(TRUE, D),
                              components = c("u", "v", "w")[seq_len(D)]))
}

# Points with every component of each, or with one component all.
tall <- function(x, component = seq_len(ncol(x))) {
  x <- cbind(x)
  rows <- rep(seq_len(nrow(x)), each = length(component))
  cbind(x[rows, , drop = FALSE], rep(component, nrow(x)), deparse.level = 0L)
}

# Second derivatives of f at x, column by column.
numeric_hessian <- function(f, x) {
  vapply(seq_along(x), function(k) {
    numeric_gradient(function(at) numeric_gradient(f, at)[k], x)
  }, x)
}
