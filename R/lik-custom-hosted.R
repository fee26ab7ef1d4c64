# This file has what C asks of likelihoods that are R functions.

# Called by C (glue_host.c): a matrix with a column for each row: log Z, d1, d2 and, if `slopes`,
# the derivatives of log Z in theta. rows: q x n; power: of the density, all of them are divided by
# it (power.h). Of two latent functions, which have no power: lik-custom-pairs.R
tilts_of_custom <- function(custom, theta, rows, mean, var, slopes, power = 1) {
  theta <- c(theta)
  slopes <- slopes && length(theta) > 0L
  if (!is.null(custom$components)) return(tilts_of_pairs(custom, theta, rows, mean, var, slopes))
  value <- natural_custom(custom, theta)
  mean <- c(mean)
  var <- pmax(c(var), LEAST_TILT_VARIANCE * (1 + mean^2))
  if (power == 0) return(limit_tilts_of_custom(custom, theta, value, rows, mean, var, slopes))
  rule <- tilt_rule(function(at, f) {
    power * custom_log_density(custom, value, rows[, at, drop = FALSE], list(f))
  }, mean, sqrt(var))
  answer <- rule_moments(rule, mean, var) / power
  if (!slopes) return(answer)
  rbind(answer, rule_slopes(rule, function(at, f) {
    density_slopes(custom, theta, rows[, at, drop = FALSE], list(f))
  }, length(theta), length(mean)), deparse.level = 0L)
}
