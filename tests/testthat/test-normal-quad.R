# log Phi, the hazard and the adaptive quadrature, seen through the likelihoods that use them.

tilt <- function(type, theta, y, mu, s2, quadrature = FALSE) {
  rows <- if (is.matrix(y)) y else rbind(rep_len(y, length(mu)))
  .Call(sg_lik_tilt, c_lik(type, theta), theta, rows, as.double(mu),
        rep_len(as.double(s2), length(mu)), quadrature)
}

# At s2 = 0 and without a bias the probit tilt is log Phi, its slope h and minus its curvature.
log_Phi <- function(z) {
  found <- tilt("probit", 0, 1, z, 0)
  list(value = found$logz, h = found$d1, curv = -found$d2)
}

test_that("log Phi and the hazard are right to the last digits in both tails", {
  # 17 digits, from 60-digit arithmetic (mpmath)
  exact <- rbind(
    c(-1e8, -5000000000000019.3, 100000000.00000001, 0.9999999999999999),
    c(-1000, -500007.82669481218, 1000.000999998, 0.99999900000599995),
    c(-50, -1254.8313611394199, 50.01998403190564, 0.9996009568131961),
    c(-38, -726.55721601882013, 38.026279466575869, 0.99931034024653374),
    c(-5.0001, -15.065517049221958, 5.1866006975365084, 0.96730464793389973),
    c(-5, -15.064998393988726, 5.1865039671258421, 0.96730356538288777),
    c(-4.9999, -15.064479748428529, 5.1864072368234335, 0.96730248278099745),
    c(-1, -1.8410216450092635, 1.5251352761609812, 0.80090233442965121),
    c(0, -0.69314718055994531, 0.79788456080286536, 0.63661977236758134),
    c(5, -2.8665161296376359e-7, 1.4867199409049057e-6, 7.4336019148607112e-6)
  )
  found <- log_Phi(exact[, 1L])
  expect_lt(max(abs(found$value / exact[, 2L] - 1)), 1e-14)
  expect_lt(max(abs(found$h / exact[, 3L] - 1)), 1e-14)
  # h + z cancels down from 5 to 0.2 on the direct side of z = -5
  expect_lt(max(abs(found$curv / exact[, 4L] - 1)), 1e-12)
  # exp(-800) is nothing
  expect_identical(unlist(log_Phi(40)), c(value = 0, h = 0, curv = 0))
})

test_that("the asymptotic series holds far out", {
  z <- -c(20, 100, 1e4, 1e6, 1e9, 1e150)
  found <- log_Phi(z)
  # h = x + 1/x - 2/x^3 + 10/x^5 - ..., curv = 1 - 1/x^2 + 6/x^4 - 50/x^6 + ..., x = -z;
  # at x = 20 the next terms are 74/x^7 and 518/x^8
  expect_lt(max(abs(found$h / (-z - 1 / z + 2 / z^3 - 10 / z^5) - 1)), 1e-8)
  expect_lt(max(abs(found$curv - (1 - z^-2 + 6 * z^-4 - 50 * z^-6))), 3e-8)
  far <- z <= -100
  expect_lt(max(abs(found$h / (-z - 1 / z + 2 / z^3) - 1)[far]), 1e-11)
})

test_that("the curvature is continuous where its computation changes, and within (0, 1)", {
  sides <- log_Phi(c(-5 - 1e-14, -5, -5 + 1e-14))
  expect_lt(diff(range(sides$curv)), 1e-12)
  expect_lt(diff(range(sides$h)), 1e-12)
  z <- seq(-60, 37, by = 0.01)
  curv <- log_Phi(z)$curv
  expect_true(all(curv > 0 & curv < 1))
  expect_true(all(diff(curv) < 0))
})

test_that("the slope of log Phi is its derivative in both tails", {
  for (z in c(-200, -37, -5.001, -4.999, -0.3, 2, 8)) {
    by_differences <- numeric_gradient(function(z) log_Phi(z)$value, z)
    expect_equal(log_Phi(z)$h, by_differences, tolerance = 1e-9)
  }
})

test_that("a logistic at its middle integrates to one half under any Gaussian", {
  s2 <- 10^seq(-16, 12, by = 2)
  for (bias in c(-3, 0, 7.5)) {
    found <- tilt("logit", bias, 1, rep(-bias, length(s2)), s2)
    expect_lt(max(abs(found$logz + log(2))), 1e-12)
    # d1 of log Z is between 0 and the logistic's 1/2; wide: the probit-like limit 2 / sqrt(2 pi s2)
    expect_true(all(found$d1 > 0 & found$d1 <= 0.5 + 1e-9))
    expect_equal(found$d1[s2 >= 1e8], 2 / sqrt(2 * pi * s2[s2 >= 1e8]), tolerance = 1e-7)
  }
})

test_that("quadrature finds a narrow likelihood far from a wide marginal, and the reverse", {
  # a Gaussian likelihood has a closed form to compare with; y: response, weight
  at <- expand.grid(y = c(-30, 0, 3), mu = c(0, 25), s2 = 10^c(-8, -2, 0, 3, 8),
                    noise = 10^c(-8, 0, 6))
  far <- (at$y - at$mu)^2 / (at$s2 + at$noise) > 1e8 # log Z itself is then lost in rounding
  at <- at[!far, ]
  for (noise in unique(at$noise)) {
    some <- at[at$noise == noise, ]
    y <- rbind(some$y, 1)
    closed <- tilt("gaussian", log(noise), y, some$mu, some$s2)
    found <- tilt("gaussian", log(noise), y, some$mu, some$s2, TRUE)
    expect_lt(max(abs(found$logz - closed$logz) / pmax(1, abs(closed$logz))), 1e-9)
    # moments of an integrand known to 1e-16 |log Z|
    slack <- 1e-9 * pmax(1, 1e-3 * abs(closed$logz))
    expect_true(all(abs(found$d1 - closed$d1) <= slack * pmax(1 / sqrt(some$s2), abs(closed$d1))))
    expect_true(all(abs(found$d2 - closed$d2) <= slack / some$s2))
  }
})

test_that("the peak is found when it is far from both the marginal and the likelihood", {
  # mu = 0, y = 1e4, both of width 1: the integrand sits at 5000
  closed <- tilt("gaussian", 0, rbind(1e4, 1), 0, 1)
  found <- tilt("gaussian", 0, rbind(1e4, 1), 0, 1, TRUE)
  expect_equal(found, closed, tolerance = 1e-8)
  # a probit hundreds of deviations out, on the wrong side
  mu <- c(-597, -304, 260, 1000)
  s2 <- c(1.2, 0.03, 1.5, 4)
  y <- c(1, 1, -1, -1)
  closed <- tilt("probit", 0.4, rbind(y), mu, s2)
  found <- tilt("probit", 0.4, rbind(y), mu, s2, TRUE)
  expect_equal(found, closed, tolerance = 1e-8)
})

test_that("quadrature ends, and soon, where rounding hides what it looks for", {
  slow_tier()
  # Each of these once took for ever: an expectation near 0 made of differences of larger numbers,
  # or log p so large that its rounding shows in the integrand.
  mu <- c(-23.7, 7.3, -30.6, 11.2, 30.7, -63.3, -156)
  s2 <- c(0.0686, 1.29e-4, 0.0141, 0.0157, 8e-10, 0.0372, 0.3)
  y <- c(1, -1, 1, -1, -1, 1, 1)
  bias <- c(4.5, 3.75, -2.86, 2.26, 2.6, -0.97, 7.19)
  time <- system.time(for (i in seq_along(mu)) {
    found <- tilt("logit", bias[i], y[i], mu[i], s2[i])
    # far out on the wrong side log p is a line of slope y
    expect_equal(found$d1, y[i], tolerance = 1e-3)
    expect_lt(abs(found$d2), 1e-3)
  })
  found <- tilt("gaussian", -7, rbind(c(290, -60, 29), c(0.13, 0.12, 29)), c(-94, -0.7, 3.6),
                c(2.6e-9, 1.7e-9, 1.9e-10), TRUE)
  expect_true(all(is.finite(unlist(found))))
  found <- tilt("probit", 0, 1, c(37.84, -553, 305), c(0.0139, 3.3e-6, 1.5), TRUE)
  expect_true(all(is.finite(unlist(found))))
  expect_lt(time[["elapsed"]], 2) # microseconds each, or else hours
})
