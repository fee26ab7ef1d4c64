# Distribution functions and quantiles of a response whose latent value is normal, where there is no
# formula: the distribution function is the mean of the likelihood's own over the latent value.

# Mean of cdf(y, f) over f ~ N(mean, sd^2) by the trapezoid rule, which is exact to rounding once
# its steps are shorter than a quarter of what is smooth: sd, and the width over which cdf moves.
# Vectors y, mean, sd; most nodes for the sharpest of them.
mixed_cdf <- function(y, mean, sd, cdf, width) {
  REACH <- 8
  sharpest <- max(sd / width, 1)
  half <- min(ceiling(4 * REACH * sharpest), 2000)
  t <- REACH * seq(-1, 1, length.out = 2 * half + 1)
  w <- stats::dnorm(t) / sum(stats::dnorm(t))
  f <- mean + outer(sd, t)
  drop(matrix(cdf(rep(y, length(t)), c(f)), length(y)) %*% w)
}

# Rows at a time, so that rows x nodes stay in bounds
QUANTILE_ROWS <- 500L

in_blocks <- function(n, block) {
  from <- seq(1L, by = QUANTILE_ROWS, length.out = ceiling(n / QUANTILE_ROWS))
  as.double(unlist(lapply(from, function(at) block(at:min(at + QUANTILE_ROWS - 1L, n)))))
}

# Means of cdf at y for any number of rows, width(y) as mixed_cdf() has it.
mixed_tail <- function(y, mean, sd, cdf, width) {
  in_blocks(length(mean), function(rows) {
    mixed_cdf(y[rows], mean[rows], sd[rows], cdf, width(y[rows]))
  })
}

# The smallest whole numbers y >= 0 at which the distribution function reaches p, by bisection.
# width: of cdf in f, for a given y; start(p, f): the quantile at one latent value.
whole_quantile <- function(p, mean, sd, cdf, width, start) {
  sd <- rep_len(sd, length(mean))
  in_blocks(length(mean), function(rows) {
    m <- mean[rows]
    s <- sd[rows]
    # with 1e-15 of the latent values beyond 8 sd, and as much of the response beyond its quantile
    low <- start(p * (1 - p) / 100, m - 8 * s) - 1
    high <- pmax(start(1 - p * (1 - p) / 100, m + 8 * s), low + 1)
    while (any(high - low > 1)) {
      middle <- floor((low + high) / 2)
      enough <- mixed_cdf(middle, m, s, cdf, width(middle)) >= p
      high <- ifelse(enough, middle, high)
      low <- ifelse(enough, low, middle)
    }
    high
  })
}

# Where a continuous distribution function of vectors crosses p: bisection from a bracket that is
# widened until it holds the place.
crossing <- function(p, cdf, middle, reach) {
  low <- middle - reach
  high <- middle + reach
  for (i in 1:60) {
    if (!any(over <- cdf(low) > p)) break
    low <- ifelse(over, middle - 4^i * reach, low)
  }
  for (i in 1:60) {
    if (!any(under <- cdf(high) < p)) break
    high <- ifelse(under, middle + 4^i * reach, high)
  }
  for (i in 1:60) {
    at <- (low + high) / 2
    enough <- cdf(at) >= p
    high <- ifelse(enough, at, high)
    low <- ifelse(enough, low, at)
  }
  (low + high) / 2
}

# The same for the mixture of continuous ones over f ~ N(mean, sd^2), on the scale of width.
mixed_quantile <- function(p, mean, sd, cdf, width) {
  sd <- rep_len(sd, length(mean))
  in_blocks(length(mean), function(rows) {
    mixture <- function(y) mixed_cdf(y, mean[rows], sd[rows], cdf, width)
    crossing(p, mixture, mean[rows], width + sd[rows])
  })
}

# Normal plus Laplace noise: distribution function at r from the mean. Half a tail is
# exp(r / scale + (sd / scale)^2 / 2) Phi(-a), a = r / sd + sd / scale; for a > 0 squares
# cancel.
laplace_cdf <- function(r, sd, scale) {
  sd <- pmax(sd, 1e-9 * scale)
  tail <- function(r) {
    a <- r / sd + sd / scale
    far <- r / scale + (sd / scale)^2 / 2 + stats::pnorm(-a, log.p = TRUE)
    0.5 * exp(ifelse(a > 0, log_mills(pmax(a, 0)) - (r / sd)^2 / 2, far))
  }
  stats::pnorm(r / sd) + tail(r) - tail(-r)
}

# log(Phi(-a) exp(a^2 / 2)) for a >= 0
log_mills <- function(a) {
  ifelse(a < 1000, stats::pnorm(-a, log.p = TRUE) + a^2 / 2,
         -log(a) - log1p(1 / a^2) - log(2 * pi) / 2) # to 1e-12
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
