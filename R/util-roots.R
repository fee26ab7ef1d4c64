# Roots of many increasing functions at once.

# Returns, for each element, where the increasing function f is 0 between `lower` and `upper`; f is
# given a vector with a number for each. By the Illinois method, a secant through the ends of the
# bracket of which an end that stays is halved, and every third step bisection: a bracket shrinks by
# a factor of two at least in three steps. Where an end is not finite, or the root is not between
# the ends but for rounding, the nearer end is returned.
# Dowell, M. and Jarratt, P. (1971). A modified regula falsi method for computing the root of an
# equation. BIT 11, 168-174.
increasing_root <- function(f, lower, upper, tol = 1e-12) {
  MOST <- 150L
  at <- list(f(lower), f(upper))
  fixed <- ifelse(at[[1L]] >= 0 | !is.finite(upper), lower, ifelse(at[[2L]] <= 0, upper, NA))
  x <- ifelse(is.na(fixed), (lower + upper) / 2, fixed)
  open <- is.na(fixed) & is.finite(lower)
  side <- 0 * x
  for (step in seq_len(MOST)) {
    if (!any(open)) break
    secant <- (lower * at[[2L]] - upper * at[[1L]]) / (at[[2L]] - at[[1L]])
    middle <- (lower + upper) / 2
    inside <- step %% 3L != 0L & is.finite(secant) & secant > lower & secant < upper
    x[open] <- ifelse(inside, secant, middle)[open]
    fx <- f(x)
    up <- open & fx < 0
    down <- open & fx >= 0
    at[[2L]] <- ifelse(down, fx, ifelse(up & side > 0, at[[2L]] / 2, at[[2L]]))
    at[[1L]] <- ifelse(up, fx, ifelse(down & side < 0, at[[1L]] / 2, at[[1L]]))
    lower[up] <- x[up]
    upper[down] <- x[down]
    side <- ifelse(up, 1, ifelse(down, -1, side))
    size <- pmax(abs(lower), abs(upper))
    open <- open & abs(fx) > tol & upper - lower > 4 * .Machine$double.eps * size
  }
  x
}

# The same where f jumps at multiples of `step` from `lower` on: the first of them at which it is
# not negative.
first_whole <- function(f, lower, upper, step) {
  low <- numeric(length(lower))
  high <- round((upper - lower) / step)
  while (any(low < high)) {
    middle <- floor((low + high) / 2)
    enough <- f(lower + middle * step) >= 0
    high <- ifelse(enough & low < high, middle, high)
    low <- ifelse(!enough & low < high, middle + 1, low)
  }
  lower + low * step
}
