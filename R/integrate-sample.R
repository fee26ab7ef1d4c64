# Hyperparameters by Markov chain Monte Carlo: the reference for other rules.

# Returns draws of z, a row each, theta = mode + A z, by slice sampling along the axes in random
# order (Neal 2003, Slice sampling, figs 3 and 5: stepping out, and shrinkage). density(z): log
# density, or -Inf.
slice_draws <- function(density, axes, draws, burn_in, thin) {
  WIDTH <- 2 # of the first interval, standard deviations
  z <- numeric(axes)
  value <- density(z)
  kept <- matrix(0, draws, axes)
  for (sweep in seq_len(burn_in + draws * thin)) {
    for (j in sample.int(axes)) {
      found <- slice_step(function(x) density(replace(z, j, x)), z[j], value, WIDTH)
      z[j] <- found$x
      value <- found$value
    }
    at <- (sweep - burn_in) / thin
    if (at >= 1 && at == round(at)) kept[at, ] <- z
  }
  kept
}

slice_step <- function(density, x, value, width) {
  MOST_STEPS <- 20L
  level <- value - stats::rexp(1L)
  left <- x - width * stats::runif(1L)
  right <- left + width
  for (step in seq_len(MOST_STEPS)) {
    if (density(left) <= level) break
    left <- left - width
  }
  for (step in seq_len(MOST_STEPS)) {
    if (density(right) <= level) break
    right <- right + width
  }
  repeat {
    new <- left + (right - left) * stats::runif(1L)
    at_new <- density(new)
    if (at_new > level || right - left < 1e-8) return(list(x = new, value = at_new))
    if (new < x) left <- new else right <- new
  }
}

# Returns the logarithm of the integral of exp(density(z)) from draws of it and their log densities
# `values`, by bridge sampling (Meng and Wong 1996, their optimal bridge): with l1 = log p - log q
# at draws of p and l2 at draws of q, equally many, r is the fixed point of
#   r = mean(e^l2 / (e^l2 + r)) / mean(1 / (e^l1 + r)).
# q: the normal distribution with the moments of every other draw; the rest of them count.
bridge_mass <- function(density, draws, values) {
  STEPS <- 200L
  own <- seq(1L, nrow(draws), by = 2L)
  centre <- colMeans(draws[own, , drop = FALSE])
  R <- chol(stats::cov(draws[own, , drop = FALSE]))
  log_q <- function(z) {
    at <- backsolve(R, t(z) - centre, transpose = TRUE)
    -colSums(at^2) / 2 - sum(log(diag(R))) - ncol(z) / 2 * log(2 * pi)
  }
  rest <- draws[-own, , drop = FALSE]
  new <- t(centre + crossprod(R, matrix(stats::rnorm(length(rest)), ncol(rest))))
  l1 <- values[-own] - log_q(rest)
  l2 <- apply(new, 1L, density) - log_q(new)
  most <- stats::median(l1)
  e1 <- exp(l1 - most)
  e2 <- exp(pmin(l2 - most, 700)) # what is infinite counts as 1
  r <- 1
  for (step in seq_len(STEPS)) {
    before <- r
    r <- mean(e2 / (e2 + r)) / mean(1 / (e1 + r))
    if (abs(log(r / before)) < 1e-10) break
  }
  most + log(r)
}
