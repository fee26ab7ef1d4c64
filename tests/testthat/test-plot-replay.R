# A picture that is replayed on a device of another size has its key placed anew.

# Returns what a device of this size writes, but for the hour. Bytes, as a picture has strings that
# are no text; of those R 4.6 makes an error where grep() is to give back what does not match.
written <- function(draw, width) {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file, width, 4, compress = FALSE)
  draw()
  grDevices::dev.off()
  on.exit(unlink(file))
  lines <- readLines(file, warn = FALSE)
  lines[!grepl("Date", lines, fixed = TRUE, useBytes = TRUE)]
}

test_that("a picture is the same if it is replayed on a device of another size", {
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  draw <- function() plot(fit, n = 5, main = "Cars")
  grDevices::pdf(NULL, 9, 4)
  grDevices::dev.control("enable")
  draw()
  kept <- grDevices::recordPlot()
  grDevices::dev.off()
  expect_identical(written(function() grDevices::replayPlot(kept), 4), written(draw, 4))
})

test_that("letters of keys have nine points, also on a page of several panels", {
  grDevices::pdf(NULL, 7, 5)
  on.exit(grDevices::dev.off())
  points <- function() heading_room(plot_style())$cex * graphics::par("cex") * graphics::par("ps")
  graphics::plot.new()
  expect_gte(points(), 9)
  on_one_page(2L, function() expect_gte(points(), 9))
})
