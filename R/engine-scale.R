# A problem whose response has a scale with a parameter. It has
#   scale      list(codec, record, centre, unit, reference) of the response as it was read
#   rows       with responses in the user's units in place of codes
# and theta has the parameter last. What C is given is made anew at every theta: so parameter and
# hyperparameters are learned together. Where there is a `reference`, list(y, offset, weights) of
# all rows, codes are standardised at every value of the parameter, so that hyperparameters in units
# of C's mean the same everywhere; without one, centre and unit stay.

# Returns what evaluations ask of the response of such a problem, as functions of theta:
#   response   list(scale, centre, unit), and derivatives of centre and unit in the parameter
#   at         list(rows, offset, response) as C takes them
# and `codec`, `scale` and `slope`, d value / d theta of the parameter as a function of the value.
response_of_scale <- function(problem) {
  known <- problem$scale
  codec <- codec_named(known$codec)
  scale <- SCALES[[codec$scale]]
  about <- scale_parameter(problem$lik)
  unit <- about$unit(known$record)
  standardise <- standardiser(known, scale)
  response <- function(theta) {
    record <- known$record
    record[["value"]] <- from_search(theta[length(theta)], about$range[1L], about$range[2L], unit)
    standardise(record)
  }
  at <- function(theta) {
    now <- response(theta)
    rows <- problem$rows
    rows[1L, ] <- codec$codes(rows[1L, ], now)
    list(rows = rows, offset = problem$offset * (known$unit / now$unit), response = now)
  }
  list(response = response, at = at, codec = codec, scale = scale,
       slope = function(value) slope_in_range(value, about$range))
}

# Returns a function of the record of a scale that gives the response there: centre and unit of the
# `reference` if there is one, else those that were read.
standardiser <- function(known, scale) {
  base <- c(known[c("codec", "centre", "unit")], list(d_centre = 0, d_unit = 0))
  all <- known$reference
  if (is.null(all)) return(function(record) c(base, list(scale = record)))
  weights <- weights_or_ones(all$weights, NROW(all$y))
  function(record) {
    now <- c(base, list(scale = record))
    z <- scale$to(all$y, record) - all$offset
    now$centre <- stats::weighted.mean(z, weights)
    unit <- sqrt(mean((z - now$centre)^2))
    if (!isTRUE(unit > 0)) return(now)
    now$unit <- unit
    slope <- scale$d_to(all$y, record)
    now$d_centre <- stats::weighted.mean(slope, weights)
    now$d_unit <- mean((z - now$centre) * (slope - now$d_centre)) / unit
    now
  }
}

# Returns the problem as C takes it at theta.
at_theta <- function(problem, theta) {
  if (is.null(problem$scale)) return(problem)
  seen <- response_of_scale(problem)$at(theta)
  problem[c("rows", "offset")] <- seen[c("rows", "offset")]
  problem
}

# Returns a function of theta and a run that adds what the scale has at theta: the log Jacobian
# relative to that of the response as it was read, and the parameter's part of the gradient of log Z
# and log Jacobian. By the fixed point of EP log Z moves with a code as the tilt of its row does,
# whose slope in the mean is d = cavity variance^-1 (mean - cavity mean), the other way round. NULL:
# the scale has no parameter.
scale_part <- function(problem) {
  if (is.null(scale_parameter(problem$lik))) return(NULL)
  if (is.null(problem$scale)) {
    return(function(theta, run) {
      if (!is.null(run$gradient)) run$gradient <- c(run$gradient, 0)
      run
    })
  }
  y <- problem$rows[1L, ]
  w <- problem_width(problem)
  ours <- response_of_scale(problem)
  start <- list(codec = problem$scale$codec, unit = problem$scale$unit,
                scale = problem$scale$record)
  from <- log_jacobian(start, y)
  function(theta, run) {
    seen <- ours$at(theta)
    now <- seen$response
    run$log_jacobian <- log_jacobian(now, y) - from
    if (is.null(run$gradient)) return(run)
    offset <- matrix(seen$offset, w)[1L, ]
    d_seen <- (ours$scale$d_to(y, now$scale) - now$d_centre -
                 (seen$rows[1L, ] - offset) * now$d_unit) / now$unit
    slope <- sum(ours$scale$d_log_slope(y, now$scale)) - length(y) * now$d_unit / now$unit -
      sum(slopes_in_mean(run, w) * d_seen)
    run$gradient <- c(run$gradient, slope * ours$slope(now$scale[["value"]]))
    run
  }
}

# d value / d theta of a parameter in this range
slope_in_range <- function(value, range) {
  if (range[2L] == Inf) value else (value - range[1L]) * (range[2L] - value) / diff(range)
}

# Returns the slope of log Z of every row in the mean of its first latent value, (mean - cav_mean)
# divided by the cavity's covariance. That of several values may be singular; nu - T mean of the
# sites is the same.
slopes_in_mean <- function(run, w) {
  if (w == 1L) return(c(run$mean - run$cav_mean) / c(run$cav_var))
  rows <- matrix(run$tau, w * w)[seq(1L, w * w, w), , drop = FALSE]
  matrix(run$nu, w)[1L, ] - colSums(rows * matrix(run$mean, w))
}

# Returns the problem of a fit's rows with the parameter of its scale open again; centre and unit of
# codes stay those of the fit. y: responses in the user's units
with_open_scale <- function(problem, response, y) {
  if (is.null(scale_parameter(problem$lik))) return(problem)
  problem$rows[1L, ] <- y
  problem$scale <- c(response[c("codec", "centre", "unit")], list(record = response$scale))
  problem
}
