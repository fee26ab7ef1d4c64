# New responses under lik_custom() where the posterior of the latent function is wider than the
# noise, and counts of any size.

r_code_alone()

narrow_rows <- function(n = 30L) {
  set.seed(7)
  data.frame(a = runif(n, -2, 2))
}

far <- data.frame(a = c(0, 1.9, 3, 4, 8))

test_that("intervals and residuals are those of a normal density, however narrow it is", {
  slow_tier()
  d <- narrow_rows()
  for (sd in c(0.3, 0.05, 0.01, 1e-4, 1e-7)) {
    d$y <- sin(2 * d$a) + sd * rnorm(30)
    lik <- lik_custom(function(y, f, par) dnorm(y, f, sd, log = TRUE))
    made <- function() sparsegp(y ~ a, d, lik, learn = FALSE)
    # the check's own steps begin at 1e-8
    fit <- if (sd < 1e-6) suppressWarnings(made()) else expect_silent(made())
    latent <- predict(fit, far, type = "latent", se.fit = TRUE)
    spread <- sqrt(latent$se.fit^2 + sd^2)
    found <- predict(fit, far, interval = "prediction")
    for (side in c(-1, 1)) {
      bound <- found[, if (side < 0) "lwr" else "upr"]
      away <- (bound - latent$fit) / spread - side * qnorm(0.975)
      expect_lt(max(abs(away)), 1e-3)
    }
    z <- (d$y - c(fit$cavity$mean)) / sqrt(c(fit$cavity$var) + sd^2)
    expect_equal(c(residuals(fit, type = "quantile")), z, tolerance = 1e-3, ignore_attr = TRUE)
  }
})

test_that("intervals of positive responses are as wide as the posterior, with narrow noise", {
  memory_tier()
  d <- narrow_rows()
  d$y <- exp(-2 * sin(2 * d$a) + 0.05 * rnorm(30)) # the median falls in f
  lik <- lik_custom(function(y, f, par) dlnorm(y, -f, 0.05, log = TRUE), response = "positive")
  fit <- sparsegp(y ~ a, d, lik, learn = FALSE)
  latent <- predict(fit, far, type = "latent", se.fit = TRUE)
  spread <- sqrt(latent$se.fit^2 + 0.05^2)
  found <- log(predict(fit, far, type = "median", interval = "prediction"))
  expect_equal(found[, "upr"], -latent$fit + qnorm(0.975) * spread, tolerance = 1e-3,
               ignore_attr = TRUE)
  expect_equal(found[, "lwr"], -latent$fit - qnorm(0.975) * spread, tolerance = 1e-3,
               ignore_attr = TRUE)
})

test_that("counts have their own intervals at any size", {
  slow_tier()
  d <- narrow_rows()
  lik <- lik_custom(function(y, f, par) dpois(y, exp(f), log = TRUE), response = "count")
  for (log_mean in c(1, 6, 12)) {
    d$n <- rpois(30, exp(log_mean + sin(2 * d$a)))
    fit <- expect_silent(sparsegp(n ~ a, d, lik, learn = FALSE))
    latent <- predict(fit, far, type = "latent", se.fit = TRUE)
    found <- predict(fit, far, interval = "prediction")
    f <- latent$fit + outer(latent$se.fit, qnorm(ppoints(4000)))
    for (side in c("lwr", "upr")) {
      below <- rowMeans(ppois(found[, side] * (1 + 2e-3), exp(f)))
      before <- rowMeans(ppois(found[, side] * (1 - 2e-3) - 1, exp(f)))
      p <- if (side == "lwr") 0.025 else 0.975
      expect_true(all(below > p - 2e-3 & before < p + 2e-3), label = paste(log_mean, side))
    }
    expect_lt(max(abs(residuals(fit, type = "quantile"))), 4)
  }
  d$n <- rpois(30, 1e9)
  fit <- suppressWarnings(sparsegp(n ~ a, d, lik, learn = FALSE, offset = rep(20, 30)))
  expect_error(predict(fit, far, interval = "prediction"), class = "sparsegp_error")
})

test_that("an interval of a mixture of fits asks for densities as its members' intervals do", {
  slow_tier()
  d <- narrow_rows()
  d$y <- sin(2 * d$a) + 0.3 * cos(17 * seq_len(30))
  asked <- 0
  lik <- lik_custom(function(y, f, par) {
    asked <<- asked + 1
    dnorm(y, f, exp(par), log = TRUE)
  }, theta = c(log_sd = -1))
  calls_for <- function(fit) {
    asked <<- 0
    predict(fit, data.frame(a = 0.5), interval = "prediction")
    asked
  }
  one <- calls_for(sparsegp(y ~ a, d, lik, kernel = "rbf", learn = FALSE))
  mixture <- sparsegp(y ~ a, d, lik, kernel = "rbf")
  members <- length(mixture$ensemble$weights)
  expect_gt(members, 5L)
  # the quantile of each, and the root, of some forty values; 17 times as many where each of these
  # looked for the width of the noise again
  expect_lt(calls_for(mixture), 4 * members * one)
})
