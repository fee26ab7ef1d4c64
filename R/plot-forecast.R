# A time series taken on: the series with its forecast, below it each part of the kernel, and what
# is left.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "forecast", a time series continued:
#' For a fit along time alone: the series with its intervals and its continuation, each part of the
#' kernel, and what is left of the responses. A message warns of a kernel that has neither trend
#' nor season, whose forecast returns to the mean. *Value.* A list of data frames, `series` first.
NULL

forecast_plot <- function() {
  new_plot_type(forecast_picture, forecast_charts, rows = length,
                takes = c("which", "newdata", "ahead"), refuse = function(object) {
                  if (!is.null(codec_of(object)$offers$prob)) "is for series of numbers and counts"
                })
}

# list(series, parts, rest), pictures, and where the rows are in `time`.
forecast_picture <- function(object, asked) {
  rows <- rows_of(object, asked$newdata)
  view <- time_view(object, rows)
  report_mean_reversion(object)
  time <- view$axis[[1L]]$places(rows$x, rows$raw)
  style <- asked$style
  style$xlim <- style$xlim %||% c(min(time), max(time) + time_ahead(time, asked$ahead))
  asked$style <- style
  shown <- list(at = list(time), y = rows$y, near = 1, moved = FALSE)
  series <- list(view = view, shown = shown, level = asked$level,
                 drawn = curve_frame(object, view, shown, asked))
  groups <- term_groups(names(fit_parts(object)), asked$which)
  if (length(groups) < 2L) groups <- list()
  parts <- lapply(names(groups), function(name) {
    seen <- term_axes(object, rows, fit_parts(object)[groups[[name]]])
    term_picture(object, rows, groups[name], term_view(rows, seen), asked$level,
                 asked$n, style)
  })
  names(parts) <- names(groups)
  rest <- rows$y - mean_response(object, latent_at(object, rows$x, rows$offset))
  list(series = series, parts = parts, rest = rest, time = time, xlim = style$xlim,
       drawn = c(list(series = series$drawn), lapply(parts, `[[`, "drawn")))
}

report_mean_reversion <- function(object) {
  beyond <- vapply(leaf_types(object$kernel), function(type) {
    registered("kernels", type)$extrapolates
  }, NA)
  if (any(beyond)) return(invisible())
  message("The kernel has neither trend nor season: beyond the last row the forecast returns to ",
          "the mean.\nAdd what goes on, as in ",
          "kernel = kernel_linear() + kernel_rbf() + kernel_periodic().")
}

# Returns the types of a kernel and of all its parts.
leaf_types <- function(kernel) c(kernel$type, unlist(lapply(kernel$parts, leaf_types)))

# The view along time, which has to be the only input that is no factor.
time_view <- function(object, rows) {
  derived <- derived_columns(object, rows$x)
  axes <- data_axes(object, rows, names(derived))
  if (length(axes) != 1L || count_levels(axes) > 0L) {
    stop_sparsegp("type", "= \"forecast\" is for a fit of one input, time",
                  "Draw a curve along one of several: plot(fit, \"time\", xlim = )")
  }
  slice_view(object, rows, names(axes))
}

# How far to go on: a quarter of the time there is, unless it is said, as a number or a difftime
# in the unit of the input.
time_ahead <- function(time, ahead) {
  if (is.null(ahead)) return(diff(range(time)) / 4)
  check_number(as.double(ahead), "ahead", 0)
}

forecast_charts <- function(object, picture, style) {
  style$xlim <- picture$xlim
  now <- list(new_element("upright", list(), x = max(picture$time)))
  parts <- lapply(picture$parts, function(part) {
    chart <- term_chart(object, part, style)
    chart$elements <- c(chart$elements, now)
    chart
  })
  c(list(series_chart(object, picture$series, style, now)), unname(parts),
    list(rest_chart(object, picture)))
}

series_chart <- function(object, picture, style, now) {
  view <- picture$view
  series <- picture$drawn
  y <- picture$shown$y
  ylim <- range(y, series$lwr, series$upr, series$new_lwr, series$new_upr)
  n <- length(y)
  rows <- list(fill = grDevices::adjustcolor(INK, row_alpha(n)), pch = 21, size = 0.8 * row_size(n))
  elements <- c(estimate_elements(view, series, style),
                list(new_element("points", rows, x = picture$shown$at[[1L]], y = y)), now)
  new_chart("to the right of the dotted line: forecast", elements, input_label(object, view$axes),
            response_label(object), style$xlim, grDevices::extendrange(ylim, f = 0.04),
            list(x = input_ticks(object, view$axes, style$xlim)),
            curve_key(view, picture$level, !is.null(series$new_lwr), NULL))
}

rest_chart <- function(object, picture) {
  axis <- picture$series$view$axes
  elements <- list(
    new_element("rules", list(col = "grey85"), y = 0, slope = 0, lty = 1),
    new_element("bars", list(col = INK), x = picture$time, y = 0, x1 = picture$time,
                y1 = picture$rest)
  )
  new_chart("response less fitted mean", elements, input_label(object, axis), "rest",
            picture$xlim, grDevices::extendrange(range(picture$rest, 0), f = 0.04),
            list(x = input_ticks(object, axis, picture$xlim)))
}
