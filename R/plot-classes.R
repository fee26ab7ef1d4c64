# Pictures of several classes: a decision map over two inputs, probability curves along one.

class_symbols <- function(style, count) rep_len(style$pch %||% c(21, 24, 22, 23, 25), count)

# Long names are shortened where the margin has no room for them, beside a row of other things.
class_key <- function(levels, col, pch, style) {
  if (!style$legend) return(unname(Map(key_item, levels, "point", col, pch)))
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
  new_panel(class_curves, class_chart, class_surface, surface_drawer(draw_decision_map),
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
  nodes <- surface_nodes(view, shown, asked$n %||% default_nodes(object), asked$style)
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

class_chart <- function(object, picture, style) {
  view <- picture$view
  shown <- picture$shown
  axis <- view$axis[[1L]]
  xlim <- curve_limits(axis, shown$at[[1L]], style)
  levels <- object$response$levels
  col <- class_colours(style, count = length(levels))
  pch <- class_symbols(style, length(levels))
  lane <- min(0.05, 0.4 / length(levels))
  floor <- -0.03 - lane * length(levels) - if (is.null(shown$basis)) 0 else 0.06
  curves <- lapply(seq_along(levels), function(class) {
    class_curve(as.numeric(picture$drawn[[1L]]), picture$drawn[[paste0("prob.", levels[class])]],
                class / length(levels), col[class], pch[class], style, !is.null(axis$levels))
  })
  elements <- c(
    list(probability_rules()), unlist(curves, recursive = FALSE),
    class_lanes(scattered(axis, shown$at[[1L]], 1L), as.integer(shown$y), lane, col, pch,
                shown$near),
    list(basis_ticks(shown$basis))
  )
  new_chart(beside_words(shown, view), elements, input_label(object, view$axes),
            paste0("P(", response_name(object), ")"), xlim, c(floor, 1.04),
            list(x = axis_ticks(object, axis, xlim), y = probability_ticks(style)),
            c(class_key(levels, col, pch, style),
              list(if (!is.null(shown$basis)) key_item("basis", "tick", INK))))
}

# The class's symbol stands on the curve here and there; `phase`, in (0, 1], keeps those of
# different classes apart. Between levels of a factor there is no curve.
class_curve <- function(x, prob, phase, col, pch, style, levels) {
  marks <- if (levels) seq_along(x)
           else unique(round((seq_len(6L) - phase) / 6 * (length(x) - 1))) + 1
  list(new_element("line", list(col = col, lwd = if (levels) 0.5 else style$lwd,
                                lty = if (levels) 3 else 1), x = x, y = prob),
       new_element("points", list(fill = col, pch = pch, size = 0.9 * (style$cex %||% 1),
                                  edge = "white"), x = x[marks], y = prob[marks]))
}

# A lane begins with its class's symbol, on the panel's edge.
class_lanes <- function(x, code, lane, col, pch, near) {
  middle <- -0.03 - lane * (seq_along(col) - 0.5)
  pale <- grDevices::adjustcolor(col, row_alpha(length(x)))
  at <- middle[code]
  list(new_element("bars", list(col = faded(pale[code], near), lwd = 1.4), x = x,
                   y = at - 0.4 * lane, x1 = x, y1 = at + 0.4 * lane),
       new_element("lanes", list(fill = col, pch = pch, width = lane), y = middle))
}
