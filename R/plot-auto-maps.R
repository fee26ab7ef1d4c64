# Maps over two inputs by ggplot2, with the colours, levels and lines of those of plot().

# layers: of (object, drawn, rows, se), those of a kind of map
surface_layers <- function(object, picture, layers) {
  view <- picture$view
  drawn <- placed_columns(view, picture$drawn)
  rows <- shown_frame(view, picture$shown)
  base <- ggplot2::ggplot(drawn, mapped(x = "place", y = "place2")) +
    ggplot2::coord_cartesian(expand = FALSE) +
    ggplot2::labs(x = view$axes[1L], y = view$axes[2L],
                  caption = wrapped(beside_words(picture$shown, view)))
  if (picture$se == "panel") return(base + auto_two_panels(object, drawn, rows))
  base + by_panels(view) + layers(object, drawn, rows, picture$se)
}

by_panels <- function(view) if (!is.null(view$by)) ggplot2::facet_wrap("by")

# ---- Pieces ----

# Bands of colour between levels; what lies beyond the outermost has their colours.
band_layers <- function(drawn, levels, colours, name) {
  drawn$fit <- clamped(drawn$fit, levels)
  filled <- do.call(ggplot2::aes, list(z = quote(fit),
                                       fill = quote(ggplot2::after_stat(level_mid))))
  middle <- (seq_along(colours) - 0.5) / length(colours)
  # a flat surface has no bands: the raster below has its colour
  bands <- if (diff(range(drawn$fit)) > 0) {
    ggplot2::geom_contour_filled(filled, drawn, breaks = levels, show.legend = FALSE)
  }
  list(ggplot2::geom_raster(mapped(fill = "fit"), drawn), bands,
       ggplot2::scale_fill_stepsn(colours = colours, values = middle, breaks = levels,
                                  limits = range(levels), name = name,
                                  oob = function(x, range) clamped(x, range)))
}

# Grey over what the data say nothing of, with a thin edge.
mask_layers <- function(drawn) {
  if (all(drawn$known)) return(NULL)
  drawn$unknown <- as.double(!drawn$known)
  # without fill = NULL the contours' levels, a factor, would go to the scale of the map's colours
  area <- do.call(ggplot2::aes, list(z = as.name("unknown"), fill = NULL))
  list(ggplot2::geom_contour_filled(area, drawn, breaks = c(0.5, 2), fill = MASK),
       ggplot2::geom_contour(mapped(z = "unknown"), drawn, breaks = 0.5, colour = "grey70",
                             linewidth = 0.3))
}

# Contours of a column at some levels, with their numbers on them: so far along the line as `at`
# says, from 0 to 1, or nowhere.
contour_layers <- function(drawn, column, levels, colour, linetype = 1, linewidth = 0.3, at = 0.5) {
  inside <- levels[levels > min(drawn[[column]]) & levels < max(drawn[[column]])]
  if (length(inside) == 0L) return(NULL)
  lines <- ggplot2::geom_contour(mapped(z = column), drawn, breaks = inside, colour = colour,
                                 linetype = linetype, linewidth = linewidth)
  labels <- if (!is.null(at)) label_places(drawn, column, inside, at)
  if (is.null(labels)) return(lines)
  list(lines, ggplot2::geom_point(data = labels, colour = "white", alpha = 0.75, size = 4),
       ggplot2::geom_text(mapped(label = "label"), labels, colour = colour, size = 3))
}

SHORTEST_LABELLED <- 8L # points of a contour

# Returns a place on the longest contour at each level, in every panel.
label_places <- function(drawn, column, levels, at) {
  panels <- if (is.null(drawn$by)) list(drawn) else split(drawn, drawn$by)
  each <- lapply(panels, function(panel) {
    x <- sort(unique(panel$place))
    y <- sort(unique(panel$place2))
    z <- for_contours(matrix(panel[[column]], length(x)), levels)
    if (is.null(z)) return(NULL)
    lines <- grDevices::contourLines(x, y, z, levels = levels)
    size <- lengths(lapply(lines, `[[`, "x"))
    lines <- lines[order(-size)][seq_len(sum(size >= SHORTEST_LABELLED))]
    lines <- lines[!duplicated(vapply(lines, `[[`, 0, "level"))]
    each <- lapply(lines, function(line) {
      i <- round(1 + at * (length(line$x) - 1L))
      data.frame(place = line$x[i], place2 = line$y[i], label = format(line$level, digits = 4L))
    })
    places <- do.call(rbind, each)
    if (!is.null(drawn$by) && !is.null(places)) places$by <- panel$by[1L]
    places
  })
  do.call(rbind, unname(each))
}

error_layers <- function(drawn) {
  known <- drawn$known %||% rep(TRUE, nrow(drawn))
  contour_layers(drawn, "se", contour_levels(drawn$se, known, 4L), ORANGE, 2, 0.5, 0.3)
}

# ---- Maps of a mean ----

# Rows are filled by their response on the colours of the mean.
auto_mean_map <- function(object, drawn, rows, se) {
  levels <- contour_levels(drawn$fit, drawn$known, 10L)
  n <- nrow(rows)
  list(band_layers(drawn, levels, mean_ramp(length(levels) - 1L), response_label(object)),
       contour_layers(drawn, "fit", levels, INK),
       if (se == "contour") error_layers(drawn), mask_layers(drawn),
       ggplot2::geom_point(mapped(fill = "y"), rows, shape = 21, size = 2 * row_size(n),
                           colour = grDevices::adjustcolor("black", row_alpha(n))))
}

# The mean and its standard error, each from its least to its largest value.
auto_two_panels <- function(object, drawn, rows) {
  share <- function(z) {
    seen <- range(z[drawn$known])
    pmin(pmax((z - seen[1L]) / max(diff(seen), .Machine$double.xmin), 0), 1)
  }
  panels <- c(paste("mean of", response_label(object)), "its standard error")
  both <- rbind(data.frame(drawn, panel = panels[1L], share = share(drawn$fit), z = drawn$fit),
                data.frame(drawn, panel = panels[2L], share = share(drawn$se), z = drawn$se))
  both$panel <- factor(both$panel, panels)
  each <- function(panel) ggplot2::geom_contour(mapped(z = "z"), both[both$panel == panel, ],
                                                colour = INK, linewidth = 0.3)
  list(ggplot2::geom_raster(mapped(fill = "share"), both), lapply(panels, each),
       mask_layers(both), ggplot2::geom_point(data = rows, size = 0.5),
       if (is.null(drawn$by)) ggplot2::facet_wrap("panel") else ggplot2::facet_grid(by ~ panel),
       ggplot2::scale_fill_gradientn(colours = mean_ramp(9L), name = "from least\nto largest"))
}

# ---- Maps of classes ----

# The probability of the second class, in colours from that of the first to that of the second.
auto_class_map <- function(object, drawn, rows, se) {
  classes <- object$response$levels
  rows$class <- factor(rows$y, classes)
  list(band_layers(drawn, seq(0, 1, 0.1), CLASS_RAMP, response_label(object)),
       contour_layers(drawn, "fit", c(0.1, 0.3, 0.7, 0.9), "grey35"),
       contour_layers(drawn, "fit", 0.5, INK, linewidth = 1, at = NULL),
       if (se == "contour") error_layers(drawn),
       ggplot2::geom_point(mapped(shape = "class"), rows, size = 3, colour = "white",
                           show.legend = FALSE),
       ggplot2::geom_point(mapped(colour = "class", shape = "class"), rows, size = 2),
       ggplot2::scale_shape_manual(values = c(16, 17), drop = FALSE),
       class_scale("colour", classes),
       ggplot2::labs(colour = response_name(object), shape = response_name(object)))
}

auto_decisions <- function(object, drawn, rows, se) {
  levels <- object$response$levels
  drawn$top <- do.call(pmax, drawn[paste0("prob.", levels)])
  rows$class <- factor(rows$y, levels)
  list(ggplot2::annotate("rect", xmin = -Inf, xmax = Inf, ymin = -Inf, ymax = Inf, fill = "white"),
       ggplot2::geom_raster(mapped(fill = "class", alpha = "top"), drawn),
       ggplot2::geom_point(mapped(fill = "class"), rows, shape = 21, colour = "white"),
       class_scale("fill", levels), ggplot2::scale_alpha(range = c(0.1, 0.7), name = "probability"),
       ggplot2::labs(fill = response_name(object)))
}

# ---- Maps of effects ----

auto_term_map <- function(picture, drawn) {
  levels <- contour_levels(drawn$fit, TRUE, 8L)
  ggplot2::ggplot(drawn, mapped(x = "place", y = "place2")) +
    ggplot2::coord_cartesian(expand = FALSE) +
    band_layers(drawn, levels, mean_ramp(length(levels) - 1L), picture$label) +
    contour_layers(drawn, "fit", levels, INK) + error_layers(drawn) +
    ggplot2::labs(x = picture$view$axes[1L], y = picture$view$axes[2L])
}
