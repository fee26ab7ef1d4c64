# The space of a density's points, and its map onto the unit interval, where the order works. A
# space is
#   range   a column of two numbers for each input: where pictures go from and to, and without
#           `scale` the whole space
#   waves   "periodic": f is of sines and cosines, the same at both ends; "level": of cosines that
#           are level there, for a density that may jump
#   end     of half a line its end; `scale` the mean distance of the points from it, below 0 where
#           they are below it: u = 1 - exp(-(x - end) / scale). An interval has no scale, and u
#           is linear
#   base    of a base density its name and parameters: u is its distribution function

density_space <- function(range, support, base, x) {
  if (!is.null(base)) return(base_space(range, support, base, x))
  if (is.null(support)) return(list(range = density_range(range, x), waves = "periodic"))
  refuse_if(!is.null(range), "range", "cannot be combined with `support`",
            "Leave it out: the support already gives the points")
  check_support(support, x)
  open <- is.infinite(support)
  if (!any(open)) return(list(range = density_range(support, x), waves = "level"))
  end <- support[!open]
  scale <- mean(x - end)
  refuse_if(scale == 0, "x", "are all at the end of `support`", "Such points have no density")
  far <- if (scale > 0) max(x) else min(x)
  list(range = density_range(sort(c(end, far + 0.1 * (far - end))), x), waves = "level", end = end,
       scale = scale)
}

base_space <- function(range, support, base, x) {
  refuse_if(!is.null(c(range, support)), "base", "cannot be combined with `range` or `support`",
            "It gives the space of the density by itself")
  refuse_if(ncol(x) > 1L, "base", "is for points of one input",
            "Give a `range` for each of several")
  refuse_if(!is_base(base),
            "base", "must be a list of the name of a distribution and its parameters",
            "list(\"norm\", mean = 3, sd = 1) is one; the names are in ?gp_density")
  refuse_if(!all(base_map(base)$inside(x)), "base", "has no density at some of the points",
            "Change its parameters")
  list(range = density_range(NULL, x), waves = "level", base = base)
}

check_support <- function(support, x) {
  refuse_if(ncol(x) > 1L, "support", "is for points of one input", "Give a `range` for each of two")
  good <- is.numeric(support) && length(support) == 2L && !anyNA(support) &&
    support[1L] < support[2L] && any(is.finite(support))
  refuse_if(!good, "support", "must be two increasing numbers, one of which may be infinite",
            "c(0, Inf) is for times and sizes; leave it out where there is no end")
  refuse_if(any(x < support[1L] | x > support[2L]), "support", "leaves out some points",
            "Widen it, or leave the points out of `x`")
}

# Returns the map of a space: `to` the unit and `from` it, points as rows; `log_slope`, log du/dx at
# every row of x; `inside`, which rows are where the density lives; and its `words`.
space_map <- function(space) {
  if (!is.null(space$base)) return(base_map(space$base))
  if (is.null(space$scale)) interval_map(space$range) else half_line_map(space$end, space$scale)
}

interval_map <- function(range) {
  low <- range[1L, ]
  high <- range[2L, ]
  sides <- apply(range, 2L, function(r) paste0("[", toString(signif(r, 4L)), "]"))
  list(to = function(x) sweep(sweep(x, 2L, low), 2L, high - low, "/"),
       from = function(u) sweep(sweep(u, 2L, high - low, "*"), 2L, low, "+"),
       log_slope = function(x) rep(-log(prod(high - low)), nrow(x)),
       inside = function(x) colSums(t(x) < low | t(x) > high) == 0,
       words = paste("on", paste(sides, collapse = " x ")))
}

half_line_map <- function(end, scale) {
  list(to = function(x) -expm1(-(x - end) / scale),
       from = function(u) end - scale * log1p(-u),
       log_slope = function(x) -(x[, 1L] - end) / scale - log(abs(scale)),
       inside = function(x) (x[, 1L] - end) / scale >= 0,
       words = paste(if (scale > 0) "above" else "below", signif(end, 4L)))
}

# A crowd of points at an end: a tail thins out, so outermost points that lie nearly as close as
# those next to them hint at an end that nothing passes.
CROWD_SHARE <- 0.6
CROWD_ROWS <- 100L # fewer do not tell

crowds_below <- function(x) {
  k <- ceiling(length(x)^(2 / 3) / 2)
  x <- sort(x, partial = c(1L, k + 1L, 2L * k + 1L))
  x[2L * k + 1L] - x[k + 1L] > CROWD_SHARE * (x[k + 1L] - x[1L]) && x[k + 1L] > x[1L]
}

message_about_ends <- function(x) {
  if (length(x) < CROWD_ROWS) return(invisible())
  at <- c(if (crowds_below(x)) min(x), if (crowds_below(-x)) max(x))
  if (length(at) == 0L) return(invisible())
  message("Many points are close to ", paste(format(at, digits = 3L), collapse = " and "),
          ". If values beyond are impossible, give the end, as in\n",
          "gp_density(support = c(0, Inf)): the density may then jump there.")
}

# Returns a matrix with a column for each input: from, to.
density_range <- function(range, x) {
  argument <- if (is.null(range)) "x" else "range"
  if (is.null(range)) {
    range <- apply(x, 2L, function(column) {
      limits <- grDevices::extendrange(column, f = 0.1)
      if (diff(limits) > 0) limits else limits + c(-0.5, 0.5) * max(1, abs(limits))
    })
  } else if (is.numeric(range) && is.null(dim(range)) && ncol(x) == 1L) {
    range <- matrix(range, ncol = 1L)
  }
  good <- is.matrix(range) && is.numeric(range) && identical(dim(range), c(2L, ncol(x))) &&
    (argument == "x" || all(is.finite(range)) && all(range[2L, ] > range[1L, ]))
  refuse_if(!good, "range", "must be two increasing numbers, or a column of them for each input")
  refuse_if(any(t(x) < range[1L, ] | t(x) > range[2L, ]), "range", "leaves out some points",
            "Widen it, or leave the points out of `x`")
  check_volume(range, argument)
  dimnames(range) <- list(c("from", "to"), colnames(x))
  range
}

# Refuses volumes whose densities, in units of 1 / volume, would have no room (1e8) to rise.
check_volume <- function(range, argument) {
  volume <- prod(range[2L, ] - range[1L, ])
  if (is.finite(volume) && volume > 0 && is.finite(1e8 / volume)) return(invisible())
  stop_sparsegp(argument, "is so wide or so narrow that the density there is not finite",
                "Give the points in other units")
}
