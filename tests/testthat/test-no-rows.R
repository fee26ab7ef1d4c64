# Predictions of no rows: what predictions of some rows are, with an extent of 0.

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
  skip_if_not_installed("survival")
  fits <- list(no_rows_fit(y ~ x), no_rows_fit(label ~ x), no_rows_fit(class ~ x),
               no_rows_fit(class ~ x, lik_softmax(coupled = TRUE)),
               no_rows_fit(count ~ x, "poisson"), no_rows_fit(survival::Surv(time, event) ~ x))
  for (fit in fits) {
    for (interval in c("none", "confidence")) expect_no_rows(fit, "slope", interval = interval)
  }
})

test_that("probabilities of survival of no rows have a column for each time", {
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
