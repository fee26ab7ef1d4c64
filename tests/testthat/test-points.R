# Inducing points that are learned: gradients, the search, and fits on points that are no rows.

differentiable_kernels <- function() {
  list(
    kernel_rbf(ard = TRUE), kernel_matern32(), kernel_matern52(ard = TRUE), kernel_rq(ard = TRUE),
    kernel_linear(ard = TRUE) + kernel_rbf(), kernel_poly(3) + kernel_constant(),
    kernel_periodic(period = 2, vars = "b") + kernel_rbf(vars = "a"),
    kernel_trig(2, period = 5, vars = "c") * kernel_rbf(),
    kernel_rbf(vars = c("a", "c")) * kernel_poly(2) * kernel_matern52(vars = "b")
  )
}

# A problem of three inputs on points that are no rows.
points_problem <- function(kernel, lik, n = 20L) {
  set.seed(11)
  x <- matrix(rnorm(n * 3), n, dimnames = list(NULL, c("a", "b", "c")))
  traits <- lik_traits(lik)
  values <- natural_values(lik, rep(-1, length(lik$params)))
  y <- traits$data_rows(traits$draw(x[, 1] + sin(2 * x[, 2]), values, 1), rep(1, n))
  resolved <- resolve_kernel(kernel, list(names = colnames(x), terms = colnames(x),
                                          kept = rep(TRUE, 3)))
  env <- list(response_unit = 1, input_scale = rep(1, 3), input_unit = rep(1, 3),
              spacing = function(vars) Inf, step = function(input) 0,
              period = function(input, given, turn) list(start = 2, spread = 1, stride = 1))
  table <- hyper_table(resolved, lik, env, y, 0.1 * x[, 3], NULL,
                       list(processes = 1L, levels = seq_len(max(y)), unit = 1))
  list(problem = list(x = x, spec = spec_for_c(resolved), nkernel = sum(table$part == "kernel"),
                      processes = 1L, lik = lik, rows = y, offset = 0.1 * x[, 3],
                      basis = x[c(3, 5, 7, n), ] + 0.1,
                      options = method_ep(tol = 1e-11, sweeps = 1000)),
       theta = table$theta, kernel = resolved, table = table)
}

# Differences of the log evidence in the points. The evidence is stationary in the sites, so that
# to have them to 1e-7 is enough.
slopes_by_differences <- function(case, exact) {
  near <- case$problem
  near$options$tol <- 1e-7
  numeric_gradient(function(z) {
    near$basis[] <- z
    engine_run(near, case$theta, sites = exact[c("tau", "nu")])$logz
  }, c(near$basis), levels = 3L)
}

test_that("kernels' gradients in the second points are those of their formulas", {
  slow_tier()
  set.seed(4)
  x <- matrix(rnorm(15), 5, dimnames = list(NULL, c("a", "b", "c")))
  z <- matrix(rnorm(9), 3)
  z[1, ] <- x[2, ] # a pair at no distance
  Kbar <- matrix(rnorm(15), 5)
  for (kernel in differentiable_kernels()) {
    case <- points_problem(kernel, lik_gaussian())
    theta <- case$theta[seq_len(case$problem$nkernel)]
    found <- .Call(sg_kernel_adjoint_inputs, case$problem$spec, theta, unname(x), z, Kbar)
    expected <- vapply(1:3, function(k) {
      colSums(Kbar * reference_point_slopes(case$kernel, theta, x, z, k))
    }, numeric(3))
    # at no distance differences meet matern32's kink, where they are of first order
    tolerance <- if (any(grepl("matern32", format(kernel)))) 1e-2 else 1e-6
    expect_equal(found, expected, tolerance = tolerance, label = format(kernel))
  }
})

test_that("a block of many columns adds up as its columns do", {
  set.seed(5)
  case <- points_problem(kernel_rbf(ard = TRUE) * kernel_matern52(), lik_gaussian())
  theta <- case$theta[seq_len(case$problem$nkernel)]
  x <- matrix(rnorm(90), 30)
  z <- matrix(rnorm(3 * 300), 300) # more than two blocks of 128
  Kbar <- matrix(rnorm(30 * 300), 30)
  whole <- .Call(sg_kernel_adjoint_inputs, case$problem$spec, theta, x, z, Kbar)
  for (j in c(1L, 128L, 129L, 300L)) {
    alone <- .Call(sg_kernel_adjoint_inputs, case$problem$spec, theta, x, z[j, , drop = FALSE],
                   Kbar[, j, drop = FALSE])
    expect_equal(whole[j, ], alone[1L, ], tolerance = 1e-12) # rounding of other centres
  }
})

test_that("inputs of factors and of kernels without derivative have no gradient", {
  x <- cbind(rep(1:3, 2), rnorm(6))
  spec <- list(type = "rbf", vars = 0:1, levels = c(1.5, 0), ard = FALSE, degree = 0L,
               parts = list())
  found <- .Call(sg_kernel_adjoint_inputs, spec, c(0, 0), x, x + 0, matrix(1, 6, 6))
  expect_identical(found[, 1L], numeric(6))
  expect_gt(min(abs(found[, 2L])), 0)
  spec$type <- "matern12"
  expect_identical(.Call(sg_kernel_adjoint_inputs, spec, c(0, 0), x, x + 0, matrix(1, 6, 6)), 0 * x)
})

test_that("the gradient in the points is that of the dense formula of FITC", {
  memory_tier()
  for (kernel in of_tier(differentiable_kernels(), 1L)) {
    case <- points_problem(kernel, lik_gaussian(), n = 8L)
    run <- engine_run(case$problem, case$theta, gradient = TRUE, points = TRUE)
    skip_if(run$jitter > 0)
    noise <- exp(case$theta[-seq_len(case$problem$nkernel)])
    theta <- case$theta[seq_len(case$problem$nkernel)]
    arguments <- list(case$kernel, theta, noise, case$problem$x, case$problem$basis,
                      case$problem$rows[1L, ], case$problem$offset)
    expect_equal(run$logz, do.call(reference_fitc, arguments), tolerance = 1e-8)
    expect_equal(run$points[[1L]], unname(do.call(reference_fitc_slopes, arguments)),
                 tolerance = 1e-6, ignore_attr = TRUE)
  }
})

test_that("it is exact for every differentiable kernel and likelihoods of all shapes", {
  slow_tier()
  liks <- list(lik_gaussian(), lik_probit(), lik_poisson(), lik_student())
  kernels <- differentiable_kernels()
  for (i in seq_along(liks)) {
    lik <- liks[[i]]
    for (kernel in kernels[seq_along(kernels) %% 2L == i %% 2L]) { # each with two likelihoods
      case <- points_problem(kernel, lik)
      exact <- engine_run(case$problem, case$theta, gradient = TRUE, points = TRUE)
      if (exact$flat > 0 || exact$jitter > 0) next # no stationary point; few digits
      approx <- slopes_by_differences(case, exact)
      expect_lt(max(abs(c(exact$points[[1L]]) - approx)), 1e-6 * max(1, abs(approx)),
                label = paste(lik$type, "with", format(kernel)))
      # the other gradient is what it was
      plain <- engine_run(case$problem, case$theta, gradient = TRUE)
      expect_identical(exact$gradient, plain$gradient)
      expect_null(plain$points)
    }
  }
})

test_that("it does not depend on whether V is held, nor on threads", {
  memory_tier()
  case <- points_problem(kernel_rbf(ard = TRUE), lik_probit(), n = 400L)
  whole <- engine_run(case$problem, case$theta, gradient = TRUE, points = TRUE)
  case$problem$options$pool <- 0
  seen <- engine_run(case$problem, case$theta, gradient = TRUE, points = TRUE)
  expect_equal(seen$points, whole$points, tolerance = 1e-9) # sums in another order
  expect_same_by_threads(function() {
    engine_run(case$problem, case$theta, gradient = TRUE, points = TRUE)$points
  }, "gradient in the points")
})

test_that("jitter of the kernel matrix moves with it", {
  memory_tier()
  case <- points_problem(kernel_linear(), lik_gaussian())
  case$problem$basis <- case$problem$x[1:5, ] # rank 3
  exact <- engine_run(case$problem, case$theta, gradient = TRUE, points = TRUE)
  expect_gt(exact$jitter, 0)
  # a condition number of 1e12 leaves few digits
  expect_equal(c(exact$points[[1L]]), slopes_by_differences(case, exact), tolerance = 1e-3)
})

# ---- Fits ----

curve_data <- function(n = 120L) {
  set.seed(3)
  x <- cbind(a = runif(n, -3, 3), b = runif(n, -1, 1))
  data.frame(x, y = sin(2 * x[, "a"]) + x[, "b"]^2 + rnorm(n, sd = 0.1))
}

fit_curve <- function(..., size = 8, kernel = kernel_rbf(ard = TRUE), data = curve_data()) {
  sparsegp(y ~ a + b, data, kernel = kernel,
           method = method_ep(size = size, learn_points = TRUE), ...)
}

test_that("learned points have more evidence than the rows they began as, and a higher density", {
  memory_tier()
  data <- curve_data(320L)
  train <- data[1:120, ]
  test <- data[-(1:120), ]
  rows <- sparsegp(y ~ a + b, train, kernel = kernel_rbf(ard = TRUE), method = method_ep(8))
  fit <- fit_curve(data = train)
  expect_null(attr(basis(fit), "rows"))
  expect_identical(dim(basis(fit)), dim(basis(rows)))
  # some 40 nats; the search begins at the rows' optimum
  expect_gt(fit$log_evidence, rows$log_evidence + 10)
  density <- function(fit) {
    seen <- predict(fit, test, type = "latent", se.fit = TRUE)
    mean(dnorm(test$y, seen$fit, sqrt(seen$se.fit^2 + coef(fit)[["noise"]]), log = TRUE))
  }
  expect_gt(density(fit), density(rows) + 0.05)
  expect_true(fit$convergence$converged)
})

test_that("the search ends where hyperparameters and points have no slope left", {
  memory_tier()
  fit <- fit_curve(learn = learn_control(inner = 1000))
  expect_true(fit$learning$converged)
  expect_lt(max(abs(fit$learning$gradient)), 0.1)
})

test_that("a fit on learned points does what others do", {
  memory_tier()
  data <- curve_data()
  fit <- fit_curve()
  again <- unserialize(serialize(fit, NULL))
  new <- data.frame(a = c(-1, 0, 2), b = 0.3)
  expect_identical(predict(again, new), predict(fit, new))
  expect_length(loo_lpd(fit), nrow(data))
  more <- update(fit, data[1:20, ])
  expect_identical(basis(more), basis(fit))
  expect_identical(more$n, fit$n + 20L)
  # the same points given: one round of EP at the same hyperparameters
  given <- sparsegp(y ~ a + b, data, kernel = fit$kernel, basis = unclass(basis(fit))[, ],
                    method = method_ep(), learn = FALSE)
  expect_identical(dim(basis(given)), dim(basis(fit)))
  expect_equal(unname(unclass(basis(given))[, ]), unname(unclass(basis(fit))[, ]),
               tolerance = 1e-12)
  expect_output(print(fit), "8 inducing points")
  expect_length(summary(fit), length(summary(given)))
})

test_that("given points, fixed hyperparameters and learn = FALSE", {
  memory_tier()
  data <- curve_data()
  from <- as.matrix(data[c(5, 30, 55, 80, 105), c("a", "b")])
  given <- sparsegp(y ~ a + b, data, basis = from, kernel = kernel_rbf(),
                    method = method_ep(learn_points = TRUE))
  expect_identical(dim(basis(given)), dim(from))
  expect_gt(max(abs(basis(given)[, ] - from)), 1e-3)
  held <- kernel_rbf(variance = fixed(1), lengthscale = fixed(0.5))
  alone <- sparsegp(y ~ a + b, data, kernel = held, likelihood = lik_gaussian(fixed(0.01)),
                    mean = "zero", method = method_ep(10, learn_points = TRUE))
  rows <- sparsegp(y ~ a + b, data, kernel = held, likelihood = lik_gaussian(fixed(0.01)),
                   mean = "zero", method = method_ep(10))
  expect_identical(coef(alone), coef(rows))
  expect_gt(alone$log_evidence, rows$log_evidence + 10)
  still <- fit_curve(learn = FALSE)
  expect_length(attr(basis(still), "rows"), 8L)
})

test_that("factors and indicators stay where they are", {
  memory_tier()
  data <- curve_data()
  data$g <- factor(rep(c("u", "v", "w"), 40))
  data$on <- rep(0:1, 60)
  data$y <- data$y + (data$g == "v") + data$on
  fit <- sparsegp(y ~ a + g + on, data, kernel = kernel_rbf(ard = TRUE),
                  control = gp_control(coding = "levels"),
                  method = method_ep(10, learn_points = TRUE))
  points <- basis(fit)[, ]
  expect_true(all(points[, "g"] %in% 1:3))
  expect_equal(points[, "on"], round(points[, "on"]), tolerance = 1e-12)
  expect_false(any(points[, "a"] %in% data$a))
})

test_that("classes and several components have points that are learned", {
  slow_tier()
  data <- curve_data()
  data$class <- factor(ifelse(data$a < -1, "x", ifelse(data$b > 0, "y", "z")))
  some_steps <- learn_control(inner = 4, outer = 1) # which need not converge
  classes <- suppressWarnings(sparsegp(class ~ a + b, data, likelihood = lik_softmax(),
                                       kernel = kernel_rbf(), learn = some_steps,
                                       method = method_ep(10, learn_points = TRUE)))
  expect_identical(dim(basis(classes)), c(10L, 2L))
  expect_false(any(basis(classes)[, "a"] %in% data$a)) # no point stayed where a row is
  expect_true(all(is.finite(predict(classes, data, type = "prob"))))
  data$other <- cos(data$a)
  pair <- suppressWarnings(sparsegp(cbind(y, other) ~ a + b, data, learn = some_steps,
                                    kernel = kernel_coregion(kernel_rbf()),
                                    method = method_ep(8, learn_points = TRUE)))
  expect_lte(nrow(basis(pair)), 16L)
  expect_length(predict(pair, data[1:3, ]), 6L)
})

test_that("fits on learned points are merged, read from sources and integrated", {
  slow_tier()
  data <- curve_data(240L)
  new <- data.frame(a = c(-1, 0, 2), b = 0.3)
  first <- fit_curve(data = data[1:120, ])
  both <- merge(first, sparsegp(control = gp_control(like = first), data = data[121:240, ]))
  expect_identical(basis(both), basis(first))
  # Gaussian sites are exact, so that it does not matter who had which rows
  expect_equal(predict(both, new, se.fit = TRUE),
               predict(update(first, data[121:240, ]), new, se.fit = TRUE), tolerance = 1e-7)
  read <- row_source(function(i) data[80 * (i - 1) + 1:80, ], chunks = 3)
  source <- fit_curve(data = read)
  expect_identical(nobs(source), 240L)
  rows <- fit_curve(data = read, basis = as.matrix(data[1:8, c("a", "b")]), learn = FALSE)
  expect_false(any(basis(source)[, "a"] %in% data$a))
  expect_gt(source$log_evidence, rows$log_evidence)
  whole <- fit_curve(data = data[1:120, ], control = gp_control(integrate = "ccd"))
  seen <- predict(whole, new, se.fit = TRUE)
  expect_true(all(is.finite(seen$se.fit)))
  # a mixture around the mode: its means are near those at the mode
  expect_lt(max(abs(seen$fit - predict(first, new)) / seen$se.fit), 1)
})

test_that("what cannot be had is an error that says why", {
  slow_tier()
  data <- curve_data(30L)
  fit <- function(method, ...) sparsegp(y ~ a + b, data, method = method, ...)
  expect_error(method_ep(learn_points = NA), class = "sparsegp_error")
  refused(fit(method_ep(learn_points = TRUE)), "method")
  refused(fit(method_ep(5, learn_points = TRUE), control = gp_control(augment = jitter_rows(0.1))),
          "augment")
  refused(fit(method_ep(size = NULL, learn_points = TRUE)), "method")
  refused(fit(method_ep(size = 5, projection = "kl", learn_points = TRUE)), "method")
  refused(fit(method_ep(size = 5, freeze = Inf, learn_points = TRUE)), "method")
  refused(fit(method_ep(size = 5, learn_points = TRUE), kernel = kernel_matern12()), "method")
})
