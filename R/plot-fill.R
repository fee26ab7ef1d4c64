# Surfaces given at the nodes of a grid, by base graphics: bands of colour, contours, classes.

# Returns the surface that an element describes: places x and y, and a matrix z of a column, or an
# array of several.
grid_of <- function(d, columns = "z") {
  x <- unique(d$x)
  y <- unique(d$y)
  z <- unlist(d[columns], use.names = FALSE)
  list(x = x, y = y,
       z = array(z, c(length(x), length(y), if (length(columns) > 1L) length(columns))))
}

# ---- Bands ----

# Bands of colour between the levels of a surface, as one raster. .filled.contour() draws a polygon
# a cell and band: pale seams between them on most devices, and megabytes in a PDF or SVG.

PIXELS <- 500L # along a side, at least: finer than the lines drawn over their edges are wide

fill_bands <- function(surface, levels, col) {
  draw_pixels(surface, band_colours(surface$z, levels, col))
}

draw_pixels <- function(surface, colours) {
  graphics::rasterImage(grDevices::as.raster(colours), surface$x[1L], surface$y[1L],
                        surface$x[length(surface$x)], surface$y[length(surface$y)],
                        interpolate = FALSE)
}

# Turns a matrix with a row for each step along x into a raster's rows, which begin at the top.
raster_rows <- function(colours) t(colours)[rev(seq_len(ncol(colours))), , drop = FALSE]

# Returns the colours of pixels; those outside the levels stay free.
band_colours <- function(z, levels, col) {
  fine <- pixel_values(z)
  band <- findInterval(fine, levels, rightmost.closed = TRUE)
  raster_rows(array(c(NA, col, NA)[band + 1L], dim(fine)))
}

# Returns z, given at the nodes of a grid, x (rows) and y (columns) each equally spaced, at the
# centres of pixels; it is bilinear between nodes.
pixel_values <- function(z) {
  x <- pixel_places(nrow(z))
  y <- pixel_places(ncol(z))
  z <- z[x$below, , drop = FALSE] * (1 - x$share) + z[x$below + 1L, , drop = FALSE] * x$share
  share <- rep(y$share, each = nrow(z))
  z[, y$below, drop = FALSE] * (1 - share) + z[, y$below + 1L, drop = FALSE] * share
}

# The node below each of the pixels along a side of n nodes, and which part of the way to the next
# one the pixel's centre is.
pixel_places <- function(n) {
  each <- ceiling(PIXELS / (n - 1L))
  list(below = rep(seq_len(n - 1L), each = each),
       share = rep((seq_len(each) - 0.5) / each, n - 1L))
}

# ---- Contours ----

# Values beyond the outermost levels have the outermost colours.
clamped <- function(z, levels) pmin(pmax(z, min(levels)), max(levels))

# Draws lines at some levels. The labels of contour() do not follow par("cex").
draw_contours <- function(surface, levels, col, lwd, lty = 1, drawlabels = TRUE) {
  surface$z <- for_contours(surface$z, levels)
  if (is.null(surface$z)) return(invisible())
  for (level in levels) {
    contour(surface, levels = level, add = TRUE, col = col, lwd = lwd, lty = lty, vfont = NULL,
            drawlabels = drawlabels, labcex = 0.75 * par("cex"))
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
  if (is.na(range) || range == 0) return(NULL)
  for (level in levels) z[abs(z - level) < 1e-12 * range] <- level
  z
}

# Returns z, or where it varies by rounding alone its mean at every node.
flattened <- function(z) {
  if (all(is.finite(z)) && diff(range(z)) < LEAST_RANGE * max(abs(z))) z[] <- mean(z)
  z
}

# Fills where z is FALSE, over what the data do not determine, with a thin edge.
mask_unknown <- function(surface, fill, edge) {
  surface$z[] <- as.double(surface$z)
  fill_bands(surface, c(-1, 0.5), fill)
  draw_contours(surface, 0.5, edge, 0.7, drawlabels = FALSE)
}

# ---- Classes ----

# Columns of class_frame()
prob_columns <- function(levels) paste0("prob.", levels)

# Boundaries between depths of colour, as probabilities of the most probable class
DEPTHS <- c(0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

# Every pixel has the colour of its most probable class, so edges are no staircase of the grid.
paint_classes <- function(surface, look) {
  col <- look$col
  lead <- class_leads(surface$z)
  seen <- sort(unique(c(lead$best)))
  draw_pixels(surface, class_pixels(surface$z, seen, col, look$paper))
  top <- list(x = surface$x, y = surface$y, z = lead$top)
  # of two classes one always has 0.5
  draw_contours(top, if (length(col) > 2L) c(0.5, 0.7, 0.9) else c(0.7, 0.9),
                look$faint, 0.7)
  for (class in seen) {
    draw_contours(list(x = surface$x, y = surface$y, z = lead$by[, , class]), 0, look$ink,
                  look$lwd, drawlabels = FALSE)
  }
}

# Colours of pixels, of those classes that are the most probable one anywhere.
class_pixels <- function(z, seen, col, paper = "white") {
  tints <- outer(col, seq(0.14, 0.62, length.out = length(DEPTHS)), Vectorize(tint), paper)
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

tint <- function(col, depth, paper) {
  grDevices::rgb(t(depth * grDevices::col2rgb(col) + (1 - depth) * grDevices::col2rgb(paper)),
                 maxColorValue = 255)
}
