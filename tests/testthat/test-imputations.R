# Fits to several imputations, pooled by package mice.

r_code_alone()

test_that("mice pools hyperparameters and predictions", {
  slow_tier()
  skip_if_not_installed("mice")
  rows <- mice::nhanes[c("bmi", "chl", "hyp")]
  imputed <- suppressWarnings(mice::mice(rows, m = 3, maxit = 1, printFlag = FALSE, seed = 1))
  fits <- with(imputed, sparsegp(bmi ~ chl + hyp, kernel = kernel_rbf()))
  pooled <- mice::pool(fits)$pooled
  tables <- lapply(fits$analyses, generics::tidy)
  expect_identical(as.character(pooled$term), c("variance", "lengthscale", "noise"))
  expect_equal(pooled$estimate, rowMeans(vapply(tables, `[[`, numeric(3), "estimate")),
               tolerance = 1e-12)
  expect_equal(pooled$ubar, rowMeans(vapply(tables, `[[`, numeric(3), "std.error")^2),
               tolerance = 1e-12)
  expect_true(all(is.finite(summary(mice::pool(fits))$std.error)))
  at <- data.frame(chl = 200, hyp = 1)
  found <- lapply(fits$analyses, predict, at, se.fit = TRUE)
  one <- mice::pool.scalar(vapply(found, `[[`, 0, "fit"), vapply(found, `[[`, 0, "se.fit")^2)
  expect_gt(one$t, one$ubar) # imputations add to the variance
})

test_that("tidy() has standard errors where they can be had", {
  memory_tier()
  fit <- sparsegp(dist ~ speed, cars)
  table <- generics::tidy(fit)
  expect_equal(table$std.error, unname(sqrt(diag(vcov(fit)))), tolerance = 1e-12)
  no_inputs <- sparsegp(dist ~ speed, cars, control = gp_control(keep_x = FALSE), basis = 1:5)
  table <- generics::tidy(no_inputs)
  expect_identical(table$std.error, rep(NA_real_, nrow(table)))
  refused(generics::tidy(no_inputs, conf.int = TRUE), "object")
})
