# Maps over two inputs: filled contours of the mean or of a probability, grey where the data have
# hardly any information, with contours or a second map of the standard error.

check_se <- function(panel, se) {
  if (is.null(se)) return(panel$se[1L])
  se <- check_choice(se, c("contour", "panel", "none"), "se")
  if (!se %in% panel$se) {
    stop_sparsegp("se", "is for maps of a mean or of one probability",
                  "Leave it out: this map already shows its uncertainty")
  }
  se
}

# ---- Charts of maps ----

# Returns a function that makes the charts of a map: the one that `chart` makes, and if asked for a
# second one of the standard error.
map_charts <- function(chart) {
  function(object, picture, style) {
    c(list(chart(object, picture, style)),
      if (picture$se == "panel") list(error_chart(object, picture, style)))
  }
}

# Builds the chart of a map, with the basis as rings.
map_chart <- function(object, picture, elements, key, title = "",
                      asp = map_aspect(object, picture$view$axes, picture$surface$limits), ...) {
  axes <- picture$view$axes
  limits <- picture$surface$limits
  basis <- picture$shown$basis
  rings <- if (!is.null(basis)) ring_points(basis)
  ticks <- Map(function(input, limit) input_ticks(object, input, limit), axes, limits)
  labels <- vapply(axes, input_label, "", object = object)
  new_chart(title, c(elements, list(rings)), labels[[1L]], labels[[2L]], limits[[1L]], limits[[2L]],
            list(x = ticks[[1L]], y = ticks[[2L]]),
            c(key, list(if (!is.null(basis)) key_item("basis", "point", INK, 1))), frame = "o",
            asp = asp, ...)
}

# Returns how long a unit of the second axis is beside one of the first: as on the Earth, in the
# middle of the map, where they are a longitude and a latitude; 1 for other coordinates of one
# system. NA: as the page has room.
map_aspect <- function(object, axes, limits) {
  inputs <- plain_names(object)[object$scaling$kept]
  sphere <- object$scaling$sphere
  pairs <- paste(inputs[sphere$lon], inputs[sphere$lat], sep = "\n", recycle0 = TRUE)
  width <- function(latitudes) max(cospi(mean(latitudes) / 180), 0.1) # of a degree of longitude
  system <- common_system(attr(object$terms, "measures")[axes])
  if (paste(axes, collapse = "\n") %in% pairs) 1 / width(limits[[2L]])
  else if (paste(rev(axes), collapse = "\n") %in% pairs) width(limits[[1L]])
  else if (is.null(system)) NA
  else if (system == DEGREES) 1 / width(limits[[2L]])
  else 1
}

DEGREES <- "EPSG:4326" # a longitude and then a latitude

ring_points <- function(basis) {
  new_element("points", list(fill = INK, pch = 1, size = 1.5, lwd = 1.2), x = basis[[1L]],
              y = basis[[2L]])
}

# Describes an element at the nodes of a grid.
on_grid <- function(kind, surface, look, ...) {
  new_element(kind, look, x = rep(surface$x, length(surface$y)),
              y = rep(surface$y, each = length(surface$x)), ...)
}

# Returns bands of colour between levels, with contours at these.
band_elements <- function(surface, z, levels, ramp, name) {
  z <- c(clamped(z, levels))
  look <- list(levels = levels, colours = ramp(length(levels) - 1L), name = name)
  list(on_grid("bands", surface, look, z = z),
       on_grid("contours", surface, list(levels = levels, col = INK, lwd = 0.7), z = z))
}

error_contours <- function(surface) {
  look <- list(levels = contour_levels(surface$error, surface$known, 4L), col = ORANGE, lwd = 1,
               lty = 2)
  on_grid("contours", surface, look, z = c(surface$error))
}

mask_element <- function(surface) {
  if (!all(surface$known)) on_grid("mask", surface, list(), known = surface$known)
}

# Rows as dots that hide little.
dots <- function(shown) {
  new_element("points", list(fill = INK, pch = 16, size = 0.35), x = shown$at[[1L]],
              y = shown$at[[2L]])
}

# ---- What is drawn ----

# Returns `drawn`, the nodes of a grid, the mean there, its standard error, and whether the data
# have information on it; the same as matrices for contours: z, error. known: of (object, x,
# variances)
mean_surface <- function(object, view, shown, asked, known = is_known) {
  nodes <- surface_nodes(view, shown, asked$n %||% default_nodes(object), asked$style)
  x <- slice_inputs(view, nodes$grid)
  latent <- latent_at(object, x, view$offset)
  fit <- flattened(point_response(object, latent))
  se <- flattened(point_spread(object, latent, point_type(object, "response")))
  known <- known(object, x, latent$var)
  c(nodes, list(z = array(fit, nodes$count), error = array(se, nodes$count), known = known,
                drawn = surface_frame(nodes, view, fit = fit, se = se, known = known)))
}

# Far from data a probability is near that of the prior, and no grey area.
probability_surface <- function(...) {
  mean_surface(..., known = function(object, x, var) rep(TRUE, length(var)))
}

# Returns the points along each side of a map, or of several that share a page. Probabilities of C
# classes take time like C^2: beyond twelve of them there are fewer points, and a picture takes a
# second or two.
default_nodes <- function(object, maps = 1L) {
  max(21, floor(min(81, 1000 / functions_of(object)) * sqrt(min(1, 2 / maps))))
}

# Limits, places along both axes, how many, and the grid of them, a row for each.
surface_nodes <- function(view, shown, n, style) {
  if (isTRUE(style$log)) refuse_log()
  check_count(n, "n", 2L, floor(sqrt(MOST_DRAWN))) # along each of two inputs
  limits <- Map(function(given, axis, at) given %||% around_axis(axis, at),
                list(style$xlim, style$ylim), view$axis, shown$at)
  at <- lapply(limits, function(limit) seq(min(limit), max(limit), length.out = n))
  list(limits = limits, x = at[[1L]], y = at[[2L]], count = lengths(at),
       grid = as.matrix(expand.grid(unname(at), KEEP.OUT.ATTRS = FALSE)))
}

surface_frame <- function(nodes, view, ...) {
  beside_axes(as.data.frame(nodes$grid), view$axes, data.frame(...))
}

UNKNOWN <- 0.9 # of the prior variance is left: the data have hardly any information

# Is the variance there less than that share of the prior's, but for what constants add to it?
is_known <- function(object, x, var) {
  parts <- fit_parts(object)
  if (length(parts) == 0L) return(rep(TRUE, length(var)))
  var < UNKNOWN * parts_kernel(parts)$diagonal(scale_kept(x, object$scaling))
}

mask_key <- function(surface) {
  if (!all(surface$known)) key_item("far from data", "band", MASK)
}

# ---- Probability of the second class ----

UNLABELLED <- "grey45" # rows without a label

# Ten steps from pale BLUE to pale ORANGE through the white of equal probabilities
CLASS_RAMP <- grDevices::colorRampPalette(c("#7FB8DA", "#F7F7F7", "#F0B27F"), space = "Lab")(10L)

probability_map <- function(object, picture, style) {
  surface <- picture$surface
  shown <- picture$shown
  contour <- picture$se == "contour"
  pch <- rep_len(style$pch %||% c(21, 24), 2L)
  col <- class_colours(style)
  code <- as.integer(shown$y)
  none <- is.na(code)
  contours <- function(levels, col, lwd, ...) {
    on_grid("contours", surface, list(levels = levels, col = col, lwd = lwd, ...),
            z = c(surface$z))
  }
  points <- function(which, look) {
    new_element("points", look, x = shown$at[[1L]][which], y = shown$at[[2L]][which])
  }
  elements <- list(
    on_grid("bands", surface, list(levels = seq(0, 1, 0.1), colours = CLASS_RAMP,
                                   name = response_label(object)), z = c(surface$z)),
    contours(c(0.1, 0.3, 0.7, 0.9), "grey35", 0.7),
    contours(0.5, INK, style$lwd, drawlabels = FALSE), if (contour) error_contours(surface),
    points(none, list(fill = UNLABELLED, pch = 16,
                      size = 0.6 * (style$cex %||% row_size(length(code))))),
    points(!none, list(fill = faded(col[code], shown$near)[!none], pch = pch[code][!none],
                       size = style$cex %||% row_size(sum(!none))))
  )
  names <- object$response$levels
  key <- list(key_item(names[1L], "point", col[1L], pch[1L]),
              key_item(names[2L], "point", col[2L], pch[2L]),
              if (any(none)) key_item("no label", "point", UNLABELLED),
              key_item("probability 0.5", "line", INK), if (contour) error_key())
  map_chart(object, picture, elements, key, name = response_label(object), paste(
    c(response_label(object), nonempty(beside_words(shown, picture$view))), collapse = "; "
  ))
}

# ---- Mean, and its standard error ----

mean_ramp <- function(count) {
  grDevices::colorRampPalette(c("#F9FBFD", "#C3D9EC", "#7FB0D6", "#3F80B5"), space = "Lab")(count)
}

error_ramp <- function(count) {
  grDevices::colorRampPalette(c("#FFFDF8", "#F8DDB8", "#EBA763", "#C8691F"), space = "Lab")(count)
}

# Levels of round numbers over what is known of the surface; the rest may be any number.
contour_levels <- function(z, known, count) {
  pretty(range(if (any(known)) z[known] else z), count)
}

# Rows are filled by their response on the colours of the mean: a row that stands out is a residual.
mean_map <- function(object, picture, style) {
  surface <- picture$surface
  shown <- picture$shown
  name <- paste("mean of", response_label(object))
  contour <- picture$se == "contour"
  levels <- surface$levels$mean %||% contour_levels(surface$z, surface$known, 10L)
  fill <- mean_ramp(length(levels) - 1L)[findInterval(shown$y, levels, all.inside = TRUE)]
  n <- length(shown$y)
  look <- list(fill = faded(style$col %||% fill, shown$near), pch = style$pch %||% 21,
               size = style$cex %||% row_size(n),
               edge = faded(grDevices::adjustcolor("black", row_alpha(n)), shown$near))
  elements <- c(
    band_elements(surface, surface$z, levels, mean_ramp, response_label(object)),
    list(if (contour) error_contours(surface), mask_element(surface),
         new_element("points", look, x = shown$at[[1L]], y = shown$at[[2L]]))
  )
  key <- list(key_item(name, "line", INK, lwd = 0.7), if (contour) error_key(),
              key_item("rows, filled by their response", "point", "grey45"), mask_key(surface))
  map_chart(object, picture, elements, key, beside_words(shown, picture$view), name = name)
}

error_key <- function() key_item("its standard error", "line", ORANGE, lwd = 1, lty = 2)

error_chart <- function(object, picture, style) {
  surface <- picture$surface
  levels <- surface$levels$error %||% contour_levels(surface$error, surface$known, 8L)
  name <- paste("standard error of the mean of", response_label(object))
  elements <- c(band_elements(surface, surface$error, levels, error_ramp, name),
                list(mask_element(surface), dots(picture$shown)))
  key <- list(key_item(name, "line", INK, lwd = 0.7), mask_key(surface))
  map_chart(object, picture, elements, key, picture$view$caption, name = "its standard error")
}
