# Priors: densities, slopes, and which hyperparameter a name means.

r_code_alone()

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

two_kernels <- kernel_rbf(ard = TRUE) + kernel_constant()

# A table of hyperparameters: k1.variance, k1.lengthscale.a and .b, k2.variance, noise or bias.
table_of <- function(prior, likelihood = NULL, kernel = two_kernels) {
  x <- cbind(a = c(1, 2, 4, 3, 6, 5), b = c(2, 1, 3, 5, 4, 0))
  y <- c(0, 1, 0, 1, 1, 1)
  sparsegp(x, y, likelihood, kernel, learn = FALSE, control = gp_control(prior = prior))$hyper
}

# Names of the hyperparameters that got the prior given under `name`.
meant_by <- function(name, ...) {
  table <- table_of(setNames(list(prior_normal(3, 2)), name), ...)
  table$name[vapply(table$prior, identical, NA, prior_normal(3, 2))]
}

test_that("a prior prints itself and returns itself unseen", {
  shows <- function(prior, line) {
    expect_invisible(expect_output(value <- print(prior)))
    expect_identical(capture.output(print(prior)), line)
    expect_identical(value, prior)
  }
  shows(prior_lognormal(-1, 1), "<prior> lognormal(meanlog = -1, sdlog = 1)")
  shows(prior_logcauchy(0.5, 2), "<prior> logcauchy(location = 0.5, scale = 2.0)")
  shows(prior_gamma(2, 0.5), "<prior> gamma(shape = 2.0, rate = 0.5)")
  shows(prior_normal(0, 5), "<prior> normal(mean = 0, sd = 5)")
  shows(prior_flat(), "<prior> flat()")
})

prior_log_density <- function(prior, x) PRIOR_FAMILIES[[prior$family]]$log_density(x, prior$par)

prior_slope <- function(prior, x) PRIOR_FAMILIES[[prior$family]]$slope(x, prior$par)

test_that("log densities are those of stats, in the form the search uses", {
  x <- c(1e-8, 0.3, 1, 7, 1e6)
  # normal in the logarithm, without the Jacobian that dlnorm() has
  expect_equal(prior_log_density(prior_lognormal(-1, 2), x), dlnorm(x, -1, 2, log = TRUE) + log(x))
  expect_equal(prior_log_density(prior_logcauchy(-1, 2), x), dcauchy(log(x), -1, 2, log = TRUE))
  expect_equal(prior_log_density(prior_gamma(3, 0.7), x), dgamma(x, 3, 0.7, log = TRUE))
  expect_equal(prior_log_density(prior_normal(2, 3), -x), dnorm(-x, 2, 3, log = TRUE))
  expect_equal(prior_log_density(prior_flat(), x), numeric(5L))
})

test_that("slopes are the derivatives of the log densities", {
  priors <- list(prior_lognormal(-1, 2), prior_logcauchy(-1, 0.6),
                 prior_gamma(3, 0.7), prior_gamma(0.5, 2),
                 prior_normal(2, 3), prior_flat())
  for (prior in priors) {
    for (x in c(0.05, 0.9, 12)) {
      by_differences <- numeric_gradient(function(x) prior_log_density(prior, x), x)
      # differences with steps of 0.005 and less, next to 0.05
      expect_equal(prior_slope(prior, x), by_differences, tolerance = 1e-7)
    }
  }
})

test_that("the log prior of a model sums over what is learned, and its gradient is in theta", {
  table <- table_of(list(variance = prior_gamma(2, 1), bias = prior_normal(1, 2)), "probit",
                    kernel_rbf(lengthscale = fixed(2), vars = "a"))
  log_prior <- function(theta) hyper_log_prior(table, theta)$value
  value <- hyper_value(table)
  expect_equal(log_prior(table$theta),
               dgamma(value[1L], 2, 1, log = TRUE) + dnorm(value[3L], 1, 2, log = TRUE))
  at <- table$theta + c(0.3, 0, -0.8)
  # the fixed length scale has no slope
  expect_equal(hyper_log_prior(table, at)$gradient, numeric_gradient(log_prior, at)[c(1L, 3L)],
               tolerance = 1e-9)
})

test_that("a prior with the mode asked for moves the fit there", {
  # 1e4 observations' worth of prior: no data can argue with it
  prior <- list(lengthscale = prior_lognormal(log(0.7), 1e-4), noise = prior_normal(0.3, 1e-5))
  fit <- sparsegp(dist ~ speed, cars[1:15, ], control = gp_control(prior = prior),
                  structure = "fixed")
  expect_equal(coef(fit)[c("lengthscale", "noise")], c(lengthscale = 0.7, noise = 0.3),
               tolerance = 1e-3)
})

test_that("a name is full, or without the kernel's number, or without the input's", {
  slow_tier()
  expect_identical(meant_by("k1.lengthscale.b"), "k1.lengthscale.b")
  expect_identical(meant_by("lengthscale.b"), "k1.lengthscale.b")
  expect_identical(meant_by("k1.lengthscale"), c("k1.lengthscale.a", "k1.lengthscale.b"))
  expect_identical(meant_by("lengthscale"), c("k1.lengthscale.a", "k1.lengthscale.b"))
  expect_identical(meant_by("variance"), c("k1.variance", "k2.variance"))
  expect_identical(meant_by("k2.variance"), "k2.variance")
  expect_identical(meant_by("noise"), "noise")
  expect_identical(meant_by("bias", "logit"), "bias")
  expect_identical(meant_by("lengthscale", kernel = kernel_rbf()), "lengthscale")
})

test_that("a later name wins over an earlier one", {
  table <- table_of(list(lengthscale = prior_flat(), k1.lengthscale.b = prior_normal(1, 1)))
  families <- vapply(table$prior, function(prior) prior$family, "")
  expect_identical(families[table$base == "lengthscale"], c("flat", "normal"))
})

test_that("what is not named keeps its default", {
  without <- table_of(NULL)
  with <- table_of(list(k2.variance = prior_flat()))
  kept <- without$name != "k2.variance"
  expect_identical(with$prior[kept], without$prior[kept])
})

test_that("priors for unknown hyperparameters are refused", {
  slow_tier()
  for (name in c("foo", "bias", "k3.variance", "lengthscale.c", "k2.lengthscale", "k1", "k1.noise",
                 "variance.variance", "k1.k1.variance", "")) {
    refused(table_of(setNames(list(prior_flat()), name)), "prior")
  }
  refused(table_of(list(variance.variance = prior_flat()), kernel = kernel_rbf()), "prior")
  expect_error(sparsegp(mpg ~ wt + hp, mtcars,
                        control = gp_control(prior = list(lengthscale.wt = prior_flat()))),
               "kernel_rbf(ard = TRUE)", fixed = TRUE, class = "sparsegp_error")
})

test_that("what is not a named list of priors is refused", {
  for (bad in list(prior_flat(), list(prior_flat()), 3, "flat",
                   list(variance = prior_flat(), prior_flat()))) {
    refused(table_of(bad), "prior")
  }
  refused(table_of(list(noise = 3)), "prior$noise")
  refused(table_of(list(noise = prior_flat)), "prior$noise")
})

test_that("a prior for positive numbers is refused for a bias, which may be negative", {
  refused(table_of(list(bias = prior_gamma(2, 1)), "probit"), "prior")
  refused(table_of(list(bias = prior_lognormal(0, 1)), "probit"), "prior")
})

test_that("illegal parameters of a prior are refused, naming them", {
  refused(prior_lognormal(NA, 1), "meanlog")
  refused(prior_lognormal(0, 0), "sdlog")
  refused(prior_gamma(0, 1), "shape")
  refused(prior_gamma(1, -1), "rate")
  refused(prior_normal("a", 1), "mean")
  refused(prior_normal(0, Inf), "sd")
  refused(prior_normal(0, c(1, 2)), "sd")
})

test_that("slopes of values in theta are those of differences, in any range", {
  set.seed(1)
  x <- runif(12)
  for (lik in list(lik_student(df = 5), lik_flip())) {
    y <- if (lik$type == "flip") factor(x > 0.5) else x
    table <- sparsegp(x, y, lik, learn = FALSE)$hyper
    by_differences <- numeric_gradient(function(theta) sum(hyper_value(table, theta)), table$theta)
    expect_equal(hyper_slope(table, hyper_value(table)), by_differences, tolerance = 1e-8)
  }
})
