r_code_alone()

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
  slow_tier()
  skip_if_not_installed("MASS")
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

test_that("contours are drawn of surfaces at which R's contour() stops, and no error is hidden", {
  quiet <- function(code) {
    grDevices::pdf(NULL)
    on.exit(grDevices::dev.off())
    graphics::plot.new()
    expect_silent(code)
  }
  grid <- seq(0, 1, length.out = 12L)
  lines_of <- function(z, levels) {
    z <- sparsegp:::for_contours(z, levels)
    if (is.null(z)) list() else grDevices::contourLines(grid, grid, z, levels = levels)
  }
  set.seed(1)
  # flat but for rounding: contourLines() itself says "k = 1, should be 2 or 4"
  noise <- array(2.884 + sample(-20:20, 144L, TRUE) * 2^-51, c(12L, 12L))
  quiet(sparsegp:::draw_contours(list(x = grid, y = grid, z = noise), pretty(noise), "black", 1))
  expect_length(lines_of(noise, pretty(noise)), 0L)
  # distances from the level whose product is no number, beside others
  tiny <- array(sample(c(-1e-170, 1e-165, -1, 1), 144L, TRUE), c(12L, 12L))
  quiet(sparsegp:::draw_contours(list(x = grid, y = grid, z = tiny), 0, "black", 1))
  # nodes and plateaus on a level, which R moves itself
  steps <- round(outer(grid, grid) * 4) / 4
  expect_gt(length(lines_of(steps, c(0.25, 0.5))), 1L)
  bad <- list(x = grid, y = grid, z = noise * grid)
  expect_error(sparsegp:::draw_contours(bad, 2, "no colour", 1))
})

test_that("a map of a mean that does not vary is one colour, without lines", {
  d <- data.frame(x = 1:12, y = rep(1:4, 3L), z = 5 + 1e-15 * (1:12))
  fit <- suppressWarnings(sparsegp(z ~ x + y, d, learn = FALSE, scale = FALSE))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(drawn <- plot(fit, n = 9))
  expect_equal(drawn$fit, rep(5, 81))
})
