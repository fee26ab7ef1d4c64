# What other likelihoods than the Gaussian buy.
#   1. Friedman #1 with gross outliers (10 % of the rows moved by 15 to 40, either way): root mean
#      squared error of the mean against the truth at new rows, by noise model.
#   2. Simulated counts beside mgcv::gam(s(x), family = poisson): deviance of the true rate at new
#      rows, and coverage of 90 % intervals for the rate and for new counts.
# Usage: Rscript bench/likelihoods.R [seeds] [rows]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})
SEEDS <- argument(1, 10)
ROWS <- argument(2, 100)

friedman <- function(n) {
  x <- matrix(runif(n * 10), n)
  truth <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
  list(x = x, truth = truth, y = truth + rnorm(n))
}

with_outliers <- function(d) {
  rows <- sample(length(d$y), length(d$y) / 10)
  d$y[rows] <- d$y[rows] + sample(c(-1, 1), length(rows), TRUE) * runif(length(rows), 15, 40)
  d
}

robust_errors <- function(seed) {
  set.seed(seed)
  train <- with_outliers(friedman(ROWS))
  test <- friedman(500)
  vapply(list(Gaussian = lik_gaussian(), Laplace = lik_laplace(), Student = lik_student()),
         function(lik) {
           fit <- suppressWarnings(sparsegp(train$x, train$y, lik, kernel_rbf(ard = TRUE)))
           sqrt(mean((predict(fit, test$x) - test$truth)^2))
         }, 0)
}

took <- system.time(errors <- vapply(seq_len(SEEDS), robust_errors, numeric(3)))[["elapsed"]]
cat(sprintf("Friedman #1, %g rows, 10 %% gross outliers, %g seeds (%.0f s): RMSE\n", ROWS, SEEDS,
            took))
bench_table(cbind(mean = rowMeans(errors), sd = apply(errors, 1, sd)),
            "Friedman #1 with gross outliers: RMSE by noise model", 3L)

# ---- Counts ----

counts <- function(n) {
  x <- sort(runif(n, -3, 3))
  rate <- exp(1 + sin(2 * x) + 0.3 * x)
  data.frame(x, rate, y = rpois(n, rate))
}

inside <- function(y, band) mean(y >= band[, 1L] & y <= band[, 2L])

# deviance per row between the true rate and the fitted one
deviance_of <- function(rate, fit) mean(2 * (rate * log(rate / fit) - (rate - fit)))

of_gp <- function(train, test) {
  fit <- sparsegp(y ~ x, train, poisson())
  rate <- predict(fit, test, interval = "confidence", level = 0.9)
  new <- predict(fit, test, interval = "prediction", level = 0.9)
  c(deviance = deviance_of(test$rate, rate[, "fit"]), rate = inside(test$rate, rate[, -1L]),
    new = inside(test$y, new[, -1L]))
}

of_gam <- function(train, test) {
  s <- mgcv::s
  fit <- mgcv::gam(y ~ s(x, k = 20), family = poisson, data = train, method = "REML")
  link <- predict(fit, test, se.fit = TRUE)
  half <- qnorm(0.95) * link$se.fit
  c(deviance = deviance_of(test$rate, exp(link$fit)),
    rate = inside(test$rate, exp(cbind(link$fit - half, link$fit + half))),
    new = inside(test$y, cbind(qpois(0.05, exp(link$fit)), qpois(0.95, exp(link$fit)))))
}

count_scores <- function(seed) {
  set.seed(seed)
  train <- counts(200)
  test <- counts(1000)
  gam <- if (requireNamespace("mgcv", quietly = TRUE)) of_gam(train, test)
  rbind(sparsegp = of_gp(train, test), mgcv = gam)
}

scores <- lapply(seq_len(SEEDS), count_scores)
cat(sprintf("\nCounts, 200 rows, %g seeds: deviance per row, coverage of 90 %% intervals\n", SEEDS))
if (nrow(scores[[1L]]) == 1L) cat("(mgcv is not installed)\n")
bench_table(Reduce(`+`, scores) / SEEDS, "Counts: deviance per row, coverage of 90 % intervals")
