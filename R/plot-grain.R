# How finely a curve is computed: so that each of its seasons, and each bend that its kernel allows,
# has enough points to be drawn as a curve.

FEWEST_NODES <- 201L # of a curve

MOST_NODES <- 2001L

NODES_PER_PERIOD <- 24

NODES_PER_LENGTH <- 8 # of the shortest length scale

# Variances at k places from m inducing points take about k m^2 operations: no more than this, or a
# picture of many rows takes longer than its fit.
MOST_NODE_OPERATIONS <- 4e9

# Returns function(limits) -> how many points a curve along an input has between these limits.
nodes_along <- function(object, name, side) {
  grain <- grain_along(object, name, side)
  size <- max(1, NROW(basis_points_of(object)))
  most <- min(MOST_NODES, max(FEWEST_NODES, floor(MOST_NODE_OPERATIONS / size^2)))
  function(limits) {
    as.integer(min(most, max(FEWEST_NODES, ceiling(abs(diff(limits)) / grain) + 1)))
  }
}

# Returns the distance between nodes that the kernel asks for along an input, Inf if it asks for
# none; along a log scale (side, see data-warp.R) distances differ from place to place.
grain_along <- function(object, name, side) {
  column <- match(name, plain_names(object)[object$scaling$kept])
  if (side != 0 || is.na(column)) return(Inf)
  periods <- periods_along(object, column)
  lengths <- if (sum(object$scaling$kept) == 1L) lengths_in_input(object$hyper)
  min(periods / NODES_PER_PERIOD, lengths / NODES_PER_LENGTH, Inf)
}

# Returns the times at which curves along a series are computed, or NULL, which leaves them to the
# axis. A season of an even series whose length scale is shorter than a step is known at the steps
# alone: between them it returns to its mean.
series_nodes <- function(object, view, time, end) {
  seasons <- seasons_along(object, view)
  if (length(seasons) == 0L) return(NULL)
  clock <- object$clocks[[view$axes]]
  step <- series_step(clock, time)
  few <- (end - min(time)) / step$size < MOST_NODES
  if (step$even && few && season_lengthscale(object, seasons) < step$size) {
    times_by_step(step, clock, time, end)
  }
}

# Returns the shortest length scale of these seasons in units of their input: for small distances d
# exp(-2 sin(pi d / p)^2 / l^2) is next to exp(-(2 pi d / p l)^2 / 2).
season_lengthscale <- function(object, periods) {
  table <- object$hyper
  scales <- match(sub("period", "lengthscale", table$name[periods]), table$name)
  values <- hyper_value(table)
  min(values[periods] * values[scales] / (2 * pi), Inf, na.rm = TRUE)
}

# Returns the longest period of a fit along the axis of a view; 0: there is none.
season_along <- function(object, view) {
  max(hyper_value(object$hyper)[seasons_along(object, view)], 0)
}

# Returns the rows of the periods along the axis of a view in the table of hyperparameters.
seasons_along <- function(object, view) {
  period_rows(object, match(view$axes, plain_names(object)[object$scaling$kept]))
}

# Returns the periods of the kernel's parts that see a kept input, in units of that input.
periods_along <- function(object, column) hyper_value(object$hyper[period_rows(object, column), ])

# Returns their rows in the table of hyperparameters.
period_rows <- function(object, column) {
  periodic <- vapply(kernel_leaves(object$kernel), function(leaf) "period" %in% names(leaf$params),
                     NA)
  rows <- which(object$hyper$base == "period")
  leaves <- kernel_leaves(own_spec(object))[periodic]
  sees <- vapply(leaves, function(leaf) (column - 1L) %in% leaf$vars, NA)
  if (length(sees) == length(rows)) rows[sees] else if (any(sees)) rows
}

# Returns the length scales in units of their input; those that are pure numbers are left out.
lengths_in_input <- function(table) {
  table <- table[table$base == "lengthscale" & !is.na(table$input_sd), ]
  hyper_value(table) * table$input_sd
}
