# Numbers whose mean and spread are both functions: EP's fixed point against dense algebra with the
# reference tilt, and what fits of one response answer.

reached_elsewhere()

uneven <- function(n = 40L, seed = 1) {
  set.seed(seed)
  d <- data.frame(x = seq(0, 6, length.out = n))
  transform(d, y = 5 + 10 * (sin(x) + exp(-1.5 + sin(x)) * rnorm(n)))
}

SPREADS <- kernel_coregion(kernel_matern52(lengthscale = 1.1), rank = 0, variance = c(60, 0.7))

uneven_fit <- function(d, ..., formula = y ~ x, kernel = SPREADS) {
  sparsegp(formula, d, likelihood = lik_heteroscedastic(5), kernel = kernel, scale = FALSE,
           learn = FALSE, ...)
}

tight <- method_ep(tol = 1e-11, sweeps = 1000)

test_that("the tilt has the value of the design", {
  tilt <- .Call(sg_lik_tilt, c_lik("heteroscedastic", 0, 2L), 0, rbind(1.4), c(0.2, -0.3),
                c(0.8, 0.25, 0.25, 0.5), FALSE)
  # the design gives eight digits
  expect_equal(tilt$logz, -1.8143685, tolerance = 3e-8)
})

test_that("tilts are numbers, with the right sign, however far a row is off", {
  tilt <- function(y, mu = c(0, 0), S = c(1, 0, 0, 1), theta = 0) {
    .Call(sg_lik_tilt, c_lik("heteroscedastic", theta, 2L), theta, rbind(y), mu, S, FALSE)
  }
  for (y in c(1e-12, 50, 1e4, 1e8)) {
    for (S in list(c(1, 0, 0, 1), c(1e-8, 0, 0, 1e-8), c(1, 0.9, 0.9, 1), c(0, 0, 0, 2))) {
      found <- tilt(y, S = S)
      expect_true(all(is.finite(unlist(found))), label = paste(y, toString(S)))
      if (y >= 50) expect_gt(found$d1[2L], 0) # the spread is to rise
    }
  }
  expect_lt(tilt(1e-12)$d1[2L], 0)
})

test_that("EP ends where every site is that of its tilt, with the evidence of dense algebra", {
  memory_tier()
  d <- uneven(15L)
  for (offset in of_tier(c(TRUE, FALSE), 1L)) {
    formula <- if (offset) y ~ x + offset(x) else y ~ x
    fit <- uneven_fit(d, method = tight, formula = formula, mean = "average")
    unit <- fit$response$unit
    x <- stack_components(cbind(d$x), 2L)
    K <- kernel_matrix(fit$spec, kernel_theta(fit), x, x)
    theta <- lik_theta(fit)
    n <- nrow(d)
    total <- diag(2L * n)
    logz <- 0
    shift <- fit$sites$nu
    precision <- matrix(0, 2L * n, 2L * n)
    for (i in seq_len(n)) {
      o <- 2L * i - 1:0
      mu <- fit$cavity$mean[o]
      S <- matrix(fit$cavity$var[4L * i - 3:0], 2L)
      known <- c(if (offset) d$x[i] / unit else 0, 0)
      tilt <- reference_wide_tilt("heteroscedastic", fit$data_rows[, i], mu + known, S, theta)
      site <- -solve(diag(2L) + tilt$d2 %*% S, tilt$d2)
      expect_equal(matrix(fit$sites$tau[4L * i - 3:0], 2L), site, tolerance = 1e-7)
      expect_equal(shift[o], drop(solve(diag(2L) + tilt$d2 %*% S, tilt$d1 - tilt$d2 %*% mu)),
                   tolerance = 1e-7)
      precision[o, o] <- site
      G <- solve(diag(2L) + S %*% site) # of the marginal: S' = G S
      alpha <- shift[o] - drop(site %*% fit$latent$mean[o])
      logz <- logz + tilt$logz - (log(det(diag(2L) - G %*% S %*% site)) + sum(mu * alpha)) / 2
    }
    Sigma <- solve(total + K %*% precision, K)
    expect_equal(fit$latent$mean, drop(Sigma %*% shift), tolerance = 1e-7)
    logz <- logz - as.numeric(determinant(total + K %*% precision)$modulus) / 2
    expect_equal(fit$log_evidence, logz - n * log(unit), tolerance = 1e-8)
  }
})

test_that("the gradient of the evidence is that of differences", {
  slow_tier()
  fit <- uneven_fit(uneven(12L), method = tight)
  problem <- problem_of_kept_rows(fit)
  for (basis in list(NULL, c(1, 2, 7, 8, 13, 14, 19, 20))) {
    problem$basis <- if (!is.null(basis)) problem$x[basis, ]
    problem$options <- method_ep(tol = 1e-12, sweeps = 1000)
    run <- engine_run(problem, fit$hyper$theta, gradient = TRUE)
    wanted <- numeric_gradient(function(theta) engine_run(problem, theta)$logz, fit$hyper$theta)
    expect_equal(run$gradient, wanted, tolerance = 1e-6)
  }
})

test_that("where the spread cannot move it is Gaussian noise", {
  memory_tier()
  d <- uneven()
  flat <- kernel_coregion(kernel_matern52(lengthscale = 1.1), rank = 0, variance = c(60, 1e-12))
  fit <- uneven_fit(d, kernel = flat)
  plain <- sparsegp(y ~ x, d, lik_gaussian(5), kernel_matern52(60, 1.1), scale = FALSE,
                    learn = FALSE)
  new <- data.frame(x = c(0.5, 3, NA, 7))
  # 1e-12 of a variance
  expect_equal(fit$log_evidence, plain$log_evidence, tolerance = 1e-7)
  for (interval in c("none", "confidence", "prediction")) {
    expect_equal(predict(fit, new, interval = interval, se.fit = TRUE),
                 predict(plain, new, interval = interval, se.fit = TRUE), tolerance = 1e-6)
  }
  expect_equal(residuals(fit, "pearson"), residuals(plain, "pearson"), tolerance = 1e-6)
  expect_equal(residuals(fit, "quantile"), residuals(plain, "quantile"), tolerance = 1e-6)
  expect_equal(loo_lpd(fit), loo_lpd(plain), tolerance = 1e-6)
  expect_equal(unname(predict(fit, new, type = "latent")[1L, "log_sd"]), log(5) / 2,
               tolerance = 1e-6)
})

test_that("a response varies by what its spread is in the mean, and as its mean does", {
  memory_tier()
  mu <- c(0.2, -0.3)
  S <- matrix(c(0.8, 0.25, 0.25, 0.5), 2L)
  new <- .Call(sg_lik_predict, c_lik("heteroscedastic", 0.7, 2L), 0.7, mu, c(S), FALSE)
  noise <- integrate(function(g) dnorm(g, mu[2L], sqrt(S[2L, 2L])) * exp(0.7 + 2 * g), -10, 10,
                     rel.tol = 1e-10)$value
  expect_equal(c(new$mean), mu)
  expect_equal(c(new$var), c(S) + c(noise, 0, 0, 0), tolerance = 1e-9)
})

test_that("a response is distributed as mean and spread together say", {
  memory_tier()
  fit <- uneven_fit(uneven())
  new <- data.frame(x = c(1, 4.5))
  latent <- predict(fit, new, type = "latent", se.fit = TRUE)
  for (i in 1:2) {
    V <- latent$covariance[, , i]
    slope <- V[1L, 2L] / V[2L, 2L]
    below <- function(y) {
      integrate(function(g) {
        m <- latent$fit[i, 1L] + slope * (g - latent$fit[i, 2L])
        dnorm(g, latent$fit[i, 2L], sqrt(V[2L, 2L])) *
          pnorm(y, m, sqrt(V[1L, 1L] - slope * V[1L, 2L] + exp(2 * g)))
      }, latent$fit[i, 2L] - 8 * sqrt(V[2L, 2L]), latent$fit[i, 2L] + 8 * sqrt(V[2L, 2L]),
      rel.tol = 1e-10)$value
    }
    band <- predict(fit, new, interval = "prediction", level = 0.9)[i, ]
    expect_equal(below(band[["lwr"]]), 0.05, tolerance = 1e-7)
    expect_equal(below(band[["upr"]]), 0.95, tolerance = 1e-7)
  }
  # where x is 1 errors are five times those at 4.5
  widths <- predict(fit, new, interval = "prediction")
  expect_gt(widths[1L, 3L] - widths[1L, 2L], 3 * (widths[2L, 3L] - widths[2L, 2L]))
})

test_that("a fit knows its print and its picture", {
  memory_tier()
  fit <- uneven_fit(uneven(12L))
  expect_output(print(fit), "heteroscedastic likelihood")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_named(plot(fit, n = 3), c("x", "fit", "lwr", "upr", "new_lwr", "new_upr"))
})

test_that("other units are other numbers for the same, and an offset is a known mean", {
  memory_tier()
  d <- uneven()
  one <- uneven_fit(d)
  ten <- sparsegp(y ~ x, transform(d, y = 10 * y + 3), scale = FALSE, learn = FALSE,
                  likelihood = lik_heteroscedastic(500),
                  kernel = kernel_coregion(kernel_matern52(lengthscale = 1.1), rank = 0,
                                           variance = c(6000, 0.7)))
  expect_equal(fitted(ten), 10 * fitted(one) + 3, tolerance = 1e-6)
  expect_equal(ten$log_evidence, one$log_evidence - 40 * log(10), tolerance = 1e-7)
  expect_equal(predict(ten, type = "latent")[, "log_sd"],
               predict(one, type = "latent")[, "log_sd"] + log(10), tolerance = 1e-6)
  expect_equal(sites(ten)[-1L], sweep(sites(one)[-1L], 2L, c(100, 10, 1, 10, 1), "/"),
               tolerance = 1e-4)
  shifted <- uneven_fit(transform(d, y = y + x^2, a = x^2), formula = y ~ x + offset(a))
  expect_equal(shifted$log_evidence, one$log_evidence, tolerance = 1e-7)
  expect_equal(predict(shifted, data.frame(x = 2, a = 4)),
               predict(one, data.frame(x = 2)) + 4, tolerance = 1e-6)
})

test_that("rows come in chunks, fits are saved, drawn and simulated", {
  slow_tier()
  d <- uneven()
  first <- uneven_fit(d[1:25, ], basis = d[c(1, 9, 17, 25, 33, 40), "x", drop = FALSE])
  grown <- update(first, d[26:40, ])
  expect_identical(nobs(grown), 40L)
  by_steps <- update(update(first, d[26:30, ]), d[31:40, ])
  # EP to 1e-6 from other starts
  expect_equal(predict(by_steps, d), predict(grown, d), tolerance = 1e-5)
  expect_equal(by_steps$log_evidence, grown$log_evidence, tolerance = 1e-6)
  stream <- function(chunks) {
    fit <- uneven_fit(d[0L, ], method = method_online(6, pilot = 10))
    for (rows in chunks) fit <- update(fit, d[rows, ])
    fit
  }
  one <- stream(list(1:40))
  expect_equal(stream(list(1:3, 4:31, 32:40))$log_evidence, one$log_evidence, tolerance = 1e-9)
  fit <- uneven_fit(d)
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), d), predict(fit, d))
  broken <- fit
  broken$y <- d$y[1:3]
  expect_error(predict(broken, d), "rows", class = "sparsegp_error")
  expect_identical(dim(draws(fit, d[1:3, ], n = 2)), c(3L, 2L, 2L))
  set.seed(3)
  responses <- as.matrix(simulate(fit, 400))
  expected <- predict(fit, type = "latent", se.fit = TRUE)
  sd <- exp(expected$fit[, "log_sd"])
  # five standard errors of 400 draws, and the posterior's own spread
  expect_lt(max(abs(log(apply(responses, 1L, stats::sd) / sd))), 0.5)
  expect_identical(names(loo(fit)), c("observed", "mean", "sd", "lpd"))
  expect_output(print(summary(fit)), "Leave-one-out R2")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(fit, n = 5)
  expect_equal(drawn$new_upr,
               unname(predict(fit, drawn["x"], interval = "prediction")[, "upr"]),
               tolerance = 1e-8)
  expect_identical(nrow(plot(fit, newdata = d[1:9, ], n = 4)), 4L)
})

test_that("learning finds a spread that changes, and that it is worth having", {
  slow_tier()
  d <- uneven(120L)
  fit <- sparsegp(y ~ x, d, likelihood = lik_heteroscedastic(),
                  control = gp_control(integrate = "none"))
  plain <- sparsegp(y ~ x, d, likelihood = "gaussian", control = gp_control(integrate = "none"))
  expect_gt(fit$log_evidence, plain$log_evidence + 10)
  found <- predict(fit, type = "latent")[, "log_sd"]
  expect_gt(cor(found, sin(d$x)), 0.9)
})

test_that("what cannot be is refused by name", {
  memory_tier()
  d <- uneven(12L)
  refused <- function(code, argument) {
    expect_identical(tryCatch(code, sparsegp_error = function(e) e$argument), argument)
  }
  refused(sparsegp(y ~ x, d, lik_heteroscedastic(), weights = x + 1), "weights")
  refused(uneven_fit(d, kernel = kernel_rbf()), "kernel")
  refused(uneven_fit(transform(d, y = as.character(y))), "y")
  refused(uneven_fit(d, formula = y ~ x + offset(cbind(x, x))), "offset")
  fit <- uneven_fit(transform(d, z = cos(x)), formula = y ~ x + z)
  refused(plot(fit), "which")
  refused(sigma(fit), "object")
  refused(vector_field(fit, type = "divergence"), "type")
  refused(predict(fit, type = "terms"), "type")
  refused(lik_heteroscedastic(-1), "variance")
})

test_that("medians are predicted on a log scale, where an unknown spread has no mean", {
  slow_tier()
  d <- data.frame(time = as.numeric(stats::time(UKgas)), y = as.numeric(UKgas))[1:65, ]
  fit <- sparsegp(y ~ time, d, lik_heteroscedastic(transform = "log"), learn = FALSE,
                  kernel = kernel_coregion(kernel_rbf() + kernel_periodic(period = 1), rank = 0))
  new <- data.frame(time = c(1976.5, 1979, 2000))
  p <- predict(fit, new, interval = "prediction")
  expect_equal(unname(p[, "fit"]), unname(predict(fit, new, type = "median")), tolerance = 1e-12)
  expect_true(all(p[, "lwr"] < p[, "fit"] & p[, "fit"] < p[, "upr"]))
  expect_output(print(fit), "predictions are medians")
})
