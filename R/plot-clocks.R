# Axes of dates and times, which are numbers to a kernel: days, or seconds, since 1970.

# numbers: on an axis whose variable had no rows but this class and time zone.
on_clock <- function(clock, numbers) {
  attributes(numbers) <- attributes(clock)
  numbers
}

# Ticks inside the limits: list(at, labels).
clock_ticks <- function(clock, limits) {
  at <- pretty(on_clock(clock, sort(limits)), 5L)
  labels <- attr(at, "labels")
  if (is.null(labels)) labels <- format(at)
  at <- as.double(at)
  inside <- at >= min(limits) & at <= max(limits)
  list(at = at[inside], labels = labels[inside])
}

# Ticks of the axis of an input, or NULL where numbers will do.
input_ticks <- function(object, input, limits) {
  clock <- object$clocks[[input]]
  if (!is.null(clock)) clock_ticks(clock, limits)
}
