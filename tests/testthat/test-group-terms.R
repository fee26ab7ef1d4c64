# Group terms of mixed models in a formula, `(1 | g)` and `(x | g)`, are parts of the kernel.

r_code_alone()

group_data <- function() {
  set.seed(1)
  d <- data.frame(x = runif(40), g = rep(c("u", "v", "w", "z"), 10), h = rep(c("a", "b"), 20),
                  k = rep(1:4, 10))
  d$y <- sin(4 * d$x) + d$k / 4 + rnorm(40) / 9
  d
}

grouped <- function(formula, ..., data = group_data()) {
  suppressMessages(sparsegp(formula, data, learn = FALSE, ...))
}

test_that("a group term is the part of a kernel that its message names", {
  slow_tier()
  d <- group_data()
  same <- function(formula, plain, parts, ...) {
    expect_message(fit <- sparsegp(formula, d, learn = FALSE, ...), "read as parts of the kernel")
    by_hand <- sparsegp(plain, d, learn = FALSE, kernel = parts)
    expect_identical(format(fit$kernel), format(by_hand$kernel))
    expect_equal(predict(fit, d, se.fit = TRUE), predict(by_hand, d, se.fit = TRUE),
                 tolerance = 1e-12)
  }
  one <- kernel_factor("g")
  slope <- kernel_linear(vars = "x") * kernel_factor("g", variance = fixed(1))
  same(y ~ x + (1 | g), y ~ x + g, kernel_rbf() + one)
  same(y ~ x + (x | g), y ~ x + g, kernel_rbf() + one + slope)
  same(y ~ (x || g), y ~ x + g, kernel_rbf() + one + slope)
  same(y ~ x + (0 + x | g), y ~ x + g, kernel_rbf() + slope)
  same(y ~ (1 | g), y ~ g, one)
  same(y ~ x + (1 | k), y ~ x + k, kernel_rbf() + kernel_factor("k"))
  same(y ~ x + (1 | g:h), y ~ x + g + h, kernel_rbf() + kernel_factor(c("g", "h")))
  same(y ~ x + (1 | h / g), y ~ x + h + g,
       kernel_rbf() + kernel_factor("h") + kernel_factor(c("h", "g")))
  same(y ~ x + (1 | g) + (1 | h), y ~ x + g + h, kernel_rbf() + one + kernel_factor("h"))
  same(y ~ x + (1 | g), y ~ x + g, kernel_matern52() + one, kernel = "matern52")
  same(y ~ x + (1 | g), y ~ x + g, kernel_linear() + one, kernel = kernel_linear())
})

test_that("updates keep the parts, and a new level has the variance of one", {
  d <- group_data()
  fit <- grouped(y ~ x + (1 | g), data = d)
  more <- update(fit, . ~ . + h, data = d)
  expect_match(format(more$kernel), "factor(vars = g)", fixed = TRUE)
  new <- predict(fit, data.frame(x = 0.5, g = c("u", "new")), se.fit = TRUE)
  expect_gt(new$se.fit[[2L]], 2 * new$se.fit[[1L]])
  dots <- grouped(y ~ . + (1 | g), data = d[c("y", "x", "g")])
  expect_match(format(dots$kernel), "rbf(vars = x)", fixed = TRUE)
})

test_that("numbers that group terms alone read are levels in pictures", {
  slow_tier()
  d <- data.frame(x = rep(1:8, 4L), g = rep(c(1, 2.5, 7, 9), each = 8L))
  d$y <- sin(d$x) + d$g %% 2
  fit <- suppressMessages(sparsegp(y ~ x + (1 | g), d, learn = FALSE))
  drawn <- drawing(plot(fit, "g"))
  expect_identical(as.character(drawn$g), c("1", "2.5", "7", "9"))
  at <- data.frame(x = stats::median(d$x), g = c(1, 2.5, 7, 9))
  expect_equal(drawn$fit, unname(predict(fit, at)), tolerance = 1e-12)
  effects <- drawing(plot(fit, "g", "effects"))
  expect_length(effects[[1L]]$fit, 4L)
  # another kernel that reads it makes it a number again
  both <- suppressMessages(sparsegp(y ~ x + g + (1 | g), d, kernel = kernel_rbf(vars = c("x", "g")),
                                    learn = FALSE))
  expect_type(drawing(plot(both, "g"))$g, "double")
})
