# Starts the period of a kernel at the highest peak of the periodogram, as the evidence has a
# narrow optimum at every period that fits some rows, and a search does not leave the nearest one.

PERIOD_ROWS <- 1000L # as many rows as are looked at: those that come first

# x: an input; given: the period a user starts from, or NULL. list(start, spread): the spread, of
# its logarithm, is what the rows can distinguish, half a turn from the first to the last of them;
# so the search does not leap to a multiple, which explains what the period does, and noise besides.
period_start <- function(x, response, given) {
  range <- max(x) - min(x)
  if (range == 0) range <- 1
  start <- if (is.null(given)) seen_period(x, response, range) else given
  list(start = start, spread = min(max(start / (2 * range), 0.01), 0.1))
}

# Half the range where there is nothing to see: few rows, classes without an order, a response that
# a trend explains.
seen_period <- function(x, response, range) {
  first <- utils::head(order(x), PERIOD_ROWS)
  t <- x[first] - min(x)
  y <- codec_named(response$codec)$series(response$y)
  if (is.null(y) || length(unique(t)) < 8L) return(range / 2)
  y <- as.matrix(y)[first, 1L] # the first component of several
  # what a cubic leaves; in units whose powers are finite
  rest <- stats::lm.fit(cbind(1, stats::poly(t / max(t), 3L)), as.double(y))$residuals
  if (!isTRUE(max(abs(rest)) > 1e-9 * max(abs(y)))) return(range / 2)
  highest_peak(t, rest)
}

highest_peak <- function(t, rest) {
  range <- max(t)
  power <- function(frequency) vapply(frequency, harmonic_power, 0, t, rest)
  # from two periods in the range to one in two rows, finer than a peak is wide
  step <- 0.25 / range
  at <- seq(2 / range, max(length(t) / 2, 4) / range, by = step)
  peak <- at[which.max(power(at))]
  1 / stats::optimize(power, c(peak - step, peak + step), maximum = TRUE)$maximum
}

# Of the sum of squares of y what a sine wave of that frequency explains (Lomb and Scargle).
harmonic_power <- function(frequency, t, y) {
  turn <- 2 * pi * frequency * t
  turn <- turn - atan2(sum(sin(2 * turn)), sum(cos(2 * turn))) / 2 # cosine and sine orthogonal
  explained <- function(wave) if (sum(wave^2) > 1e-6) sum(y * wave)^2 / sum(wave^2) else 0
  explained(cos(turn)) + explained(sin(turn))
}
