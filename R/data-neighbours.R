# How far apart rows lie, and how alike neighbouring rows are: what a function that varies fast can
# be seen by. In many dimensions no row has near neighbours, so both are for few inputs.

PROBES <- 1000L # most rows whose neighbours are looked for

PROBE_DISTANCES <- 1e7 # most distances that are computed for it

# Returns the typical distance from a row to the nearest other one, Inf where there is none or
# inputs are many: a length scale below it cannot be told from noise. x: a matrix of scaled inputs
spacing_of_rows <- function(x) {
  inputs <- ncol(x)
  if (inputs == 0L || inputs > policy$neighbour_inputs) return(Inf)
  if (inputs == 1L) return(median_or_inf(diff(sort(unique(x[, 1L])))))
  x <- distinct_rows(x)
  few <- utils::head(spread_rows(nrow(x)), SPACED_ROWS)
  probes <- utils::head(few, SPACED_ROWS / 50)
  nearest <- vapply(probes, function(row) min(Inf, distances_from(x, row, few)), 0)
  median_or_inf(nearest) * (length(few) / nrow(x))^(1 / inputs)
}

# Are these the times of a series: each once, at multiples of one step, by which most follow the one
# before? There may be long gaps. Steps are equal, or differ as those of calendars and of rounded
# times do: by multiples of a unit, of which they are multiples, too. Sequences that fill an
# interval evenly have steps of two lengths as well, which have no unit in common.
is_time_grid <- function(x) {
  gaps <- diff(sort(x))
  if (length(gaps) == 0L || min(gaps) == 0) return(FALSE)
  follow <- gaps < 1.5 * min(gaps)
  step <- stats::median(gaps[follow])
  if (mean(follow) <= 1 / 2 || max(from_multiple(gaps, step) * step / gaps) > policy$uneven_steps) {
    return(FALSE)
  }
  differ <- abs(gaps[follow] - step)
  unequal <- differ > policy$equal_steps * step
  unit <- if (any(unequal)) min(differ[unequal]) else step
  max(from_multiple(gaps, unit)) < policy$equal_steps
}

# Returns how far numbers are from a multiple of a unit, in units.
from_multiple <- function(x, unit) abs(x / unit - round(x / unit))

# Returns the step of the times of a series, 0 of other numbers: a process whose length scale is
# shorter is noise in these rows, and between them anything.
step_of_grid <- function(x) if (is_time_grid(x)) min(diff(sort(x))) else 0

# Returns the rows of a matrix of numbers, the first of equal ones. unique() makes a string of each.
distinct_rows <- function(x) {
  order <- do.call(order, lapply(seq_len(ncol(x)), function(j) x[, j]))
  sorted <- x[order, , drop = FALSE]
  same <- rowSums(sorted[-1L, , drop = FALSE] != sorted[-nrow(x), , drop = FALSE]) == 0
  if (any(same)) x[-order[which(same) + 1L], , drop = FALSE] else x
}

SPACED_ROWS <- 5000L # among which neighbours are looked for; of more rows the distance follows

median_or_inf <- function(values) if (length(values)) stats::median(values) else Inf

# Returns the distances from a row to those of `others`, to itself Inf.
distances_from <- function(x, row, others) {
  squares <- 0
  for (j in seq_len(ncol(x))) squares <- squares + (x[others, j] - x[row, j])^2
  replace(sqrt(squares), others == row, Inf)
}

# Returns all rows, those of a few windows first, each of neighbouring rows, where a sample of
# `count` rows that is spread evenly would miss a function that varies fast: where neighbours in
# such a sample are far less alike than neighbours among all rows. Windows are of as few of the
# rows as show the function. NULL where the sample serves.
# values: the response, of which the ranks count, so that no outlier decides
window_order <- function(x, values, count) {
  n <- nrow(x)
  if (n <= count) return(NULL)
  order <- spread_rows(n)
  sizes <- unique(pmin(n, count * 2^seq(0, ceiling(log2(n / count)))))
  unlike <- unlikeness(x, rank(values), order, sizes)
  at_best <- unlike[length(unlike)]
  explained <- 1 - at_best
  if (explained < policy$least_likeness) return(NULL)
  lost <- (unlike - at_best) / explained
  if (lost[1L] < policy$lost_likeness) return(NULL)
  seen <- order[seq_len(sizes[which(lost < policy$lost_likeness / 2)[1L]])]
  windows <- vapply(order[seq_len(policy$pilot_windows)], function(centre) {
    base::order(base::order(replace(distances_from(x, centre, seen), seen == centre, 0)))
  }, seen)
  c(seen[base::order(apply(windows, 1L, min))], setdiff(order, seen))
}

# Returns the semivariance of a row and its nearest neighbour among the first `sizes` of `order`, in
# units of the variance of all: 0 where neighbours are alike, 1 where they are like any two rows.
unlikeness <- function(x, values, order, sizes) {
  probes <- utils::head(order, min(PROBES, max(PROBES / 10, PROBE_DISTANCES / nrow(x))))
  block <- rep(seq_along(sizes), diff(c(0, sizes)))
  squares <- vapply(probes, function(row) {
    distance <- distances_from(x, row, order)
    first <- vapply(split(seq_along(order), block), function(at) at[which.min(distance[at])], 0L)
    nearest <- first[vapply(seq_along(first), function(k) which.min(distance[first[1:k]]), 0L)]
    (values[order[nearest]] - values[row])^2 / 2
  }, numeric(length(sizes)))
  rowMeans(rbind(squares)) / stats::var(values)
}
