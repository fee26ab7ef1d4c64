# Axes of dates and times, which are numbers to a kernel: days, or seconds, since 1970. And the step
# of a series along time, in which forecasts are counted.

# numbers: on an axis whose variable had no rows but this class and time zone.
on_clock <- function(clock, numbers) {
  attributes(numbers) <- attributes(clock)
  numbers
}

# Returns ticks inside the limits, list(at, labels, again); again: the same function of other
# limits, for panels that find their limits themselves.
clock_ticks <- function(clock, limits) {
  at <- pretty(on_clock(clock, sort(limits)), 5L)
  labels <- attr(at, "labels")
  if (is.null(labels)) labels <- format(at)
  at <- as.double(at)
  inside <- at >= min(limits) & at <= max(limits)
  list(at = at[inside], labels = labels[inside], again = function(limits) {
    clock_ticks(clock, limits)
  })
}

# Returns ticks of the axis of an input, or NULL where numbers will do.
input_ticks <- function(object, input, limits) {
  clock <- object$clocks[[input]]
  if (!is.null(clock)) clock_ticks(clock, limits)
}

# ---- The step of a series ----

MOST_UNEVEN <- 0.2 # of a series' gaps are no multiple of its step, or it has none

# Returns the step in which a series goes on, list(size, months, words, even): its size in units of
# time, how many calendar months it is (0: it is not counted in these), what it is called, and
# whether it is that of the times. A series with gaps has a step, too; one whose times are uneven
# goes on in units of its input. clock: NULL for numbers.
series_step <- function(clock, time) {
  time <- sort(unique(time))
  if (length(time) < 3L) return(unit_step(clock))
  months <- calendar_months(clock, time)
  if (months > 0) return(month_step(clock, months))
  size <- stats::median(diff(time))
  turns <- diff(time) / size
  even <- abs(turns - round(turns)) < 0.02 & turns > 0.5
  if (mean(!even) > MOST_UNEVEN) return(unit_step(clock))
  list(size = size, months = 0, words = step_words(clock, size), even = TRUE)
}

unit_step <- function(clock) {
  list(size = 1, months = 0, words = step_words(clock, 1), even = FALSE)
}

MEAN_MONTH <- 365.2425 / 12 # in days

month_step <- function(clock, months) {
  day <- if (inherits(clock, "Date")) 1 else SECONDS[["days"]]
  words <- c("1" = "months", "3" = "quarters", "12" = "years")[as.character(months)]
  list(size = months * MEAN_MONTH * day, months = months, even = TRUE,
       words = if (is.na(words)) paste("steps of", months, "months") else unname(words))
}

# Returns the whole number of calendar months that most neighbours of a series are apart, or 0: of
# each month there is at most one time, on about the same day of it.
calendar_months <- function(clock, time) {
  if (is.null(clock)) return(0)
  parts <- as.POSIXlt(on_clock(clock, time))
  gaps <- diff(12 * parts$year + parts$mon)
  if (any(gaps < 1) || diff(range(parts$mday)) > 3) return(0)
  stats::median(gaps)
}

# Returns what steps of this size are called.
step_words <- function(clock, size) {
  if (is.null(clock)) return("steps")
  if (inherits(clock, "Date")) size <- size * SECONDS[["days"]]
  names <- c(secs = "seconds", mins = "minutes", hours = "hours", days = "days", weeks = "weeks")
  named <- abs(SECONDS / size - 1) < 1e-6
  if (any(named)) return(unname(names[names(SECONDS)[named]]))
  unit <- max(which(SECONDS <= max(size, 1)))
  paste("steps of", format(size / SECONDS[[unit]], digits = 3L), names[names(SECONDS)[unit]])
}

# Returns the time so many steps after another; parts of a month have its mean length.
steps_after <- function(step, clock, last, count) {
  months <- step$months * count
  if (months == 0 || months != round(months)) return(last + count * step$size)
  parts <- as.POSIXlt(on_clock(clock, last))
  parts$mon <- parts$mon + months
  as.double(if (inherits(clock, "Date")) as.Date(parts) else as.POSIXct(parts))
}

# Returns the times of a series with those that its step has between and after them, up to `end`.
times_by_step <- function(step, clock, time, end) {
  time <- sort(unique(time))
  before <- c(time[-1L] - step$size / 2, end + step$size / 100)
  more <- lapply(which(before - time > step$size), function(k) {
    count <- seq_len(ceiling((before[k] - time[k]) / step$size))
    at <- vapply(count, function(steps) steps_after(step, clock, time[k], steps), 0)
    at[at < before[k]]
  })
  sort(c(time, unlist(more)))
}
