#' Other packages
#'
#' Methods by which other packages work with a fit of [sparsegp()], registered when those
#' packages are loaded. None is required.
#'
#' @section Tables and pictures:
#' broom (or generics): [tidy()][tidy.sparsegp], [glance()][tidy.sparsegp],
#' [augment()][tidy.sparsegp]. ggplot2: `geom_smooth(method = sparsegp)`. loo: `loo::loo()` is
#' [loo()]. rstantools: `posterior_predict()`, `posterior_epred()` and `posterior_linpred()`;
#' posterior: `as_draws()` and `summarise_draws()` of the hyperparameters; bayesplot: `pp_check()`;
#' see [posterior-draws]. easystats: `model_performance()` has leave-one-out scores,
#' `model_parameters()` the hyperparameters with intervals; to compare fits use [compare()], as
#' `compare_performance()` leaves out models that insight does not list. insight and ggeffects read
#' formula, data and [family()][frames] of a fit; `ggeffects::ggpredict(fit, "x")` draws effects of
#' numbers, counts and two classes; `modelsummary::modelsummary()` tabulates fits.
#'
#' @section Marginal means:
#' `emmeans::emmeans(fit, "group")` averages the latent function (plus bias) over a grid, with the
#' joint covariance of its points, and maps it back to the response by `type = "response"`, also
#' from another scale, with which the grid is labelled. For times and counts with extra zeros the
#' logarithm is that of the mean; for ordered categories the response is the mean number. The offset
#' is the mean of those of the rows, as for [glm()], or argument `offset`. The fit needs a formula
#' and one latent function; for three and more classes see marginaleffects below.
#'
#' @section Explanations:
#' `DALEX::explain(fit, data = inputs, y = response)` distinguishes regression, two classes and more
#' classes; it explains the probability of the second class, or of all of them. `pdp::partial(fit,
#' "x", train = data, type = "regression")` averages predictions, for two classes the probability of
#' the second; for more give `pred.fun = function(object, newdata) colMeans(predict(object, newdata,
#' type = "prob"))`. Packages vip and iml need `function(object, newdata) predict(object, newdata)`.
#'
#' @section marginaleffects:
#' `predictions()`, `comparisons()`, `slopes()` and their averages `avg_comparisons()` and so on
#' accept a fit, with standard errors and tests, by methods of `get_predict()`, `get_coef()`,
#' `get_vcov()` and `set_coef()`: loading this package sets their option
#' `marginaleffects_model_classes` to `"sparsegp"` (if it is set already, add `"sparsegp"` to it).
#' Standard errors are those of the joint posterior: exact on the latent scale, by linear
#' approximation for means of other responses. A call may have up to 2000 independent points;
#' [slopes()] of this package takes any number, has exact derivatives, and intervals that need not
#' be symmetric. Those of marginaleffects are symmetric about the mean and may leave the range of
#' probabilities and counts; `predictions(fit, type = "invlink(link)")` computes them on the latent
#' scale, and estimates medians. `inferences()` works by `method = "boot"`, not by simulation. The
#' fit may be of one response or of classes.
#'
#' @section Functions of the same name:
#' `importance()` of ranger and randomForest and `calibration()` of caret find the methods for a
#' fit, whichever package is attached last; and where this package is the last, its `importance()`,
#' `calibration()` and `compare()` of anything but a fit are those of the package attached before.
#'
#' @section caret:
#' A model for `caret::train()`, without tuning parameters:
#' ```
#' gp <- list(
#'   library = "sparsegp", type = c("Regression", "Classification"), loop = NULL,
#'   parameters = data.frame(parameter = "none", class = "character", label = "none"),
#'   grid = function(x, y, len = NULL, search = "grid") data.frame(none = "none"),
#'   fit = function(x, y, wts, param, lev, last, classProbs, ...) sparsegp(as.matrix(x), y, ...),
#'   predict = function(modelFit, newdata, preProc = NULL, submodels = NULL) {
#'     type <- if (is.null(modelFit$response$levels)) "response" else "class"
#'     predict(modelFit, as.matrix(newdata), type = type)
#'   },
#'   prob = function(modelFit, newdata, preProc = NULL, submodels = NULL) {
#'     predict(modelFit, as.matrix(newdata), type = "prob")
#'   }
#' )
#' caret::train(mpg ~ wt + hp, mtcars, method = gp)
#' ```
#'
#' @section tidymodels, mlr3, vetiver and butcher:
#' [gaussian_process()] is a model of parsnip, with the engine `"sparsegp"`, and
#' `mlr3::lrn("regr.sparsegp")` a learner of mlr3, see [mlr3-learners]. A fit can be the model of
#' `vetiver::vetiver_model(fit, "name")`; arguments of `vetiver_api()` are those of
#' [predict()][predict.sparsegp]. `butcher::butcher(fit)` leaves out the environment of the formula,
#' values in the call and the model frame, which [update()] and [model.frame()] need; the fit
#' predicts as before. Inputs and responses stay, because the posterior of full EP is made of them;
#' [shard()] of a fit on inducing points (the *basis*) has neither.
#'
#' @name other-packages
#' @aliases caret parsnip emmeans DALEX marginaleffects pdp vip
#' @aliases butcher vetiver bayesplot performance
#' @examplesIf requireNamespace("emmeans", quietly = TRUE)
#' fit <- sparsegp(mpg ~ wt + cyl, transform(mtcars, cyl = factor(cyl)))
#' emmeans::emmeans(fit, "cyl")
NULL

# ---- When the package is loaded ----

.onLoad <- function(libname, pkgname) {
  process$id <- if (is_forked()) NA_integer_ else Sys.getpid()
  process$blas_has_threads <- blas_has_threads(extSoftVersion()[["BLAS"]])
  fill_registry(topenv())
  introduce_to_marginaleffects()
  when_loaded("parsnip", register_parsnip)
  when_loaded("mlr3", register_mlr3)
}

# Registers what a package offers now, if that package is loaded, and whenever it is loaded later.
when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), function(...) register())
}

# Lets marginaleffects accept fits, unless its user has set which classes it accepts.
introduce_to_marginaleffects <- function() {
  if (is.null(getOption("marginaleffects_model_classes"))) {
    options(marginaleffects_model_classes = "sparsegp")
  }
}

# ---- emmeans ----

#' @exportS3Method emmeans::recover_data
recover_data.sparsegp <- function(object, ...) {
  call <- object$call
  emmeans::recover_data(call, stats::delete.response(terms.sparsegp(object)), object$na.action,
                        frame = model.frame.sparsegp(object), ...)
}

# The linear predictor at the grid is itself what is estimated: a coefficient a point.
#' @exportS3Method emmeans::emm_basis
emm_basis.sparsegp <- function(object, trms, xlev, grid, mode = NULL, ...) {
  object <- ready(object)
  refuse_many_latent(object)
  object <- fit_of_latent_type(object, "link", TRUE) # whose scale is that of the link, too
  grid <- with_measures(grid, model.frame.sparsegp(object))
  at <- predict(object, grid, type = "link", covariance = TRUE)
  n <- nrow(grid)
  misc <- emmeans_labels(object)
  refuse_if(identical(mode, "prob") && inherits(codec_of(object), "response_factor"), "object",
            "has ordered classes, and emmeans averages one latent function",
            "Use predict(type = \"prob\"), or emmeans() without `mode`")
  # ggeffects asks so for counts with extra zeros, and looks for a column of this name
  if (identical(mode, "count")) misc[c("predict.type", "inv.lbl")] <- c("response", "emmean")
  list(X = diag(n), bhat = unname(at$fit) - offset_of_grid(trms, grid) + misc$shift,
       nbasis = matrix(NA), V = unname(at$covariance), dffun = function(k, dfargs) Inf,
       dfargs = list(), misc = misc[names(misc) != "shift"])
}

# Returns the offset of each row, which emmeans adds itself.
offset_of_grid <- function(trms, grid) {
  terms <- as.list(attr(trms, "variables"))[1L + attr(trms, "offset")]
  Reduce(`+`, lapply(terms, eval, grid, environment(trms)), numeric(nrow(grid)))
}

# Returns a grid whose columns are dates, times or measures where those of the fit are: emmeans
# makes numbers of them.
with_measures <- function(grid, frame) {
  for (name in intersect(names(grid), names(frame))) {
    if (is.null(measure_of(frame[[name]])) || is.object(grid[[name]])) next
    kept <- attributes(frame[[name]])
    attributes(grid[[name]]) <- kept[intersect(names(kept), c("class", "units", "tzone"))]
  }
  grid
}

# Stops where a fit has a latent function for each of several classes or components.
refuse_many_latent <- function(object, as = "emmeans averages one latent function") {
  if (processes(object) == 1L && n_outputs(object) == 1L) return(invisible())
  of <- if (has_components(object)) "components" else "classes"
  remedy <- if (of == "components") "Use predict(se.fit = TRUE) or draws()"
            else paste("Use marginaleffects::avg_predictions(), which has probabilities with",
                       "standard errors, or draws(type = \"response\")")
  stop_sparsegp("object", paste0("has several ", of, ", and ", as), remedy)
}

# Returns a link as emmeans describes it: its inverse, the name of the result, and `shift`, which is
# added on the link scale.
emmeans_labels <- function(object) {
  family <- link_to_point(object, family.sparsegp(object))
  misc <- emmeans::.std.link.labels(family, list(shift = family$shift))
  if (family$shift != 0) misc$inv.lbl <- "response"
  if (inherits(codec_of(object), c("response_times", "response_factor"))) {
    misc$postGridHook <- without_second_scale
  }
  known <- tryCatch(stats::make.link(family$link), error = function(e) NULL)
  if (is.null(misc$tran) || !is.null(known)) return(misc)
  misc$tran <- c(family[c("linkfun", "linkinv", "mu.eta", "valideta")], name = family$link)
  misc
}

# Surv() and factor() on the left-hand side of a formula are no scales.
without_second_scale <- function(object, ...) {
  object@misc$tran2 <- NULL
  object
}

# Returns a family whose link leads to what predict() calls a response. If that is a multiple of
# exp(), the logarithm of the factor is `shift`, so that ratios remain ratios.
link_to_point <- function(object, family) {
  STEP <- 1e-4 # of a central difference of smooth functions of about one
  own <- point_of_link(object)
  eta <- c(-1, 0, 0.5)
  factor <- own(eta) / exp(eta)
  family$shift <- 0
  if (family$link == "log" && isTRUE(diff(range(factor)) < 1e-8 * factor[1L])) {
    family$shift <- log(factor[1L])
  } else if (!isTRUE(all.equal(own(eta), family$linkinv(eta), tolerance = 1e-8))) {
    family$link <- paste("latent", object$likelihood$type)
    family$linkinv <- own
    family$mu.eta <- function(eta) (own(eta + STEP) - own(eta - STEP)) / (2 * STEP)
    family$linkfun <- NULL
  }
  family
}

# Returns the function from linear predictors to what type "response" predicts where they are
# known, and on scales of the response to medians.
point_of_link <- function(object) {
  object <- without_members(object)
  ends <- to_link(object, c(0, 1), 0)
  point <- if (is_transformed(object) || !has_usable_mean(object)) median_response else response_at
  function(eta) {
    f <- (eta - ends[1L]) / (ends[2L] - ends[1L])
    unname(point(object, list(mean = f, var = 0 * f, offset = 0)))
  }
}

# ---- insight, and through it ggeffects ----

#' @rawNamespace S3method(insight::get_predicted, sparsegp, insight_predicted)
insight_predicted <- function(x, data = NULL, predict = "expectation", ci = NULL, ...) {
  x <- ready(x)
  if (codec_of(x)$task != "regression" || n_outputs(x) > 1L) {
    refuse_many_latent(x, "insight has one prediction for each row")
  }
  refuse_if(inherits(codec_of(x), c("response_in_order", "response_ordered_classes")),
            "x", "has ordered classes, and insight has one prediction for each row",
            "Use predict(type = \"prob\"), or marginaleffects::avg_predictions()")
  of_link <- identical(predict, "link")
  new <- identical(predict, "prediction") && codec_of(x)$task == "regression"
  if (is.null(ci)) ci <- 0.95
  found <- predict.sparsegp(x, data, type = if (of_link) "link" else "response", level = ci,
                            interval = if (new) "prediction" else "confidence")
  ends <- data.frame(CI_low = found[, "lwr"], CI_high = found[, "upr"], row.names = NULL)
  structure(found[, "fit"], ci = ci, ci_data = ends, predict = predict,
            class = c("get_predicted", "numeric"))
}

# ---- DALEX ----

# Not model_info.sparsegp(), which the generic of that name in package insight would find, too.
#' @rawNamespace S3method(DALEX::model_info, sparsegp, dalex_info)
dalex_info <- function(model, is_multiclass = FALSE, ...) {
  type <- if (length(model$response$levels) > 2L) "multiclass" else codec_of(model)$task
  structure(list(package = "sparsegp", ver = as.character(utils::packageVersion("sparsegp")),
                 type = type), class = "model_info")
}

#' @exportS3Method DALEX::yhat
yhat.sparsegp <- function(X.model, newdata, ...) {
  predicted <- predict(X.model, newdata, ...)
  if (is.matrix(predicted)) predicted else unname(predicted)
}
