# Default fits are not silently worse than fits by hand that start elsewhere. bench/regret.R has
# many more cases, and densities of observations held out.

MOST_NATS <- 10 # what a race may lose by its margins, which ask for some nats a hyperparameter

# Log evidence at the mode of the hyperparameters: integrated evidences contain priors.
mode_evidence <- function(formula, data, ...) {
  as.numeric(logLik(suppressMessages(suppressWarnings(
    sparsegp(formula, data, ..., control = gp_control(integrate = "none"))
  ))))
}

expect_little_regret <- function(formula, data, kernel, ...) {
  by_default <- mode_evidence(formula, data, ...)
  by_hand <- mode_evidence(formula, data, ..., kernel = kernel)
  expect_gt(by_default, by_hand - MOST_NATS)
}

# An outcome at n even steps in [0, 1]
series_of <- function(n, respond) {
  t <- seq(0, 1, length.out = n)
  data.frame(t = t, y = respond(t))
}

test_that("a series of many cycles is not called noise", {
  slow_tier()
  temperatures <- data.frame(t = as.numeric(time(nottem)), y = as.numeric(nottem))
  expect_little_regret(y ~ t, temperatures, kernel_rbf(lengthscale = 0.05))
  set.seed(1)
  expect_little_regret(y ~ t, series_of(300, function(t) sin(2 * pi * 50 * t) + 0.2 * rnorm(300)),
                       kernel_rbf(lengthscale = 0.01))
})

test_that("labels and counts of many cycles are not called noise", {
  slow_tier()
  set.seed(2)
  counts <- series_of(240, function(t) rpois(240, exp(1 + sin(40 * pi * t))))
  expect_little_regret(y ~ t, counts, kernel_rbf(lengthscale = 0.03), likelihood = "poisson")
  labels <- series_of(200, function(t) {
    factor(2 * sin(40 * pi * t) + 0.5 * rnorm(200) > 0, labels = c("a", "b"))
  })
  expect_little_regret(y ~ t, labels, kernel_rbf(lengthscale = 0.03))
})

test_that("a weekly rhythm of days is found", {
  slow_tier()
  set.seed(3)
  d <- data.frame(day = as.Date("2020-01-01") + 0:139)
  d$y <- c(0, 0.3, 0.1, 0.4, 0.9, 2.2, 1.8)[0:139 %% 7 + 1] + 0.5 * rnorm(140)
  expect_little_regret(y ~ day, d, kernel_rbf() + kernel_periodic(period = 7))
})

test_that("a function that varies fast along two inputs is found", {
  slow_tier()
  set.seed(5)
  d <- data.frame(a = runif(300), b = runif(300))
  d$y <- sin(25 * d$a) + cos(20 * d$b) + 0.2 * rnorm(300)
  expect_little_regret(y ~ a + b, d, kernel_rbf(lengthscale = 0.15))
})

test_that("a deterministic code of one input has no noise", {
  slow_tier()
  d <- series_of(12, function(t) sin(6 * t))
  by_default <- mode_evidence(y ~ t, d)
  by_hand <- mode_evidence(y ~ t, d, lik_gaussian(fixed(1e-8 * var(d$y))), kernel = kernel_rbf())
  expect_gt(by_default, by_hand - MOST_NATS)
})

test_that("inputs that do not matter are found among many", {
  slow_tier()
  set.seed(7)
  inputs <- function(n) data.frame(matrix(rnorm(100 * n), n))
  d <- inputs(100)
  new <- inputs(300)
  truth <- function(d) d$X1 - 2 * d$X2 + d$X3 / 2
  d$y <- truth(d) + 0.3 * rnorm(100)
  error <- function(...) {
    fit <- suppressMessages(suppressWarnings(sparsegp(y ~ ., d, ...)))
    sqrt(mean((predict(fit, new) - truth(new))^2))
  }
  # long length scales: all inputs begin as good as off
  expect_lt(error(), 1.2 * error(kernel = kernel_rbf(lengthscale = 30, ard = TRUE)))
})
