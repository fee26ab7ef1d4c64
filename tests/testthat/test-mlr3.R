# The learners of package mlr3.

r_code_alone()

learner_of <- function(key, ...) {
  learner <- mlr3::lrn(key, ...)
  learner$param_set$set_values(learn = FALSE, structure = "fixed")
  learner
}

test_that("a regression learner predicts as its fit does, by every type", {
  slow_tier()
  skip_if_not_installed("mlr3")
  task <- mlr3::as_task_regr(mtcars[c("mpg", "wt", "hp")], target = "mpg")
  new <- mtcars[28:32, ]
  learner <- learner_of("regr.sparsegp", kernel = "matern52", predict_type = "se")
  found <- learner$train(task, 1:27)$predict(task, 28:32)
  expect_match(format(learner$model$kernel), "matern52")
  own <- predict(learner$model, new, se.fit = TRUE)
  expect_equal(found$response, unname(own$fit))
  expect_equal(found$se, unname(own$se.fit))
  learner <- learner_of("regr.sparsegp", predict_type = "quantiles", quantiles = c(0.1, 0.5, 0.9),
                        quantile_response = 0.5)
  found <- learner$train(task, 1:27)$predict(task, 28:32)
  own <- predict(learner$model, new, type = "quantile", at = c(0.1, 0.5, 0.9))
  expect_equal(found$quantiles, own, ignore_attr = TRUE)
  expect_equal(found$response, unname(own[, 2L]))
})

test_that("a classification learner has classes and probabilities, and is resampled", {
  slow_tier()
  skip_if_not_installed("mlr3")
  task <- mlr3::as_task_classif(iris[seq(1, 150, 3), 3:5], target = "Species")
  learner <- learner_of("classif.sparsegp", predict_type = "prob")
  found <- learner$train(task)$predict(task)
  expect_equal(found$prob, predict(learner$model, iris[seq(1, 150, 3), ], type = "prob"),
               ignore_attr = TRUE)
  set.seed(1)
  utils::capture.output({
    run <- mlr3::resample(task, learner_of("classif.sparsegp"), mlr3::rsmp("cv", folds = 3L))
  })
  expect_lt(run$aggregate(), 0.25) # of three classes, at the starting values
})

test_that("weights of the task are those of the fit", {
  slow_tier()
  skip_if_not_installed("mlr3")
  data <- transform(mtcars[c("mpg", "wt")], w = rep(1:2, 16))
  task <- mlr3::as_task_regr(data, target = "mpg")
  task$set_col_roles("w", roles = "weights_learner")
  learner <- learner_of("regr.sparsegp")$train(task)
  own <- sparsegp(mpg ~ wt, data, weights = w, learn = FALSE, structure = "fixed")
  expect_equal(learner$predict(task)$response, unname(predict(own)))
})
