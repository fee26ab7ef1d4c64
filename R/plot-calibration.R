#' Are the probabilities right?
#'
#' What was predicted against what happened, in numbers: the table that
#' [plot(type = "reliability")][plot.sparsegp] draws. For numbers and counts the share of responses
#' inside predictive intervals; for classes the observed frequency of what was predicted with
#' similar probabilities. Without new data the predictions are leave-one-out, see [loo()].
#'
#' @param object A fit of [sparsegp()].
#' @param newdata As for [plot][plot.sparsegp]: rows with their responses, which the fit has not
#'   seen. `NULL`: leave-one-out, for the rows of the fit.
#' @param level Probability content of `lwr` and `upr`, in (0, 1).
#' @param nominal For numbers and counts: contents of the intervals, in (0, 1).
#' @param n For classes: the largest number of bins; `NULL`: 10, fewer for less than 200 rows.
#' @param x,digits A calibration, and significant digits to print.
#' @param ... Nothing.
#' @return A data frame of class `sparsegp_calibration`. For numbers and counts a row for each
#'   nominal content, with the share `observed` and what `lwr` to `upr` of calibrated models have.
#'   For classes a row for each bin: mean probability `predicted`, frequency `observed`, its
#'   Clopper-Pearson interval `lwr`, `upr`, and `rows` (with several classes rows times classes).
#'   Attribute `scores`: for classes the `brier` score (mean squared difference of the probabilities
#'   from what happened, over all classes of a row) and `log` (mean logarithm of the probability of
#'   what happened). Errors of class `sparsegp_error`: streams without `newdata`.
#' @references Gneiting, T. and Raftery, A. E. (2007). Strictly proper scoring rules, prediction,
#'   and estimation. *Journal of the American Statistical Association* 102, 359-378.
#' @examples
#' calibration(sparsegp(mpg ~ wt, mtcars))
#' calibration(sparsegp(am ~ wt, mtcars, "probit"))
#' @export
calibration <- function(object, ...) UseMethod("calibration")

#' @export
calibration.default <- function(object, ...) pass_on("calibration", object, ...)

#' @rdname calibration
#' @rawNamespace S3method(caret::calibration, sparsegp)
#' @export
calibration.sparsegp <- function(object, newdata = NULL, level = 0.95,
                                 nominal = c(0.5, 0.8, 0.9, 0.95, 0.99), n = NULL, ...) {
  check_no_dots(...)
  object <- ready(object)
  offered_type(object, "reliability", "object")
  check_number(level, "level", 0, 1)
  if (!is.numeric(nominal) || length(nominal) == 0L || !all(nominal > 0 & nominal < 1)) {
    stop_sparsegp("nominal", "must be numbers between 0 and 1")
  }
  if (!is.null(n)) n <- check_count(n, "n")
  held_out <- held_out_rows(object, newdata)
  events <- class_events(object, held_out)
  if (is.null(events)) {
    out <- coverage(object, held_out, level, nominal)
  } else {
    out <- event_bins(events, held_out, level, n)
    attr(out, "scores") <- class_scores(class_probabilities(object, held_out$latent), held_out$y)
  }
  structure(out, source = held_out$source, level = level,
            class = c("sparsegp_calibration", "data.frame"))
}

class_scores <- function(prob, y) {
  happened <- outer(as.integer(y), seq_len(ncol(prob)), "==")
  c(brier = mean(rowSums((prob - happened)^2)), log = mean(log(prob[happened])))
}

#' @rdname calibration
#' @export
print.sparsegp_calibration <- function(x, digits = 3L, ...) {
  cat(if (is.null(x$nominal)) "Frequencies of what was predicted" else
        "Shares of responses inside predictive intervals", " (", attr(x, "source"), ")\n", sep = "")
  table <- as.data.frame(unclass(x)[names(x)])
  print(format(table, digits = digits), quote = FALSE, row.names = FALSE)
  of <- if (is.null(x$nominal)) " interval of the frequency" else " of calibrated models"
  cat("lwr, upr: ", percent(attr(x, "level")), of, "\n", sep = "")
  scores <- attr(x, "scores")
  if (!is.null(scores)) {
    cat("Brier score ", format(scores[["brier"]], digits = digits), ", mean log probability ",
        format(scores[["log"]], digits = digits), "\n", sep = "")
  }
  invisible(x)
}
