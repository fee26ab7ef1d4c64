# Maps over two inputs: filled contours of the mean or of a probability, grey where the data say
# next to nothing, with contours or a second map of the standard error.

check_se <- function(panel, se) {
  if (is.null(se)) return(panel$se[1L])
  se <- check_choice(se, c("contour", "panel", "none"), "se")
  if (!se %in% panel$se) {
    stop_sparsegp("se", "is for maps of a mean or of one probability",
                  "Leave it out: this map shows by itself where less is known")
  }
  se
}

# Returns a function that draws a map by `draw`, and if asked for a second panel of its error.
surface_drawer <- function(draw) {
  function(object, picture, style) {
    two <- picture$se == "panel"
    panel <- function(draw) {
      surface_panel(object, picture$view, picture$shown, picture$surface, draw, style)
    }
    on_one_page(1L + two, function() {
      panel(function(...) draw(..., contour = picture$se == "contour"))
      if (two) panel(draw_error_surface)
    }, rows = 1L)
  }
}

# Returns `drawn`, the nodes of a grid, the mean there, its standard error, and whether the data say
# anything of it; the same as matrices for contours: z, error. known: of (object, x, variances)
mean_surface <- function(object, view, shown, asked, known = is_known) {
  nodes <- surface_nodes(view, shown, asked$n %||% default_nodes(object), asked$style)
  x <- slice_inputs(view, nodes$grid)
  latent <- latent_at(object, x, view$offset)
  fit <- flattened(mean_response(object, latent))
  se <- flattened(standard_deviation(object, latent, "response"))
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
  max(21, floor(min(81, 1000 / processes(object)) * sqrt(min(1, 2 / maps))))
}

# Limits, places along both axes, how many, and the grid of them, a row for each.
surface_nodes <- function(view, shown, n, style) {
  limits <- Map(function(given, axis, at) given %||% around_axis(axis, at),
                list(style$xlim, style$ylim), view$axis, shown$at)
  at <- lapply(limits, function(limit) seq(min(limit), max(limit), length.out = n))
  list(limits = limits, x = at[[1L]], y = at[[2L]], count = lengths(at),
       grid = as.matrix(expand.grid(unname(at), KEEP.OUT.ATTRS = FALSE)))
}

surface_frame <- function(nodes, view, ...) {
  beside_axes(as.data.frame(nodes$grid), view$axes, data.frame(...))
}

UNKNOWN <- 0.9 # of the prior variance is left: the data say next to nothing

# Is the variance there less than that share of the prior's, but for what constants add to it?
is_known <- function(object, x, var) {
  parts <- fit_parts(object)
  if (length(parts) == 0L) return(rep(TRUE, length(var)))
  var < UNKNOWN * parts_kernel(parts)$diagonal(scale_kept(x, object$scaling))
}

surface_panel <- function(object, view, shown, surface, draw, style) {
  limits <- surface$limits
  open_panel(limits[[1L]], limits[[2L]], style$asp)
  heading <- draw(object, view, shown, surface, style)
  draw_basis_rings(shown$basis)
  ticks <- Map(function(input, limit) input_ticks(object, input, limit), view$axes, limits)
  close_panel(style, view$axes[1L], view$axes[2L], bty = "o", ticks[[1L]], ticks[[2L]])
  if (!is.null(shown$basis)) {
    heading$key <- c(heading$key, list(key_item("basis", "point", INK, 1)))
  }
  draw_heading(style, heading$key, heading$caption)
}

# Draws lines at some levels. The labels of contour() do not follow par("cex").
draw_contours <- function(surface, levels, col, lwd, ...) {
  surface$z <- for_contours(surface$z, levels)
  if (is.null(surface$z)) return(invisible())
  for (level in levels) {
    contour(surface, levels = level, add = TRUE, col = col, lwd = lwd, vfont = NULL,
            labcex = 0.75 * par("cex"), ...)
  }
}

# Returns values through which R can draw contours at these levels, or NULL of a flat surface. R
# moves a node that is on a level off it by a thousandth of the range, and takes a level to cross an
# edge of a cell if the product of both ends' distances from the level is negative. It stops with
# "should be 2 or 4" of a surface that is flat but for rounding, as the move is lost in rounding,
# too, and of distances whose product underflows; nodes as near as that are put on the level.
for_contours <- function(z, levels) {
  z <- flattened(z)
  range <- diff(range(z))
  if (range == 0) return(NULL)
  for (level in levels) z[abs(z - level) < 1e-12 * range] <- level
  z
}

# Returns z, or where it varies by no more than rounding does its mean at every node.
flattened <- function(z) {
  if (diff(range(z)) < LEAST_RANGE * max(abs(z))) z[] <- mean(z)
  z
}

MASK <- "grey90"

# Grey over what the data say nothing of, with a thin edge.
mask_unknown <- function(surface) {
  if (all(surface$known)) return(invisible())
  surface$z <- array(as.double(surface$known), dim(surface$error))
  fill_bands(surface, c(-1, 0.5), MASK)
  draw_contours(surface, 0.5, "grey70", 0.7, drawlabels = FALSE)
}

mask_key <- function(surface) {
  if (!all(surface$known)) key_item("far from data", "band", MASK)
}

# ---- Probability of the second class ----

UNLABELLED <- "grey45" # rows without a label

# Ten steps from pale BLUE to pale ORANGE through the white of equal probabilities
CLASS_RAMP <- grDevices::colorRampPalette(c("#7FB8DA", "#F7F7F7", "#F0B27F"), space = "Lab")(10L)

draw_class_surface <- function(object, view, shown, surface, style, contour = FALSE) {
  levels <- seq(0, 1, 0.1)
  fill_bands(surface, levels, CLASS_RAMP)
  draw_contours(surface, c(0.1, 0.3, 0.7, 0.9), "grey35", 0.7)
  draw_contours(surface, 0.5, INK, style$lwd, drawlabels = FALSE)
  if (contour) draw_error_contours(surface)
  pch <- rep_len(style$pch %||% c(21, 24), 2L)
  col <- class_colours(style)
  code <- as.integer(shown$y)
  none <- is.na(code)
  points(shown$at[[1L]][none], shown$at[[2L]][none], pch = 16, col = UNLABELLED,
         cex = 0.6 * (style$cex %||% row_size(length(code))))
  draw_rows(shown$at[[1L]], shown$at[[2L]], faded(col[code], shown$near), pch[code],
            style$cex %||% row_size(sum(!none)))
  names <- object$response$levels
  key <- list(key_item(names[1L], "point", col[1L], pch[1L]),
              key_item(names[2L], "point", col[2L], pch[2L]),
              if (any(none)) key_item("no label", "point", UNLABELLED),
              key_item("probability 0.5", "line", INK), if (contour) error_key())
  list(key = key, caption = paste(c(response_label(object), nonempty(beside_words(shown, view))),
                                  collapse = "; "))
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

# Values beyond the outermost levels have the outermost colours.
clamped <- function(z, levels) pmin(pmax(z, min(levels)), max(levels))

# Rows are filled by their response on the colours of the mean: a row that stands out is a residual.
draw_mean_surface <- function(object, view, shown, surface, style, contour = FALSE) {
  levels <- surface$levels$mean %||% contour_levels(surface$z, surface$known, 10L)
  palette <- mean_ramp(length(levels) - 1L)
  surface$z <- clamped(surface$z, levels)
  fill_bands(surface, levels, palette)
  draw_contours(surface, levels, INK, 0.7)
  if (contour) draw_error_contours(surface)
  mask_unknown(surface)
  fill <- palette[findInterval(shown$y, levels, all.inside = TRUE)]
  n <- length(shown$y)
  draw_rows(shown$at[[1L]], shown$at[[2L]], faded(style$col %||% fill, shown$near),
            style$pch %||% 21, style$cex %||% row_size(n),
            faded(grDevices::adjustcolor("black", row_alpha(n)), shown$near))
  key <- list(key_item(paste("mean of", response_label(object)), "line", INK, lwd = 0.7),
              if (contour) error_key(),
              key_item("rows, filled by their response", "point", "grey45"), mask_key(surface))
  list(key = key, caption = beside_words(shown, view))
}

error_key <- function() key_item("its standard error", "line", ORANGE, lwd = 1, lty = 2)

draw_error_contours <- function(surface) {
  error <- list(x = surface$x, y = surface$y, z = surface$error)
  draw_contours(error, contour_levels(surface$error, surface$known, 4L), ORANGE, 1, lty = 2)
}

draw_error_surface <- function(object, view, shown, surface, style) {
  levels <- surface$levels$error %||% contour_levels(surface$error, surface$known, 8L)
  error <- list(x = surface$x, y = surface$y, z = clamped(surface$error, levels))
  fill_bands(error, levels, error_ramp(length(levels) - 1L))
  draw_contours(error, levels, INK, 0.7)
  mask_unknown(surface)
  points(shown$at[[1L]], shown$at[[2L]], pch = 16, cex = 0.35, col = INK)
  key <- list(key_item(paste("standard error of the mean of", response_label(object)), "line", INK,
                       lwd = 0.7), mask_key(surface))
  list(key = key, caption = view$caption)
}

draw_basis_rings <- function(basis) {
  if (!is.null(basis)) points(basis[[1L]], basis[[2L]], pch = 1, cex = 1.5, col = INK, lwd = 1.2)
}
