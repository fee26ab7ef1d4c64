# Covariances and intervals of hyperparameters against differences of the evidence.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

plain <- function() sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)

# Minus the second differences of log evidence plus log prior, from fits that learn nothing
numeric_curvature <- function(fit, refit) {
  table <- fit$hyper
  value <- function(theta) c(logLik(refit(theta))) + hyper_log_prior(table, theta)$value
  h <- 0.02
  k <- nrow(table)
  unit <- function(i) replace(numeric(k), i, h)
  outer(seq_len(k), seq_len(k), Vectorize(function(i, j) {
    at <- table$theta
    -(value(at + unit(i) + unit(j)) - value(at + unit(i) - unit(j)) -
        value(at - unit(i) + unit(j)) + value(at - unit(i) - unit(j))) / (4 * h^2)
  }))
}

test_that("the curvature is that of log evidence and prior, and intervals are of its logarithms", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt, mtcars)
  refit <- function(theta) {
    at <- hyper_value(fit$hyper, theta)
    sparsegp(mpg ~ wt, mtcars, lik_gaussian(at[3L]), kernel_rbf(at[1L], at[2L]), learn = FALSE)
  }
  found <- theta_covariance(fit)
  # second differences of step 0.02
  expect_equal(found, solve(numeric_curvature(fit, refit)), tolerance = 2e-3)
  value <- coef(fit)
  expect_equal(vcov(fit), found * tcrossprod(value), ignore_attr = TRUE, tolerance = 1e-10)
  expect_identical(dimnames(vcov(fit)), rep(list(names(value)), 2L))
  ends <- confint(fit, level = 0.9)
  expect_equal(ends[, 2L], value * exp(qnorm(0.95) * sqrt(diag(found))), tolerance = 1e-10)
  expect_identical(colnames(ends), c("5 %", "95 %"))
  expect_identical(rownames(confint(fit, "noise")), "noise")
  refused(confint(fit, "nonsense"), "variance, lengthscale, noise")
  refused(vcov(plain()), "learn = TRUE")
})

test_that("curvature and importance are of fits on a basis and of cut points, too", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = runif(300), z = runif(300))
  d$y <- sin(6 * d$x) + 0.1 * rnorm(300)
  fit <- sparsegp(y ~ x + z, d, method = method_ep(size = 15))
  ends <- confint(fit)
  expect_true(all(ends[, 1L] < coef(fit) & coef(fit) < ends[, 2L]))
  expect_identical(rownames(importance(fit)), c("x", "z"))
  cut <- sparsegp(factor(gear, ordered = TRUE) ~ wt, mtcars)
  ends <- confint(cut)
  expect_true(all(ends[, 1L] < coef(cut) & coef(cut) < ends[, 2L]))
  expect_identical(rownames(vcov(cut)), names(coef(cut)))
  refused(vcov(sparsegp(y ~ x + z, d,
    control = gp_control(keep_x = FALSE), method = method_ep(size = 15))), "keep_x")
})

test_that("a curvature that is none is refused, and so are posteriors of some rows", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt, mtcars)
  away <- fit
  away$hyper$theta[2L] <- away$hyper$theta[2L] + 12 # beyond all rows the evidence is flat
  away$hyper$prior <- rep(list(prior_flat()), nrow(away$hyper))
  refused(vcov(away), "does not decrease")
  some <- sparsegp(mpg ~ wt, mtcars, method = method_ivm(8, refine = "active"))
  refused(vcov(some), "some rows only")
})
