#' Fits as data frames, as package broom has them
#'
#' Methods for the generics of package generics, which broom and tidymodels use. They are registered
#' when that package is loaded.
#'
#' @param x A fit of [sparsegp()].
#' @param conf.int,conf.level `conf.int = TRUE` adds intervals of the hyperparameters
#'   ([confint.sparsegp()]) of nominal coverage `conf.level`, one number in (0, 1).
#' @param data Rows of the fit, to which columns are added; default the model frame.
#' @param newdata Other rows, as `newdata` of [predict][predict.sparsegp].
#' @param se_fit,interval As `se.fit` and `interval` of [predict][predict.sparsegp].
#' @param ... For `augment()` further arguments of `predict()`. Other arguments are ignored, as
#'   packages that call these generics for fits of any kind may give them (`exponentiate = TRUE`,
#'   `effects = "fixed"`).
#' @details
#' `mice::pool()` pools `tidy()` of fits to several imputations: hyperparameters with the same names
#' in all of them, so give `kernel` to `sparsegp()`. Predictions are pooled by
#' `mice::pool.scalar()`, of `predict(se.fit = TRUE)` of each fit.
#'
#' `gtsummary::tbl_regression(fit, intercept = TRUE)` makes a table of the hyperparameters; without
#' `intercept` it stops, as it finds no term of a variable. For a table of variables give
#' `tidy_fun`: a function of the fit and `...` that returns a data frame with `term`, the names of
#' variables, and `estimate`, such as the `loss` of [importance()].
#' @return Data frames. `tidy()`: a row for each hyperparameter, with `term`, `estimate`, `learned`,
#'   `std.error` (`NA` where it was not learned, or is not available, see [vcov()][vcov.sparsegp]),
#'   and with `conf.int` `conf.low` and `conf.high`; an [average()] has `fit` and its `weight`
#'   before them, for each of its fits. `glance()`: one row, with `nobs`, `likelihood`, `logLik`
#'   (the log evidence; `NA` for one-vs-rest classes), `converged` and, unless the fit keeps no
#'   rows, `loo_lpd` (sum of leave-one-out log predictive densities), and `r.squared` and `rmse` (of
#'   leave-one-out predictions) for numbers and counts, `error` (the proportion of wrong
#'   predictions) for classes or `concordance` for times to an event; `sigma` for numbers whose
#'   noise has one variance (not for known variances, nor for [lik_heteroscedastic()]). `augment()`:
#'   the rows with `.fitted` (for more than two classes, or ordered ones, `.fitted.` and the class),
#'   optionally `.se.fit`, `.lower` and `.upper` (not for more than two classes, or ordered ones: an
#'   error), for classes `.class`, and for the rows of the fit `.resid` (but for classes, ordered
#'   ones too) and `.loo_lpd`. Several components are an error.
#' @examplesIf requireNamespace("generics", quietly = TRUE)
#' fit <- sparsegp(mpg ~ wt, mtcars)
#' generics::tidy(fit, conf.int = TRUE)
#' generics::glance(fit)
#' head(generics::augment(fit, interval = "prediction"), 3)
#' @name tidiers
NULL

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.sparsegp <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  check_flag(conf.int, "conf.int")
  x <- ready(x)
  estimate <- coef(x)
  learned <- x$hyper$free & !is.null(x$learning)
  out <- data.frame(term = names(estimate), estimate = unname(estimate), learned = learned,
                    std.error = NA_real_)
  out$std.error[learned] <- if (any(learned)) errors_of_hyper(x, needed = conf.int)
  if (!conf.int) return(out)
  check_number(conf.level, "conf.level", 0, 1)
  out[c("conf.low", "conf.high")] <- NA_real_
  if (any(learned)) {
    out[learned, c("conf.low", "conf.high")] <- confint.sparsegp(x, level = conf.level)
  }
  out
}

# Returns standard errors of learned hyperparameters; where there are none, as of a fit that keeps
# no inputs, NA unless they are needed.
errors_of_hyper <- function(x, needed) {
  tryCatch(sqrt(diag(vcov.sparsegp(x))), sparsegp_error = function(e) {
    if (needed) stop(e)
    NA_real_
  })
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.sparsegp_average <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  x <- ready(x)
  tables <- each_member(x, function(fit) {
    generics::tidy(own_class(fit), conf.int = conf.int, conf.level = conf.level)
  })
  made <- x$ensemble$made
  names <- rownames(made)[made$weight > 0]
  weights <- made$weight[made$weight > 0]
  out <- Map(function(table, name, weight) {
    if ("fit" %in% names(table)) { # an average itself
      table$fit <- paste0(name, ":", table$fit)
      table$weight <- weight * table$weight
      return(table)
    }
    data.frame(fit = name, weight = weight, table)
  }, tables, names, weights)
  do.call(rbind, unname(out))
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.sparsegp <- function(x, ...) {
  x <- ready(x)
  out <- data.frame(nobs = x$n, likelihood = lik_label(x$likelihood), logLik = evidence_of(x),
                    converged = isTRUE(x$convergence$converged))
  sd <- if (!inherits(x, "sparsegp_average")) noise_sds(x)
  if (length(sd) == 1L) out$sigma <- sd
  table <- loo_if_kept(x)
  if (is.null(table)) return(out)
  scores <- loo_scores(table)
  out$loo_lpd <- sum(table$lpd, na.rm = TRUE)
  if (is.null(scores$r2)) return(data.frame(out, scores))
  data.frame(out, r.squared = scores$r2, rmse = scores$sd)
}

#' @rdname tidiers
#' @exportS3Method generics::augment
augment.sparsegp <- function(x, data = NULL, newdata = NULL, se_fit = FALSE,
                             interval = c("none", "confidence", "prediction"), ...) {
  x <- ready(x)
  x["na.action"] <- list(NULL) # rows that were left out are not in the frame
  check_flag(se_fit, "se_fit")
  interval <- check_choice(interval, c("none", "confidence", "prediction"), "interval")
  own <- is.null(newdata)
  rows <- if (!own) newdata
          else if (!is.null(data)) data
          else if (is.null(x$terms)) data.frame(with_constants(x, training_inputs(x)), y = x$y)
          else model.frame.sparsegp(x)
  refuse_source(rows, if (own) "data" else "newdata")
  out <- as.data.frame(rows)
  refuse_if(own && nrow(out) != x$n,
            "data", paste0("has ", nrow(out), " rows, and the fit has ", x$n),
            "Give the rows that the fit has used, or leave `data` out")
  further <- list(...)
  further <- further[names(further) %in% names(formals(predict.sparsegp))]
  predicted <- warn_once(do.call(augmented, c(
    list(x, if (own) NULL else newdata, se_fit, interval), further
  )))
  out[names(predicted)] <- predicted
  if (!own) return(out)
  out$.loo_lpd <- lpd_of_rows(x)
  out
}

# Columns that are added to rows of the fit (newdata: NULL) or others, but for .loo_lpd.
augmented <- function(x, newdata, se_fit, interval, ...) UseMethod("augmented", codec_of(x))

#' @export
augmented.response <- function(x, newdata, se_fit, interval, ...) {
  out <- predicted_columns(x, newdata, se_fit, interval, ...)
  if (is.null(newdata)) out$.resid <- plain_residuals(with_rows(x), pearson = FALSE)
  out
}

#' @export
augmented.response_spreads <- function(x, newdata, se_fit, interval, ...) {
  augmented.response(x, newdata, se_fit, interval, ...)
}

#' @export
augmented.response_components <- function(x, newdata, se_fit, interval, ...) {
  stop_sparsegp("x", "has several components", "Use predict() or residuals()")
}

#' @export
augmented.response_labels <- function(x, newdata, se_fit, interval, ...) {
  out <- predicted_columns(x, newdata, se_fit, interval, ...)
  out$.class <- unname(predict(x, newdata, type = "class"))
  out
}

# All other labels have a column for each.
#' @export
augmented.response_factor <- function(x, newdata, se_fit, interval, ...) {
  refuse_spread_of_classes(x, se_fit, interval)
  prob <- predict(x, newdata, type = "prob", ...)
  columns <- stats::setNames(as.data.frame(prob), paste0(".fitted.", colnames(prob)))
  c(as.list(columns), list(.class = predicted_class(x, prob)))
}

# Refuses standard errors and intervals of probabilities, which predict() does not have.
refuse_spread_of_classes <- function(x, se_fit, interval) {
  argument <- if (se_fit) "se_fit" else if (interval != "none") "interval"
  if (is.null(argument)) return(invisible())
  value <- if (se_fit) "TRUE" else dQuote(interval, FALSE)
  stop_sparsegp(argument, paste0("= ", value, " is not defined for the probabilities of ",
                                 codec_of(x)$called),
                "Leave it out, or see predict() of type \"link\" or draws()")
}

# Predictions of a response that is one number
predicted_columns <- function(x, newdata, se_fit, interval, ...) {
  found <- predict(x, newdata, se.fit = se_fit, interval = interval, ...)
  if (!is.list(found)) found <- list(fit = found)
  out <- if (is.matrix(found$fit)) {
    list(.fitted = found$fit[, "fit"], .lower = found$fit[, "lwr"], .upper = found$fit[, "upr"])
  } else {
    list(.fitted = found$fit)
  }
  if (se_fit) out$.se.fit <- found$se.fit
  lapply(out, unname)
}
