# Rows at a time, so that rows x nodes stay in bounds
QUANTILE_ROWS <- 500L

in_blocks <- function(n, block) {
  from <- seq(1L, by = QUANTILE_ROWS, length.out = ceiling(n / QUANTILE_ROWS))
  as.double(unlist(lapply(from, function(at) block(at:min(at + QUANTILE_ROWS - 1L, n)))))
}

# ---- Means over a normal variable ----

# Mean of fun(f), vectorised, over f ~ N(mean, sd^2) by the trapezoid rule, for a function that
# moves over distances of 1 or more: to some 1e-12 of its size.
normal_mean <- function(fun, mean, sd) {
  REACH <- 8.5
  out <- numeric(length(mean))
  steps <- 2^pmax(ceiling(log2(pmax(sd, 1) / 4)), 0) # so that wide ones have steps as short
  for (fine in unique(steps)) {
    t <- REACH * seq(-1, 1, length.out = 2 * 68 * fine + 1)
    w <- stats::dnorm(t) / sum(stats::dnorm(t))
    rows <- which(steps == fine)
    blocks <- split(rows, (seq_along(rows) - 1L) %/% max(1L, QUANTILE_ROWS %/% fine))
    for (at in blocks) {
      f <- mean[at] + outer(sd[at], t)
      out[at] <- matrix(fun(c(f)), length(at)) %*% w
    }
  }
  out
}

# A smooth function where many of its values between two places are wanted: a spline by steps of a
# sixteenth, and a straight line beyond.
tabulated <- function(fun, from, to) {
  at <- seq(from, max(to, from + 1), length.out = ceiling(16 * max(to - from, 1)) + 1)
  spline <- stats::splinefun(at, fun(at))
  function(x) {
    inside <- pmin(pmax(x, at[1L]), at[length(at)])
    spline(inside) + (x - inside) * spline(inside, deriv = 1L)
  }
}

# Points of a standard normal in d dimensions, a row each and symmetric about 0, that are more even
# than random ones: multiples of roots of primes.
even_normal <- function(n, d) {
  primes <- 2L
  candidate <- 3L
  while (length(primes) < d) {
    if (all(candidate %% primes != 0L)) primes <- c(primes, candidate)
    candidate <- candidate + 2L
  }
  u <- (0.5 + outer(seq_len(n / 2), sqrt(primes))) %% 1
  z <- stats::qnorm(u)
  rbind(z, -z)
}
