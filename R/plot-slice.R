# A slice through the inputs: which of them are axes, and where the others stay. A view is
#   axis      list of one or two axes (plot-axes.R); axes: their names
#   by        a factor, each level of which has a slice of its own; or NULL
#   over      a matrix of kept inputs: one row, of typical values, or rows over which to average
#   nested    factors that are held at another level for some levels of an axis or of `by`, see
#             nested_factors()
#   derived   function(x) -> column, for each column that follows from others (plot-derived.R)
#   held      are there inputs besides axes and `by`?   caption: which, in words
#   offset    where the offset stays

slice_view <- function(object, rows, which, by = NULL) {
  derived <- derived_columns(object, rows$x)
  axes <- with_valued_axes(data_axes(object, rows, names(derived)), rows, by)
  free <- if (all(names(axes) %in% by)) axes else axes[setdiff(names(axes), by)]
  shown <- if (is.null(which)) axes[default_axes(object, free, rows, derived)]
           else asked_axes(object, which, axes)
  split <- split_axes(shown, by_axis(object, axes, shown, which, by))
  if (panel_of(object)$by == "none" && is.null(which) && is.null(by)) split$by <- NULL
  view <- list(axis = split$axis, axes = names(split$axis), by = split$by)
  columns <- unlist(lapply(c(split$axis, list(split$by)), `[[`, "columns"))
  view$derived <- derived[setdiff(names(derived), columns)]
  own <- vapply(axes, function(axis) all(axis$columns %in% split$by$columns), NA)
  others <- axes[setdiff(names(axes)[!own], view$axes)]
  resting <- resting_places(others, rows, columns)
  view$nested <- nested_factors(c(view$axis, list(view$by)), others, resting, rows)
  resting <- with_nested_words(resting, view$nested)
  view$over <- rbind(typical_columns(rows, resting))
  view$held <- length(resting) > 0L
  view$offset <- if (is.matrix(rows$offset)) apply(rows$offset, 2L, stats::median)
                 else stats::median(rows$offset)
  view$caption <- paste(c(held_words(resting), if (any(rows$offset != 0)) "offset at its median"),
                        collapse = ", ")
  view
}

# Two factors, or a number and a factor: the number, or the factor of more levels, is the axis.
split_axes <- function(shown, by) {
  if (length(shown) == 1L || !is.null(by)) return(list(axis = shown, by = by))
  levels <- count_levels(shown)
  if (all(levels == 0L)) return(list(axis = shown, by = NULL))
  along <- if (any(levels == 0L)) which(levels == 0L) else which.max(levels)
  list(axis = shown[along], by = shown[[setdiff(1:2, along)]])
}

# ---- Its axes by default ----

# With at most two free numeric inputs these; else the two along which the function moves most.
# Returns the inputs to draw: of factors alone, the first two of which all levels can be shown.
default_axes <- function(object, axes, rows, derived) {
  numeric <- names(axes)[count_levels(axes) == 0L]
  if (length(numeric) == 0L) return(factors_to_draw(axes))
  if (length(numeric) <= 2L) return(numeric)
  moved <- movement_along(object, axes[numeric], rows, derived)
  numeric[numeric %in% numeric[utils::head(order(-moved), 2L)]]
}

# Predictions by which inputs are ranked
RANKING_ROWS <- 2000L

# Returns how much the latent functions vary along each axis, the others being those of some rows.
movement_along <- function(object, axes, rows, derived) {
  places <- lapply(axes, function(axis) {
    unique(typical_places(axis, axis$places(rows$x, rows$raw)))
  })
  count <- max(2L, min(40L, RANKING_ROWS %/% sum(lengths(places))))
  some <- unique(round(seq(1, nrow(rows$x), length.out = count)))
  over <- rows$x[some, , drop = FALSE]
  vapply(names(axes), function(name) {
    view <- list(axis = axes[name], over = over,
                 derived = derived[setdiff(names(derived), axes[[name]]$columns)], offset = 0)
    mean <- slice_latent(object, view, places[name])$mean
    mean <- array(mean, c(length(mean) / length(some) / length(places[[name]]), length(some),
                          length(places[[name]])))
    sum(apply(mean, c(1L, 2L), stats::var), na.rm = TRUE)
  }, 0)
}

MOST_LEVELS_DRAWN <- 50L

factors_to_draw <- function(axes) {
  levels <- count_levels(axes)
  few <- names(axes)[levels <= MOST_LEVELS_DRAWN]
  if (length(few)) utils::head(few, 2L) else names(axes)[which.min(levels)]
}

# ---- The levels of a factor, and where others stay ----

# The factor whose levels are apart: the one asked for, or the combinations of several; else, where
# nothing was, the only one.
by_axis <- function(object, axes, shown, which, by) {
  factors <- axes[count_levels(axes) > 0L]
  if (is.null(by)) {
    alone <- is.null(which) && length(shown) == 1L && length(factors) == 1L &&
      length(setdiff(names(axes), names(shown))) == 1L &&
      panel_of(object)$by == "curves"
    if (!alone || length(factors[[1L]]$levels) > MANY) return(NULL)
    return(factors[[1L]])
  }
  free <- setdiff(names(factors), names(shown))
  refuse_if(!is.character(by) || !length(by) || anyDuplicated(by) || !all(by %in% free), "by",
            paste0("must name one or more factors, or numbers of at most ", MANY,
                   " values, beside those along the axes"),
            if (length(factors)) paste("Factors:", toString(names(factors)))
            else "This fit has no factors: cut() makes a factor of a number")
  Reduce(crossed_axis, factors[by])
}

# Makes factors of the numbers that `by` names, if they have few values, such as 0 and 1.
with_valued_axes <- function(axes, rows, by) {
  for (name in intersect(by, names(axes)[count_levels(axes) == 0L])) {
    values <- sort(unique(axes[[name]]$places(rows$x, rows$raw)))
    if (length(values) %in% 2:MANY) axes[[name]] <- valued_axis(axes[[name]], values)
  }
  axes
}

# Returns where the others stay.
resting_places <- function(others, rows, columns) {
  lapply(others, function(axis) {
    resting_place(axis, axis$places(rows$x, rows$raw), columns, rows$y)
  })
}

# Returns the factors among `others` that cannot be held at one level, as some level of a factor
# that is shown does not occur with it: for each a list of the factor, the name of that `within`
# which it is nested, its most common level in each level of that, and whether there are others.
nested_factors <- function(shown, others, resting, rows) {
  within <- Filter(function(axis) length(axis$levels) > 0L, shown)
  found <- list()
  for (axis in within) {
    for (name in names(others)[count_levels(others) > 0L]) {
      held <- others[[name]]
      if (identical(resting[[name]]$words, "")) next # one of its columns is shown
      of_rows <- factor(axis$places(rows$x, rows$raw), seq_along(axis$levels))
      places <- held$places(rows$x, rows$raw)
      counts <- table(of_rows, factor(places, seq_along(held$levels)))
      at <- common_level(places, length(held$levels), rows$y)
      keep <- counts[, at] > 0 | rowSums(counts) == 0
      if (all(keep)) next
      own <- vapply(levels(of_rows), function(level) {
        own <- which(of_rows == level)
        if (length(own) == 0L) return(at)
        common_level(places[own], length(held$levels), some_rows(rows$y, own), first = FALSE)
      }, 1L)
      found[[length(found) + 1L]] <- list(held = held, within = axis$name,
                                          level = ifelse(keep, at, own),
                                          several = any(rowSums(counts > 0) > 1))
    }
  }
  found
}

with_nested_words <- function(resting, nested) {
  for (one in nested) {
    words <- if (one$several) "at a typical level of each" else "as in each"
    resting[[one$held$name]]$words <- paste(words, one$within)
  }
  resting
}

# Puts factors that are nested within `axis` at their level for each row, at the numbers `level`.
with_nested <- function(x, view, axis, level) {
  for (one in view$nested) {
    if (one$within == axis$name) x[, one$held$columns] <- one$held$code(one$level[level])
  }
  x
}

typical_columns <- function(rows, resting) {
  typical <- apply(rows$x, 2L, stats::median)
  for (place in resting) typical[colnames(place$code)] <- place$code
  typical
}

held_words <- function(resting) {
  if (length(resting) == 0L) return(NULL)
  level <- lapply(resting, `[[`, "words")
  numbers <- names(resting)[vapply(level, is.null, NA)]
  factors <- Filter(function(words) !is.null(words) && nzchar(words), level)
  c(median_words(numbers), paste(names(factors), unlist(factors), recycle0 = TRUE))
}

median_words <- function(held) {
  if (length(held) == 0L) return(NULL)
  if (length(held) == 1L) return(paste(held, "at its median"))
  if (length(held) > 4L) held <- paste(length(held), "other inputs")
  paste(toString(held), "at their medians")
}

# ---- At the slice ----

# Kept inputs where the axes are at `places`, a list or matrix with a column for each axis, and `by`
# at its levels of the numbers `level`: for each place as many rows in turn as `over` has.
slice_inputs <- function(view, places, level = NULL) {
  places <- as.list(as.data.frame(places))
  count <- nrow(view$over)
  x <- view$over[rep(seq_len(count), length(places[[1L]])), , drop = FALSE]
  rownames(x) <- NULL
  for (i in seq_along(places)) {
    at <- rep(places[[i]], each = count)
    x[, view$axis[[i]]$columns] <- view$axis[[i]]$code(at)
    x <- with_nested(x, view, view$axis[[i]], at)
  }
  if (!is.null(view$by)) {
    level <- rep_len(level, nrow(x))
    x[, view$by$columns] <- view$by$code(level)
    x <- with_nested(x, view, view$by, level)
  }
  for (name in names(view$derived)) x[, name] <- view$derived[[name]](x)
  x
}

# Latent moments in C's units there.
slice_latent <- function(object, view, places, level = NULL) {
  latent_at(object, slice_inputs(view, places, level), view$offset)
}

# x: kept inputs in original units
latent_at <- function(object, x, offset) {
  points <- stack_components(scale_kept(x, object$scaling), n_outputs(object))
  c(engine_predict(object, points), list(offset = offset_of_rows(object, offset, nrow(x))))
}

# Returns the offset of n rows from that of each or of all: of several components a matrix.
offset_of_rows <- function(object, offset, n) UseMethod("offset_of_rows", codec_of(object))

#' @export
offset_of_rows.response <- function(object, offset, n) rep_len(offset, n)

#' @export
offset_of_rows.response_components <- function(object, offset, n) {
  if (is.matrix(offset)) offset else matrix(offset, n, n_outputs(object), byrow = TRUE)
}

# ---- Rows beside a slice they do not lie on ----

# The rows that are drawn: places on each axis, level of `by`, response, and how near they
# are to the slice, from 0 to 1. Numbers and counts are moved onto it: to the slice's mean belongs
# what is left of a number beside its own, and of a count its ratio to its own (partial residuals).
# Others stay unchanged.
rows_beside <- function(object, rows, view) {
  at <- lapply(view$axis, function(axis) axis$places(rows$x, rows$raw))
  level <- if (!is.null(view$by)) view$by$places(rows$x, rows$raw)
  shown <- list(at = at, level = level, y = rows$y, weights = rows$weights, near = 1,
                moved = FALSE, censored = rows$censored)
  shown$basis <- if (!is.null(rows$basis)) lapply(view$axis, function(axis) {
    axis$places(rows$basis, function(name) NULL)
  })
  moved <- rows$offset != rep(view$offset, each = nrow(rows$x))
  if (!view$held && !any(moved)) return(shown)
  on_slice <- slice_inputs(view, at, level)
  move <- partial_residual(object)
  shown$moved <- !is.null(move)
  if (!shown$moved) {
    shown$near <- nearness(object, rows$x, on_slice)
    return(shown)
  }
  own <- point_answer(object, latent_at(object, rows$x, rows$offset), drawn_type(object))
  there <- point_answer(object, latent_at(object, on_slice, view$offset), drawn_type(object))
  shown$y <- move(rows$y, own, there)
  shown
}

# Returns the type of prediction that a curve is of: of times the median, as censored ones have no
# mean near them.
drawn_type <- function(object) UseMethod("drawn_type", codec_of(object))

#' @export
drawn_type.response <- function(object) "response"

#' @export
drawn_type.response_times <- function(object) "median"

# Returns function(y, own, there) that moves responses from their own mean to the one there, or NULL
# where the response has no values in between.
partial_residual <- function(object) UseMethod("partial_residual", codec_of(object))

#' @export
partial_residual.response <- function(object) NULL

#' @export
partial_residual.response_numbers <- function(object) function(y, own, there) y - own + there

# Moves responses by as much as the mean, on the fitted scale.
#' @export
partial_residual.response_transformed <- function(object) {
  codec <- codec_of(object)
  codes <- function(y) codec$codes(y, object$response)
  function(y, own, there) codec$back(codes(y) - codes(own) + codes(there), object$response)
}

#' @export
partial_residual.response_counts <- function(object) function(y, own, there) y * there / own

#' @export
partial_residual.response_trials <- partial_residual.response

#' @export
partial_residual.response_seen <- partial_residual.response

# A proportion that is moved by a ratio may leave its range.
#' @export
partial_residual.response_proportions <- partial_residual.response

# Prior correlation of the latent function at each row of x and of z.
nearness <- function(object, x, z) {
  own <- class_kernel_theta(kernel_theta(object), object$likelihood, processes(object), 1L)
  spec <- own_spec(object)
  x <- scale_kept(x, object$scaling)
  z <- scale_kept(z, object$scaling)
  blocks <- row_blocks(nrow(x), 64L)
  between <- unlist(lapply(blocks, function(at) {
    diag(as.matrix(kernel_matrix(spec, own, x[at, , drop = FALSE], z[at, , drop = FALSE])))
  }))
  size <- kernel_diagonal(spec, own, x) * kernel_diagonal(spec, own, z)
  unname(pmin(pmax(between / sqrt(size), 0), 1))
}

# The words above a panel of it.
beside_words <- function(shown, view) {
  words <- if (shown$moved) "rows as partial residuals"
           else if (!identical(shown$near, 1)) "fainter points are farther from this slice"
  paste(c(nonempty(view$caption), words), collapse = "; ")
}

# Colours with the opacity of each times `near`
faded <- function(col, near) {
  if (identical(near, 1)) return(col)
  rgb <- grDevices::col2rgb(rep_len(col, length(near)), alpha = TRUE)
  grDevices::rgb(rgb[1L, ], rgb[2L, ], rgb[3L, ], rgb[4L, ] * pmax(near, 0.04),
                 maxColorValue = 255)
}

# Puts columns of the axes before those of an answer; an input that is called as one of the answer's
# columns, "fit" for example, gets a number behind its name.
beside_axes <- function(places, names, answer) {
  answer <- as.data.frame(answer, optional = TRUE)
  own <- seq_along(places)
  names <- make.unique(c(names(answer), names))[-seq_along(answer)]
  cbind(stats::setNames(places, names), answer)
}
