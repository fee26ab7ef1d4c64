# Where periods start, and what forecasts of sums of trend and season are worth.

r_code_alone()

series <- function(x) data.frame(time = as.numeric(time(x)), y = as.numeric(x))

found <- function(data) {
  start <- period_start(data$time, list(y = data$y, codec = "numbers"), NULL)
  start$start
}

test_that("the power of a frequency is what a sine wave explains", {
  set.seed(1)
  t <- sort(runif(40, 0, 7))
  y <- rnorm(40)
  for (frequency in c(0.3, 1, 2.2)) {
    wave <- lm(y ~ 0 + sin(2 * pi * frequency * t) + cos(2 * pi * frequency * t))
    expect_equal(harmonic_power(frequency, t, y), sum(fitted(wave)^2), tolerance = 1e-10)
  }
})

test_that("periods of known series are found, with a trend and with rows missing", {
  slow_tier()
  set.seed(1)
  known <- list(co2 = 1, AirPassengers = 1, nottem = 1, USAccDeaths = 1, sunspot.year = 11.08)
  for (name in of_tier(names(known), 2)) {
    data <- series(get(name))
    # 0.03: four cycles of a hundred years, or a tenth of a turn in ten years
    expect_equal(found(data), known[[name]], tolerance = 0.03, label = name)
    expect_equal(found(data[sort(sample(nrow(data), 0.6 * nrow(data))), ]), known[[name]],
                 tolerance = 0.03, label = paste(name, "in part"))
  }
})

test_that("without a wave to see a period starts at half the range; a given one where it is", {
  slow_tier()
  expect_equal(found(data.frame(time = 1:6, y = c(1, 3, 2, 5, 4, 6))), 2.5)
  expect_equal(found(data.frame(time = 1:20, y = 1:20)), 9.5)
  start <- function(...) period_start(1:20, list(y = sin(1:20), codec = "numbers"), ...)
  expect_equal(start(NULL)$start, 2 * pi, tolerance = 0.05)
  expect_equal(start(4), list(start = 4, spread = 0.1, stride = 4 / (2 * pi * 19)))
  expect_equal(start(0.5)[1:2], list(start = 0.5, spread = 0.25 / 19))
  many <- period_start(1:20, list(y = sin(1:20), codec = "classes"), NULL)
  expect_equal(many$start, 9.5)
  fit <- sparsegp(y ~ time, series(nottem)[1:72, ], kernel = kernel_periodic(), learn = FALSE)
  expect_equal(coef(fit)[["period"]], 1, tolerance = 0.02)
})

test_that("a sum of trend and season forecasts as well as a seasonal ARIMA", {
  slow_tier()
  kernel <- kernel_linear() + kernel_rbf() + kernel_matern12() + kernel_periodic()
  forecast <- function(data, until) {
    fit <- sparsegp(y ~ time, data[data$time < until - 0.01, ], kernel = kernel)
    new <- data[data$time > until - 0.01, ]
    cbind(new, predict(fit, new, interval = "prediction", level = 0.9))
  }
  error <- function(a, b) sqrt(mean((a - b)^2))
  carbon <- forecast(series(co2), 1990)
  expect_lt(error(carbon$fit, carbon$y), 1.3) # arima(c(0, 1, 1), seasonal = c(0, 1, 1)) 1.15
  air <- forecast(series(log(AirPassengers)), 1958)
  expect_lt(error(exp(air$fit), exp(air$y)), 37) # the same arima 36.6
  expect_true(abs(mean(air$y >= air$lwr & air$y <= air$upr) - 0.9) <= 0.05)
})
