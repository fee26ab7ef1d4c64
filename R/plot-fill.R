# Bands of colour between the levels of a surface, as one raster. .filled.contour() draws a polygon
# a cell and band: pale seams between them on most devices, and megabytes in a PDF or SVG.

PIXELS <- 500L # along a side, at least: finer than the lines drawn over their edges are wide

fill_bands <- function(surface, levels, col) {
  bands <- grDevices::as.raster(band_colours(surface$z, levels, col))
  graphics::rasterImage(bands, surface$x[1L], surface$y[1L], surface$x[length(surface$x)],
                        surface$y[length(surface$y)], interpolate = FALSE)
}

# z at the nodes of a grid, x (rows) and y (columns) each equally spaced, is bilinear between them;
# what is outside the levels stays free. A raster begins at its top.
band_colours <- function(z, levels, col) {
  fine <- tent_weights(nrow(z)) %*% z %*% t(tent_weights(ncol(z)))
  band <- findInterval(fine, levels, rightmost.closed = TRUE)
  shade <- array(c(NA, col, NA)[band + 1L], dim(fine))
  t(shade)[rev(seq_len(ncol(fine))), , drop = FALSE]
}

# Weights of n nodes (columns) in linear interpolation at the centres of pixels (rows).
tent_weights <- function(n) {
  pixels <- (n - 1L) * ceiling(PIXELS / (n - 1L))
  at <- 1 + (n - 1L) * (seq_len(pixels) - 0.5) / pixels
  pmax(1 - abs(outer(at, seq_len(n), "-")), 0)
}
