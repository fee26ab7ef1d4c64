# Starts the period of a kernel at a peak of the periodogram, as the evidence has a narrow optimum
# at every period that fits some rows, and a search does not leave the nearest one.

# x: an input; given: the period a user starts from, or NULL; turn: which of the peaks, the highest
# first. list(start, spread, stride): the spread, of its logarithm, is what the rows can
# distinguish, half a turn from the first to the last of them; so the search does not leap to a
# multiple, which explains what the period does, and noise besides. The stride is a radian from the
# first to the last.
period_start <- function(x, response, given, turn = 1L) {
  range <- max(x) - min(x)
  if (range == 0) range <- 1
  start <- if (is.null(given)) seen_period(x, response, range, turn) else given
  list(start = start, spread = min(max(start / (2 * range), 0.01), 0.1),
       stride = min(1, start / (2 * pi * range)))
}

# Half the range where there is nothing to see: few rows, classes without an order, a response that
# a trend explains.
seen_period <- function(x, response, range, turn) {
  y <- codec_named(response$codec)$series(response$y)
  if (is.null(y)) return(range / 2)
  peaks <- seen_periods(x, as.matrix(y)[, 1L], turn) # the first component of several
  if (length(peaks$period) < turn) range / 2 else peaks$period[turn]
}

# Returns list(period, share, rest) of the highest peaks of the periodogram, at most `count`: the
# share of the sum of squares that each explains of what a cubic and the peaks before leave, and the
# values that all of them leave.
seen_periods <- function(x, y, count) {
  t <- x - min(x)
  found <- list(period = numeric(), share = numeric())
  if (length(unique(t)) < 8L || max(t) == Inf || max(t) < SHORT_RANGE) return(found)
  y <- within_reach(as.double(y))
  y <- y / max(abs(y), .Machine$double.xmin) # so that powers are finite
  rest <- stats::lm.fit(cbind(1, stats::poly(t / max(t), 3L)), y)$residuals
  for (k in seq_len(count)) {
    if (!isTRUE(max(abs(rest)) > 1e-9 * max(abs(y)))) break
    frequency <- highest_peak(t, rest)
    found$period[k] <- 1 / frequency
    left <- stats::lm.fit(waves(frequency, t), rest)$residuals
    found$share[k] <- 1 - sum(left^2) / sum(rest^2)
    found$rest <- rest <- left
  }
  found
}

# Returns responses with those that are far from the others no farther than these may be: an outlier
# has all frequencies.
within_reach <- function(y) {
  reach <- policy$far_residual * stats::mad(y)
  if (reach > 0) stats::median(y) + pmin(pmax(y - stats::median(y), -reach), reach) else y
}

SHORT_RANGE <- 1e-290 # of an input, below which frequencies are not finite

HARMONICS <- 2L # of a peak, that are taken off before the next one is looked for

waves <- function(frequency, t) {
  turns <- outer(2 * pi * frequency * t, seq_len(HARMONICS))
  cbind(cos(turns), sin(turns))
}

# Returns the frequency of the highest peak, from two periods in the range on, by a transform of the
# rows on a grid, finer than a peak is wide, and then by the rows themselves. Irregular rows show a
# rhythm faster than most of them follow each other; as it looks like a slower one where they are
# almost regular, as months are, it has to explain clearly more.
highest_peak <- function(t, rest) {
  range <- max(t)
  cells <- cells_of_times(t)
  width <- range / (cells - 1)
  cell <- round(t / width) + 1
  sums <- numeric(stats::nextn(4 * cells))
  in_cells <- rowsum(rest, cell)
  sums[as.integer(rownames(in_cells))] <- in_cells
  frequency <- (seq_along(sums) - 1) / (length(sums) * width)
  times <- unique(t) # of several groups each is there more than once
  most <- pmax(c(1 / 2, policy$fast_cycles) * length(times), 4) / range
  if (is_time_grid(times)) most[2L] <- 0.5 / stats::median(diff(sort(times)))
  seen <- which(frequency >= 2 / range & frequency <= min(most[2L], 0.5 / width))
  power_seen <- Mod(stats::fft(sums)[seen])^2
  slow <- frequency[seen] <= most[1L]
  peak <- frequency[seen[which.max(ifelse(slow, policy$fast_power, 1) * power_seen)]]
  few <- spread_rows(length(t))[seq_len(min(length(t), PERIOD_ROWS))]
  power <- function(frequency) harmonic_power(frequency, t[few], rest[few])
  step <- 0.25 / range
  stats::optimize(power, c(peak - step, peak + step), maximum = TRUE, tol = 1e-4 * step)$maximum
}

# Returns the number of cells of a grid for times: its own, of which a quarter or more of the steps
# is there, as of irregular dates, or so many that the shortest period that is looked at has eight
# cells, if they are few. Rows in pairs have gaps that are far smaller than a cell.
cells_of_times <- function(t) {
  gaps <- diff(sort(unique(t)))
  rows <- max(length(gaps) + 1L, 8)
  steps <- sum(gaps) / min(gaps)
  if (steps < 2 * policy$fast_cycles * rows &&
      max(from_multiple(gaps, min(gaps))) < policy$equal_steps) {
    return(round(steps) + 1)
  }
  cells <- min(ceiling(sum(gaps) / stats::median(gaps)) + 1, 4 * rows, PERIOD_CELLS)
  max(cells, min(8 * policy$fast_cycles * rows, FAST_CELLS))
}

FAST_CELLS <- 2^17 # most cells of the grid, of fast rhythms

PERIOD_CELLS <- 2^20 # most cells of the grid

PERIOD_ROWS <- 20000L # most rows by which a peak is located

# Returns the sum of squares of y that a sine wave of that frequency explains (Lomb and Scargle).
harmonic_power <- function(frequency, t, y) {
  turn <- 2 * pi * frequency * t
  turn <- turn - atan2(sum(sin(2 * turn)), sum(cos(2 * turn))) / 2 # cosine and sine orthogonal
  explained <- function(wave) if (sum(wave^2) > 1e-6) sum(y * wave)^2 / sum(wave^2) else 0
  explained(cos(turn)) + explained(sin(turn))
}

# Returns periods in the digits that format() of a kernel writes.
in_digits <- function(periods) signif(periods, 7L)

# Returns periods of calendars for times of which most are that far apart: in numbers of rows, days
# in seconds, years of months, quarters or weeks, and weeks, months and years of days, all of which
# are whole numbers however far they are apart.
calendar_periods <- function(x) {
  gaps <- diff(sort(unique(x)))
  step <- stats::median(gaps)
  year <- if (any(abs(1 / step - c(4, 12, 52, 52.18, 365, 365.25)) < 0.3)) 1
  rows <- if (is.null(year)) c(7, 24, 12, 4, 168, 52, 365.25, 48, 336) * step
  clock <- if (step >= 60) c(86400, 604800, 31557600)
  of_days <- abs(min(gaps) - 1) < 1e-6 && step < 60 && max(from_multiple(gaps, 1)) < 1e-6
  days <- if (of_days) c(7, 30.4375, 365.25) else if (step > 25 && step < 32) 365.25
  unique(c(days, year, rows, clock))
}
