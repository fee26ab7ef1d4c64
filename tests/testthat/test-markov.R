# Markov EP (method_markov()): the posterior of full EP of one input by a filter and a smoother.

MARKOV_KERNELS <- list(
  matern12 = kernel_matern12(lengthscale = 0.3),
  matern32 = kernel_matern32(lengthscale = 0.5),
  matern52 = kernel_matern52(lengthscale = 0.5) + kernel_constant(),
  sum = kernel_linear() + kernel_matern52(lengthscale = 1) + kernel_matern12(lengthscale = 0.2),
  season = kernel_matern32(lengthscale = 0.5) + kernel_periodic(period = 0.3, lengthscale = 1.5),
  changing = kernel_matern32(lengthscale = 1) * kernel_periodic(period = 0.3, lengthscale = 6),
  poly = kernel_poly(3) + kernel_matern12(lengthscale = 0.5),
  trig = kernel_trig(3) * kernel_linear() + kernel_matern52(lengthscale = 0.4)
)

# Times in no order, two of them equal, and responses of a few kinds around a wave.
markov_rows <- function(n = 120) {
  set.seed(1)
  t <- stats::runif(n)
  t[5] <- t[6]
  f <- sin(12 * t)
  list(x = cbind(t = t), responses = list(
    gaussian = f + 0.2 * stats::rnorm(n), poisson = stats::rpois(n, exp(f)),
    negbin = stats::rnbinom(n, size = 2, mu = exp(f)), student = f + 0.1 * stats::rt(n, 2),
    laplace = f + 0.1 * stats::rnorm(n) * stats::rexp(n), probit = factor(f + stats::rnorm(n) > 0),
    logit = factor(f + stats::rnorm(n) > 0), gamma = stats::rgamma(n, 2) * exp(f),
    beta = pmin(pmax(stats::rbeta(n, 2 * exp(f), 2), 1e-6), 1 - 1e-6)
  ))
}

# response: its name in `rows`
fit_both <- function(rows, response, kernel, likelihood = response, ...) {
  methods <- list(full = method_ep(tol = 1e-10), markov = method_markov(tol = 1e-10))
  lapply(methods, function(method) {
    suppressWarnings(sparsegp(rows$x, rows$responses[[response]], likelihood, kernel = kernel,
                              method = method, learn = FALSE, ...))
  })
}

# The run of a fit's model at its hyperparameters, with the gradient. sites: to begin with.
run_with_gradient <- function(fit, sites = NULL) {
  at <- order(fit$basis_rows)
  problem <- new_problem(model_of_fit(fit), fit$posterior$basis[at, , drop = FALSE],
                         fit$data_rows, fit$offset, fit$options)
  if (is_markov_fit(fit)) problem <- plan_markov(problem)$problem
  engine_run(problem, fit$hyper$theta, sites, gradient = TRUE)
}

test_that("filter and smoother agree with dense algebra and with C, of negative sites too", {
  set.seed(2)
  t <- sort(stats::runif(50))
  tau <- stats::rexp(50) * 2 - 0.1
  nu <- stats::rnorm(50)
  expect_lt(min(tau), 0)
  K <- 1.3 * (1 + sqrt(3) * abs(outer(t, t, "-")) / 0.2) *
    exp(-sqrt(3) * abs(outer(t, t, "-")) / 0.2)
  S <- solve(solve(K) + diag(tau))
  own <- reference_markov(t, tau, nu, 1.3, 0.2)
  # the condition of K is some 1e6
  expect_equal(own$mean, drop(S %*% nu), tolerance = 1e-8)
  expect_equal(own$var, diag(S), tolerance = 1e-8)
  expect_equal(own$log_det, c(determinant(diag(50) + K %*% diag(tau))$modulus), tolerance = 1e-10)
  spec <- spec_for_c(resolve_kernel(kernel_matern32(), list(names = "t", kept = TRUE)))
  posterior <- list(basis = cbind(t), markov = list(tau = tau, nu = nu))
  found <- markov_moments(spec, log(c(1.3, 0.2)), posterior, cbind(t))
  expect_equal(found$mean, own$mean, tolerance = 1e-9)
  expect_equal(found$var, own$var, tolerance = 1e-9)
})

test_that("sites may have a posterior all together, and the first of them none", {
  set.seed(3)
  t <- sort(stats::runif(30))
  tau <- stats::rexp(30)
  pairs <- c(4, 15, 27)
  t[pairs + 1] <- t[pairs] + 0.001
  tau[pairs] <- -6 # variances before these rows are above 1 / 6
  tau[pairs + 1] <- 8
  nu <- stats::rnorm(30)
  K <- 1.3 * (1 + sqrt(3) * abs(outer(t, t, "-")) / 0.2) *
    exp(-sqrt(3) * abs(outer(t, t, "-")) / 0.2)
  S <- solve(solve(K) + diag(tau))
  expect_gt(min(eigen(S, TRUE)$values), 0)
  expect_lt(min(eigen(solve(K[1:4, 1:4]) + diag(tau[1:4]), TRUE)$values), 0)
  own <- reference_markov(t, tau, nu, 1.3, 0.2)
  spec <- spec_for_c(resolve_kernel(kernel_matern32(), list(names = "t", kept = TRUE)))
  moments <- function(tau) {
    posterior <- list(basis = cbind(t), markov = list(tau = tau, nu = nu))
    markov_moments(spec, log(c(1.3, 0.2)), posterior, cbind(t))
  }
  # the condition of K is some 1e9
  expect_equal(moments(tau)$mean, drop(S %*% nu), tolerance = 1e-6)
  expect_equal(moments(tau)$var, diag(S), tolerance = 1e-6)
  expect_equal(moments(tau)$mean, own$mean, tolerance = 1e-8)
  expect_equal(moments(tau)$var, own$var, tolerance = 1e-8)
  expect_equal(own$log_det, c(determinant(diag(30) + K %*% diag(tau))$modulus), tolerance = 1e-9)
  tau[5] <- -1
  expect_error(moments(tau), class = "sparsegp_error")
  tau[pairs[-1]] <- 0
  expect_error(moments(tau), class = "sparsegp_error")
})

# 100 rows at times t of a wave with outliers, of the form of markov_rows()
rows_with_outliers <- function(seed) {
  set.seed(seed)
  t <- if (seed %% 2) seq(0, 10, length.out = 100) else sort(stats::runif(100, 0, 10))
  y <- sin(2 * t) + 0.1 * stats::rnorm(100)
  far <- sample(100, 12)
  y[far] <- y[far] + stats::rnorm(12, 0, 4)
  list(x = cbind(t = t), responses = list(y = y))
}

test_that("outliers leave a filter the posterior of full EP", {
  slow_tier()
  for (seed in of_tier(1:12, 4)) {
    likelihood <- lik_student(scale = 0.1, df = if (seed %% 3) 2.2 else 4)
    kernel <- if (seed %% 4 < 2) kernel_matern32(1, 1) else kernel_matern12(1, 1)
    both <- fit_both(rows_with_outliers(seed), "y", kernel, likelihood)
    if (both$full$convergence$flat > 0) next # two of the fixed points without such sites
    expect_identical(both$markov$convergence$flat, 0L)
    expect_equal(both$markov$convergence$widening, both$full$convergence$widening)
    expect_equal(as.numeric(logLik(both$markov)), as.numeric(logLik(both$full)),
                 tolerance = 1e-9, label = seed)
    expect_equal(predict(both$markov), predict(both$full), tolerance = 1e-7, label = seed)
  }
})

test_that("evidence, gradient, marginals and cavities are those of full EP", {
  memory_tier()
  rows <- markov_rows()
  cases <- expand.grid(kernel = names(MARKOV_KERNELS), lik = names(rows$responses),
                       stringsAsFactors = FALSE)
  # every second pair of a kernel and a likelihood
  turn <- match(cases$kernel, names(MARKOV_KERNELS)) + match(cases$lik, names(rows$responses))
  cases <- cases[turn %% 2L == 0L, ]
  for (k in of_tier(seq_len(nrow(cases)), 6, memory = 4)) {
    both <- fit_both(rows, cases$lik[k], MARKOV_KERNELS[[cases$kernel[k]]])
    runs <- lapply(both, run_with_gradient)
    # products with a periodic kernel have three cosines, the others ten: what these leave out
    tolerance <- if (cases$kernel[k] == "changing") 1e-6 else 1e-8
    for (field in c("logz", "gradient", "mean", "var", "cav_mean", "cav_var", "lpd", "tau", "nu")) {
      expect_equal(runs$markov[[field]], runs$full[[field]], tolerance = tolerance,
                   label = paste(cases$lik[k], cases$kernel[k], field))
    }
    expect_equal(as.numeric(logLik(both$markov)), as.numeric(logLik(both$full)),
                 tolerance = tolerance)
  }
})

test_that("a search evaluates full EP of one input by a filter, with the same numbers", {
  memory_tier()
  rows <- markov_rows()
  kernels <- c(gaussian = "sum", poisson = "season", probit = "matern32", student = "changing",
               gamma = "poly", negbin = "trig")
  for (response in names(kernels)) {
    fit <- sparsegp(rows$x, rows$responses[[response]], response, method = method_ep(tol = 1e-10),
                    kernel = MARKOV_KERNELS[[kernels[[response]]]], learn = FALSE)
    problem <- problem_of_fit(fit)
    expect_false(is.null(filtered_problem(problem)))
    filter <- evaluator(problem)(fit$hyper$theta, NULL, NULL)
    full <- engine_run(problem, fit$hyper$theta, gradient = TRUE)
    expect_equal(filter$logz, full$logz, tolerance = 1e-10, label = response)
    expect_equal(filter$gradient, full$gradient, tolerance = 1e-8, label = response)
    expect_equal(filter$tau, full$tau, tolerance = 1e-8, label = response)
  }
})

test_that("a rhythm that hardly swings has weights, though their recursion overflows", {
  memory_tier()
  kernel <- kernel_matern32() + kernel_periodic(period = 0.3, lengthscale = 1e4)
  both <- fit_both(markov_rows(30), "gaussian", kernel)
  expect_equal(as.numeric(logLik(both$markov)), as.numeric(logLik(both$full)), tolerance = 1e-8)
})

test_that("full EP is evaluated itself where a filter has other numbers, or is slower", {
  slow_tier()
  rows <- markov_rows()
  fit_of <- function(kernel, n = 120, likelihood = "gaussian") {
    sparsegp(rows$x[seq_len(n), , drop = FALSE], rows$responses[[likelihood]][seq_len(n)],
             likelihood, kernel = kernel, method = method_ep(), learn = FALSE)
  }
  filtered <- function(fit) filtered_problem(problem_of_fit(fit))
  expect_null(filtered(fit_of(kernel_rbf())))
  expect_null(shorter_way(problem_of_fit(fit_of(kernel_rbf()))))
  expect_null(filtered(fit_of(kernel_matern32(), policy$filtered_rows - 1)))
  short <- fit_of(kernel_matern32() + kernel_periodic(period = 0.3, lengthscale = 0.2))
  problem <- problem_of_fit(short)
  theta <- short$hyper$theta
  expect_false(is_whole_form(filtered(short), theta)) # finer than the cosines
  expect_identical(evaluator(problem)(theta, NULL, NULL)$logz, engine_run(problem, theta)$logz)
  # outliers whose sites of negative precision the iteration gives up
  rows <- rows_with_outliers(6)
  student <- sparsegp(rows$x, rows$responses$y, lik_student(scale = 0.1, df = 4),
                      kernel = kernel_matern12(1, 1), method = method_ep(), learn = FALSE)
  problem <- problem_of_fit(student)
  theta <- student$hyper$theta
  expect_gt(engine_run(filtered_problem(problem), theta)$flat, 0)
  expect_identical(evaluator(problem)(theta, NULL, NULL)$logz, engine_run(problem, theta)$logz)
})

test_that("a search evaluates full EP of a smooth function by few rows, with the same numbers", {
  slow_tier()
  set.seed(1)
  n <- policy$carried_rows
  t <- stats::runif(n)
  t[5] <- t[6]
  f <- sin(12 * t)
  responses <- list(gaussian = f + 0.2 * stats::rnorm(n), poisson = stats::rpois(n, exp(f)),
                    probit = factor(f + stats::rnorm(n) > 0))
  kernels <- list(kernel_rbf(lengthscale = 1), kernel_linear() + kernel_rbf(lengthscale = 0.5),
                  kernel_rbf(lengthscale = 0.8) + kernel_periodic(lengthscale = 3, period = 0.3))
  for (kernel in kernels) {
    for (response in names(responses)) {
      fit <- sparsegp(cbind(t), responses[[response]], response, kernel = kernel, learn = FALSE,
                      method = method_ep(tol = 1e-10))
      problem <- problem_of_fit(fit)
      theta <- fit$hyper$theta
      label <- paste(response, format(kernel))
      run <- shorter_way(problem)(theta, NULL)
      full <- engine_run(problem, theta, gradient = TRUE)
      expect_equal(run$logz, full$logz, tolerance = 1e-8, label = label)
      expect_equal(run$gradient, full$gradient, tolerance = 1e-5, label = label)
      expect_equal(run$tau, full$tau, tolerance = 1e-6, label = label)
    }
  }
  problem$spec$custom <- list() # a function in R
  expect_null(by_carrying_rows(problem))
  problem <- problem_of_fit(fit)
  rough <- replace(theta, fit$hyper$base == "lengthscale", -5)
  expect_null(shorter_way(problem)(rough, NULL))
  expect_identical(evaluator(problem)(rough, NULL, NULL)$logz, engine_run(problem, rough)$logz)
})

test_that("a default fit of one input is what it is without a filter, and full EP", {
  slow_tier()
  set.seed(1)
  d <- data.frame(t = sort(stats::runif(150)))
  d$y <- stats::rpois(150, exp(1 + sin(12 * d$t)))
  fit <- sparsegp(y ~ t, d)
  full <- with_policy(filtered_rows = Inf, code = sparsegp(y ~ t, d))
  expect_false(is_markov_fit(fit))
  expect_identical(format(fit$kernel), format(full$kernel))
  expect_equal(fit$choices$score, full$choices$score, tolerance = 1e-4)
  expect_equal(predict(fit, d[1:20, ]), predict(full, d[1:20, ]), tolerance = 1e-3)
})

test_that("400 observations: each likelihood and each kernel once, as full EP has them", {
  slow_tier() # the test above has all pairs, of fewer observations
  rows <- markov_rows(400)
  # the noise of Student's t is such that no site is clipped: its fixed point is the only one
  student <- lik_student(0.3, 4)
  cases <- list(matern12 = "gaussian", matern32 = "poisson", matern52 = "negbin", sum = student,
                season = "laplace", changing = "probit", poly = "gamma", trig = "beta")
  new <- cbind(t = c(-0.5, 0.2, rows$x[5], rows$x[5] + 1e-9, 1.5))
  negative <- character()
  for (kernel in names(cases)) {
    lik <- cases[[kernel]]
    name <- if (is.character(lik)) lik else lik$type
    both <- fit_both(rows, name, MARKOV_KERNELS[[kernel]], lik)
    if (any(both$markov$sites$tau < 0)) negative <- c(negative, name)
    gradient <- lapply(both, function(fit) {
      run_with_gradient(fit, fit$sites[c("tau", "nu")])$gradient
    })
    expect_equal(gradient$markov, gradient$full, tolerance = 1e-8, label = paste(name, "gradient"))
    for (field in c("mean", "var")) {
      expect_equal(both$markov$latent[[field]], both$full$latent[[field]], tolerance = 1e-8,
                   label = paste(name, field))
    }
    expect_equal(as.numeric(logLik(both$markov)), as.numeric(logLik(both$full)), tolerance = 1e-8)
    # the covariance is that of draws, too
    joint <- lapply(both, predict, new, type = "link", se.fit = TRUE, covariance = TRUE)
    expect_equal(joint$markov, joint$full, tolerance = 1e-8, label = paste(name, "predictions"))
  }
  expect_true(all(c("student", "beta") %in% negative))
})

test_that("draws have the moments of the posterior", {
  slow_tier()
  rows <- markov_rows()
  fit <- fit_both(rows, "poisson", MARKOV_KERNELS$season)$markov
  new <- cbind(t = c(0.2, 0.201, 0.7, 1.2))
  wanted <- predict(fit, new, type = "link", se.fit = TRUE, covariance = TRUE)
  set.seed(1)
  drawn <- t(unclass(draws(fit, new, 4000, type = "link")))
  # 4 standard errors of means and covariances of 4000 draws
  expect_lt(max(abs(colMeans(drawn) - wanted$fit) / wanted$se.fit), 4 / sqrt(4000))
  scale <- outer(wanted$se.fit, wanted$se.fit)
  expect_lt(max(abs(stats::cov(drawn) - wanted$covariance) / scale), 4 * sqrt(2 / 4000))
})

test_that("predictions, joint covariances, draws, slopes, effects and loo are those of full EP", {
  memory_tier()
  rows <- markov_rows()
  new <- cbind(t = c(-0.5, 0, 0.3, 0.3, rows$x[1:2], 0.9, 1.4))
  kernel <- kernel_matern52(lengthscale = 0.6) + kernel_periodic(period = 0.3, lengthscale = 1.5) +
    kernel_linear()
  for (lik in of_tier(c("poisson", "gaussian", "probit", "student"), 2, memory = 1)) {
    both <- fit_both(rows, lik, kernel)
    same <- function(f, tolerance = 1e-7) {
      seen <- lapply(both, function(fit) {
        set.seed(3)
        f(fit)
      })
      expect_equal(seen$markov, seen$full, tolerance = tolerance, label = lik)
    }
    same(function(fit) predict(fit, new))
    same(function(fit) predict(fit, new, type = "link", se.fit = TRUE, covariance = TRUE))
    # the standard error of a difference of nearly equal effects has fewer digits
    same(function(fit) predict(fit, new, type = "terms", se.fit = TRUE), 1e-5)
    same(function(fit) draws(fit, new, 4), 1e-5) # roots of a covariance
    same(function(fit) slopes(fit, new))
    same(function(fit) slopes(fit, average = TRUE), 1e-6)
    same(function(fit) c(unclass(next_rows(fit, new, 3))), 1e-6)
    same(function(fit) loo(fit)$pointwise)
    same(residuals)
    same(fitted)
  }
})

test_that("classes of their own models, and a mean with a trend, are those of full EP", {
  memory_tier()
  rows <- markov_rows()
  rows$responses$probit <- cut(rows$responses$gaussian, c(-9, -0.5, 0.5, 9), c("a", "b", "c"))
  new <- cbind(t = c(-1, 0.2, 3))
  both <- fit_both(rows, "probit", kernel_matern32(lengthscale = 0.4))
  expect_equal(predict(both$markov, new, type = "prob"), predict(both$full, new, type = "prob"),
               tolerance = 1e-8)
  both <- fit_both(rows, "gaussian", kernel_matern32(lengthscale = 0.4), mean = ~ t)
  expect_equal(predict(both$markov, new, se.fit = TRUE), predict(both$full, new, se.fit = TRUE),
               tolerance = 1e-7) # vague coefficients, far outside
  expect_equal(run_with_gradient(both$markov)$gradient, run_with_gradient(both$full)$gradient,
               tolerance = 1e-7)
  expect_equal(both$markov$posterior$trend[c("coef", "J", "root")],
               both$full$posterior$trend[c("coef", "J", "root")], tolerance = 1e-7)
})

test_that("gaps of 1e6 length scales and spacings of 1e-9 keep their digits", {
  memory_tier()
  set.seed(4)
  t <- c(0, 1e-9, 2e-9, 0.5, 0.5, 0.5 + 1e-9, 2, 1e6, 1e6 + 1)
  y <- stats::rnorm(9)
  for (kernel in list(kernel_matern12(1, 1), kernel_matern32(1, 1), kernel_matern52(1, 1))) {
    both <- lapply(list(method_ep(), method_markov()), function(method) {
      sparsegp(cbind(t = t), y, lik_gaussian(variance = 0.01), kernel = kernel, method = method,
               learn = FALSE, scale = FALSE, mean = "zero")
    })
    expect_equal(as.numeric(logLik(both[[2]])), as.numeric(logLik(both[[1]])), tolerance = 1e-9)
    expect_equal(fitted(both[[2]]), fitted(both[[1]]), tolerance = 1e-8)
    expect_equal(both[[2]]$latent$var, both[[1]]$latent$var, tolerance = 1e-7)
  }
})

test_that("the gradient is the same in segments", {
  # 400000 times of 3 states and a mean: more than a segment holds
  slow_tier()
  n <- 400000
  set.seed(5)
  t <- cbind(t = seq_len(n) / 1000)
  y <- sin(t[, 1] / 10) + stats::rnorm(n)
  fit <- sparsegp(t, y, lik_gaussian(variance = 1), kernel = kernel_matern52(lengthscale = 0.1),
                  method = method_markov(), learn = FALSE)
  at <- function(theta) {
    problem <- new_problem(model_of_fit(fit), fit$posterior$basis, fit$data_rows, fit$offset,
                           fit$options)
    engine_run(plan_markov(problem)$problem, theta, gradient = TRUE)
  }
  theta <- fit$hyper$theta
  along <- 1e-4 * c(1, -0.6, 0.8, 1.3, -0.7)[seq_along(theta)] # a little of each
  difference <- (at(theta + along)$logz - at(theta - along)$logz) / 2
  # a central difference of a log evidence of -6e5: its rounding, 1e-10 of it
  expect_equal(sum(at(theta)$gradient * along), difference, tolerance = 1e-4)
})

test_that("learning ends where full EP's does, and the fit can be saved", {
  slow_tier()
  rows <- markov_rows()
  kernel <- kernel_matern32() + kernel_linear()
  fits <- lapply(list(method_ep(), method_markov()), function(method) {
    sparsegp(rows$x, rows$responses$poisson, "poisson", kernel = kernel, method = method)
  })
  expect_equal(coef(fits[[2]]), coef(fits[[1]]), tolerance = 1e-3) # of two searches
  expect_output(print(fits[[2]]), "Markov EP")
  file <- tempfile()
  saveRDS(fits[[2]], file)
  expect_identical(predict(readRDS(file), rows$x), predict(fits[[2]], rows$x))
  damaged <- fits[[2]]
  damaged$posterior$markov$tau <- damaged$posterior$markov$tau[-1]
  expect_error(predict(damaged, rows$x), class = "sparsegp_error")
})

test_that("a very long series learns from some of its rows first, and ends at the same optimum", {
  slow_tier()
  n <- 4000
  set.seed(10)
  t <- cbind(t = seq_len(n))
  y <- stats::rpois(n, exp(sin(t[, 1L] / 100)))
  made <- function(...) {
    with_policy(series_rows = 3000, code = sparsegp(t, y, ..., method = method_markov()))
  }
  fit <- made("poisson", kernel = kernel_matern32())
  # from elsewhere; default priors follow the starts, and move the optimum by half a nat
  again <- made(lik_poisson(coef(fit)[["bias"]] + 0.5),
                kernel = kernel_matern32(lengthscale = 3 * coef(fit)[["lengthscale"]]))
  expect_lt(abs(logLik(fit) - logLik(again)), 1)
  expect_true(fit$learning$converged)
})

test_that("update() takes more rows, later or earlier, as a fit of all of them would", {
  rows <- markov_rows()
  for (lik in of_tier(c("gaussian", "poisson"), 1)) {
    y <- rows$responses[[lik]]
    fit_some <- function(some) {
      sparsegp(rows$x[some, , drop = FALSE], y[some], lik, learn = FALSE, scale = FALSE,
               kernel = kernel_matern32(1, 0.3), mean = if (lik == "gaussian") "zero",
               method = method_markov(tol = 1e-10))
    }
    some <- 21:120
    fit <- fit_some(some)
    more <- update(fit, rows$x[1:20, , drop = FALSE], y = y[1:20])
    expect_identical(nobs(more), 120L)
    expect_identical(length(fitted(more)), 120L)
    again <- run_with_gradient(more) # from no sites
    for (field in c("mean", "var")) {
      expect_equal(more$latent[[field]], again[[field]], tolerance = 1e-7)
    }
    expect_equal(more$log_evidence - fit$log_evidence,
                 again$logz - run_with_gradient(fit)$logz - unit_shift(fit, y[1:20]),
                 tolerance = 1e-8)
  }
})

test_that("what has no Markov EP is refused in words", {
  memory_tier()
  rows <- markov_rows(30)
  y <- rows$responses$gaussian
  fails <- function(pattern, ..., x = rows$x) {
    expect_error(sparsegp(x, y, ..., learn = FALSE, method = method_markov()), pattern,
                 class = "sparsegp_error")
  }
  fails("not that of a Markov process.*kernel_matern52", kernel = kernel_rbf())
  fails("not that of a Markov process", kernel = kernel_matern32() * kernel_matern52())
  fails("26 states", kernel = kernel_trig(12) + kernel_constant())
  fails("one numeric input", kernel = kernel_matern32(), x = cbind(rows$x, u = seq_along(y)))
  fails("inducing points", kernel = kernel_matern32(), basis = 1:3)
  expect_error(sparsegp(y ~ g, data.frame(y, g = gl(3, 10)), method = method_markov()),
               "levels of a factor", class = "sparsegp_error")
  classes <- cut(y, c(-9, -0.5, 0.5, 9), c("a", "b", "c"))
  expect_error(sparsegp(rows$x, classes, lik_softmax(), kernel = kernel_matern32(),
                        method = method_markov(), learn = FALSE), "several latent functions",
               class = "sparsegp_error")
  fit <- sparsegp(rows$x, y, kernel = kernel_matern32(), learn = FALSE, method = method_markov())
  expect_error(draws(fit, cbind(t = 1:5001)), "5000", class = "sparsegp_error")
  expect_error(kl(fit, fit), "method_markov", class = "sparsegp_error")
  expect_warning(sparsegp(rows$x, y, kernel = kernel_periodic(lengthscale = 0.05, period = 0.3),
                          learn = FALSE, method = method_markov()), "finer ripples")
})

test_that("coupled classes are refused whatever the kernel, by C, too", {
  d <- data.frame(t = 1:30, g = factor(rep(c("a", "b", "c"), 10)))
  for (kernel in list(NULL, kernel_matern32(), kernel_linear())) {
    expect_error(sparsegp(g ~ t, d, kernel = kernel, method = method_markov()),
                 "Markov EP is for one", class = "sparsegp_error")
  }
  fit <- sparsegp(g ~ t, d, lik_mprobit(coupled = FALSE), kernel_matern32(), learn = FALSE)
  problem <- plan_markov(problem_of_fit(fit))$problem
  expect_error(engine_run(problem, fit$hyper$theta), "classes are coupled")
})

test_that("a long series is fitted by Markov EP by default, and its many cycles are found", {
  slow_tier()
  n <- 1600
  set.seed(6)
  d <- data.frame(t = seq_len(n))
  d$y <- sin(2 * pi * d$t / 50) + 0.2 * stats::rnorm(n)
  fit <- sparsegp(y ~ t, d)
  expect_output(print(fit), "Markov EP")
  # kriging with the true kernel: 0.07; the standard deviation of the truth: 0.71
  expect_lt(sqrt(mean((fitted(fit) - sin(2 * pi * d$t / 50))^2)), 0.085)
  inside <- predict(fit, data.frame(t = d$t[-n] + 0.5), interval = "confidence", level = 0.9)
  truth <- sin(2 * pi * (d$t[-n] + 0.5) / 50)
  expect_gt(mean(inside[, "lwr"] < truth & truth < inside[, "upr"]), 0.8)
  expect_identical(fit$choices$candidate[1], "matern52()")
})

test_that("a kernel that is not Markov, two inputs, copies and sources keep inducing points", {
  slow_tier()
  n <- 1600
  set.seed(7)
  d <- data.frame(t = stats::runif(n), u = stats::runif(n))
  d$y <- sin(6 * d$t) + 0.2 * stats::rnorm(n)
  made <- function(...) is_markov_fit(suppressWarnings(sparsegp(..., learn = FALSE)))
  expect_false(made(y ~ t, d, kernel = kernel_rbf()))
  expect_false(made(y ~ t + u, d, kernel = kernel_matern32()))
  expect_false(made(y ~ t, d, kernel = kernel_matern32(), basis = 1:50))
  expect_false(made(y ~ t, d[1:500, ], kernel = kernel_matern32()))
  expect_true(made(y ~ t, d, kernel = kernel_matern32() + kernel_periodic()))
})

test_that("hyperparameters are integrated out, and their errors known, as by full EP", {
  slow_tier()
  rows <- markov_rows(80)
  fits <- lapply(list(method_ep(), method_markov()), function(method) {
    sparsegp(rows$x, rows$responses$gaussian, kernel = kernel_matern32(), method = method,
             control = gp_control(integrate = "laplace"))
  })
  new <- cbind(t = c(0.2, 1.5))
  expect_equal(coef(fits[[2]]), coef(fits[[1]]), tolerance = 1e-4)
  # the curvature is known from the steps of the search, which begin elsewhere
  expect_equal(predict(fits[[2]], new, se.fit = TRUE), predict(fits[[1]], new, se.fit = TRUE),
               tolerance = 1e-2)
  expect_equal(vcov(fits[[2]]), vcov(fits[[1]]), tolerance = 1e-2)
  expect_error(sparsegp(rows$x, rows$responses$probit, "probit", kernel = kernel_matern32(),
                        method = method_markov(),
                        control = gp_control(augment = jitter_rows(2))), "augment",
               class = "sparsegp_error")
})

# Fits rows `first` by method_markov(window =) and has update() take the others, `size` at a time.
fit_in_window <- function(d, lik, window, first, size, kernel = kernel_matern32(1, 0.3), ...) {
  fit <- sparsegp(y ~ t, d[first, ], lik, kernel = kernel, learn = FALSE, scale = FALSE,
                  method = method_markov(tol = 1e-10, window = window), ...)
  rest <- setdiff(seq_len(nrow(d)), first)
  for (rows in split(rest, ceiling(seq_along(rest) / size))) fit <- update(fit, d[rev(rows), ])
  fit
}

test_that("a window takes later rows in constant memory, exactly if noise is Gaussian", {
  memory_tier()
  rows <- markov_rows(300)
  order <- order(rows$x)
  d <- data.frame(t = 30 * rows$x[order], y = rows$responses$gaussian[order])
  kernel <- kernel_matern32(1, 0.9) + kernel_constant(2) + kernel_periodic(1, 2, period = 7)
  fit <- fit_in_window(d, lik_gaussian(0.04), 40, 1:120, 25, kernel, mean = "zero")
  all <- fit_in_window(d, lik_gaussian(0.04), NULL, 1:300, 1, kernel, mean = "zero")
  expect_identical(nobs(fit), 300L)
  expect_identical(nrow(fit$posterior$basis), 40L)
  expect_output(print(summary(fit)), "keeps its last 40 rows")
  new <- data.frame(t = c(29.5, 30, 30.7, 34))
  ask <- function(fit) predict(fit, new, type = "link", se.fit = TRUE, covariance = TRUE)
  # 180 rows one after the other through the state: rounding
  expect_equal(ask(fit), ask(all), tolerance = 1e-9)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(all)), tolerance = 1e-9)
  expect_equal(slopes(fit, new), slopes(all, new), tolerance = 1e-8)
  set.seed(1)
  drawn <- draws(fit, new, 2)
  set.seed(1)
  expect_equal(drawn, draws(all, new, 2), tolerance = 1e-6) # roots of a covariance
  one <- object.size(fit_in_window(d[1:150, ], lik_gaussian(0.04), 40, 1:120, 25, kernel,
                                   mean = "zero"))
  expect_lt(as.numeric(object.size(fit)), 1.05 * as.numeric(one))
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), new), predict(fit, new))
  damaged <- fit
  damaged$posterior$markov$from$m <- 1
  expect_error(predict(damaged, new), class = "sparsegp_error")
  damaged <- fit
  damaged$held$rows <- damaged$held$rows[, -1, drop = FALSE]
  expect_error(update(damaged, data.frame(t = 31, y = 0)), class = "sparsegp_error")
  expect_error(predict(fit, data.frame(t = 3)), "window", class = "sparsegp_error")
  expect_error(update(fit, d[1, ]), "order of time", class = "sparsegp_error")
  expect_error(fitted(fit), "window", class = "sparsegp_error")
  expect_error(method_markov(power = 0, window = 9), "window", class = "sparsegp_error")
  expect_error(method_markov(window = 0), class = "sparsegp_error")
  expect_error(fit_in_window(d, lik_gaussian(0.04), 40, 1:120, 25, mean = ~ t), "mean",
               class = "sparsegp_error")
})

test_that("a window of several length scales leaves other likelihoods their posterior", {
  slow_tier()
  rows <- markov_rows(300)
  order <- order(rows$x)
  y <- rows$responses
  classes <- cut(y$gaussian, c(-9, -0.5, 0.5, 9), c("a", "b", "c"))
  cases <- list(poisson = list(y$poisson, lik_poisson(0)), probit = list(y$probit, lik_probit(0)),
                student = list(y$student, lik_student(0.3, 4)),
                rest = list(classes, lik_probit(c(0, 0, 0))))
  new <- data.frame(t = c(29.5, 30, 34))
  for (name in names(cases)) {
    d <- data.frame(t = 30 * rows$x[order], y = cases[[name]][[1L]][order])
    mean <- if (name == "student") "zero"
    fit <- fit_in_window(d, cases[[name]][[2L]], 100, 1:120, 60, mean = mean)
    all <- fit_in_window(d, cases[[name]][[2L]], NULL, 1:300, 1, mean = mean)
    # 100 rows are 10 units of time, 30 length scales: sites behind them are final
    expect_equal(predict(fit, new), predict(all, new), tolerance = 1e-6, label = name)
    if (name != "rest") {
      expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(all)), tolerance = 1e-6,
                   label = name)
    }
  }
})

test_that("a window holds another row where those before it have no posterior of their own", {
  slow_tier()
  set.seed(1)
  t <- seq_len(200) / 20
  y <- sin(t) + 0.1 * stats::rnorm(200)
  far <- sample(200, 40)
  y[far] <- y[far] + stats::rnorm(40, 0, 3)
  d <- data.frame(t, y)
  made <- function(window) {
    fit_in_window(d, lik_student(scale = 0.1, df = 2.2), window, 1:200, 1,
                  kernel_matern12(1, 0.5), mean = "zero")
  }
  fit <- made(49)
  expect_identical(nrow(fit$posterior$basis), 50L)
  all <- made(NULL)
  new <- data.frame(t = c(9.9, 10, 11))
  expect_equal(predict(fit, new), predict(all, new), tolerance = 1e-9)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(all)), tolerance = 1e-9)
})

test_that("a source in the order of time goes through a window, others are refused", {
  slow_tier()
  n <- 3000
  set.seed(8)
  d <- data.frame(t = seq_len(n) / 10)
  d$y <- sin(d$t) + 0.2 * stats::rnorm(n)
  read <- function(i) if (i <= 6) d[500 * (i - 1) + 1:500, ]
  made <- function(source, ...) {
    sparsegp(y ~ t, source, lik_gaussian(0.04), kernel = kernel_matern32(1, 1), scale = FALSE,
             learn = learn_control(rows = 400, inner = 1), mean = "zero", ...)
  }
  file <- tempfile()
  fit <- made(row_source(read, chunks = 6), method = method_markov(window = 300),
              control = gp_control(checkpoint = file))
  expect_identical(nobs(fit), 3000L)
  expect_output(print(summary(fit)), "learned from")
  value <- function(name) fixed(coef(fit)[[name]])
  all <- sparsegp(y ~ t, d, lik_gaussian(value("noise")), scale = FALSE, mean = "zero",
                  kernel = kernel_matern32(value("variance"), value("lengthscale")),
                  method = method_markov(), learn = FALSE)
  new <- data.frame(t = c(295, 300, 303))
  # in units of the response's standard deviation, as the source has seen it
  expect_equal(predict(fit, new, se.fit = TRUE), predict(all, new, se.fit = TRUE),
               tolerance = 1e-8)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(all)), tolerance = 1e-8)
  more <- data.frame(t = 300.1, y = 0)
  expect_equal(predict(update(fit, more), new), predict(update(all, more), new), tolerance = 1e-8)
  expect_error(made(row_source(function(i) if (i <= 6) read(7 - i)),
                    method = method_markov(window = 300)), "ORDER BY", class = "sparsegp_error")
  # few enough to be in memory
  whole <- sparsegp(y ~ t, row_source(function(i) if (i == 1) read(i)), learn = FALSE,
                    kernel = kernel_matern32(), method = method_markov())
  expect_identical(length(fitted(whole)), 500L)
  # windows of consecutive rows are what is learned from
  expect_identical(rows_in_block(list(method = method_markov()), 400), 100)
})

test_that("a stream in the order of time is offered the filter", {
  d <- data.frame(t = 1:200, y = sin(1:200))
  stream <- function(d, ...) sparsegp(y ~ t, d, method = method_online(5, pilot = 200),
                                      learn = FALSE, ...)
  expect_message(stream(d), "method_markov\\(window")
  expect_no_message(stream(d[200:1, ]))
  expect_no_message(stream(d, kernel = kernel_rbf()))
})

test_that("classes of a long series are fitted by Markov EP, with recalibrated probabilities", {
  slow_tier()
  n <- 1500
  set.seed(9)
  t <- seq_len(n)
  f <- function(t) cbind(2 * sin(t / 60), 1.5 * cos(t / 90), 0.5)
  draw <- function(f) max.col(f + matrix(stats::rnorm(length(f)), nrow(f)))
  d <- data.frame(t, y = factor(c("a", "b", "c")[draw(f(t))]))
  fit <- sparsegp(y ~ t, d)
  expect_output(print(fit), "Markov EP")
  expect_lt(fit$power, 0.9) # one-vs-rest classes are too sure
  at <- seq(2.5, n, by = 11)
  p <- predict(fit, data.frame(t = at), type = "prob")
  truth <- Reduce(`+`, lapply(1:400, function(k) outer(draw(f(at)), 1:3, "=="))) / 400
  # expected log loss, less that of the truth, which is 0.75: 0.03 to 0.04 of 1500 labels
  excess <- mean(rowSums(ifelse(truth > 0, truth * log(truth / p), 0)))
  expect_lt(excess, 0.06)
  two <- sparsegp(y == "a" ~ t, d)
  expect_output(print(two), "Markov EP")
})
