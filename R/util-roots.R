# Roots of many increasing functions at once.

# Returns, for each element, where the increasing function f is 0 between `lower` and `upper`; f is
# given a vector with a number for each. By the Illinois method, a secant through the ends of the
# bracket of which an end that stays is halved, and every third step bisection: a bracket shrinks by
# a factor of two at least in three steps. A bracket that is wide beside its nearer end, as with an
# infinite one, is bisected in orders of magnitude. Where the root is not between the ends but for
# rounding, the nearer end is returned.
# Dowell, M. and Jarratt, P. (1971). A modified regula falsi method for computing the root of an
# equation. BIT 11, 168-174.
increasing_root <- function(f, lower, upper, tol = 1e-12) {
  MOST <- 150L
  LARGEST <- .Machine$double.xmax
  ends <- list(lower, upper)
  lower <- pmax(lower, -LARGEST)
  upper <- pmin(upper, LARGEST)
  at <- list(f(lower), f(upper))
  x <- ifelse(at[[1L]] >= 0, ends[[1L]], ifelse(at[[2L]] <= 0, ends[[2L]], NA))
  open <- is.na(x) & !is.na(at[[1L]] + at[[2L]])
  side <- 0 * lower
  for (step in seq_len(MOST)) {
    if (!any(open)) break
    secant <- (lower * at[[2L]] - upper * at[[1L]]) / (at[[2L]] - at[[1L]])
    middle <- middle_of(lower, upper)
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
    size <- pmax(abs(lower), abs(upper), .Machine$double.xmin)
    open <- open & abs(fx) > tol & upper - lower > 4 * .Machine$double.eps * size
  }
  x
}

middle_of <- function(lower, upper) {
  WIDE <- 1e3
  wide <- upper / WIDE - lower / WIDE > 1 + pmin(abs(lower), abs(upper))
  ifelse(wide, sinh((asinh(lower) + asinh(upper)) / 2), lower / 2 + upper / 2)
}

# Returns where distributions have the probabilities p below, or of those that jump by `step` the
# first place with no less, and which are not found: list(q, open). curve: functions quantile(p) of
# distributions that are guesses, and odds(q), log odds of the distributions themselves, which as a
# function of the guess's log odds x are nearly a straight line of slope one. Steps on it are
# secants: as a rule four values of odds(), of jumps two or three. step: 0 where there are no jumps
root_by_guess <- function(curve, p, step = 0) {
  MOST <- 12L
  goal <- stats::qlogis(p)
  all <- function(value) rep_len(value, length(p))
  at <- list(x = goal, q = all(NaN), last = all(NaN), excess = all(NaN),
             low = all(if (any(step > 0)) -step else -Inf), high = all(Inf), sure = all(FALSE),
             open = all(TRUE), lost = all(FALSE))
  for (i in seq_len(MOST)) {
    at <- guessed(at, curve, step)
    if (!any(at$open)) break
    excess <- curve$odds(at$q) - goal
    at$lost <- at$lost | at$open & !is.finite(excess) # at an end of what numbers are
    at$open <- at$open & !at$lost
    at <- secant_step(at, ifelse(at$open, excess, 0), step)
  }
  list(q = at$q, open = at$open | at$lost)
}

# Takes the places q of x, and closes those that are sure, or the same as before.
guessed <- function(at, curve, step) {
  LEAST <- -700 # log odds of which p is a number
  MOST <- 36
  ROUNDING <- 1e-2 # of log odds, by that of a p near 1
  q <- curve$quantile(stats::plogis(pmin(pmax(at$x, LEAST), MOST)))
  if (any(step > 0)) q <- ifelse(at$sure, at$high, pmin(pmax(q, at$low + step), at$high - step))
  ended <- is.nan(q) | at$sure | (q == at$q & abs(at$excess) < ROUNDING) %in% TRUE
  at$q[at$open] <- q[at$open]
  at$open <- at$open & !ended
  at
}

# Moves x to where the excess of the log odds is 0, within the bracket that is known. It is sure if
# the error of the step, less than its product with the one before, is EQUAL; of jumps, whose
# bracket is one of q, if they are between neighbours.
secant_step <- function(at, excess, step) {
  EQUAL <- 1e-11
  jumps <- any(step > 0)
  slope <- if (jumps) 1 else (excess - at$excess) / (at$x - at$last)
  move <- -excess / ifelse(is.finite(slope) & slope > 0, slope, 1)
  place <- if (jumps) at$q else at$x
  at$low <- ifelse(excess < 0, pmax(place, at$low), at$low)
  at$high <- ifelse(excess < 0, at$high, pmin(place, at$high))
  middle <- (at$low + at$high) / 2
  within <- jumps | !is.finite(middle) | at$x + move > at$low & at$x + move < at$high
  at$sure <- if (jumps) at$high - at$low < 1.5 * step
             else (abs(move) < EQUAL | within & abs(move * (at$x - at$last)) < EQUAL) %in% TRUE
  at$last <- at$x
  at$excess <- excess
  at$x <- ifelse(within, at$x + move, middle)
  at
}

# Returns where distribution functions are p, one or one for each, between `lower` and `upper`, by
# Newton's steps on their logarithm (of p above 1/2 on that of what is above), halving the bracket
# where a step leaves it.
# sides(x): list(below, density), vectors with a number for each
newton_root <- function(sides, p, lower, upper) {
  MOST <- 100L
  EQUAL <- 1e-13 # relative to the ends,
  SURE <- 1e-12 * pmin(p, 1 - p) + 1e-15 # of probabilities
  x <- (lower + upper) / 2
  open <- is.finite(lower) & is.finite(upper)
  x[!open] <- ifelse(is.finite(upper), upper, lower)[!open]
  for (step in seq_len(MOST)) {
    if (!any(open)) break
    at <- sides(x)
    up <- at$below < p
    lower <- ifelse(open & up, x, lower)
    upper <- ifelse(open & !up, x, upper)
    move <- ifelse(p <= 0.5, -at$below * log(at$below / p),
                   (1 - at$below) * log((1 - at$below) / (1 - p))) / at$density
    near <- EQUAL * pmax(abs(lower), abs(upper))
    reached <- abs(at$below - p) <= SURE
    ended <- (reached | abs(move) <= near | upper - lower <= near) %in% TRUE
    next_x <- x + move
    inside <- is.finite(next_x) & next_x >= lower & next_x <= upper
    x <- ifelse(open, ifelse(inside, next_x, (lower + upper) / 2), x)
    open <- open & !ended
  }
  x
}

# The same as increasing_root() where f jumps at multiples of `step` from `lower` on: the first of
# them at which it is not negative.
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
