# The engine "sparsegp" of package parsnip, which registers itself when both packages are loaded.

#' Gaussian processes in tidymodels
#'
#' A model specification of package parsnip, with the engine `"sparsegp"`: regression,
#' classification, censored regression and quantile regression. The engine registers itself when
#' parsnip is loaded, so the specification works in workflows and with resamples.
#'
#' @param mode `"regression"`, `"classification"`, `"censored regression"` or `"quantile
#'   regression"`; or `"unknown"`, until `parsnip::set_mode()` is called.
#' @param engine `"sparsegp"`.
#' @param kernel,likelihood As in [sparsegp()], such as `"matern52"` and `"student"`. `NULL`: chosen
#'   by the fit.
#' @return A model specification of classes `gaussian_process` and `model_spec`.
#' @details
#' Other arguments of [sparsegp()] are those of the engine: `parsnip::set_engine("sparsegp", method
#' = method_ep(size = 200))`.
#'
#' | mode | types of `predict()` |
#' |---|---|
#' | regression | `"numeric"`, `"conf_int"`, `"pred_int"`, `"raw"` |
#' | classification | `"class"`, `"prob"` |
#' | censored regression | `"time"` (the median), `"survival"` |
#' | quantile regression | `"quantile"` |
#'
#' @seealso [other-packages]
#' @concept tidymodels
#' @examplesIf requireNamespace("parsnip", quietly = TRUE)
#' model <- gaussian_process("regression", kernel = "matern52")
#' fit <- parsnip::fit(model, mpg ~ wt + hp, mtcars)
#' predict(fit, mtcars[1:3, ], type = "pred_int")
#' @export
gaussian_process <- function(mode = "unknown", engine = "sparsegp", kernel = NULL,
                             likelihood = NULL) {
  refuse_if(!requireNamespace("parsnip", quietly = TRUE), "engine", "needs package parsnip",
            "install.packages(\"parsnip\")")
  register_parsnip()
  args <- list(kernel = rlang::enquo(kernel), likelihood = rlang::enquo(likelihood))
  parsnip::new_model_spec("gaussian_process", args = args, eng_args = NULL, mode = mode,
                          method = NULL, engine = engine, user_specified_mode = mode != "unknown")
}

#' @export
update.gaussian_process <- function(object, parameters = NULL, kernel = NULL, likelihood = NULL,
                                    fresh = FALSE, ...) {
  args <- list(kernel = rlang::enquo(kernel), likelihood = rlang::enquo(likelihood))
  parsnip::update_spec(object = object, parameters = parameters, args_enquo_list = args,
                       fresh = fresh, cls = "gaussian_process", ...)
}

# Values of `kernel` and `likelihood` are names or objects, for which dials has no parameters: so
# none is named, and tune_grid() takes the values of a grid that is a data frame.
#' @exportS3Method generics::tunable
tunable.gaussian_process <- function(x, ...) {
  found <- NextMethod()
  found$call_info <- rep(list(NULL), nrow(found))
  found
}

register_parsnip <- function() {
  model <- "gaussian_process"
  known <- parsnip::get_from_env("models")
  if (!model %in% known) parsnip::set_new_model(model)
  engines <- parsnip::get_from_env(model)
  if ("sparsegp" %in% engines$engine) return(invisible())
  for (mode in names(PARSNIP_MODES)) register_mode(model, mode, PARSNIP_MODES[[mode]])
  for (name in c("kernel", "likelihood")) {
    parsnip::set_model_arg(model, "sparsegp", name, name, has_submodel = FALSE,
                           func = list(pkg = "sparsegp", fun = "gaussian_process"))
  }
}

register_mode <- function(model, mode, types) {
  parsnip::set_model_mode(model, mode)
  parsnip::set_model_engine(model, mode, "sparsegp")
  parsnip::set_dependency(model, "sparsegp", "sparsegp", mode)
  parsnip::set_fit(model, mode, "sparsegp", list(
    interface = "formula", protect = c("formula", "data", "weights"),
    func = c(pkg = "sparsegp", fun = "sparsegp"), defaults = list()
  ))
  parsnip::set_encoding(model, mode, "sparsegp", list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  for (type in names(types)) parsnip::set_pred(model, mode, "sparsegp", type, types[[type]])
}

# Describes a type of prediction: arguments of predict(), and what is made of its answer.
parsnip_type <- function(..., post = NULL) {
  list(pre = NULL, post = post, func = c(fun = "predict"),
       args = list(object = quote(object$fit), newdata = quote(new_data), ...))
}

interval_columns <- function(x, object) {
  data.frame(.pred_lower = unname(x[, "lwr"]), .pred_upper = unname(x[, "upr"]))
}

# Returns a tibble of times and probabilities for each row.
survival_columns <- function(x, object) {
  times <- as.double(colnames(x))
  lapply(seq_len(nrow(x)), function(i) {
    tibble::tibble(.eval_time = times, .pred_survival = unname(x[i, ]))
  })
}

# Returns quantiles as hardhat has them since version 1.4.1, which the mode's own parsnip imports.
quantile_columns <- function(x, object) {
  levels <- object$spec$quantile_levels
  getExportedValue("hardhat", "quantile_pred")(matrix(x, ncol = length(levels)), levels)
}

PARSNIP_MODES <- list(
  regression = list(
    numeric = parsnip_type(post = function(x, object) unname(x)), raw = parsnip_type(),
    conf_int = parsnip_type(interval = "confidence", level = quote(level),
                            post = interval_columns),
    pred_int = parsnip_type(interval = "prediction", level = quote(level),
                            post = interval_columns)
  ),
  classification = list(
    class = parsnip_type(type = "class", post = function(x, object) unname(x)),
    prob = parsnip_type(type = "prob", post = function(x, object) as.data.frame(x)),
    raw = parsnip_type()
  ),
  "censored regression" = list(
    time = parsnip_type(type = "median", post = function(x, object) unname(x)),
    survival = parsnip_type(type = "survival", at = quote(eval_time), post = survival_columns)
  ),
  "quantile regression" = list(
    quantile = parsnip_type(type = "quantile", at = quote(object$spec$quantile_levels),
                            post = quantile_columns)
  )
)
