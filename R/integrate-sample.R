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
