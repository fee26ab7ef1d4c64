# A problem whose response has a scale with a parameter. It has
#   scale      list(codec, record, centre, unit, reference) of the response as it was read
#   rows       with responses in the user's units in place of codes
# and theta has the parameter last. What C is given is made anew at every theta: so parameter and
# hyperparameters are learned together. Where there is a `reference`, list(y, offset, weights) of
# all rows, codes are standardised at every value of the parameter, so that hyperparameters in units
# of C's mean the same everywhere; without one, centre and unit stay.

# Returns the response of a problem at theta: list(scale, centre, unit), and derivatives of centre
# and unit in the parameter.
scale_at <- function(problem, theta) {
  known <- problem$scale
  record <- known$record
  record[["value"]] <- scale_value(problem$lik, theta, record)
  now <- c(known[c("codec", "centre", "unit")], list(scale = record, d_centre = 0, d_unit = 0))
  all <- known$reference
  if (is.null(all)) return(now)
  scale <- SCALES[[codec_named(known$codec)$scale]]
  z <- scale$to(all$y, record) - all$offset
  weights <- weights_or_ones(all$weights, length(z))
  now$centre <- stats::weighted.mean(z, weights)
  unit <- sqrt(mean((z - now$centre)^2))
  if (!isTRUE(unit > 0)) return(now)
  now$unit <- unit
  slope <- scale$d_to(all$y, record)
  now$d_centre <- stats::weighted.mean(slope, weights)
  now$d_unit <- mean((z - now$centre) * (slope - now$d_centre)) / unit
  now
}

# Returns the problem as C sees it at theta. now: its response there
at_theta <- function(problem, theta, now = scale_at(problem, theta)) {
  if (is.null(problem$scale)) return(problem)
  problem$rows[1L, ] <- codec_named(now$codec)$codes(problem$rows[1L, ], now)
  problem$offset <- problem$offset * (problem$scale$unit / now$unit)
  problem
}

# Returns a run with what the scale adds at theta: the log Jacobian relative to that of the response
# as it was read, and the parameter's part of the gradient of log Z and log Jacobian. By the fixed
# point of EP log Z moves with a code as the tilt of its row does, whose slope in the mean is
# d = cavity variance^-1 (mean - cavity mean), the other way round. w: the problem's width
with_scale <- function(problem, theta, run, w) {
  if (is.null(scale_parameter(problem$lik)) || run$status != 0L) return(run)
  if (is.null(problem$scale)) {
    if (!is.null(run$gradient)) run$gradient <- c(run$gradient, 0)
    return(run)
  }
  now <- scale_at(problem, theta)
  y <- problem$rows[1L, ]
  at_start <- list(codec = now$codec, unit = problem$scale$unit, scale = problem$scale$record)
  run$log_jacobian <- log_jacobian(now, y) - log_jacobian(at_start, y)
  if (is.null(run$gradient)) return(run)
  scale <- SCALES[[codec_named(now$codec)$scale]]
  seen <- at_theta(problem, theta, now)
  offset <- matrix(seen$offset, w)[1L, ]
  d_seen <- (scale$d_to(y, now$scale) - now$d_centre -
               (seen$rows[1L, ] - offset) * now$d_unit) / now$unit
  slope <- sum(scale$d_log_slope(y, now$scale)) - length(y) * now$d_unit / now$unit -
    sum(slopes_in_mean(run, w) * d_seen)
  run$gradient <- c(run$gradient, slope * value_slope(problem$lik, now$scale))
  run
}

# d value / d theta of the parameter
value_slope <- function(lik, record) {
  range <- scale_parameter(lik)$range
  value <- record[["value"]]
  if (range[2L] == Inf) value else (value - range[1L]) * (range[2L] - value) / diff(range)
}

# Slopes of log Z of every row in the mean of its first latent value
slopes_in_mean <- function(run, w) {
  shift <- matrix(run$mean - run$cav_mean, w)
  if (w == 1L) return(c(shift) / c(run$cav_var))
  blocks <- matrix(run$cav_var, w * w)
  vapply(seq_len(ncol(shift)), function(i) solve(matrix(blocks[, i], w), shift[, i])[1L], 0)
}

# Returns the problem of a fit's rows with the parameter of its scale open again; centre and unit of
# codes stay those of the fit. y: responses in the user's units
with_open_scale <- function(problem, response, y) {
  if (is.null(scale_parameter(problem$lik))) return(problem)
  problem$rows[1L, ] <- y
  problem$scale <- c(response[c("codec", "centre", "unit")], list(record = response$scale))
  problem
}
