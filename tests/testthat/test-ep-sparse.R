# Sparse EP with basis exchange, and methods that choose their basis.

crabs_data <- function() {
  skip_if_not_installed("MASS")
  set.seed(1)
  MASS::crabs[sample(200), ]
}

# Sequential sweeps on a frozen basis, straight through the engine.
sequential <- function(fit, x, rows, tol = 1e-12) {
  problem <- list(x = x, spec = fit$spec, nkernel = 2L, processes = 1L,
                  lik = fit$likelihood,
                  rows = fit$data_rows, offset = fit$offset, basis = x[rows, , drop = FALSE],
                  options = method_ep(projection = "moment", tol = tol))
  engine_sparse(problem, fit$hyper$theta, freeze = 1L, sweeps = 200L)
}

test_that("sequential and batch EP on a frozen basis have the same fixed point", {
  set.seed(5)
  x <- matrix(rnorm(160), 80)
  f <- sin(2 * x[, 1]) + x[, 2]
  rows <- c(3, 9, 14, 20, 33, 41)
  for (lik in list(lik_probit(0.3), lik_logit(0.3))) {
    fit <- sparsegp(x, f + rnorm(80) > 0, likelihood = lik, kernel = kernel_rbf(2, 1.3),
                    basis = rows, learn = FALSE, scale = FALSE, method = method_ep(tol = 1e-12),
                    offset = 0.1 * x[, 1])
    run <- sequential(fit, x, rows)
    # both converged to 1e-12 in units of the cavity's standard deviation
    expect_equal(run$tau, fit$sites$tau, tolerance = 1e-8)
    expect_equal(run$nu, fit$sites$nu, tolerance = 1e-8)
    expect_equal(run$cav_mean, fit$cavity$mean, tolerance = 1e-8)
    expect_equal(run$cav_var, fit$cavity$var, tolerance = 1e-8)
    expect_equal(drop(run$alpha), fit$posterior$alpha, tolerance = 1e-8)
    expect_equal(run$trace["log_evidence", ncol(run$trace)], fit$log_evidence, tolerance = 1e-10,
                 ignore_attr = TRUE)
  }
})

test_that("with Gaussian noise, kl on a basis is the projected process after one sweep", {
  set.seed(5)
  x <- matrix(rnorm(80), 40)
  y <- sin(2 * x[, 1]) + x[, 2] + 0.3 * rnorm(40)
  rows <- c(3, 9, 14, 20)
  fit <- sparsegp(x, y, likelihood = lik_gaussian(0.09), kernel = kernel_rbf(2, 1.3), basis = rows,
                  learn = FALSE, scale = FALSE, mean = "average",
                  method = method_ep(projection = "kl"))
  K <- function(a, b) {
    2 * exp(-(outer(a[, 1], b[, 1], "-")^2 + outer(a[, 2], b[, 2], "-")^2) / (2 * 1.3^2))
  }
  B <- x[rows, ]
  C <- K(x, B) %*% solve(K(B, B), K(B, x)) + diag(0.09, 40)
  cross <- K(x, B) %*% solve(K(B, B), K(B, x))
  expect_equal(unname(fitted(fit)), drop(cross %*% solve(C, y - mean(y))) + mean(y),
               tolerance = 1e-9)
  # the evidence is that of matched moments, whatever the projection
  moment <- update(fit, method = method_ep())
  expect_equal(logLik(fit), logLik(moment), tolerance = 1e-10)
})

test_that("size = n is full EP, to the letter of the thesis as well", {
  slow_tier()
  d <- crabs_data()
  full <- sparsegp(sex ~ FL + RW + CL, d, learn = FALSE, kernel = kernel_matern12())
  for (freeze in c(2, Inf)) for (projection in c("moment", "kl")) {
    fit <- sparsegp(sex ~ FL + RW + CL, d, learn = FALSE, kernel = kernel_matern12(),
                    method = method_ep(200, projection, freeze))
    # to the letter: 200 sequential updates a sweep, to a change of 1e-6
    expect_equal(logLik(fit), logLik(full), tolerance = if (freeze == 2) 1e-12 else 1e-6)
  }
  # one point of 200 less: sweeps with exchange
  for (projection in c("moment", "kl")) {
    fit <- suppressWarnings( # exchanges may go on for ever
      sparsegp(sex ~ FL + RW + CL, d, learn = FALSE, kernel = kernel_matern12(),
               method = method_ep(199, projection, Inf, sweeps = 20))
    )
    expect_equal(predict(fit, d), predict(full, d), tolerance = 1e-2)
    expect_lt(abs(fit$log_evidence - full$log_evidence), 0.1)
  }
})

test_that("a basis is chosen, kept after `freeze` sweeps, and reported", {
  memory_tier()
  d <- crabs_data()
  fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, method = method_ep(20), learn = FALSE)
  expect_identical(nrow(basis(fit)), 20L)
  rows <- attr(basis(fit), "rows")
  expect_identical(anyDuplicated(rows), 0L)
  expect_identical(rownames(basis(fit)), rownames(d)[rows])
  trace <- fit$convergence$trace
  expect_true(all(trace$exchanges[-(1:2)] == 0) && trace$exchanges[1L] >= 20)
  expect_identical(nrow(trace), fit$convergence$sweeps)
  expect_output(print(summary(fit, details = TRUE)),
                "Points that joined the basis, sweep by sweep: ")
  given <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, basis = rows, learn = FALSE)
  expect_equal(logLik(given), logLik(fit), tolerance = 1e-6)
  expect_equal(predict(given, d), predict(fit, d), tolerance = 1e-4)
})

test_that("the thesis to the letter keeps sweeping and converges once exchanges end", {
  memory_tier()
  d <- crabs_data()
  fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, learn = FALSE,
                  method = method_ep(30, "kl", freeze = Inf))
  expect_true(fit$convergence$converged)
  expect_identical(fit$convergence$sequential, fit$convergence$sweeps)
  again <- predict(fit, d, type = "latent", se.fit = TRUE)
  expect_equal(unname(again$fit), fit$latent$mean, tolerance = 1e-8)
  expect_equal(unname(again$se.fit^2), fit$latent$var, tolerance = 1e-8)
  expect_warning(
    sparsegp(sex ~ FL + RW + CL + CW + BD, d, learn = FALSE,
             method = method_ep(30, "kl", freeze = Inf, sweeps = 2)),
    "did not converge", class = "sparsegp_warning"
  )
})

test_that("learning on a chosen basis keeps the best round and beats the start", {
  slow_tier()
  d <- crabs_data()
  start <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, method = method_ep(25), learn = FALSE)
  fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, method = method_ep(25))
  full <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, control = gp_control(integrate = "none"))
  expect_identical(nrow(choices_of_stage(fit, "basis")), 2L)
  expect_gt(fit$log_evidence, start$log_evidence + 20)
  expect_equal(fit$log_evidence, full$log_evidence, tolerance = 0.05)
  once <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, method = method_ep(25),
                   learn = learn_control(outer = 1))
  expect_identical(nrow(choices_of_stage(once, "basis")), 0L) # one round is no choice
})

test_that("settings that are none are refused by name", {
  for (bad in list(0, 1.5, "a", NA, c(1, 2), -Inf)) {
    expect_error(method_ep(size = bad), "`size`", class = "sparsegp_error")
    expect_error(method_ep(freeze = bad), "`freeze`", class = "sparsegp_error")
    expect_error(method_online(size = bad), "`size`", class = "sparsegp_error")
    expect_error(method_online(pilot = bad), "`pilot`", class = "sparsegp_error")
  }
  expect_error(method_online(size = Inf), "`size`", class = "sparsegp_error")
  expect_error(method_ep(projection = "best"), "`projection`", class = "sparsegp_error")
  expect_error(method_online(score = 1), "`score`", class = "sparsegp_error")
  expect_error(method_online(order = "reverse"), "`order`", class = "sparsegp_error")
  for (bad in list(0, 1e-12, 0.6, 1, -1, NA, "a")) {
    expect_error(method_ep(novelty = bad), "`novelty`", class = "sparsegp_error")
  }
  expect_error(learn_control(outer = 0), "`outer`", class = "sparsegp_error")
})

test_that("long sweeps, which are refreshed on their way, end where batch EP on the basis does", {
  memory_tier()
  set.seed(3)
  x <- runif(420L, -3, 3)
  y <- factor(sin(2 * x) + 0.5 * rnorm(420L) > 0)
  with_method <- function(method, basis = NULL) {
    sparsegp(x, y, lik_probit(fixed(0)), kernel_rbf(2, 1.5), method = method, basis = basis,
             learn = FALSE)
  }
  fit <- with_method(method_ep(40, "moment", freeze = Inf, novelty = 1e-4, sweeps = 40))
  batch <- with_method(method_ep(), attr(basis(fit), "rows"))
  expect_lt(10 * nrow(basis(fit)) + 100, 420) # what makes a sweep long
  expect_equal(unname(predict(fit, c(-1, 0.3))), unname(predict(batch, c(-1, 0.3))),
               tolerance = 1e-6)
})

# Parts are divided by a prior that is narrower than the model's: at that no row has a distribution.
test_that("rows that have to be skipped in every sweep are refused, as full EP refuses them", {
  set.seed(1)
  d <- expand.grid(x = 1:6, y = 1:6)
  w <- cbind(u = sin(d$y / 2), v = cos(d$x / 2)) + 0.1 * rnorm(72)
  d$z <- mixture(c(0.55, 0.45), list(w, -w), 0.5, prior = list(mean = c(0, 0), covariance = 0.3))
  k <- kernel_rbf(fixed(1), fixed(2))
  for (method in list(method_ep(), method_ep(8), method_ep(8, freeze = Inf))) {
    refused(sparsegp(z ~ x + y, d, kernel = kernel_helmholtz(k, k), learn = FALSE, method = method),
            "kernel")
  }
})

test_that("rows that are skipped until others have been seen count in the evidence as they are", {
  set.seed(1)
  x <- seq(-3, 3, length.out = 30)
  x <- x[order(-abs(x))]
  w <- cbind(u = 0.5 * x, v = -0.3 * x) + 0.05 * rnorm(60)
  far <- abs(x) > 1.5 # rows with no distribution under the prior variance, x^2
  d <- data.frame(x = x)
  d$z <- mixture(c(0.55, 0.45), list(w, -w), matrix(ifelse(far, 0.5, 0.02), 30, 2),
                 prior = list(mean = c(0, 0), covariance = 0.3))
  with_method <- function(method) {
    sparsegp(z ~ x, d, kernel = kernel_coregion(kernel_linear(), 0, fixed(1)), scale = FALSE,
             learn = FALSE, method = method)
  }
  fit <- with_method(method_ep(8, freeze = Inf))
  expect_gt(fit$convergence$skipped, 0)
  # a change of 1e-6, whose square is in the evidence
  expect_equal(logLik(fit), logLik(with_method(method_ep())), tolerance = 1e-8, ignore_attr = TRUE)
  trace <- fit$convergence$trace$log_evidence
  expect_true(is.nan(trace[1L]))
  # after two sweeps, in which the basis is the final one, as after those of batch EP at its sites
  frozen <- with_method(method_ep(8, freeze = 2))$convergence$trace$log_evidence
  expect_equal(trace[2L], frozen[3L], tolerance = 1e-8)
  expect_no_error(plot(fit, type = "trace"))
})
