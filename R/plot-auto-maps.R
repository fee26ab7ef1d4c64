# The elements of maps by ggplot2 (plot-charts.R), with the colours, levels and lines of those of
# plot(). Data: x, y and z at the nodes of a grid, and the chart they are of.

# An aesthetic for each argument: the column of that name.
mapped <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# Returns bands of colour between levels.
band_layers <- function(d, levels) {
  filled <- do.call(ggplot2::aes, list(x = as.name("x"), y = as.name("y"), z = as.name("z"),
                                       fill = quote(ggplot2::after_stat(level_mid))))
  # a flat surface has no bands: the raster below has its colour
  bands <- if (diff(range(d$z)) > 0) {
    ggplot2::geom_contour_filled(filled, d, breaks = levels, show.legend = FALSE)
  }
  list(ggplot2::geom_raster(mapped(x = "x", y = "y", fill = "z"), d), bands)
}

# Values beyond the outermost levels have the outermost colours.
band_scale <- function(look) {
  middle <- (seq_along(look$colours) - 0.5) / length(look$colours)
  ggplot2::scale_fill_stepsn(colours = look$colours, values = middle, breaks = look$levels,
                             limits = range(look$levels), name = look$name,
                             labels = band_labels,
                             oob = function(x, range) clamped(x, range))
}

# Returns labels of levels, of every other one where they would overlap.
band_labels <- function(at) {
  labels <- format(at, digits = 2L)
  if (length(at) > 9L) labels[seq_along(at) %% 2L == 0L] <- ""
  labels
}

# Returns charts whose bands have one scale: where their levels differ each goes from its least to
# its largest.
on_one_scale <- function(charts) {
  bands <- function(chart) Filter(function(element) element$kind == "bands", chart$elements)
  looks <- unlist(lapply(unname(charts), bands), recursive = FALSE)
  if (length(unique(lapply(looks, function(element) element$look$levels))) < 2L) return(charts)
  lapply(charts, function(chart) {
    chart$elements <- lapply(chart$elements, function(element) {
      if (element$kind != "bands") return(element)
      share <- function(z) (z - min(element$look$levels)) / diff(range(element$look$levels))
      element$data$z <- share(element$data$z)
      element$look$levels <- share(element$look$levels)
      element$look$name <- "from least\nto largest"
      element
    })
    chart
  })
}

# Returns an area over what the data do not determine, with a thin edge.
mask_layers <- function(d, fill, edge) {
  d$unknown <- as.double(!d$known)
  # without fill = NULL the contours' levels, a factor, would go to the scale of the map's colours
  area <- do.call(ggplot2::aes, list(x = as.name("x"), y = as.name("y"), z = as.name("unknown"),
                                     fill = NULL))
  list(ggplot2::geom_contour_filled(area, d, breaks = c(0.5, 2), fill = fill),
       ggplot2::geom_contour(mapped(x = "x", y = "y", z = "unknown"), d, breaks = 0.5,
                             colour = edge, linewidth = 0.3))
}

# Returns contours at some levels, with their numbers on them if wanted. at: how far along the line,
# from 0 to 1.
contour_layers <- function(d, levels, col, lwd, lty = 1, drawlabels = TRUE, at = 0.5, paper) {
  inside <- levels[levels > min(d$z) & levels < max(d$z)]
  if (length(inside) == 0L) return(NULL)
  lines <- ggplot2::geom_contour(mapped(x = "x", y = "y", z = "z"), d, breaks = inside,
                                 colour = col, linetype = lty, linewidth = 0.45 * lwd)
  labels <- if (drawlabels) label_places(d, inside, at)
  if (is.null(labels)) return(lines)
  list(lines, ggplot2::geom_point(mapped(x = "x", y = "y"), labels, colour = paper, alpha = 0.75,
                                  size = 4),
       ggplot2::geom_text(mapped(x = "x", y = "y", label = "label"), labels, colour = col,
                          size = 3))
}

SHORTEST_LABELLED <- 8L # points of a contour

# Returns a place on the longest contour at each level.
label_places <- function(d, levels, at) {
  surface <- grid_of(d)
  surface$z <- for_contours(surface$z, levels)
  if (is.null(surface$z)) return(NULL)
  lines <- grDevices::contourLines(surface, levels = levels)
  size <- lengths(lapply(lines, `[[`, "x"))
  lines <- lines[order(-size)][seq_len(sum(size >= SHORTEST_LABELLED))]
  lines <- lines[!duplicated(vapply(lines, `[[`, 0, "level"))]
  do.call(rbind, lapply(lines, function(line) {
    i <- round(1 + at * (length(line$x) - 1L))
    data.frame(x = line$x[i], y = line$y[i], label = format(line$level, digits = 4L),
               chart = d$chart[1L])
  }))
}

# Returns the most probable class at each node, the more opaque the surer.
class_layers <- function(d, levels, paper) {
  prob <- d[prob_columns(levels)]
  d$class <- factor(levels[max.col(as.matrix(prob), "first")], levels)
  d$top <- do.call(pmax, prob)
  below <- data.frame(low = -Inf, high = Inf, chart = d$chart[1L])
  list(ggplot2::geom_rect(mapped(xmin = "low", xmax = "high", ymin = "low", ymax = "high"), below,
                          fill = paper),
       ggplot2::geom_raster(mapped(x = "x", y = "y", fill = "class", alpha = "top"), d,
                            show.legend = TRUE))
}

class_scales <- function(look) {
  list(ggplot2::scale_fill_manual(values = look$col, drop = FALSE, guide = "none"),
       ggplot2::scale_alpha(range = c(0.1, 0.7), name = "probability", guide =
         ggplot2::guide_legend(override.aes = list(fill = look$ink))))
}
