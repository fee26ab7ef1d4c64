# Learners of package mlr3, which are in its dictionary whenever both packages are loaded.

#' Gaussian processes in mlr3
#'
#' `mlr3::lrn("regr.sparsegp")` and `mlr3::lrn("classif.sparsegp")` are learners of package mlr3.
#' They register themselves when mlr3 is loaded, and work with its resampling, benchmarks, tuning
#' and pipelines.
#'
#' @details
#' Their parameters are the arguments of [sparsegp()]: `kernel`, `likelihood`, `method`, `learn`,
#' `structure`, `scale`, `basis`, `mean` and `control`. Weights of the task are those of the fit.
#'
#' | learner | predict types |
#' |---|---|
#' | `regr.sparsegp` | `"response"`, `"se"` (the standard error of the mean), `"quantiles"` |
#' | `classif.sparsegp` | `"response"`, `"prob"` |
#'
#' Rows with missing values are left out of a fit and predicted as `NA`, which mlr3 reports: impute
#' them, or give a fallback learner. `learner$model` is the fit.
#'
#' @name mlr3-learners
#' @aliases regr.sparsegp classif.sparsegp
#' @seealso [gaussian_process()] for tidymodels, [other-packages].
#' @concept mlr3
#' @examplesIf requireNamespace("mlr3", quietly = TRUE)
#' learner <- mlr3::lrn("regr.sparsegp", kernel = "matern52", predict_type = "se")
#' learner$train(mlr3::tsk("mtcars"), 1:25)
#' learner$predict(mlr3::tsk("mtcars"), 26:32)
NULL

register_mlr3 <- function() {
  learners <- mlr3::mlr_learners
  learners$add("regr.sparsegp", function() {
    mlr3_learner("regr", c("response", "se", "quantiles"), mlr3_numbers)
  })
  learners$add("classif.sparsegp", function() {
    mlr3_learner("classif", c("response", "prob"), mlr3_classes, c("twoclass", "multiclass"))
  })
}

# Returns a new learner for a type of task. predicted: function(learner, fit, new data) -> list of
# what mlr3 expects of a prediction.
mlr3_learner <- function(task, types, predicted, properties = NULL) {
  self <- private <- NULL # those of the object are found before these
  classes <- c(regr = "LearnerRegr", classif = "LearnerClassif")
  class <- R6::R6Class(
    paste0(classes[[task]], "Sparsegp"), inherit = getExportedValue("mlr3", classes[[task]]),
    private = list(
      .train = function(task) mlr3_fit(task, self, private$.get_weights(task)),
      .predict = function(task) {
        inputs <- as.data.frame(task$data(cols = task$feature_names))
        predicted(self, self$model, inputs, private)
      }
    )
  )
  class$new(id = paste0(task, ".sparsegp"), task_type = task, predict_types = types,
            param_set = mlr3_parameters(), feature_types = MLR3_TYPES,
            properties = c("weights", properties), packages = "sparsegp",
            label = "Gaussian process", man = "sparsegp::mlr3-learners")
}

MLR3_TYPES <- c("logical", "integer", "numeric", "character", "factor", "ordered", "POSIXct",
                "Date")

mlr3_parameters <- function() {
  names <- c("kernel", "likelihood", "method", "learn", "structure", "scale", "basis", "mean",
             "control")
  do.call(paradox::ps, lapply(stats::setNames(nm = names), function(name) {
    paradox::p_uty(tags = "train")
  }))
}

mlr3_fit <- function(task, learner, weights) {
  formula <- task$formula() # which has no environment
  environment(formula) <- globalenv()
  data <- as.data.frame(task$data())
  given <- c(learner$param_set$get_values(tags = "train"), list(weights = weights))
  do.call("sparsegp", c(list(formula, quote(data)), given))
}

mlr3_numbers <- function(learner, fit, inputs, private) {
  if (learner$predict_type == "quantiles") {
    at <- private$.quantiles
    found <- stats::predict(fit, inputs, type = "quantile", at = at)
    found <- matrix(found, ncol = length(at))
    return(list(quantiles = structure(found, probs = at, response = private$.quantile_response)))
  }
  found <- stats::predict(fit, inputs, se.fit = learner$predict_type == "se")
  if (!is.list(found)) return(list(response = unname(found)))
  list(response = unname(found$fit), se = unname(found$se.fit))
}

mlr3_classes <- function(learner, fit, inputs, private) {
  type <- if (learner$predict_type == "prob") "prob" else "class"
  found <- stats::predict(fit, inputs, type = type)
  if (type == "prob") list(prob = `rownames<-`(found, NULL)) else list(response = unname(found))
}
