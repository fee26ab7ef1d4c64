# Times to an event: Surv() responses and the likelihoods of accelerated failure times. log p, tilts
# and predictions of each are held to plain formulas by the contract tests.

reached_elsewhere()

# Times by a Weibull model, some of them censored in every way; objects as survival makes them.
censored_rows <- function(n = 60L) {
  set.seed(31)
  d <- data.frame(x = sort(runif(n, -2, 2)), z = rnorm(n))
  d$time <- exp(3 + sin(1.5 * d$x) + 0.5 * log(rexp(n)))
  d$end <- rexp(n, 1 / 60)
  d$event <- d$time <= d$end
  d$seen <- pmin(d$time, d$end)
  d
}

as_surv <- function(time, status) {
  structure(cbind(time = time, status = as.double(status)), type = "right", class = "Surv")
}

fixed_fit <- function(y, x, lik, ...) {
  sparsegp(x, y, lik, kernel = kernel_rbf(variance = fixed(0.7), lengthscale = fixed(0.8)),
           learn = FALSE, ...)
}

test_that("Surv objects of every kind of censoring are read, and others are refused", {
  memory_tier()
  skip_if_not_installed("survival")
  read <- function(...) unclass(as_times(survival::Surv(...)))
  columns <- function(time, time2, status, entry = 0) {
    cbind(time = time, time2 = time2, status = status, entry = entry)
  }
  expect_equal(read(c(3, 5), c(1, 0)), columns(c(3, 5), c(3, 5), c(1, 0)))
  expect_equal(read(c(3, 5), c(TRUE, FALSE), type = "left"), columns(c(3, 5), c(3, 5), c(1, 2)))
  expect_equal(read(c(1, NA, 4, 2, 0), c(3, 2, 4, NA, 7), type = "interval2"),
               columns(c(1, 2, 4, 2, 7), c(3, 2, 4, 2, 7), c(3, 2, 1, 0, 2)))
  # bounds that are the same, which type "interval" does not look at, or without an end
  expect_equal(read(c(5, 1e9, 3, 2), c(5, 1e9 * (1 + 4e-16), Inf, 6), rep(3, 4), type = "interval"),
               columns(c(5, 1e9, 3, 2), c(5, 1e9, 3, 6), c(1, 1, 0, 3)))
  expect_equal(read(c(0, 1), c(2, 3), c(1, 0)), columns(c(2, 3), c(2, 3), c(1, 0), c(0, 1)))
  several <- factor(c("a", "b", "c"))
  refused(as_times(survival::Surv(c(2, 3, 4), several)), "y")
  refused(as_times(survival::Surv(c(0, 1, 0), c(2, 3, 4), several)), "y")
  d <- censored_rows()
  refused(sparsegp(as_surv(seen - seen, event) ~ x, d), "y")
  refused(sparsegp(as_surv(seen, event) ~ x, d, "gaussian"), "y")
  refused(sparsegp(as_surv(seen, event) ~ x, d, "poisson"), "y")
  refused(sparsegp(as_surv(seen, event) ~ x, d, weights = end), "weights")
  refused(sparsegp(factor(event) ~ x, d, "weibull"), "y")
  refused(lik_weibull(scale = -1), "scale")
})

test_that("an interval without width is the time of an event, by each law", {
  memory_tier()
  skip_if_not_installed("survival")
  d <- censored_rows(20L)
  same <- survival::Surv(d$time, d$time, rep(3, 20), type = "interval")
  for (law in c("weibull", "loglogistic", "lognormal")) {
    expect_identical(logLik(fixed_fit(same, d$x, law)), logLik(fixed_fit(d$time, d$x, law)))
  }
})

test_that("times are a column whose rows can be taken, bound and printed", {
  y <- as_times(c(2, 5, 7))
  expect_identical(length(y[2:3]), 2L)
  expect_identical(unclass(rbind(y[1], y[2:3])), unclass(y))
  more <- new_times(cbind(c(1, 2, 3, NA), c(1, 2, 4, NA), c(0, 2, 3, 1)))
  expect_identical(format(more), c("1+", "2-", "[3, 4]", NA))
  expect_identical(is.na(more), c(FALSE, FALSE, FALSE, TRUE))
  expect_output(print(more[1:2]), "1[+] 2-")
  late <- new_times(cbind(c(3, 5), c(3, 5), c(1, 0), c(0, 2)))
  expect_identical(format(late), c("3", "(2, 5+]"))
  d <- data.frame(k = 1:3)
  d$y <- y
  expect_identical(as.double(d[c(3, 1), ]$y[, "time"]), c(7, 2))
})

test_that("without censoring log-normal times are Gaussian noise on the log scale", {
  memory_tier()
  d <- censored_rows(40L)
  gaussian <- fixed_fit(d$time, d$x, lik_gaussian(fixed(0.3), transform = "log"))
  times <- fixed_fit(d$time, d$x, lik_lognormal(fixed(sqrt(0.3))))
  expect_equal(times$log_evidence, gaussian$log_evidence, tolerance = 1e-8)
  new <- seq(-3, 3, length.out = 7L)
  for (type in c("response", "median", "link")) {
    expect_equal(predict(times, new, type), predict(gaussian, new, type), tolerance = 1e-8)
  }
  for (interval in c("confidence", "prediction")) {
    expect_equal(predict(times, new, interval = interval), predict(gaussian, new,
                                                                   interval = interval),
                 tolerance = 1e-8)
  }
  expect_equal(predict(times, new, se.fit = TRUE)$se.fit,
               predict(gaussian, new, se.fit = TRUE)$se.fit, tolerance = 1e-7)
  expect_equal(loo(times)$lpd, loo(gaussian)$lpd, tolerance = 1e-8)
  expect_equal(residuals(times, "quantile"), residuals(gaussian, "quantile"), tolerance = 1e-7)
  expect_equal(residuals(times, "pearson"), residuals(gaussian, "pearson"), tolerance = 1e-7)
})

test_that("another unit of time changes nothing but the Jacobian", {
  memory_tier()
  d <- censored_rows()
  for (lik in list(lik_weibull(), lik_loglogistic(), lik_lognormal())) {
    days <- sparsegp(d$x, as_surv(d$seen, d$event), lik, learn = FALSE)
    years <- sparsegp(d$x, as_surv(d$seen / 365, d$event), lik, learn = FALSE)
    expect_equal(years$log_evidence - days$log_evidence, sum(d$event) * log(365),
                 tolerance = 1e-6, label = lik$type)
    expect_equal(predict(years, 0.3, "rmst", at = 20 / 365) * 365,
                 predict(days, 0.3, "rmst", at = 20), tolerance = 1e-6, label = lik$type)
  }
})

# P(T > t) and E min(T, h) by dense sums over f ~ N(mean, sd^2), log time = f + scale e.
reference_survival <- function(type, t, mean, sd, scale) {
  above <- REFERENCE_ERRORS[[type]]$above
  reference_mean(function(z) exp(above((log(t) - mean - sd * z) / scale)), sd / scale)
}

test_that("survival curves, restricted means and means are those of dense sums", {
  memory_tier()
  d <- censored_rows()
  for (type in c("weibull", "loglogistic", "lognormal")) {
    fit <- fixed_fit(as_surv(d$seen, d$event), d$x, do.call(paste0("lik_", type), list(fixed(0.4))))
    at <- predict(fit, 0.5, "link", se.fit = TRUE)
    curve <- function(t) {
      vapply(t, function(t) reference_survival(type, t, at$fit, at$se.fit, 0.4), 0)
    }
    found <- predict(fit, 0.5, "survival", at = c(2, 20, 60))
    expect_equal(drop(unname(found)), curve(c(2, 20, 60)), tolerance = 1e-7, label = type)
    rmst <- stats::integrate(curve, 0, 30, rel.tol = 1e-9)$value
    found <- predict(fit, 0.5, "rmst", at = 30)[[1L]]
    expect_equal(found, rmst, tolerance = 1e-6, label = type)
    mean <- stats::integrate(function(u) curve(exp(u)) * exp(u), -20, 14, subdivisions = 2000L,
                             rel.tol = 1e-9)$value
    expect_equal(predict(fit, 0.5)[[1L]], mean, tolerance = 1e-5, label = type)
    median <- predict(fit, 0.5, "quantile", at = 0.5)
    expect_equal(curve(median), 0.5, tolerance = 1e-7, label = type)
  }
  heavy <- fixed_fit(as_surv(d$seen, d$event), d$x, lik_loglogistic(fixed(1.2)))
  # there is no mean: the median is predicted
  expect_identical(predict(heavy, 0.5), predict(heavy, 0.5, type = "median"))
})

test_that("bands of survival curves are quantiles of the curve", {
  memory_tier()
  d <- censored_rows()
  fit <- fixed_fit(as_surv(d$seen, d$event), d$x, lik_weibull(fixed(0.4)))
  band <- predict(fit, c(-1, 1), "survival", at = c(10, 30), interval = "confidence",
                  level = 0.9, se.fit = TRUE)
  expect_identical(dim(band$fit), c(2L, 3L, 2L))
  link <- predict(fit, c(-1, 1), "link", se.fit = TRUE)
  at <- function(z, t) exp(-exp((log(t) - link$fit - z * link$se.fit) / 0.4))
  expect_equal(unname(band$fit[, "upr", "30"]), unname(at(qnorm(0.95), 30)), tolerance = 1e-7)
  set.seed(3)
  draws <- at(1, 10) * 0 + vapply(1:2, function(i) {
    sd(exp(-exp((log(10) - rnorm(2e5, link$fit[i], link$se.fit[i])) / 0.4)))
  }, 0)
  expect_equal(unname(band$se.fit[, "10"]), unname(draws), tolerance = 0.02) # of 2e5 draws
  ensemble <- average(fit, fixed_fit(as_surv(d$seen, d$event), d$x, lik_weibull(fixed(0.4))))
  both <- predict(ensemble, c(-1, 1), "survival", at = c(10, 30), interval = "confidence",
                  level = 0.9, se.fit = TRUE)
  expect_equal(both, band, tolerance = 1e-5)
})

test_that("bands of averaged fits with other errors are quantiles of the mixture", {
  slow_tier()
  d <- censored_rows()
  fits <- Map(function(lik, scale) fixed_fit(as_surv(d$seen, d$event), d$x, lik(fixed(scale))),
              list(lik_weibull, lik_loglogistic, lik_lognormal), c(0.4, 0.9, 0.6))
  ensemble <- do.call(average, fits)
  type_of <- function(fit) fit$likelihood$type
  members <- vapply(1:3, function(k) type_of(as_member(ensemble, k)), "")
  weights <- ensemble$ensemble$weights[match(vapply(fits, type_of, ""), members)]
  link <- lapply(fits, predict, 0.5, "link", se.fit = TRUE)
  # the posterior probability that each member's value is at most q: by a dense grid of f, linear
  # between whose points it is off by some 1e-7
  z <- seq(-8, 8, by = 0.002)
  below <- function(values, q, z) pnorm(stats::approx(values, z, q, rule = 2)$y)
  share <- function(value, q, z) {
    each <- Map(function(fit, at) below(value(fit, at$fit + z * at$se.fit), q, z), fits, link)
    sum(unlist(each) * weights)
  }
  log_above <- function(fit, t, f) {
    TIME_ERRORS[[fit$likelihood$type]]$log_above((log(t) - f) / error_scale(fit))
  }
  curve <- function(t) function(fit, f) exp(log_above(fit, t, f))
  found <- predict(ensemble, 0.5, "survival", at = 12, interval = "confidence", level = 0.9)
  expect_equal(share(curve(12), found[1L, "lwr", 1L], z), 0.05, tolerance = 1e-6)
  expect_equal(share(curve(12), found[1L, "upr", 1L], z), 0.95, tolerance = 1e-6)
  rmst <- function(fit, f) {
    t <- (seq_len(400) - 0.5) / 400 * 30 # the midpoint rule, off by some 1e-5
    each <- exp(log_above(fit, rep(t, each = length(f)), rep(f, 400)))
    30 * rowMeans(matrix(each, length(f)))
  }
  z <- seq(-8, 8, by = 0.02) # off by 1e-5, too
  found <- predict(ensemble, 0.5, "rmst", at = 30, interval = "confidence", level = 0.9)
  expect_equal(share(rmst, found[[1L, "lwr"]], z), 0.05, tolerance = 1e-3)
  expect_equal(share(rmst, found[[1L, "upr"]], z), 0.95, tolerance = 1e-3)
})

test_that("times and horizons that are none are refused", {
  memory_tier()
  d <- censored_rows()
  fit <- fixed_fit(as_surv(d$seen, d$event), d$x, lik_weibull(fixed(0.4)))
  refused(predict(fit, 1, "survival"), "at")
  refused(predict(fit, 1, "survival", at = c(1, -1)), "at")
  refused(predict(fit, 1, "rmst", at = c(1, 2)), "at")
  refused(predict(fit, 1, at = 3), "at")
  refused(predict(fit, 1, "prob"), "type")
  refused(predict(fit, 1, "survival", at = 3, interval = "prediction"), "interval")
  other <- sparsegp(dist ~ speed, cars, learn = FALSE)
  refused(predict(other, type = "survival", at = 2), "type")
})

test_that("residuals, leave-one-out predictions and simulations are of times", {
  memory_tier()
  d <- censored_rows()
  fit <- sparsegp(as_surv(seen, event) ~ x, d, "loglogistic", learn = FALSE)
  expect_identical(unname(is.na(residuals(fit))), !d$event)
  set.seed(1)
  quantile <- residuals(fit, "quantile")
  latent <- loo_latent(fit)
  below <- tails_in_c(fit, d$seen, latent)$below
  expect_equal(unname(quantile[d$event]), qnorm(below[d$event]), tolerance = 1e-7)
  expect_true(all(quantile[!d$event] >= qnorm(below[!d$event])))
  table <- loo(fit)
  expect_identical(as.character(table$status), ifelse(d$event, "event", "after"))
  expect_equal(exp(table$lpd[!d$event]), 1 - below[!d$event], tolerance = 1e-6)
  expect_output(print(summary(fit)), "concordance")
  drawn <- simulate(fit, 200, seed = 2, newdata = data.frame(x = 0))
  wanted <- predict(fit, data.frame(x = 0), "quantile", at = 0.5)[[1L]]
  expect_equal(median(unlist(drawn)), wanted, tolerance = 0.25) # of 200 draws
  expect_s3_class(calibration(fit), "sparsegp_calibration")
})

test_that("concordance is that of package survival", {
  memory_tier()
  skip_if_not_installed("survival")
  d <- censored_rows()
  d$seen <- round(d$seen) + 1 # ties
  fit <- sparsegp(as_surv(seen, event) ~ x, d, "weibull", learn = FALSE)
  table <- loo(fit)
  wanted <- survival::concordance(survival::Surv(d$seen, d$event) ~ table$median)$concordance
  expect_equal(summary(fit)$concordance, wanted, tolerance = 1e-12)
})

test_that("observations with equal inputs do not count against the concordance", {
  slow_tier()
  set.seed(3)
  d <- data.frame(g = gl(2, 30), time = rexp(60) * rep(1:2, each = 30))
  fit <- sparsegp(time ~ g, d, "weibull", learn = FALSE)
  pairs <- utils::combn(60, 2)
  first <- ifelse(d$time[pairs[1, ]] < d$time[pairs[2, ]], pairs[1, ], pairs[2, ])
  last <- colSums(pairs) - first
  right <- ifelse(d$g[first] == d$g[last], 0.5, d$g[first] == 1)
  expect_gt(mean(right), 0.5)
  expect_equal(summary(fit)$concordance, mean(right), tolerance = 1e-12)
})

test_that("a default fit chooses the error by the evidence", {
  slow_tier()
  set.seed(5)
  x <- runif(400, -2, 2)
  for (type in c("weibull", "loglogistic")) {
    time <- exp(1 + x + 0.8 * TIME_ERRORS[[type]]$draw(400))
    fit <- sparsegp(x, as_surv(time, rep(1, 400)))
    expect_identical(fit$likelihood$type, type)
    expect_identical(sum(fit$choices$stage == "error of log times"), 3L)
    expect_equal(coef(fit)[["scale"]], 0.8, tolerance = 0.15)
  }
})

test_that("hyperparameters of a linear model are those of survreg()", {
  slow_tier()
  skip_if_not_installed("survival")
  d <- survival::veteran
  fit <- sparsegp(survival::Surv(time, status) ~ karno, d, "weibull", kernel = kernel_linear(),
                  control = gp_control(integrate = "none"))
  linear <- survival::survreg(survival::Surv(time, status) ~ karno, d)
  # priors move the scale by a hundredth
  expect_equal(coef(fit)[["scale"]], linear$scale, tolerance = 0.02)
  new <- data.frame(karno = c(30, 90))
  wanted <- predict(linear, new, "quantile", p = 0.5)
  expect_equal(unname(predict(fit, new, "median")), unname(wanted), tolerance = 0.05)
})

test_that("EP's evidence is that of a dense sum, of few rows", {
  slow_tier()
  x <- c(-1, -0.2, 0.5, 1.4)
  y <- new_times(cbind(c(8, 20, 30, 12), c(8, 20, 60, 12), c(1, 0, 3, 2)))
  for (type in c("weibull", "loglogistic", "lognormal")) {
    fit <- fixed_fit(y, x, do.call(paste0("lik_", type), list(fixed(0.6))),
                     mean = "average")
    seen <- scaled_inputs(cbind(x), fit$scaling)
    K <- kernel_matrix(fit$spec, kernel_theta(fit), seen, seen) * fit$response$unit^2
    nodes <- seq(-6, 6, length.out = 25L)
    z <- as.matrix(expand.grid(rep(list(nodes), 4L)))
    f <- z %*% chol(K) + fit$response$centre
    codes <- unclass(y)
    codes[, 1:2] <- log(codes[, 1:2])
    logp <- rowSums(vapply(1:4, function(i) {
      REFERENCE_LIKELIHOODS[[type]]$logp(codes[i, ], f[, i], list(scale = 0.6))
    }, numeric(nrow(f))))
    total <- log(sum(exp(logp - rowSums(z^2) / 2))) + 4 * log(diff(nodes)[1L] / sqrt(2 * pi))
    expect_lt(abs(fit$log_evidence - (total - log(8))), 0.05, label = type) # the Jacobian of 8
  }
})

test_that("streams, bases, updates, sources and files keep times", {
  memory_tier()
  d <- censored_rows(80L)
  d$y <- as_surv(d$seen, d$event)
  based <- sparsegp(y ~ x, d, "weibull", basis = d[1:15 * 5, ], learn = FALSE)
  more <- update(based, d[1:10, ])
  expect_identical(more$n, 90L)
  stream <- sparsegp(y ~ x, d[1:40, ], "weibull", method = method_online(10, pilot = 30))
  stream <- update(stream, d[41:80, ])
  expect_equal(as.double(nobs(stream)), 80)
  new <- data.frame(x = c(-1, 1))
  expect_true(all(predict(stream, new, "survival", at = c(5, 50)) < 1))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(based, file)
  expect_identical(predict(readRDS(file), new, "median"), predict(based, new, "median"))
  damaged <- based
  damaged$y <- -1 * d$seen
  expect_error(residuals(damaged), class = "sparsegp_error")
  chunks <- split(d, rep(1:4, each = 20L))
  source <- row_source(function(i) if (i <= 4L) chunks[[i]])
  read <- sparsegp(y ~ x, source, "weibull", learn = FALSE)
  expect_equal(unname(predict(read, new, "median")), unname(predict(based, new, "median")),
               tolerance = 0.1)
})

test_that("survival curves are drawn by both devices", {
  memory_tier()
  d <- censored_rows()
  d$g <- factor(rep(c("p", "q"), 30L))
  fit <- sparsegp(as_surv(seen, event) ~ x + g, d, "weibull", learn = FALSE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(fit, "survival", n = 11L)
  expect_match(levels(drawn$curve), "^x ") # along which the curves differ most
  expect_length(levels(drawn$curve), 3L)
  expect_true(all(drawn$lwr <= drawn$fit & drawn$fit <= drawn$upr))
  expect_identical(drawn$fit[drawn$time == 0], c(1, 1, 1))
  rows <- plot(fit, "survival", newdata = d[c(1, 50), ], xlim = c(0, 40), n = 5L)
  wanted <- predict(fit, d[c(1, 50), ], "survival", at = 40)
  expect_equal(rows$fit[rows$time == 40], unname(wanted[, 1L]), tolerance = 1e-12)
  plot(fit)
  plot(fit, "loo")
  refused(plot(fit, "survival", newdata = d), "newdata")
  refused(plot(sparsegp(dist ~ speed, cars, learn = FALSE), "survival"), "type")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit, type = "survival", n = 5L), "ggplot")
})
