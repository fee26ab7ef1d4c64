# Pictures of several classes: a decision map over two inputs, probability curves along one.

# Colours apart under protanopia and deuteranopia too, the first ones the most; symbols repeat after
# five, so that colour and symbol together are unique among 60 classes.
CLASS_COLOURS <- c(
  "#0072B2", "#D55E00", "#009E73", "#E0C700", "#CC79A7", "#661100", "#56C8F0",
  "#4B2BCB", "#36C872", "#005355", "#8B5A2B", "#303030"
)

class_colours <- function(style, alpha = 1, count = 2L) {
  rep_len(style$col %||% grDevices::adjustcolor(CLASS_COLOURS, alpha), count)
}

class_symbols <- function(style, count) rep_len(style$pch %||% c(21, 24, 22, 23, 25), count)

# Long names are shortened where the margin has no room for them, beside a row of other things.
class_key <- function(levels, col, pch, style) {
  heading <- heading_room(style)
  for (length in c(1000L, 20L, 12L, 8L, 5L)) {
    # which warns of letters that are not ASCII, and keeps them
    names <- suppressWarnings(abbreviate(levels, length, named = FALSE))
    key <- unname(Map(key_item, names, "point", col, pch))
    if (max(key_layout(key, heading$cex, par("pin")[1L])$row) < heading$rows) break
  }
  key
}

#' @export
panel_of.response_classes <- function(object) {
  new_panel(class_curves, draw_class_curves, class_surface, surface_drawer(draw_decision_map),
            auto_class_curves,
            function(object, picture) surface_layers(object, picture, auto_decisions),
            by = "pictures")
}

#' @export
panel_of.response_ordered <- panel_of.response_classes

# Returns the inputs, the most probable class, and a probability of each class.
class_frame <- function(inputs, axes, prob) {
  rownames(prob) <- NULL
  beside_axes(data.frame(inputs), axes,
              data.frame(class = most_probable(prob), prob = prob, check.names = FALSE))
}

# ---- Two inputs: the most probable class, in a deeper colour where it is surer ----

# Boundaries between depths of colour, as probabilities of the most probable class
DEPTHS <- c(0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

class_surface <- function(object, view, shown, asked) {
  nodes <- surface_nodes(shown, asked$n %||% default_nodes(object), asked$style)
  prob <- class_probabilities(object, slice_latent(object, view, nodes$grid))
  c(nodes, list(z = array(prob, c(nodes$count, ncol(prob))),
                drawn = class_frame(nodes$grid, view$axes, prob)))
}

draw_decision_map <- function(object, view, shown, surface, style, contour = FALSE) {
  levels <- object$response$levels
  col <- class_colours(style, count = length(levels))
  pch <- class_symbols(style, length(levels))
  paint_classes(surface, col, style$lwd)
  code <- as.integer(shown$y)
  draw_rows(shown$at[[1L]], shown$at[[2L]], faded(col[code], shown$near), pch[code],
            style$cex %||% row_size(length(code)))
  list(key = class_key(levels, col, pch, style), caption = paste(
    c(paste0("most probable ", response_name(object), ", deeper where surer"),
      nonempty(beside_words(shown, view))), collapse = "; "
  ))
}

# Every pixel has the colour of its most probable class, so that edges are no staircase of the grid.
paint_classes <- function(surface, col, lwd) {
  lead <- class_leads(surface$z)
  seen <- sort(unique(c(lead$best)))
  draw_pixels(surface, class_pixels(surface$z, seen, col))
  top <- list(x = surface$x, y = surface$y, z = lead$top)
  # of two classes one always has 0.5
  draw_contours(top, if (length(col) > 2L) c(0.5, 0.7, 0.9) else c(0.7, 0.9), "grey35", 0.7)
  for (class in seen) {
    draw_contours(list(x = surface$x, y = surface$y, z = lead$by[, , class]), 0, INK, lwd,
                  drawlabels = FALSE)
  }
}

# Colours of pixels, of those classes that are the most probable one anywhere.
class_pixels <- function(z, seen, col) {
  tints <- outer(col, seq(0.14, 0.62, length.out = length(DEPTHS)), Vectorize(tint))
  top <- pixel_values(z[, , seen[1L]])
  best <- array(seen[1L], dim(top))
  for (class in seen[-1L]) {
    fine <- pixel_values(z[, , class])
    best[fine > top] <- class
    top <- pmax(top, fine)
  }
  raster_rows(array(tints[cbind(c(best), findInterval(top, DEPTHS))], dim(best)))
}

# best: the most probable class at each node, of probability `top`; by: each class's probability
# less the largest of the others.
class_leads <- function(z) {
  flat <- matrix(z, ncol = dim(z)[3L])
  best <- max.col(flat, "first")
  at <- cbind(seq_along(best), best)
  top <- flat[at]
  others <- replace(flat, at, -Inf)
  second <- others[cbind(seq_along(best), max.col(others, "first"))]
  by <- flat - top
  by[at] <- top - second
  grid <- dim(z)[1:2]
  list(best = array(best, grid), top = array(top, grid), by = array(by, dim(z)))
}

tint <- function(col, depth) {
  grDevices::rgb(t(depth * grDevices::col2rgb(col) + (1 - depth) * 255), maxColorValue = 255)
}

# ---- One input: a curve per class, and below a lane per class with its rows ----

class_curves <- function(object, view, shown, asked) {
  axis <- view$axis[[1L]]
  at <- curve_places(axis, curve_limits(axis, shown$at[[1L]], asked$style), asked$n)
  prob <- class_probabilities(object, slice_latent(object, view, list(at)))
  class_frame(if (is.null(axis$levels)) at else factor(axis$levels, axis$levels), view$axes, prob)
}

draw_class_curves <- function(object, picture, style) {
  view <- picture$view
  shown <- picture$shown
  axis <- view$axis[[1L]]
  xlim <- curve_limits(axis, shown$at[[1L]], style)
  at <- as.numeric(picture$drawn[[1L]])
  levels <- object$response$levels
  prob <- as.matrix(picture$drawn[paste0("prob.", levels)])
  col <- class_colours(style, count = length(levels))
  pch <- class_symbols(style, length(levels))
  lane <- min(0.05, 0.4 / length(levels))
  floor <- -0.03 - lane * length(levels) - if (is.null(shown$basis)) 0 else 0.06
  open_panel(xlim, style$ylim %||% c(floor, 1.04), style$asp)
  segments(min(xlim), c(0, 0.5, 1), max(xlim), col = "grey85", lty = c(1, 3, 1))
  for (class in seq_along(levels)) {
    draw_class_curve(at, prob[, class], class / length(levels), col[class], pch[class], style,
                     !is.null(axis$levels))
  }
  draw_lanes(scattered(axis, shown$at[[1L]], 1L), as.integer(shown$y), lane, col, pch, shown$near)
  draw_basis_ticks(shown$basis[[1L]])
  close_panel(style, input_label(object, view$axes), paste0("P(", response_name(object), ")"),
              x = axis_ticks(object, axis, xlim),
              y = if (is.null(style$ylim)) list(at = seq(0, 1, 0.25)))
  key <- class_key(levels, col, pch, style)
  if (!is.null(shown$basis)) key <- c(key, list(key_item("basis", "tick", INK)))
  draw_heading(style, key, beside_words(shown, view))
}

# The class's symbol stands on the curve here and there; `phase`, in (0, 1], keeps those of
# different classes apart. Between levels of a factor there is no curve.
draw_class_curve <- function(x, prob, phase, col, pch, style, levels) {
  lines(x, prob, col = col, lwd = if (levels) 0.5 else style$lwd, lty = if (levels) 3 else 1)
  marks <- if (levels) seq_along(x)
           else unique(round((seq_len(6L) - phase) / 6 * (length(x) - 1))) + 1
  draw_rows(x[marks], prob[marks], col, pch, 0.9 * (style$cex %||% 1), "white")
}

# A lane begins with its class's symbol, on the panel's edge.
draw_lanes <- function(x, code, lane, col, pch, near) {
  middle <- -0.03 - lane * (seq_along(col) - 0.5)
  pale <- grDevices::adjustcolor(col, row_alpha(length(x)))
  segments(x, middle[code] - 0.4 * lane, y1 = middle[code] + 0.4 * lane,
           col = faded(pale[code], near), lwd = 1.4, lend = 1)
  inches <- abs(diff(graphics::grconvertY(c(0, lane), "user", "inches")))
  draw_rows(rep(par("usr")[1L], length(col)), middle, col, pch, min(0.9, 1.5 * inches / par("csi")),
            xpd = NA)
}

# ---- By ggplot2 ----

auto_class_curves <- function(object, picture) {
  levels <- object$response$levels
  view <- picture$view
  drawn <- placed_columns(view, picture$drawn)
  long <- data.frame(place = rep(drawn$place, length(levels)),
                     class = factor(rep(levels, each = nrow(drawn)), levels),
                     fit = unlist(drawn[paste0("prob.", levels)], use.names = FALSE))
  if (!is.null(view$by)) long$by <- rep(drawn$by, length(levels))
  rows <- shown_frame(view, picture$shown)
  rows$class <- factor(rows$y, levels)
  along <- if (is.null(view$axis[[1L]]$levels)) ggplot2::geom_line else ggplot2::geom_point
  ggplot2::ggplot(long, mapped(x = "place", colour = "class")) + along(mapped(y = "fit")) +
    ggplot2::geom_rug(data = rows, sides = "b", alpha = 0.5) + class_scale("colour", levels) +
    by_panels(view) +
    ggplot2::labs(x = input_label(object, view$axes), y = "probability",
                  colour = response_name(object))
}
