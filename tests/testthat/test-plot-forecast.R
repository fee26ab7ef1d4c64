# Forecasts: how far they go, in steps of the series, and how finely their curves are drawn.

r_code_alone()

drawn_forecast <- function(...) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(..., type = "forecast")
}

# A fit along time of these values, with a trend and a season of that period.
fit_along <- function(time, period, y = sin(seq_along(time)), lengthscale = 1) {
  sparsegp(y ~ time, data.frame(time, y), learn = FALSE,
           kernel = kernel_linear() + kernel_periodic(lengthscale = lengthscale, period = period))
}

end_of <- function(fit, ahead) {
  max(drawn_forecast(fit, ahead = ahead, n = 3)$series$time)
}

test_that("a forecast counts in calendar months, quarters and years where dates do", {
  slow_tier()
  from <- as.Date("2015-03-01")
  for (step in list(c("month", 24, "2022-02-01"), c("quarter", 8, "2031-12-01"),
                    c("year", 3, "2077-03-01"))) {
    days <- seq(from, by = step[1L], length.out = 60L)
    end <- seq(days[60L], by = step[1L], length.out = as.integer(step[2L]) + 1L)
    found <- end_of(fit_along(days, 365.25), as.numeric(step[2L]))
    expect_identical(found, as.double(end[length(end)]))
    expect_identical(found, as.double(as.Date(step[3L])))
  }
  # the last days of months, and a series with gaps
  ends <- seq(from, by = "month", length.out = 40L) - 1
  expect_identical(series_step(ends[0L], as.double(ends[-c(3, 17)]))$months, 1)
})

test_that("a forecast counts in days, weeks, hours and parts of an input's unit", {
  slow_tier()
  days <- as.Date("2020-01-06") + c(0:40, 42:60)
  expect_identical(end_of(fit_along(days, 7), 14), as.double(as.Date("2020-01-06") + 74))
  weeks <- as.Date("2020-01-06") + 7 * 0:30
  expect_identical(end_of(fit_along(weeks, 70), 4), as.double(weeks[31L] + 28))
  hours <- as.POSIXct("2020-03-01", tz = "UTC") + 3600 * 0:100
  expect_identical(end_of(fit_along(hours, 86400), 24), as.double(hours[101L]) + 86400)
  months <- 1990 + 0:59 / 12
  expect_equal(end_of(fit_along(months, 1), 24), max(months) + 2)
  uneven <- c(1, 2.2, 2.9, 4.4, 7.1, 7.7, 9.3, 12.2, 12.9, 14.4)
  expect_equal(end_of(fit_along(uneven, 3), 2), 16.4)
})

test_that("a forecast goes as far as a difference of times or words say", {
  slow_tier()
  months <- seq(as.Date("2015-01-01"), by = "month", length.out = 36L)
  fit <- fit_along(months, 365.25)
  expect_identical(end_of(fit, "2 years"), as.double(as.Date("2019-12-01")))
  expect_identical(end_of(fit, as.difftime(2, units = "weeks")), as.double(months[36L] + 14))
  expect_error(end_of(fit, "for ever"), "not a duration", class = "sparsegp_error")
  expect_error(end_of(fit, -1), "one number", class = "sparsegp_error")
  numbers <- fit_along(1:30, 6)
  expect_error(end_of(numbers, "2 years"), "number here", class = "sparsegp_error")
})

test_that("the steps of a series are named", {
  words <- function(clock, time) series_step(clock[0L], as.double(time))$words
  day <- as.Date("2020-01-01")
  expect_identical(words(day, seq(day, by = "month", length.out = 9L)), "months")
  expect_identical(words(day, seq(day, by = "2 months", length.out = 9L)), "steps of 2 months")
  expect_identical(words(day, day + 7 * 1:9), "weeks")
  now <- as.POSIXct("2020-01-01", tz = "UTC")
  expect_identical(words(now, now + 900 * 1:9), "steps of 15 minutes")
  expect_identical(words(now, now + 3600 * 1:9), "hours")
})

test_that("a season that returns to its mean between the steps of a series is drawn at these", {
  slow_tier()
  time <- 1960 + c(0:20, 23:59) / 12
  rough <- fit_along(time, 1, lengthscale = 0.1)
  drawn <- drawn_forecast(rough, ahead = 4)
  expect_equal(drawn$series$time, 1960 + 0:63 / 12)
  expect_equal(drawn[["periodic(time)"]]$time, 1960 + 0:63 / 12)
  expect_length(drawn_forecast(rough, ahead = 4, n = 9)$series$time, 9L)
  view <- list(axes = "time")
  expect_length(series_nodes(rough, view, 1:1000, 1024), 1024L)
  expect_null(series_nodes(rough, view, 1:2100, 2124)) # more than MOST_NODES
  smooth <- fit_along(time, 1)
  expect_equal(season_lengthscale(smooth, seasons_along(smooth, view)), 1 / (2 * pi))
  d <- data.frame(time = 1:60, hour = rep(0:11, 5), y = sin(1:60))
  two <- sparsegp(y ~ time + hour, d, learn = FALSE, scale = FALSE,
                  kernel = kernel_periodic(lengthscale = 0.1, period = 12, vars = "time") +
                    kernel_periodic(lengthscale = 2, period = 24, vars = "hour"))
  of <- function(axis) season_lengthscale(two, seasons_along(two, list(axes = axis)))
  expect_equal(c(of("time"), of("hour")), c(0.1 * 12, 2 * 24) / (2 * pi)) # each its own
  expect_gte(nrow(drawn_forecast(smooth, ahead = 4)$series), FEWEST_NODES)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_equal(plot(rough)$time, 1960 + 0:61 / 12) # and a little beyond
  expect_equal(places_within(1:9, c(2.5, 4)), c(3, 4))
  expect_equal(places_within(1:9, c(3.2, 3.7)), c(3.2, 3.7))
  slow_tier()
  days <- seq(as.Date("2015-01-01"), by = "month", length.out = 30L)
  drawn <- drawn_forecast(fit_along(days[-(5:7)], 365.25, lengthscale = 0.1), ahead = 3)
  expect_equal(drawn$series$time, as.double(seq(days[1L], by = "month", length.out = 33L)))
})

test_that("a curve has enough points for its season and for its length scale", {
  slow_tier()
  time <- 1960 + 0:479 / 12
  fit <- fit_along(time, 1)
  drawn <- drawn_forecast(fit, ahead = 24)
  expect_lte(diff(drawn$series$time[1:2]), (1 + 1e-9) / NODES_PER_PERIOD)
  # the largest value of a season is found: a cosine between nodes falls by (pi / 24)^2 / 2, 1 %
  season <- drawn[["periodic(time)"]]
  each <- tapply(season$fit, floor(season$time), max)
  inside <- each[-c(1L, length(each))]
  expect_lt(diff(range(inside)), 0.02 * diff(range(season$fit)))
  short <- sparsegp(y ~ x, data.frame(x = 1:50, y = sin(1:50)), learn = FALSE,
                    kernel = kernel_rbf(lengthscale = 0.02), scale = FALSE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(short)
  expect_lte(diff(drawn$x[1:2]), max(0.02 / NODES_PER_LENGTH, 53 / MOST_NODES))
})

test_that("a long series has its last seasons in a panel of their own, a short one has not", {
  slow_tier()
  long <- drawn_forecast(fit_along(1960 + 0:239 / 12, 1), ahead = 12)
  expect_named(long, c("series", "recent", "linear(time)", "periodic(time)"))
  expect_equal(range(long$recent$time), 1960 + 239 / 12 + c(-4, 1))
  short <- drawn_forecast(fit_along(1960 + 0:59 / 12, 1), ahead = 12)
  expect_named(short, c("series", "linear(time)", "periodic(time)"))
})

test_that("a page of a forecast leaves par() as it was, and goes on in a layout", {
  fit <- fit_along(1960 + 0:59 / 12, 1)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  before <- graphics::par(no.readonly = TRUE)
  plot(fit, "forecast", n = 5)
  after <- graphics::par(no.readonly = TRUE)
  same <- setdiff(names(before), c("usr", "xaxp", "yaxp")) # of the last panel
  expect_identical(after[same], before[same])
  graphics::par(mfrow = c(2, 2))
  plot(fit, "forecast", n = 5)
  expect_identical(graphics::par("mfrow"), c(2L, 2L))
})
