# Leave-one-out as users see it: loo(), compare(), calibration(), and what summary() says of it.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

fifteen <- iris[c(1:5, 51:55, 101:105), ]

test_that("loo() of Gaussian noise is the prediction of a row from all others", {
  fit <- sparsegp(mpg ~ wt, mtcars, lik_gaussian(4), kernel_rbf(20, 1), learn = FALSE,
                  mean = "average")
  x <- (mtcars$wt - mean(mtcars$wt)) / (sd(mtcars$wt) * sqrt(31 / 32))
  y <- mtcars$mpg - mean(mtcars$mpg) # the constant stays that of all rows
  inverse <- solve(20 * exp(-outer(x, x, "-")^2 / 2) + 4 * diag(32))
  out <- loo(fit)
  sd <- 1 / sqrt(diag(inverse))
  mean <- mtcars$mpg - drop(inverse %*% y) / diag(inverse)
  expect_equal(out$mean, mean, tolerance = 1e-8)
  expect_equal(out$sd, sd, tolerance = 1e-8)
  expect_equal(out$lpd, dnorm(mtcars$mpg, mean, sd, log = TRUE), tolerance = 1e-8)
  expect_identical(out$lpd, unname(loo_lpd(fit)))
  expect_identical(rownames(out), rownames(mtcars))
  expect_identical(out$observed, mtcars$mpg)
  text <- paste(capture.output(print(out)), collapse = "\n")
  r2 <- 1 - sum((mtcars$mpg - mean)^2) / sum(y^2)
  expect_match(text, paste0("R2 ", format(r2, digits = 4)), fixed = TRUE)
  found <- summary(fit)
  expect_equal(c(found$loo_r2, found$loo_sd, found$noise_sd),
               c(r2, sqrt(mean((mtcars$mpg - mean)^2)), 2), tolerance = 1e-8)
  expect_output(print(found), "Leave-one-out R2")
  expect_output(print(fit), "standard deviation of the noise: 2")
})

test_that("loo() of counts, shares, weights and classes is of their distributions", {
  slow_tier()
  counts <- sparsegp(carb ~ wt, mtcars, "poisson", learn = FALSE)
  at <- loo(counts)
  link <- counts$cavity$mean + coef(counts)[["bias"]]
  mean <- exp(link + counts$cavity$var / 2)
  expect_equal(at$mean, mean, tolerance = 1e-10)
  expect_equal(at$sd, sqrt(mean + mean^2 * expm1(counts$cavity$var)), tolerance = 1e-10)
  d <- transform(mtcars, w = rep(c(1, 4), 16))
  weighted <- sparsegp(mpg ~ wt, d, weights = w, learn = FALSE)
  expect_equal(loo(weighted)$sd^2 - weighted$cavity$var * weighted$response$unit^2,
               coef(weighted)[["noise"]] / d$w, tolerance = 1e-8)
  two <- loo(sparsegp(am ~ wt, mtcars, "probit", learn = FALSE))
  expect_named(two, c("observed", "predicted", "prob", "prob.0", "prob.1", "lpd"))
  expect_equal(two$lpd, log(two$prob), tolerance = 1e-10)
  expect_identical(two$prob, ifelse(mtcars$am == 1, two$prob.1, two$prob.0))
  expect_output(print(two), "error rate [0-9.]+%")
  several <- loo(sparsegp(Species ~ Petal.Width, fifteen, learn = FALSE))
  expect_equal(several$prob.setosa + several$prob.versicolor + several$prob.virginica, rep(1, 15))
  expect_equal(several$lpd, log(several$prob), tolerance = 1e-8)
  rest <- loo(sparsegp(Species ~ Petal.Width, fifteen, "logit", learn = FALSE))
  expect_equal(rest$lpd, log(rest$prob), tolerance = 1e-12)
  ordered <- loo(sparsegp(1:6, factor(c(1, 1, 2, 2, 3, 3), ordered = TRUE), learn = FALSE))
  expect_s3_class(ordered$predicted, "ordered")
  stream <- sparsegp(mpg ~ wt, mtcars, method = method_online(5, pilot = 20), learn = FALSE)
  refused(loo(stream), "keeps no rows")
  # rows without a label have no density
  some <- sparsegp(1:8, c(0, NA, 0, NA, 1, NA, 1, 1), lik_nullcat(), learn = FALSE)
  expect_identical(which(is.na(loo(some)$observed)), c(2L, 4L, 6L))
})

test_that("compare() has the best fit first, and standard errors of the rows' differences", {
  slow_tier()
  small <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  large <- sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)
  table <- compare(small, "with power" = large)
  each <- cbind(loo_lpd(small), loo_lpd(large))
  best <- which.max(colSums(each))
  expect_identical(rownames(table)[1L], c("small", "with power")[best])
  behind <- each[, 3L - best] - each[, best]
  expect_equal(table$difference, c(0, sum(behind)), tolerance = 1e-12)
  expect_equal(table$se, c(0, sqrt(32 * var(behind))), tolerance = 1e-12)
  expect_equal(table$lpd, sort(colSums(each), decreasing = TRUE), tolerance = 1e-12)
  expect_equal(sort(table$log_evidence), sort(c(logLik(small), logLik(large))), tolerance = 1e-12)
  expect_equal(anova(small, "with power" = large), table)
  expect_output(print(table), "of 32 rows, the best first.*with power")
  refused(anova(small), "second fit")
  # all of them may be named, or none
  expect_setequal(rownames(compare(a = small, b = large)), c("a", "b"))
  expect_setequal(rownames(compare(small, large)), c("small", "large"))
  refused(compare(small, sparsegp(mpg ~ wt, mtcars[-1L, ], learn = FALSE)), "same rows")
  refused(compare(small, lm(mpg ~ wt, mtcars)), "sparsegp")
  rest <- sparsegp(Species ~ Petal.Width, fifteen, "logit", learn = FALSE)
  joint <- sparsegp(Species ~ Petal.Width, fifteen, learn = FALSE)
  expect_identical(is.na(compare(rest, joint)["rest", "log_evidence"]), TRUE)
})

test_that("the generic of package loo finds the method", {
  skip_if_not_installed("loo")
  fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  expect_identical(loo::loo(fit), loo(fit))
  other <- sparsegp(mpg ~ hp, mtcars, learn = FALSE)
  expect_identical(loo::loo_compare(fit, other), compare(fit, other))
})

test_that("calibration() counts what happened against what was predicted", {
  fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  table <- calibration(fit, nominal = c(0.5, 0.9))
  out <- loo(fit)
  inside <- function(p) mean(abs(out$observed - out$mean) <= qnorm((1 + p) / 2) * out$sd)
  expect_equal(table$observed, c(inside(0.5), inside(0.9)))
  expect_equal(table$lwr, qbinom(0.025, 32, c(0.5, 0.9)) / 32)
  expect_output(print(table), "leave-one-out, 32 rows")
  classes <- sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)
  table <- calibration(classes, n = 4)
  prob <- loo(classes)$prob.1
  expect_identical(sum(table$rows), 32L)
  expect_equal(sum(table$observed * table$rows), sum(mtcars$am))
  expect_equal(attr(table, "scores"), c(brier = mean(2 * (prob - mtcars$am)^2),
                                        log = mean(loo_lpd(classes))), tolerance = 1e-10)
  expect_output(print(table), "Brier score")
  fresh <- calibration(sparsegp(mpg ~ wt, mtcars[1:20, ], learn = FALSE), mtcars[21:32, ])
  expect_output(print(fresh), "new data, 12 rows")
  refused(calibration(fit, nominal = 2), "nominal")
  refused(calibration(sparsegp(mpg ~ wt, mtcars, method = method_online(5, pilot = 20),
                               learn = FALSE)), "keeps no rows")
})

test_that("the leave-one-out log density of a label is the log of its probability", {
  slow_tier()
  set.seed(12)
  n <- 40
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  y <- x[, "a"] + 0.3 * rnorm(n) > 0
  # of a margin log Z includes the probability of no row in it, of least squares it is a density's
  for (lik in list(lik_probit(), lik_logit(), lik_step(), lik_margin(), lik_squares())) {
    fit <- sparsegp(x, y, lik, kernel_rbf(4, 1), learn = FALSE)
    table <- as.data.frame(loo(fit))
    # quadratures of log Z and of the probability differ by 1e-8
    expect_equal(table$lpd, log(table$prob), tolerance = 1e-6, info = lik$type)
    expect_equal(table$lpd, unname(loo_lpd(fit)), tolerance = 1e-6, info = lik$type)
  }
})
