# The gradient of the log evidence against differences of the log evidence.

evidence_problem <- function(kernel, lik, n = 20) {
  set.seed(11) # of likelihoods that are not log-concave, rows that widen with most kernels
  x <- matrix(rnorm(n * 3), n, dimnames = list(NULL, c("a", "b", "c")))
  f <- x[, 1] + sin(2 * x[, 2])
  traits <- lik_traits(lik)
  values <- natural_values(lik, rep(-1, length(lik$params)))
  y <- traits$data_rows(traits$draw(f, values, 1), runif(n, 0.5, 2))
  names <- colnames(x)
  resolved <- resolve_kernel(kernel, list(names = names, terms = names, kept = rep(TRUE, 3)))
  env <- list(response_unit = 1, input_scale = rep(1, 3), input_unit = rep(1, 3),
              spacing = function(vars) Inf, step = function(input) 0,
              period = function(input, given, turn) list(start = 2, spread = 1, stride = 1))
  table <- hyper_table(resolved, lik, env, y, 1 + 0.1 * x[, 3], NULL,
                       list(processes = 1L, levels = seq_len(max(y)), unit = 1))
  # an offset that tells f from -f, as lik_density() needs it
  list(problem = list(x = x, spec = spec_for_c(resolved), nkernel = sum(table$part == "kernel"),
                      processes = 1L, lik = lik, rows = y, offset = 1 + 0.1 * x[, 3],
                      options = method_ep(tol = 1e-11, sweeps = 1000)),
       theta = table$theta + 0.1 * seq_len(nrow(table)) / nrow(table))
}

expect_exact_gradient <- function(case, label) {
  exact <- engine_run(case$problem, case$theta, gradient = TRUE)
  expect_true(exact$converged || exact$flat > 0, label = label)
  # Where EP has no proper fixed point, rows that would widen the posterior must not. The evidence
  # is then not stationary in the sites, whose own moves the gradient leaves out.
  if (exact$flat > 0) return(list(lost = label, widening = 0L))
  # From the fixed point at hand, lest another one be found at the next theta. The evidence is
  # stationary in the sites, so that to have them to 1e-7 is enough for its differences.
  near <- case$problem
  near$options$tol <- 1e-7
  approx <- numeric_gradient(function(theta) {
    engine_run(near, theta, sites = exact[c("tau", "nu")])$logz
  }, case$theta, levels = 3L)
  # sites converged to 1e-11: the gradient's error is of that order, the differences' larger
  expect_lt(max(abs(exact$gradient - approx)), 1e-6 * max(1, abs(approx)), label = label)
  list(lost = NULL, widening = sum(exact$tau < 0))
}

# Sites of negative precision are for likelihoods that are not log-concave, and then there are some;
# no more than `lost` of the kernels leave EP without a proper fixed point. The few kernels of the
# quick tier need not show any.
expect_sites <- function(judged, type, lost) {
  if (!whole_suite()) return()
  widening <- sum(vapply(judged, `[[`, 0L, "widening"))
  reference <- REFERENCE_LIKELIHOODS[[type]]
  expect_identical(widening > 0L, reference$widens %||% !reference$log_concave, label = type)
  without <- unlist(lapply(judged, `[[`, "lost"))
  expect_lte(length(without), if (REFERENCE_LIKELIHOODS[[type]]$log_concave) 0L else lost,
             label = toString(without))
}

all_kernels <- function() {
  list(
    kernel_rbf(), kernel_rbf(ard = TRUE), kernel_matern12(), kernel_matern12(ard = TRUE),
    kernel_matern32(), kernel_matern32(ard = TRUE), kernel_matern52(),
    kernel_matern52(ard = TRUE), kernel_rq(), kernel_rq(ard = TRUE), kernel_linear(),
    kernel_linear(ard = TRUE), kernel_poly(3), kernel_constant(),
    kernel_periodic(period = 2, vars = "b"), kernel_trig(2, period = 5, vars = "c"),
    kernel_factor("a"),
    kernel_rbf(vars = c("a", "c")) + kernel_linear(ard = TRUE) + kernel_constant(),
    kernel_matern52(ard = TRUE) * kernel_poly(2) * kernel_periodic(period = 3, vars = 1),
    (kernel_rbf(vars = "a") + kernel_linear()) * kernel_rq(vars = "b")
  )
}

kernels <- function() of_tier(all_kernels(), 2L)

# Likelihoods of one latent function that have an evidence; classes have their own sites and tests.
single_likelihoods <- function() {
  Filter(function(type) {
    traits_of(type)$response != "classes" && traits_of(type)$has_evidence
  }, likelihood_names())
}

test_that("the gradient is exact for every kernel with every likelihood", {
  memory_tier()
  covered <- unlist(lapply(all_kernels(), function(k) vapply(kernel_leaves(k), `[[`, "", "type")))
  # kernels of vectors want rows of several components: test-kernels-vector.R
  # and those that are R functions have test-kernel-custom.R
  elsewhere <- c("divfree", "curlfree", "coregion", "custom")
  expect_setequal(c(covered, "sum", "product", elsewhere), catalogue()$kernels)
  for (type in of_tier(single_likelihoods(), 4L)) {
    lik <- get(paste0("lik_", type))()
    judged <- lapply(kernels(), function(kernel) {
      case <- evidence_problem(kernel, lik)
      expect_exact_gradient(case, paste(type, "with", format(kernel)))
    })
    expect_sites(judged, type, lost = 5L)
  }
})

# Each likelihood with every second kernel, each kernel with every second likelihood: what the two
# contribute meets in the same place as without a basis.
test_that("the gradient on a basis is exact for every kernel and every likelihood", {
  memory_tier()
  for (type in of_tier(single_likelihoods(), 4L, memory = 5L)) {
    lik <- get(paste0("lik_", type))()
    first <- 1L + match(type, single_likelihoods()) %% 2L
    judged <- lapply(kernels()[seq(first, length(kernels()), by = 2L)], function(kernel) {
      case <- evidence_problem(kernel, lik)
      # points of their own, so that the weights of K_nB and of K_B are told apart
      case$problem$basis <- case$problem$x[c(3, 11, 17, 19), ] + 0.1
      if (engine_run(case$problem, case$theta)$jitter > 0) return() # rank below 4: see below
      expect_exact_gradient(case, paste(type, "with", format(kernel), "on a basis"))
    })
    expect_sites(Filter(Negate(is.null), judged), type, lost = 4L)
  }
})

test_that("the gradient on a basis is exact where jitter had to be added, too", {
  case <- evidence_problem(kernel_linear(), lik_probit())
  case$problem$basis <- case$problem$x[1:6, ] # rank 3
  expect_gt(engine_run(case$problem, case$theta)$jitter, 0)
  exact <- engine_run(case$problem, case$theta, gradient = TRUE)$gradient
  approx <- numeric_gradient(function(theta) engine_run(case$problem, theta)$logz, case$theta)
  # a condition number of 1e12 leaves few digits
  expect_lt(max(abs(exact - approx)), 1e-3)
})

test_that("the evidence is stationary in the sites at the fixed point", {
  case <- evidence_problem(kernel_rbf(), lik_probit())
  run <- engine_run(case$problem, case$theta)
  case$problem$options$sweeps <- 1L
  set.seed(8)
  moved <- lapply(run[c("tau", "nu")], function(v) v * (1 + 1e-4 * rnorm(length(v))))
  near <- engine_run(case$problem, case$theta, sites = moved)
  # a change of 1e-4 in the sites changes the evidence in second order
  expect_lt(abs(near$logz - run$logz), 1e-6)
})
