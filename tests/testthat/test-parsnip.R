# The engine of package parsnip, in every mode.

r_code_alone()

fitted_by <- function(mode, formula, data, ...) {
  parsnip::fit(parsnip::set_engine(gaussian_process(mode, ...), "sparsegp", learn = FALSE),
               formula, data)
}

test_that("predictions of a parsnip model are those of its fit", {
  slow_tier()
  skip_if_not_installed("parsnip")
  new <- mtcars[1:3, ]
  fit <- fitted_by("regression", mpg ~ wt + hp, mtcars, kernel = "matern52")
  expect_match(format(fit$fit$kernel), "matern52")
  expect_equal(predict(fit, new)$.pred, unname(predict(fit$fit, new)))
  band <- predict(fit$fit, new, interval = "prediction", level = 0.8)
  found <- predict(fit, new, type = "pred_int", level = 0.8)
  expect_equal(as.matrix(found), band[, -1L], ignore_attr = TRUE)
  expect_lt(max(predict(fit, new, type = "conf_int", level = 0.8)$.pred_upper - band[, "upr"]), 0)
  classes <- fitted_by("classification", Species ~ Petal.Length, iris[seq(1, 150, 5), ])
  prob <- predict(classes, iris[c(1, 80), ], type = "prob")
  expect_named(prob, paste0(".pred_", levels(iris$Species)))
  expect_equal(as.matrix(prob), predict(classes$fit, iris[c(1, 80), ], type = "prob"),
               ignore_attr = TRUE)
  expect_identical(as.character(predict(classes, iris[c(1, 80), ])$.pred_class),
                   c("setosa", "versicolor"))
})

test_that("times to an event and quantiles have their modes", {
  slow_tier()
  skip_if_not_installed("parsnip")
  skip_if_not_installed("survival")
  d <- transform(survival::lung[1:40, ], status = status - 1)
  d$seen <- survival::Surv(d$time, d$status) # parsnip finds Surv() only where it is attached
  times <- fitted_by("censored regression", seen ~ age, d, likelihood = "weibull")
  curves <- predict(times, d[1:2, ], type = "survival", eval_time = c(100, 300))$.pred
  expect_equal(curves[[2L]]$.pred_survival, tolerance = 1e-12,
               predict(times$fit, d[2L, ], type = "survival", at = c(100, 300))[1L, ],
               ignore_attr = TRUE)
  expect_equal(predict(times, d[1:2, ], type = "time")$.pred_time,
               unname(predict(times$fit, d[1:2, ], type = "median")))
  spec <- parsnip::set_mode(gaussian_process(), "quantile regression",
                            quantile_levels = c(0.1, 0.9))
  quantiles <- parsnip::fit(parsnip::set_engine(spec, "sparsegp", learn = FALSE), mpg ~ wt, mtcars)
  own <- predict(quantiles$fit, mtcars[1:3, ], type = "quantile", at = c(0.1, 0.9))
  found <- predict(quantiles, mtcars[1:3, ])$.pred_quantile
  # some versions of parsnip have a row for each row and level
  found <- if (inherits(found, "quantile_pred")) as.matrix(found) else matrix(found, 3L, 2L, TRUE)
  expect_equal(unname(found), unname(own), tolerance = 1e-12)
})

test_that("a specification is registered once, updated, and refused without its package", {
  skip_if_not_installed("parsnip")
  expect_silent(register_parsnip())
  engines <- parsnip::show_engines("gaussian_process")
  expect_setequal(engines$mode, names(PARSNIP_MODES))
  expect_match(rlang::as_label(update(gaussian_process(), kernel = "rbf")$args$kernel), "rbf")
})
