# The density of gp_density().

#' @rdname gp_density
#' @param n Points of the curve, or along each side of the grid.
#' @return `plot()`: invisibly, a data frame of what was drawn. One input: a histogram of the
#'   points, the density with its interval, and the basis as ticks; two: contours of the density
#'   over the points, and the basis as rings.
#' @export
plot.gp_density <- function(x, level = 0.95, n = NULL, ...) {
  x <- check_density(x)
  check_number(level, "level", 0, 1)
  if (!is.null(n)) n <- check_count(n, "n", 2L)
  style <- plot_style(...)
  draw <- if (ncol(x$range) == 1L) draw_density_curve else draw_density_surface
  invisible(draw(x, level, n, style))
}

draw_density_curve <- function(object, level, n, style) {
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
  draw_charts(list(new_chart("", elements, density_names(object), "density", object$range[, 1L],
                             c(0, 1.04 * max(drawn$upr, bars$density)), key = key)), style)
  drawn
}

draw_density_surface <- function(object, level, n, style) {
  axes <- colnames(object$range)
  limits <- list(style$xlim %||% object$range[, 1L], style$ylim %||% object$range[, 2L])
  at <- lapply(limits, function(limit) seq(limit[1L], limit[2L], length.out = n %||% 81L))
  names(at) <- axes
  grid <- as.matrix(expand.grid(at, KEEP.OUT.ATTRS = FALSE))
  surface <- list(x = at[[1L]], y = at[[2L]], z = matrix(predict(object, grid), length(at[[1L]])))
  levels <- pretty(range(surface$z), 8L)
  open_panel(limits[[1L]], limits[[2L]])
  fill_bands(surface, levels, mean_ramp(length(levels) - 1L))
  draw_contours(surface, levels, INK, 0.7)
  draw_rows(object$x[, 1L], object$x[, 2L], style$col %||% INK, style$pch %||% 16,
            style$cex %||% (0.7 * row_size(object$n)))
  draw_basis_rings(as.data.frame(object$basis))
  close_panel(style, axes[1L], axes[2L], bty = "o")
  draw_heading(style, list(key_item("density", "line", INK, lwd = 0.7),
                           key_item("points", "point", INK), key_item("basis", "point", INK, 1)))
  beside_axes(as.data.frame(grid), axes, data.frame(fit = c(surface$z)))
}
