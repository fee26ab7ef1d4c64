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

# What is outside the levels stays free.
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
