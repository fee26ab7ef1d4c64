# Slopes, against differences of predictions, of draws, and against reference formulas.

# Derivatives of predict(...) along a variable: central differences, extrapolated (Richardson).
predicted_slope <- function(fit, new, name, ..., h = 1e-2) {
  at <- function(step) {
    new[[name]] <- new[[name]] + step
    unname(predict(fit, new, ...))
  }
  half <- function(h) (at(h) - at(-h)) / (2 * h)
  coarse <- (4 * half(h / 2) - half(h)) / 3
  fine <- (4 * half(h / 4) - half(h / 2)) / 3
  (16 * fine - coarse) / 15
}

some_rows_of <- function(n = 30L) {
  set.seed(5)
  x <- data.frame(a = runif(n, 0.5, 3), b = rnorm(n), g = factor(rep(c("u", "v", "w"), n / 3)))
  x$y <- sin(2 * x$a) + 0.5 * x$b^2 + 0.3 * as.integer(x$g) + 0.1 * rnorm(n)
  x
}

new_points <- function() data.frame(a = c(0.8, 1.5, 2.9), b = c(-1, 0.2, 1.1), g = c("u", "v", "w"))

plainly <- function(kernel, ...) {
  sparsegp(y ~ a + b, some_rows_of(), kernel = kernel, learn = FALSE,
           likelihood = lik_gaussian(0.02), ...)
}

# Kernels that have slopes, and sums and products
smooth_kernels <- function() list(
  rbf = kernel_rbf(), ard = kernel_rbf(ard = TRUE, lengthscale = c(0.7, 1.4)),
  matern32 = kernel_matern32(), matern52 = kernel_matern52(), rq = kernel_rq(shape = 2),
  linear = kernel_linear(), poly = kernel_poly(3),
  periodic = kernel_periodic(vars = "a", period = 2) + kernel_constant(),
  trig = kernel_trig(2, vars = "a", period = fixed(3)) + kernel_rbf(vars = "b"),
  additive = kernel_rbf(vars = "a") + kernel_matern52(vars = "b"),
  product = kernel_rbf(vars = "a") * kernel_linear(vars = "b") +
    kernel_periodic(vars = "a", period = 2),
  rough_beside = kernel_rbf(vars = "a") * kernel_matern12(vars = "b")
)

test_that("slopes are the derivatives of predictions, whatever the kernel", {
  memory_tier()
  new <- new_points()
  for (name in names(of_tier(smooth_kernels(), 2L, memory = 6L))) {
    fit <- plainly(smooth_kernels()[[name]])
    vars <- if (name == "rough_beside") "a" else c("a", "b")
    found <- slope_arrays(fit, new, vars = vars)
    expected <- vapply(vars, function(v) predicted_slope(fit, new, v), numeric(3L))
    # differences of sixth order over 0.01 in units where kernels change over about 1; matern32
    # has a third derivative that jumps at rows, so differences are of first order there
    tolerance <- if (name == "matern32") 1e-4 else 1e-7
    expect_equal(matrix(found, 3L), unname(expected), tolerance = tolerance, label = name)
  }
})

test_that("the variance of a slope is the limit of that of differences", {
  memory_tier()
  new <- new_points()
  for (name in names(of_tier(smooth_kernels(), 4L))) {
    fit <- plainly(smooth_kernels()[[name]])
    h <- 1e-3
    ends <- rbind(transform(new, a = a + h), transform(new, a = a - h))
    cov <- predict(fit, ends, type = "link", covariance = TRUE)$covariance
    D <- cbind(diag(3L), -diag(3L)) / (2 * h)
    found <- slope_arrays(fit, new, vars = "a", se.fit = TRUE)$se.fit
    # a difference over 2 h of a matern32 has a variance with an error of first order in h
    tolerance <- if (name == "matern32") 5e-3 else 1e-4
    expect_equal(unname(found), unname(sqrt(diag(D %*% cov %*% t(D)))), tolerance = tolerance,
                 label = name)
  }
})

test_that("slopes on a basis, of warped inputs, and with a linear mean", {
  memory_tier()
  data <- some_rows_of(60L)
  data$a <- exp(data$a) # skewed
  new <- transform(new_points(), a = exp(a))
  on_basis <- sparsegp(y ~ a + b, data, method = method_ep(size = 15), structure = "fixed")
  warped <- sparsegp(y ~ a + b, data, scale = "log")
  mean <- sparsegp(y ~ a + b, data, mean = ~ a, kernel = kernel_rbf(ard = TRUE))
  expect_true(any(warped$scaling$warp$side != 0))
  for (fit in list(on_basis, warped, mean)) {
    found <- slope_arrays(fit, new, se.fit = TRUE)
    for (v in c("a", "b")) {
      expect_equal(unname(found$fit[, v]), predicted_slope(fit, new, v), tolerance = 1e-6)
      h <- 1e-3
      ends <- list(new, new)
      ends[[1L]][[v]] <- new[[v]] + h
      ends[[2L]][[v]] <- new[[v]] - h
      cov <- predict(fit, do.call(rbind, ends), type = "link", covariance = TRUE)$covariance
      D <- cbind(diag(3L), -diag(3L)) / (2 * h)
      expect_equal(unname(found$se.fit[, v]), unname(sqrt(diag(D %*% cov %*% t(D)))),
                   tolerance = 1e-3) # differences of variances: rounding over h^2
    }
  }
})

test_that("slopes against the reference posterior of a function and its derivative", {
  slow_tier()
  data <- some_rows_of()
  fit <- plainly(kernel_rbf() + kernel_linear(vars = "b"), mean = "zero", scale = FALSE)
  new <- as.matrix(new_points()[c("a", "b")])
  unit <- fit$response$unit
  inputs <- list(names = c("a", "b"), terms = c("a", "b"), kept = c(TRUE, TRUE))
  known <- reference_slopes(resolve_kernel(fit$kernel, inputs), kernel_theta(fit),
                            as.matrix(data[c("a", "b")]), data$y / unit, 0.02 / unit^2, new, 1L)
  found <- slope_arrays(fit, as.data.frame(new), vars = "a", se.fit = TRUE)
  # the reference differentiates the kernel by extrapolated differences
  expect_equal(unname(found$fit), known$mean * unit, tolerance = 1e-6)
  expect_equal(unname(found$se.fit), known$sd * unit, tolerance = 1e-5)
})

# ---- Responses ----

response_fits <- function() {
  data <- some_rows_of()
  data$count <- rpois(30L, exp(data$y))
  data$label <- factor(data$y + 0.3 * rnorm(30L) > 0.9)
  data$size <- exp(data$y)
  data$rank <- cut(data$y, c(-Inf, 0.5, 1.3, Inf), labels = c("low", "mid", "high"),
                   ordered_result = TRUE)
  plain <- function(formula, ...) sparsegp(formula, data, ..., structure = "fixed")
  list(
    count = plain(count ~ a + b, likelihood = "poisson", learn = FALSE),
    label = plain(label ~ a + b, likelihood = "logit"), # a mixture
    log = plain(size ~ a + b, likelihood = lik_gaussian(transform = "log"), learn = FALSE),
    rank = plain(rank ~ a + b, learn = FALSE)
  )
}

test_that("slopes of mean responses are derivatives of predict(), and their spread is simulated", {
  slow_tier()
  new <- new_points()
  fits <- of_tier(response_fits(), 2L)
  for (name in names(fits)) {
    fit <- fits[[name]]
    found <- slopes(fit, new, "a")
    expect_equal(found$estimate, predicted_slope(fit, new, "a", h = 0.005), tolerance = 1e-6,
                 label = name)
    set.seed(1)
    drawn <- draws(fit, new, 1000, type = "slope", vars = "a")
    # standard errors of moments of 1000 draws, times 4: those of heavy tails are larger
    error <- apply(drawn, 1L, sd) / sqrt(1000)
    expect_true(all(abs(rowMeans(drawn) - found$estimate) < 4 * error), label = name)
    expect_equal(found$std.error, unname(apply(drawn, 1L, sd)), tolerance = 0.25, label = name)
    below <- rowMeans(drawn < found$conf.low) + rowMeans(drawn > found$conf.high)
    expect_true(all(abs(below - 0.05) < 4 * sqrt(0.05 * 0.95 / 1000)), label = name)
  }
})

test_that("draws of slopes are those of differences of draws, jointly", {
  slow_tier()
  fit <- response_fits()$label
  new <- new_points()[c(1L, 1L, 3L), ]
  set.seed(2)
  drawn <- draws(fit, new, 300, type = "slope", vars = "b", scale = "link")
  expect_equal(drawn[1L, ], drawn[2L, ], tolerance = 1e-5) # the same place, but for rank's limit
  expect_identical(dim(drawn), c(3L, 300L))
})

test_that("several classes and components have slopes each", {
  slow_tier()
  set.seed(3)
  rows <- iris[1:50 * 3, ]
  new <- iris[c(10, 71, 120), ]
  coupled <- sparsegp(Species ~ Petal.Length + Sepal.Width, rows, learn = FALSE)
  apart <- sparsegp(Species ~ Petal.Length + Sepal.Width, rows, learn = FALSE,
                    likelihood = lik_mprobit(coupled = FALSE))
  for (fit in list(coupled, apart)) {
    found <- slope_arrays(fit, new, vars = "Petal.Length", se.fit = TRUE)
    expect_equal(unname(found$fit), predicted_slope(fit, new, "Petal.Length", type = "prob"),
                 tolerance = 1e-6)
    expect_equal(unname(rowSums(found$fit)), numeric(3L), tolerance = 1e-7)
    drawn <- draws(fit, new, 1500, type = "slope", vars = "Petal.Length")
    expect_equal(unname(found$se.fit), unname(apply(drawn, c(1L, 3L), sd)), tolerance = 0.15)
  }
  data <- some_rows_of()
  data$z <- data$y + data$a
  pair <- sparsegp(cbind(y, z) ~ a + b, data, structure = "fixed")
  found <- slope_arrays(pair, new_points(), vars = "a", se.fit = TRUE)
  expect_equal(unname(found$fit), predicted_slope(pair, new_points(), "a"), tolerance = 1e-6)
  expect_identical(dim(found$se.fit), c(3L, 2L))
  both <- sparsegp(y ~ a, data, likelihood = lik_heteroscedastic(), structure = "fixed")
  found <- slopes(both, new_points())
  expect_equal(found$estimate, predicted_slope(both, new_points(), "a"), tolerance = 1e-6)
})

test_that("slopes of a fit over its hyperparameters are those of the mixture", {
  slow_tier()
  new <- new_points()
  fit <- sparsegp(y ~ a + b, some_rows_of(), control = gp_control(integrate = "ccd"))
  expect_true(has_members(fit))
  found <- slopes(fit, new, "a")
  expect_equal(found$estimate, predicted_slope(fit, new, "a"), tolerance = 1e-6)
  h <- 1e-3
  ends <- rbind(transform(new, a = a + h), transform(new, a = a - h))
  cov <- predict(fit, ends, type = "link", covariance = TRUE)$covariance
  D <- cbind(diag(3L), -diag(3L)) / (2 * h)
  expect_equal(found$std.error, unname(sqrt(diag(D %*% cov %*% t(D)))), tolerance = 1e-3)
  set.seed(4)
  drawn <- draws(fit, new, 2000, type = "slope", vars = "a")
  below <- rowMeans(drawn < found$conf.low) + rowMeans(drawn > found$conf.high)
  expect_true(all(abs(below - 0.05) < 0.02))
  average <- slopes(fit, new, "a", average = TRUE)
  expect_equal(average$estimate, mean(found$estimate))
})

# ---- Averages ----

test_that("the standard error of an average is that of its draws", {
  slow_tier()
  fit <- plainly(kernel_rbf() + kernel_linear(vars = "b"))
  average <- slopes(fit, average = TRUE)
  n <- 30L
  scaled <- rows_with_slopes(ready(fit), NULL, "b")
  joint <- joint_slopes(fit, scaled$x, scaled$along$b$v)
  own <- n + seq_len(n)
  expect_equal(average$estimate[2L], mean(joint$mean[own]) * fit$response$unit, tolerance = 1e-10)
  expect_equal(average$std.error[2L],
               sqrt(mean(matrix(joint$var, 2L * n)[own, own])) * fit$response$unit,
               tolerance = 1e-8)
  label <- response_fits()$label
  set.seed(6)
  drawn <- colMeans(draws(label, n = 1500, type = "slope", vars = "a"))
  average <- slopes(label, vars = "a", average = TRUE)
  expect_lt(abs(average$estimate - mean(drawn)), 4 * sd(drawn) / sqrt(1500))
  # the best linear predictor leaves out what is not linear: a few hundredths here
  expect_equal(average$std.error, sd(drawn), tolerance = 0.15)
})

# ---- Variables ----

test_that("terms of a formula follow the chain rule", {
  slow_tier()
  data <- some_rows_of()
  new <- new_points()
  fit <- sparsegp(y ~ log(a) + poly(b, 2) + a:b + g + offset(0.1 * a^2), data,
                  structure = "fixed")
  found <- slope_arrays(fit, new, vars = c("a", "b"))
  for (v in c("a", "b")) {
    expect_equal(unname(found[, v]), predicted_slope(fit, new, v, h = 0.005), tolerance = 1e-6)
  }
  own <- slopes(fit) # the variables come from the data of the call
  expect_identical(nrow(own), 2L * nrow(data))
  expect_equal(own$estimate[1:30], unname(slope_arrays(fit, data, vars = "a")),
               tolerance = 1e-8)
  fit <- sparsegp(as.matrix(data[c("a", "b")]), data$y, structure = "fixed")
  expect_identical(unique(slopes(fit)$variable), c("a", "b"))
  new$a[2L] <- NA
  expect_identical(is.na(slopes(fit, new[c("a", "b")], "b")$estimate), c(FALSE, TRUE, FALSE))
})

test_that("what has no slope is refused in words", {
  memory_tier()
  data <- some_rows_of()
  fit <- sparsegp(y ~ a + b + g, data, structure = "fixed")
  refused(slopes(fit, vars = "g"), "vars")
  refused(slopes(fit, vars = "nothing"), "vars")
  refused(predict(fit, data, vars = "a"), "vars")
  expect_error(slopes(sparsegp(y ~ g, data)), "no input is a number", class = "sparsegp_error")
  rough <- plainly(kernel_matern12(vars = "a") + kernel_rbf(vars = "b"))
  expect_error(slopes(rough, vars = "a"), "no derivative", class = "sparsegp_error")
  expect_identical(nrow(slopes(rough, vars = "b")), 30L)
  step <- sparsegp(g == "u" ~ a + b, data, likelihood = lik_step(noise = fixed(0.2)),
                   kernel = kernel_rbf(lengthscale = fixed(2)), learn = FALSE)
  expect_error(slopes(step), "step of the latent function", class = "sparsegp_error")
  expect_true(all(is.finite(slopes(step, scale = "link")$std.error)))
  expect_error(slopes(fit, wrong = 1), class = "sparsegp_error")
  refused(draws(fit, data, type = "slope"), "vars")
})
