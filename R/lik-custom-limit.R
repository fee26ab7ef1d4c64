# Tilts of likelihoods that are R functions in the limit of power EP, variational inference
# (power.h): means of log p(y|f) and its products under N(mean, var) themselves, for all rows at
# once, by the trapezoid rule of lik-custom-tilts.R.

# Nodes lie within so many standard deviations: an exponential rate with a deviation of 3 has its
# mean there.
LIMIT_REACH <- 12

# Returns what tilts_of_custom() does: with l = log p(y|f) and t = (f - mean) / sd
#   E l,   E l t / sd,   E l (t^2 - 1) / var,   and E dl/dtheta.
# A density of 0 within reach makes a row's numbers -Inf: C refuses them.
limit_tilts_of_custom <- function(custom, theta, value, rows, mean, var, slopes) {
  answer <- matrix(0, 3L + slopes * length(theta), length(mean))
  open <- seq_along(mean)
  nodes <- TILT_NODES
  while (length(open) > 0L) {
    rule <- limit_rule(nodes, mean[open], sqrt(var[open]))
    own <- rows[, open, drop = FALSE]
    log <- custom_log_density(custom, value, own, rule$f)
    means <- limit_means(log, rule$t, rule$weight)
    good <- nodes >= MOST_TILT_NODES | limits_agree(log, means, rule)
    answer[1:3, open[good]] <- limit_columns(means, sqrt(var[open]))[, good]
    if (slopes && any(good)) {
      part <- own[, good, drop = FALSE]
      by <- density_slopes(custom, theta, part, rule$f[good, , drop = FALSE])
      for (j in seq_along(theta)) answer[3L + j, open[good]] <- by[[j]] %*% rule$weight
    }
    open <- open[!good]
    nodes <- 2L * nodes - 1L
  }
  answer
}

# Nodes t on the standard scale, their weights, and f[rows x nodes].
limit_rule <- function(nodes, mean, sd) {
  t <- seq(-LIMIT_REACH, LIMIT_REACH, length.out = nodes)
  list(t = t, weight = stats::dnorm(t) * (t[2L] - t[1L]), f = mean + outer(sd, t))
}

# Returns E l, E l t and E l (t^2 - 1), a column each. The value at the mean is taken off before: a
# constant has no slope.
limit_means <- function(log, t, weight) {
  level <- log[, (ncol(log) + 1L) / 2L]
  level <- ifelse(is.finite(level), level, 0)
  means <- (log - level) %*% cbind(weight, weight * t, weight * (t^2 - 1))
  means[, 1L] <- means[, 1L] + level
  unname(means)
}

# Does the rule with every second node agree? Rows that are not finite will not get better.
limits_agree <- function(log, means, rule) {
  some <- seq(1L, ncol(log), by = 2L)
  half <- limit_means(log[, some, drop = FALSE], rule$t[some], 2 * rule$weight[some])
  off <- rowSums(abs(half - means)) / (1 + rowSums(abs(means)))
  is.na(off) | off < TILT_AGREE
}

limit_columns <- function(means, sd) {
  rbind(means[, 1L], means[, 2L] / sd, means[, 3L] / sd^2, deparse.level = 0L)
}
