# Columns of other packages' classes, and what has lost its class.

foreign_rows <- function() {
  x <- 1:18 / 3
  data.frame(x = x, y = sin(x) + rep(c(-1, 1), 9) / 20)
}

test_that("labelled numbers, units, integer64 and tibbles are the numbers that they hold", {
  slow_tier()
  d <- foreign_rows()
  new <- data.frame(x = c(1, 2, 5))
  wanted <- predict(sparsegp(y ~ x, d, learn = FALSE), new)
  make <- list(haven = function(v) haven::labelled(v, c(low = min(v))),
               units = function(v) units::set_units(v, "m"),
               tibble = function(v) v)
  for (package in names(make)) {
    if (!requireNamespace(package, quietly = TRUE)) next
    d2 <- d
    d2$x <- make[[package]](d$x)
    n2 <- new
    n2$x <- make[[package]](new$x)
    if (package == "tibble") {
      d2 <- tibble::as_tibble(d)
      n2 <- tibble::as_tibble(new)
    }
    fit <- sparsegp(y ~ x, d2, learn = FALSE)
    expect_equal(predict(fit, n2), wanted, tolerance = 1e-12, label = package)
    expect_equal(predict(fit, new), wanted, tolerance = 1e-12, label = package)
    by_matrix <- sparsegp(d2["x"], d2[["y"]], learn = FALSE)
    expect_equal(predict(by_matrix, n2["x"]), wanted, ignore_attr = TRUE, tolerance = 1e-12)
  }
  d2 <- d
  d2$x <- scale(d$x, FALSE, FALSE)
  expect_equal(predict(sparsegp(d2["x"], d$y, learn = FALSE), new), wanted, ignore_attr = TRUE,
               tolerance = 1e-12)
})

test_that("units of one kind are converted, and others refused with the unit to convert to", {
  memory_tier()
  skip_if_not_installed("units")
  d <- foreign_rows()
  new <- data.frame(id = 1:3)
  new$x <- units::set_units(c(1, 2, 5), "m")
  d$x <- units::set_units(d$x, "m")
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  other <- transform(new, x = units::set_units(units::set_units(c(1, 2, 5), "m"), "cm"))
  expect_equal(predict(fit, other), predict(fit, new), tolerance = 1e-12)
  other$x <- units::set_units(c(1, 2, 5), "s")
  expect_error(predict(fit, other), "units s, which was units m", class = "sparsegp_error")
})

test_that("times of day and differences of time are read in the unit of the fit", {
  skip_if_not_installed("hms")
  d <- foreign_rows()
  d$x <- hms::hms(seconds = 60 * d$x)
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  minutes <- data.frame(id = 1:3)
  minutes$x <- as.difftime(c(1, 2, 5), units = "mins")
  seconds <- data.frame(id = 1:3)
  seconds$x <- hms::hms(seconds = c(60, 120, 300))
  expect_equal(predict(fit, minutes), predict(fit, seconds), tolerance = 1e-12)
})

test_that("an error of another class names the class to convert to", {
  d <- foreign_rows()
  d$x <- as.Date("2020-01-01") + 0:17
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  for (new in list(as.POSIXct(d$x), as.numeric(d$x), as.character(d$x))) {
    expect_error(predict(fit, data.frame(x = new)), "Convert it to Date, by as.Date()",
                 class = "sparsegp_error")
  }
  fit <- sparsegp(y ~ x, transform(d, x = as.POSIXct(x)), learn = FALSE)
  expect_error(predict(fit, d), "Convert it to POSIXct, by as.POSIXct()", class = "sparsegp_error")
})

test_that("times to an event that lost their class are read by their type, or refused", {
  d <- foreign_rows()
  of_type <- function(type, columns, class = NULL) {
    structure(columns, type = type, class = class)
  }
  time <- exp(d$y)
  left <- cbind(time = time, status = rep(c(1, 1, 0), 6))
  frame <- transform(d, y = NULL)
  frame$y <- of_type("left", left)
  for (fit in list(sparsegp(y ~ x, frame, "weibull", learn = FALSE),
                   sparsegp(frame["x"], frame$y, "weibull", learn = FALSE),
                   sparsegp(y ~ x, frame, learn = FALSE, subset = x > 0))) {
    expect_identical(time_status(fit$y), rep(c(1, 1, 2), 6))
  }
  interval <- of_type("interval", cbind(time1 = time, time2 = time + 1, status = 3))
  expect_identical(time_status(as_times(interval)), rep(3, 18))
  # nothing says what these are
  frame$y <- matrix(left, 18, dimnames = dimnames(left))
  refused(sparsegp(y ~ x, frame, learn = FALSE), "y")
  frame$y <- matrix(interval, 18, dimnames = dimnames(interval))
  refused(sparsegp(y ~ x, frame, learn = FALSE), "y")
  refused(sparsegp(y ~ x, frame, "weibull", learn = FALSE), "y")
  # named as right-censored times, or as components
  frame$y <- left
  expect_identical(time_status(sparsegp(y ~ x, frame, "weibull", learn = FALSE)$y),
                   as.double(left[, "status"]))
  expect_identical(sparsegp(y ~ x, frame, "gaussian", learn = FALSE)$response$components,
                   c("time", "status"))
  # a Surv object beside the data, whose rows package survival is not there to take
  expect_error(refuse_lost_times(left, quote(y), list2env(list(y = of_type("left", left, "Surv")))),
               "new rows have lost this", class = "sparsegp_error")
  expect_invisible(refuse_lost_times(left, quote(y), globalenv()))
})

test_that("misspelt arguments of kernels are errors in words", {
  memory_tier()
  for (make in list(kernel_rbf, kernel_matern12, kernel_matern32, kernel_matern52, kernel_rq,
                    kernel_linear, kernel_poly, kernel_factor, kernel_periodic, kernel_trig)) {
    refused(make(var = "z"), "var")
    expect_error(make(lenghtscale = 1), "lenghtscale", class = "sparsegp_error")
    expect_identical(make(vars = "z")$vars, "z")
  }
  expect_error(sparsegp(y ~ x, foreign_rows(), kernel = kernel_rbf(vars = "z")),
               "unknown inputs: z", class = "sparsegp_error")
})
