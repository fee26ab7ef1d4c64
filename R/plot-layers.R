# Layers of ggplot2 that pictures share.

# An aesthetic for each argument: the column of that name.
mapped <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# Columns of fixed names: place, by, and what is predicted.
placed_columns <- function(view, drawn) {
  names(drawn)[seq_along(view$axes)] <- c("place", "place2")[seq_along(view$axes)]
  if (!is.null(view$by)) names(drawn)[length(view$axes) + 1L] <- "by"
  drawn
}

shown_frame <- function(view, shown) {
  axis <- view$axis[[1L]]
  place <- shown$at[[1L]]
  frame <- data.frame(place = place, y = shown$y, near = shown$near)
  if (!is.null(axis$levels)) frame$place <- factor(axis$levels[place], axis$levels)
  if (length(shown$at) > 1L) frame$place2 <- shown$at[[2L]]
  if (!is.null(view$by)) frame$by <- factor(view$by$levels[shown$level], view$by$levels)
  frame[is.finite(as.numeric(frame$y)), ]
}

# Dates and times on the axis along numbers
clock_scale <- function(object, input) {
  clock <- object$clocks[[input]]
  if (is.null(clock)) return(NULL)
  ggplot2::scale_x_continuous(labels = function(at) format(on_clock(clock, at)))
}

# Intervals and mean, along numbers or over levels.
estimate_layers <- function(view, drawn, colour = TRUE) {
  grouped <- !is.null(view$by) && colour
  mapping <- function(...) {
    arguments <- list(x = "place", ...)
    if (!is.null(view$by)) arguments$group <- "by"
    if (grouped) arguments$colour <- "by"
    if (grouped && !is.null(arguments$ymax) && is.null(arguments$y)) arguments$fill <- "by"
    do.call(mapped, arguments)
  }
  blue <- if (grouped) list() else list(colour = BLUE)
  if (!is.null(view$axis[[1L]]$levels)) {
    apart <- ggplot2::position_dodge(0.5)
    return(list(do.call(ggplot2::geom_pointrange, c(
      list(mapping(y = "fit", ymin = "lwr", ymax = "upr"), drawn, position = apart), blue
    ))))
  }
  band <- function(lwr, upr, alpha) {
    filled <- if (grouped) list(colour = NA) else list(fill = BLUE)
    known <- drawn[!is.na(drawn[[lwr]]), ]
    do.call(ggplot2::geom_ribbon, c(list(mapping(ymin = lwr, ymax = upr), known, alpha = alpha),
                                    filled))
  }
  many <- length(view$by$levels) > MANY
  list(if (is.null(view$by) && !is.null(drawn$new_lwr)) band("new_lwr", "new_upr", PALE),
       if (!many) band("lwr", "upr", DARK),
       do.call(ggplot2::geom_line, c(list(mapping(y = "fit"), drawn), blue)))
}

row_layer <- function(view, rows) {
  n <- nrow(rows)
  mapping <- if (is.null(view$by) || length(view$by$levels) > MANY) mapped(x = "place", y = "y")
             else mapped(x = "place", y = "y", colour = "by")
  where <- if (is.null(view$axis[[1L]]$levels)) "identity"
           else ggplot2::position_jitterdodge(0.1, 0, 0.5, seed = 1L)
  if (!is.null(view$axis[[1L]]$levels) && is.null(view$by)) {
    where <- ggplot2::position_jitter(0.15, 0, seed = 1L)
  }
  ggplot2::geom_point(mapping, rows, alpha = row_alpha(n), size = 1.5 * row_size(n),
                      position = where)
}

group_scales <- function(view) {
  if (!length(view$by$levels) %in% seq_len(MANY)) return(NULL)
  list(ggplot2::scale_colour_manual(values = CLASS_COLOURS, name = view$by$name),
       ggplot2::scale_fill_manual(values = CLASS_COLOURS, name = view$by$name))
}

# Rows of two classes at the bottom and at the top
class_rugs <- function(view, rows) {
  mapping <- if (is.null(view$by)) mapped(x = "place") else mapped(x = "place", colour = "by")
  code <- as.integer(rows$y)
  rug <- function(class, side) {
    own <- if (is.null(view$by)) list(colour = CLASS_COLOURS[class])
    do.call(ggplot2::geom_rug, c(list(mapping, rows[code == class, ], sides = side, alpha = 0.5),
                                 own))
  }
  list(rug(2L, "t"), rug(1L, "b"))
}

class_scale <- function(aesthetic, levels) {
  scale <- if (aesthetic == "fill") ggplot2::scale_fill_manual else ggplot2::scale_colour_manual
  scale(values = rep_len(CLASS_COLOURS, length(levels)), drop = FALSE)
}

# Draws intervals and mean of one latent function along an input; rows_layer: of (view, rows).
curve_layers <- function(object, picture, rows_layer) {
  view <- picture$view
  drawn <- placed_columns(view, picture$drawn)
  few <- length(view$by$levels) <= MANY
  ggplot2::ggplot() + estimate_layers(view, drawn, few) +
    rows_layer(view, shown_frame(view, picture$shown)) + group_scales(view) +
    clock_scale(object, view$axes) +
    ggplot2::labs(x = input_label(object, view$axes), y = response_label(object),
                  caption = wrapped(curve_words(view, picture$shown, picture$level)))
}
