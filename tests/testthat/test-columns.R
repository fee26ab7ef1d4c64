# Columns as databases and other packages bring them: what is stored otherwise than it is meant.

r_code_alone()

column_data <- function() {
  set.seed(1)
  d <- data.frame(a = 1:40 + 0, b = rnorm(40), g = rep(c("p", "q"), 20), n = rep(3:6, 10))
  transform(d, y = sin(a / 5) + b, k = rep(0:3, 10))
}

# A value of class integer64 as package bit64 stores it: the bits of a whole number.
as_64 <- function(x) {
  bytes <- vapply(x, function(value) {
    if (is.na(value)) return(as.raw(c(rep(0, 7), 128)))
    if (value < 0) return(as.raw(255 - (-value - 1) %/% 256^(0:7) %% 256)) # two's complement
    as.raw(value %/% 256^(0:7) %% 256)
  }, raw(8L))
  structure(readBin(c(bytes), "double", length(x), endian = "little"), class = "integer64")
}

# Where package bit64 is missing, R drops the class of a part of a column: users of integer64 have
# it, or something else that keeps the class.
if (!requireNamespace("bit64", quietly = TRUE)) {
  registerS3method("[", "integer64", function(x, ...) {
    structure(NextMethod(), class = "integer64")
  }, envir = globalenv())
}

# To rounding: the same numbers may be added up in another order.
agree <- function(found, expected, tolerance = 1e-10) {
  expect_equal(unname(found), unname(expected), tolerance = tolerance)
}

column_error <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

column_fit <- function(formula, data, ...) sparsegp(formula, data, learn = FALSE, ...)

test_that("integer64 is read as what it means, with and without package bit64", {
  known <- c(0, 1, -1, 7, 2^31, -2^31, 2^32 + 5, -2^40 - 3, 2^52, NA)
  expect_identical(plain_numbers(as_64(known)), known)
  # beyond 2^53 the nearest double, as C has it
  skip_if_not_installed("bit64")
  large <- bit64::as.integer64(c("9223372036854775807", "-9223372036854775807",
                                 "9007199254740993", NA))
  expect_identical(plain_numbers(large), suppressWarnings(as.double(large)))
  expect_identical(unclass(as_64(c(known, -12345))),
                   unclass(bit64::as.integer64(c(known, -12345))))
})

test_that("a formula's columns of integer64 are those of doubles, wherever rows come from", {
  slow_tier()
  d <- column_data()
  big <- transform(d, a = as_64(a), n = as_64(n), k = as_64(k))
  for (formula in c(y ~ a + b, y ~ log(a) + b, y ~ I(a^2) + b + offset(n), y ~ poly(a, 2) + g,
                    a ~ b, log(a) ~ b, cbind(a, y) ~ b)) {
    plain <- column_fit(formula, d)
    fit <- column_fit(formula, big)
    expect_identical(fitted(fit), fitted(plain))
    expect_identical(predict(fit, big[1:3, ]), predict(plain, d[1:3, ]))
  }
  weighted <- sparsegp(y ~ b, big, weights = n, learn = FALSE)
  expect_identical(fitted(weighted), fitted(sparsegp(y ~ b, d, weights = n, learn = FALSE)))
  trials <- sparsegp(cbind(k, n) ~ a, big, learn = FALSE)
  expect_identical(fitted(trials), fitted(sparsegp(cbind(k, n) ~ a, d, learn = FALSE)))
  counts <- sparsegp(k ~ a, big, "poisson", learn = FALSE)
  expect_identical(fitted(counts), fitted(sparsegp(k ~ a, d, "poisson", learn = FALSE)))
})

test_that("more rows, points, sources and streams of integer64 are those of doubles", {
  slow_tier()
  d <- column_data()
  big <- transform(d, a = as_64(a))
  plain <- sparsegp(y ~ a + b, d[1:30, ], basis = d[1:6, ], learn = FALSE)
  fit <- sparsegp(y ~ a + b, big[1:30, ], basis = big[1:6, ], learn = FALSE)
  expect_identical(basis(fit), basis(plain))
  expect_identical(predict(update(fit, big[31:40, ]), big), predict(update(plain, d[31:40, ]), d))
  like <- sparsegp(control = gp_control(like = fit), data = big, basis = big[3:9, ])
  expect_identical(predict(like, d), predict(sparsegp(control = gp_control(like = plain), data = d,
                                                      basis = d[3:9, ]), d))
  stream <- function(d) sparsegp(y ~ a + b, d, method = method_online(8, pilot = 20), learn = FALSE)
  expect_identical(predict(stream(big), big[1:3, ]), predict(stream(d), d[1:3, ]))
  read <- function(d) row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 2)
  of_source <- function(d) sparsegp(y ~ a + b, read(d), basis = d[1:6, ], learn = FALSE)
  expect_identical(predict(of_source(big), d[1:3, ]), predict(of_source(d), d[1:3, ]))
  chosen <- next_rows(fit, big[31:40, ], 2)
  expect_identical(as.integer(chosen), as.integer(next_rows(plain, d[31:40, ], 2)))
})

test_that("matrices, vectors and numbers of integer64 are those of doubles", {
  slow_tier()
  d <- column_data()
  x <- d[c("a", "b")]
  big <- transform(x, a = as_64(a))
  plain <- sparsegp(x, d$n, weights = d$n, offset = d$a, learn = FALSE)
  fit <- sparsegp(big, as_64(d$n), weights = as_64(d$n), offset = as_64(d$a), learn = FALSE)
  expect_identical(predict(fit, big, offset = as_64(d$a)), predict(plain, x, offset = d$a))
  one <- sparsegp(as_64(d$a), d$y, learn = FALSE)
  expect_identical(predict(one, as_64(1:3)), predict(sparsegp(d$a, d$y, learn = FALSE), 1:3))
  expect_identical(method_ep(as_64(8)), method_ep(8))
  expect_identical(kernel_rbf(as_64(2), fixed(as_64(3))), kernel_rbf(2, fixed(3)))
  expect_identical(lik_gaussian(as_64(1:4)), lik_gaussian(1:4))
  outside <- as_64(d$a)
  for (formula in c(y ~ outside, y ~ log(outside), y ~ as.numeric(outside), y ~ I(outside / a))) {
    column_error(sparsegp(formula, d), "outside.*, which is of class integer64")
  }
})

test_that("differences of time count in the units of the fit, and dates are no times", {
  slow_tier()
  d <- column_data()
  d$passed <- as.difftime(d$a, units = "mins")
  d$day <- as.Date("2024-01-01") + d$a
  hours <- transform(d, passed = `units<-`(passed, "hours"))
  for (formula in c(y ~ passed + b, y ~ as.numeric(passed) + b)) {
    fit <- column_fit(formula, d, basis = d[1:8, ])
    # 1e-12: minutes, to hours and back
    expect_equal(predict(fit, hours), predict(fit, d), tolerance = 1e-12)
    expect_equal(predict(update(fit, hours[1:5, ]), d), predict(update(fit, d[1:5, ]), d),
                 tolerance = 1e-12)
  }
  chunks <- row_source(function(i) if (i == 1) d[1:20, ] else hours[21:40, ], chunks = 2)
  expect_equal(predict(sparsegp(y ~ passed + b, chunks, learn = FALSE), d),
               predict(sparsegp(y ~ passed + b, d, learn = FALSE), d), tolerance = 1e-12)
  fit <- sparsegp(y ~ day + b, d, learn = FALSE)
  column_error(predict(fit, transform(d, day = as.POSIXct(day))), "day as POSIXct, which was Date")
  column_error(predict(fit, transform(d, day = as.character(day))), "class character.*class Date")
  column_error(predict(fit, transform(d, day = as.numeric(day))), "class numeric.*class Date")
  with_units <- function(unit) {
    symbol <- structure(list(numerator = unit), class = "symbolic_units")
    transform(d, a = structure(a, units = symbol, class = "units"))
  }
  fit <- sparsegp(y ~ a + b, with_units("m"), learn = FALSE)
  agree(predict(fit, with_units("m")), predict(sparsegp(y ~ a + b, d, learn = FALSE), d))
  column_error(predict(fit, with_units("kelvin")), "kelvin, which was units m")
})

test_that("other classes are converted or refused in words", {
  slow_tier()
  d <- column_data()
  plain <- sparsegp(y ~ a + b, d, learn = FALSE)
  same <- function(fit, ...) agree(fitted(fit), fitted(plain), ...)
  d$time <- as.POSIXct("2024-01-01", tz = "UTC") + d$a
  d$broken <- as.POSIXlt(d$time)
  # 1e-6: seconds since 1970 have ten digits in front of those that differ
  same(sparsegp(y ~ broken + b, d, learn = FALSE), tolerance = 1e-6)
  d$array <- array(d$a)
  same(sparsegp(y ~ array + b, d, learn = FALSE))
  same(sparsegp(array(y) ~ a + b, d, learn = FALSE))
  d$inside <- I(as.matrix(d[c("a", "b")]))
  same(sparsegp(y ~ inside, d, learn = FALSE))
  d$series <- ts(d$a, start = 1900)
  same(sparsegp(y ~ series + b, d, learn = FALSE))
  same(sparsegp(y ~ a + b, ts(as.matrix(d[c("y", "a", "b")])), learn = FALSE))
  same(sparsegp(ts(as.matrix(d[c("a", "b")])), array(d$y), learn = FALSE))
  d$complex <- complex(real = d$a)
  d$raw <- as.raw(d$a)
  d$list <- as.list(d$a)
  for (name in c("complex", "raw", "list")) {
    column_error(sparsegp(reformulate(name, "y"), d), name)
    column_error(sparsegp(reformulate("b", name), d), "class|list")
    column_error(sparsegp(d[name], d$y), "`x`")
    column_error(sparsegp(d$a, d[[name]]), "`y`")
  }
  for (response in list(d$time, Sys.Date() + d$a, as.difftime(d$a, units = "mins"))) {
    column_error(sparsegp(d$a, response), "`y` is of class")
  }
  skip_if_not_installed("Matrix")
  d$sparse <- Matrix::Matrix(d$a)
  same(sparsegp(y ~ sparse + b, d, learn = FALSE))
  same(sparsegp(Matrix::Matrix(as.matrix(d[c("a", "b")])), Matrix::Matrix(d$y), learn = FALSE))
})

test_that("tibbles, data.tables and groupedData are data frames", {
  slow_tier()
  d <- column_data()
  plain <- sparsegp(y ~ a + g, d, learn = FALSE)
  on_basis <- sparsegp(y ~ a + g, d, basis = d[1:9, ], learn = FALSE)
  made_by <- function(package, name, ...) {
    if (requireNamespace(package, quietly = TRUE)) getExportedValue(package, name)(...)
  }
  forms <- list(made_by("tibble", "as_tibble", d), made_by("data.table", "as.data.table", d),
                made_by("dplyr", "grouped_df", d, "g"),
                made_by("nlme", "groupedData", y ~ a | g, d))
  # 1e-8: groupedData() orders the two levels of g, which makes a number of them, whose distances
  # round otherwise than levels
  agree <- function(found, expected) expect_equal(unname(found), unname(expected), tolerance = 1e-8)
  for (form in Filter(is.data.frame, forms)) {
    fit <- sparsegp(y ~ a + g, form, basis = form[1:9, ], learn = FALSE)
    agree(predict(sparsegp(y ~ a + g, form, learn = FALSE), form), fitted(plain))
    agree(predict(update(fit, form[1:3, ]), d), predict(update(on_basis, d[1:3, ]), d))
    big <- form
    big$a <- as_64(d$a)
    agree(fitted(sparsegp(y ~ a + g, big, learn = FALSE)), fitted(plain))
  }
})

test_that("odd names, all-NA columns and infinite values are handled or refused in words", {
  slow_tier()
  d <- column_data()
  plain <- sparsegp(y ~ a + b, d, learn = FALSE)
  odd <- stats::setNames(d[c("y", "a", "b")], c("y y", "a b", "if"))
  fit <- sparsegp(`y y` ~ ., odd, learn = FALSE)
  agree(predict(fit, odd), fitted(plain))
  args <- with(d, data.frame(data = y, weights = a, formula = b))
  agree(fitted(sparsegp(data ~ weights + formula, args, learn = FALSE)), fitted(plain))
  twice <- cbind(d, a = 9)
  agree(predict(sparsegp(y ~ a + b, twice, learn = FALSE), twice), fitted(plain))
  for (name in c("(weights)", "(offset)")) {
    taken <- stats::setNames(d[c("y", "a", "b")], c("y", name, "b"))
    column_error(sparsegp(y ~ ., taken), "Rename that column")
    column_error(sparsegp(stats::reformulate(paste0("`", name, "`"), "y"), taken), "Rename")
  }
  expect_true(all(is.na(predict(plain, transform(d, b = NA)))))
  column_error(sparsegp(y ~ a + b, transform(d, b = NA)), "no complete rows")
  column_error(sparsegp(y ~ a + b, d[0, ]), "no complete rows")
  expect_length(predict(plain, d[0, ]), 0L)
  infinite <- transform(d, a = replace(a, 2, Inf))
  column_error(sparsegp(y ~ a, infinite), "infinite values in a")
  column_error(sparsegp(a ~ b, infinite), "not finite")
  column_error(sparsegp(y ~ b + offset(a), infinite), "`offset` must be finite")
  column_error(sparsegp(y ~ b, infinite, weights = a), "`weights` must be positive and finite")
  column_error(predict(plain, infinite), "infinite values in a")
})

test_that("data of which no row is complete are refused with what to leave out", {
  d <- data.frame(y = rnorm(12), a = rnorm(12), gone = NA_real_, some = c(rep(NA, 5), rnorm(7)))
  words <- "Leave out inputs that are often missing: `gone` \\(12 of 12 rows\\), `some` \\(5 of"
  column_error(sparsegp(y ~ ., d), words)
  column_error(sparsegp(d[c("a", "gone")], d$y), "`gone` \\(12 of 12 rows\\)")
  column_error(gp_density(cbind(d$a, d$gone)), "12 of 12 rows")
  column_error(sparsegp(y ~ a, d[0, ]), "Give rows")
})

test_that("an ordered factor of more levels than R has contrasts for is an input all the same", {
  d <- data.frame(y = rnorm(120), o = factor(1:100, ordered = TRUE)[c(1:100, 1:20)], a = rnorm(120))
  expect_length(sparsegp(y ~ o + a, d, learn = FALSE)$scaling$names, 2L)
  fit <- sparsegp(y ~ o + a, d, control = gp_control(coding = "contrasts"), learn = FALSE)
  expect_length(fit$scaling$names, 100L)
  expect_true(all(is.finite(predict(fit, d[5:9, ]))))
  expect_equal(predict(fit, d[5:9, ]), predict(fit)[5:9], tolerance = 1e-10)
})

test_that("rows without a response, and rows that `subset` leaves none of, are said to be so", {
  d <- data.frame(y = rnorm(8), a = rnorm(8))
  column_error(sparsegp(y ~ a, transform(d, y = NA_real_)), "response `y` is missing in all 8")
  column_error(sparsegp(y ~ a, d, subset = a > 99), "subset")
  column_error(sparsegp(y ~ y + a, d), "response among the inputs: y")
  column_error(sparsegp(log(a + 9) ~ log(a + 9), d), "among the inputs")
})

test_that("answers of odd but legal rows are answers", {
  slow_tier()
  set.seed(2)
  # row names of a matrix may come twice
  m <- matrix(rnorm(30), dimnames = list(rep(c("r", "s"), 15), "x"))
  fit <- sparsegp(m, rnorm(30), learn = FALSE)
  expect_length(residuals(fit), 30L)
  expect_identical(nrow(as.data.frame(loo(fit))), 30L)
  # no rows, after a factor of one level
  d <- data.frame(y = rnorm(12), a = rnorm(12), k = factor("a"))
  fit <- sparsegp(y ~ a + k, d, learn = FALSE)
  expect_length(predict(fit, d[0, ]), 0L)
  # finite numbers whose sum is not
  far <- data.frame(x = seq(0, 1.5e308, length.out = 20), y = sin(1:20))
  expect_length(residuals(sparsegp(y ~ x, far, learn = FALSE,
                                   control = gp_control(keep_x = TRUE))), 20L)
  # a user's na.action, with a class of its own or none
  d$a[3] <- NA
  plain <- function(frame) structure(frame[-3, ], na.action = c(r = 3L))
  fit <- sparsegp(y ~ a, d, na.action = plain, learn = FALSE)
  expect_length(predict(fit), 11L)
  # no curvature of a stream
  stream <- sparsegp(y ~ a, d[-3, ], method = method_online(size = 5, pilot = 11))
  expect_true(all(is.na(coef(summary(stream))[, "Std. Error"])))
  column_error(predict(fit, d[1:2, ], at = 0.9), "quantile")
  column_error(df.residual(sparsegp(y ~ a, d, "heteroscedastic", learn = FALSE)), "spread")
})

test_that("a column that is NA in all first rows may be of any class in later ones", {
  slow_tier()
  set.seed(5)
  d <- data.frame(y = rnorm(40), a = rnorm(40), g = rep(c("u", "v"), 20))
  chunk <- function(i) {
    if (i == 1) transform(d[1:10, ], a = NA, g = NA) else if (i < 5) d[10 * (i - 1) + 1:10, ]
  }
  rows <- d[11:40, ]
  fit <- sparsegp(y ~ a + g, row_source(chunk), basis = rows[1:8, ], learn = FALSE)
  expect_equal(predict(fit, d), predict(sparsegp(y ~ a + g, rows, basis = 1:8, learn = FALSE), d),
               tolerance = 1e-8)
  stream <- sparsegp(y ~ a + g, chunk(1), method = method_online(size = 8, pilot = 10),
                     learn = FALSE)
  expect_length(predict(update(stream, rows), d), 40L)
  # and what is known stays so
  column_error(update(update(stream, rows), transform(rows, a = "x")), "class")
})

test_that("numbers of 1e15 that differ by 1 vary, and those of 1e16 by no more than rounding", {
  y <- sin(1:12)
  fit <- expect_silent(sparsegp(1e15 + 1:12, y, lik_gaussian(fixed(1e-4)), learn = FALSE))
  expect_false(fit$scaling$alike)
  expect_equal(predict(fit, 1e15 + 3), y[3], tolerance = 0.2, ignore_attr = TRUE)
  expect_warning(sparsegp(1e16 + 1:12, y, learn = FALSE), "varies by more than its rounding")
})
