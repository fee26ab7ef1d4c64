# Skewed inputs on a logarithmic scale. A warp is a monotone map of all real numbers,
#
#   z = side * g(d),  d = side * (x - origin) / unit,  g(d) = log(1 + d) for d >= 0, -g(-d) below
#
# of slope 1 / unit at the origin. An input below all that were seen stays finite, and is as near to
# these as one that is as far above the least of them: by a line it would be far from all, as the
# unit may be small. Of an input skewed to the right side is 1 and the origin the smallest value, of
# one skewed to the left -1 and the largest. The warps of several inputs are plain data, list(side,
# origin, unit) with a number for each of them; side 0: left as it is.

# Returns the warps that the columns of x call for: of those that are skewed, vary in more than a
# few values, and are not among the columns `alone`. NULL: none does.
warps_of <- function(x, alone = integer()) {
  each <- lapply(seq_len(ncol(x)), function(j) {
    if (j %in% alone) NO_WARP else warp_of(as.double(x[, j]))
  })
  warp <- lapply(stats::setNames(nm = names(NO_WARP)), function(field) {
    vapply(each, `[[`, 0, field)
  })
  if (any(warp$side != 0)) warp
}

NO_WARP <- list(side = 0, origin = 0, unit = 1)

warp_of <- function(column) {
  size <- max(abs(column))
  if (!(size > 0)) return(NO_WARP)
  skewness <- skewness_of(column / size)
  few <- length(unique(column)) < policy$skewed_values && !widen(column)
  if (few || abs(skewness) < policy$skewed_inputs) return(NO_WARP)
  side <- sign(skewness)
  origin <- if (side > 0) min(column) else max(column)
  list(side = side, origin = origin, unit = warp_unit(abs(column / size - origin / size)) * size)
}

# Do the gaps between few values widen, as those between tenfold doses?
widen <- function(column) {
  gaps <- diff(sort(unique(column)))
  length(gaps) >= policy$widening_values - 1L && max(gaps) >= policy$widening_gaps * min(gaps)
}

skewness_of <- function(values) {
  centred <- values - mean(values)
  spread <- sqrt(mean(centred^2))
  if (spread > 1e-10) mean((centred / spread)^3) else 0
}

UNITS <- 8 # powers of e to either side of the median within which the unit is looked for

# Returns the unit for which log(1 + distance / unit) is most like a normal sample, by maximum
# likelihood. Its limits are the identity and the logarithm.
warp_unit <- function(distance) {
  log_likelihood <- function(log_unit) {
    z <- log1p(distance / exp(log_unit))
    -0.5 * log(mean((z - mean(z))^2)) - mean(z) - log_unit
  }
  usual <- stats::median(distance[distance > 0]) # not moved by one huge value
  middle <- log(usual)
  least <- max(middle - UNITS, least_log_unit(distance[distance > ROUNDED * usual], middle))
  exp(stats::optimize(log_likelihood, c(least, middle + UNITS), maximum = TRUE)$maximum)
}

# Returns the logarithm of the least unit for values at these distances from the origin. It is at
# least half the distance to the next value: where the origin is replicated, as controls of dose 0
# are, a tiny unit would put them infinitely far from every other dose. And it is so large that a
# few values close to the origin, as traces of a dose are, are not as far from all others as these
# are from each other: no gap between values of the lower half is more than WIDEST_GAP of the range.
least_log_unit <- function(distance, middle) {
  values <- sort(unique(distance))
  lower <- utils::head(values, length(values) %/% 2L + 1L)
  widest <- max(WIDEST_GAP, 1.5 / length(values)) # few have wider gaps where all are equal
  excess <- function(log_unit) {
    unit <- exp(log_unit)
    max(diff(log(lower + unit)), 0) - widest * log1p(max(values) / unit)
  }
  least <- log(values[1L] / 2)
  if (least >= middle || excess(least) <= 0) return(least)
  if (excess(middle) >= 0) return(middle)
  stats::uniroot(excess, c(least, middle), tol = 0.01)$root
}

WIDEST_GAP <- 1 / 4

ROUNDED <- 1e-9 # of the usual distance: what rounding makes of none

# Returns the columns of x as the warps have them. NULL: as they are.
warp_inputs <- function(x, warp) {
  for (j in which(warp$side != 0)) x[, j] <- warp_column(x[, j], warp, j)
  x
}

# One column, the j-th of the warps'
warp_column <- function(column, warp, j) {
  side <- warp$side[j]
  if (is.null(warp) || side == 0) return(column)
  d <- side * (column - warp$origin[j]) / warp$unit[j]
  d <- pmin(pmax(d, -FARTHEST), FARTHEST)
  side * sign(d) * log1p(abs(d))
}

FARTHEST <- 1e290 # units from the origin: what is beyond is there, so that no number overflows

# The way back
unwarp_inputs <- function(x, warp) {
  for (j in which(warp$side != 0)) {
    z <- warp$side[j] * x[, j]
    x[, j] <- warp$origin[j] + warp$side[j] * warp$unit[j] * sign(z) * expm1(abs(z))
  }
  x
}

# Returns the slopes of the warps at the columns of x, inputs as they were before.
warp_derivatives <- function(x, warp) {
  out <- array(1, dim(x))
  for (j in which(warp$side != 0)) {
    d <- warp$side[j] * (x[, j] - warp$origin[j]) / warp$unit[j]
    out[, j] <- 1 / (warp$unit[j] * (1 + abs(d)))
  }
  out
}

# Returns the slope of each warp at the median of its input, 1 of those that are left alone.
warp_slopes <- function(x, warp) {
  slopes <- rep(1, ncol(x))
  for (j in which(warp$side != 0)) {
    d <- warp$side[j] * (stats::median(x[, j]) - warp$origin[j]) / warp$unit[j]
    slopes[j] <- 1 / (warp$unit[j] * (1 + abs(d)))
  }
  slopes
}

# Returns the warps of some of the inputs, NULL where these are left alone.
some_warps <- function(warp, inputs) {
  warp <- lapply(warp, `[`, inputs)
  if (any(warp$side != 0)) warp
}
