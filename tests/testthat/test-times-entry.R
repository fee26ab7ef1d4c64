# Times that are seen from an entry on (left truncation): the likelihood is divided by the survival
# until then.

counting <- function(entry, time, status) {
  structure(cbind(start = entry, stop = time, status = as.double(status)), type = "counting",
            class = "Surv")
}

TYPES_OF_TIMES <- c("weibull", "loglogistic", "lognormal")

# Log-logistic times, of which those are seen that are after the entry; some are censored.
late_rows <- function(n = 60L, seed = 4) {
  set.seed(seed)
  d <- data.frame(x = runif(3L * n, -2, 2), entry = rexp(3L * n, 1 / 20))
  d$event <- exp(3 + sin(d$x) + 0.4 * rlogis(3L * n))
  d$end <- d$entry + rexp(3L * n, 1 / 60)
  d <- d[d$event > d$entry, ][seq_len(n), ]
  d$seen <- pmin(d$event, d$end)
  d$status <- d$event <= d$end
  d
}

fixed_late <- function(y, x, type, scale = 0.5, ...) {
  sparsegp(x, y, do.call(paste0("lik_", type), list(fixed(scale))),
           kernel = kernel_rbf(variance = fixed(0.7), lengthscale = fixed(0.8)), learn = FALSE, ...)
}

# log Z and the mean's derivative by a sum over 4e4 nodes of f
dense_tilt <- function(type, row, mu, s2, scale) {
  z <- seq(-12, 12, length.out = 4e4)
  log_p <- REFERENCE_LIKELIHOODS[[type]]$logp(row, mu + sqrt(s2) * z, list(scale = scale)) - z^2 / 2
  weight <- exp(log_p - max(log_p))
  c(log(sum(weight)) + max(log_p) + log(diff(z)[1L]) - log(2 * pi) / 2,
    sum(weight * z) / sum(weight) / sqrt(s2))
}

test_that("tilts of times that have an entry are those of dense sums, of any censoring", {
  slow_tier()
  rows <- cbind(c(0.7, 0.7, 1, 0.1), c(0.7, 0.7, 0, -1), c(0.7, 0.7, 2, 0.1), c(0.7, 1.2, 3, -0.5),
                c(0.7, 0.7, 1, 0.699))
  at <- expand.grid(row = 1:5, mu = c(-1, 0.3, 4), s2 = c(0.01, 0.5, 4), scale = c(0.3, 1.2))
  for (type in TYPES_OF_TIMES) {
    for (i in seq(1L, nrow(at), by = 2L)) { # as a scale has 45, each row, mean and variance
      row <- rows[, at$row[i]]
      theta <- log(at$scale[i])
      found <- .Call(sg_lik_tilt, c_lik(type, theta), theta, cbind(row), at$mu[i], at$s2[i], FALSE)
      expect_equal(c(found$logz, found$d1), dense_tilt(type, row, at$mu[i], at$s2[i], at$scale[i]),
                   tolerance = 1e-6, label = paste(type, toString(at[i, ]))) # that of quadrature
      moved <- vapply(theta + c(-1, 1) * 1e-4, function(theta) {
        .Call(sg_lik_tilt, c_lik(type, theta), theta, cbind(row), at$mu[i], at$s2[i], FALSE)$logz
      }, 0)
      expect_equal(c(found$dpar), diff(moved) / 2e-4, tolerance = 1e-4) # of a central difference
    }
  }
})

test_that("an entry at 0, or long before the time, is none", {
  memory_tier()
  d <- late_rows(20L)
  for (type in TYPES_OF_TIMES) {
    plain <- fixed_late(d$event, d$x, type)
    expect_identical(logLik(fixed_late(counting(0, d$event, 1), d$x, type)), logLik(plain))
    expect_identical(logLik(fixed_late(counting(-Inf, d$event, 1), d$x, type)), logLik(plain))
    theta <- log(0.3)
    tilt <- function(entry) {
      row <- cbind(c(0.7, 0.7, 1, entry))
      unlist(.Call(sg_lik_tilt, c_lik(type, theta), theta, row, 0.2, 0.5, FALSE))
    }
    expect_equal(tilt(-20), tilt(NO_ENTRY), tolerance = 1e-9) # of the integral
  }
})

test_that("EP's evidence with entries is that of a dense sum, of few rows", {
  slow_tier()
  x <- c(-1, -0.2, 0.5)
  y <- new_times(cbind(c(8, 20, 30), c(8, 20, 60), c(1, 0, 3), c(4, 12, 10)))
  for (type in TYPES_OF_TIMES) {
    fit <- fixed_late(y, x, type, 0.6, mean = "average")
    seen <- scaled_inputs(cbind(x), fit$scaling)
    K <- kernel_matrix(fit$spec, kernel_theta(fit), seen, seen) * fit$response$unit^2
    nodes <- seq(-6, 6, length.out = 41L)
    z <- as.matrix(expand.grid(rep(list(nodes), 3L)))
    f <- z %*% chol(K) + fit$response$centre
    codes <- unclass(y)
    codes[, c(1:2, 4)] <- log(codes[, c(1:2, 4)])
    logp <- rowSums(vapply(1:3, function(i) {
      REFERENCE_LIKELIHOODS[[type]]$logp(codes[i, ], f[, i], list(scale = 0.6))
    }, numeric(nrow(f))))
    total <- log(sum(exp(logp - rowSums(z^2) / 2))) + 3 * log(diff(nodes)[1L] / sqrt(2 * pi))
    # EP's own error of rows whose tilts are not normal
    expect_lt(abs(fit$log_evidence - (total - log(8))), 0.05, label = type)
  }
})

test_that("an observation is what its parts are, one after the other", {
  memory_tier()
  d <- late_rows(15L)
  half <- (d$entry + d$seen) / 2
  for (type in TYPES_OF_TIMES) {
    whole <- fixed_late(counting(d$entry, d$seen, d$status), d$x, type, mean = "zero")
    parts <- fixed_late(counting(c(d$entry, half), c(half, d$seen), c(0 * d$status, d$status)),
                        c(d$x, d$x), type, mean = "zero")
    at <- c(-1, 0, 1)
    # the two have centres and units of their own, and the prior with them; EP's error
    expect_equal(predict(parts, at, "median"), predict(whole, at, "median"), tolerance = 0.3,
                 label = type)
  }
})

test_that("medians are right where they are wrong without the entries", {
  slow_tier()
  d <- late_rows(200L)
  errors <- function(y) {
    fit <- fixed_late(y, d$x, "loglogistic", 0.4, mean = "average")
    at <- seq(-1.5, 1.5, by = 0.5)
    log(predict(fit, at, "median")) - 3 - sin(at)
  }
  kept <- errors(counting(d$entry, d$seen, d$status))
  expect_lt(abs(mean(kept)), 0.12) # its standard error is about .05
  expect_gt(mean(errors(counting(0, d$seen, d$status))), 0.2)
})

test_that("entries close to the times leave the centre near them", {
  set.seed(1)
  entry <- runif(30, 0, 5)
  time <- entry + rexp(30)
  for (type in TYPES_OF_TIMES) {
    fit <- fixed_late(counting(entry, time, 1), runif(30), type)
    expect_gt(fit$response$centre, min(log(time)) - 2 * sd(log(time)))
  }
})

test_that("residuals, leave-one-out answers and concordance are given the entry", {
  slow_tier()
  d <- late_rows(40L)
  y <- counting(d$entry, d$seen, d$status)
  for (type in TYPES_OF_TIMES) {
    fit <- fixed_late(y, d$x, type)
    expect_identical(as.double(loo(fit)$entry), d$entry)
    latent <- loo_latent(fit)
    found <- response_tails(fit, as_times(y), latent)
    error <- REFERENCE_ERRORS[[type]]
    at <- log_location(fit, latent)
    z <- seq(-8, 8, by = 0.05)
    below <- vapply(seq_len(40L), function(i) {
      f <- at$mean[i] + sqrt(at$var[i]) * z
      above <- function(time) error$above((log(time) - f) / 0.5)
      ratio <- exp(above(d$seen[i]) - above(d$entry[i]))
      1 - sum(ratio * dnorm(z)) * 0.05
    }, 0)
    expect_equal(unname(found$below), below, tolerance = 1e-6, label = type)
    expect_true(all(is.finite(residuals(fit, "quantile"))))
    expect_identical(is.na(residuals(fit)), !d$status, ignore_attr = TRUE)
  }
  expect_s3_class(calibration(fit), "sparsegp_calibration")
  expect_output(print(summary(fit)), "concordance")
  skip_if_not_installed("survival")
  wanted <- survival::concordance(survival::Surv(d$entry, d$seen, d$status) ~ loo(fit)$median)
  expect_equal(summary(fit)$concordance, wanted$concordance, tolerance = 1e-12)
})

test_that("formulas, matrices, bases, streams, sources and files keep entries", {
  slow_tier()
  d <- late_rows(60L)
  d$y <- counting(d$entry, d$seen, d$status)
  full <- sparsegp(y ~ x, d, "weibull", learn = FALSE)
  bare <- cbind(start = d$entry, stop = d$seen, status = d$status)
  expect_identical(logLik(sparsegp(d["x"], bare, "weibull", learn = FALSE)), logLik(full))
  refused(sparsegp(d["x"], bare), "y") # times, or components
  based <- sparsegp(y ~ x, d, "weibull", basis = d[1:12 * 5, ], learn = FALSE)
  expect_identical(update(based, d[1:10, ])$n, 70L)
  stream <- sparsegp(y ~ x, d[1:40, ], "weibull", method = method_online(10, pilot = 30))
  expect_equal(as.double(nobs(update(stream, d[41:60, ]))), 60)
  new <- data.frame(x = c(-1, 1))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(full, file)
  expect_identical(predict(readRDS(file), new, "median"), predict(full, new, "median"))
  damaged <- full
  numbers <- unclass(damaged$y)
  numbers[2L, "entry"] <- 1e3
  damaged$y <- new_times(numbers)
  expect_error(residuals(damaged, "quantile"), class = "sparsegp_error")
  chunks <- split(d, rep(1:3, each = 20L))
  source <- row_source(function(i) if (i <= 3L) chunks[[i]])
  read <- sparsegp(y ~ x, source, "weibull", learn = FALSE)
  expect_equal(predict(read, new, "median"), predict(based, new, "median"), tolerance = 0.15)
})

test_that("entries that are none are refused in words", {
  d <- late_rows(20L)
  bad <- function(entry, words) {
    expect_error(fixed_late(counting(entry, d$seen, d$status), d$x, "weibull"), words,
                 class = "sparsegp_error")
  }
  bad(d$seen, "not before the others")
  bad(replace(d$entry, 3L, -1), "left truncation. below 0")
  bad(replace(d$entry, 3L, Inf), "not finite")
  fit <- fixed_late(counting(replace(d$entry, 3L, NA), d$seen, d$status), d$x, "weibull",
                    na.action = na.omit)
  expect_identical(fit$n, 19L)
})

test_that("EP of times with entries starts under a vague prior of the mean", {
  memory_tier()
  d <- late_rows(60L)
  d$entry[1:20] <- d$seen[1:20] * 0.98 # which say little: their likelihoods are flat on one side
  for (type in c("loglogistic", "lognormal")) {
    fit <- expect_silent(fixed_late(counting(d$entry, d$seen, d$status), d$x, type))
    expect_true(fit$convergence$converged)
    expect_lt(fit$convergence$sweeps, 60L)
    expect_identical(fit$convergence$sequential %||% 0L, 0L)
  }
})
