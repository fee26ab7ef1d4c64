# src/expect.c against its plain twins: distribution functions and quantiles of new responses.

# Cases of each type: values, and moments that are narrow, wide and far off; weights are trials.
expect_cases <- function() list(
  list(lik = lik_gaussian(), theta = -1, weights = c(0.1, 1, 30)),
  list(lik = lik_laplace(), theta = log(0.4), weights = 1),
  list(lik = lik_student(), theta = c(log(0.3), log(2)), weights = 1),
  list(lik = lik_student(), theta = c(log(0.1), log(0.1)), weights = 1),
  list(lik = lik_student(), theta = c(log(2), log(1e6)), weights = 1),
  list(lik = lik_poisson(), theta = 0.3, weights = 1),
  list(lik = lik_negbin(), theta = c(0.3, log(4)), weights = 1),
  list(lik = lik_negbin(), theta = c(-0.2, log(0.3)), weights = 1),
  list(lik = lik_binomial(), theta = 0.2, weights = c(1, 7, 400)),
  list(lik = lik_zip(), theta = c(0.3, -1), weights = 1),
  list(lik = lik_zinb(), theta = c(0.3, log(4), -1), weights = 1),
  list(lik = lik_zip(hurdle = TRUE), theta = c(0.3, -1), weights = 1),
  list(lik = lik_zinb(hurdle = TRUE), theta = c(0.3, log(0.5), 0.5), weights = 1),
  list(lik = lik_gamma(), theta = c(0.3, log(4)), weights = 1),
  list(lik = lik_gamma(), theta = c(0.3, log(0.4)), weights = 1),
  list(lik = lik_beta(), theta = c(0.3, log(8)), weights = 1),
  list(lik = lik_beta(), theta = c(0.3, log(0.7)), weights = 1),
  list(lik = lik_weibull(), theta = log(0.5), weights = 1),
  list(lik = lik_loglogistic(), theta = log(0.3), weights = 1),
  list(lik = lik_lognormal(), theta = log(0.8), weights = 1),
  list(lik = lik_density(), theta = numeric(), weights = 1)
)

WHOLE <- c("poisson", "negbin", "binomial", "zip", "zinb", "hurdle_poisson", "hurdle_negbin")

expect_moments <- function() {
  at <- expand.grid(mean = c(-2, 0.2, 2), sd = c(1e-9, 0.05, 0.4, 1.5))
  list(mean = at$mean, var = at$sd^2)
}

reference_at <- function(case, y, at, lower, weights) {
  v <- as.list(natural_values(case$lik, case$theta))
  width <- if (case$lik$type == "student") v$scale else 0.1 / sqrt(1 + pmax(y, 0) / 10)
  mapply(function(y, mean, var, weight, width) {
    reference_cdf(case$lik$type, y, mean, var, v, weight, lower, width)
  }, y, at$mean, at$var, weights, width)
}

test_that("distribution functions of responses are those of dense sums", {
  slow_tier()
  at <- expect_moments()
  for (case in expect_cases()) {
    type <- case$lik$type
    if (type == "density") next # its data rows have no response
    weights <- rep_len(case$weights, length(at$mean))
    whole <- type %in% WHOLE
    for (y in of_tier(c(-2, 0, 1, 6), 2L)) {
      y <- rep_len(y, length(at$mean))
      if (type == "gamma") y <- exp(y / 2)
      if (type == "beta") y <- stats::plogis(y)
      if (whole) y <- pmin(round(abs(y)), if (type == "binomial") weights else Inf)
      rows <- if (type == "binomial") y / weights else y
      found <- response_tails_at(case$lik, case$theta, rows, at$mean, at$var, weights)
      label <- paste(type, toString(case$theta), "at", y[1L])
      expect_equal(found$above, reference_at(case, y, at, FALSE, weights), tolerance = 1e-9,
                   label = label)
      expect_equal(found$below, reference_at(case, y - whole, at, TRUE, weights),
                   tolerance = 1e-9, label = label)
    }
  }
})

test_that("quantiles are where distribution functions reach their probability", {
  slow_tier()
  at <- expect_moments()
  for (case in expect_cases()) {
    v <- as.list(natural_values(case$lik, case$theta))
    type <- case$lik$type
    weights <- rep_len(case$weights, length(at$mean))
    for (p in of_tier(c(1e-6, 0.5, 0.025, 0.9, 1 - 1e-6), 2L)) {
      found <- response_quantile_at(case$lik, case$theta, p, at$mean, at$var, weights)
      label <- paste(type, toString(case$theta), "at", p)
      if (type %in% WHOLE) {
        found <- if (type == "binomial") round(found * weights, 9) else found
        expect_identical(found, round(found), label = label)
        expect_true(all(reference_at(case, found, at, TRUE, weights) >= p * (1 - 1e-10)), label)
        expect_true(all(reference_at(case, found - 1, at, TRUE, weights) < p * (1 + 1e-10)), label)
      } else {
        # of probabilities of 1e-6 on either side, too
        lower <- reference_at(case, found, at, TRUE, weights)
        upper <- reference_at(case, found, at, FALSE, weights)
        # a proportion's tail may be anything between two doubles next to 1, or next to 0
        clear <- type != "beta" | found < 1 - 1e-8 & found > 1e-300
        expect_equal(log(lower / upper)[clear], rep(qlogis(p), sum(clear)), tolerance = 1e-7,
                     label = label)
      }
    }
  }
})

test_that("quantiles of numbers are those of bisection", {
  memory_tier()
  v <- list(scale = 0.3, df = 4)
  for (case in list(c(0.2, 0.01), c(-3, 1), c(2, 30))) {
    for (p in c(1e-6, 0.3, 0.99)) {
      wanted <- reference_root(function(y) reference_cdf("student", y, case[1L], case[2L], v) - p,
                               case[1L] - 1, case[1L] + 1)
      found <- response_quantile_at(lik_student(), c(log(0.3), log(2)), p, case[1L], case[2L])
      expect_equal(found, wanted, tolerance = 1e-8)
    }
  }
  expect_equal(response_quantile_at(lik_gaussian(), log(0.5), 0.9, 1:3 + 0, c(0, 1, 9), c(1, 2, 3)),
               qnorm(0.9, 1:3, sqrt(c(0, 1, 9) + 0.5 / 1:3)), tolerance = 1e-11)
  expect_equal(response_quantile_at(lik_laplace(), log(2), c(0.05), c(0, 5), c(0, 0)),
               c(0, 5) + 2 * log(2 * 0.05), tolerance = 1e-8)
})

test_that("large counts, and those of hardly any rate, have exact quantiles", {
  at <- data.frame(mean = c(13.8, 13.8, 13.8, 9, -14, -14), sd = c(0, 1e-4, 0.05, 0.5, 0.1, 3))
  for (i in seq_len(nrow(at))) {
    mean <- at$mean[i]
    sd <- at$sd[i]
    for (p in c(1e-6, 0.3, 0.999)) {
      y <- response_quantile_at(lik_poisson(), 0, p, mean, sd^2)
      cdf <- function(y) {
        reference_cdf("poisson", y, mean, sd^2, list(bias = 0), width = 0.5 / sqrt(1 + y))
      }
      expect_gte(cdf(y), p * (1 - 1e-9))
      if (y > 0) expect_lt(cdf(y - 1), p * (1 + 1e-9))
    }
  }
  expect_identical(response_quantile_at(lik_poisson(), 0, 0.4, log(1e6), 0), qpois(0.4, 1e6))
  expect_identical(response_quantile_at(lik_negbin(), c(0, log(3)), 0.4, log(1e6), 0),
                   qnbinom(0.4, 3, mu = 1e6))
  expect_equal(1e6 * response_quantile_at(lik_binomial(), 0, 0.4, -2, 0, 1e6),
               qbinom(0.4, 1e6, plogis(-2)), tolerance = 1e-12)
  # with too few digits in log p; and as far as counts go
  vast <- response_quantile_at(lik_poisson(), 0, 0.9, c(20, 30, 299), c(1, 4, 0.01))
  expect_equal(log(vast), c(20 + qnorm(0.9), 30 + 2 * qnorm(0.9), log(1e15)), tolerance = 1e-8)
})

test_that("quantiles of a spread are those of sums over it", {
  memory_tier()
  set.seed(2)
  v <- list(noise = exp(-2))
  for (i in 1:12) {
    mean <- cbind(rnorm(1), rnorm(1, 0, 0.7))
    S <- crossprod(matrix(rnorm(4), 2) * c(0.05, 0.4, 1)[i %% 3 + 1])
    for (p in c(1e-4, 0.3, 0.975)) {
      found <- response_quantile_at(lik_heteroscedastic(), -2, p, mean, S)
      expect_equal(reference_spread_cdf(found, mean, S, v), p, tolerance = 1e-8)
      tails <- response_tails_at(lik_heteroscedastic(), -2, found, mean, S)
      expect_equal(tails$above, reference_spread_cdf(found, mean, S, v, FALSE), tolerance = 1e-8)
    }
  }
  known <- response_quantile_at(lik_heteroscedastic(), log(0.5), 0.2, cbind(1, 2), numeric(4))
  expect_equal(known, qnorm(0.2, 1, sqrt(0.5) * exp(2)), tolerance = 1e-11)
})

test_that("extreme values have finite quantiles, in order", {
  memory_tier()
  for (case in expect_cases()) {
    far <- expand.grid(mean = c(-1e6, -40, 0, 40, 1e6), sd = c(0, 1e-150, 1e-6, 10, 1e4))
    far <- far[case$lik$type != "density" | far$sd + abs(far$mean) > 0, ]
    at <- function(p) response_quantile_at(case$lik, case$theta, p, far$mean, far$sd^2)
    low <- at(0.01)
    expect_true(all(is.finite(low) & low <= at(0.99)), label = case$lik$type)
  }
})

test_that("quantiles of a row that are found together are those found alone", {
  at <- expect_moments()
  rows <- seq_along(at$mean)
  p <- c(1e-8, 0.025, 0.3, 0.31, 0.5, 0.975, 1 - 1e-6)
  each <- rep(rows, each = length(p))
  for (case in expect_cases()) {
    quantiles <- function(p, rows) {
      response_quantile_at(case$lik, case$theta, p, at$mean[rows], at$var[rows],
                           rep_len(case$weights, length(at$mean))[rows])
    }
    alone <- vapply(p, quantiles, numeric(length(rows)), rows)
    # Distribution functions are good to about 1e-11, and flat where a quantile is far off
    expect_equal(quantiles(rep(p, length(rows)), each), c(t(alone)), tolerance = 1e-8,
                 label = paste(case$lik$type, toString(case$theta)))
  }
})
