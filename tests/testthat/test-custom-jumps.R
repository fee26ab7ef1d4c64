# Likelihoods in R whose density is 0 beyond a bound, against closed forms.

# Tilts as C has them, a column for each row: log Z, d1, d2, and slopes in the hyperparameters.
tilts_of <- function(own, theta, y, mean, var, power = 1) {
  found <- .Call(sg_lik_tilt, lik_for_c(own, 1L, power = power), theta, rbind(y, 1), mean, var,
                 FALSE)
  rbind(c(found$logz), c(found$d1), c(found$d2), found$dpar, deparse.level = 0L)
}

tilt_of <- function(density, y, mean, sd) {
  drop(tilts_of(lik_custom(density, check = FALSE), numeric(), y, mean, sd^2))
}

# log Z and derivatives of N(f; mean, sd) cut to the intervals from..to, of the density `level`.
cut_normal <- function(from, to, level, mean, sd) {
  a <- (from - mean) / sd
  b <- (to - mean) / sd
  swap <- a > 0 # the lower tail has the digits
  mass <- ifelse(swap, pnorm(-a) - pnorm(-b), pnorm(b) - pnorm(a))
  Z <- sum(mass)
  e1 <- sum(dnorm(a) - dnorm(b)) / Z
  e2 <- 1 + sum(ifelse(is.finite(a), a * dnorm(a), 0) - ifelse(is.finite(b), b * dnorm(b), 0)) / Z
  c(log(level * Z), e1 / sd, (e2 - e1^2 - 1) / sd^2)
}

# In units of the marginal: log Z, mean and variance.
expect_tilt <- function(found, exact, sd) {
  expect_lt(max(abs(found - exact) * c(1, sd, sd^2)), 1e-6)
}

test_that("tilts of one-sided, uniform and split noise are those of closed forms", {
  memory_tier()
  for (sd in c(0.05, 1, 4)) for (mean in c(0.1, 0.7, 1.3)) {
    for (rate in c(0.5, 2, 50)) {
      one_sided <- function(y, f, theta) ifelse(y >= f, log(rate) - rate * (y - f), -Inf)
      # the exponential moves the normal density by rate sd^2
      away <- (0.7 - mean) / sd - rate * sd
      h <- exp(dnorm(away, log = TRUE) - pnorm(away, log.p = TRUE))
      exact <- c(log(rate) - rate * (0.7 - mean) + rate^2 * sd^2 / 2 + pnorm(away, log.p = TRUE),
                 rate - h / sd, -h * (away + h) / sd^2)
      if (away > -30) expect_tilt(tilt_of(one_sided, 0.7, mean, sd), exact, sd)
    }
    for (width in c(0.001, 0.3, 2)) {
      uniform <- function(y, f, theta) ifelse(abs(y - f) <= width, -log(2 * width), -Inf)
      exact <- cut_normal(0.7 - width, 0.7 + width, 1 / (2 * width), mean, sd)
      if (width > 0.001) expect_tilt(tilt_of(uniform, 0.7, mean, sd), exact, sd)
      else expect_equal(tilt_of(uniform, 0.7, mean, sd)[1L], dnorm(0.7, mean, sd, log = TRUE),
                        tolerance = 1e-3) # the density hardly changes within the width
    }
    split <- function(y, f, theta) {
      ifelse(abs(abs(y - f) - 1) <= 0.2, log(1 / 0.8), -Inf)
    }
    exact <- cut_normal(0.7 + c(-1.2, 0.8), 0.7 + c(-0.8, 1.2), 1 / 0.8, mean, sd)
    expect_tilt(tilt_of(split, 0.7, mean, sd), exact, sd)
    positive <- function(y, f, theta) ifelse(f > 0, 0, -Inf)
    expect_tilt(tilt_of(positive, 0.7, mean, sd), cut_normal(0, Inf, 1, mean, sd), sd)
  }
})

# Panels agree to 1e-9. Equidistant nodes alone would be good to 1e-5 here.
test_that("tilts of noise with a corner are those of the closed form in C", {
  grid <- expand.grid(y = c(-3, 0.1, 4), mean = c(-3, -1, 0.1, 0.5), var = c(1e-4, 0.04, 1, 25))
  own <- lik_custom(function(y, f, theta) -abs(y - f) / 0.2 - log(0.4), check = FALSE)
  twin <- .Call(sg_lik_tilt, lik_for_c(list(type = "laplace"), 1L), log(0.2), rbind(grid$y),
                grid$mean, grid$var, FALSE)
  found <- tilts_of(own, numeric(), grid$y, grid$mean, grid$var)
  expect_lt(max(abs(found[1L, ] - twin$logz)), 1e-8)
  expect_lt(max(abs(found[2L, ] - twin$d1) * sqrt(grid$var)), 1e-8)
  expect_lt(max(abs(found[3L, ] - twin$d2) * grid$var), 1e-8)
})

test_that("slopes count a bound that moves with a hyperparameter", {
  shifted <- lik_custom(function(y, f, theta) {
    away <- y - f - theta[["bias"]]
    ifelse(away >= 0, log(theta[["rate"]]) - theta[["rate"]] * away, -Inf)
  }, theta = c(rate = 2, bias = 0), check = FALSE)
  at <- function(theta) tilts_of(shifted, theta, c(0.7, 0.2), c(0.1, 0.5), c(1, 0.3))
  theta <- c(log(2), 0)
  found <- at(theta)
  # a bias moves log Z as the mean does; differences of a step of 1e-4 are good to its square
  expect_equal(found[5L, ], found[2L, ], tolerance = 1e-6)
  by_rate <- (at(theta + c(1e-3, 0))[1L, ] - at(theta - c(1e-3, 0))[1L, ]) / 2e-3
  expect_equal(found[4L, ], by_rate, tolerance = 1e-5)
})

test_that("fits with bounds stay within them, and a density of 0 everywhere is refused", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = seq(0, 1, length.out = 30))
  d$y <- sin(6 * d$x) + rexp(30, 5)
  one_sided <- lik_custom(function(y, f, theta) {
    ifelse(y >= f, log(5) - 5 * (y - f), -Inf)
  })
  fit <- sparsegp(y ~ x, d, likelihood = one_sided, kernel = kernel_rbf(1, 0.3), learn = FALSE)
  expect_true(fit$convergence$converged)
  expect_lt(sqrt(mean((fit$latent$mean - sin(6 * d$x))^2)), 0.15)
  expect_gt(fit$cavity$lpd[1L], -Inf)
  nowhere <- lik_custom(function(y, f, theta) 0 * f - Inf, check = FALSE)
  expect_error(sparsegp(y ~ x, d, likelihood = nowhere), class = "sparsegp_error")
  spike <- lik_custom(function(y, f, theta) ifelse(abs(f - y) < 0.5, Inf, -1), check = FALSE)
  expect_error(sparsegp(y ~ x, d, likelihood = spike), "Inf", class = "sparsegp_error")
})

test_that("a density with more jumps than panels can follow is refused, one with few integrated", {
  memory_tier()
  set.seed(1)
  x <- runif(30)
  y <- sin(6 * x) + 0.1 * rnorm(30)
  steps <- function(k) {
    density <- function(y, f, theta) dnorm(y, floor(f * k) / k, 0.3, log = TRUE)
    sparsegp(x, y, lik_custom(density), learn = FALSE)
  }
  expect_true(is.finite(logLik(steps(1))))
  expect_error(steps(50), "jumps or turns too often", class = "sparsegp_error")
  wave <- function(y, f, theta) dnorm(y, f, 0.3, log = TRUE) + log1p(0.9 * sin(1e5 * f))
  expect_error(sparsegp(x, y, lik_custom(wave, check = FALSE), learn = FALSE), "to be integrated",
               class = "sparsegp_error")
  plain <- function(y, f, theta) dnorm(y, f, 0.3, log = TRUE)
  rough <- function(y, f, theta) plain(y, f) + 1e-7 * sin(1e7 * f) # rounding of a user's function
  fits <- lapply(list(plain, rough), function(density) {
    sparsegp(x, y, lik_custom(density), learn = FALSE)
  })
  expect_equal(logLik(fits[[2L]]), logLik(fits[[1L]]), tolerance = 1e-5)
})
