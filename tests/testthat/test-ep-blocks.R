# EP whose sites see two latent values of a process at once: a pair of responses with Gaussian noise
# of a full covariance. Everything is Gaussian, so that dense algebra has the exact answer.

test_that("full EP of pairs equals dense regression: evidence, gradient, marginals, predictions", {
  case <- pair_problem()
  run <- engine_run(case$problem, case$theta, gradient = TRUE, posterior = TRUE)
  exact <- pair_reference(case)
  # exact sites: what is left is rounding
  expect_lt(abs(run$logz - exact$logz), 1e-10)
  expect_lt(max(abs(run$mean - exact$mean)), 1e-10)
  expect_lt(max(abs(run$var - blocks_of(exact$cov))), 1e-10)
  expect_lt(max(abs(run$tau - blocks_of(exact$site))), 1e-10)
  approx <- numeric_gradient(function(theta) pair_reference(case, theta)$logz, case$theta)
  # the differences' own error
  expect_lt(max(abs(run$gradient - approx)), 1e-7)
  new <- cbind(c(-1.1, 0.3, 2.5, 1.1), c(0, 0.8, 0.4, 0.4))
  found <- engine_latent(case$problem, case$theta, run, new)
  Kx <- pair_kernel(case, case$theta, new, case$problem$x)
  total <- pair_reference_total(case)
  expect_lt(max(abs(found$mean - Kx %*% solve(total, c(case$problem$rows) - case$problem$offset))),
            1e-10)
  cov <- pair_kernel(case, case$theta, new, new) - Kx %*% solve(total, t(Kx))
  expect_lt(max(abs(found$var - blocks_of(cov))), 1e-10)
})

test_that("EP of pairs on a basis equals block FITC: evidence, gradient, marginals", {
  case <- pair_problem(basis = few_pairs())
  run <- engine_run(case$problem, case$theta, gradient = TRUE, posterior = TRUE)
  exact <- pair_reference(case)
  expect_lt(abs(run$logz - exact$logz), 1e-10)
  expect_lt(max(abs(run$mean - exact$mean)), 1e-10)
  approx <- numeric_gradient(function(theta) pair_reference(case, theta)$logz, case$theta)
  expect_lt(max(abs(run$gradient - approx)), 1e-7)
  # V seen anew at every look gives the same
  case$problem$options$pool <- 1
  again <- engine_run(case$problem, case$theta, gradient = TRUE)
  expect_equal(again$logz, run$logz, tolerance = 1e-13)
  expect_equal(again$gradient, run$gradient, tolerance = 1e-11)
})

test_that("the marginal of a row on a basis is of the whole latent value", {
  case <- pair_problem(basis = few_pairs())
  run <- engine_run(case$problem, case$theta, posterior = TRUE)
  prior <- pair_prior(case, case$theta, case$problem$basis)
  gain <- prior$carried %*% solve(pair_reference_total(case), prior$carried)
  expect_lt(max(abs(run$var - blocks_of(prior$carried - gain + prior$left))), 1e-10)
})

test_that("tilts lead to the exact sites in one sweep", {
  case <- pair_problem(basis = few_pairs())
  run <- parts_run(list(case$problem), case$theta, method_ep(tol = 1e-11))
  exact <- engine_run(case$problem, case$theta)
  expect_lte(run$sweeps, 3L)
  expect_lt(abs(run$logz - exact$logz), 1e-10)
  expect_lt(max(abs(run$sites[[1L]]$tau - exact$tau)), 1e-8 * max(abs(exact$tau)))
})
