# Default fits of a series of many observations: what the race for its structure is offered.

r_code_alone()

test_that("a pilot of a series has consecutive rows and spread ones", {
  set.seed(1)
  times <- sample(5000) # in no order
  rows <- rows_of_series(times, 400L)
  expect_length(unique(rows), 400L)
  expect_false(is.unsorted(rows))
  gaps <- diff(sort(times[rows]))
  expect_gt(sum(gaps == 1), 150) # four windows of 50
  expect_gt(sum(gaps > 10), 100) # and 200 spread over 5000
  expect_lt(max(gaps), 100)
  expect_identical(rows_of_series(times, 5000L), 1:5000)
})

test_that("a series on a grid may have long gaps, but not be a few values of a fine one", {
  expect_true(is_time_grid(c(1:300, 5000:5300)))
  expect_true(is_time_grid(2000 + (300:1) / 12))
  expect_true(is_time_grid(setdiff(1:400, seq(3, 400, by = 7))))
  months <- as.double(seq(as.Date("2001-01-01"), by = "month", length.out = 60))
  expect_true(is_time_grid(months[-c(8, 20:35)]))
  set.seed(1)
  expect_false(is_time_grid(runif(60)))
  expect_false(is_time_grid(round(cumsum(rep(c(1, 2, 5, 3), 50)))))
  expect_false(is_time_grid(c(1:100, 50)))
  expect_false(is_time_grid(sqrt(1:100)))
  expect_false(is_time_grid(1))
})

test_that("rounded times and calendars are grids; sequences that fill an interval are none", {
  expect_true(is_time_grid(round(2000 + (0:99) / 12, 2)))
  expect_true(is_time_grid(round(2000 + (0:99) / 12, 5)))
  expect_true(is_time_grid(cumsum(rep(c(365, 365, 365, 366), 8))))
  quarters <- seq(as.Date("2001-01-01"), by = "quarter", length.out = 30)
  expect_true(is_time_grid(c(scale(as.double(quarters)))))
  even <- outer(20:120, c(sqrt(2), sqrt(3), pi, (sqrt(5) - 1) / 2, 0.7548776662),
                Vectorize(function(n, by) is_time_grid((seq_len(n) * by) %% 1)))
  expect_lt(mean(even), 0.01)
})

test_that("time beside covariates has a rhythm, though it is a plain number", {
  slow_tier()
  set.seed(2)
  n <- 150L
  d <- data.frame(day = seq_len(n), warmth = rnorm(n))
  truth <- sin(2 * pi * d$day / 7) + 0.5 * d$warmth
  d$y <- truth + 0.3 * rnorm(n)
  d$code <- sample(n) # a number for each row is on a grid, too
  seen <- seq_len(n) %% 5 != 0
  fit <- sparsegp(y ~ day + warmth, d[seen, ])
  expect_lt(sqrt(mean((predict(fit, d[!seen, ]) - truth[!seen])^2)), 0.2)
  shuffled <- sparsegp(y ~ warmth + code, d)
  expect_false(any(grepl("periodic", shuffled$choices$candidate[shuffled$choices$taken])))
})

test_that("beside covariates a level that changes from day to day is a function of time alone", {
  slow_tier()
  set.seed(1)
  n <- 250L
  d <- data.frame(day = as.Date("2024-01-01") + seq_len(n), warmth = rnorm(n), rain = rnorm(n))
  own <- sin(2 * d$warmth) + d$rain^2 / 2
  truth <- own + as.double(stats::arima.sim(list(ar = 0.8), n, sd = 0.6))
  d$y <- truth + 0.2 * rnorm(n)
  seen <- seq_len(n) %% 5 != 0
  fit <- sparsegp(y ~ ., d[seen, ])
  expect_match(format(fit$kernel), "matern32(vars = day)", fixed = TRUE)
  # without that function it is .91; a level is .47 from what those of the days around it show
  expect_lt(sqrt(mean((predict(fit, d[!seen, ]) - truth[!seen])^2)), 0.75)
  d$y <- own + 0.2 * rnorm(n)
  expect_no_match(format(sparsegp(y ~ ., d)$kernel), "vars = day", fixed = TRUE)
})

test_that("a rhythm is dropped again where a level that varies from day to day explains it", {
  slow_tier()
  set.seed(33)
  d <- data.frame(day = as.Date("2019-01-01") + 1:250, warmth = rnorm(250), rain = rnorm(250))
  d$y <- sin(2 * d$warmth) + d$rain^2 / 2 + c(stats::arima.sim(list(ar = 0.9), 250, sd = 0.4)) +
    0.3 * rnorm(250)
  d <- d[sort(sample(220, 160)), ] # seven weeks explain more than a function of all inputs does
  fit <- sparsegp(y ~ ., d)
  expect_match(format(fit$kernel), "matern32(vars = day)", fixed = TRUE)
  expect_no_match(format(fit$kernel), "periodic", fixed = TRUE)
  d$y <- d$y + 2 * sin(2 * pi * as.double(d$day) / 7) # and one that is there stays
  expect_match(format(sparsegp(y ~ ., d)$kernel), "periodic(period = 7", fixed = TRUE)
})

test_that("a pilot in time beside other inputs has days that follow each other", {
  set.seed(1)
  chunk <- list(x = cbind(warmth = rnorm(2000), day = sample(2000))) # every fifth is too far apart
  rows <- rows_of_pilot(NULL, chunk, list(time = 2L, count = 400L))
  expect_length(unique(rows), 400L)
  expect_gt(sum(diff(sort(chunk$x[rows, "day"])) == 1), 150)
  model <- list(scaling = list(kept = TRUE))
  expect_null(time_beside_others(model, chunk, list())) # which has no others
})

test_that("a trend of a series needs no gain, and of other inputs has to pay", {
  memory_tier()
  needed <- function(x, y, name) {
    choices <- sparsegp(x, y)$choices
    choices$needed[endsWith(choices$candidate, name) & !is.na(choices$needed)][1L]
  }
  set.seed(1)
  t <- 1:40
  y <- cumsum(stats::rnorm(40))
  expect_equal(needed(cbind(t), y, "linear()"), -(policy$overfit_nats + policy$parameter_nats))
  uneven <- cbind(x = sqrt(t))
  expect_equal(needed(uneven, y, "linear()"), policy$min_evidence_gain)
  expect_false(any(sparsegp(uneven, y)$choices$candidate == "matern12()"))
})

test_that("a forecast of a random walk with a drift goes on", {
  slow_tier()
  errors <- vapply(1:4, function(seed) {
    set.seed(seed)
    t <- 1:100
    y <- cumsum(0.5 + stats::rnorm(100))
    p <- predict(sparsegp(cbind(t = t[1:80]), y[1:80]), cbind(t = t[81:100]))
    sqrt(mean((p - y[81:100])^2)) / sqrt(mean((y[80] - y[81:100])^2))
  }, 0)
  expect_lt(stats::median(errors), 1) # of the last value
})

test_that("a periodogram of rows in near pairs has no more cells than their number asks for", {
  memory_tier()
  set.seed(2)
  x <- sort(stats::runif(400))
  y <- sin(2 * pi * x / 0.05)
  paired <- sort(c(x, x + 1e-9))
  period <- seen_periods(paired, rep(y, each = 2L), 1L)$period
  expect_equal(period, seen_periods(x, y, 1L)$period, tolerance = 1e-3)
  expect_equal(period, 0.05, tolerance = 1e-2)
  expect_lt(system.time(seen_periods(paired, rep(y, each = 2L), 3L))[[1L]], 0.5) # 3 by 2^20 cells
})

test_that("noise that a search finds again is not near none", {
  noise <- function(theta, start) data.frame(base = "noise", theta = theta, start = start)
  candidate <- function(theta, before, start = -8) {
    list(table = noise(theta, start), before = noise(before, -2.3))
  }
  expect_true(is_noisy_again(candidate(-2.61, before = -2.6)))
  expect_false(is_noisy_again(candidate(-9, before = -2.6)))
  expect_false(is_noisy_again(candidate(-13, before = -11))) # near none from the beginning
  expect_false(is_noisy_again(candidate(-2.61, before = -2.6, start = -2.3))) # of another choice
  expect_false(is_noisy_again(list(table = noise(-2, -8)[0L, ], before = noise(-2, -2))))
})

test_that("summary() reports noise that all rows have, though few had none", {
  fit <- list(hyper = data.frame(base = "noise", theta = -3, start = -8))
  expect_match(more_noise_words(fit), "more was learned on all rows")
  fit$hyper$theta <- -9
  expect_null(more_noise_words(fit))
})

test_that("labels of a series with a long gap have a rhythm, which a forecast continues", {
  slow_tier()
  set.seed(3)
  t <- c(1:500, 1200:1699)
  f <- function(t) 2 * sin(2 * pi * t / 25)
  d <- data.frame(t, y = factor(f(t) + stats::rnorm(1000) > 0))
  fit <- sparsegp(y ~ t, d)
  expect_match(format(fit$kernel), "periodic", fixed = TRUE)
  at <- data.frame(t = c(800:850, 1700:1800))
  p <- predict(fit, at, type = "prob")[, 2L]
  # 0.02 to 0.05 over seeds; 0.4 without the rhythm
  expect_lt(sqrt(mean((p - stats::pnorm(f(at$t)))^2)), 0.1)
})

test_that("a rough series has a rough kernel, whose intervals hold", {
  slow_tier()
  set.seed(4)
  n <- 2000
  f <- as.numeric(stats::arima.sim(list(ar = 0.95), n, sd = 0.3))
  d <- data.frame(t = seq_len(n), y = f + 0.2 * stats::rnorm(n))
  fit <- sparsegp(y ~ t, d)
  expect_match(format(fit$kernel), "matern12", fixed = TRUE)
  p <- predict(fit, d, interval = "confidence", level = 0.9)
  inside <- mean(p[, 2L] < f & f < p[, 3L]) # 0.79 by a smoother kernel; some 700 independent errors
  expect_gt(inside, 0.86)
  expect_lt(inside, 0.94)
})

test_that("a process is no shorter than half a step of a grid, where it is noise", {
  lower <- function(x) {
    model <- sparsegp(data.frame(x = x), sin(x), learn = FALSE)
    box <- search_box(model$hyper)
    exp(box$lower[model$hyper$name[model$hyper$free] == "lengthscale"])
  }
  x <- seq(0, 9, length.out = 31)
  expect_equal(lower(x), 0.15 / sqrt(mean((x - mean(x))^2)), tolerance = 1e-12) # rounding
  expect_lt(lower(c(x, x)), 1e-3) # rows with the same input tell noise
  expect_lt(lower(x + rep_len(c(0, 0.01, 0.02), 31)), 1e-3)
  given <- sparsegp(data.frame(x = x), sin(x), kernel = kernel_rbf(lengthscale = 0.01),
                    learn = FALSE)
  expect_lt(exp(search_box(given$hyper)$lower[2L]), 1e-3)
})

test_that("between the rows of a grid a rhythm with noise has noise, and is no rough function", {
  slow_tier()
  set.seed(7)
  d <- data.frame(x = seq_len(3000) / 6)
  d$y <- sin(2 * pi * d$x) + 0.2 * rnorm(3000)
  f <- suppressMessages(sparsegp(y ~ x, d))
  between <- predict(f, data.frame(x = 200 + (1:50) / 17), interval = "prediction")
  spread <- (between[, "upr"] - between[, "lwr"]) / (2 * qnorm(0.975))
  expect_equal(range(spread), c(0.2, 0.2), tolerance = 0.05) # error of the estimated sd: .0026
  expect_lt(max(abs(between[, "fit"] - sin(2 * pi * (200 + (1:50) / 17)))), 0.05) # 3 of its errors
})

test_that("what was rough for want of a rhythm is smooth beside it", {
  slow_tier()
  set.seed(4)
  x <- seq(0, 1, length.out = 300)
  d <- data.frame(x, y = 8 * x^2 + sin(50 * pi * x) + 0.2 * rnorm(300))
  f <- suppressMessages(sparsegp(y ~ x, d))
  expect_match(format(f$kernel), "^rbf\\(\\) \\+ periodic")
  smooth <- sparsegp(y ~ x, d, kernel = kernel_rbf() + kernel_periodic(period = 0.04))
  expect_gt(as.numeric(logLik(f)), as.numeric(logLik(smooth)) - 2) # it was 20 lower
})

test_that("rhythms of irregular days and of several series are found beside other inputs", {
  slow_tier()
  set.seed(1)
  rmse <- function(fit, at) sqrt(mean((predict(fit, at) - at$truth)^2))
  in_rows <- function(day, z) {
    data.frame(day, z, truth = 5 + 2 * cos(2 * pi * day / 7) + 8 * z)
  }
  d <- in_rows(sort(sample(400, 150)), rnorm(150)) # the covariate explains more than the rhythm
  d$y <- d$truth + 0.3 * rnorm(150)
  fit <- sparsegp(y ~ day + z, d)
  expect_lt(rmse(fit, in_rows(401:414, rnorm(14))), 0.3) # 1.4 without the rhythm
  panel <- expand.grid(month = 1:60, g = factor(c("a", "b")))
  panel$date <- seq(as.Date("2010-01-01"), by = "month", length.out = 60)[panel$month]
  panel$truth <- c(10, 14)[panel$g] + 3 * cos(2 * pi * panel$month / 12)
  panel$y <- panel$truth + 0.5 * rnorm(120)
  before <- panel$month <= 54
  for (formula in c(y ~ month + g, y ~ date + g)) { # 3.3 and .24 (33.2 days, an alias of the year)
    fit <- sparsegp(formula, panel[before, ])
    expect_lt(rmse(fit, panel[!before, ]), 0.3)
    period <- unlist(periods_of_kernel(fit$kernel))
    expect_equal(period, if ("month" %in% all.vars(formula)) 12 else 365.25, tolerance = 0.02)
  }
})

test_that("outliers do not hide a rhythm", {
  y <- 20 + 4 * cos(2 * pi * 1:96 / 12)
  set.seed(1)
  y <- y + 0.5 * rnorm(96)
  spoiled <- replace(y, c(20, 50), c(9999, -60))
  expect_equal(seen_periods(1:96, spoiled, 1L)$period, 12, tolerance = 0.02)
  expect_identical(within_reach(y), y)
  expect_identical(within_reach(c(0, 0, 0, 1)), c(0, 0, 0, 1))
  slow_tier()
  fit <- suppressWarnings(sparsegp(y ~ x, data.frame(x = 1:96, y = replace(y, c(20, 50), 9999))))
  ahead <- predict(fit, data.frame(x = 97:108), type = "median")
  expect_lt(sqrt(mean((ahead - 20 - 4 * cos(2 * pi * 97:108 / 12))^2)), 0.6) # 5.5 without it
})
