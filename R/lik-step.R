# Two classes with labels that are wrong with a probability: the twin of src/lik_step.c.

#' @rdname likelihoods_two_classes
#' @order 4
#' @export
lik_flip <- function(bias = NULL, flip = NULL) {
  new_likelihood("flip", list(bias = bias, flip = flip))
}

#' @rdname likelihoods_two_classes
#' @order 5
#' @export
lik_step <- function(noise = NULL) new_likelihood("step", list(noise = noise))

flip_traits <- function() noisy_traits("flip", step = FALSE)

# A step has no scale: near the boundary each row asks for a proportion of the precision that the
# others have there, (1 - 2 e)^2 2 / pi of the whole, however sharp the posterior is already. Where
# enough labels contradict each other no precision is a fixed point of EP, and it grows without end,
# with sites that only narrow, too, and whatever the damping.
step_traits <- function() {
  traits_like(noisy_traits("noise", step = TRUE), jumps = TRUE,
              least = to_search(policy$least_label_noise, 0, 0.5),
              remedy = paste("Use lik_flip() or lik_probit(flip =), whose bounded slope limits the",
                             "influence of a row"))
}

# The same with labels that are wrong with a probability, a hyperparameter `name`. step: the latent
# function's sign decides, and there is no bias.
noisy_traits <- function(name, step) {
  plain <- binary_traits(stats::pnorm, stats::qnorm)
  flipped <- list(
    argument = name, log = TRUE, unit_power = 0, range = c(0, 0.5), limit = 0,
    start = function(rows, offset) to_search(0.05, 0, 0.5),
    prior = function(unit, offset) prior_lognormal(log(0.05), 1)
  )
  plain$about <- c(if (!step) plain$about, stats::setNames(list(flipped), name))
  plain$draw <- function(f, value, weights) {
    p <- if (step) (sign(f) + 1) / 2 else stats::pnorm(f + value[["bias"]])
    p <- value[[name]] + (1 - 2 * value[[name]]) * p
    ifelse(stats::runif(length(f)) < p, 1, -1)
  }
  plain
}
