# Power EP, its limit, and fits of likelihoods for which EP has no fixed point.

few_inputs <- function(n = 6L) matrix(seq(-1.5, 1.6, length.out = n) + c(0.1, -0.05), n)

matern_gram <- function(x, z = x, variance = 2, lengthscale = 0.8) {
  s <- sqrt(3) * abs(outer(x[, 1L], z[, 1L], "-")) / lengthscale
  variance * (1 + s) * exp(-s)
}

# Likelihoods, responses and natural values: each kind of quadrature once
power_cases <- list(
  probit = list(lik = lik_probit(fixed(0.3)), y = c("b", "a", "b", "b", "a", "b"),
                v = list(bias = 0.3)),
  logit = list(lik = lik_logit(fixed(-0.2)), y = c("b", "a", "b", "b", "a", "b"),
               v = list(bias = -0.2)),
  step = list(lik = lik_step(fixed(0.2)), y = c("b", "a", "b", "b", "a", "b"),
              v = list(noise = 0.2)),
  flip = list(lik = lik_flip(fixed(0.1), fixed(0.1)), y = c("b", "a", "b", "b", "a", "b"),
              v = list(bias = 0.1, flip = 0.1)),
  poisson = list(lik = lik_poisson(fixed(0.4)), y = c(0, 2, 1, 4, 2, 0), v = list(bias = 0.4)),
  student = list(lik = lik_student(fixed(0.5), fixed(3)), y = c(0.2, 1.1, -0.6, 0.9, 3, 0),
                 v = list(scale = 0.5, df = 3)),
  laplace = list(lik = lik_laplace(fixed(0.6)), y = c(0.2, 1.1, -0.6, 0.9, 2, 0),
                 v = list(scale = 0.6))
)

power_fit <- function(case, power, x = few_inputs(), ...) {
  label <- is.character(case$y)
  y <- if (label) factor(case$y, c("a", "b")) else case$y
  numbers <- !label && !case$lik$type %in% c("poisson", "custom")
  sparsegp(x, y, likelihood = case$lik, kernel = kernel_matern32(fixed(2), fixed(0.8)),
           method = method_ep(power = power, tol = 1e-10, sweeps = 2000L), learn = FALSE,
           scale = FALSE, mean = if (numbers) "zero", ...)
}

# Responses in C's units are the fit's data rows; log evidences differ by the unit's logarithm.
power_tilt <- function(fit, case, type, power, gamma = numeric(fit$n)) {
  function(i, mu, s2) {
    v <- in_units_of(case$v, fit$response$unit)
    reference_power_tilt(type, fit$data_rows[, i], mu, s2 + gamma[i], v, power)
  }
}

in_units_of <- function(v, unit) {
  if (!is.null(v$scale)) v$scale <- v$scale / unit
  v
}

log_evidence_in_c <- function(fit) {
  fit$log_evidence + fit$n * log(fit$response$unit)
}

test_that("power EP has the moments and the log evidence of the dense reference", {
  slow_tier()
  # each case at one power: the reference takes a second each
  powers <- c(probit = 0.5, flip = 0.1, poisson = 0, student = 0.5, laplace = 0)
  for (type in names(powers)) {
    case <- power_cases[[type]]
    for (power in powers[[type]]) {
      fit <- power_fit(case, power)
      unit <- fit$response$unit
      K <- matern_gram(few_inputs()) / unit^2
      wanted <- reference_power_ep(K, power_tilt(fit, case, type, power), power, share = 0.5)
      label <- paste(type, power)
      expect_true(fit$convergence$converged, label = label)
      # tilts are good to 1e-10, divided by the power
      expect_equal(log_evidence_in_c(fit), wanted$log_evidence, tolerance = 1e-7, label = label)
      expect_equal(as.double(fit$latent$mean), wanted$mean, tolerance = 1e-6, label = label)
      expect_equal(as.double(fit$latent$var), wanted$var, tolerance = 1e-6, label = label)
    }
  }
})

test_that("the limit is the normal distribution of largest bound", {
  slow_tier()
  for (type in c("probit", "step")) {
    case <- power_cases[[type]]
    case$y <- case$y[1:3]
    x <- few_inputs()[1:3, , drop = FALSE]
    fit <- power_fit(case, 0, x)
    K <- matern_gram(x) / fit$response$unit^2
    wanted <- reference_bound(K, power_tilt(fit, case, type, 0))
    # a general search without slopes ends where the bound is flat: roots of its digits
    expect_equal(log_evidence_in_c(fit), wanted$log_evidence, tolerance = 1e-6, label = type)
    expect_equal(as.double(fit$latent$mean), wanted$mean, tolerance = 1e-3, label = type)
    expect_equal(as.double(fit$latent$var), wanted$var, tolerance = 1e-3, label = type)
  }
})

test_that("powers of Gaussian noise change nothing in full EP, and are Bui's on a basis", {
  memory_tier()
  set.seed(4)
  x <- few_inputs(12L)
  y <- sin(x[, 1L]) + 0.3 * rnorm(12L)
  case <- list(lik = lik_gaussian(fixed(0.09)), y = y)
  whole <- power_fit(case, 1, x)
  for (power in c(0.4, 0)) {
    fit <- power_fit(case, power, x)
    expect_equal(fit$log_evidence, whole$log_evidence, tolerance = 1e-9)
    expect_equal(fit$latent, whole$latent, tolerance = 1e-12)
    expect_equal(fit$cavity, whole$cavity, tolerance = 1e-8)
    basis <- c(2L, 6L, 11L)
    sparse <- power_fit(case, power, x, basis = basis)
    B <- matern_gram(x[basis, , drop = FALSE])
    Q <- matern_gram(x, x[basis, , drop = FALSE]) %*%
      solve(B, matern_gram(x[basis, , drop = FALSE], x))
    gamma <- 2 - diag(Q)
    # Bui, Yan and Turner (2017), equation 30; in the limit Titsias (2009), equation 9
    correction <- if (power == 0) -sum(gamma) / (2 * 0.09)
                  else -(1 - power) / (2 * power) * sum(log1p(power * gamma / 0.09))
    wanted <- reference_gaussian_evidence(Q + diag(power * gamma), y, 0.09, 0) + correction
    expect_equal(sparse$log_evidence, wanted, tolerance = 1e-8)
  }
})

test_that("the gradient of the log evidence is that of its differences, at any power", {
  slow_tier()
  for (type in of_tier(c("probit", "step", "student"), 1L)) {
    case <- power_cases[[type]]
    for (power in c(0.5, 0)) {
      for (basis in list(NULL, c(1L, 3L, 6L))) {
        fit <- power_fit(case, power, basis = basis)
        problem <- problem_of_fit(power_fit(case, power, basis = basis,
                                            control = gp_control(keep_x = TRUE)))
        problem$options <- method_ep(power = power, tol = 1e-11, sweeps = 3000L)
        if (is.null(basis)) problem$basis <- NULL
        theta <- fit$hyper$theta
        at <- function(theta) engine_run(problem, theta)$logz
        found <- engine_run(problem, theta, gradient = TRUE)$gradient
        # log Z of a tilt has ten digits, divided by steps of 0.01
        expect_equal(found, numeric_gradient(at, theta, h = 0.02), tolerance = 1e-5,
                     label = paste(type, power, length(basis)))
      }
    }
  }
})

test_that("cavities of a fit are those of whole sites, at any power", {
  case <- power_cases$logit
  fit <- power_fit(case, 0.3)
  var <- 1 / (1 / fit$latent$var - fit$sites$tau)
  expect_equal(fit$cavity$var, var, tolerance = 1e-10)
  expect_equal(fit$cavity$mean, var * (fit$latent$mean / fit$latent$var - fit$sites$nu),
               tolerance = 1e-10)
  lpd <- vapply(seq_len(fit$n), function(i) {
    reference_power_tilt("logit", fit$data_rows[, i], fit$cavity$mean[i], var[i], case$v, 1)$logz
  }, 0)
  expect_equal(fit$cavity$lpd, lpd, tolerance = 1e-8)
})

# ---- Likelihoods without a fixed point of EP ----

# Two classes that overlap, at inputs that repeat or not
contradictions <- function(repeats, n = 40L) {
  set.seed(3)
  x <- if (repeats) rep(seq(-2, 2, length.out = 8L), 5L) else runif(n, -2, 2)
  list(x = matrix(x), y = factor(ifelse(runif(n) < stats::pnorm(1.2 * x), "b", "a"), c("a", "b")))
}

nasty_fit <- function(d, noise, ...) {
  sparsegp(d$x, d$y, likelihood = lik_step(fixed(noise)), learn = FALSE, scale = FALSE,
           kernel = kernel_rbf(variance = fixed(2), lengthscale = fixed(0.7)), ...)
}

# The record of the one case that certainly has no fixed point
nasty_record <- function() {
  fit <- suppressWarnings(nasty_fit(contradictions(TRUE), 0.001, method = method_ep()))
  fit$convergence$fallback
}

test_that("a step between classes that overlap has a fit, a record and one warning", {
  slow_tier()
  for (repeats in of_tier(c(TRUE, FALSE), 1L)) {
    for (noise in of_tier(c(0, 0.001, 0.01), 2L)) {
      for (size in of_tier(c(Inf, 6), 2L)) {
        d <- contradictions(repeats)
        label <- paste(repeats, noise, size)
        warned <- character()
        fit <- withCallingHandlers(nasty_fit(d, noise, method = method_ep(size = size)),
                                   warning = function(w) {
                                     warned <<- c(warned, conditionMessage(w))
                                     invokeRestart("muffleWarning")
                                   })
        expect_lt(fit$convergence$change, 0.01, label = label) # or EP has nearly a fixed point
        expect_lt(fit$log_evidence, 0)
        expect_gt(fit$log_evidence, fit$n * log(max(noise, 0.001)))
        expect_true(all(is.finite(predict(fit, d$x[1:3, , drop = FALSE]))), label = label)
        if (is.null(fit$convergence$fallback)) next # on a basis of few points EP may have one
        expect_length(warned, 1L)
        expect_match(warned, "EP found no fixed point.*[Vv]ariational.*lower bound")
        expect_identical(fit$convergence$fallback$replaced, noise == 0)
        expect_identical(fit$options$power, 0)
        expect_output(print(fit), "variational inference")
      }
    }
  }
  expect_false(is.null(nasty_record()))
})

test_that("each sweep of the limit raises the bound, to the accuracy of its rounding", {
  memory_tier()
  for (type in c("flip", "student")) {
    case <- power_cases[[type]]
    trace <- power_fit(case, 0)$convergence$trace$log_evidence
    expect_gt(length(trace), 3L)
    expect_true(all(diff(trace) > -1e-8 * (abs(trace[1L]) + 6)), label = type)
  }
})

test_that("the bound is near the exact log evidence where EP is lost", {
  memory_tier()
  # five inputs with eight labels each, of which five and three contradict each other: signs of five
  # values decide, whose probabilities are counted in draws
  x <- rep(seq(-2, 2, length.out = 5L), each = 8L)
  y <- rep(c("b", "b", "a", "b", "a", "a", "b", "b"), 5L)
  fit <- suppressWarnings(nasty_fit(list(x = matrix(x), y = factor(y)), 0.01,
                                    method = method_ep()))
  set.seed(1)
  u <- unique(x)
  K <- 2 * exp(-outer(u, u, "-")^2 / 2 / 0.49)
  up <- matrix(stats::rnorm(5e5), ncol = 5L) %*% chol(K) > 0
  wrong <- rowSums(ifelse(up, 3, 5))
  exact <- log(mean(exp(wrong * log(0.01) + (40 - wrong) * log(0.99))))
  expect_lt(fit$log_evidence, exact)
  expect_gt(fit$log_evidence, exact - 1.5) # as far as a normal distribution is from cut tails
})

test_that("hyperparameters are learned by the bound where EP has no evidence", {
  slow_tier()
  d <- contradictions(TRUE)
  fit <- suppressWarnings(sparsegp(d$x, d$y, likelihood = lik_step(fixed(0)), scale = FALSE,
                                   kernel = kernel_rbf(), method = method_ep()))
  expect_true(is.finite(fit$log_evidence))
  expect_lt(fit$log_evidence, 0)
})

test_that("fits of the limit are checked, updated and kept as others are", {
  memory_tier()
  d <- contradictions(TRUE)
  fit <- suppressWarnings(nasty_fit(d, 0.01, basis = matrix(seq(-2, 2, length.out = 6L)),
                                    method = method_ep(power = 0)))
  expect_identical(predict(unserialize(serialize(fit, NULL)), d$x), predict(fit, d$x))
  more <- suppressWarnings(update(fit, d$x[1:4, , drop = FALSE], d$y[1:4]))
  expect_identical(as.integer(more$n), 44L)
  expect_lt(more$log_evidence, 0)
})

test_that("powers are refused where a term has several latent values, or no digits are left", {
  expect_error(method_ep(power = 2), class = "sparsegp_error")
  expect_error(method_ep(power = 1e-3), class = "sparsegp_error")
  expect_error(sparsegp(iris[1:2], iris$Species, likelihood = lik_softmax(),
                        method = method_ep(power = 0.5), learn = FALSE),
               "several latent values", class = "sparsegp_error")
})

# ---- Likelihoods of users, and others ----

test_that("a likelihood in R has the powers of its twin in C", {
  memory_tier()
  own <- lik_custom(function(y, f, theta) stats::dpois(y, exp(f + theta[["bias"]]), log = TRUE),
                    theta = list(bias = fixed(0.4)), response = "count",
                    range = list(bias = c(-Inf, Inf)), check = FALSE)
  case <- power_cases$poisson
  for (power in c(0.5, 0)) {
    for (basis in of_tier(list(NULL, c(1L, 3L, 6L)), 1L)) {
      wanted <- power_fit(case, power, basis = basis)
      fit <- power_fit(list(lik = own, y = case$y), power, basis = basis)
      # nodes agree to 3e-7, whose square is the error, and rounding is divided by the variance
      expect_equal(fit$log_evidence, wanted$log_evidence, tolerance = 1e-8)
      expect_equal(fit$latent, wanted$latent, tolerance = 1e-6)
      expect_equal(fit$cavity$lpd, wanted$cavity$lpd, tolerance = 1e-6)
    }
  }
})

test_that("tilts in R are those of power.c, with slopes in the hyperparameters", {
  memory_tier()
  own <- lik_custom(function(y, f, theta) stats::dcauchy(y, f, theta[["scale"]], log = TRUE),
                    theta = c(scale = 0.3))
  rows <- rbind(c(0, 1, -2), 1)
  mean <- c(0.1, -0.4, 0.2)
  var <- c(0.5, 2, 0.1)
  for (power in c(1, 0.3, 0)) {
    at <- function(theta, mean) {
      all <- .Call(sg_lik_tilt, lik_for_c(own, 1L, power = power), theta, rows, mean, var, FALSE)
      rbind(c(all$logz), c(all$d1), c(all$d2), all$dpar, deparse.level = 0L)
    }
    found <- at(log(0.3), mean)
    by_theta <- (at(log(0.3) + 1e-3, mean)[1L, ] - at(log(0.3) - 1e-3, mean)[1L, ]) / 2e-3
    by_mean <- (at(log(0.3), mean + 1e-3)[1:2, ] - at(log(0.3), mean - 1e-3)[1:2, ]) / 2e-3
    # squares of steps of 0.001
    expect_equal(found[4L, ], by_theta, tolerance = 1e-5, label = paste("theta", power))
    expect_equal(found[2:3, ], by_mean, tolerance = 1e-4, label = paste("mean", power))
  }
})

test_that("the limit begins well under a vague prior, and is below EP for log-concave terms", {
  memory_tier()
  set.seed(2)
  x <- matrix(seq(-2, 2, length.out = 30L))
  f <- sin(2 * x[, 1L])
  cases <- list(list(lik_weibull(), stats::rweibull(30L, 2, exp(f))),
                list(lik_gamma(), stats::rgamma(30L, 3, 3 / exp(f))),
                list(lik_beta(), stats::rbeta(30L, 5 * plogis(f), 5 * plogis(-f))),
                list(lik_zip(), stats::rpois(30L, exp(f + 1)) * (seq_len(30L) %% 4L > 0L)))
  for (case in of_tier(cases, 2L)) {
    fit <- function(power) {
      sparsegp(x, case[[2L]], likelihood = case[[1L]], kernel = kernel_rbf(fixed(1), fixed(0.7)),
               method = method_ep(power = power), learn = FALSE, scale = FALSE)
    }
    bound <- fit(0)
    expect_true(bound$convergence$converged)
    expect_lt(bound$log_evidence, fit(1)$log_evidence)
    expect_gt(bound$log_evidence, fit(1)$log_evidence - 0.5)
  }
})

test_that("a density that is 0 somewhere has no bound, and the error says so", {
  fit <- function(power) {
    sparsegp(few_inputs(), c(0.2, 0.1, -0.6, 0.9, 0.3, 0), learn = FALSE, scale = FALSE,
             kernel = kernel_rbf(fixed(0.01), fixed(0.8)), method = method_ep(power = power),
             likelihood = lik_custom(function(y, f, theta) {
               ifelse(abs(y - f) < 1, log(0.75 * pmax(1 - (y - f)^2, 1e-12)), -Inf)
             }, check = FALSE))
  }
  expect_error(fit(0), class = "sparsegp_error")
})

test_that("a step without noise takes the sweeps it is given, and a limit is not divergence", {
  memory_tier()
  set.seed(1)
  d <- data.frame(a = runif(80, -2, 2), b = runif(80, -2, 2))
  d$y <- factor(ifelse(d$a + d$b > 0, "above", "below"))
  fit <- function(...) {
    sparsegp(y ~ a + b, d, lik_step(fixed(0)), kernel_rbf(1, 1), learn = FALSE, ...)
  }
  expect_warning(few <- fit(method = method_ep(15, "kl", freeze = Inf, sweeps = 3)),
                 "did not converge in 3 sweeps.*Raise method_ep\\(sweeps =\\)")
  expect_identical(few$convergence$sweeps, 3L)
  expect_null(few$convergence$fallback)
  expect_silent(full <- fit())
  right <- function(fit) mean(predict(fit, type = "class") == d$y)
  expect_gt(right(few), 0.95)
  expect_identical(right(full), 1)
  expect_lt(max(abs(predict(few, type = "prob") - predict(full, type = "prob"))), 0.2)
})

# lik_custom() integrates by quadrature: 1e-6. Without row 5 the other sites' negative precisions
# are more than the prior's, so it has no leave-one-out prediction, and all else goes on.
test_that("a row that cannot be left out has no leave-one-out prediction", {
  memory_tier()
  x <- data.frame(x = c(0, 0.3, 0.6, 10, 10, 10))
  y <- c(0.1, 0, -0.1, 0, 0.8, 1.38)
  density <- function(y, f, theta) {
    dt((y - f) / theta[["scale"]], 4, log = TRUE) - log(theta[["scale"]])
  }
  fit <- function(lik, ...) {
    sparsegp(x, y, lik, kernel_rbf(fixed(4), fixed(1)), learn = FALSE, scale = FALSE, ...,
             method = method_ep(power = 0, sweeps = 3000))
  }
  built_in <- fit(lik_student(fixed(0.2), fixed(4)), mean = "zero")
  own <- fit(lik_custom(density, theta = list(scale = fixed(0.2))))
  expect_equal(logLik(own), logLik(built_in), tolerance = 1e-6, ignore_attr = TRUE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (fit in list(built_in, own)) {
    expect_identical(which(is.na(loo(fit)$lpd)), 5L)
    expect_output(print(summary(fit)), "leave-one-out log predictive density -")
    expect_identical(which(is.na(loo_lpd(fit))), c("5" = 5L))
    expect_silent(plot(fit, "loo"))
  }
  expect_identical(which(is.na(cooks.distance(built_in))), c("5" = 5L))
})
