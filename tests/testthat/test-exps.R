# Exponentials of many numbers (src/exps.c), as kernels of distances compute them, beside R's exp().

# exp(-r^2 / 2), of distances r between points of one input and the first of them
rbf_of <- function(r) {
  spec <- list(type = "rbf", vars = 0L, levels = 0, ard = FALSE, degree = 0L, parts = list())
  drop(kernel_matrix(spec, c(0, 0), matrix(r), matrix(0)))
}

test_that("exponentials are R's to two units in the last place, 1 at 0, and 0 far away", {
  # the squared distance is rounded, and so is its exponential, which is as many times more off
  r <- c(seq(0, 37, length.out = 5000), 2^(-30:5))
  expect_lt(max(abs(rbf_of(r) / exp(-r^2 / 2) - 1) / (1 + r^2 / 2)), 4 * .Machine$double.eps)
  expect_identical(rbf_of(c(0, 0)), c(1, 1))
  # numbers beyond those that go abreast: small, denormal, none
  far <- c(37.3, 38, 38.5, 39, 1e3, 1e200)
  expect_equal(rbf_of(far), exp(-far^2 / 2), tolerance = 1e-10)
  expect_identical(rbf_of(c(1e3, 1e200)), c(0, 0))
})

test_that("a number's exponential does not depend on its neighbours or its place", {
  r <- c(0.3, 40, 1.7, 2.9, 1e3, 5, 0.01, 36, 12.5)
  alone <- vapply(r, rbf_of, 0)
  for (times in c(1L, 2L, 5L)) {
    for (first in c(1L, 4L)) {
      rows <- rep(c(first:9, seq_len(first - 1L)), times)
      expect_identical(rbf_of(r[rows]), alone[rows])
    }
  }
})

test_that("Matern kernels are their formulas at few and at many points", {
  spec <- list(type = "matern52", vars = 0L, levels = 0, ard = FALSE, degree = 0L, parts = list())
  r <- c(0, seq(0.01, 20, length.out = 130), 400)
  s <- sqrt(5) * r
  found <- drop(kernel_matrix(spec, c(0, 0), matrix(r), matrix(0)))
  expect_equal(found, (1 + s + s^2 / 3) * exp(-s), tolerance = 1e-14)
  spec$type <- "matern32"
  s <- sqrt(3) * r
  found <- drop(kernel_matrix(spec, c(0, 0), matrix(r), matrix(0)))
  expect_equal(found, (1 + s) * exp(-s), tolerance = 1e-14)
})
