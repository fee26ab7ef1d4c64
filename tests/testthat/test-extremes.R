# Inputs and hyperparameters at the edge of what doubles hold: an answer, or a remedy.

extreme_rows <- function() {
  set.seed(1)
  x <- seq(0, 1, length.out = 30)
  data.frame(x = x, y = 5 + sin(6 * x) + 0.1 * rnorm(30))
}

test_that("an input of large numbers that differ is one, and nothing else is said of it", {
  d <- extreme_rows()
  expect_no_warning(fit <- sparsegp(d$x + 1e12, d$y, kernel = kernel_rbf(), learn = FALSE))
  expect_false(fit$scaling$alike)
  near <- sparsegp(d$x, d$y, kernel = kernel_rbf(), learn = FALSE)
  # 1e12 has steps of 1e-4
  expect_equal(predict(fit, d$x + 1e12), predict(near, d$x), tolerance = 1e-3)
})

test_that("inputs that do not vary, or by rounding alone, are told from each other", {
  d <- extreme_rows()
  fit <- function(x) sparsegp(x, d$y, kernel = kernel_rbf(), learn = FALSE)
  expect_warning(constant <- fit(rep(3, 30)), "the fit is a constant", class = "sparsegp_warning")
  expect_lt(diff(range(predict(constant, rep(3, 30)))), 1e-12)
  expect_warning(fit(d$x + 1e15), "its rounding error", class = "sparsegp_warning")
})

test_that("a value compared with which all others are equal is refused, an outlier is not", {
  d <- extreme_rows()
  for (far in c(1e308, -1e308, 1e20, 1e15)) {
    said <- capture_warnings(expect_error(sparsegp(c(far, d$x[-1]), d$y), "all others are equal",
                                          class = "sparsegp_error"))
    expect_length(said, 0L)
  }
  fine <- list(c(1e6, d$x[-1]), d$x * 1e308, d$x * 1e-300, 10^seq(-100, 100, length.out = 30),
               c(-1, 1) %x% rep(1, 15), rep(3, 30), numeric(30), c(rep(0, 29), 1e300))
  for (x in fine) expect_false(is_lost_among(x))
  expect_true(is_lost_among(c(rep(1e300, 5), d$x)))
})

test_that("a scale far below the data ends in an error that names the likelihood", {
  slow_tier()
  d <- extreme_rows()[c(1, 4, 7, 11, 14, 17, 20, 24, 27, 30), ]
  fit <- function(scale) {
    sparsegp(y ~ x, d, lik_student(scale = fixed(scale), df = fixed(4)), kernel_rbf(),
             learn = FALSE)
  }
  expect_error(suppressWarnings(fit(1e-8)), "`likelihood` is student.*neither EP nor variational",
               class = "sparsegp_error")
  # what is fitted is what is predicted, within the steps of its noise
  near <- suppressWarnings(fit(1e-3))
  expect_equal(unname(predict(near, d)), unname(fitted(near)), tolerance = 0.01)
})

test_that("residuals of fitted values whose range is no number are drawn without a mean", {
  drawn <- data.frame(residual = sin(1:20), fitted = seq(-1.5e308, 1.5e308, length.out = 20),
                      leverage = 0.1)
  for (x in list(drawn$fitted, c(-1, 1) * 1.6e308, 5e-324 * (1:20))) {
    drawn$fitted <- rep_len(x, 20)
    expect_no_error(residual_chart(1L, drawn, list(col = "black", cex = 1, pch = 1)))
  }
})

test_that("rhythms are looked for in the smallest and largest numbers that there are", {
  y <- 1 + sin(1:12)
  for (x in list((1:12) * 5e-324, 1:12 * 1e-300, seq(-1.5e308, 1.5e308, length.out = 12))) {
    expect_length(seen_periods(x, y, 2L)$period, 0L)
  }
  near <- seen_periods(1:12, y, 2L)
  for (unit in c(1e-301, 1e300)) expect_equal(seen_periods(1:12, unit * y, 2L), near)
})
