# Predictions of a row are the same whatever other rows there are; those of no rows have the shape
# of those of some, with an extent of 0.

# Small data with responses of every kind.
responses_of_kinds <- function() {
  set.seed(1)
  d <- data.frame(x = seq(0.1, 3, length.out = 30L))
  d$y <- sin(2 * d$x) + 0.1 * rnorm(30L)
  transform(d, label = factor(y > 0), class = cut(y, 3L), count = rpois(30L, exp(y)),
            time = rexp(30L), event = rep(0:1, 15L), trials = 9)
}

no_rows_fit <- function(formula, likelihood = NULL, ...) {
  sparsegp(formula, responses_of_kinds(), likelihood = likelihood, learn = FALSE, ...)
}

# The same shape and names but for rows
expect_no_rows <- function(fit, ...) {
  ask <- function(rows) predict(fit, responses_of_kinds()[rows, ], ...)
  expect_no_warning(none <- ask(0L))
  some <- ask(1:2)
  expect_identical(NROW(none), 0L)
  expect_identical(dim(none)[-1L], dim(some)[-1L])
  expect_identical(dimnames(none)[-1L], dimnames(some)[-1L])
}

test_that("slopes of no rows are empty, with numbers, labels, classes and counts", {
  slow_tier()
  skip_if_not_installed("survival")
  fits <- list(no_rows_fit(y ~ x), no_rows_fit(label ~ x), no_rows_fit(class ~ x),
               no_rows_fit(class ~ x, lik_softmax(coupled = TRUE)),
               no_rows_fit(count ~ x, "poisson"), no_rows_fit(survival::Surv(time, event) ~ x))
  for (fit in fits) {
    none <- slopes(fit, responses_of_kinds()[0L, ])
    expect_identical(nrow(none), 0L)
    expect_identical(names(none), names(slopes(fit, responses_of_kinds()[1:2, ])))
  }
})

test_that("probabilities of survival of no rows have a column for each time", {
  memory_tier()
  skip_if_not_installed("survival")
  fit <- no_rows_fit(survival::Surv(time, event) ~ x)
  expect_no_rows(fit, "survival", at = c(0.5, 1))
  expect_no_rows(fit, "survival", at = c(0.5, 1), interval = "confidence")
  expect_no_rows(fit, "rmst", at = 1)
})

test_that("no rows of two latent functions, or with constants, are answers", {
  slow_tier()
  spread <- function(y, f, theta, ...) dnorm(y, f$f1, exp(f$f2), log = TRUE)
  of_trials <- function(y, f, theta, data) dbinom(y, data$trials, plogis(f), log = TRUE)
  fits <- list(no_rows_fit(y ~ x, lik_heteroscedastic()),
               no_rows_fit(y ~ x, lik_custom(spread, width = 2)),
               no_rows_fit(y ~ x, lik_custom(spread, width = 2, data = ~ trials)),
               no_rows_fit(event ~ x, lik_custom(of_trials, response = "count", data = ~ trials)))
  for (fit in fits) {
    expect_no_rows(fit)
    expect_no_rows(fit, interval = "prediction")
    expect_no_rows(fit, "latent", interval = "confidence")
  }
})

test_that("what has no variance between rows, or is a difference, is empty without rows, too", {
  memory_tier()
  d <- responses_of_kinds()
  none <- d[0L, ]
  fit <- no_rows_fit(y ~ log(x))
  expect_identical(nrow(slopes(fit, none)), 0L)
  expect_true(all(is.na(slope_arrays(fit, transform(d[1:2, ], x = NA_real_)))))
  pair <- no_rows_fit(cbind(y, time) ~ x)
  expect_identical(dim(simulate(pair, newdata = none)$sim_1), c(0L, 2L))
  own_counts <- lik_custom(function(y, f, theta) dpois(y, exp(f), log = TRUE), response = "count")
  fit <- no_rows_fit(count ~ x, own_counts)
  for (type in c("response", "median")) expect_no_rows(fit, type)
  expect_identical(nrow(slopes(fit, none)), 0L)
  own_ranks <- lik_custom(function(y, f, theta) {
    log(pmax(pnorm(c(-0.5, 0.5, Inf)[y] - f) - pnorm(c(-Inf, -0.5, 0.5)[y] - f), 1e-300))
  }, response = "ordered")
  fit <- sparsegp(factor(class, ordered = TRUE) ~ x, d, own_ranks, learn = FALSE)
  expect_no_rows(fit, "quantile")
  expect_no_rows(fit, interval = "prediction")
})

# Of rows asked for together and one by one. The tolerance is for roots, which are found to 1e-9 of
# a probability.
expect_same_alone <- function(fit, newdata, ...) {
  several <- function(p) if (length(dim(p)) > 1L) matrix(p, dim(p)[1L]) else matrix(p)
  together <- several(predict(fit, newdata, ...))
  alone <- lapply(split(newdata, seq_len(nrow(newdata))), function(row) {
    several(predict(fit, row, ...))
  })
  expect_equal(together, do.call(rbind, alone), tolerance = 1e-7)
}

expect_slopes_alone <- function(fit, newdata) {
  together <- slopes(fit, newdata)
  alone <- lapply(split(newdata, seq_len(nrow(newdata))), function(row) slopes(fit, row))
  alone <- do.call(rbind, alone)
  own <- function(table) {
    by <- if (is.null(table$output)) 1L else table$output
    table[order(table$row, rep_len(by, nrow(table))), c("estimate", "conf.low")]
  }
  expect_equal(own(together), own(alone), tolerance = 1e-7, ignore_attr = TRUE)
}

test_that("slopes and medians of a row do not depend on the other rows", {
  slow_tier()
  new <- data.frame(x = c(0.2, 1.1, 2.3, 2.9, 9))
  for (likelihood in list("probit", "flip", "nullcat", "margin")) {
    expect_slopes_alone(no_rows_fit(label ~ x, likelihood), new)
  }
  expect_slopes_alone(no_rows_fit(count ~ x, "poisson"), new)
  for (likelihood in list(NULL, lik_softmax(coupled = TRUE), "mprobit")) {
    fit <- no_rows_fit(class ~ x, likelihood)
    expect_slopes_alone(fit, new)
    expect_same_alone(fit, new, "median")
  }
})

test_that("slopes behind a sharp link are 0 with a mean that is not", {
  slow_tier()
  fit <- no_rows_fit(label ~ x, lik_margin(width = fixed(50)), kernel = kernel_rbf(100, 0.5))
  found <- slope_arrays(fit, data.frame(x = c(0.5, 1, 2)), interval = "confidence")
  expect_true(all(found[, "lwr"] <= found[, "upr"]))
  # E[g'(f) f'] is the derivative of the mean, whatever nodes its interval is made of
  h <- 1e-5
  change <- (predict(fit, data.frame(x = c(0.5, 1, 2) + h)) -
               predict(fit, data.frame(x = c(0.5, 1, 2) - h))) / (2 * h)
  expect_equal(found[, "fit"], change, tolerance = 1e-5)
})

test_that("counts that are all 0 have a start, and pictures without finite values say so", {
  d <- transform(responses_of_kinds()[1:20, ], count = 0L)
  for (likelihood in c("zip", "zinb")) {
    expect_warning(fit <- sparsegp(count ~ x, d, likelihood, kernel_rbf(), learn = FALSE),
                   "nothing but zeros")
    expect_true(all(is.finite(coef(fit))))
  }
  expect_error(around(c(Inf, NA)), "no finite values", class = "sparsegp_error")
  expect_identical(around(c(1, Inf, 3)), around(c(1, 3)))
})
