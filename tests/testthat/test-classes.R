# One model of all classes: a latent function each, a posterior that factorises, a likelihood that
# couples them.

class_data <- function(n = 60, seed = 3) {
  set.seed(seed)
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  f <- cbind(x[, 1], 0.7 * x[, 2]^2 - 0.5, -x[, 1] + 0.4) + 0.5 * rnorm(3 * n)
  list(x = x, class = factor(c("red", "green", "blue")[max.col(f)], c("red", "green", "blue")))
}

rbf <- function(variance, ell) {
  function(a, b) variance * exp(-outer(rowSums(a^2), rowSums(b^2), "+") / (2 * ell^2) +
                                  tcrossprod(a, b) / ell^2)
}

CLASS_LIKS <- list(lik_mprobit(c(0.2, -0.1, 0), coupled = FALSE),
                   lik_softmax(c(0.2, -0.1, 0), coupled = FALSE))

class_problem <- function(fit, d, ...) {
  list(x = scaled_inputs(d$x, fit$scaling), spec = fit$spec,
       nkernel = sum(fit$hyper$part == "kernel"), processes = 3L, lik = fit$likelihood,
       rows = fit$data_rows, offset = numeric(nrow(d$x)), options = method_ep(tol = 1e-11), ...)
}

# Marginals and half log determinant of I + T^1/2 K T^1/2, densely.
dense_class <- function(K, tau, nu) {
  B <- diag(nrow(K)) + sqrt(tau) * t(sqrt(tau) * K)
  Sigma <- K - K %*% (sqrt(tau) * solve(B, sqrt(tau) * K))
  list(mean = drop(Sigma %*% nu), var = diag(Sigma), log_det = determinant(B)$modulus / 2)
}

# What EP must satisfy at its fixed point, and its evidence, from the sites alone. K: a list of the
# prior covariances of what the sites are on; gamma: what that leaves out of each prior variance.
expect_fixed_point <- function(fit, K, likelihood_theta, tolerance, gamma = 0) {
  tau <- unname(fit$sites$tau)
  nu <- unname(fit$sites$nu)
  own <- lapply(1:3, function(c) dense_class(K[[c]], tau[, c], nu[, c]))
  mean <- sapply(own, `[[`, "mean")
  var <- sapply(own, `[[`, "var")
  cav_var <- var / (1 - tau * var)
  cav_mean <- mean + cav_var * (tau * mean - nu)
  tilt <- .Call(sg_lik_tilt, c_lik(fit$likelihood, likelihood_theta), likelihood_theta,
                fit$data_rows, cav_mean, cav_var + gamma, FALSE)
  expect_lt(max(abs(tilt$d1 - (nu - tau * mean)) * sqrt(cav_var)), tolerance)
  expect_lt(max(abs(tilt$d2 + tau * (1 - tau * var)) * cav_var), tolerance)
  evidence <- sum(tilt$logz) - sum(log(1 - tau * var) + cav_mean * (nu - tau * mean)) / 2 -
    sum(sapply(own, `[[`, "log_det"))
  expect_equal(as.numeric(logLik(fit)), evidence, tolerance = 1e-8)
  expect_equal(unname(fit$latent$mean), mean, tolerance = 1e-7)
  expect_equal(unname(fit$latent$var), var + gamma, tolerance = 1e-7)
}

test_that("full EP ends at the coupled fixed point, with the dense evidence", {
  memory_tier()
  d <- class_data()
  for (lik in CLASS_LIKS) {
    fit <- sparsegp(d$x, d$class, likelihood = lik, kernel = kernel_rbf(4, 1), learn = FALSE,
                    method = method_ep(tol = 1e-10))
    expect_true(fit$convergence$converged)
    K <- rbf(4, 1)(fit$posterior$basis, fit$posterior$basis)
    # the residual asked for, and the rounding of dense inverses of condition 1e3
    expect_fixed_point(fit, list(K, K, K), c(0.2, -0.1, 0), 1e-8)
  }
})

test_that("on a basis it ends there with what the basis carries, shared or of each class's own", {
  slow_tier()
  d <- class_data()
  rows <- c(2, 9, 17, 30, 44, 51)
  others <- list(c(3, 8, 20), c(1, 40, 55, 60), 12)
  kernel <- rbf(4, 1)
  carried <- function(x, basis) {
    basis <- x[basis, , drop = FALSE]
    kernel(x, basis) %*% solve(kernel(basis, basis), kernel(basis, x))
  }
  for (lik in CLASS_LIKS) {
    fit <- sparsegp(d$x, d$class, likelihood = lik, kernel = kernel_rbf(4, 1), learn = FALSE,
                    basis = rows, method = method_ep(tol = 1e-10))
    x <- scaled_inputs(d$x, fit$scaling)
    K <- carried(x, rows)
    expect_fixed_point(fit, list(K, K, K), c(0.2, -0.1, 0), 1e-8, diag(kernel(x, x)) - diag(K))
    apart <- lik
    apart$shared <- FALSE # the same kernel, three times
    own <- sparsegp(d$x, d$class, likelihood = apart, kernel = kernel_rbf(4, 1), learn = FALSE,
                    basis = rows, method = method_ep(tol = 1e-10))
    expect_equal(as.numeric(logLik(own)), as.numeric(logLik(fit)), tolerance = 1e-10)
    expect_equal(predict(own, d$x[1:5, ], type = "prob"), predict(fit, d$x[1:5, ], type = "prob"),
                 tolerance = 1e-8)
    problem <- class_problem(fit, d, basis = lapply(others, function(at) x[at, , drop = FALSE]))
    run <- engine_run(problem, fit$hyper$theta, posterior = TRUE)
    fit$sites <- list(tau = run$tau, nu = run$nu)
    fit$latent <- list(mean = run$mean, var = run$var)
    fit$log_evidence <- run$logz
    K <- lapply(others, carried, x = x)
    gamma <- sapply(K, function(part) diag(kernel(x, x)) - diag(part))
    expect_fixed_point(fit, K, c(0.2, -0.1, 0), 1e-8, gamma)
    found <- engine_latent(problem, fit$hyper$theta, run, x)
    expect_equal(found$mean, run$mean, tolerance = 1e-8)
    expect_equal(found$var, run$var, tolerance = 1e-8)
  }
})

test_that("the gradient is exact: full, on a basis, with kernels and bases of each class's own", {
  memory_tier()
  d <- class_data(40)
  ards <- list(kernel_matern52(ard = TRUE), kernel_rbf() + kernel_linear())
  liks <- list(lik_mprobit(coupled = FALSE), lik_softmax(coupled = FALSE),
               lik_mprobit(shared = FALSE))
  for (lik in of_tier(liks, 2L, memory = 1L)) { # softmax takes longest
    for (kernel in if (lik$type == "mprobit") ards else ards[1L]) {
      fit <- sparsegp(d$x, d$class, likelihood = lik, kernel = kernel, learn = FALSE)
      theta <- fit$hyper$theta + 0.1 * sin(seq_along(fit$hyper$theta))
      problem <- class_problem(fit, d)
      bases <- list(NULL, problem$x[c(2, 9, 17, 30), ],
                    lapply(list(3:5, c(1, 40), 7:10), function(at) problem$x[at, ]))
      for (basis in bases) {
        problem["basis"] <- list(basis)
        exact <- engine_run(problem, theta, gradient = TRUE)
        # stationary in the sites: 1e-7 in them is enough for differences
        near <- problem
        near$options$tol <- 1e-7
        value <- function(theta) engine_run(near, theta, sites = exact[c("tau", "nu")])$logz
        expect_equal(exact$gradient, numeric_gradient(value, theta, levels = 3L), tolerance = 1e-6)
      }
    }
  }
})

test_that("relabelling classes permutes every result", {
  slow_tier()
  d <- class_data()
  renamed <- factor(d$class, c("blue", "red", "green"))
  for (method in list(method_ep(tol = 1e-10), method_ep(size = 12, tol = 1e-10),
                      method_ivm(size = 8, tol = 1e-10))) {
    fit <- sparsegp(d$x, d$class, kernel = kernel_rbf(3, 1), learn = FALSE, method = method)
    other <- sparsegp(d$x, renamed, kernel = kernel_rbf(3, 1), learn = FALSE, method = method)
    # sums over classes in another order
    expect_equal(as.numeric(logLik(other)), as.numeric(logLik(fit)), tolerance = 1e-9)
    expect_equal(predict(other, d$x, type = "prob")[, levels(d$class)],
                 predict(fit, d$x, type = "prob"), tolerance = 1e-7)
    expect_equal(loo_lpd(other), loo_lpd(fit), tolerance = 1e-7)
  }
})

# The binary model of the difference of the two latent functions has twice the kernel and twice the
# noise: P = Phi((u1 - u2 + b1 - b2) / sqrt(2)). The joint posterior factorises over u1 and u2,
# which the exact one does not, so that the fits differ: by at most 0.06 in a probability here.
test_that("two classes are near the probit model of the difference, not equal to it", {
  memory_tier()
  d <- class_data(80)
  two <- factor(ifelse(d$class == "red", "red", "not red"), c("red", "not red"))
  two_classes <- function(coupled) {
    sparsegp(d$x, two, likelihood = lik_mprobit(0, coupled = coupled), kernel = kernel_rbf(2, 1),
             learn = FALSE)
  }
  joint <- two_classes(FALSE)
  binary <- sparsegp(d$x, two, likelihood = lik_probit(0), kernel = kernel_rbf(2, 1),
                     learn = FALSE)
  p <- predict(joint, d$x, type = "prob")[, "not red"]
  q <- predict(binary, d$x)
  expect_lt(max(abs(p - q)), 0.06)
  expect_gt(max(abs(p - q)), 1e-3)
  expect_lt(max(abs(predict(two_classes(TRUE), d$x)[, "not red"] - q)), 1e-4) # but for its nodes
  expect_equal(unname(rowSums(predict(joint, d$x, type = "prob"))), rep(1, 80), tolerance = 1e-12)
})

test_that("every class can win, with as many classes as there are", {
  slow_tier()
  x <- seq(-1, 1, length.out = 300)
  for (C in c(3, 7, 12)) {
    class <- cut(x, C, labels = FALSE)
    fit <- sparsegp(x, factor(class), kernel = kernel_rbf(30, 0.3), learn = FALSE,
                    method = method_ep(size = 3 * C))
    expect_setequal(as.integer(predict(fit, x, type = "class")), seq_len(C))
    expect_gt(mean(predict(fit, x, type = "class") == class), 0.9)
    expect_equal(unname(rowSums(predict(fit, x, type = "prob"))), rep(1, 300), tolerance = 1e-12)
  }
})

# ---- The coupling ----

test_that("shifts are found in a fraction of the sweeps that uncoupled sites need", {
  memory_tier()
  d <- class_data(60)
  fit <- sparsegp(d$x, d$class, kernel = kernel_rbf(50, 1.5), learn = FALSE,
                  likelihood = lik_mprobit(coupled = FALSE), method = method_ep(tol = 1e-8))
  expect_true(fit$convergence$converged)
  expect_lt(fit$convergence$sweeps, 60) # 351 damped sweeps without the coupling, 40 or so with it
  # and what shifts all classes alike has no part in the posterior (the kernel is one for all)
  expect_lt(max(abs(rowSums(fit$latent$mean))), 1e-5 * max(abs(fit$latent$mean)))
})

test_that("so they are of more classes than have their covariances kept", {
  slow_tier()
  set.seed(8)
  x <- matrix(rnorm(900), 300L)
  class <- max.col(x %*% matrix(rnorm(60), 3L) + 0.3 * matrix(rnorm(6000), 300L))
  class[1:20] <- 1:20
  fit <- sparsegp(x, factor(class), kernel = kernel_rbf(100, 2), learn = FALSE, basis = 1:40,
                  method = method_ep(tol = 1e-8))
  expect_true(fit$convergence$converged)
  expect_lt(fit$convergence$sweeps, 60)
})

# ---- Streams and sparse EP ----

test_that("a stream of one model is the same in any chunks, and near EP on its basis", {
  memory_tier()
  d <- class_data(150)
  method <- method_online(size = 25, pilot = 20)
  start <- function(rows) {
    sparsegp(d$x[rows, ], d$class[rows], kernel = kernel_rbf(3, 1), method = method,
             learn = FALSE, scale = FALSE)
  }
  whole <- start(1:150)
  parts <- update(update(start(1:31), d$x[32:90, ], y = d$class[32:90]), d$x[91:150, ],
                  y = d$class[91:150])
  expect_equal(parts$posterior, whole$posterior, tolerance = 1e-10)
  expect_equal(as.numeric(logLik(parts)), as.numeric(logLik(whole)), tolerance = 1e-10)
  batch <- sparsegp(d$x, d$class, kernel = kernel_rbf(3, 1), learn = FALSE, scale = FALSE,
                    basis = attr(basis(whole), "rows"))
  agree <- predict(whole, d$x, type = "class") == predict(batch, d$x, type = "class")
  expect_gt(mean(agree), 0.9)
})

test_that("sequential and batch EP on a predefined basis have the same fixed point", {
  memory_tier()
  d <- class_data(60)
  fit <- sparsegp(d$x, d$class, kernel = kernel_rbf(3, 1), learn = FALSE, scale = FALSE,
                  basis = c(2, 9, 17, 30, 44, 51), method = method_ep(tol = 1e-10))
  problem <- class_problem(fit, d, basis = fit$posterior$basis)
  problem$options <- method_ep(size = 6, freeze = Inf, sweeps = 500, tol = 1e-9)
  run <- engine_sparse(problem, fit$hyper$theta, Inf, 500)
  # the change of a site in the last sweep is 1e-9; a soft direction makes some hundred of it
  expect_equal(run$tau, fit$sites$tau, tolerance = 1e-5, ignore_attr = TRUE)
  expect_equal(run$cav_mean, fit$cavity$mean, tolerance = 1e-5, ignore_attr = TRUE)
  expect_equal(run$trace["log_evidence", ncol(run$trace)], as.numeric(logLik(fit)),
               tolerance = 1e-8, ignore_attr = TRUE)
})

# ---- The IVM ----

test_that("inclusions are those of the dense greedy selection over rows and classes", {
  slow_tier()
  d <- class_data(40)
  for (lik in of_tier(CLASS_LIKS, 1L)) for (select in c("information", "entropy")) {
    fit <- sparsegp(d$x, d$class, likelihood = lik, kernel = kernel_rbf(4, 1), learn = FALSE,
                    scale = FALSE, method = method_ivm(size = 6, select = select, refine = "none"))
    K <- rbf(4, 1)(d$x, d$x)
    tilt <- function(mean, var) {
      bias <- c(0.2, -0.1, 0)
      .Call(sg_lik_tilt, c_lik(lik, bias), bias, fit$data_rows, mean, var, FALSE)
    }
    dense <- reference_ivm_classes(K, 3L, tilt, 6L, select)
    trace <- fit$convergence$selection$trace
    expect_identical(trace$row, dense$row)
    expect_identical(trace$class, dense$class)
    # gains of the winners are exact; the dense recursion loses a few digits over 18 inclusions
    expect_equal(trace$gain, dense$gain, tolerance = 1e-8)
    expect_equal(unname(fit$latent$mean), dense$mean, tolerance = 1e-8)
    expect_equal(unname(fit$latent$var), dense$var, tolerance = 1e-8)
  }
})

test_that("a pool shrinks the candidates common to all classes", {
  memory_tier()
  d <- class_data(150)
  set.seed(1)
  fit <- sparsegp(d$x, d$class, kernel = kernel_rbf(4, 1), learn = FALSE,
                  method = method_ivm(size = 10, pool = 3 * 10 * 40, block = 5))
  expect_lte(max(table(fit$convergence$selection$trace$class)), 10L)
  expect_gt(mean(predict(fit, d$x, type = "class") == d$class), 0.6)
  expect_length(attr(basis(fit), "each"), 3L)
})

test_that("what several latent functions cannot have is refused by name", {
  d <- class_data(30)
  refused <- function(argument, ...) {
    error <- expect_error(sparsegp(d$x, d$class, learn = FALSE, ...), class = "sparsegp_error")
    expect_identical(error$argument, argument)
  }
  refused("method", method = method_ivm(5, refine = "active"))
  refused("method", method = method_ivm(5, exchange = 2))
  refused("likelihood", likelihood = lik_mprobit(shared = FALSE), method = method_online(5))
  refused("likelihood", likelihood = lik_mprobit(shared = FALSE), method = method_ep(size = 5))
  refused("offset", offset = rep(1, 30))
  expect_error(sparsegp(d$x, d$class, method = method_ivm(5), learn = learn_control("ivm")),
               "one latent function", class = "sparsegp_error")
})

test_that("rows that are certain beyond rounding, and kernels of nothing, do not stop EP", {
  memory_tier()
  for (bias in c(40, 50, 64, 80)) { # second derivatives down to 1e-320
    fit <- sparsegp(c(-1, 0, 1), factor(1:3), likelihood = lik_mprobit(c(0, 0, bias)),
                    learn = FALSE)
    expect_true(all(is.finite(predict(fit, c(-1, 2), type = "latent"))))
  }
  fit <- sparsegp(c(-1, 0, 1), factor(c(1, 1, 2)), likelihood = lik_softmax(c(-25, 25)),
                  method = method_ep(size = 1), learn = FALSE)
  expect_true(all(is.finite(fit$latent$mean)))
  expect_warning(same <- sparsegp(cbind(rep(1, 6), 2), factor(rep(1:3, 2)),
                                  kernel = kernel_linear(), learn = FALSE), "No input varies")
  expect_equal(unname(fitted(same)[1L, ]), rep(1 / 3, 3), tolerance = 0.02)
})

# With the kernel 0 at a row the two classes' variances there are 0. A row at 1e-3 of the others'
# spread has nearly the same: 1e-3 is how far the evidence moves with it.
test_that("two classes have a tilt where neither has a variance", {
  set.seed(3)
  x <- -20:20
  y <- factor(ifelse(x / 8 + rnorm(41) > 0, "b", "a"))
  fit <- function(x, ...) {
    sparsegp(data.frame(x), y, lik_softmax(coupled = FALSE), kernel_linear(fixed(1)),
             learn = FALSE, ...)
  }
  near <- fit(replace(x, 21L, 1e-2))
  basis <- data.frame(x = c(-9, 3, 20))
  for (there in list(fit(x), fit(x, method = method_ep(mixing = 0)), fit(x, basis = basis))) {
    expect_true(there$convergence$converged)
    expect_lt(there$convergence$sweeps, 20)
    expect_equal(logLik(there), logLik(near), tolerance = 1e-3, ignore_attr = TRUE)
  }
})

test_that("a stream goes by the levels its factor declares", {
  memory_tier()
  fit <- sparsegp(Species ~ ., iris, method = method_online(size = 10, pilot = 60), learn = FALSE)
  expect_identical(fit$likelihood$type, "mprobit")
  expect_error(sparsegp(iris[, 1:2], addNA(replace(iris$Species, 1:5, NA)), learn = FALSE), "NA",
               class = "sparsegp_error")
  expect_error(sparsegp(iris[, 1:2], iris$Species, learn = FALSE,
                        method = method_ivm(5, min_gain = 9)), "min_gain",
               class = "sparsegp_error")
  given <- sparsegp(iris[, 1:2], iris$Species, likelihood = lik_probit(c(1, 2, 3)), learn = FALSE)
  expect_equal(unname(coef(given)[3:5]), 1:3)
})
