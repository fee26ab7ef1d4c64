# Responses of likelihoods that are R functions: their moments, probabilities and quantiles, from
# the user's functions or by sums and integrals of the density over responses. Under N(mean, var) of
# the latent values all of these are means over equidistant nodes.
#
# own: list(custom, value, constants), what functions of responses are asked with: hyperparameters
# on their natural scale, and constants with a column for each row, or NULL. Latent values f are a
# list of a matrix for each latent function, a row for each observation.

asked_with <- function(custom, theta, constants) {
  list(custom = custom, value = natural_custom(custom, theta), constants = constants)
}

# Returns the same of some of its rows, or of each of them several times.
asked_at <- function(own, at) {
  if (!is.null(own$constants)) own$constants <- own$constants[, at, drop = FALSE]
  own
}

# Nodes half a standard deviation apart
FIRST_NODES <- seq(-8, 8, length.out = 33L)

# Returns nodes f and their weights: 33 half a standard deviation apart, or 25 x 25 of two latent
# functions; var has the blocks of these.
latent_nodes <- function(custom, mean, var) {
  if (!is.null(custom$components)) return(pair_nodes(mean, var))
  weight <- stats::dnorm(FIRST_NODES)
  list(f = list(c(mean) + outer(sqrt(c(var)), FIRST_NODES)), weight = weight / sum(weight))
}

# Returns means of some rows and their blocks; of one latent function numbers.
some_means <- function(custom, mean, at) {
  if (is.null(custom$components)) mean[at] else means_of_pairs(mean)[at, , drop = FALSE]
}

some_vars <- function(custom, var, at) {
  if (is.null(custom$components)) c(var)[at] else matrix(var, 4L)[, at, drop = FALSE]
}

# Means as a matrix with a column for each latent function; C has those of a row side by side.
means_of_pairs <- function(mean) {
  if (is.matrix(mean) && ncol(mean) == 2L) unname(mean) else matrix(mean, ncol = 2L, byrow = TRUE)
}

# Lower bound on a variance, as C has it.
LEAST_VARIANCE <- 1e-9

# Returns the normal distribution as that of the second, N(m2, sd2^2), and that of the first given
# it, N(m1 + b (f2 - m2), sd1^2).
given_second <- function(mean, var) {
  var <- matrix(var, 4L)
  least <- LEAST_VARIANCE * (1 + mean^2)
  second <- pmax(var[4L, ], least[, 2L])
  b <- var[2L, ] / second
  list(m1 = mean[, 1L], m2 = mean[, 2L], b = b, sd2 = sqrt(second),
       sd1 = sqrt(pmax(var[1L, ] - b * var[2L, ], least[, 1L])))
}

# Returns 25 x 25 nodes half a standard deviation apart, see latent_nodes(): densities are narrower
# in a logarithm of a spread than its distribution is.
pair_nodes <- function(mean, var) {
  at <- given_second(mean, var)
  z <- seq(-6, 6, by = 0.5)
  z1 <- rep(z, length(z))
  z2 <- rep(z, each = length(z))
  away <- outer(at$sd2, z2)
  weight <- stats::dnorm(z1) * stats::dnorm(z2)
  list(f = list(at$m1 + at$b * away + outer(at$sd1, z1), at$m2 + away),
       weight = weight / sum(weight))
}

# Returns how many rows means are of.
count_means <- function(custom, mean) length(mean) %/% max(1L, length(custom$components))

# Mean and variance of a new response under N(mean, var), and the variance of its mean given f.
predict_custom <- function(custom, theta, mean, var, weights = NULL) {
  own <- asked_with(custom, theta, needed_constants(custom, weights, count_means(custom, mean)))
  moments <- by_blocks(custom, mean, 3L, function(at) {
    nodes <- latent_nodes(custom, some_means(custom, mean, at), some_vars(custom, var, at))
    given <- moments_given(asked_at(own, at), nodes$f)
    centre <- c(given$mean %*% nodes$weight)
    spread <- c((given$mean - centre)^2 %*% nodes$weight)
    rbind(centre, c(given$var %*% nodes$weight) + spread, spread, deparse.level = 0L)
  })
  list(mean = moments[1L, ], var = moments[2L, ], spread = moments[3L, ])
}

# Log density of data rows, where there are some, and moments of a new response, at latent values: a
# vector, or a matrix with a column for each latent function.
evaluate_custom <- function(custom, theta, f, rows, weights = NULL) {
  f <- latent_columns(custom, f)
  n <- nrow(f[[1L]])
  own <- asked_with(custom, theta, needed_constants(custom, weights, n))
  given <- moments_given(own, f)
  list(logp = if (!is.null(rows)) c(custom_log_density(custom, own$value, rows, f)) else numeric(),
       mean = c(given$mean), var = c(given$var))
}

# Mean and variance of a response at each of the latent values, each in the shape of a matrix of f.
moments_given <- function(own, f) {
  custom <- own$custom
  if (is.null(custom$mean)) {
    m <- ncol(f[[1L]])
    flat <- lapply(f, function(x) matrix(x, ncol = 1L))
    at <- rep(seq_len(nrow(f[[1L]])), m)
    given <- CUSTOM_SUMS[[custom$response]]$moments(asked_at(own, at), flat)
    return(lapply(given, matrix, ncol = m))
  }
  list(mean = user_moments(own, "mean", f), var = user_moments(own, "variance", f))
}

user_moments <- function(own, name, f) {
  custom <- own$custom
  answer <- call_user(custom[[name]], name,
                      latent_arguments(custom, custom[[name]], f, own$value, own$constants))
  check_answer(answer, f[[1L]], name)
}

# The density of responses y[points x k], of weight 1, each row at the latent values f[points x m]
# of its point; its mean under the weights of the m nodes.
mixed_density <- function(own, y, f, weight) {
  k <- ncol(y)
  each <- rep(seq_len(nrow(y)), k)
  rows <- rbind(c(y), 1, asked_at(own, each)$constants, deparse.level = 0L)
  at <- lapply(f, function(x) x[each, , drop = FALSE])
  p <- exp(custom_log_density(own$custom, own$value, rows, at))
  matrix(p %*% weight, nrow(y), k)
}

# ---- Labels and ordered categories ----

# Probabilities of each category, which are the same set for all rows.
category_table <- function(own, f) {
  y <- if (own$custom$response == "label") c(-1, 1) else seq_len(own$custom$categories)
  p <- mixed_density(own, outer(rep(1, nrow(f[[1L]])), y), f, 1)
  total <- rowSums(p)
  list(y = y, p = p / total, total = total)
}


# For two labels the mean is the probability of the second.
label_moments <- function(own, f) {
  p <- category_table(own, f)$p[, 2L]
  list(mean = p, var = p * (1 - p))
}

ordered_moments <- function(own, f) table_moments(category_table(own, f))

# ---- Counts ----

# Probabilities of 0, 1, ... at nodes f: enough counts that less than 1e-10 is beyond them, at most
# 2^15; of more the distribution is cut off.
count_table <- function(own, f, weight = 1) {
  MOST <- 2^15
  last <- 63
  repeat {
    y <- outer(rep(1, nrow(f[[1L]])), 0:last)
    p <- mixed_density(own, y, f, weight)
    if (last >= MOST - 1 || all(p[, last + 1] * last < 1e-10 & rowSums(p) > 0)) break
    last <- 2 * last + 1
  }
  list(y = 0:last, p = p / rowSums(p), total = rowSums(p))
}

count_moments <- function(own, f) table_moments(count_table(own, f))

count_tails <- function(own, y, nodes) table_tails(count_table(own, nodes$f, nodes$weight), y)

count_quantile <- function(own, p, nodes) {
  table_quantile(count_table(own, nodes$f, nodes$weight), p)
}

# ---- Numbers, on a scale on which they may be any ----

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

number_quantile <- function(own, p, nodes) {
  middle <- nodes$f[[1L]][, (ncol(nodes$f[[1L]]) + 1L) / 2L]
  number_at(own, nodes, stats::qnorm(p), middle)
}

# Finds where the normal quantile of the distribution function is `goal`: a bracket that grows about
# a latent value, and the method of Illinois within it.
number_at <- function(own, nodes, goal, centre) {
  scale <- NUMBER_SCALES[[own$custom$response]]
  excess <- function(u) {
    z <- tail_quantiles(number_tails(own, scale$from(u), nodes), 0.5) - goal
    pmin(pmax(z, -40), 40)
  }
  scale$from(zeros_between(excess, grown_bracket(excess, centre, 1 + 0 * centre)))
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
    if (all(abs(fu) < ENOUGH | abs(b - a) < 1e-12 * (1 + abs(u)))) break
    right <- fu * fb < 0 # the zero lies between u and b
    a <- ifelse(right, b, a)
    fa <- ifelse(right, fb, fa * 0.5)
    b <- u
    fb <- fu
  }
  u
}

# ---- By the kind of response ----

NUMBER_SUMS <- list(moments = number_moments, tails = number_tails, quantile = number_quantile)
CUSTOM_SUMS <- list(
  label = list(moments = label_moments),
  ordered = list(moments = ordered_moments),
  count = list(moments = count_moments, tails = count_tails, quantile = count_quantile),
  number = NUMBER_SUMS, positive = NUMBER_SUMS, share = NUMBER_SUMS
)

# Calls fun for blocks of rows: some 3 million densities at once take 24 megabytes each. fun returns
# `each` numbers a row; those of a row that has no mean, which may not be left out, are NaN.
by_blocks <- function(custom, mean, each, fun) {
  n <- count_means(custom, mean)
  there <- which(!is.nan(mean[seq_len(n)]))
  rows <- if (is.null(custom$components)) 200L else 10L
  blocks <- split(there, (seq_along(there) - 1L) %/% rows)
  answer <- matrix(NaN, each, n)
  answer[, there] <- unlist(lapply(unname(blocks), fun))
  answer
}

# Probabilities of less and of more than responses, see engine_lik_tails(). rows: data rows
custom_tails <- function(custom, theta, rows, mean, var) {
  own <- asked_with(custom, theta, rows[-(1:2), , drop = FALSE])
  tails <- by_blocks(custom, mean, 2L, function(at) {
    nodes <- latent_nodes(custom, some_means(custom, mean, at), some_vars(custom, var, at))
    found <- CUSTOM_SUMS[[custom$response]]$tails(asked_at(own, at), rows[1L, at], nodes)
    rbind(found$below, found$above)
  })
  list(below = tails[1L, ], above = tails[2L, ])
}

custom_quantile <- function(custom, theta, rows, mean, var, p) {
  own <- asked_with(custom, theta, rows[-(1:2), , drop = FALSE])
  c(by_blocks(custom, mean, 1L, function(at) {
    nodes <- latent_nodes(custom, some_means(custom, mean, at), some_vars(custom, var, at))
    CUSTOM_SUMS[[custom$response]]$quantile(asked_at(own, at), p, nodes)
  }))
}

# A random response for each latent value.
draw_custom <- function(custom, f, value, weights) {
  f <- latent_columns(custom, f)
  n <- nrow(f[[1L]])
  own <- list(custom = custom, value = value, constants = needed_constants(custom, weights, n))
  if (!is.null(custom$draw)) return(c(user_moments(own, "draw", f)))
  c(by_blocks(custom, unlist(f), 1L, function(at) {
    CUSTOM_DRAWS[[custom$response]](asked_at(own, at), lapply(f, function(x) x[at, , drop = FALSE]))
  }))
}

draw_categories <- function(own, f) draw_of_table(category_table(own, f))

draw_counts <- function(own, f) draw_of_table(count_table(own, f))

draw_of_table <- function(table) {
  apply(table$p, 1L, function(p) table$y[sample.int(length(p), 1L, prob = p)])
}

# Draws by inversion, at probabilities that are tabulated for each latent value.
draw_numbers <- function(own, f) {
  goal <- stats::qnorm(stats::runif(nrow(f[[1L]])))
  number_at(own, list(f = f, weight = 1), goal, c(f[[1L]]))
}

CUSTOM_DRAWS <- list(label = draw_categories, ordered = draw_categories, count = draw_counts,
                     number = draw_numbers, positive = draw_numbers, share = draw_numbers)
