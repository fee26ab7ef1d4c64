# A time series taken on: the series with its forecast, below it each part of the kernel, and what
# is left.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "forecast", a time series continued:
#' For a fit with time as its only input: the series with its intervals and its forecast, each part
#' of the kernel, and the residuals. A long series has a second panel, with its last seasons and the
#' forecast: the last four of more than twelve seasons; without a season, twice the length of the
#' forecast if the series is more than eight times as long. A message warns if the kernel has
#' neither trend nor season: its forecast returns to the mean.
#'
#' `ahead` counts in steps of the series, the most common distance of neighbours: calendar months
#' for monthly dates, quarters, years, days, hours, or twelfths of a year if time is a number with
#' twelve observations a year. Irregular times have no step; it is then the unit of the input (days
#' for dates, seconds for times). Curves are computed at the steps if a season has a shorter length
#' scale, as it is unknown between them; `n` computes them at so many equally spaced times. *Value.*
#' A list of data frames: `series`, for a long series `recent`, and one for each part.
NULL

forecast_plot <- function() {
  new_plot_type(forecast_picture, forecast_charts, rows = length,
                takes = c("which", "newdata", "ahead"), refuse = function(object) {
                  if (!is.null(codec_of(object)$offers$prob)) "is for series of numbers and counts"
                })
}

# Returns list(series, recent, parts, rest), pictures, where the rows are in `time`, and `words`,
# how far the forecast goes.
forecast_picture <- function(object, asked) {
  rows <- rows_of(object, asked$newdata)
  view <- time_view(object, rows)
  report_mean_reversion(object)
  time <- view$axis[[1L]]$places(rows$x, rows$raw)
  horizon <- forecast_horizon(object$clocks[[view$axes]], time, asked$ahead)
  given <- asked$style$xlim
  asked$style$xlim <- xlim <- given %||% c(min(time), horizon$end)
  asked$n <- asked$n %||% series_nodes(object, view, time, max(xlim))
  series <- function(xlim) series_picture(object, rows, view, time, asked, xlim)
  zoom <- if (is.null(given)) recent_limits(object, view, time, xlim)
  pictures <- list(series = series(xlim), recent = if (!is.null(zoom)) series(zoom))
  groups <- term_groups(names(fit_parts(object)), asked$which)
  if (length(groups) < 2L) groups <- list()
  left <- if (length(groups) > 0L) working_residuals(object, rows)
  parts <- lapply(names(groups), function(name) {
    seen <- term_axes(object, rows, fit_parts(object)[groups[[name]]])
    term_picture(object, rows, groups[name], term_view(rows, seen), asked$level,
                 asked$n, asked$style, left)
  })
  names(parts) <- names(groups)
  rest <- rows$y - point_response(object, latent_at(object, rows$x, rows$offset))
  drawn <- lapply(c(Filter(Negate(is.null), pictures), parts), `[[`, "drawn")
  c(pictures, list(parts = parts, rest = rest, time = time, xlim = xlim, words = horizon$words,
                   drawn = drawn))
}

# Returns the picture of a series and its mean between limits.
series_picture <- function(object, rows, view, time, asked, xlim) {
  asked$style$xlim <- xlim
  shown <- list(at = list(time), y = rows$y, near = 1, moved = FALSE)
  list(view = view, shown = shown, level = asked$level, xlim = xlim,
       drawn = curve_frame(object, view, shown, asked))
}

report_mean_reversion <- function(object) {
  beyond <- vapply(leaf_types(object$kernel), function(type) {
    registered("kernels", type)$extrapolates
  }, NA)
  if (any(beyond)) return(invisible())
  message("The kernel has neither trend nor season: beyond the last row the forecast returns to ",
          "the mean.\nAdd a trend or a season, as in ",
          "kernel = kernel_linear() + kernel_rbf() + kernel_periodic().")
}

# Returns the types of a kernel and of all its parts.
leaf_types <- function(kernel) c(kernel$type, unlist(lapply(kernel$parts, leaf_types)))

# The view along time, which has to be the only input that is no factor.
time_view <- function(object, rows) {
  derived <- derived_columns(object, rows$x)
  axes <- data_axes(object, rows, names(derived))
  refuse_if(length(axes) != 1L || count_levels(axes) > 0L,
            "type", "= \"forecast\" is for a fit of one input, time",
            "Draw a curve along one of several: plot(fit, \"time\", xlim = )")
  slice_view(object, rows, names(axes))
}

# Returns list(end, words): the last time of a forecast, and how far it goes. A quarter of the time
# there is, unless `ahead` says: a number of steps, a difftime, or words such as "2 years".
forecast_horizon <- function(clock, time, ahead) {
  last <- max(time)
  step <- series_step(clock, time)
  if (is.null(ahead)) return(list(end = last + diff(range(time)) / 4, words = ""))
  if (is.character(ahead)) return(list(end = time_by_words(clock, last, ahead), words = ahead))
  if (inherits(ahead, "difftime")) {
    words <- format(ahead)
    unit <- if (inherits(clock, "POSIXct")) "secs" else if (inherits(clock, "Date")) "days"
    ahead <- check_number(if (is.null(unit)) as.double(ahead) else as.double(ahead, units = unit),
                          "ahead", 0)
    return(list(end = last + ahead, words = words))
  }
  check_number(ahead, "ahead", 0)
  list(end = steps_after(step, clock, last, ahead),
       words = paste(format(ahead, digits = 4L), if (ahead == 1) sub("s$", "", step$words)
                     else step$words))
}

# Returns the time that is after the last one by a duration in words.
time_by_words <- function(clock, last, words) {
  remedy <- "Give a number of steps, or of dates and times words such as \"18 months\""
  if (is.null(clock)) stop_sparsegp("ahead", "is text, but time is a number here", remedy)
  end <- tryCatch(as.double(seq(on_clock(clock, last), by = words, length.out = 2L)[2L]),
                  error = function(e) NA_real_)
  if (!isTRUE(end > last)) stop_sparsegp("ahead", "is not a duration", remedy)
  end
}

LONG_SERIES <- 12 # seasons: more have a panel of the last of them

RECENT_SEASONS <- 4

LONG_BESIDE_FORECAST <- 8 # forecasts, the same of a series without a season

# Returns the limits of the panel of the last seasons, or NULL of a series that is not long.
recent_limits <- function(object, view, time, xlim) {
  season <- season_along(object, view)
  last <- max(time)
  beyond <- max(xlim) - last
  seasons <- diff(range(time)) / season
  back <- if (seasons > LONG_SERIES && is.finite(seasons)) RECENT_SEASONS * season
          else if (season == 0 && diff(range(time)) > LONG_BESIDE_FORECAST * beyond) 2 * beyond
          else 0
  if (back > 0 && beyond > 0) c(last - back, last + min(beyond, 2 * back))
}

# Returns the charts of a page: the series in the largest, its last seasons, and below them the
# parts and what is left, small and without keys, under their names.
forecast_charts <- function(object, picture, style) {
  style$xlim <- picture$xlim
  now <- list(new_element("upright", list(), x = max(picture$time)))
  title <- paste0("to the right of the dotted line: forecast",
                  if (nzchar(picture$words)) paste(" of", picture$words))
  series <- of_height(series_chart(object, picture$series, style, now, title), 3)
  recent <- if (!is.null(picture$recent)) {
    chart <- series_chart(object, picture$recent, style, now, "the last seasons, and the forecast")
    list(of_height(replace(chart, c("key", "name"), list(list(), "last seasons")), 2))
  }
  parts <- lapply(picture$parts, function(part) {
    chart <- term_chart(object, part, style)
    chart$elements <- c(chart$elements, now)
    under_name(chart, chart$y)
  })
  rest <- rest_chart(object, picture)
  c(list(series), recent, unname(parts), list(under_name(rest, rest$title)))
}

of_height <- function(chart, height) replace(chart, "height", height)

# Returns a chart of height 1 whose name stands above it.
under_name <- function(chart, name) {
  chart[c("title", "name", "y", "key", "height")] <- list(name, name, "", list(), 1)
  chart
}

series_chart <- function(object, picture, style, now, title) {
  view <- picture$view
  series <- picture$drawn
  y <- picture$shown$y
  time <- picture$shown$at[[1L]]
  seen <- time >= min(picture$xlim) & time <= max(picture$xlim)
  ylim <- range(y[seen], series$lwr, series$upr, series$new_lwr, series$new_upr)
  n <- sum(seen)
  rows <- list(fill = grDevices::adjustcolor(INK, row_alpha(n)), pch = 21, size = 0.8 * row_size(n))
  elements <- c(estimate_elements(view, series, style),
                list(new_element("points", rows, x = time[seen], y = y[seen])), now)
  new_chart(title, elements, input_label(object, view$axes),
            response_label(object), picture$xlim, grDevices::extendrange(ylim, f = 0.04),
            list(x = input_ticks(object, view$axes, picture$xlim)),
            curve_key(view, picture$level, !is.null(series$new_lwr), NULL), name = "series")
}

rest_chart <- function(object, picture) {
  axis <- picture$series$view$axes
  elements <- list(
    new_element("rules", list(col = "grey85"), y = 0, slope = 0, lty = 1),
    new_element("bars", list(col = INK), x = picture$time, y = 0, x1 = picture$time,
                y1 = picture$rest)
  )
  new_chart("residuals", elements, input_label(object, axis), "",
            picture$xlim, grDevices::extendrange(range(picture$rest, 0), f = 0.04),
            list(x = input_ticks(object, axis, picture$xlim)), name = "rest")
}
