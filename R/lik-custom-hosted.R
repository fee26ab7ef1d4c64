# This file has what C asks of likelihoods that are R functions.

# Called by C (glue_host.c): a matrix with a column for each row: log Z, d1, d2 and, if `slopes`,
# the derivatives of log Z in theta. rows: q x n; power: of the density, all of them are divided by
# it (power.h). Of two latent functions, which have no power: lik-custom-pairs.R
tilts_of_custom <- function(custom, theta, rows, mean, var, slopes, power = 1) {
  theta <- c(theta)
  slopes <- slopes && length(theta) > 0L
  if (!is.null(custom$components)) return(tilts_of_pairs(custom, theta, rows, mean, var, slopes))
  mean <- c(mean)
  var <- pmax(c(var), LEAST_TILT_VARIANCE * (1 + mean^2))
  if (power == 0) {
    value <- natural_custom(custom, theta)
    return(limit_tilts_of_custom(custom, theta, value, rows, mean, var, slopes))
  }
  rule <- rule_of_custom(custom, theta, rows, mean, var, power)
  answer <- rule_moments(rule, mean, var) / power
  if (!slopes) return(answer)
  by_theta <- rule_slopes(rule, function(at, f) {
    density_slopes(custom, theta, rows[, at, drop = FALSE], list(f))
  }, length(theta), length(mean))
  jumps <- attr(rule, "jumps")
  if (length(jumps) > 0L) {
    by_theta[, jumps] <- jump_slopes(custom, theta, rows[, jumps, drop = FALSE], mean[jumps],
                                     var[jumps], power)
  }
  rbind(answer, by_theta, deparse.level = 0L)
}

rule_of_custom <- function(custom, theta, rows, mean, var, power) {
  value <- natural_custom(custom, theta)
  around <- if (custom$response == "number") rows[1L, ]
  tilt_rule(function(at, f) {
    power * custom_log_density(custom, value, rows[, at, drop = FALSE], list(f))
  }, mean, sqrt(var), around)
}

# Returns d log Z / d theta of rows whose density is 0 somewhere, by differences of log Z: where a
# bound moves with theta the mean of d log p / d theta is not all of it.
jump_slopes <- function(custom, theta, rows, mean, var, power) {
  STEP <- 1e-4
  t(vapply(seq_along(theta), function(j) {
    at <- function(by) {
      moved <- replace(theta, j, theta[j] + by)
      rule_moments(rule_of_custom(custom, moved, rows, mean, var, power), mean, var)[1L, ] / power
    }
    (at(STEP) - at(-STEP)) / (2 * STEP)
  }, numeric(length(mean))))
}
