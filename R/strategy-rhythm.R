# The axis of rhythms: a periodic part besides, at a period that the periodogram shows, where rows
# are in time. A series has many cycles, and a smooth function that follows each of them neither
# forecasts nor is cheap. A long one (strategy-markov.R) may have several of them.

# Returns the periodic parts that may stand beside the kernel, at peaks of the periodogram that rise
# above noise: at each one's period, or that of a calendar near it. NULL: there are none.
rhythms_beside <- function(model, chunk, setup) {
  time <- time_input(model, chunk, setup)
  if (is.null(time) || count_latent_values(model$response) > 1L) return(NULL)
  known <- unlist(periods_of_kernel(setup$kernel))
  seen <- lapply(time$input, function(input) {
    y <- beside_inputs(model, chunk$x, input)
    periods <- rhythms_seen(chunk$x[, input], y, known, time$timed)
    vars <- if (ncol(chunk$x) > 1L) model$inputs$names[input]
    lapply(periods, function(period) kernel_periodic(period = period, vars = vars))
  })
  utils::head(unlist(seen, recursive = FALSE), policy$rhythm_peaks)
}

# Returns what a linear function of the other inputs leaves of the response, in which a rhythm
# stands out, also from outliers.
beside_inputs <- function(model, x, input) {
  y <- within_reach(as.double(model$rows[1L, ]))
  at <- match(input, which(model$scaling$kept))
  others <- scaled_inputs(x, model$scaling)[, -at, drop = FALSE]
  if (ncol(others) == 0L || ncol(others) > length(y) / 4) return(y)
  within_reach(stats::lm.fit(cbind(1, others), y)$residuals)
}

periods_of_kernel <- function(kernel) {
  lapply(kernel_leaves(kernel), function(leaf) given_value(leaf$params$period))
}

# Returns periods that the response shows in enough cycles, the strongest first, but those that are
# known. Behind those of peaks is that of a calendar which the rest shows, if x is known to be time
# (`timed`): it is one of few, and so a weaker wave than the highest of all frequencies stands out.
rhythms_seen <- function(x, y, known, timed = TRUE) {
  cycles <- if (timed) policy$rhythm_cycles else policy$untimed_cycles
  peaks <- seen_periods(x, y, policy$rhythm_peaks)
  if (length(peaks$period) == 0L) return(numeric()) # few rows, or a response that is a trend
  range <- max(x) - min(x)
  noise <- share_of_noise(length(x), timed)
  strong <- peaks$period[peaks$share > share_of_noise(length(x), timed, range / peaks$period)]
  natural <- calendar_periods(x)
  periods <- unique(unlist(lapply(strong, likely_periods, natural, x, peaks, noise)))
  periods <- periods[range / periods >= cycles] # of fewer it is a trend
  new <- vapply(periods, function(period) all(abs(range / period - range / known) > 1 / 2), NA)
  periods <- utils::head(periods[new], policy$rhythm_peaks)
  if (!timed || length(periods) == policy$rhythm_peaks) return(periods)
  c(periods, calendar_rhythm(natural, x, y, c(known, periods), cycles))
}

# Returns the one of natural periods whose waves explain most of what those of known periods leave,
# and functions that are slower than the wave; or nothing.
calendar_rhythm <- function(natural, x, y, known, cycles) {
  few <- spread_rows(length(x))[seq_len(min(length(x), policy$pilot_rows))]
  x <- x[few] - min(x)
  range <- max(x)
  apart <- vapply(natural, function(period) all(abs(range / period - range / known) > 1 / 2), NA)
  natural <- natural[apart & range / natural >= cycles]
  beside <- do.call(cbind, lapply(1 / known, waves, x))
  nats <- vapply(natural, function(period) {
    slow <- cbind(1, x / range, slow_waves(x, range / period), beside)
    nats_of_wave(waves(1 / period, x), slow, y[few])
  }, 0)
  best <- which.max(nats)
  in_digits(natural[best[nats[best] > log(length(natural)) + 2 * HARMONICS]])
}

# Returns cosines, up to the frequency of half as many cycles in the range, which has x.
slow_waves <- function(x, cycles) {
  cos(outer(pi * x / max(x), seq_len(min(floor(cycles), policy$slow_waves))))
}

# Returns the log likelihood that waves gain beside other functions.
nats_of_wave <- function(waves, beside, y) {
  rest <- stats::lm.fit(beside, as.double(y))
  left <- stats::lm.fit(cbind(beside, waves), as.double(y))
  if (left$df.residual < 1L) return(-Inf)
  rest$df.residual / 2 * log(sum(rest$residuals^2) / sum(left$residuals^2))
}

# Returns list(input, timed): the number of the input that may be time, which is known (timed) of
# a clock or a regular grid; else the numbers among few inputs. NULL: there is none, or all are on a
# log scale.
time_input <- function(model, chunk, setup) {
  kept <- which(model$scaling$kept)
  if (length(kept) == 0L) return(NULL)
  clock <- which(without_backticks(model$inputs$terms) %in% setup$clocks)
  if (length(clock) != 1L) clock <- kept[vapply(kept, function(k) is_time_grid(chunk$x[, k]), NA)]
  timed <- length(clock) == 1L
  input <- if (timed) intersect(clock, kept) else numbers_of_few(model, chunk, kept)
  warped <- match(input, kept) %in% which(model$scaling$warp$side != 0)
  if (!all(warped)) list(input = input[!warped], timed = timed)
}

# Returns those of the inputs that are numbers, NULL if these are many.
numbers_of_few <- function(model, chunk, kept) {
  numbers <- kept[model$scaling$levels == 0]
  if (length(numbers) <= policy$neighbour_inputs) numbers
}

# Returns the number of the input that is known to be time, beside others, or NULL.
time_beside_others <- function(model, chunk, setup) {
  time <- if (sum(model$scaling$kept) > 1L) time_input(model, chunk, setup)
  if (isTRUE(time$timed)) time$input
}

# Returns the share of the sum of squares that the highest of n / 2 frequencies, or of more up to so
# many cycles, explains of noise, by both of its HARMONICS, as it is exceeded once in some hundred
# times. Irregular rows (not timed) have more frequencies, of which the highest explains more, up to
# twice as much.
share_of_noise <- function(n, timed, cycles = 0) {
  nats <- 2 * (log(pmax(n / 2, cycles)) + 2 * HARMONICS + policy$rhythm_nats) / n
  if (timed) 1 - exp(-nats) else nats
}

# Returns the periods that a peak may stand for: one of a calendar of which it is a harmonic, as is
# another peak, or of which another wave shows in what the peaks leave; and its own, or what
# calendars have within its width. natural: those of calendars; noise: share_of_noise()
likely_periods <- function(period, natural, x, peaks, noise) {
  range <- max(x) - min(x)
  harmonic <- function(period) {
    times <- round(natural / period)
    times <= policy$rhythm_harmonics & abs(times * range / natural - range / period) < 1 / 2
  }
  same <- natural[harmonic(period) & natural < 1.5 * period]
  longer <- natural[harmonic(period) & natural > 1.5 * period]
  of_peaks <- lapply(peaks$period, harmonic)
  shared <- natural[Reduce(`+`, of_peaks) > 1L]
  shows <- vapply(longer, function(longer) {
    power <- harmonic_power(1 / longer, x, peaks$rest)
    power > noise * sum(peaks$rest^2)
  }, NA)
  longer <- longer[shows | longer %in% shared]
  in_digits(c(utils::head(longer, 1L), utils::head(c(same, period), 1L)))
}
