# Points and weights for integrals of p standard normal variables.

# ---- Two-level designs ----

# Returns a Hadamard matrix H, H'H = n I, whose order n is the smallest multiple of 4 (or 2) from
# `least` on that is known to the constructions here: doubling (Sylvester), and Paley's first of
# primes q = 3 mod 4, n = q + 1.
hadamard <- function(least) {
  orders <- c(2L, seq(4L, by = 4L, length.out = ceiling(least / 4) + 8L))
  for (n in orders[orders >= least]) {
    H <- hadamard_of(n)
    if (!is.null(H)) return(H)
  }
}

hadamard_of <- function(n) {
  if (n <= 2L) return(if (n == 1L) matrix(1) else rbind(c(1, 1), c(1, -1)))
  if (is_prime(n - 1L)) return(paley(n - 1L))
  half <- if (n %% 2L == 0L) hadamard_of(n %/% 2L)
  if (!is.null(half)) half %x% hadamard_of(2L)
}

is_prime <- function(q) q == 2L || q > 2L && all(q %% seq(2L, ceiling(sqrt(q))) != 0L)

# I + C, C the bordered matrix of quadratic residues mod q, C' = -C
paley <- function(q) {
  if (q %% 4L != 3L) return(NULL)
  squares <- unique(seq_len(q - 1L)^2 %% q)
  residue <- function(a) ifelse(a == 0, 0, ifelse(a %in% squares, 1, -1))
  C <- matrix(0, q + 1L, q + 1L)
  C[1L, -1L] <- 1
  C[-1L, 1L] <- -1
  C[-1L, -1L] <- outer(seq_len(q), seq_len(q), function(i, j) residue((j - i) %% q))
  C + diag(q + 1L)
}

# Returns corners of a cube, a row each, on which every three coordinates take all eight
# combinations of signs equally often: a Hadamard matrix and its mirror image (Plackett and Burman
# 1946; of order 2^k a fractional factorial). All corners where that is not fewer.
cube_corners <- function(p) {
  if (p <= 3L) return(unname(as.matrix(expand.grid(rep(list(c(-1, 1)), p)))))
  H <- hadamard(p)[, seq_len(p), drop = FALSE]
  rbind(H, -H)
}

# ---- Designs ----

# The trapezoid rule in every direction, points whose density is far below the middle's left out.
grid_design <- function(p) {
  STEP <- 0.75
  REACH <- 3
  nodes <- seq(-REACH, REACH, by = STEP)
  z <- unname(as.matrix(expand.grid(rep(list(nodes), p))))
  z <- z[order(rowSums(z^2)), , drop = FALSE]
  z <- z[rowSums(z^2) <= REACH^2, , drop = FALSE]
  weight <- exp(-rowSums(z^2) / 2)
  list(z = z, weight = weight / sum(weight))
}
