# Responses of likelihoods that are R functions: their moments, probabilities and quantiles, from
# the
# user's functions or by sums and integrals of the density over responses. Under N(mean, var) of the
# latent value all of these are means over 33 equidistant nodes.

latent_nodes <- function(mean, var) {
  z <- seq(-8, 8, length.out = TILT_NODES)
  weight <- stats::dnorm(z)
  list(f = c(mean) + outer(sqrt(c(var)), z), weight = weight / sum(weight))
}

# Mean and variance of a new response under N(mean, var), and the variance of its mean given f.
predict_custom <- function(custom, theta, mean, var) {
  value <- natural_custom(custom, theta)
  nodes <- latent_nodes(mean, var)
  given <- moments_given(custom, value, nodes$f)
  centre <- c(given$mean %*% nodes$weight)
  spread <- c((given$mean - centre)^2 %*% nodes$weight)
  list(mean = centre, var = c(given$var %*% nodes$weight) + spread, spread = spread)
}

# Log density of data rows, where there are some, and moments of a new response, at latent values.
evaluate_custom <- function(custom, theta, f, rows) {
  value <- natural_custom(custom, theta)
  f <- matrix(f, ncol = 1L)
  given <- moments_given(custom, value, f)
  list(logp = if (!is.null(rows)) c(custom_log_density(custom, value, rows, f)) else numeric(),
       mean = c(given$mean), var = c(given$var))
}

# Mean and variance of a response at each of the latent values f, a matrix.
moments_given <- function(custom, value, f) {
  if (is.null(custom$mean)) return(CUSTOM_SUMS[[custom$response]]$moments(custom, value, f))
  list(mean = check_answer(call_user(custom$mean, "mean", list(f, value)), f, "mean"),
       var = check_answer(call_user(custom$variance, "variance", list(f, value)), f, "variance"))
}

# The density of responses y[points x k], of weight 1, each row at the latent values f[points x m]
# of its point; its mean under the weights of the m nodes.
mixed_density <- function(custom, value, y, f, weight) {
  k <- ncol(y)
  each <- rep(seq_len(nrow(y)), k)
  rows <- rbind(c(y), 1)
  p <- exp(custom_log_density(custom, value, rows, f[each, , drop = FALSE]))
  matrix(p %*% weight, nrow(y), k)
}

# ---- Labels ----

label_moments <- function(custom, value, f) {
  each <- lapply(c(-1, 1), function(y) {
    rows <- rbind(rep(y, nrow(f)), 1)
    exp(custom_log_density(custom, value, rows, f))
  })
  p <- each[[2L]] / (each[[1L]] + each[[2L]])
  list(mean = p, var = p * (1 - p))
}

# ---- Counts ----

# Probabilities of 0, 1, ... at nodes f: enough counts that less than 1e-10 is beyond them, at most
# 2^15; of more the distribution is cut off.
count_table <- function(custom, value, f, weight) {
  MOST <- 2^15
  last <- 63
  repeat {
    y <- matrix(0:last, nrow(f), last + 1, byrow = TRUE)
    p <- mixed_density(custom, value, y, f, weight)
    if (last >= MOST - 1 || all(p[, last + 1] * last < 1e-10 & rowSums(p) > 0)) break
    last <- 2 * last + 1
  }
  list(y = 0:last, p = p / rowSums(p), total = rowSums(p))
}

count_moments <- function(custom, value, f) {
  flat <- matrix(f, ncol = 1L)
  table <- count_table(custom, value, flat, 1)
  mean <- c(table$p %*% table$y)
  list(mean = matrix(mean, nrow(f)), var = matrix(c(table$p %*% table$y^2) - mean^2, nrow(f)))
}

count_tails <- function(custom, value, y, nodes) {
  p <- count_table(custom, value, nodes$f, nodes$weight)$p
  below <- vapply(seq_along(y), function(i) sum(p[i, seq_len(min(y[i], ncol(p)))]), 0)
  own <- vapply(seq_along(y), function(i) if (y[i] < ncol(p)) p[i, y[i] + 1] else 0, 0)
  list(below = below, above = pmax(1 - below - own, 0))
}

count_quantile <- function(custom, value, p, nodes) {
  table <- count_table(custom, value, nodes$f, nodes$weight)
  apply(table$p, 1L, function(own) table$y[which(cumsum(own) >= p - 1e-12)[1L]])
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
# function of the response.
number_integrals <- function(custom, value, u, f, weight, times = list(function(y) 1)) {
  scale <- NUMBER_SCALES[[custom$response]]
  away <- number_steps()
  side <- function(sign) {
    at <- u + sign * outer(rep(1, length(u)), away)
    y <- scale$from(at)
    size <- scale$slope(at) * rep(away, each = length(u)) * 0.25
    size[!is.finite(size) | !is.finite(y) | y == scale$from(Inf) | y == scale$from(-Inf)] <- 0
    y[size == 0] <- scale$from(0)
    p <- mixed_density(custom, value, y, f, weight) * size
    lapply(times, function(of) rowSums(ifelse(p > 0, p * of(y), 0)))
  }
  list(below = side(-1), above = side(1))
}

number_moments <- function(custom, value, f) {
  flat <- matrix(f, ncol = 1L)
  sums <- number_integrals(custom, value, c(f), flat, 1,
                           list(function(y) 1, identity, function(y) y^2))
  sums <- Map(`+`, sums$below, sums$above)
  mean <- sums[[2L]] / sums[[1L]]
  list(mean = matrix(mean, nrow(f)), var = matrix(sums[[3L]] / sums[[1L]] - mean^2, nrow(f)))
}

number_tails <- function(custom, value, y, nodes) {
  scale <- NUMBER_SCALES[[custom$response]]
  sums <- number_integrals(custom, value, scale$to(y), nodes$f, nodes$weight)
  total <- sums$below[[1L]] + sums$above[[1L]]
  list(below = sums$below[[1L]] / total, above = sums$above[[1L]] / total)
}

# Finds where the normal quantile of the distribution function is that of p: a bracket that grows
# about the mean latent value, and the method of Illinois within it.
number_quantile <- function(custom, value, p, nodes) {
  scale <- NUMBER_SCALES[[custom$response]]
  n <- nrow(nodes$f)
  goal <- stats::qnorm(p)
  excess <- function(u) {
    z <- tail_quantiles(number_tails(custom, value, scale$from(u), nodes), 0.5) - goal
    pmin(pmax(z, -40), 40)
  }
  centre <- nodes$f[, (ncol(nodes$f) + 1L) / 2L]
  ends <- grown_bracket(excess, centre, 1 + 0 * centre)
  scale$from(zeros_between(excess, ends))
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
  count = list(moments = count_moments, tails = count_tails, quantile = count_quantile),
  number = NUMBER_SUMS, positive = NUMBER_SUMS, share = NUMBER_SUMS
)

# Some 3 million densities at once take 24 megabytes each.
by_blocks <- function(n, fun) {
  ROWS <- 200L
  blocks <- split(seq_len(n), (seq_len(n) - 1L) %/% ROWS)
  unlist(lapply(unname(blocks), fun))
}

# Probabilities of less and of more than responses, see engine_lik_tails().
custom_tails <- function(custom, theta, y, mean, var) {
  value <- natural_custom(custom, theta)
  tails <- function(field) {
    by_blocks(length(y), function(at) {
      nodes <- latent_nodes(mean[at], var[at])
      CUSTOM_SUMS[[custom$response]]$tails(custom, value, y[at], nodes)[[field]]
    })
  }
  list(below = tails("below"), above = tails("above"))
}

custom_quantile <- function(custom, theta, mean, var, p) {
  value <- natural_custom(custom, theta)
  by_blocks(length(mean), function(at) {
    CUSTOM_SUMS[[custom$response]]$quantile(custom, value, p, latent_nodes(mean[at], var[at]))
  })
}

# A random response for each latent value.
draw_custom <- function(custom, f, value, weights) {
  if (!is.null(custom$draw)) {
    flat <- matrix(f, ncol = 1L)
    return(c(check_answer(call_user(custom$draw, "draw", list(flat, value)), flat, "draw")))
  }
  CUSTOM_DRAWS[[custom$response]](custom, value, f)
}

draw_labels <- function(custom, value, f) {
  p <- c(label_moments(custom, value, matrix(f, ncol = 1L))$mean)
  ifelse(stats::runif(length(f)) < p, 1, -1)
}

draw_counts <- function(custom, value, f) {
  by_blocks(length(f), function(at) {
    table <- count_table(custom, value, matrix(f[at], ncol = 1L), 1)
    apply(table$p, 1L, function(p) sample(table$y, 1L, prob = p))
  })
}

# By inversion, at probabilities that are tabulated for each latent value.
draw_numbers <- function(custom, value, f) {
  by_blocks(length(f), function(at) {
    scale <- NUMBER_SCALES[[custom$response]]
    own <- list(f = matrix(f[at], ncol = 1L), weight = 1)
    goal <- stats::qnorm(stats::runif(length(at)))
    excess <- function(u) {
      z <- tail_quantiles(number_tails(custom, value, scale$from(u), own), 0.5) - goal
      pmin(pmax(z, -40), 40)
    }
    scale$from(zeros_between(excess, grown_bracket(excess, f[at], 1 + 0 * f[at])))
  })
}

CUSTOM_DRAWS <- list(label = draw_labels, count = draw_counts, number = draw_numbers,
                     positive = draw_numbers, share = draw_numbers)

# ---- Checks ----

# Stops or warns where the functions are not what they should be, at a few rows. theta: on C's scale
check_custom <- function(custom, theta, rows) {
  if (is.null(custom) || !custom$check) return(invisible())
  some <- unique(round(seq(1, ncol(rows), length.out = min(ncol(rows), 5L))))
  rows <- rows[, some, drop = FALSE]
  f <- matrix(seq(-1.5, 1.5, length.out = 7L), length(some), 7L, byrow = TRUE)
  value <- natural_custom(custom, theta)
  custom_log_density(custom, value, rows, f)
  if (!is.null(custom$gradient)) check_custom_slopes(custom, theta, rows, f)
  total <- density_total(custom, value)
  if (all(abs(total - 1) < 1e-3)) return(invisible())
  worst <- signif(total[which.max(abs(total - 1))], 4L)
  warn_sparsegp("`likelihood` has a log_density that integrates to ", worst,
                " over the responses, not to 1. Add its normalising constant, or give ",
                "check = FALSE.")
}

check_custom_slopes <- function(custom, theta, rows, f) {
  given <- user_slopes(custom, theta, rows, f)
  custom$gradient <- NULL
  found <- density_slopes(custom, theta, rows, f)
  for (j in seq_along(theta)) {
    if (all(abs(given[[j]] - found[[j]]) <= 1e-5 * (1 + abs(found[[j]])))) next
    stop_sparsegp("likelihood", paste0("has a `gradient` that differs from finite differences in ",
                                       custom$names[j]),
                  "Give derivatives on the natural scale, in the order of `theta`, or no gradient")
  }
}

# Sums the density over the responses, at some latent values.
density_total <- function(custom, value) {
  f <- matrix(c(-1, 0, 1), ncol = 1L)
  if (custom$response == "label") {
    return(Reduce(`+`, lapply(c(-1, 1), function(y) {
      c(exp(custom_log_density(custom, value, rbind(rep(y, 3L), 1), f)))
    })))
  }
  if (custom$response == "count") return(count_table(custom, value, f, 1)$total)
  sums <- number_integrals(custom, value, c(f), f, 1)
  sums$below[[1L]] + sums$above[[1L]]
}
