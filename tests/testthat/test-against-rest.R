# Each class against the rest: as many binary models with a kernel in common.

reached_elsewhere()

rest_data <- function(n = 60) {
  set.seed(11)
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  f <- x[, 1] + 0.5 * x[, 2]^2 + 0.4 * rnorm(n)
  list(x = x, class = cut(f, c(-Inf, -0.3, 0.8, Inf), labels = c("low", "mid", "high")),
       new = x[1:9, ] + 0.3)
}

binary_fits <- function(d, likelihood, ...) {
  lapply(levels(d$class), function(level) {
    sparsegp(d$x, d$class == level, likelihood = likelihood, kernel = kernel_rbf(3, 1.1),
             learn = FALSE, ...)
  })
}

# Kernels are fixed: nothing couples the classes but the basis, so every number must be the binary
# fit's. Batch sweeps of all classes are mixed together, so fixed points agree to the tolerance of
# EP, 1e-11, times the condition of the fixed point.
expect_binary_fits <- function(fit, own, d) {
  expect_equal(unname(fit$latent$mean), sapply(own, function(f) f$latent$mean), tolerance = 1e-8)
  expect_equal(unname(fit$latent$var), sapply(own, function(f) f$latent$var), tolerance = 1e-8)
  expect_equal(unname(fit$sites$tau), sapply(own, function(f) f$sites$tau), tolerance = 1e-7)
  expect_equal(fit$log_evidence, sum(sapply(own, `[[`, "log_evidence")), tolerance = 1e-10)
  prob <- sapply(own, predict, d$new)
  expect_equal(unname(predict(fit, d$new, type = "prob")), by_odds(prob),
               tolerance = 1e-8)
}

test_that("full EP and EP on a basis are the binary fits", {
  memory_tier()
  d <- rest_data()
  for (likelihood in list(lik_probit(0.2), lik_logit(-0.1))) {
    for (basis in list(NULL, c(3, 20, 31, 40, 55))) {
      method <- method_ep(tol = 1e-11)
      fit <- sparsegp(d$x, d$class, likelihood = likelihood, kernel = kernel_rbf(3, 1.1),
                      basis = basis, learn = FALSE, method = method)
      expect_binary_fits(fit, binary_fits(d, likelihood, basis = basis, method = method), d)
    }
  }
})

test_that("sparse EP on a predefined basis is the binary fits; exchanges choose for all classes", {
  memory_tier()
  d <- rest_data()
  method <- method_ep(projection = "kl", tol = 1e-9, sweeps = 300)
  fit <- sparsegp(d$x, d$class, likelihood = lik_probit(), kernel = kernel_rbf(3, 1.1),
                  basis = c(3, 20, 31, 40, 55), learn = FALSE, method = method)
  own <- binary_fits(d, lik_probit(), basis = c(3, 20, 31, 40, 55), method = method)
  expect_equal(unname(fit$latent$mean), sapply(own, function(f) f$latent$mean), tolerance = 1e-7)
  chosen <- sparsegp(d$x, d$class, likelihood = lik_probit(), kernel = kernel_rbf(3, 1.1),
                     learn = FALSE, method = method_ep(size = 15, tol = 1e-11))
  expect_identical(nrow(basis(chosen)), 15L)
  expect_gt(sum(chosen$convergence$trace$exchanges), 15) # 15 filled the basis; some left it
  expect_binary_fits(chosen, binary_fits(d, lik_probit(), method = method_ep(tol = 1e-11),
                                         basis = attr(basis(chosen), "rows")), d)
})

test_that("the gradient of the summed evidence is the binary gradients' sum", {
  memory_tier()
  d <- rest_data()
  fit <- sparsegp(d$x, d$class, likelihood = lik_probit(), kernel = kernel_rbf(), learn = FALSE)
  problem <- list(x = fit$posterior$basis, spec = fit$spec, nkernel = 2L, processes = 3L,
                  lik = fit$likelihood, rows = fit$data_rows, offset = numeric(60),
                  options = method_ep(tol = 1e-11))
  theta <- c(0.3, 0.2, -0.4, 0.1, -0.2)
  for (basis in list(NULL, problem$x[c(2, 17, 33, 48), ])) {
    problem$basis <- basis
    run <- engine_run(problem, theta, gradient = TRUE)
    own <- lapply(1:3, function(class) {
      problem$processes <- 1L
      problem$rows <- ifelse(fit$data_rows == class, 1, -1)
      engine_run(problem, theta[c(1, 2, 2 + class)], gradient = TRUE)$gradient
    })
    expect_equal(run$gradient[1:2], Reduce(`+`, own)[1:2], tolerance = 1e-8)
    expect_equal(run$gradient[3:5], sapply(own, `[`, 3L), tolerance = 1e-8)
  }
})

test_that("classes against the rest learn, predict, and tell what they are", {
  slow_tier()
  fit <- sparsegp(Species ~ ., iris, likelihood = "probit")
  expect_named(coef(fit), c("variance", "lengthscale", "bias.setosa", "bias.versicolor",
                            "bias.virginica"))
  expect_gt(mean(predict(fit, type = "class") == iris$Species), 0.95)
  expect_equal(unname(rowSums(predict(fit, iris, type = "prob"))), rep(1, 150), tolerance = 1e-12)
  expect_output(print(fit), "3 classes, one-vs-rest")
  confusion <- summary(fit)$confusion
  expect_identical(sum(confusion), 150L)
  expect_identical(dim(residuals(fit)), c(150L, 3L))
  expect_equal(unname(rowSums(residuals(fit))), numeric(150), tolerance = 1e-12)
  expect_identical(nrow(sites(fit)), 450L)
  expect_equal(exp(loo_lpd(fit)[[7L]]), loo_probabilities(fit)[7L, "setosa"], tolerance = 1e-12,
               ignore_attr = TRUE)
  expect_identical(dim(draws(fit, iris[1:2, ], n = 5)), c(2L, 5L, 3L))
  expect_error(logLik(fit), "no evidence", class = "sparsegp_error")
})
