# Full EP against the dense reference, quadrature and itself.

engine_kernel <- function(problem, theta, x) {
  .Call(sg_kernel_cross, problem$spec, theta[seq_len(problem$nkernel)], x, x)
}

# A problem for engine_run() at chosen hyperparameters: x as given, no scaling.
ep_problem <- function(x, rows, kernel, lik, offset = numeric(nrow(x)),
                       method = method_ep(tol = 1e-10)) {
  names <- paste0("x", seq_len(ncol(x)))
  resolved <- resolve_kernel(kernel, list(names = names, terms = names,
                                          kept = rep(TRUE, ncol(x))))
  theta <- log(kernel_start(resolved))
  list(x = x, spec = spec_for_c(resolved), nkernel = length(theta), processes = 1L,
       kernel_theta = theta, lik = lik,
       rows = rows, offset = offset, options = method)
}

# The values given in the constructors, in C's order.
kernel_start <- function(kernel) {
  if (length(kernel$parts)) return(unlist(lapply(kernel$parts, kernel_start)))
  values <- lapply(names(kernel$params), function(name) {
    count <- if (kernel$ard && name == kernel$per_input) length(kernel$vars) else 1L
    rep_len(kernel$params[[name]], count)
  })
  unlist(values)
}

classes_problem <- function(n, kernel, lik, seed = 1, ...) {
  set.seed(seed)
  x <- matrix(rnorm(n * 3), n)
  y <- sign(x[, 1] + x[, 2]^2 - 1 + 0.5 * rnorm(n))
  ep_problem(x, rbind(y), kernel, lik, offset = 0.2 * x[, 3], ...)
}

run_at <- function(problem, lik_theta, ...) {
  engine_run(problem, c(problem$kernel_theta, lik_theta), ...)
}

test_that("full EP equals the dense reference on 100 rows, three inputs, offsets and a bias", {
  # Matern: the reference inverts K, and the rbf kernel's condition number costs it seven digits
  kernel <- kernel_matern32(variance = 5, lengthscale = c(1, 1.5, 3), ard = TRUE)
  problem <- classes_problem(100, kernel, lik_probit())
  run <- run_at(problem, 0.3)
  K <- engine_kernel(problem, problem$kernel_theta, problem$x)
  reference <- reference_ep(K, function(i, mu, s2) {
    # the probit's closed form: the reference integral would take minutes at 100 rows
    .Call(sg_lik_tilt, c_lik("probit", 0.3), 0.3, problem$rows[, i, drop = FALSE], mu, s2, FALSE)
  }, problem$offset)
  # both are converged to 1e-10 or better
  expect_equal(run$logz, reference$log_evidence, tolerance = 1e-9)
  expect_equal(run$mean, reference$mean, tolerance = 1e-8)
  expect_equal(run$var, reference$var, tolerance = 1e-8)
  expect_equal(run$tau, reference$tau, tolerance = 1e-7)
  expect_equal(run$cav_var, reference$cav_var, tolerance = 1e-7)
})

test_that("full EP equals the dense reference with a likelihood known only by its log density", {
  problem <- classes_problem(15, kernel_matern32(variance = 4, lengthscale = 1), lik_logit())
  run <- run_at(problem, -0.4)
  K <- engine_kernel(problem, problem$kernel_theta, problem$x)
  tilt <- reference_ep_tilt("logit", problem$rows, list(bias = -0.4))
  reference <- reference_ep(K, tilt, problem$offset, tol = 1e-11)
  # quadrature is good to 1e-9 in log Z
  expect_equal(run$logz, reference$log_evidence, tolerance = 1e-8)
  expect_equal(run$mean, reference$mean, tolerance = 1e-7)
  expect_equal(run$var, reference$var, tolerance = 1e-7)
})

# ---- Sites of negative precision ----

# Rows of Student-t noise, three of them far off.
outliers_problem <- function(n = 40, ...) {
  set.seed(11)
  x <- matrix(sort(rnorm(n)))
  x <- x + seq(-2, 2, length.out = n) # apart: the reference inverts K
  y <- sin(2 * x[, 1]) + 0.1 * rnorm(n)
  at <- round(n * c(0.2, 0.5, 0.8))
  y[at] <- y[at] + c(3, -4, 60)
  problem <- ep_problem(x, rbind(y), kernel_matern52(1, 0.7), lik_student(), 0.1 * x[, 1], ...)
  list(problem = problem, theta = log(c(0.15, 2)), at = at)
}

test_that("rows that widen the posterior have sites of negative precision, as in the reference", {
  memory_tier()
  case <- outliers_problem()
  problem <- case$problem
  run <- run_at(problem, case$theta)
  expect_true(run$converged)
  expect_identical(run$flat, 0L)
  expect_true(all(run$tau[case$at] < 0))
  expect_true(all(run$var > 0 & run$cav_var > 0))
  K <- engine_kernel(problem, problem$kernel_theta, problem$x)
  lik <- c_lik(problem$lik, case$theta)
  reference <- reference_ep(K, function(i, mu, s2) {
    # contract tests vouch for it; the reference integral would take minutes
    .Call(sg_lik_tilt, lik, case$theta, problem$rows[, i, drop = FALSE], mu, s2, FALSE)
  }, problem$offset)
  # both are converged to 1e-10 or better; the reference inverts K, of condition number 1e5
  expect_equal(run$logz, reference$log_evidence, tolerance = 1e-8)
  expect_equal(run$tau, reference$tau, tolerance = 1e-6)
  expect_equal(run$mean, reference$mean, tolerance = 1e-7)
  expect_equal(run$var, reference$var, tolerance = 1e-7)
})

test_that("with them, too, all sweeps agree, on a basis of all rows, and the stored posterior", {
  memory_tier()
  case <- outliers_problem()
  full <- run_at(case$problem, case$theta, posterior = TRUE)
  sequential <- case$problem
  sequential$options$batch <- 0L
  one_by_one <- run_at(sequential, case$theta)
  expect_gt(one_by_one$sequential, 0L)
  on_basis <- case$problem
  on_basis$basis <- on_basis$x
  carried <- run_at(on_basis, case$theta, posterior = TRUE)
  for (other in list(one_by_one, carried)) {
    # all stop at a residual of 1e-10
    expect_equal(other$logz, full$logz, tolerance = 1e-9)
    expect_equal(other$var, full$var, tolerance = 1e-7)
    expect_equal(other$tau, full$tau, tolerance = 1e-7)
  }
  # k'Wk with W = (1/T + K)^-1, which is as good for precisions of either sign
  x <- matrix(c(-3, -0.2, 0.4, 2.5))
  K <- engine_kernel(case$problem, case$problem$kernel_theta, case$problem$x)
  k <- .Call(sg_kernel_cross, case$problem$spec, case$problem$kernel_theta, case$problem$x, x)
  W <- solve(K + diag(1 / full$tau))
  found <- engine_latent(case$problem, c(case$problem$kernel_theta, case$theta), full, x)
  expect_equal(found$var, 1 - colSums(k * (W %*% k)), tolerance = 1e-9)
  expect_equal(found$mean, drop(crossprod(k, W %*% (full$nu / full$tau))), tolerance = 1e-9)
  carried$basis <- on_basis$basis
  by_basis <- engine_latent(case$problem, c(case$problem$kernel_theta, case$theta), carried, x)
  expect_equal(by_basis, found, tolerance = 1e-7)
})

test_that("sites without a posterior to start from are no obstacle", {
  memory_tier()
  case <- outliers_problem()
  cold <- run_at(case$problem, case$theta)
  bad <- list(tau = rep(c(3, -50), 20L), nu = rep(1, 40L))
  warm <- run_at(case$problem, case$theta, sites = bad)
  expect_true(warm$converged)
  expect_equal(warm$logz, cold$logz, tolerance = 1e-9)
})

test_that("EP of what is not log-concave always ends with a posterior", {
  slow_tier()
  set.seed(12)
  for (i in 1:25) {
    n <- sample(5:60, 1L)
    x <- matrix(rnorm(2 * n), n)
    lik <- list(lik_student(), lik_step(), lik_flip())[[i %% 3L + 1L]]
    y <- x[, 1L] + rt(n, 1)
    problem <- ep_problem(x, rbind(if (i %% 3L == 0L) y else sign(y)),
                          kernel_rbf(10^runif(1, -1, 2), 10^runif(1, -0.7, 1)), lik,
                          method = method_ep())
    if (i %% 2L) problem$basis <- problem$x[seq_len(min(n, 10L)), ]
    run <- run_at(problem, rnorm(length(lik$params), -1.5))
    expect_identical(run$status, 0L)
    expect_true(run$converged || run$change < 0.01, label = paste("problem", i))
    numbers <- unlist(run[c("logz", "tau", "nu", "mean", "var", "cav_mean", "cav_var", "lpd")])
    expect_true(all(is.finite(numbers)))
    expect_true(all(run$var >= 0 & run$cav_var >= 0))
  }
})

test_that("Gaussian noise is exact in one sweep, down to noise a billionth of the variance", {
  set.seed(2)
  x <- matrix(rnorm(80), 40)
  y <- sin(x[, 1]) + x[, 2]
  kernel <- kernel_matern12(variance = 2, lengthscale = 1.5)
  for (noise in c(1e-9, 1e-4, 0.1, 1e4)) {
    problem <- ep_problem(x, rbind(y, 1), kernel, lik_gaussian(), offset = 0.1 * x[, 1])
    run <- run_at(problem, log(noise))
    K <- engine_kernel(problem, problem$kernel_theta, x)
    C <- K + diag(noise, 40)
    r <- y - problem$offset
    expect_identical(run$sweeps, 1L)
    expect_equal(run$logz, reference_gaussian_evidence(K, y, noise, problem$offset),
                 tolerance = 1e-10)
    expect_equal(run$alpha, solve(C, r), tolerance = 1e-10)
    expect_equal(run$mean, drop(K %*% solve(C, r)), tolerance = 1e-10)
    # the closed form K - K C^-1 K itself loses digits when the noise is small: use noise C^-1 K
    expect_equal(run$var, diag(noise * solve(C, K)), tolerance = 1e-9)
  }
})

test_that("batch and sequential sweeps have the same fixed point", {
  memory_tier()
  batch <- classes_problem(60, kernel_rbf(variance = 50, lengthscale = 1), lik_probit())
  sequential <- batch
  sequential$options$batch <- 0L
  a <- run_at(batch, 0)
  b <- run_at(sequential, 0)
  expect_true(a$converged && b$converged)
  expect_identical(a$sequential, 0L)
  expect_gt(b$sequential, 0L)
  # both stop at a residual of 1e-10
  expect_equal(a$logz, b$logz, tolerance = 1e-10)
  expect_equal(a$mean, b$mean, tolerance = 1e-7)
  expect_equal(a$var, b$var, tolerance = 1e-7)
})

test_that("sequential sweeps take over when batch sweeps have used their share", {
  memory_tier()
  problem <- classes_problem(40, kernel_rbf(variance = 100, lengthscale = 2), lik_probit())
  problem$options$batch <- 2L
  run <- run_at(problem, 0)
  expect_true(run$converged)
  expect_identical(run$sequential, run$sweeps - 3L) # two batch steps, and the last only judges
})

test_that("warm starts end where cold starts do, in fewer sweeps", {
  memory_tier()
  problem <- classes_problem(50, kernel_rbf(variance = 10, lengthscale = 1), lik_probit())
  cold <- run_at(problem, 0)
  near <- problem
  near$kernel_theta <- near$kernel_theta + 0.01
  from_cold <- run_at(near, 0)
  warm <- run_at(near, 0, sites = cold[c("tau", "nu")])
  expect_lt(warm$sweeps, from_cold$sweeps)
  expect_equal(warm$logz, from_cold$logz, tolerance = 1e-10)
  expect_equal(warm$var, from_cold$var, tolerance = 1e-7)
})

test_that("the start handed to C is not written to", {
  memory_tier()
  problem <- classes_problem(20, kernel_rbf(variance = 1, lengthscale = 1), lik_probit())
  start <- list(tau = numeric(20), nu = numeric(20))
  run_at(problem, 0, sites = start)
  expect_identical(start, list(tau = numeric(20), nu = numeric(20)))
})

test_that("a singular kernel matrix needs no jitter", {
  memory_tier()
  # 60 rows of 6 distinct points and a linear kernel: rank 2
  set.seed(4)
  x <- matrix(rnorm(12), 6)[rep(1:6, 10), ]
  y <- rep(c(1, -1), 30)
  run <- run_at(ep_problem(x, rbind(y), kernel_linear(variance = 1), lik_probit()), 0)
  expect_true(run$converged)
  expect_true(all(run$var >= 0))
})

test_that("damping slows EP down and changes nothing else", {
  memory_tier()
  fast <- classes_problem(40, kernel_rbf(variance = 3, lengthscale = 1), lik_logit())
  slow <- fast
  slow$options <- method_ep(tol = 1e-10, damping = 0.5)
  a <- run_at(fast, 0)
  b <- run_at(slow, 0)
  expect_gt(b$sweeps, a$sweeps)
  expect_equal(a$logz, b$logz, tolerance = 1e-10)
})

test_that("the evidence on the way is recorded sweep by sweep and settles", {
  memory_tier()
  run <- run_at(classes_problem(40, kernel_rbf(variance = 3, lengthscale = 1), lik_probit()), 0)
  expect_identical(dim(run$trace), c(2L, run$sweeps))
  expect_identical(run$trace[, run$sweeps], c(run$logz, run$change))
  expect_lte(run$change, 1e-10)
})

test_that("hyperparameters without numbers in reach give a status, not a NaN", {
  problem <- classes_problem(20, kernel_rbf(variance = 1, lengthscale = 1), lik_probit())
  problem$kernel_theta <- c(1000, 0)
  run <- run_at(problem, 0)
  expect_lt(run$status, 0L)
})

test_that("loo_lpd() is the log predictive density at the cavities, near that of a refit", {
  slow_tier()
  set.seed(3)
  x <- matrix(rnorm(120), 60)
  y <- as.numeric(x[, 1] + 0.5 * rnorm(60) > 0)
  for (variance in c(1, 4)) {
    fit <- function(rows) {
      sparsegp(x[rows, ], y[rows], likelihood = lik_probit(0.1), kernel = kernel_rbf(variance, 1),
               scale = FALSE, learn = FALSE)
    }
    whole <- fit(1:60)
    # formulas 78-79 from the posterior marginals and the sites
    g <- 1 - whole$sites$tau * whole$latent$var
    cav_var <- whole$latent$var / g
    cav_mean <- (whole$latent$mean - whole$latent$var * whole$sites$nu) / g
    z <- (2 * y - 1) * (cav_mean + 0.1) / sqrt(1 + cav_var)
    expect_equal(unname(loo_lpd(whole)), stats::pnorm(z, log.p = TRUE), tolerance = 1e-10)
    refitted <- vapply(1:60, function(i) {
      log(predict(fit(-i), x[i, , drop = FALSE], type = "prob")[, 1L + y[i]])
    }, 0)
    # EP's cavity is an approximation; at a variance of 4 it is 0.009 off on average
    expect_lt(mean(abs(loo_lpd(whole) - refitted)), 0.01)
  }
})

test_that("calls that use memory again return what the first one does", {
  x <- cbind(seq(0, 4, length.out = 24))
  y <- as.numeric(sin(3 * x[, 1]) > 0)
  methods <- list(method_ep(), method_ep(size = 5), method_markov())
  for (method in methods) {
    fit <- sparsegp(x, y, lik_probit(), kernel = kernel_matern32(lengthscale = 1), method = method,
                    learn = FALSE)
    problem <- problem_of_fit(fit)
    run <- compile(problem, gradient = TRUE)
    theta <- fit$hyper$theta
    first <- run(theta) # has no memory yet
    run(theta + 0.1)
    expect_identical(run(theta), first)
    expect_identical(run(theta), first)
  }
})
