# Gaussian noise of a known variance for each row: lik_gaussian(variance = <vector>).

reached_elsewhere()

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

measured <- function(n = 30) {
  set.seed(31)
  d <- data.frame(x = sort(runif(n, -2, 2)), variance = 10^runif(n, -3, 1))
  d$y <- 50 + 3 * sin(2 * d$x) + rnorm(n, sd = sqrt(d$variance))
  d
}

# What the fit says of its own: kernel in units of the response, constant removed.
dense_regression <- function(fit, d, new) {
  K <- function(a, b) coef(fit)[["variance"]] * exp(-outer(a, b, "-")^2 / 2)
  centre <- fit$response$centre
  C <- K(d$x, d$x) + diag(d$variance)
  list(mean = centre + drop(K(new, d$x) %*% solve(C, d$y - centre)),
       var = diag(K(new, new) - K(new, d$x) %*% solve(C, K(d$x, new))),
       evidence = reference_gaussian_evidence(K(d$x, d$x), d$y, d$variance, centre))
}

known <- function(d, ..., formula = y ~ x) {
  sparsegp(formula, d, lik_gaussian(d$variance), kernel_rbf(4, 1), scale = FALSE, learn = FALSE,
           mean = "average", ...)
}

test_that("known variances give the dense regression with that diagonal", {
  memory_tier()
  d <- measured()
  new <- c(-3, 0.1, 1)
  for (fit in list(known(d), sparsegp(d$x, d$y, lik_gaussian(fixed(d$variance)), kernel_rbf(4, 1),
                                      scale = FALSE, learn = FALSE, mean = "average"))) {
    wanted <- dense_regression(fit, d, new)
    found <- predict(fit, if (is.null(fit$terms)) new else data.frame(x = new), se.fit = TRUE)
    # linear algebra alone, condition number 1e4
    expect_equal(unname(found$fit), wanted$mean, tolerance = 1e-10)
    expect_equal(unname(found$se.fit^2), wanted$var, tolerance = 1e-10)
    expect_equal(as.numeric(logLik(fit)), wanted$evidence, tolerance = 1e-10)
    expect_equal(sites(fit)$precision, 1 / d$variance, tolerance = 1e-10)
  }
  # a known row gets more than a vague one
  expect_equal(fit$response$centre, weighted.mean(d$y, 1 / d$variance), tolerance = 1e-12)
})

test_that("variances keep to their rows where rows are left out", {
  memory_tier()
  d <- measured()
  d$x[4] <- NA
  d$y[9] <- NA
  variance <- d$variance
  good <- subset(d, !is.na(x) & !is.na(y) & x < 1.5)
  wanted <- known(good)
  for (action in list(na.omit, na.exclude)) {
    fit <- sparsegp(y ~ x, d, lik_gaussian(variance), kernel_rbf(4, 1), scale = FALSE,
                    learn = FALSE, subset = is.na(x) | x < 1.5, na.action = action,
                    mean = "average")
    expect_equal(predict(fit, good), predict(wanted, good), tolerance = 1e-12)
    expect_identical(nobs(fit), nrow(good))
  }
  expect_identical(sum(is.na(residuals(fit))), 2L)
  whole <- subset(d, is.na(x) | x < 1.5)
  fit <- sparsegp(whole$x, whole$y, lik_gaussian(whole$variance), kernel_rbf(4, 1), scale = FALSE,
                  learn = FALSE, na.action = na.omit, mean = "average")
  expect_equal(unname(predict(fit, good$x)), unname(predict(wanted, good)), tolerance = 1e-12)
})

test_that("only the kernel is learned, by every method, in any unit", {
  memory_tier()
  d <- measured()
  fit <- sparsegp(y ~ x, d, lik_gaussian(d$variance))
  expect_equal(coef(fit)[["noise"]], exp(mean(log(d$variance))), tolerance = 1e-12)
  expect_false("noise" %in% names(fit$learning$gradient))
  far <- sparsegp(I(1e6 * y) ~ x, d, lik_gaussian(1e12 * d$variance))
  expect_equal(predict(far, d), 1e6 * predict(fit, d), tolerance = 1e-6)
  sparse <- sparsegp(y ~ x, d, lik_gaussian(d$variance), method = method_ivm(size = 12))
  expect_lt(max(abs(predict(sparse, d) - predict(fit, d))), 0.3)
  again <- update(fit, subset = x < 1)
  expect_identical(nobs(again), sum(d$x < 1))
})

test_that("residuals, left-out densities and simulations know each row's variance", {
  memory_tier()
  d <- measured(200)
  fit <- known(d)
  var <- predict(fit, type = "latent", se.fit = TRUE)$se.fit^2 + d$variance
  expect_equal(residuals(fit, "pearson"), (d$y - fitted(fit)) / sqrt(var), tolerance = 1e-10,
               ignore_attr = TRUE)
  # leaving row i out, by the inverse of the whole: variance 1 / [C^-1]_ii
  precision <- solve(4 * exp(-outer(d$x, d$x, "-")^2 / 2) + diag(d$variance))
  left_out <- 1 / diag(precision)
  expect_equal(unname(loo_lpd(fit)), tolerance = 1e-8,
               dnorm(drop(precision %*% (d$y - fit$response$centre)) * left_out, 0,
                     sqrt(left_out), log = TRUE))
  spread <- apply(as.matrix(simulate(fit, 400, seed = 1)), 1, var)
  expect_lt(abs(mean(spread / var) - 1), 0.05)
})

test_that("prediction intervals of new rows want their variances", {
  memory_tier()
  d <- measured()
  fit <- known(d)
  new <- data.frame(x = c(0, NA, 1))
  refused(predict(fit, new, interval = "prediction"), "weights")
  refused(predict(fit, new, interval = "prediction", weights = c(1, 2)), "weights")
  refused(predict(fit, new, interval = "prediction", weights = -1), "weights")
  refused(predict(fit, new, interval = "prediction", weights = 1 / 1.7e308), "weights")
  refused(predict(fit, new, interval = "confidence", weights = 1), "weights")
  latent <- predict(fit, new, se.fit = TRUE)
  band <- predict(fit, new, interval = "prediction", weights = 1 / c(2, 1, 0.5), level = 0.9)
  expect_equal(band[, "upr"], latent$fit + qnorm(0.95) * sqrt(latent$se.fit^2 + c(2, 1, 0.5)),
               tolerance = 1e-10)
  # a BLAS may round one row's product apart from that of several
  expect_equal(predict(fit, new, interval = "prediction", weights = 0.5)[1, ],
               predict(fit, new[1, , drop = FALSE], interval = "prediction", weights = 0.5)[1, ],
               tolerance = 1e-13)
  # at the rows of the fit they are known
  expect_equal(predict(fit, interval = "prediction"),
               predict(fit, d, interval = "prediction", weights = 1 / d$variance), tolerance = 1e-8)
  refused(simulate(fit, newdata = d), "newdata")
  refused(plot(fit, type = "reliability", newdata = d), "newdata")
  pdf(NULL)
  on.exit(dev.off())
  expect_false("new_lwr" %in% names(plot(fit)))
  expect_silent(plot(fit, type = "reliability"))
})

test_that("known variances print in short", {
  expect_output(print(lik_gaussian(rep(0.5, 1000))), "variance = <1000 known values>", fixed = TRUE)
  expect_output(print(lik_gaussian(c(1, 2))), "variance = c(1, 2)", fixed = TRUE)
  expect_output(print(known(measured())), "gaussian likelihood")
})

test_that("variances that are no variances, or not the rows', are refused", {
  memory_tier()
  d <- measured()
  for (bad in list(c(1, -1), c(1, 0), c(1, NA), c(1, Inf), c("a", "b"), fixed(c(1, -1)))) {
    refused(lik_gaussian(bad), "variance")
  }
  refused(known(d, weights = rep(1, 30)), "weights")
  refused(sparsegp(d$x, d$y, lik_gaussian(d$variance), weights = rep(1, 30)), "weights")
  refused(sparsegp(y ~ x, d, lik_gaussian(d$variance[-1])), "variance")
  refused(sparsegp(y ~ x, d, lik_gaussian(d$variance[-1]), subset = x > 0), "variance")
  refused(sparsegp(d$x, d$y, lik_gaussian(d$variance[-1])), "variance")
  refused(sparsegp(y ~ x, d, lik_gaussian(d$variance), method = method_online()), "variance")
  # what that error says
  fit <- sparsegp(y ~ x, d[1:20, ], lik_gaussian(fixed(1)), weights = 1 / variance,
                  method = method_online(pilot = 5), learn = FALSE)
  expect_true(all(is.finite(predict(update(fit, d[21:30, ]), d))))
})

test_that("variances of all sizes that numbers have end, in a fit or in words", {
  memory_tier()
  x <- seq(0, 1, length.out = 12L)
  variance <- rep(c(1e-300, 1e300), each = 6L)
  for (unit in c(1, 1e100, 1e-100)) {
    fit <- tryCatch(suppressWarnings(sparsegp(x, unit * sin(6 * x), lik_gaussian(variance),
                                              learn = FALSE)), sparsegp_error = identity)
    expect_true(inherits(fit, "sparsegp_error") || all(is.finite(fitted(fit))))
  }
})
