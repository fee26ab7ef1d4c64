# The scaling of inputs.

# Returns what a scaling is made of: of every column the largest absolute value and, in units of it,
# mean and standard deviation; the first row, and the number of rows. coded: names of columns that
# are numbers of levels, of which `counts` has how many rows each level has.
input_moments <- function(x, coded = character()) {
  size <- by_column(x, function(column) max(abs(column), 0))
  unit <- ifelse(size > 0, size, 1)
  centre <- by_column(x, function(column, unit) mean(column / unit), unit)
  sd <- by_column(x, function(column, unit, centre) sqrt(mean((column / unit - centre)^2)), unit,
                  centre)
  counts <- lapply(stats::setNames(nm = coded), function(name) {
    tabulate(x[, match(name, without_backticks(colnames(x)))])
  })
  list(n = nrow(x), size = size, centre = centre, sd = sd, first = x[1L, ], names = colnames(x),
       counts = counts)
}

# Joins the moments of two sets of rows. one: NULL if there are no rows before the others
join_moments <- function(one, other) {
  if (is.null(one)) return(other)
  natural <- function(moments) {
    unit <- ifelse(moments$size > 0, moments$size, 1)
    list(n = moments$n, mean = moments$centre * unit, m2 = moments$n * (moments$sd * unit)^2)
  }
  both <- join_means(natural(one), natural(other))
  size <- pmax(one$size, other$size)
  unit <- ifelse(size > 0, size, 1)
  list(n = both$n, size = size, centre = both$mean / unit, sd = sqrt(both$m2 / both$n) / unit,
       first = one$first, names = one$names, counts = Map(add_counts, one$counts, other$counts))
}

add_counts <- function(one, other) {
  levels <- seq_len(max(length(one), length(other)))
  rowSums(cbind(one[levels], other[levels]), na.rm = TRUE)
}

# Counts, means, and sums of squares about the mean of two sets of values together.
join_means <- function(one, other) {
  n <- one$n + other$n
  shift <- other$mean - one$mean
  share <- ifelse(n > 0, other$n / n, 0)
  list(n = n, mean = one$mean + shift * share, m2 = one$m2 + other$m2 + shift^2 * one$n * share)
}

# Returns the values of inputs that are constant, by name.
constant_inputs <- function(x) {
  moments <- input_moments(x)
  stats::setNames(moments$first, moments$names)[!varies(moments)] # one column has no names itself
}

# By more than rounding: the standard deviation is in units of the largest value. Numbers as large
# as 1e15 beside differences of 1 still have one digit of these.
varies <- function(moments) moments$sd > 2e-15

# Returns the scaling of rows that have these moments: the centre of each input and what it is
# divided by, `sd`: its standard deviation, or 1 where scale is FALSE; `kept` leaves out constant
# ones, unless all are, which `alike` says. `seen` is the scale of what the kernel sees. together:
# numbers of inputs that have one scale, the root mean square of theirs; with scale = "common" all
# have. keep_all: constant inputs are kept, with scale 1, as rows that come later may vary. pairs:
# of inputs that are kept if one of the two varies (sphere_pairs()).
#
# factors: names of inputs whose numbers are those of levels. They are not moved. A factor stands
# for an indicator of each level, whose variances sum to V = 1 - sum of squared proportions, so that
# its scale is V^1/2: between two levels is the squared distance 2 / V, in `levels`; 0 for numbers.
scaling_of <- function(moments, scale, together = NULL, keep_all = FALSE, factors = character(),
                       pairs = matrix(0L, 2L, 0L)) {
  size <- moments$size
  kept <- varies(moments)
  by_level <- stats::setNames(without_backticks(moments$names) %in% factors, names(kept))
  natural <- ifelse(kept, moments$sd * size, 1)
  if (any(by_level)) natural[kept & by_level] <- level_scales(moments, kept & by_level)
  numbers <- kept & !by_level
  if (identical(scale, "common") && any(numbers)) natural[numbers] <- root_mean(natural[numbers])
  else natural[together] <- root_mean(natural[together])
  for (k in seq_len(ncol(pairs))) kept[pairs[, k]] <- any(kept[pairs[, k]])
  alike <- !any(kept) && !keep_all
  if (alike || keep_all) kept[] <- TRUE # one row, or copies of one, tell nothing of the inputs
  divisor <- if (isFALSE(scale)) rep(1, length(natural)) else natural
  moved <- !isFALSE(scale) & !by_level
  list(
    kept = kept, alike = alike, scale = !isFALSE(scale), dropped = moments$names[!kept],
    names = moments$names, constant = moments$first[!kept],
    centre = ifelse(moved, moments$centre * size, 0)[kept],
    sd = ifelse(by_level, 1, divisor)[kept], seen = (natural / divisor)[kept],
    levels = unname(ifelse(by_level, 2 / divisor^2, 0)[kept])
  )
}

# Returns moments (input_moments()) in which those of warped inputs are of the warped ones.
warped_moments <- function(moments, x, warp) {
  at <- which(warp$side != 0)
  if (length(at) == 0L) return(moments)
  of_warped <- input_moments(warp_inputs(x, warp)[, at, drop = FALSE])
  for (field in c("size", "centre", "sd")) moments[[field]][at] <- of_warped[[field]]
  moments
}

# In units of a power of two, so that squares are finite and nothing is rounded.
root_mean <- function(x) {
  unit <- 2^floor(log2(max(x, 0)))
  unit * sqrt(mean((x / unit)^2))
}

# Returns V^1/2 of some factors.
level_scales <- function(moments, which) {
  vapply(moments$counts[without_backticks(moments$names[which])], function(count) {
    sqrt(1 - sum((count / sum(count))^2))
  }, 0)
}

# Could inputs have one unit, and is one scale for all something else than one for each?
# Among those of one unit some may hardly vary, as pixels near the edge do. Of an even number the
# median is the lower of the middle two: two inputs have to be alike.
can_share_scale <- function(scaling) {
  sd <- scaling$sd[scaling$levels == 0]
  if (length(sd) < 2L) return(FALSE)
  max(sd) > 1.05 * min(sd) && max(sd) < policy$same_unit_ratio * lower_median(sd)
}

lower_median <- function(x) sort(x)[ceiling(length(x) / 2)]

# fun(column, ...) of every column, further arguments one for each: no copy of all of x.
by_column <- function(x, fun, ...) {
  each <- mapply(function(j, ...) fun(x[, j], ...), seq_len(ncol(x)), ...)
  stats::setNames(as.double(each), colnames(x))
}

scaled_inputs <- function(x, scaling) {
  if (!all(scaling$kept)) x <- x[, scaling$kept, drop = FALSE]
  moved <- any(scaling$centre != 0, scaling$sd != 1, scaling$warp$side)
  if (moved || !is.null(scaling$sphere)) x <- scale_kept(x, scaling)
  attr(x, "contrasts") <- NULL
  x
}

# One of the kept inputs
scaled_input <- function(x, scaling, input) {
  column <- warp_column(x[, which(scaling$kept)[input]], scaling$warp, input)
  (column - scaling$centre[input]) / scaling$sd[input]
}

# Kept inputs to C's units and back.
scale_kept <- function(x, scaling) {
  given <- x
  if (!is.null(scaling$warp)) x <- warp_inputs(x, scaling$warp)
  each_row <- function(values) rep.int(values, rep.int(nrow(x), ncol(x)))
  x <- (x - each_row(scaling$centre)) / each_row(scaling$sd) # faster than t(), loops and sweep()
  if (is.null(scaling$sphere)) x else beside_sphere(x, given, scaling$sphere)
}

unscale_kept <- function(x, scaling) {
  if (!is.null(scaling$sphere)) x <- x[, seq_along(scaling$sd), drop = FALSE]
  x <- sweep(sweep(x, 2L, scaling$sd, "*"), 2L, scaling$centre, "+")
  unwarp_inputs(x, scaling$warp)
}
