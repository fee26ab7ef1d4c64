#' Plot the next rows to label
#'
#' Draws the picture of a fit along one or two inputs, as [plot()][plot.sparsegp] does, with the
#' rows that [next_rows()] has chosen, numbered in their order: along one input dashed lines, and
#' ticks at the top for the candidates; over two inputs discs, and dots for the candidates, darker
#' for a higher score. For more inputs, and for fits that keep no rows: the score of every candidate
#' against its row number.
#'
#' @param x A result of [next_rows()].
#' @param which One or two inputs as axes, as for [plot()][plot.sparsegp]; other inputs are held at
#'   their medians.
#' @param ... `plot()`: as for [plot()][plot.sparsegp]; `autoplot()`: not used, unknown arguments
#'   are an error.
#' @return `plot()`: a data frame of the candidates, invisibly: `row`, its own `score` (`NA` for
#'   incomplete or excluded rows), and `order`, the rank among the chosen rows, `NA` for the others.
#'   `autoplot()`: the same picture as an object of ggplot2.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars[cars$speed < 15, ])
#' plot(next_rows(fit, data.frame(speed = 4:25), k = 3))
#' @export
plot.sparsegp_next <- function(x, which = NULL, ...) {
  style <- plot_style(...)
  picture <- next_picture(x, which, style)
  draw_charts(picture$charts, picture$style, picture$rows)
  invisible(score_frame(x))
}

#' @rdname plot.sparsegp_next
#' @param object A result of [next_rows()].
#' @exportS3Method ggplot2::autoplot
autoplot.sparsegp_next <- function(object, which = NULL, ...) {
  check_no_dots(...)
  picture <- next_picture(object, which, auto_style())
  chart_layers(picture$charts, picture$rows, picture$style)
}

# Returns the charts of plot() and autoplot(), in so many rows, and their style.
next_picture <- function(x, which, style) {
  fit <- attr(x, "picture")$fit
  rows <- if (has_rows(fit)) rows_of(fit, NULL)
  refuse_if(is.null(rows) && !is.null(which), "which", "is for a fit that keeps its rows",
            "Leave it out")
  if (is.null(rows) || is.null(which) && count_axes(fit, rows) > 2L) {
    return(list(charts = list(score_chart(x, style)), style = style))
  }
  view <- slice_view(fit, rows, which)
  places <- candidate_places(x, view)
  limits <- Map(function(axis, at) {
    axis_limits(axis, c(axis$places(rows$x, rows$raw), at), list())
  }, view$axis, places)
  style$xlim <- style$xlim %||% limits[[1L]]
  if (length(limits) > 1L) style$ylim <- style$ylim %||% limits[[2L]]
  words <- c(nonempty(view$caption), "numbers: rows to ask for, in order")
  charts <- fit_charts(fit, fit_picture(fit, list(which = which, level = 0.95, style = style)),
                       style)
  asked <- if (length(places) == 1L) asked_lines else asked_points
  charts <- lapply(charts, function(chart) {
    chart$title <- paste(words, collapse = "; ")
    chart$elements <- c(chart$elements, asked(x, places, chart, style))
    chart
  })
  list(charts = charts, rows = rows_of_maps(charts), style = style)
}

count_axes <- function(fit, rows) {
  length(data_axes(fit, rows, names(derived_columns(fit, rows$x))))
}

score_frame <- function(x) {
  first <- attr(x, "first")
  data.frame(row = seq_along(first), score = first, order = match(seq_along(first), as.integer(x)))
}

# Returns where all candidates are on the axes; NA without inputs.
candidate_places <- function(x, view) {
  picture <- attr(x, "picture")
  inputs <- unscaled_inputs(picture$fit, row_inputs(picture$x, n_outputs(picture$fit)))
  raw <- function(name) as.double(picture$candidates[[name]])[picture$complete]
  lapply(view$axis, function(axis) {
    at <- rep(NA_real_, length(attr(x, "first")))
    at[picture$complete] <- axis$places(inputs, raw)
    at
  })
}

# Lines at rows that were chosen, ticks at candidates. Numbers of rows at one place are below each
# other.
asked_lines <- function(x, places, chart, style) {
  at <- places[[1L]]
  at <- list(all = at[!is.na(at)], asked = at[x])
  xlim <- style$xlim
  ylim <- style$ylim %||% chart$ylim
  tall <- diff(ylim)
  beside <- abs(outer(at$asked, at$asked, "-")) < 0.02 * diff(xlim)
  lane <- rowSums(beside & lower.tri(beside))
  edge <- ylim[2L] - 0.02 * tall
  list(new_element("bars", list(col = INK), x = at$all, y = edge, x1 = at$all, y1 = ylim[2L]),
       new_element("bars", list(col = INK, lty = 3), x = at$asked, y = ylim[1L], x1 = at$asked,
                   y1 = edge),
       numbered_discs(at$asked, ylim[2L] - (0.05 + 0.06 * lane) * tall))
}

# Dots at candidates, the darker the higher their score.
asked_points <- function(x, places, chart, style) {
  score <- attr(x, "first")
  known <- is.finite(score)
  share <- (rank(score[known]) - 0.5) / sum(known)
  grey <- grDevices::grey(0 * share + 0.2, 0.1 + 0.7 * share)
  list(new_element("points", list(fill = grey, pch = 16, size = 0.6), x = places[[1L]][known],
                   y = places[[2L]][known]),
       numbered_discs(places[[1L]][x], places[[2L]][x]))
}

numbered_discs <- function(x, y) {
  new_element("discs", list(), x = x, y = y, label = as.character(seq_along(x)))
}

score_chart <- function(x, style) {
  frame <- score_frame(x)
  shown <- is.finite(frame$score)
  asked <- which(!is.na(frame$order))
  asked <- asked[order(frame$order[asked])]
  fill <- style$col %||% grDevices::adjustcolor(INK, 0.5)
  new_chart("every row's score alone; numbers: rows to ask for, in order",
            list(row_points(frame$row[shown], frame$score[shown], fill, style),
                 numbered_discs(asked, frame$score[asked])),
            "row of the candidates", ACQUISITIONS[[attr(x, "score")]]$words, around(frame$row),
            around(frame$score[shown]))
}
