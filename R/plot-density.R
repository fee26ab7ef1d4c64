# The density of gp_density().

#' @rdname gp_density
#' @param n Number of points of the curve, or along each side of the grid; a whole number of at
#'   least 2.
#' @return `plot()`: invisibly, a data frame of what was drawn. One input: a histogram of the
#'   points, the density with its interval, and the basis as ticks; two: contours of the density
#'   over the points, and the basis as rings.
#' @export
plot.gp_density <- function(x, level = 0.95, n = NULL, ...) {
  style <- plot_style(...)
  made <- density_chart(x, level, n, style)
  draw_charts(list(made$chart), style)
  invisible(made$drawn)
}

#' @rdname gp_density
#' @return `autoplot()`: the same picture as an object of ggplot2.
#' @exportS3Method ggplot2::autoplot
autoplot.gp_density <- function(object, level = 0.95, n = NULL, ...) {
  check_no_dots(...)
  chart_layers(list(density_chart(object, level, n, auto_style(), "object")$chart))
}

# Returns what is drawn, a data frame, and its chart. argument: what the density is called
density_chart <- function(object, level, n, style, argument = "x") {
  object <- check_density(object)
  refuse_if(ncol(object$range) > 2L,
            argument, "is a density of three inputs, and at most two can be drawn",
            "Fit two of its columns, or draw predict() on a grid")
  check_number(level, "level", 0, 1)
  if (!is.null(n)) n <- check_count(n, "n", 2L)
  chart <- if (ncol(object$range) == 1L) density_curve else density_map
  chart(object, level, n, style)
}

density_curve <- function(object, level, n, style) {
  at <- seq(object$range[1L], object$range[2L], length.out = n %||% 401L)
  drawn <- data.frame(x = at, predict(object, at, interval = "confidence", level = level))
  cells <- min(max(10, sqrt(object$n)), 50)
  bars <- graphics::hist(object$x, pretty(object$range, cells), plot = FALSE)
  col <- style$col %||% BLUE
  band <- grDevices::adjustcolor(col, 0.25)
  elements <- list(
    new_element("boxes", list(col = "grey90"), x = utils::head(bars$breaks, -1L), y = 0,
                x1 = bars$breaks[-1L], y1 = bars$density),
    new_element("band", list(col = band), x = at, drawn[c("lwr", "upr")]),
    new_element("line", list(col = col, lwd = style$lwd), x = at, y = drawn$fit),
    new_element("ticks", list(lwd = 1.2), x = c(object$basis))
  )
  key <- list(key_item("density", "line", col),
              key_item(paste(percent(level), "interval"), "band", band),
              key_item("basis", "tick", INK))
  list(drawn = drawn, chart = new_chart("", elements, density_names(object), "density",
                                        object$range[, 1L],
                                        c(0, 1.04 * max(drawn$upr, bars$density)), key = key))
}

density_map <- function(object, level, n, style) {
  axes <- colnames(object$range)
  ranges <- list(object$range[, 1L], object$range[, 2L])
  view <- list(axis = lapply(axes, function(name) new_axis("axis_number", name, name, NULL, NULL)))
  nodes <- surface_nodes(view, list(at = ranges), n %||% 81L, utils::modifyList(
    list(xlim = ranges[[1L]], ylim = ranges[[2L]]), style
  ))
  colnames(nodes$grid) <- axes
  z <- predict(object, nodes$grid)
  look <- list(fill = style$col %||% INK, pch = style$pch %||% 16,
               size = style$cex %||% (0.7 * row_size(object$n)))
  elements <- c(
    band_elements(nodes, z, pretty(range(z), 8L), mean_ramp, "density"),
    list(new_element("points", look, x = object$x[, 1L], y = object$x[, 2L]),
         ring_points(as.data.frame(object$basis)))
  )
  key <- list(key_item("density", "line", INK, lwd = 0.7), key_item("points", "point", INK),
              key_item("basis", "point", INK, 1))
  list(drawn = surface_frame(nodes, list(axes = axes), fit = unname(z)),
       chart = new_chart("", elements, axes[1L], axes[2L], nodes$limits[[1L]], nodes$limits[[2L]],
                         key = key, frame = "o"))
}
