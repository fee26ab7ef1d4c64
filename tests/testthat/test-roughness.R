# A rougher kernel for many labels, chosen by leave-one-out.

r_code_alone()

QUICK <- gp_control(effort = "quick")

# Labels by the sign of a noisy draw from a prior: of covariance exp(-r), or smooth.
labels_of_draw <- function(rough, n) {
  set.seed(1)
  x <- matrix(runif(2 * n, -1, 1), n, dimnames = list(NULL, c("a", "b")))
  r <- as.matrix(dist(x)) / 0.3
  covariance <- 9 * (if (rough) exp(-r) else exp(-r^2 / 2)) + diag(1e-6, n)
  latent <- drop(crossprod(chol(covariance), rnorm(n))) + rnorm(n)
  list(x = x, y = factor(ifelse(latent > 0, "in", "out")))
}

tried_roughness <- function(fit) choices_of_stage(fit, "roughness")

test_that("a rough function has a rougher kernel than the evidence of the pilot prefers", {
  slow_tier()
  d <- labels_of_draw(TRUE, 1200)
  fit <- sparsegp(d$x, d$y, control = QUICK)
  of_kernel <- choices_of_stage(fit, "kernel")
  expect_identical(of_kernel$candidate[of_kernel$taken], "rbf()")
  expect_identical(format(fit$kernel), "matern32()")
  tried <- tried_roughness(fit)
  expect_identical(tried$candidate[1L], "rbf()")
  expect_match(tried$candidate[-1L], "^matern32\\(\\), length scales x")
  expect_gt(tried$gain[2L], 2 * tried$se[2L])
  expect_true(all(tried$points == tried$points[1L]))
  taken <- tried$candidate[tried$taken]
  expect_length(taken, 1L)
  expect_output(print(summary(fit)), paste("log probability:", taken), fixed = TRUE)
  expect_output(print(summary(fit, details = TRUE)), "Choice of roughness, by leave-one-out")
  expect_equal(mean(loo_lpd(fit)), tried$score[tried$taken], tolerance = 1e-10)
  # the same fit by this kernel, at these hyperparameters
  values <- coef(fit)
  same <- kernel_matern32(values[["variance"]], values[["lengthscale"]])
  given <- sparsegp(d$x, d$y, fit$likelihood, same, learn = FALSE, control = QUICK)
  expect_identical(given$spec, fit$spec)
  # an average begins with the fit's own kernel, and has the one that the race preferred
  close <- close_structures(fit)
  expect_true("kernel: rbf()" %in% names(close))
  expect_false("kernel: matern32()" %in% names(close))
  of_kernel <- startsWith(names(close), "kernel")
  for (other in close[!of_kernel]) expect_identical(other$fields$kernel, fit$kernel)
  again <- fit_of_structure(close[["kernel: rbf()"]], fit, environment())
  expect_identical(format(again$kernel), "rbf()")
  expect_false("roughness" %in% again$choices$stage)
})

test_that("a smooth function keeps its kernel, and one that was given is not changed", {
  slow_tier()
  d <- labels_of_draw(FALSE, 500)
  fit <- sparsegp(d$x, d$y, control = QUICK)
  tried <- tried_roughness(fit)
  expect_identical(tried$taken, c(TRUE, FALSE))
  expect_identical(format(fit$kernel), tried$candidate[1L])
  expect_match(tried$candidate[2L], "^matern32.*x 0")
  none <- function(...) {
    expect_identical(NROW(tried_roughness(sparsegp(d$x, d$y, ..., control = QUICK))), 0L)
  }
  none(kernel = "rbf")
  none(structure = "fixed")
  with_policy(compare_rows = 400, code = none())
})

test_that("classes one-vs-rest, and a margin, have a rougher kernel as well", {
  slow_tier()
  d <- labels_of_draw(TRUE, 500)
  d$y <- factor(ifelse(d$x[, "a"] > 0.6, "right", as.character(d$y)))
  with_policy(min_standard_errors = -1000, code = { # all that is tried is taken
    fit <- sparsegp(d$x, d$y, lik_probit(), control = QUICK)
    two <- sparsegp(d$x, d$y == "in", control = QUICK)
  })
  for (one in list(fit, two)) {
    expect_identical(one$kernel$type, "matern32")
    expect_identical(sum(tried_roughness(one)$taken), 1L)
    expect_true(all(is.finite(predict(one, d$x, type = "prob"))))
    expect_silent(plot(one, "choices"))
  }
  expect_identical(two$likelihood$type, "margin")
})
