# log p of large counts, of many trials and of precise proportions: terms of size y log y, whose
# digits end above 1, must not be what log p is the difference of.

# log p of rows at latent values, one for each row
logp_at <- function(lik, theta, rows, f) {
  .Call(sg_lik_eval, c_lik(lik, theta), theta, rows, f)$logp
}

# Latent values at distances, in standard deviations, from the mode.
around <- function(mode, sd) mode + c(-4, -1, 0, 0.5, 3) * sd

# The rounding of f itself moves log p by its slope, of a few 1 / sd, times 1e-15 |f|.
expect_logp <- function(actual, expected, f, sd, label) {
  expect_lt(max(abs(actual - expected) / (1e-9 + 40 * 1e-15 * (1 + abs(f)) / sd)), 1, label)
}

COUNTS <- c(999, 1000, 1e6, 1e9, 1e12, 1e15)

test_that("Poisson counts up to 1e15 have R's own log probabilities", {
  for (y in COUNTS) {
    f <- around(log(y), 1 / sqrt(y))
    rows <- count_rows(rep(y, 5L))
    expect_logp(logp_at("poisson", 0, rows, f), dpois(y, exp(f), log = TRUE), f, 1 / sqrt(y), y)
  }
  # at the mode, to 60 digits: y log y - y - log y!
  expect_equal(logp_at("poisson", 0, count_rows(1e15), log(1e15)), -18.18832673060016,
               tolerance = 1e-9)
})

test_that("negative binomial counts up to 1e15 have R's own log probabilities, at every size", {
  for (y in COUNTS) {
    for (size in c(1e-3, 0.5, 7, 1e4, 1e10, 1e30)) {
      sd <- sqrt(1 / y + 1 / size)
      f <- around(log(y), pmin(sd, 0.2))
      rows <- count_rows(rep(y, 5L))
      theta <- c(0, log(size))
      expected <- if (size < 1e16) dnbinom(y, size, mu = exp(f), log = TRUE)
                  else dpois(y, exp(f), log = TRUE)
      expect_logp(logp_at("negbin", theta, rows, f), expected, f, min(sd, 1),
                  paste(y, size))
    }
  }
})

test_that("likelihoods with excess zeros or a hurdle have those of their counts", {
  y <- 1e12
  rows <- count_rows(y)
  f <- log(y) + 1e-6
  part <- logp_at("poisson", 0, rows, f)
  expect_equal(logp_at("zip", c(0, -1), rows, f), part + plogis(1, log.p = TRUE), tolerance = 1e-12)
  expect_equal(logp_at("hurdle_poisson", c(0, -1), rows, f), part + plogis(1, log.p = TRUE),
               tolerance = 1e-12)
  part <- logp_at("negbin", c(0, 1), rows, f)
  expect_equal(logp_at("zinb", c(0, 1, -1), rows, f), part + plogis(1, log.p = TRUE),
               tolerance = 1e-12)
  expect_equal(logp_at("hurdle_negbin", c(0, 1, -1), rows, f), part + plogis(1, log.p = TRUE),
               tolerance = 1e-12)
})

test_that("successes of up to 1e15 trials have R's own log probabilities", {
  for (n in COUNTS) {
    for (y in round(n * c(0.5, 0.1, 1e-3))) {
      sd <- sqrt(n / y / (n - y))
      f <- around(log(y / (n - y)), sd)
      rows <- lik_traits(lik_binomial())$data_rows(rep(y / n, 5L), rep(n, 5L))
      expect_logp(logp_at("binomial", 0, rows, f), dbinom(y, n, plogis(f), log = TRUE), f, sd,
                  paste(y, n))
    }
  }
  none <- lik_traits(lik_binomial())$data_rows(c(0, 1), c(1e15, 1e15))
  expect_equal(logp_at("binomial", 0, none, log(c(1e-15, 1e15))), c(-1, -1), tolerance = 1e-12)
})

test_that("proportions of a precision up to 1e15 have R's own log densities", {
  for (precision in 10^c(2, 6, 9, 12, 15)) {
    for (m in c(0.5, 0.07)) {
      sd <- 1 / sqrt(precision * m * (1 - m))
      f <- around(qlogis(m), sd)
      rows <- lik_traits(lik_beta())$data_rows(rep(m, 5L), rep(1, 5L))
      expected <- dbeta(m, precision * plogis(f), precision * plogis(-f), log = TRUE)
      expect_logp(logp_at("beta", c(0, log(precision)), rows, f), expected, f, sd,
                  paste(precision, m))
    }
  }
})
