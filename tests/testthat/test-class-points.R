# How many inducing points a class of a default fit has.

binary_problem <- function(rare, n = 1000, size = 400) {
  list(rows = matrix(rep(c(1, -1), c(rare, n - rare)), 1L), options = method_ivm(size))
}

test_that("a rare label has fewer points, whichever of the two it is", {
  size <- function(rare, ...) vectors_of_labels(binary_problem(rare, ...))$size
  expect_identical(size(500), 400)
  expect_identical(size(250), 400)
  expect_identical(size(1000 - 25), 200)
  expect_identical(size(25), 200) # the root of a quarter
  # and at least a fifth
  expect_identical(size(1), 80)
  expect_identical(vectors_of_labels(binary_problem(1))$fewest, 80)
  expect_identical(size(1, size = 1), 1)
  expect_identical(with_policy(rare_label = c(0.5, 0.5), code = size(125)), 200)
  # many classes together take the time of ten: the sum of squares does not grow with their number
  work <- function(classes) classes * size(1000 / classes)^2
  expect_equal(work(40), work(10), tolerance = 0.01) # whole points
})

test_that("a gain too small ends the selection, but not before the fewest", {
  set.seed(2)
  x <- matrix(runif(160), 80, dimnames = list(NULL, c("a", "b")))
  y <- x[, 1] > 0.5
  fit <- sparsegp(x, y, kernel = kernel_rbf(9, 0.5), learn = FALSE, method = method_ivm(40))
  problem <- list(x = x, spec = fit$spec, nkernel = 2L, processes = 1L, lik = fit$likelihood,
                  rows = fit$data_rows, offset = numeric(80), options = method_ivm(40),
                  tie_break = as.double(1:80))
  theta <- fit$hyper$theta
  chosen <- function(...) {
    problem$options[names(list(...))] <- list(...)
    engine_ivm(problem, theta)$id
  }
  all <- chosen()
  expect_length(all, 40L)
  gained <- chosen(min_gain = 0.05)
  expect_lt(length(gained), 20L)
  expect_identical(chosen(min_gain = 0.05, fewest = 25), all[1:25])
  expect_identical(chosen(min_gain = 0.05, fewest = 1), gained)
  expect_identical(gained, all[seq_along(gained)])
})

test_that("labels that inputs say nothing of have a fit, and few points", {
  set.seed(3)
  n <- 900
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  rare <- factor(rep(c("a", "b"), c(n - 3, 3)))
  fit <- sparsegp(x, rare, kernel = kernel_rbf(), control = gp_control(effort = "quick"))
  expect_lt(nrow(basis(fit)), n / 4)
  expect_equal(mean(predict(fit, x, type = "prob")[, "b"]), 3 / n, tolerance = 0.5) # of three rows
})
