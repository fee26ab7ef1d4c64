r_code_alone()

toy <- function(n = 20L) {
  set.seed(14)
  d <- data.frame(x = rnorm(n), z = runif(n), w = sample(1:4, n, TRUE))
  d$y <- sin(d$x) + d$z + rnorm(n, sd = 0.2)
  d
}

same_fit <- function(a, b) {
  expect_identical(fitted(a), fitted(b))
  expect_identical(coef(a), coef(b))
}

test_that("update() changes the formula as it does for lm()", {
  d <- toy()
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  same_fit(update(fit, . ~ . + z), sparsegp(y ~ x + z, d, learn = FALSE))
  same_fit(update(fit, log(. + 5) ~ .), sparsegp(log(y + 5) ~ x, d, learn = FALSE))
  dot <- sparsegp(y ~ ., d[c("x", "z", "y")], learn = FALSE)
  same_fit(update(dot, . ~ . - z), fit)
  expect_equal(formula(update(dot, . ~ . - z)), y ~ x, ignore_formula_env = TRUE)
})

test_that("update() changes, adds and removes arguments", {
  memory_tier()
  d <- toy()
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  same_fit(update(fit), fit)
  kernel <- kernel_matern32()
  same_fit(update(fit, kernel = kernel), sparsegp(y ~ x, d, kernel = kernel, learn = FALSE))
  same_fit(update(fit, data = d[1:10, ]), sparsegp(y ~ x, d[1:10, ], learn = FALSE))
  same_fit(update(fit, . ~ z, subset = x > 0),
           sparsegp(y ~ z, d, subset = x > 0, learn = FALSE))
  same_fit(update(update(fit, weights = w), weights = NULL), fit)
  by_matrix <- sparsegp(d$x, d$y, learn = FALSE)
  same_fit(update(by_matrix, y = d$y + 1), sparsegp(d$x, d$y + 1, learn = FALSE))
})

test_that("an argument set to NULL is removed, so that its default holds again", {
  memory_tier()
  d <- toy()
  d$x[3] <- NA
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  same_fit(update(update(fit, kernel = kernel_linear()), kernel = NULL), fit)
  same_fit(update(update(fit, scale = FALSE), scale = NULL), fit)
  same_fit(update(update(fit, na.action = na.exclude), na.action = NULL), fit)
  same_fit(update(update(fit, subset = z > 0.5), subset = NULL), fit)
  expect_false(is.null(update(fit, learn = NULL)$learning)) # learn = TRUE is the default
  same_fit(update(fit, kernel = NULL, weights = NULL), fit) # nothing to remove
})

test_that("update() works inside functions, with what is local there", {
  d <- toy()
  expected <- sparsegp(y ~ x + z, d, weights = w, learn = FALSE)
  inside <- function(frame) {
    counts <- frame$w
    fit <- sparsegp(y ~ x, frame, learn = FALSE)
    update(fit, . ~ . + z, weights = counts)
  }
  same_fit(inside(d), expected)
  changed <- function(fit) {
    mine <- kernel_constant() + kernel_linear()
    update(fit, kernel = mine)
  }
  same_fit(changed(sparsegp(y ~ x, d, learn = FALSE)),
           sparsegp(y ~ x, d, kernel = kernel_constant() + kernel_linear(), learn = FALSE))
})

test_that("update() works on calls that hold values in place of names, as do.call() makes them", {
  d <- toy()
  fit <- do.call(sparsegp, list(y ~ x, d, kernel = kernel_rbf(1, 2), learn = FALSE))
  linear <- sparsegp(y ~ x, d, kernel = kernel_linear(), learn = FALSE)
  same_fit(update(fit, kernel = kernel_linear()), linear)
  same_fit(do.call(update, list(fit, kernel = kernel_linear())), linear)
  shorter <- do.call(update, list(fit, data = d[1:9, c("x", "y")]))
  same_fit(shorter, sparsegp(y ~ x, d[1:9, ], kernel = kernel_rbf(1, 2), learn = FALSE))
})

test_that("evaluate = FALSE gives the call", {
  d <- toy()
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  call <- update(fit, . ~ . + z, kernel = kernel_rq(), evaluate = FALSE)
  expect_type(call, "language")
  expect_equal(deparse1(call$kernel), "kernel_rq()")
  same_fit(eval(call), update(fit, . ~ . + z, kernel = kernel_rq()))
})

test_that("what update() cannot do is refused in words, and the old fit stays as it was", {
  d <- toy()
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  before <- fit
  expect_error(update(fit, d), "`formula.`.*cannot take more", class = "sparsegp_error")
  expect_error(update(fit, d$x, d$y), "`formula.`", class = "sparsegp_error")
  expect_error(update(fit, . ~ ., 3), "unnamed", class = "sparsegp_error")
  expect_error(update(fit, kernal = kernel_rq()), "kernal", class = "sparsegp_error")
  expect_error(update(fit, evaluate = NA), "`evaluate`", class = "sparsegp_error")
  expect_error(update(fit, . ~ . + nowhere), "nowhere", class = "sparsegp_error")
  by_matrix <- sparsegp(d$x, d$y, learn = FALSE)
  expect_error(update(by_matrix, . ~ z), "`formula.`", class = "sparsegp_error")
  expect_identical(fit, before)
})
