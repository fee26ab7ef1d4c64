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
  new_plot_type(forecast_picture, draw_forecast, forecast_layers,
                takes = c("which", "newdata", "ahead"), refuse = function(object) {
                  if (offers(object, "prob")) "is for series of numbers and counts"
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

draw_forecast <- function(object, picture, style) {
  style$xlim <- picture$xlim
  count <- length(picture$parts) + 2L
  on_one_page(count, function() {
    draw_series(object, picture$series, style)
    for (part in picture$parts) {
      draw_term(object, part, style)
      mark_now(picture$time)
    }
    draw_rest(object, picture, style)
  }, rows = count)
}

report_mean_reversion <- function(object) {
  if (extrapolates(object$kernel)) return(invisible())
  message("The kernel has neither trend nor season: beyond the last row the forecast returns to ",
          "the mean.\nAdd what goes on, as in ",
          "kernel = kernel_linear() + kernel_rbf() + kernel_periodic().")
}

extrapolates <- function(kernel) {
  registered("kernels", kernel$type)$extrapolates ||
    any(vapply(kernel$parts, extrapolates, NA))
}

# The view along time, which has to be the only input that is no factor.
time_view <- function(object, rows) {
  derived <- derived_columns(object, rows$x)
  axes <- data_axes(object, rows, names(derived))
  if (length(axes) != 1L || !is.null(axes[[1L]]$levels)) {
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

mark_now <- function(time) {
  usr <- par("usr")
  segments(max(time), usr[3L], y1 = usr[4L], col = "grey60", lty = 3)
}

draw_series <- function(object, picture, style) {
  view <- picture$view
  series <- picture$drawn
  time <- picture$shown$at[[1L]]
  y <- picture$shown$y
  ylim <- range(y, series$lwr, series$upr, series$new_lwr, series$new_upr)
  open_panel(style$xlim, style$ylim %||% grDevices::extendrange(ylim, f = 0.04))
  draw_estimates(view, series, style)
  n <- length(time)
  draw_rows(time, y, grDevices::adjustcolor(INK, row_alpha(n)), 21, 0.8 * row_size(n))
  mark_now(time)
  close_panel(style, input_label(object, view$axes), response_label(object),
              x = input_ticks(object, view$axes, style$xlim))
  draw_heading(style, curve_key(view, picture$level, !is.null(series$new_lwr), NULL),
               "to the right of the dotted line: forecast")
}

draw_rest <- function(object, picture, style) {
  view <- picture$series$view
  open_panel(style$xlim, grDevices::extendrange(range(picture$rest, 0), f = 0.04))
  segments(min(style$xlim), 0, max(style$xlim), col = "grey85")
  segments(picture$time, 0, y1 = picture$rest, col = INK, lend = 1)
  close_panel(style, input_label(object, view$axes), "rest",
              x = input_ticks(object, view$axes, style$xlim))
  draw_heading(style, caption = "response less fitted mean")
}

forecast_layers <- function(object, picture) {
  series <- picture$series
  all <- c(stats::setNames(list(series), response_label(object)), picture$parts)
  frames <- Map(function(part, name) {
    columns <- c("place", "fit", "lwr", "upr", "new_lwr", "new_upr")
    drawn <- placed_columns(part$view, part$drawn)
    drawn[setdiff(columns, names(drawn))] <- NA_real_
    data.frame(drawn[columns], part = name)
  }, all, names(all))
  panels <- c(names(all), "rest")
  drawn <- do.call(rbind, unname(frames))
  drawn$part <- factor(drawn$part, panels)
  rows <- data.frame(place = picture$time, y = c(series$shown$y, picture$rest),
                     part = factor(rep(panels[c(1L, length(panels))], each = length(picture$time)),
                                   panels))
  ggplot2::ggplot() + estimate_layers(series$view, drawn) +
    ggplot2::geom_point(mapped(x = "place", y = "y"), rows, size = 0.7) +
    ggplot2::geom_vline(xintercept = max(picture$time), linetype = 3) +
    ggplot2::facet_grid("part", scales = "free_y") + clock_scale(object, series$view$axes) +
    ggplot2::labs(x = input_label(object, series$view$axes), y = NULL)
}
