# Slopes along inputs: the picture of slopes().

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "slope", derivatives along inputs:
#' A panel for each numeric input (at most nine; `which` names others): the slope of the mean
#' response, or of the probability of the second of two classes ([slopes()]), along the input, with
#' its interval. Other inputs are held fixed as in `type = "fit"`. With `by` each level of a factor
#' has a curve, and several classes without an order have a curve each. Where the band does not
#' cross the line at 0, the function rises or falls. *Value.* A list of data frames, one for each
#' input: the input, the level or class if there are several, `fit`, `lwr` and `upr`.
NULL

slope_plot <- function() {
  new_plot_type(slope_picture, slope_charts, takes = c("which", "newdata", "by"))
}

slope_picture <- function(object, asked) {
  rows <- rows_of(object, asked$newdata)
  axes <- data_axes(object, rows, names(derived_columns(object, rows$x)))
  if (!is.null(asked$which)) axes <- asked_axes(object, asked$which, axes, most = length(axes))
  axes <- check_slope_axes(axes, asked$which)
  classes <- if (!is.null(slope_outputs(object, "response"))) class_axis(object)
  refuse_if(!is.null(classes) && !is.null(asked$by), "by", "is for pictures of one response",
            "Leave it out: classes have curves")
  parts <- lapply(stats::setNames(nm = names(axes)), function(name) {
    view <- slice_view(object, rows, name, asked$by)
    if (is.null(asked$by)) view["by"] <- list(classes)
    shown <- list(at = list(view$axis[[1L]]$places(rows$x, rows$raw)))
    list(view = view, shown = shown, level = asked$level,
         drawn = slope_curve(object, view, shown, asked, !is.null(classes)))
  })
  list(parts = parts, drawn = lapply(parts, `[[`, "drawn"))
}

MOST_SLOPES <- 9L # panels

# Returns the axes that are numbers.
check_slope_axes <- function(axes, which) {
  numbers <- Filter(function(axis) inherits(axis, "axis_number"), axes)
  remedy <- "Use type = \"effects\""
  refuse_if(!is.null(which) && length(numbers) < length(axes),
            "which", "names factors, whose levels have no slope", remedy)
  refuse_if(length(numbers) == 0L,
            "type", "= \"slope\" is for inputs that are numbers, and there are none", remedy)
  utils::head(numbers, if (is.null(which)) MOST_SLOPES else length(numbers))
}

CLASS_PLACES <- 41L # along an input, of classes, whose slopes are integrals over a lattice

slope_curve <- function(object, view, shown, asked, of_classes) {
  axis <- view$axis[[1L]]
  n <- asked$n %||% if (!is.null(class_axis(object))) CLASS_PLACES
  style <- style_along(axis, shown$at[[1L]], asked$style)
  places <- axis_nodes(axis, axis_limits(axis, shown$at[[1L]], style), n)
  answer <- function(group) slopes_of_view(object, view, places, group)
  columns <- function(found) slope_columns(found, asked$level)
  whole <- if (of_classes) columns(answer(1L)) # all classes
  along_curve(view, places, function(group) {
    own <- if (of_classes) lapply(whole, function(column) column[, group])
           else columns(answer(group))
    data.frame(fit = c(own$estimate), lwr = c(own$conf.low), upr = c(own$conf.high))
  })
}

# Returns the answer of slopes along the axis at its places, whose columns that follow from others
# move with it.
slopes_of_view <- function(object, view, places, level) {
  at <- function(by) slice_inputs(view, list(places + by), level)
  change <- difference_quotients(places, at)
  plain <- view$axis[[1L]]$columns
  if (length(plain) == 1L && isTRUE(all.equal(c(change[, plain]), rep(1, length(places))))) {
    change[, plain] <- 1 # without rounding
  }
  slopes_along(object, at(0), change, view$axes, view$offset)
}

# Returns the slopes of the mean response at kept inputs x in original units, in the direction
# `change`.
slopes_along <- function(object, x, change, name, offset) {
  n <- nrow(x)
  along <- function(own, ...) {
    same <- identical(own$scaling[c("names", "kept")], object$scaling[c("names", "kept")])
    if (!same) stop_sparsegp("x", "has members with different inputs", "Draw its members")
    points <- stack_components(scale_kept(x, own$scaling), n_outputs(own))
    v <- scaled_direction(own, x, change, name)
    slope_answer(own, row_slopes(own, points, v, offset_of_rows(own, offset, n), numeric(n)),
                 "response")
  }
  by_member(object, along, function(each, own) mixed_slopes(each, own$ensemble$weights))
}

slope_charts <- function(object, picture, style) {
  lapply(picture$parts, slope_chart, object = object, style = style)
}

slope_chart <- function(object, picture, style) {
  view <- picture$view
  axis <- view$axis[[1L]]
  style <- style_along(axis, picture$shown$at[[1L]], style)
  xlim <- axis_limits(axis, picture$shown$at[[1L]], style)
  groups <- length(view$by$levels)
  elements <- c(
    list(new_element("rules", list(col = "grey85"), y = 0, slope = 0, lty = 1)),
    estimate_elements(view, picture$drawn, style),
    list(basis_ticks(list(picture$shown$at[[1L]])))
  )
  key <- if (groups == 0L) {
    list(key_item("slope", "line", BLUE),
         key_item(percent(picture$level), "band", grDevices::adjustcolor(BLUE, DARK)),
         key_item("rows", "tick", INK))
  } else if (groups <= MANY) {
    unname(Map(key_item, view$by$levels, "line", group_colours(view$by)))
  }
  label <- paste("slope of", response_label(object))
  new_chart(paste(view$caption, collapse = ", "), elements, input_label(object, view$axes), label,
            xlim, grDevices::extendrange(range(0, picture$drawn$lwr, picture$drawn$upr), f = 0.04),
            list(x = if (!isTRUE(style$log)) axis_ticks(axis, object, xlim)), key,
            name = paste("along", view$axes), log_x = style$log)
}
