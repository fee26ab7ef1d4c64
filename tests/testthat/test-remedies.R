# Errors of cases that once ended without a remedy, or in a base error.

r_code_alone()

test_that("labels have no scale: `transform` is refused, and the remedy is to leave it out", {
  slow_tier()
  d <- data.frame(x = seq(-2, 2, length.out = 24L))
  d$logical <- d$x + sin(40 * d$x) > 0
  d$factor <- factor(d$logical)
  d$character <- as.character(d$factor)
  d$ordered <- factor(findInterval(d$x, c(-1, 1)), ordered = TRUE)
  d$count <- as.integer(4 + 3 * d$x %/% 1)
  for (transform in c("identity", "asinh", "sqrt", "log")) {
    for (response in c("logical", "factor", "character", "ordered")) {
      formula <- stats::reformulate("x", response)
      expect_match(refused(sparsegp(formula, d, likelihood = lik_gaussian(transform = transform)),
                           "transform"),
                   "Leave it out", label = response)
    }
  }
  labels <- list(logical = d$logical, factor = d$factor)
  for (y in labels) refused(sparsegp(cbind(d$x), y, likelihood = lik_gaussian(transform = "sqrt")),
                            "transform")
  refused(sparsegp(logical ~ x, d, lik_gaussian(transform = "identity")), "transform")
  refused(update(sparsegp(logical ~ x, d, learn = FALSE),
                 likelihood = lik_gaussian(transform = "identity")), "transform")
  stream <- method_online(size = 5, pilot = 100) # no row is fitted yet
  refused(sparsegp(factor ~ x, d, method = stream, likelihood = lik_gaussian(transform = "sqrt")),
          "transform")
  source <- row_source(function(i) d[seq(12 * i - 11, 12 * i), ], chunks = 2)
  refused(sparsegp(logical ~ x, source, likelihood = lik_gaussian(transform = "sqrt")), "transform")
  refused(sparsegp(factor ~ x, source, likelihood = lik_gaussian(transform = "sqrt")), "transform")
})

test_that("a response that is not finite has a remedy", {
  d <- data.frame(x = 1:9, y = replace(sin(1:9), 3L, Inf), z = cos(1:9))
  for (fit in list(quote(sparsegp(y ~ x, d)),
                   quote(sparsegp(y ~ x, d, likelihood = lik_gaussian(transform = "asinh"))),
                   quote(sparsegp(cbind(y, z) ~ x, d)), quote(sparsegp(d$x, d$y)))) {
    expect_match(refused(eval(fit), "y"), "make them NA")
  }
})

test_that("a fit made in a wrapper is fitted again", {
  slow_tier()
  d <- data.frame(x = 1:12, y = sin(1:12), w = 1:2)
  dots <- function(...) sparsegp(...)
  deeper <- function(...) dots(...)
  direct <- sparsegp(y ~ x, d, weights = w, kernel = "rbf",
                     control = gp_control(integrate = "none"))
  for (wrapper in list(dots, deeper)) {
    fit <- wrapper(y ~ x, d, weights = w, kernel = "rbf", control = gp_control(integrate = "none"))
    expect_identical(fit$call, direct$call)
    expect_equal(coef(update(fit, . ~ .)), coef(direct))
    expect_equal(coef(update(fit, scale = FALSE)), coef(update(direct, scale = FALSE)))
  }
  matrix <- dots(cbind(d$x), d$y, kernel = "rbf")
  expect_equal(coef(update(matrix, learn = TRUE)), coef(matrix))
  named <- function(formula, data) sparsegp(formula, data, kernel = "rbf")
  fit <- named(y ~ x, d)
  expect_equal(coef(update(fit, data = d)), coef(fit))
  refused(update(fit), "data") # the name of a function of package utils
  other <- function(rows, kind) sparsegp(y ~ x, rows, kernel = kind)
  fit <- other(d, "rbf")
  refused(update(fit, data = d), "object")
  expect_equal(coef(update(fit, data = d, kernel = "rbf")), coef(fit))
  refused(sparsegp(formula = sin, data = d), "formula")
})

remedy_data <- local({
  d <- data.frame(x = seq(0, 3, length.out = 30L), g = factor(rep(c("a", "b", "c"), 10L)))
  d$y <- sin(2 * d$x)
  d$l <- factor(d$y > 0)
  d$n <- rep(0:5, 5L)
  d
})

remedy_fit <- function(formula = y ~ x, ...) {
  sparsegp(formula, remedy_data, ..., kernel = kernel_rbf(1, 1), learn = FALSE)
}

test_that("rows that are not there, and weights that are missing, are named", {
  d <- remedy_data
  refused(sparsegp(y ~ x, d, subset = 31:40), "subset")
  refused(sparsegp(y ~ x, d, subset = rep(NA, 30)), "subset")
  refused(sparsegp(y ~ x, transform(d, y = NA), subset = 1:9), "data")
  refused(sparsegp(y ~ x, d, weights = rep(NA, 30)), "weights")
  refused(sparsegp(y ~ x, d, weights = rep(NA_real_, 30)), "weights")
  refused(sparsegp(d["x"], d$y, weights = rep(NA, 30)), "weights")
  clock <- function(...) sparsegp(y ~ x, d, method = method_online(10, pilot = 20, ...))
  expect_match(refused(clock(forget = c(t = 10)), "data"), "lacks t")
  expect_match(refused(clock(drift = c(no_such = 10)), "data"), "lacks no_such")
  expect_match(refused(sparsegp(I(n / 20) ~ x, d, likelihood = "binomial"), "y"), "`weights`")
})

test_that("errors name the argument that was given", {
  fit <- remedy_fit()
  for (x in list(fit, summary(fit), loo(fit))) {
    for (digits in list(-1, "a", 1:2, NULL)) refused(print(x, digits = digits), "digits")
  }
  refused(model.matrix(fit, 3), "data")
  refused(plot(fit, n = 1e9), "n")
  expect_match(refused(compare(fit)), "one fit")
  matrix <- sparsegp(remedy_data["x"], remedy_data$y, kernel = kernel_rbf(1, 1), learn = FALSE)
  expect_match(refused(terms(matrix), "x"), "by a formula")
  stream <- remedy_fit(method = method_online(10, pilot = 20))
  expect_match(refused(plot(stream, "loo"), "type"), "does not keep")
})

test_that("errors of functions that read and take chunks are about the argument", {
  d <- remedy_data
  source <- function(fault) {
    row_source(function(i) if (i == 2) stop(fault) else d[1:10, ], chunks = 3)
  }
  expect_match(refused(sparsegp(y ~ x, source("no disk")), "x"), "chunk 2: no disk")
  rows <- row_source(function(i) d[1:10, ], chunks = 3)
  expect_match(refused(predict(remedy_fit(), rows, to = function(p, i) stop("full")), "to"),
               "chunk 1: full")
})

test_that("augment() refuses what predict() refuses, and takes a mean with its spread", {
  slow_tier()
  skip_if_not_installed("generics")
  refused(generics::augment(remedy_fit(), se_fit = NA), "se_fit")
  refused(generics::augment(remedy_fit(g ~ x), se_fit = TRUE), "se_fit")
  refused(generics::augment(remedy_fit(g ~ x), interval = "confidence"), "interval")
  spread <- sparsegp(y ~ x, remedy_data, likelihood = lik_heteroscedastic(), learn = FALSE)
  rows <- generics::augment(spread, se_fit = TRUE, interval = "prediction")
  expect_equal(rows$.fitted, unname(fitted(spread)))
  expect_equal(rows$.resid, unname(residuals(spread)))
  expect_true(all(c(".lower", ".upper", ".se.fit", ".loo_lpd") %in% names(rows)))
})
