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
  new_panel(class_curves, class_chart, class_surface, map_charts(decision_map), by = "pictures")
}

#' @export
panel_of.response_in_order <- panel_of.response_classes

# Returns a colour for each class: in a sequence where these have an order.
palette_of <- function(object) UseMethod("palette_of", codec_of(object))

#' @export
palette_of.response <- function(object) {
  class_colours(list(), count = length(object$response$levels))
}

#' @export
palette_of.response_in_order <- function(object) ordered_colours(length(object$response$levels))

# Returns the inputs, the most probable class, and a probability of each class.
class_frame <- function(inputs, axes, prob) {
  rownames(prob) <- NULL
  beside_axes(data.frame(inputs), axes,
              data.frame(class = most_probable(prob), prob = prob, check.names = FALSE))
}

# ---- Two inputs: the most probable class, in a deeper colour where it is surer ----

class_surface <- function(object, view, shown, asked) {
  nodes <- surface_nodes(view, shown, asked$n %||% default_nodes(object), asked$style)
  prob <- class_probabilities(object, slice_latent(object, view, nodes$grid))
  c(nodes, list(drawn = class_frame(nodes$grid, view$axes, prob)))
}

decision_map <- function(object, picture, style) {
  shown <- picture$shown
  surface <- picture$surface
  levels <- object$response$levels
  col <- rep_len(style$col %||% palette_of(object), length(levels))
  pch <- class_symbols(style, length(levels))
  code <- as.integer(shown$y)
  elements <- list(
    on_grid("classes", surface, list(levels = levels, col = col, lwd = style$lwd),
            picture$drawn[prob_columns(levels)], check.names = FALSE),
    new_element("points", list(fill = faded(col[code], shown$near), pch = pch[code],
                               size = style$cex %||% row_size(length(code))),
                x = shown$at[[1L]], y = shown$at[[2L]])
  )
  map_chart(object, picture, elements, class_key(levels, col, pch, style), paste(
    c(paste0("most probable ", response_name(object), ", deeper where surer"),
      nonempty(beside_words(shown, picture$view))), collapse = "; "
  ))
}

# ---- One input: a curve per class, and below a lane per class with its rows ----

class_curves <- function(object, view, shown, asked) {
  axis <- view$axis[[1L]]
  at <- axis_nodes(axis, axis_limits(axis, shown$at[[1L]], asked$style), asked$n)
  prob <- class_probabilities(object, slice_latent(object, view, list(at)))
  class_frame(axis_values(axis, at), view$axes, prob)
}

class_chart <- function(object, picture, style) {
  view <- picture$view
  shown <- picture$shown
  axis <- view$axis[[1L]]
  xlim <- axis_limits(axis, shown$at[[1L]], style)
  levels <- object$response$levels
  col <- rep_len(style$col %||% palette_of(object), length(levels))
  pch <- class_symbols(style, length(levels))
  lane <- min(0.05, 0.4 / length(levels))
  floor <- -0.03 - lane * length(levels) - if (is.null(shown$basis)) 0 else 0.06
  curves <- lapply(seq_along(levels), function(class) {
    class_curve(axis, as.numeric(picture$drawn[[1L]]), picture$drawn[[prob_columns(levels[class])]],
                class / length(levels), col[class], pch[class], style)
  })
  elements <- c(
    list(probability_rules()), unlist(curves, recursive = FALSE),
    class_lanes(scattered(axis, shown$at[[1L]], 1L), as.integer(shown$y), lane, col, pch,
                shown$near),
    list(basis_ticks(shown$basis))
  )
  new_chart(beside_words(shown, view), elements, input_label(object, view$axes),
            paste0("P(", response_name(object), ")"), xlim, c(floor, 1.04),
            list(x = axis_ticks(axis, object, xlim), y = probability_ticks(style)),
            c(class_key(levels, col, pch, style),
              list(if (!is.null(shown$basis)) key_item("basis", "tick", INK))))
}

# The class's symbol stands on the curve here and there; `phase`, in (0, 1], keeps those of
# different classes apart.
class_curve <- function(axis, x, prob, phase, col, pch, style) UseMethod("class_curve")

#' @export
class_curve.axis_number <- function(axis, x, prob, phase, col, pch, style) {
  marks <- unique(round((seq_len(6L) - phase) / 6 * (length(x) - 1))) + 1
  list(new_element("line", list(col = col, lwd = style$lwd, lty = 1), x = x, y = prob),
       class_marks(x[marks], prob[marks], col, pch, style))
}

# Between levels there is no curve, but a thin line for the eye.
#' @export
class_curve.axis_factor <- function(axis, x, prob, phase, col, pch, style) {
  list(new_element("line", list(col = col, lwd = 0.5, lty = 3), x = x, y = prob),
       class_marks(x, prob, col, pch, style))
}

class_marks <- function(x, prob, col, pch, style) {
  new_element("points", list(fill = col, pch = pch, size = 0.9 * (style$cex %||% 1),
                             edge = "white"), x = x, y = prob)
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
