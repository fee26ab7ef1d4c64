# The IVM paper's learning criterion (eqs 11, 12, 14), and learning by it.

phi_case <- function(lik, kernel = kernel_rbf(2, 0.8), n = 120, size = 30, ...) {
  set.seed(6)
  x <- matrix(rnorm(2 * n), n)
  f <- sin(2 * x[, 1]) + x[, 2] + 0.4 * rnorm(n)
  y <- if (lik_traits(lik)$response == "labels") f > 0 else f
  fit <- sparsegp(x, y, likelihood = lik, kernel = kernel, scale = FALSE, learn = FALSE,
                  method = method_ivm(size, refine = "none", ...), offset = 0.1 * x[, 1])
  problem <- list(x = x, spec = fit$spec, nkernel = sum(fit$hyper$part == "kernel"),
                  processes = 1L, lik = fit$likelihood, rows = fit$data_rows,
                  offset = fit$offset / fit$response$unit, options = fit$options)
  theta <- fit$hyper$theta
  list(fit = fit, problem = problem, theta = theta,
       active = active_set(engine_ivm(problem, theta)))
}

logq <- function(case, theta = case$theta, active = case$active, ...) {
  run <- engine_phi(case$problem, theta, active, gradient = FALSE, ...)
  expect_identical(run$status, 0L)
  run$logz
}

reference_case <- function(case, theta = case$theta, active = case$active) {
  at <- seq_len(case$problem$nkernel)
  K <- .Call(sg_kernel_cross, case$problem$spec, theta[at], case$problem$x, case$problem$x)
  tilt <- function(i, mu, s2) {
    .Call(sg_lik_tilt, c_lik(case$problem$lik, theta[-at]), theta[-at],
          case$problem$rows[, i, drop = FALSE], mu + case$problem$offset[i], s2, FALSE)
  }
  reference_phi(K, tilt, active$rows, active$tau, active$nu, active$at_hand)
}

liks <- function() list(lik_probit(0.2), lik_logit(-0.3), lik_gaussian(0.09))

test_that("it is eq. 11, with all rows at hand or what shrinking left", {
  memory_tier()
  for (lik in liks()) for (pool in c(Inf, 30 * 50)) {
    case <- phi_case(lik, pool = pool, block = 10)
    expect_lt(length(case$active$at_hand), if (pool < Inf) 120 else 121)
    # dense matrices of 120 rows against factors of 30: a few hundred roundings; far from theta the
    # sites are no longer anyone's fixed point
    expect_equal(logq(case), -reference_case(case), tolerance = 1e-10)
    far <- case$theta + 0.5
    expect_equal(logq(case, far), -reference_case(case, far), tolerance = 1e-10)
  }
})

test_that("rows in blocks: more than one block, the last one short, any order of rows", {
  memory_tier()
  case <- phi_case(lik_probit(0.2), n = 1100) # blocks of 512
  expect_equal(logq(case), -reference_case(case), tolerance = 1e-10)
  shuffled <- case$active
  shuffled$at_hand <- rev(shuffled$at_hand)
  run <- engine_phi(case$problem, case$theta, case$active)
  again <- engine_phi(case$problem, case$theta, shuffled)
  expect_equal(again$logz, run$logz, tolerance = 1e-13) # another order of the same sums
  expect_equal(again$gradient, run$gradient, tolerance = 1e-10)
  # and the gradient is that of its blocks, whose edges no difference can see
  expect_equal(run$gradient, numeric_gradient(function(theta) logq(case, theta), case$theta),
               tolerance = 1e-7)
})

test_that("the gradient at held sites is that of differences, for kernels and likelihoods", {
  slow_tier()
  kernels <- list(kernel_rbf(2, 0.8), kernel_matern52(2, c(0.8, 1.5), ard = TRUE),
                  kernel_rbf(1, 1) + kernel_linear(0.5))
  for (lik in liks()) for (kernel in of_tier(kernels, 1L)) for (pool in c(Inf, 30 * 50)) {
    case <- phi_case(lik, kernel, pool = pool, block = 10)
    at <- case$theta + 0.1 * seq_along(case$theta) # where nothing is at a fixed point
    exact <- engine_phi(case$problem, at, case$active)$gradient
    approx <- numeric_gradient(function(theta) logq(case, theta), at)
    # extrapolated differences of a value of about 100: 1e-9 at best
    expect_lt(max(abs(exact - approx)), 1e-7 * max(1, abs(approx)))
  }
})

test_that("with Gaussian noise and all rows active it is the exact log evidence", {
  case <- phi_case(lik_gaussian(0.09), size = 120, n = 121)
  # one row is not active: it counts by its density given the others, which is the chain rule
  expect_length(case$active$rows, 120L)
  K <- class_kernel(case$fit, case$problem$x, case$problem$x, 1L)
  exact <- reference_gaussian_evidence(K, case$problem$rows[1L, ], exp(case$theta[3L]),
                                       case$problem$offset)
  expect_equal(logq(case), exact, tolerance = 1e-10)
  all <- case$active
  all$rows <- seq_len(121L)
  all$tau <- rep(1 / exp(case$theta[3L]), 121L)
  all$nu <- (case$problem$rows[1L, ] - case$problem$offset) * all$tau
  expect_equal(logq(case, active = all), exact, tolerance = 1e-10)
  # sites that are exact are stationary: the kernel's gradient is that of the evidence
  case$problem$options <- method_ep()
  expect_equal(engine_phi(case$problem, case$theta, all)$gradient,
               engine_run(case$problem, case$theta, gradient = TRUE)$gradient, tolerance = 1e-8)
})

test_that("sites set anew where they were selected are the selection's", {
  memory_tier()
  for (lik in liks()) {
    case <- phi_case(lik)
    run <- engine_phi(case$problem, case$theta, case$active, renew = TRUE)
    # one recursion over stubs, another over columns of the factor: 30 steps each
    expect_equal(run$tau, case$active$tau, tolerance = 1e-10)
    expect_equal(run$nu, case$active$nu, tolerance = 1e-10)
    expect_equal(run$logz, logq(case), tolerance = 1e-12)
    elsewhere <- engine_phi(case$problem, case$theta + 0.3, case$active, renew = TRUE)
    held <- utils::modifyList(case$active, elsewhere[c("tau", "nu")])
    expect_equal(elsewhere$logz, logq(case, case$theta + 0.3, held), tolerance = 1e-13)
  }
})

test_that("sites far sharper than the kernel, and rows with none, are numbers or a status", {
  memory_tier()
  case <- phi_case(lik_gaussian(1e-14), kernel_rbf(2, 0.8))
  expect_true(is.finite(logq(case)))
  expect_true(all(is.finite(engine_phi(case$problem, case$theta, case$active)$gradient)))
  probit <- phi_case(lik_probit(0.2))
  # a kernel of variance e-60: what a tilt says of so sure a value is below rounding
  nothing <- engine_phi(probit$problem, c(-60, 0, 0.2), probit$active, renew = TRUE)
  expect_identical(nothing$status, -3L)
  expect_true(is.na(nothing$logz))
  expect_false(anyNA(c(nothing$tau, nothing$nu)))
})

test_that("the log evidence of an unrefined fit is -phi", {
  memory_tier()
  for (lik in liks()) for (exchange in c(0, 3)) {
    case <- phi_case(lik, exchange = exchange)
    shift <- -120 * log(case$fit$response$unit)
    expect_equal(as.numeric(logLik(case$fit)), logq(case) + shift, tolerance = 1e-12)
  }
})

crabs <- function() {
  skip_if_not_installed("MASS")
  set.seed(1)
  MASS::crabs[sample(200L), ]
}

by_phi <- function(..., refine = "none", size = 40) {
  sparsegp(sex ~ FL + RW + CL + CW + BD, crabs(), method = method_ivm(size, refine = refine),
           learn = learn_control("ivm", ...))
}

test_that("learning lowers phi, by every strategy, and keeps the best major step", {
  slow_tier()
  start <- sparsegp(sex ~ FL + RW + CL + CW + BD, crabs(), learn = FALSE,
                    method = method_ivm(40, refine = "none"))
  for (strategy in c("constant", "hybrid", "exact")) {
    fit <- by_phi(outer = 4, strategy = strategy)
    record <- fit$learning
    expect_gt(fit$log_evidence, start$log_evidence + 10)
    rounds <- choices_of_stage(fit, "basis")$score
    expect_true(length(rounds) %in% c(0L, 2:4))
    if (length(rounds)) expect_identical(record$objective, max(record$start, rounds))
    # the final selection is the best major step's, made once more
    prior <- hyper_log_prior(fit$hyper, fit$hyper$theta)$value
    expect_equal(fit$log_evidence + prior, record$objective, tolerance = 1e-12)
    expect_length(record$gradient, 3L)
    expect_output(print(summary(fit, details = TRUE)), "Failed line searches: [0-9]")
  }
})

test_that("what phi has learned is used by every refinement", {
  slow_tier()
  none <- by_phi(outer = 3)
  for (refine in c("active", "basis")) {
    fit <- by_phi(outer = 3, refine = refine)
    expect_identical(fit$hyper$theta, none$hyper$theta)
    expect_identical(attr(basis(fit), "rows"), attr(basis(none), "rows"))
    expect_gt(fit$convergence$sweeps, 1L)
  }
  all <- by_phi(outer = 4, size = 200)
  expect_length(attr(basis(all), "rows"), 200L)
})

test_that("regression is learned by it", {
  memory_tier()
  set.seed(2)
  x <- runif(300, -10, 10)
  y <- sin(x) / x + 0.1 * rnorm(300)
  fit <- sparsegp(x, y, method = method_ivm(40), learn = learn_control("ivm", outer = 4))
  # the truth is 0.01, and 300 rows tell it to a tenth
  expect_lt(abs(log(coef(fit)[["noise"]] / 0.01)), 0.2)
})

test_that("restarts never end worse, and the random order is one for all selections of a fit", {
  slow_tier()
  fit <- function(...) {
    set.seed(3)
    suppressWarnings(by_phi(outer = 4, size = 20, ...)) # four rounds are few
  }
  more <- fit(restarts = 2)
  expect_length(more$learning$objective, 3L)
  expect_gte(max(more$learning$objective), fit()$learning$objective)
  expect_identical(coef(more), coef(fit(restarts = 2)))
  d <- crabs()
  set.seed(3)
  few <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, learn = learn_control("ivm", outer = 3),
                  method = method_ivm(20, refine = "none", pool = 20 * 60, block = 5))
  prior <- hyper_log_prior(few$hyper, few$hyper$theta)$value
  expect_equal(few$log_evidence + prior, few$learning$objective, tolerance = 1e-12)
})

test_that("what cannot be learned by phi says so", {
  memory_tier()
  refused <- function(code) {
    error <- expect_error(code, class = "sparsegp_error")
    expect_identical(error$argument, "learn")
    error
  }
  x <- c(1, 2, 4, 3, 6, 5)
  for (method in list(NULL, "ep", method_ep(3), method_online())) {
    error <- refused(sparsegp(x, x, method = method, learn = learn_control("ivm")))
    expect_match(conditionMessage(error), "method_ivm()", fixed = TRUE)
  }
  refused(sparsegp(x, x, method = method_ivm(3), basis = 1:2, learn = learn_control("ivm")))
  expect_error(check_one_process(list(processes = 3L)), class = "sparsegp_error")
  zero <- rep(0, 30) # a linear kernel of nothing
  expect_warning(
    expect_error(sparsegp(zero, rnorm(30), kernel = kernel_linear(), scale = FALSE,
                          method = method_ivm(5), learn = learn_control("ivm")),
                 class = "sparsegp_error"),
    "No input varies"
  )
})

test_that("a search that was still rising in its last round says so", {
  memory_tier()
  expect_true(rounds_settled(c(-5, -4, -4.5)))
  expect_true(rounds_settled(c(-5, -4, NA)))
  expect_true(rounds_settled(-5))
  expect_false(rounds_settled(c(-50, -40)))
  expect_warning(by_phi(inner = 1, outer = 1), "learn_control\\(outer =\\)",
                 class = "sparsegp_warning")
})

test_that("an observer sums up a search", {
  memory_tier()
  words <- capture.output(type = "message", {
    progress <- new_progress(TRUE, bar = TRUE)
    for (i in 1:6) progress$step(-i, TRUE, 0, NULL)
    progress$done(-1.5)
  })
  expect_identical(words, "log evidence + log prior -1.5 after 6 evaluations")
})

test_that("lines are one for each evaluation", {
  memory_tier()
  lines <- capture.output(type = "message", {
    fit <- sparsegp(sex ~ FL + RW, crabs(), method = method_ivm(10),
                    control = gp_control(verbose = TRUE),
                    learn = learn_control("ivm", outer = 2))
  })
  expect_length(grep("log evidence + log prior", lines, fixed = TRUE), fit$learning$evaluations)
})
