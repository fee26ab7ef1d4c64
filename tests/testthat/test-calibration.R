# calibration() of intervals: the probability integral transform and what follows from it, against
# plain R; test-loo.R and test-plot-truth.R have its table of classes and the intervals themselves.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

waves <- function(n) {
  set.seed(4)
  x <- seq_len(n) / 10
  f <- sin(x)
  data.frame(x, c = rpois(n, exp(f)), s = rbinom(n, 8, stats::plogis(f)) / 8, trials = 8,
             u = f + 0.2 * rnorm(n), v = cos(x) + 0.2 * rnorm(n),
             o = factor(cut(f + 0.3 * rnorm(n), c(-9, -0.5, 0.5, 9), c("low", "mid", "high")),
                        ordered = TRUE))
}

# Czado, Gneiting and Held's F(u | y), eq. 2, written as they have it
reference_share <- function(below, upto, from, to) {
  share <- function(u) ifelse(u <= below, 0, ifelse(u >= upto, 1, (u - below) / (upto - below)))
  mean(share(to) - share(from))
}

test_that("the transform of counts and proportions is that of their leave-one-out distributions", {
  d <- waves(40)
  fit <- sparsegp(c ~ x, d, "poisson", learn = FALSE)
  pit <- attr(calibration(fit), "pit")
  mean <- fit$cavity$mean + coef(fit)[["bias"]]
  sd <- sqrt(fit$cavity$var)
  mixed <- function(count, i) {
    integrate(function(z) ppois(count, exp(mean[i] + sd[i] * z)) * dnorm(z), -9, 9,
              rel.tol = 1e-10)$value
  }
  # C's quadrature is good to 1e-8
  for (i in c(1, 8, 30)) {
    expect_equal(pit$upper[i], mixed(d$c[i], i), tolerance = 1e-6)
    expect_equal(pit$lower[i], if (d$c[i] > 0) mixed(d$c[i] - 1, i) else 0, tolerance = 1e-6)
  }
  shares <- calibration(sparsegp(s ~ x, d, "binomial", weights = trials, learn = FALSE))
  expect_true(all(shares$inside >= shares$observed - 1e-12))
})

test_that("observed coverage is that of the non-randomised transform", {
  d <- waves(60)
  for (fit in list(sparsegp(c ~ x, d, "poisson", learn = FALSE),
                   sparsegp(o ~ x, d, learn = FALSE))) {
    table <- calibration(fit, nominal = c(0.3, 0.9))
    pit <- attr(table, "pit")
    wanted <- c(reference_share(pit$lower, pit$upper, 0.35, 0.65),
                reference_share(pit$lower, pit$upper, 0.05, 0.95))
    expect_equal(table$observed, wanted, tolerance = 1e-10)
    expect_equal(table$se, sqrt(c(0.3 * 0.7, 0.9 * 0.1) / 60))
    expect_equal(table$lwr, qbinom(0.025, 60, c(0.3, 0.9)) / 60)
  }
})

test_that("ordered categories have transforms by their probabilities, widths in steps", {
  d <- waves(60)
  fit <- sparsegp(o ~ x, d, learn = FALSE)
  table <- calibration(fit, nominal = 0.5)
  out <- loo(fit)
  prob <- as.matrix(out[paste0("prob.", levels(d$o))])
  upto <- apply(prob, 1L, cumsum)
  own <- as.integer(d$o)
  expect_equal(attr(table, "pit")$upper, upto[cbind(own, seq_along(own))], tolerance = 1e-12)
  quantile <- function(p) colSums(upto < p) + 1
  expect_equal(table$width, mean(quantile(0.75) - quantile(0.25)))
  # bins of probabilities are there, too
  expect_s3_class(calibration(fit, type = "probabilities"), "sparsegp_calibration")
  expect_null(calibration(fit, type = "probabilities")$nominal)
})

test_that("the coverage of the true model is nominal, that of a wrong one is not", {
  slow_tier()
  set.seed(1)
  n <- 400
  x <- runif(n)
  f <- drop(crossprod(chol(exp(-outer(x, x, "-")^2 / 0.08) + diag(1e-8, n)), rnorm(n)))
  y <- f + 0.3 * rnorm(n)
  model <- function(noise) {
    sparsegp(x, y, lik_gaussian(noise), kernel_rbf(1, 0.2), learn = FALSE, scale = FALSE)
  }
  right <- calibration(model(0.09))
  # four standard errors; leave-one-out rows are nearly independent
  expect_lt(max(abs(right$observed - right$nominal) / right$se), 4)
  narrow <- calibration(model(0.01))
  expect_lt(narrow$observed[3L], narrow$lwr[3L])
  expect_lt(narrow$width[3L], right$width[3L])
  wide <- calibration(model(0.5))
  expect_gt(wide$observed[1L], wide$upr[1L])
})

test_that("components are measured each by itself, whichever are missing", {
  d <- waves(50)
  d$v[3:6] <- NA
  fit <- sparsegp(cbind(u, v) ~ x, d, learn = FALSE)
  table <- calibration(fit, nominal = 0.8)
  out <- loo(fit)
  z <- cbind(u = (out$observed.u - out$mean.u) / out$sd.u,
             v = (out$observed.v - out$mean.v) / out$sd.v)
  expect_identical(table$component, c("u", "v"))
  expect_equal(table$inside, unname(colMeans(abs(z) < qnorm(0.9), na.rm = TRUE)))
  expect_equal(table$width, 2 * qnorm(0.9) * c(mean(out$sd.u), mean(out$sd.v[-(3:6)])))
  expect_identical(as.vector(table(attr(table, "pit")$component)), c(50L, 46L))
  expect_output(print(table), "50 rows")
  new <- calibration(fit, d[7:20, ], nominal = 0.8)
  edges <- predict(fit, d[7:20, ], interval = "prediction", level = 0.8)
  inside <- d$u[7:20] > edges[, "lwr", "u"] & d$u[7:20] < edges[, "upr", "u"]
  expect_equal(new$inside[1L], mean(inside))
})

test_that("transformed responses and functions of mean and spread have intervals in their units", {
  d <- waves(60)
  for (fit in list(sparsegp(exp(u) ~ x, d, likelihood = lik_gaussian(transform = "log"),
                            learn = FALSE),
                   sparsegp(u ~ x, d, lik_heteroscedastic(), learn = FALSE))) {
    new <- calibration(fit, d[5:30, ], nominal = 0.9)
    edges <- predict(fit, d[5:30, ], interval = "prediction", level = 0.9)
    y <- eval(formula(fit)[[2L]], d[5:30, ])
    expect_equal(new$inside, mean(y > edges[, "lwr"] & y < edges[, "upr"]))
    expect_equal(new$width, mean(edges[, "upr"] - edges[, "lwr"]), tolerance = 1e-8)
  }
})

test_that("calibrations are printed and drawn", {
  slow_tier()
  d <- waves(60)
  counts <- calibration(sparsegp(c ~ x, d, "poisson", learn = FALSE))
  expect_identical(class(counts[1:2, ]), "data.frame")
  expect_output(print(counts), "inside: the intervals of predict")
  numbers <- calibration(sparsegp(u ~ x, d, learn = FALSE))
  expect_false(any(grepl("inside", capture.output(print(numbers)))))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (table in list(counts, numbers, calibration(sparsegp(cbind(u, v) ~ x, d, learn = FALSE)),
                     calibration(sparsegp(o ~ x, d, learn = FALSE), type = "probabilities"))) {
    expect_identical(plot(table, main = "a"), table)
  }
  refused(plot(counts, colour = 2), "...")
  refused(calibration(sparsegp(u ~ x, d, learn = FALSE), type = "probabilities"), "type")
  refused(calibration(sparsegp(c > 0 ~ x, d, "probit", learn = FALSE), type = "intervals"), "type")
  refused(calibration(sparsegp(u ~ x, d, learn = FALSE), type = "bins"), "type")
})
