# Counts and trials of up to 1e12: digits of log p, and fits that end.

log_p <- function(type, rows, theta, f) {
  vapply(f, function(at) {
    .Call(sg_lik_tilt, c_lik(type, theta, 1L, length(rows)), theta, cbind(rows), at, 0, FALSE)$logz
  }, 0)
}

test_that("log p of large counts has the digits of R's densities", {
  for (y in c(1e6, 1e9, 1e12)) {
    # R's are by Loader's saddle point form; at z standard errors from the mode, log p is known
    # to the rounding of f, 1e-16 times 30, times its slope
    z <- c(-3, 0, 2)
    f <- z / sqrt(y)
    near <- 1e-14 * sqrt(y) * 10 + 1e-11
    expect_lt(max(abs(log_p("poisson", c(count_rows(y)), log(y), f) -
                        dpois(y, exp(log(y) + f), log = TRUE))), near)
    size <- 5
    expect_lt(max(abs(log_p("negbin", c(count_rows(y)), c(log(y), log(size)), c(-0.3, 0, 0.4)) -
                        dnbinom(y, size, mu = y * exp(c(-0.3, 0, 0.4)), log = TRUE))), 1e-9)
    rows <- c(0.3 * y, y, 0)
    expect_lt(max(abs(log_p("binomial", rows, qlogis(0.3), f) -
                        dbinom(0.3 * y, y, plogis(qlogis(0.3) + f), log = TRUE))), near)
  }
})

test_that("fits of large counts converge, whatever their size", {
  slow_tier()
  set.seed(1)
  x <- seq(0, 1, length.out = 40)
  f <- sin(6 * x) / 2
  for (big in c(1e6, 1e9, 1e12)) {
    fitted_to <- function(y, likelihood) { # by default where counts are largest
      sparsegp(x, y, likelihood = likelihood, structure = if (big < 1e12) "fixed")
    }
    counts <- round(big * exp(f) + sqrt(big * exp(f)) * rnorm(40))
    fit <- fitted_to(counts, "poisson")
    expect_true(fit$convergence$converged)
    expect_lt(max(abs(log(fitted(fit) / big) - f)), 4 / sqrt(big) + 1e-6)
    trials <- cbind(round(big * plogis(f)), big - round(big * plogis(f)))
    fit <- fitted_to(trials, "binomial")
    expect_true(fit$convergence$converged)
    expect_lt(max(abs(qlogis(fitted(fit)) - f)), 4 / sqrt(big) + 1e-6)
    fit <- fitted_to(round(counts * exp(0.3 * rnorm(40))), "negbin")
    expect_true(fit$convergence$converged)
  }
})
