# Responses that are numbers, on a scale on which they may be any, under likelihoods that are R
# functions: integrals of the density over responses (lik-custom-responses.R).

NUMBER_SCALES <- list(
  number = list(to = identity, from = identity, slope = function(u) 1 + 0 * u),
  positive = list(to = log, from = exp, slope = exp),
  share = list(to = stats::qlogis, from = stats::plogis, slope = stats::dlogis)
)

# Steps from a response, to either side along the logarithm of the distance, as long tails and a
# corner there want it: the trapezoid rule in it is exact to rounding for smooth densities.
number_steps <- function() exp(seq(-18, 12, by = 0.25))

# Integrals to the left and the right of u under weights of nodes, a list of one of each `times`
# function of the response. Stops where there is no integral: where so much is left of the density
# as far as the steps go that it cannot fall off beyond, as of a limit of detection, below which a
# response has a probability and no density.
number_integrals <- function(own, u, f, weight, times = list(function(y) 1)) {
  LEFT <- 1e-3 # of the integral, in the last step. Of a Cauchy density of scale 1 it is 5e-7
  scale <- NUMBER_SCALES[[own$custom$response]]
  away <- number_steps()
  side <- function(sign) {
    at <- u + sign * outer(rep(1, length(u)), away)
    y <- scale$from(at)
    size <- scale$slope(at) * rep(away, each = length(u)) * 0.25
    size[!is.finite(size) | !is.finite(y) | y == scale$from(Inf) | y == scale$from(-Inf)] <- 0
    y[size == 0] <- scale$from(0)
    p <- mixed_density(own, y, f, weight) * size
    last <- p[cbind(seq_along(u), max.col(size > 0, "last"))]
    if (any(last > LEFT * rowSums(p))) stop_without_responses()
    lapply(times, function(of) rowSums(ifelse(p > 0, p * of(y), 0)))
  }
  list(below = side(-1), above = side(1))
}

# Returns integrals over both sides.
sum_both <- function(sums) Map(`+`, sums$below, sums$above)

stop_without_responses <- function() {
  raise_sparsegp(paste("`likelihood` has a log_density that does not integrate to a finite number",
                       "over the responses, so there is no new response to predict"), "likelihood",
                 paste("Use type = \"latent\" or \"link\"; with `mean` and `variance`,",
                       "lik_custom() has mean responses, too"), "sparsegp_without_responses")
}

# Returns `value`, or `otherwise` where it takes a new response, of which there is none.
if_responses <- function(value, otherwise) {
  tryCatch(value, sparsegp_without_responses = function(condition) otherwise)
}

number_moments <- function(own, f) {
  sums <- number_integrals(own, c(f[[1L]]), f, 1,
                           list(function(y) 1, identity, function(y) y^2))
  sums <- sum_both(sums)
  mean <- sums[[2L]] / sums[[1L]]
  list(mean = mean, var = sums[[3L]] / sums[[1L]] - mean^2)
}

number_tails <- function(own, y, nodes) {
  scale <- NUMBER_SCALES[[own$custom$response]]
  sums <- number_integrals(own, scale$to(y), nodes$f, nodes$weight)
  total <- sums$below[[1L]] + sums$above[[1L]]
  list(below = sums$below[[1L]] / total, above = sums$above[[1L]] / total)
}

number_quantile <- function(own, p, nodes) number_at(own, nodes, stats::qnorm(p))

# Finds where the normal quantile of the distribution function is `goal`: a bracket that grows about
# the middle response, and the method of Illinois within it. Where the steps from a place see
# nothing of the density, all of it is on the side of the middle.
number_at <- function(own, nodes, goal) {
  scale <- NUMBER_SCALES[[own$custom$response]]
  middle <- number_middle(own, nodes)
  excess <- function(u) {
    z <- tail_quantiles(number_tails(own, scale$from(u), nodes), 0.5) - goal
    z <- ifelse(is.nan(z), ifelse(u > middle$at, 40, -40), z)
    pmin(pmax(z, -40), 40)
  }
  scale$from(zeros_between(excess, grown_bracket(excess, middle$at, middle$width)))
}

# Returns a response about the most probable one given the middle node, on its scale, and the width
# of the density of responses there.
number_middle <- function(own, nodes) {
  scale <- NUMBER_SCALES[[own$custom$response]]
  f <- lapply(nodes$f, function(x) x[, (ncol(x) + 1L) / 2L, drop = FALSE])
  at <- number_peak(own, f)
  density <- c(mixed_density(own, cbind(scale$from(at)), nodes$f, nodes$weight)) * scale$slope(at)
  width <- sum_both(number_integrals(own, at, nodes$f, nodes$weight))[[1L]] / density
  list(at = at, width = ifelse(is.finite(width) & width > 0, width, 1))
}

# Returns a place where the density, on the response's scale, of a response given f[points x 1] is
# near its largest: sums of steps from f itself need not see a narrow density.
number_peak <- function(own, f) {
  TURNS <- 20L # each leaves a quarter of the distance, or less
  NEAR <- 0.5  # nats below the best: within a standard deviation of it
  scale <- NUMBER_SCALES[[own$custom$response]]
  at <- c(f[[1L]])
  away <- exp(seq(-18, 12, by = 0.5))
  away <- c(0, away, -away)
  open <- seq_along(at)
  for (turn in seq_len(TURNS)) {
    u <- at[open] + outer(rep(1, length(open)), away)
    log_p <- log(scale$slope(u)) + log_densities(asked_at(own, open), scale$from(u),
                                                 lapply(f, function(x) x[open, , drop = FALSE]))
    log_p[is.nan(log_p)] <- -Inf
    best <- cbind(seq_along(open), max.col(log_p, "first"))
    at[open] <- u[best]
    open <- open[(log_p[best] > log_p[, 1L] + NEAR) %in% TRUE]
    if (length(open) == 0L) break
  }
  at
}

# Returns log densities of responses y[points x k], each row at the latent value of its point; -Inf
# where there is none, as at the ends of a scale.
log_densities <- function(own, y, f) {
  each <- rep(seq_len(nrow(y)), ncol(y))
  inside <- is.finite(y) & !y %in% NUMBER_SCALES[[own$custom$response]]$from(c(-Inf, Inf))
  rows <- rbind(c(ifelse(inside, y, y[, 1L])), 1, asked_at(own, each)$constants, deparse.level = 0L)
  log_p <- custom_log_density(own$custom, own$value, rows,
                              lapply(f, function(x) x[each, , drop = FALSE]))
  matrix(ifelse(inside, log_p, -Inf), nrow(y))
}

# Returns list(low, high, at_low, at_high): places between which an increasing function of rows
# changes its sign.
grown_bracket <- function(excess, centre, width) {
  low <- centre - width
  high <- centre + width
  at <- list(low = excess(low), high = excess(high))
  for (turn in seq_len(60L)) {
    wrong_low <- at$low > 0
    wrong_high <- at$high < 0
    if (!any(wrong_low | wrong_high)) break
    width <- 2 * width
    low[wrong_low] <- (centre - width)[wrong_low]
    high[wrong_high] <- (centre + width)[wrong_high]
    if (any(wrong_low)) at$low <- excess(low)
    if (any(wrong_high)) at$high <- excess(high)
  }
  c(list(from = low, to = high), at)
}

# Returns the zeros of an increasing function of rows, to 1e-7 of a standard deviation.
zeros_between <- function(excess, ends) {
  ENOUGH <- 1e-7
  a <- ends$from
  b <- ends$to
  fa <- ends$low
  fb <- ends$high
  for (turn in seq_len(60L)) {
    u <- ifelse(fb > fa, b - fb * (b - a) / (fb - fa), (a + b) / 2)
    fu <- excess(u)
    if (anyNA(fu)) stop_without_responses()
    if (all(abs(fu) < ENOUGH | abs(b - a) < 1e-12 * (1 + abs(u)))) break
    right <- fu * fb < 0 # the zero lies between u and b
    a <- ifelse(right, b, a)
    fa <- ifelse(right, fb, fa * 0.5)
    b <- u
    fb <- fu
  }
  u
}
