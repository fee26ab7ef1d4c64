# What is asked of the responses of a likelihood that is written in R: moments, tails, quantiles and
# draws, by sums over responses or integrals along a scale on which they are any numbers.

# By kind: a response at a number, its slope there, and the number of a response.
CUSTOM_SCALES <- list(
  number = list(from = identity, slope = function(u) 1 + 0 * u, to = identity),
  positive = list(from = exp, slope = exp, to = log),
  share = list(from = stats::plogis, slope = stats::dlogis, to = stats::qlogis)
)

# Returns log densities along a scale: those of responses at numbers u, times the slope there. Where
# that number is too large for a response to be one it is 0. density: (row, y) -> log densities
along_scale <- function(scale, density) {
  function(row, u) {
    y <- scale$from(u)
    slope <- scale$slope(u)
    there <- which(is.finite(y) & is.finite(slope) & slope > 0 & is.finite(scale$to(y)))
    out <- rep(-Inf, length(u))
    if (length(there)) out[there] <- density(row[there], y[there]) + log(slope[there])
    replace(out, is.nan(out), -Inf)
  }
}

# Returns a rule for sums over the responses given latent values f: list(y, weight), matrices with a
# row for each of f, where weight has the density. Counts are summed as far as they count.
responses_custom <- function(lik, value, f) {
  kind <- lik$custom$response
  if (is.null(CUSTOM_SCALES[[kind]])) return(whole_responses(lik, value, f))
  scale <- CUSTOM_SCALES[[kind]]
  at <- along_scale(scale, function(row, y) custom_density(lik, y, f[row], value))
  known <- locate_custom(at, length(f))
  u <- spread_about(known)
  n <- length(f)
  log_weight <- matrix(at(rep(seq_len(n), ncol(u$at)), c(u$at)), n)
  list(y = scale$from(u$at), weight = exp(log_weight) * u$size, u = u$at)
}

# Places about a centre, ever farther apart, and the lengths they stand for.
spread_about <- function(known) {
  STEP <- 0.25
  v <- seq(-16, 10, by = STEP)
  away <- outer(known$width, exp(v))
  list(at = cbind(known$centre - away[, rev(seq_along(v)), drop = FALSE], known$centre + away),
       size = cbind(away[, rev(seq_along(v)), drop = FALSE], away) * STEP)
}

whole_responses <- function(lik, value, f) {
  LAST <- 2^14
  y <- switch(lik$custom$response, label = c(-1, 1), ordered = seq_len(lik$custom$categories),
              0:63)
  n <- length(f)
  weights_at <- function(y) {
    matrix(exp(custom_density(lik, rep(y, each = n), rep(f, length(y)), value)), n)
  }
  weight <- weights_at(y)
  while (lik$custom$response == "count" && any(1 - rowSums(weight) > 1e-11) && max(y) < LAST) {
    more <- (max(y) + 1):(2 * max(y) + 1)
    weight <- cbind(weight, weights_at(more))
    y <- c(y, more)
  }
  list(y = matrix(y, n, length(y), byrow = TRUE), weight = weight)
}

# Mean and variance of a response at latent values, in C's units; found at no more than 200 of them
# and between these by a spline.
moments_of_custom <- function(lik, value, f) {
  own <- lik$custom
  given <- !is.null(own$mean) && (!is.null(own$variance) || own$response == "label")
  if (given) return(given_moments(lik, value, f))
  MOST <- 200L
  if (length(f) <= MOST || diff(range(f)) == 0) return(found_moments(lik, value, f))
  at <- seq(min(f), max(f), length.out = MOST)
  found <- found_moments(lik, value, at)
  list(mean = stats::splinefun(at, found$mean)(f),
       var = pmax(stats::splinefun(at, found$var)(f), 0))
}

given_moments <- function(lik, value, f) {
  own <- lik$custom
  seen <- list(f * own$units[2L] + own$units[1L], value)
  mean <- (call_custom(lik, "mean", seen) - own$units[1L]) / own$units[2L]
  if (is.null(own$variance)) return(list(mean = mean, var = mean * (1 - mean)))
  list(mean = mean, var = call_custom(lik, "variance", seen) / own$units[2L]^2)
}

found_moments <- function(lik, value, f) {
  rule <- responses_custom(lik, value, f)
  total <- rowSums(rule$weight)
  if (any(abs(total - 1) > 1e-3)) {
    stop_sparsegp("likelihood", paste0("has a density that adds up to ",
                                       signif(total[which.max(abs(total - 1))], 4L),
                                       " at some latent values"),
                  "Normalise it, or give `mean` and `variance`")
  }
  if (lik$custom$response == "label") {
    second <- rule$weight[, 2L]
    return(list(mean = second, var = second * (1 - second)))
  }
  mean <- rowSums(rule$weight * rule$y) / total
  if (!is.null(lik$custom$mean)) {
    own <- lik$custom
    mean <- (call_custom(lik, "mean", list(f * own$units[2L] + own$units[1L], value)) -
               own$units[1L]) / own$units[2L]
  }
  list(mean = mean, var = rowSums(rule$weight * (rule$y - mean)^2) / total)
}

# Moments of new responses under N(mu, s2), and the variance of their mean: sums over normal
# quantities a quarter of a standard deviation apart, right to rounding for what is smooth.
predict_custom <- function(lik, value, mu, s2) {
  z <- seq(-8, 8, by = 0.25)
  weight <- stats::dnorm(z) / sum(stats::dnorm(z))
  f <- c(mu) + outer(sqrt(c(s2)), z)
  at <- moments_of_custom(lik, value, c(f))
  mean <- matrix(at$mean, length(mu))
  centre <- drop(mean %*% weight)
  spread <- drop((mean - centre)^2 %*% weight)
  list(mean = centre, var = drop(matrix(at$var, length(mu)) %*% weight) + spread, spread = spread)
}

# log of the density of a new response on its own scale u, under N(mu, s2): function(row, u).
predictive_custom <- function(lik, value, mu, s2) {
  along_scale(CUSTOM_SCALES[[lik$custom$response]], function(row, y) {
    log_densities(lik, rbind(y), value, mu[row], s2[row])
  })
}

log_densities <- function(lik, y, value, mu, s2) {
  known <- located_places(lik, y, value)
  tilts_custom(custom_logp(lik, y, value), mu, s2, known)$logz
}

# Probabilities of less than each response and of more.
tails_custom <- function(lik, y, value, mu, s2) {
  mu <- c(mu)
  if (is.null(CUSTOM_SCALES[[lik$custom$response]])) return(whole_tails(lik, y, value, mu, s2))
  scale <- CUSTOM_SCALES[[lik$custom$response]]
  at_scale(scale$to(y[1L, ]), predictive_custom(lik, value, mu, s2))
}

# The same at numbers u of the scale. The larger is what the smaller leaves of 1.
at_scale <- function(u, log_density) {
  n <- length(u)
  rule <- spread_about(list(centre = u, width = rep(1, n)))
  density <- matrix(exp(log_density(rep(seq_len(n), ncol(rule$at)), c(rule$at))), n)
  density[!is.finite(density)] <- 0
  below <- seq_len(ncol(rule$at) / 2)
  parts <- density * rule$size
  less <- rowSums(parts[, below, drop = FALSE])
  more <- rowSums(parts[, -below, drop = FALSE])
  list(below = ifelse(less < more, less, 1 - more), above = ifelse(less < more, 1 - less, more))
}

whole_tails <- function(lik, y, value, mu, s2) {
  prob <- whole_probabilities(lik, value, mu, s2, max(y[1L, ]))
  less <- prob$y < rep(y[1L, ], each = length(prob$y))
  below <- colSums(matrix(ifelse(less, t(prob$prob), 0), length(prob$y)))
  own <- prob$prob[cbind(seq_along(mu), match(y[1L, ], prob$y))]
  list(below = below, above = pmax(1 - below - own, 0))
}

# Probabilities of the responses 0, 1, ... up to `last`, of categories of all, under N(mu, s2): a
# row for each of mu.
whole_probabilities <- function(lik, value, mu, s2, last) {
  y <- switch(lik$custom$response, ordered = seq_len(lik$custom$categories), 0:last)
  n <- length(mu)
  logz <- log_densities(lik, rbind(rep(y, each = n)), value, rep(mu, length(y)),
                        rep(c(s2), length(y)))
  list(y = y, prob = matrix(exp(logz), n))
}

# Quantiles of new responses.
quantile_custom <- function(lik, y, value, mu, s2, p) {
  mu <- c(mu)
  s2 <- c(s2)
  if (is.null(CUSTOM_SCALES[[lik$custom$response]])) return(whole_quantile(lik, value, mu, s2, p))
  log_density <- predictive_custom(lik, value, mu, s2)
  known <- locate_custom(log_density, length(mu))
  rule <- spread_about(known)
  n <- length(mu)
  mass <- matrix(exp(log_density(rep(seq_len(n), ncol(rule$at)), c(rule$at))), n) * rule$size
  u <- vapply(seq_len(n), function(i) {
    stats::approx((cumsum(mass[i, ]) - mass[i, ] / 2) / sum(mass[i, ]), rule$at[i, ], p, rule = 2,
                  ties = "ordered")$y
  }, 0)
  for (polish in 1:3) {
    tails <- at_scale(u, log_density)
    miss <- ifelse(tails$below < tails$above, tails$below - p, 1 - p - tails$above)
    step <- miss / exp(log_density(seq_len(n), u))
    u <- u - pmin(pmax(step, -known$width), known$width)
  }
  CUSTOM_SCALES[[lik$custom$response]]$from(u)
}

whole_quantile <- function(lik, value, mu, s2, p) {
  last <- 64
  repeat {
    prob <- whole_probabilities(lik, value, mu, s2, last)
    below <- t(apply(prob$prob, 1L, cumsum))
    enough <- below[, ncol(below)] >= p
    if (all(enough) || lik$custom$response != "count" || last > 2^14) break
    last <- 2 * last
  }
  prob$y[pmin(rowSums(below < p) + 1L, length(prob$y))]
}

# Random responses at latent values: by the function that was given, by its quantiles, or by the
# inverse of the distribution function. In C's units.
draw_custom <- function(lik, f, value) {
  own <- lik$custom
  seen <- f * own$units[2L] + own$units[1L]
  back <- function(y) (y - own$units[1L]) / own$units[2L]
  if (!is.null(own$draw)) return(back(call_custom(lik, "draw", list(seen, value))))
  p <- stats::runif(length(f))
  if (!is.null(own$quantile)) return(back(call_custom(lik, "quantile", list(p, seen, value))))
  rule <- responses_custom(lik, value, f)
  vapply(seq_along(f), function(i) {
    below <- cumsum(rule$weight[i, ]) / sum(rule$weight[i, ])
    if (is.null(rule$u)) return(rule$y[i, sum(below < p[i]) + 1L])
    u <- stats::approx(below - rule$weight[i, ] / sum(rule$weight[i, ]) / 2, rule$u[i, ], p[i],
                       rule = 2, ties = "ordered")$y
    CUSTOM_SCALES[[own$response]]$from(u)
  }, 0)
}
