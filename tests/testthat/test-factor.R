# kernel_factor(): groups, seen by level. The formula of the kernel is among the contract tests.

r_code_alone()

groups <- function(n = 90L) {
  set.seed(1)
  data <- data.frame(x = runif(n, -2, 2), g = sample(c("a", "b", "c", "d"), n, TRUE))
  data$y <- sin(2 * data$x) + c(a = -2, b = 0, c = 1, d = 3)[data$g] + 0.2 * rnorm(n)
  data
}

test_that("groups of a balanced one-way layout shrink as textbooks say", {
  d <- data.frame(g = gl(3, 4, labels = c("low", "mid", "high")),
                  y = c(1, 2, 3, 2, 4, 5, 6, 5, 9, 8, 7, 8))
  fit <- sparsegp(y ~ g, d, lik_gaussian(fixed(2)), kernel = kernel_factor("g", fixed(6)),
                  mean = "average")
  means <- tapply(d$y, d$g, mean)
  wanted <- mean(d$y) + 6 / (6 + 2 / 4) * (means - mean(d$y)) # variance / (variance + noise / n)
  new <- data.frame(g = c("low", "mid", "high", "other"))
  got <- predict(fit, new, se.fit = TRUE)
  expect_equal(unname(got$fit), unname(c(wanted, mean(d$y))), tolerance = 1e-10)
  expect_equal(unname(got$se.fit), sqrt(c(rep(6 - 36 / 6.5, 3), 6)), tolerance = 1e-8)
})

test_that("a factor has one column, whatever its order of levels, and text will do", {
  memory_tier()
  d <- groups()
  kernel <- kernel_rbf() + kernel_factor()
  fit <- sparsegp(y ~ x + g, d, kernel = kernel)
  expect_identical(variable.names(fit), c("x", "g"))
  expect_identical(format(fit$kernel), "rbf(vars = x) + factor(vars = g)")
  turned <- transform(d, g = factor(g, c("d", "b", "a", "c")))
  expect_equal(logLik(sparsegp(y ~ x + g, turned, kernel = kernel)), logLik(fit), tolerance = 1e-6)
  expect_equal(predict(fit, turned[1:5, ]), predict(fit, d[1:5, ]))
  of_matrix <- sparsegp(cbind(d$x, match(d$g, letters)), d$y, kernel = kernel_rbf() +
                          kernel_factor(2))
  expect_equal(as.numeric(logLik(of_matrix)), as.numeric(logLik(fit)), tolerance = 1e-6)
})

test_that("a new level is a draw from the prior, two rows of it the same draw", {
  d <- groups()
  fit <- sparsegp(y ~ x + g, d, kernel = kernel_rbf() + kernel_factor())
  new <- data.frame(x = c(0, 0, 0, 0), g = c("new", "new", "newer", NA))
  terms <- predict(fit, new, type = "terms", se.fit = TRUE)
  expect_identical(is.na(terms$fit[, 1L]), c("1" = FALSE, "2" = FALSE, "3" = FALSE, "4" = TRUE))
  joint <- joint_moments(fit, complete_inputs(fit, new)$x)$var
  expect_equal(joint[1, 2], joint[1, 1], tolerance = 1e-10)
  variance <- coef(fit)[["k2.variance"]] / fit$response$unit^2
  expect_equal(joint[1, 1] - joint[1, 3], variance, tolerance = 1e-10)
})

test_that("streams and fits on a basis know groups, and refuse levels that come later", {
  memory_tier()
  d <- groups()
  d$g <- factor(d$g)
  kernel <- kernel_rbf() + kernel_factor()
  full <- sparsegp(y ~ x + g, d, kernel = kernel, learn = FALSE)
  basis <- sparsegp(y ~ x + g, d, kernel = kernel, learn = FALSE,
                    basis = expand.grid(x = seq(-2, 2, 0.25), g = letters[1:4]))
  expect_identical(ncol(basis$posterior$basis), 2L)
  # 1e-3: a grid of a quarter of a unit carries the curve nearly
  expect_equal(predict(basis, d), predict(full, d), tolerance = 1e-3)
  stream <- sparsegp(y ~ x + g, d[0, ], kernel = kernel, learn = FALSE,
                     method = method_online(size = 60, pilot = 40))
  stream <- update(update(stream, d[1:50, ]), d[51:90, ])
  # 0.05: scaled by its first rows, with the same length scale in those units
  expect_equal(predict(stream, d), predict(full, d), tolerance = 0.05)
  unseen <- transform(d[1:2, ], g = "e")
  expect_error(update(stream, unseen), "new levels \\(g: e\\)", class = "sparsegp_error")
  expect_error(update(basis, unseen), "new levels \\(g: e\\)", class = "sparsegp_error")
  expect_false(anyNA(predict(basis, unseen)))
  expect_error(sparsegp(formula(basis), d, kernel = basis$kernel, basis = unseen),
               "`basis` has new levels \\(g: e\\)", class = "sparsegp_error")
})

test_that("what a factor kernel sees no other part can see as numbers", {
  d <- groups(20L)
  expect_error(sparsegp(y ~ x + g, d, kernel = kernel_rbf(vars = "g") + kernel_factor("g")),
               "as numbers", class = "sparsegp_error")
  expect_error(sparsegp(y ~ x * g, d, kernel = kernel_rbf() + kernel_factor("g")),
               "has interactions with g", class = "sparsegp_error")
  expect_error(sparsegp(y ~ g, d, kernel = kernel_rbf() + kernel_factor("g")),
               "part rbf.. that is left without inputs", class = "sparsegp_error")
  expect_error(sparsegp(y ~ x, d, kernel = kernel_rbf() + kernel_factor()),
               "part factor.. that is left without inputs", class = "sparsegp_error")
  expect_error(sparsegp(y ~ x + g, d, kernel = kernel_rbf() + kernel_factor(2)), "Give names",
               class = "sparsegp_error")
})
