# Errors of cases that once ended without a remedy, or in a base error.

r_code_alone()

test_that("labels have no scale: `transform` is refused, and the remedy is to leave it out", {
  d <- data.frame(x = seq(-2, 2, length.out = 24L))
  d$logical <- d$x + sin(40 * d$x) > 0
  d$factor <- factor(d$logical)
  d$character <- as.character(d$factor)
  d$ordered <- factor(findInterval(d$x, c(-1, 1)), ordered = TRUE)
  d$count <- as.integer(4 + 3 * d$x %/% 1)
  for (transform in c("identity", "asinh", "sqrt", "log")) {
    for (response in c("logical", "factor", "character", "ordered")) {
      formula <- stats::reformulate("x", response)
      expect_match(refused(sparsegp(formula, d, transform = transform), "transform"),
                   "Leave it out", label = response)
    }
  }
  labels <- list(logical = d$logical, factor = d$factor)
  for (y in labels) refused(sparsegp(cbind(d$x), y, transform = "sqrt"), "transform")
  refused(sparsegp(logical ~ x, d, lik_gaussian(transform = "identity")), "transform")
  refused(update(sparsegp(logical ~ x, d, learn = FALSE), transform = "identity"), "transform")
  for (likelihood in c("poisson", "negbin", "binomial", "logit", "softmax", "ordinal")) {
    expect_match(refused(sparsegp(count ~ x, d, likelihood, transform = "sqrt"), "transform"),
                 "Leave it out", label = likelihood)
  }
  expect_match(refused(sparsegp(cbind(count, 9L) ~ x, d, "binomial", transform = "sqrt")),
               "Leave it out")
  stream <- method_online(size = 5, pilot = 100) # no row is fitted yet
  refused(sparsegp(factor ~ x, d, method = stream, transform = "sqrt"), "transform")
  source <- row_source(function(i) d[seq(12 * i - 11, 12 * i), ], chunks = 2)
  refused(sparsegp(logical ~ x, source, transform = "sqrt"), "transform")
  refused(sparsegp(factor ~ x, source, transform = "sqrt"), "transform")
})

test_that("a response that is not finite has a remedy", {
  d <- data.frame(x = 1:9, y = replace(sin(1:9), 3L, Inf), z = cos(1:9))
  for (fit in list(quote(sparsegp(y ~ x, d)), quote(sparsegp(y ~ x, d, transform = "asinh")),
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
