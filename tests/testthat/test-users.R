# What users of neighbouring packages complain about: one test for each complaint, with the claim
# that it does not hold here. Numbers are those of the project's list of complaints.

r_code_alone()

toy <- function(n = 24L) {
  set.seed(17)
  d <- data.frame(x = rnorm(n), z = runif(n), g = factor(sample(c("low dose", "high"), n, TRUE)))
  d$y <- sin(2 * d$x) + d$z + (d$g == "high") + rnorm(n, sd = 0.1)
  d$class <- factor(ifelse(d$x + rnorm(n, sd = 0.7) > 0, "yes it is", "no"))
  d
}

gap <- function(a, b) max(abs(unname(a) - unname(b)))

# K as the fit sees it, at the scaled inputs
engine_kernel_of <- function(kernel, x) {
  fit <- sparsegp(x, x, lik_gaussian(1), kernel, learn = FALSE)
  theta <- fit$hyper$theta[fit$hyper$part == "kernel"]
  .Call(sg_kernel_cross, fit$spec, theta, fit$posterior$basis, fit$posterior$basis)
}

test_that("1: kernel matrices that are not positive definite on a computer need no jitter", {
  slow_tier()
  x <- c(seq(0, 1, length.out = 30), 0.5, 0.5, 0.5 + 1e-15)
  y <- sin(6 * x)
  kernels <- list(kernel_rbf(1, 3), kernel_linear(1), kernel_constant(1), kernel_poly(2, 1, 1))
  for (kernel in kernels) {
    # so the test is one: chol() fails on the kernel matrix itself
    expect_error(chol(engine_kernel_of(kernel, x)), "not positive")
    for (noise in c(1, 1e-8)) {
      fit <- sparsegp(x, y, lik_gaussian(noise), kernel, learn = FALSE)
      answer <- predict(fit, c(x, 2), se.fit = TRUE)
      expect_true(all(is.finite(c(answer$fit, answer$se.fit, logLik(fit)))))
    }
    fit <- sparsegp(x, y > 0, kernel = kernel, learn = FALSE)
    expect_true(fit$convergence$converged)
    expect_true(all(is.finite(c(fitted(fit), logLik(fit)))))
  }
  # a smooth function learned from so many rows is found again between them
  fit <- sparsegp(x, y, lik_gaussian(1e-6), kernel_rbf(1, 1), learn = FALSE)
  expect_lt(gap(predict(fit, 0.123), sin(6 * 0.123)), 1e-3)
  # and what cannot be computed is blamed on the hyperparameters by name and value
  expect_error(sparsegp(x, y, lik_gaussian(1e-300), kernel_rbf(1e300), learn = FALSE),
               "variance = 1e\\+300, lengthscale = 1, noise = 1e-300", class = "sparsegp_error")
})

test_that("2: bad data are refused or set aside before any computing, and scaling is automatic", {
  slow_tier()
  d <- toy()
  clean <- sparsegp(y ~ x + z, d, scale = TRUE)
  holes <- rbind(d, d[1:3, ])
  holes$x[25] <- NA
  holes$y[26] <- NaN
  holes$z[27] <- NA
  expect_identical(fitted(sparsegp(y ~ x + z, holes, scale = TRUE)), fitted(clean))
  with_na_class <- sparsegp(class ~ x, transform(holes, class = replace(class, 26, NA)))
  expect_true(is.finite(logLik(with_na_class)))
  expect_error(sparsegp(y ~ x, transform(d, x = replace(x, 2, Inf))), "infinite values in x",
               class = "sparsegp_error")
  expect_error(sparsegp(y ~ x, transform(d, y = replace(y, 2, -Inf))), "`y`",
               class = "sparsegp_error")
  constant <- sparsegp(y ~ x + z + k, transform(d, k = 3), scale = TRUE)
  expect_identical(fitted(constant), fitted(clean))
  expect_output(print(summary(constant)), "constant inputs kept out: k", fixed = TRUE)
  doubled <- sparsegp(y ~ x + z, d[c(1:24, 1:24), ], learn = FALSE)
  expect_true(all(is.finite(fitted(doubled))))
  unscaled <- sparsegp(y ~ x + z, transform(d, x = 1e7 * x - 1e8, z = z / 1e7), scale = TRUE)
  # inputs keep about 1e-15 of 1e8: 1e-7 of a standard deviation, at most
  expect_lt(gap(fitted(unscaled), fitted(clean)), 1e-5)
  expect_lt(gap(predict(unscaled, data.frame(x = 1e7 * 0.5 - 1e8, z = 0.3 / 1e7)),
                predict(clean, data.frame(x = 0.5, z = 0.3))), 1e-5)
})

test_that("3: no predictive variance is negative, or above that of the prior", {
  slow_tier()
  set.seed(1)
  x <- rnorm(30)
  x[11:30] <- x[1:10] + 10^-(1:20) # near-duplicates at every distance
  y <- sin(3 * x)
  new <- c(x, x + 1e-10, rnorm(50))
  kernels <- list(kernel_rbf(4, 1), kernel_matern12(4, 1), kernel_matern52(4, 1),
                  kernel_rq(4, 1, shape = 2), kernel_periodic(4, 1, 1.5),
                  kernel_rbf(3, 1) + kernel_constant(1), kernel_rbf(2, 1) * kernel_matern32(2, 1))
  for (kernel in kernels) {
    fits <- list(sparsegp(x, y, lik_gaussian(1e-10), kernel, learn = FALSE, mean = "average"),
                 sparsegp(x, y, lik_gaussian(1), kernel, learn = FALSE, mean = "average"),
                 sparsegp(x, y > 0, "probit", kernel, learn = FALSE),
                 sparsegp(x, y > 0, "logit", kernel, learn = FALSE))
    for (fit in fits) {
      sd <- predict(fit, new, type = "latent", se.fit = TRUE)$se.fit
      expect_true(all(sd >= 0 & sd <= 2 * (1 + 1e-12)), label = format(kernel)) # 4 and rounding
      expect_true(all(fit$latent$var >= 0), label = format(kernel))
    }
  }
})

test_that("5: EP that has not converged says so, in the fit, in one warning and in print", {
  slow_tier()
  d <- toy()
  seen <- character()
  fit <- withCallingHandlers(
    sparsegp(class ~ x + z, d, method = method_ep(sweeps = 2)),
    warning = function(w) {
      seen <<- c(seen, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  )
  expect_length(seen, 1)
  expect_match(seen, "EP did not converge in 2 sweeps")
  record <- fit$convergence
  expect_false(record$converged)
  expect_equal(record$sweeps, 2)
  expect_gt(record$change, 1e-6)
  expect_equal(nrow(record$trace), 2)
  expect_true(all(c("damped", "skipped", "sequential") %in% names(record)))
  expect_output(print(fit), "EP did NOT converge: change")
  expect_output(print(summary(fit)), "EP did NOT converge: change")
  settled <- sparsegp(class ~ x + z, d)
  expect_true(settled$convergence$converged)
  expect_lte(settled$convergence$change, 1e-6) # method_ep()'s tol
  expect_no_match(paste(capture.output(print(settled)), collapse = "\n"), "NOT converge")
})

test_that("10: latent and response are told apart", {
  d <- toy()
  fit <- sparsegp(class ~ x + z, d, learn = FALSE)
  latent <- predict(fit, d, type = "latent", se.fit = TRUE)
  # averaged over the latent function, not read off at its mean
  averaged <- pnorm((latent$fit + coef(fit)[["bias"]]) / sqrt(1 + latent$se.fit^2))
  expect_lt(gap(predict(fit, d), averaged), 1e-12)
  expect_gt(gap(predict(fit, d), pnorm(latent$fit + coef(fit)[["bias"]])), 0.01)
  expect_identical(predict(fit, d), predict(fit, d, type = "prob")[, "yes it is"])
  regression <- sparsegp(y ~ x, d, learn = FALSE)
  expect_identical(predict(regression, d), predict(regression, d, type = "latent"))
  # for regression the noise is in "prediction" and in nothing else
  width <- function(interval) {
    diff(predict(regression, d[1, ], interval = interval)[, c("lwr", "upr")]) / (2 * qnorm(0.975))
  }
  se <- predict(regression, d[1, ], se.fit = TRUE)$se.fit
  expect_equal(unname(width("confidence")), unname(se), tolerance = 1e-12)
  expect_equal(unname(width("prediction")), unname(sqrt(se^2 + coef(regression)[["noise"]])),
               tolerance = 1e-12)
})

test_that("11: 100 added to y adds 100 to means only; newdata may be long or have holes", {
  slow_tier()
  d <- toy()
  fit <- sparsegp(y ~ x + g, d)
  shifted <- sparsegp(y ~ x + g, transform(d, y = y + 100))
  new <- data.frame(x = c(0.2, NA, seq(-3, 3, length.out = 98)), g = "high")
  answer <- predict(fit, new, se.fit = TRUE)
  moved <- predict(shifted, new, se.fit = TRUE)
  # rounding of y + 100, 1e-14, through learning
  expect_lt(max(abs(moved$fit - answer$fit - 100), na.rm = TRUE), 1e-9)
  expect_lt(max(abs(moved$se.fit / answer$se.fit - 1), na.rm = TRUE), 1e-9)
  # four times as many rows as were trained on, and one of them NA
  expect_length(answer$fit, 100)
  expect_identical(which(is.na(answer$fit)), c("2" = 2L))
  expect_identical(which(is.na(answer$se.fit)), c("2" = 2L))
  for (generic in c("predict", "plot", "summary", "print", "fitted", "residuals", "logLik", "coef",
                    "update", "simulate")) {
    expect_false(is.null(getS3method(generic, "sparsegp", optional = TRUE)), label = generic)
  }
})

test_that("12: formula models predict what they were fitted to, one row as in a batch", {
  slow_tier()
  d <- toy()
  fit <- sparsegp(y ~ g * poly(x, 2) + scale(z) + splines::ns(z, 2), d, learn = FALSE)
  expect_lt(gap(predict(fit, d), fitted(fit)), 1e-8)
  one_by_one <- vapply(1:24, function(i) unname(predict(fit, d[i, ])), 0)
  # BLAS may sum one row and many in another order: the last digit
  expect_lt(gap(one_by_one, predict(fit, d)), 1e-12)
  # levels by name: as characters, reordered, or with only one of them present
  new <- data.frame(g = "low dose", x = 0.1, z = 0.5)
  expected <- predict(fit, new)
  new$g <- factor("low dose", levels = c("low dose", "high"))
  expect_identical(predict(fit, new), expected)
  expect_warning(missing <- predict(fit, transform(new, g = "unheard of")), "unheard of",
                 class = "sparsegp_unseen")
  expect_identical(unname(missing), NA_real_)
  expect_error(predict(fit, new[c("g", "x")]), "z", class = "sparsegp_error")
})

test_that("16: a fit that was saved predicts the same in a new session", {
  slow_tier()
  skip_on_cran() # a new process
  d <- toy()
  fits <- list(
    regression = sparsegp(y ~ g * poly(x, 2) + z, d, learn = FALSE),
    classes = sparsegp(class ~ x + z, d, "logit", learn = FALSE),
    matrix = sparsegp(as.matrix(d[c("x", "z")]), d$y, kernel = kernel_rbf(ard = TRUE) *
                        kernel_matern52() + kernel_periodic(vars = "x"), learn = FALSE)
  )
  ask <- function(fits, new) {
    list(predict(fits$regression, new, interval = "prediction"),
         predict(fits$classes, new, type = "prob"), predict(fits$classes, new, se.fit = TRUE),
         predict(fits$matrix, new[c("x", "z")], se.fit = TRUE), fitted(fits$classes),
         simulate(fits$regression, 2, seed = 1))
  }
  files <- tempfile(c("saved", "answers"), fileext = ".rds")
  on.exit(unlink(files))
  saveRDS(list(fits = fits, new = d[1:5, ], ask = deparse(ask)), files[1])
  code <- sprintf(paste(
    ".libPaths(%s); saved <- readRDS(%s); library(sparsegp)",
    "ask <- eval(parse(text = saved$ask)); saveRDS(ask(saved$fits, saved$new), %s)", sep = "; "
  ), deparse1(.libPaths()), deparse1(files[1]), deparse1(files[2]))
  system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = FALSE,
          stderr = FALSE)
  expect_identical(readRDS(files[2]), ask(fits, d[1:5, ]))
})
