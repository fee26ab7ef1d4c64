# draws(from = "prior"), simulate(from = "prior"): functions of the prior at the fit's
# hyperparameters.

r_code_alone()

far <- data.frame(x = c(500, 501, 504), z = 0)

fits_of_kinds <- function() {
  set.seed(1)
  d <- data.frame(x = runif(40, 0, 3), z = runif(40))
  d$y <- sin(2 * d$x) + 0.1 * sin(40 * d$z)
  kernel <- kernel_rbf(2, 1.5, vars = "x")
  fit <- function(formula, ..., likelihood = NULL) {
    sparsegp(formula, d, likelihood, kernel, learn = FALSE, scale = FALSE, ...)
  }
  list(
    numbers = fit(y ~ x + z, mean = "zero"), average = fit(y ~ x + z, mean = "average"),
    basis = fit(y ~ x + z, method = method_ep(size = 10), mean = "zero"),
    stream = fit(y ~ x + z, method = method_online(size = 10, pilot = 20)),
    labels = fit(y > 0 ~ x + z), counts = fit(round(exp(y)) ~ x + z, likelihood = "poisson"),
    classes = fit(cut(y, 3, ordered_result = FALSE) ~ x + z),
    scale = fit(exp(y) ~ x + z, likelihood = lik_gaussian(transform = "log"), mean = "zero"),
    ordered = fit(cut(y, 3, ordered_result = TRUE) ~ x + z)
  )
}

test_that("far from the data the posterior is the prior, whatever the response", {
  memory_tier()
  hidden <- asNamespace("sparsegp")
  for (fit in fits_of_kinds()) {
    x <- hidden$rows_asked(fit, far)$x
    for (class in seq_len(hidden$processes(fit))) {
      prior <- hidden$prior_moments(fit, x, class)
      posterior <- hidden$joint_moments(fit, x, class)
      # nothing but rounding: the kernel is below 1e-300 between the data and these rows
      expect_equal(prior$mean, posterior$mean, tolerance = 1e-12)
      expect_equal(prior$var, posterior$var, tolerance = 1e-12)
    }
    expect_gt(max(abs(draws(fit, far, 3, "latent", from = "prior"))), 0)
  }
})

test_that("draws of the prior have its covariance, around the estimated mean", {
  fit <- sparsegp(dist ~ speed, cars, "gaussian", kernel_rbf(400, 1), mean = ~ speed, learn = FALSE)
  rows <- data.frame(speed = c(5, 9, 30))
  N <- 20000L
  set.seed(2)
  f <- draws(fit, rows, N, from = "prior")
  apart <- outer(rows$speed, rows$speed, "-") / sd(cars$speed)
  K <- 400 * exp(-apart^2 / 2)
  # five standard errors of a covariance of N draws
  expect_lt(max(abs(cov(t(f)) - K)), 5 * 400 * sqrt(2 / N))
  # a line of generalised least squares, as mean = ~ speed estimates it
  V <- 400 * exp(-outer(cars$speed, cars$speed, "-")^2 / (2 * sd(cars$speed)^2)) +
    coef(fit)[["noise"]] * diag(50)
  X <- cbind(1, cars$speed)
  beta <- solve(crossprod(X, solve(V, X)), crossprod(X, solve(V, cars$dist)))
  expect_lt(max(abs(rowMeans(f) - cbind(1, rows$speed) %*% beta)), 5 * 20 / sqrt(N))
})

test_that("components have their joint prior, and responses are simulated from it", {
  memory_tier()
  set.seed(3)
  d <- data.frame(x = runif(30, 0, 3), y = runif(30, 0, 3), u = rnorm(30), v = rnorm(30))
  fit <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel_divfree(kernel_rbf(1, 1)), learn = FALSE,
                  scale = FALSE, mean = "zero")
  expect_equal(dim(draws(fit, d[1:4, ], 3, from = "prior")), c(4L, 3L, 2L))
  labels <- sparsegp(am ~ wt, transform(mtcars, am = factor(am)), learn = FALSE)
  drawn <- simulate(labels, 200, seed = 1, from = "prior")
  expect_equal(dim(drawn), c(32L, 200L))
  expect_identical(levels(drawn$sim_1), c("0", "1"))
  # under the prior heavy cars have a manual gear about as often as light ones
  heavy <- mtcars$wt > 3
  rate <- rowMeans(as.matrix(drawn) == "1")
  expect_lt(abs(mean(rate[heavy]) - mean(rate[!heavy])), 0.1)
  expect_error(draws(labels, from = "data"), "from", class = "sparsegp_error")
  expect_error(draws(labels, type = "slope", vars = "wt", from = "prior"), "from",
               class = "sparsegp_error")
})

test_that("fits integrated over hyperparameters draw from the prior of each", {
  memory_tier()
  fit <- sparsegp(dist ~ speed, cars[1:15, ], control = gp_control(integrate = "ccd"))
  f <- draws(fit, data.frame(speed = c(5, 500)), 50, from = "prior")
  expect_equal(dim(f), c(2L, 50L))
  expect_gt(sd(f[2L, ]), 0)
})
