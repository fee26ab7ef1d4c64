# Two classes by least squares: the twin of src/lik_squares.c.

#' @rdname likelihoods_margin
#' @order 18
#' @export
lik_squares <- function(bias = NULL, noise = NULL) {
  new_likelihood("squares", list(bias = bias, noise = noise))
}

# Rows are -1 and 1, and numbers to it: the bias starts at their mean.
squares_traits <- function() {
  plain <- binary_traits(function(u) stats::plogis(4 * u), stats::qlogis)
  plain$tempered <- TRUE
  plain$exact <- plain$density <- TRUE
  plain$normalised <- FALSE
  plain$about$bias$start <- function(rows, offset) mean(rows) - mean(offset)
  plain$about$noise <- list(
    argument = "noise", log = TRUE, unit_power = 0, start = function(rows, offset) log(0.1),
    prior = function(unit, offset) default_lognormal(-2, 2)(1)
  )
  plain
}
