# The prior mean: a linear function whose coefficients are integrated out.

r_code_alone()

series <- function(n, noise = 0.1, level = 3) {
  x <- seq(-2, 2, length.out = n)
  data.frame(x = x, z = cos(3 * seq_len(n)), y = level + sin(3 * x) + noise * cos(7 * seq_len(n)))
}

# Returns a fit at fixed hyperparameters, those of the kernel in units of the response; scale =
# FALSE, so that kernels see the inputs as they are.
fit_series <- function(data, noise, mean = NULL, lengthscale = 0.7, ..., formula = y ~ x) {
  kernel <- kernel_matern52(variance = fixed(1.3), lengthscale = fixed(lengthscale), vars = "x")
  sparsegp(formula, data, kernel = kernel, likelihood = lik_gaussian(fixed(noise)), mean = mean,
           scale = FALSE, learn = FALSE, ...)
}

matern52_of <- function(x, z, lengthscale = 0.7) {
  r <- abs(outer(x, z, "-")) / lengthscale
  1.3 * (1 + sqrt(5) * r + 5 * r^2 / 3) * exp(-sqrt(5) * r)
}

test_that("a constant is integrated out as in ordinary kriging, whatever the noise and the rows", {
  memory_tier()
  at <- data.frame(x = c(seq(-3, 3, 0.25), 40))
  for (n in c(2, 25, 200)) {
    for (noise in c(1e-1, 1e-3, 1e-6)) {
      data <- series(n, sqrt(noise))
      found <- predict(fit_series(data, noise), at, type = "latent", se.fit = TRUE)
      known <- reference_kriging(matern52_of(data$x, data$x), cbind(rep(1, n)), data$y, noise,
                                 matern52_of(data$x, at$x), cbind(rep(1, nrow(at))),
                                 matern52_of(0, 0)[1])
      # the prior of variance 1e6 shrinks a coefficient of variance s^2 by about s^2 / 1e6
      expect_equal(unname(found$fit), known$mean, tolerance = 1e-6)
      expect_equal(unname(found$se.fit), known$sd, tolerance = 2e-6)
    }
  }
})

test_that("a linear mean is integrated out as in universal kriging", {
  data <- series(30)
  at <- data.frame(x = c(-3, 0.1, 9), z = c(2, 0, -5))
  functions <- function(rows) cbind(1, rows$x, rows$z)
  fit <- fit_series(data, 0.01, mean = ~ x + z, formula = y ~ x + z)
  found <- predict(fit, at, type = "latent", se.fit = TRUE)
  known <- reference_kriging(matern52_of(data$x, data$x), functions(data), data$y, 0.01,
                             matern52_of(data$x, at$x), functions(at), 1.3)
  expect_equal(unname(found$fit), known$mean, tolerance = 1e-6)
  expect_equal(unname(found$se.fit), known$sd, tolerance = 5e-6)
  table <- summary(fit)$mean
  expect_identical(rownames(table), c("constant", "x", "z"))
  expect_equal(table["z", "estimate"], known$coef[3] * sd(data$z), tolerance = 1e-5)
  expect_equal(table["z", "se"], sqrt(known$cov[3, 3]) * sd(data$z), tolerance = 1e-5)
  expect_equal(table["constant", "estimate"],
               sum(known$coef * c(1, mean(data$x), mean(data$z))), tolerance = 1e-5)
})

test_that("the log evidence is the integral over the constant under a prior of unit information", {
  memory_tier()
  data <- series(12)
  fit <- fit_series(data, 0.04)
  unit <- fit$response$unit
  covariance <- matern52_of(data$x, data$x) + diag(0.04, 12)
  factor <- chol(covariance)
  density <- function(constant) vapply(constant, function(c) {
    z <- backsolve(factor, data$y - c, transpose = TRUE)
    exp(-sum(log(diag(factor))) - 6 * log(2 * pi) - sum(z^2) / 2)
  }, 0)
  # density of N(0, 1) at 0 in standard deviations of the response
  total <- integrate(density, -17, 23, rel.tol = 1e-10, subdivisions = 500L)$value *
    dnorm(0) / unit
  expect_equal(fit$log_evidence, log(total), tolerance = 1e-6)
})

test_that("the evidence decides between a constant and none", {
  memory_tier()
  data <- series(40)
  evidence <- function(level, mean) {
    data$y <- data$y - 3 + level
    sparsegp(y ~ x, data, kernel = "rbf", mean = mean)$log_evidence
  }
  expect_gt(evidence(10, "constant"), evidence(10, "zero") + 3)
  expect_gt(evidence(0, "zero"), evidence(0, "constant"))
})

test_that("the gradient of the evidence is that of its differences, with other likelihoods too", {
  memory_tier()
  data <- series(20)
  for (lik in list(lik_gaussian(), lik_laplace())) {
    fit <- sparsegp(y ~ x, data, kernel = "rbf", likelihood = lik, learn = FALSE, mean = ~ x)
    problem <- problem_of_fit(fit)
    evidence <- function(theta) engine_run(problem, theta)$logz
    found <- engine_run(problem, fit$hyper$theta, gradient = TRUE)$gradient
    # EP ends at changes of 1e-9; differences of step 0.005 extrapolated keep about seven digits
    expect_equal(found, numeric_gradient(evidence, fit$hyper$theta), tolerance = 1e-5)
  }
})

test_that("EP with a mean is EP with its kernel added", {
  data <- series(25)
  data$y[4] <- 9
  student <- lik_student(scale = fixed(0.3), df = fixed(4))
  kernel <- kernel_rbf(variance = fixed(1), lengthscale = fixed(1))
  fit <- sparsegp(y ~ x, data, kernel = kernel, likelihood = student, learn = FALSE)
  variance <- policy$mean_variance * fit$response$unit^2
  added <- sparsegp(y ~ x, data, kernel = kernel + kernel_constant(fixed(variance)),
                    likelihood = student, learn = FALSE, mean = "average")
  at <- data.frame(x = c(-1, 0, 7))
  # the sum of the kernels keeps 16 - 6 digits of its smaller part, and EP ends at 1e-6
  expect_equal(predict(fit, at, type = "latent", se.fit = TRUE),
               predict(added, at, type = "latent", se.fit = TRUE), tolerance = 1e-4)
  expect_equal(fit$log_evidence, added$log_evidence + log(policy$mean_variance) / 2,
               tolerance = 1e-5)
})

test_that("components have constants of their own, and none with mean = \"zero\"", {
  memory_tier()
  set.seed(1)
  place <- data.frame(x = runif(15, 0, 3), y = runif(15, 0, 3))
  place$u <- sin(place$y) + 4
  place$v <- cos(place$x)
  place$u[3] <- NA
  kernel <- kernel_helmholtz()
  fit <- sparsegp(cbind(u, v) ~ x + y, place, kernel = kernel, learn = FALSE, mean = "constant")
  average <- sparsegp(cbind(u, v) ~ x + y, place, kernel = kernel, learn = FALSE, mean = "average")
  far <- data.frame(x = 50, y = 50)
  table <- summary(fit)$mean
  expect_identical(rownames(table), c("constant.u", "constant.v"))
  expect_equal(c(predict(fit, far)), table$estimate, tolerance = 1e-6)
  prior <- predict(average, far, se.fit = TRUE)$se.fit
  expect_equal(c(predict(fit, far, se.fit = TRUE)$se.fit), c(sqrt(prior^2 + table$se^2)),
               tolerance = 1e-6)
  zero <- sparsegp(cbind(u, v) ~ x + y, place, kernel = kernel, learn = FALSE, mean = "zero")
  expect_equal(c(predict(zero, far)), c(0, 0), tolerance = 1e-8)
  expect_equal(zero$response$unit, sqrt(mean(c(place$u, place$v)^2, na.rm = TRUE)))
})

test_that("mean = \"zero\" subtracts nothing", {
  data <- series(20)
  fit <- fit_series(data, 0.04, mean = "zero")
  K <- matern52_of(data$x, data$x) + diag(0.04, 20)
  k <- matern52_of(data$x, c(0.3, 5))
  expect_equal(unname(predict(fit, data.frame(x = c(0.3, 5)))),
               drop(crossprod(k, solve(K, data$y))),
               tolerance = 1e-8)
  expect_equal(fit$log_evidence, reference_gaussian_evidence(K - diag(0.04, 20), data$y, 0.04),
               tolerance = 1e-8)
})

test_that("mean = \"average\" plugs in the average of the responses", {
  data <- series(20)
  fit <- fit_series(data, 0.04, mean = "average")
  expect_equal(unname(predict(fit, data.frame(x = 50))), mean(data$y), tolerance = 1e-10)
  expect_equal(fit$log_evidence,
               reference_gaussian_evidence(matern52_of(data$x, data$x), data$y - mean(data$y),
                                           0.04),
               tolerance = 1e-8)
  integrated <- fit_series(data, 0.04)
  expect_gt(abs(predict(integrated, data.frame(x = 50)) - mean(data$y)), 0.001)
  expect_output(print(integrated), "mean: 3.*\\(SE 0")
})

test_that("parts of a sum and the constant are the prediction; joint and single variances agree", {
  memory_tier()
  data <- series(30)
  fit <- sparsegp(y ~ x, data, kernel = kernel_rbf() + kernel_linear(), learn = FALSE)
  at <- data.frame(x = c(-1, 0, 2.5))
  parts <- predict(fit, at, type = "terms")
  single <- predict(fit, at, type = "latent", se.fit = TRUE)
  expect_equal(rowSums(parts) + attr(parts, "constant"), single$fit, tolerance = 1e-8)
  joint <- predict(fit, at, covariance = TRUE)
  expect_equal(unname(sqrt(diag(joint$covariance))), unname(single$se.fit), tolerance = 1e-8)
})

test_that("hat values have the coefficients in them", {
  memory_tier()
  data <- series(12)
  fit <- fit_series(data, 0.04)
  K <- matern52_of(data$x, data$x)
  fitted_by <- function(y) {
    reference_kriging(K, cbind(rep(1, 12)), y, 0.04, K, cbind(rep(1, 12)), 1.3)$mean
  }
  slopes <- vapply(1:12, function(i) fitted_by(replace(0 * data$y, i, 1))[i], 0)
  expect_equal(unname(hatvalues(fit)), slopes, tolerance = 1e-6)
})

test_that("a basis of all rows, more rows, merged fits and a source lead to the same", {
  memory_tier()
  data <- series(60)
  at <- data.frame(x = c(-1, 0.2, 8))
  full <- fit_series(data, 0.04, mean = ~ x)
  based <- fit_series(data, 0.04, mean = ~ x, basis = 1:60)
  # the basis's kernel matrix, of neighbours 0.07 apart, has a condition number of about 1e6
  expect_equal(predict(based, at, se.fit = TRUE), predict(full, at, se.fit = TRUE),
               tolerance = 1e-7)
  expect_equal(based$log_evidence, full$log_evidence, tolerance = 1e-7)
  expect_equal(loo_lpd(based), loo_lpd(full), tolerance = 1e-6)
  for (keep in c(TRUE, FALSE)) {
    some <- fit_series(data, 0.04, basis = seq(1, 60, 6), control = gp_control(keep_x = keep))
    first <- sparsegp(data = data[1:25, ], control = gp_control(keep_x = keep, like = some))
    second <- sparsegp(data = data[26:60, ], control = gp_control(keep_x = keep, like = some))
    for (more in list(update(first, data[26:60, ]), merge(first, second))) {
      expect_equal(predict(more, at, se.fit = TRUE), predict(some, at, se.fit = TRUE),
                   tolerance = 1e-8)
      expect_equal(more$log_evidence, some$log_evidence, tolerance = 1e-8)
    }
  }
  chunks <- row_source(function(i) data[20 * i - 19:0, ], chunks = 3)
  points <- data.frame(x = seq(-2, 2, 0.4))
  read <- fit_series(chunks, 0.04, basis = points)
  whole <- fit_series(data, 0.04, basis = points)
  expect_equal(predict(read, at, se.fit = TRUE), predict(whole, at, se.fit = TRUE),
               tolerance = 1e-8)
  expect_equal(read$log_evidence, whole$log_evidence, tolerance = 1e-8)
  problem <- problem_of_fit(fit_series(data, 0.04, mean = ~ x, basis = points,
                                       control = gp_control(keep_x = TRUE)))
  theta <- based$hyper$theta
  evidence <- function(theta) engine_run(problem, theta)$logz
  expect_equal(engine_run(problem, theta, gradient = TRUE)$gradient,
               numeric_gradient(evidence, theta), tolerance = 1e-6)
})

test_that("sums of a basis with coefficients follow from its factors", {
  memory_tier()
  data <- series(150)
  fit <- fit_series(data, 0.04, mean = ~ x, basis = 1:140, lengthscale = 0.2)
  expect_named(fit$state[[1L]], "t")
  more <- update(fit, data[1:3, ])
  kept <- update(fit_series(data, 0.04, mean = ~ x, basis = 1:140, lengthscale = 0.2,
                            control = gp_control(keep_x = TRUE)), data[1:3, ])
  at <- data.frame(x = c(0.1, 6))
  expect_equal(predict(more, at, se.fit = TRUE), predict(kept, at, se.fit = TRUE), tolerance = 1e-6)
})

test_that("a mean that cannot be integrated out is refused if it was asked for", {
  memory_tier()
  data <- series(40)
  for (method in list(method_online(10), method_ivm(10, refine = "none"))) {
    expect_error(sparsegp(y ~ x, data, mean = "constant", method = method), "each observation once",
                 class = "sparsegp_error")
  }
  expect_error(sparsegp(y ~ x, data, mean = ~ w), "not inputs", class = "sparsegp_error")
  expect_error(sparsegp(y ~ x, data, mean = ~ x:z), "interactions", class = "sparsegp_error")
  expect_error(sparsegp(y ~ x, data, mean = 3), "is not a mean", class = "sparsegp_error")
  expect_error(sparsegp(y > 3 ~ x, data, mean = "zero"), "numbers", class = "sparsegp_error")
  expect_error(sparsegp(y > 3 ~ x, data, mean = ~ x), "numbers", class = "sparsegp_error")
  expect_error(sparsegp(y ~ x, data, mean = "zero",
                        likelihood = lik_gaussian(transform = "boxcox")), "is not defined",
               class = "sparsegp_error")
  silent <- sparsegp(y ~ x, data, method = method_online(10))
  expect_equal(silent$response$centre, mean(data$y))
  expect_null(summary(silent)$mean)
})

test_that("units and origin of the response change nothing but with mean = \"zero\"", {
  memory_tier()
  data <- series(20)
  moved <- transform(data, y = 1e6 * (y + 1e3))
  at <- data.frame(x = c(0, 9))
  one <- predict(sparsegp(y ~ x, data, kernel = "rbf", learn = FALSE), at, se.fit = TRUE)
  other <- predict(sparsegp(y ~ x, moved, kernel = "rbf", learn = FALSE), at, se.fit = TRUE)
  expect_equal(other$fit / 1e6 - 1e3, one$fit, tolerance = 1e-7)
  expect_equal(other$se.fit / 1e6, one$se.fit, tolerance = 1e-7)
})

test_that("a saved fit with coefficients is checked", {
  fit <- sparsegp(y ~ x, series(20), kernel = "rbf", learn = FALSE)
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), data.frame(x = 9)), predict(fit, data.frame(x = 9)))
  fit$posterior$trend$coef <- numeric(3)
  expect_error(predict(fit, data.frame(x = 9)), "posterior", class = "sparsegp_error")
})

test_that("terms and derived fields of a kernel are refused beside a mean that depends on inputs", {
  memory_tier()
  set.seed(8)
  d <- data.frame(x = runif(20), y = runif(20), z = runif(20))
  d$u <- d$x + sin(3 * d$y) + rnorm(20) / 9
  d$v <- d$y - cos(3 * d$x) + rnorm(20) / 9
  fit <- sparsegp(u ~ x + y + z, d, kernel = kernel_rbf(), mean = ~ x, learn = FALSE)
  expect_error(predict(fit, d, type = "terms"), "kernel_linear", class = "sparsegp_error")
  expect_identical(default_type(fit, list()), "fit")
  field <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel_helmholtz(), mean = ~ x,
                    learn = FALSE)
  expect_error(vector_field(field, d, type = "divergence"), "kernel_linear",
               class = "sparsegp_error")
  constant <- update(field, mean = NULL)
  expect_length(vector_field(constant, d, type = "divergence"), 20L)
})
