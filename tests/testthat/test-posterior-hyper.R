# Draws of hyperparameters, predictive checks, tables of easystats, and what butcher leaves out.

r_code_alone()

kept <- function(n = 25L) {
  set.seed(6)
  d <- data.frame(x = seq(0, 3, length.out = n))
  d$y <- sin(2 * d$x) + rnorm(n) / 5
  d$k <- rpois(n, exp(d$y))
  d$two <- d$y > 0
  d$three <- factor(c("a", "b", "c")[1 + (d$y > -0.3) + (d$y > 0.5)])
  d
}

test_that("draws of hyperparameters have the intervals of confint()", {
  slow_tier()
  own <- function(rule) {
    sparsegp(y ~ x, kept(), kernel = "rbf", control = gp_control(integrate = rule))
  }
  for (fit in list(own("none"), own("ccd"))) {
    set.seed(1)
    found <- hyper_draws(fit, 4000L)
    expect_identical(colnames(found), rownames(confint(fit)))
    level <- 0.8
    ends <- t(apply(found, 2L, stats::quantile, c(0.1, 0.9)))
    # logarithms of quantiles of 4000 draws have standard errors of .03 of a standard deviation, and
    # confint() adds up the sides of skewed axes as if these were normal
    wide <- diff(t(log(confint(fit, level = level)))) / 2.56
    expect_true(all(abs(log(ends) - log(confint(fit, level = level))) < 0.2 * c(wide)))
  }
  expect_error(hyper_draws(sparsegp(y ~ x, kept(), learn = FALSE), 3L), class = "sparsegp_error")
})

test_that("as_draws() and pp_check() answer the generics of posterior and bayesplot", {
  slow_tier()
  skip_if_not_installed("posterior")
  skip_if_not_installed("bayesplot")
  fit <- sparsegp(y ~ x, kept(), kernel = "rbf")
  expect_identical(dim(posterior::as_draws(fit, ndraws = 7)), c(7L, 3L))
  expect_identical(nrow(posterior::as_draws_df(fit)), 1000L)
  expect_s3_class(bayesplot::pp_check(fit, ndraws = 5), "ggplot")
  expect_error(bayesplot::pp_check(fit, "nothing"), class = "sparsegp_error")
})

test_that("responses of a predictive check are those that posterior_predict() draws", {
  slow_tier()
  d <- kept()
  fit <- function(formula, ...) sparsegp(formula, d, kernel = "rbf", learn = FALSE, ...)
  expect_identical(checked_responses(fit(y ~ x)), list(y = d$y, type = "dens_overlay"))
  expect_equal(checked_responses(fit(k ~ x, likelihood = "poisson")), list(y = d$k, type = "bars"))
  expect_identical(checked_responses(fit(two ~ x)), list(y = 1L + d$two, type = "bars"))
  expect_identical(checked_responses(fit(three ~ x))$y, as.integer(d$three))
  trials <- fit(cbind(k, 9 - k) ~ x)
  expect_equal(checked_responses(trials)$y, d$k)
  made <- posterior_predict.sparsegp(trials, ndraws = 3)
  expect_identical(made, round(made))
  expect_gt(max(made), 1)
  skip_if_not_installed("survival")
  times <- fit(survival::Surv(exp(y), two) ~ x, likelihood = "weibull")
  expect_equal(checked_responses(times), list(y = exp(d$y), status = as.double(d$two),
                                              type = "km_overlay"))
})

test_that("tables have leave-one-out scores and intervals", {
  fit <- sparsegp(y ~ x, kept(), kernel = "rbf", control = gp_control(integrate = "none"))
  found <- model_performance.sparsegp(fit)
  expect_equal(found$ELPD, sum(loo(fit)$lpd))
  expect_equal(c(found$R2, found$RMSE), unname(unlist(summary(fit)[c("loo_r2", "loo_sd")])))
  expect_identical(model_performance.sparsegp(sparsegp(two ~ x, kept(), learn = FALSE))$R2, NULL)
  found <- model_parameters.sparsegp(fit, ci = 0.9)
  expect_equal(as.matrix(found[c("CI_low", "CI_high")]), confint(fit, level = 0.9),
               ignore_attr = TRUE)
  expect_identical(found$Coefficient, unname(coef(fit)))
})

test_that("a fit without environments, values and frame is smaller and predicts the same", {
  made <- function() {
    large <- rnorm(1e5)
    do.call(sparsegp, list(y ~ x, kept(), learn = FALSE))
  }
  fit <- made()
  small <- axe_env.sparsegp(axe_data.sparsegp(axe_call.sparsegp(fit)))
  size <- function(object) length(serialize(object, NULL))
  expect_gt(size(fit), 8e5) # bytes of 10^5 numbers
  expect_lt(size(small), 4e4)
  new <- data.frame(x = c(0.1, 2))
  for (interval in c("confidence", "prediction")) {
    expect_identical(predict(small, new, interval = interval),
                     predict(fit, new, interval = interval))
  }
  expect_identical(loo(small), loo(fit))
  expect_output(print(small), "Gaussian")
})
