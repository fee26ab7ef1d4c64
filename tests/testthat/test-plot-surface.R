test_that("bands of colour are those of the surface at each pixel's centre", {
  x <- seq(-1, 2, length.out = 7)
  y <- seq(0, 5, length.out = 21)
  surface <- function(x, y) 1 + 2 * x - y + 0.5 * x * y # bilinear: interpolation is exact
  levels <- c(-3, -1.02, 0.01, 1.99)
  col <- c("red", "green", "blue")
  drawn <- sparsegp:::band_colours(outer(x, y, surface), levels, col)
  expect_gte(min(dim(drawn)), 500)
  centre <- function(nodes, count) {
    min(nodes) + diff(range(nodes)) * (seq_len(count) - 0.5) / count
  }
  at <- list(centre(x, ncol(drawn)), rev(centre(y, nrow(drawn))))
  truth <- t(outer(at[[1L]], at[[2L]], surface))
  expect_true(any(truth > 1.99) && any(truth < -3)) # and is left free there
  expect_identical(drawn, array(as.character(cut(truth, levels, col)), dim(truth)))
})

test_that("a map is filled by one picture, not by a polygon for every cell", {
  file <- tempfile(fileext = ".pdf")
  fit <- sparsegp(z ~ x + y, MASS::topo, kernel = kernel_rbf(2000, 1.5), lik_gaussian(100),
                  learn = FALSE)
  grDevices::pdf(file, compress = FALSE)
  plot(fit)
  grDevices::dev.off()
  drawn <- readBin(file, "raw", file.size(file))
  text <- rawToChar(drawn[drawn > 0x1f & drawn < 0x7f])
  expect_match(text, "/Subtype /Image", fixed = TRUE)
  # a cell of .filled.contour() ends in "h f"; the grid has 6400 of them
  expect_lt(lengths(regmatches(text, gregexpr(" f|h f|b ", text))), 500)
})
