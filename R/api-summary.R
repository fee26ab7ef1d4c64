#' Summary of a Gaussian-process fit
#'
#' @param object A fit of [sparsegp()].
#' @param x A summary.
#' @param digits Significant digits to print.
#' @param ... Nothing.
#' @return An object of class `summary.sparsegp`: a list with `fit` (the fit), `hyperparameters`
#'   (data frame: value, start, whether learned, and for length scales the value in input units, of
#'   an input on a log scale that at its median),
#'   `log_evidence`, and unless the fit is a stream's, which keeps no rows, `mean_loo_lpd` (mean
#'   leave-one-out log predictive density), `loo_r2` (also as `r.squared`) and `loo_sd`
#'   (for numbers and counts: R2 and the standard deviation of the errors of leave-one-out
#'   predictions, see [loo()]), `noise_sd`
#'   (for numbers, and for the logarithm of times: the standard deviation of a response about the
#'   function, [sigma()]), `mean`
#'   (data frame: estimates and standard errors of the coefficients of the prior mean, where they
#'   are integrated out, see `mean` of [sparsegp()]) and
#'   `concordance` (for times to an event, see [loo()]) and
#'   `confusion` (for classes: the training response against the most probable class without its own
#'   row; the proportion of a class's rows that are misclassified is printed beside it). Printing
#'   shows how EP went: sweeps, and points that joined the basis in each of them; for streams how
#'   many rows were projected (not novel), declined (novel, but of least score), added, exchanged or
#'   skipped.
#'
#'   A length scale says over which distance the function bends along an input. It is not the
#'   input's importance: a long one can carry a strong linear trend.
#' @examples
#' summary(sparsegp(dist ~ speed, cars))
#' @export
summary.sparsegp <- function(object, ...) {
  check_no_dots(...)
  object <- ready(object)
  table <- object$hyper
  value <- shown_values(table)
  hyper <- data.frame(
    value = value, start = shown_values(table, table$start),
    learned = table$free & !is.null(object$learning), row.names = names(value)
  )
  hyper$input_units <- if (object$scaling$scale) hyper$value * table$input_sd else NA_real_
  rows <- loo_if_kept(object)
  scores <- if (!is.null(rows)) loo_scores(rows)
  structure(
    list(fit = object, hyperparameters = hyper, log_evidence = object$log_evidence,
         mean_loo_lpd = if (!is.null(rows)) mean(rows$lpd, na.rm = TRUE),
         loo_r2 = scores$r2, r.squared = scores$r2, loo_sd = scores$sd,
         concordance = scores$concordance,
         noise_sd = noise_sds(object), mean = mean_estimates(object),
         confusion = if (!is.null(rows$predicted)) {
           table(observed = rows$observed, predicted = rows$predicted)
         }),
    class = "summary.sparsegp"
  )
}

#' @rdname summary.sparsegp
#' @details
#' `coef()` of a summary is a matrix with a row for each hyperparameter and the columns `Estimate`
#' and `Std. Error`, the latter from [vcov()][confint.sparsegp] and `NA` where nothing was learned
#' or the curvature is not to be had, as of a stream.
#' @export
coef.summary.sparsegp <- function(object, ...) {
  check_no_dots(...)
  fit <- object$fit
  learned <- object$hyperparameters$learned
  error <- rep(NA_real_, length(learned))
  if (any(learned)) {
    error[learned] <- tryCatch(sqrt(diag(vcov.sparsegp(fit))),
                               sparsegp_error = function(e) NA_real_)
  }
  cbind(Estimate = coef(fit), `Std. Error` = error)
}

#' @rdname summary.sparsegp
#' @export
print.summary.sparsegp <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  fit <- x$fit
  print_head(fit)
  cat("\nHyperparameters", if (fit$scaling$scale) " (of scaled inputs)", ":\n",
      sep = "")
  hyper <- x$hyperparameters
  if (all(is.na(hyper$input_units))) hyper$input_units <- NULL
  print(format(hyper, digits = digits), quote = FALSE)
  print_noise(x$noise_sd, digits)
  if (NROW(x$mean) > 1L) {
    cat("\nCoefficients of the mean, for one standard deviation of an input:\n")
    print(format(x$mean, digits = digits), quote = FALSE)
  }
  if (!is.null(hyper$input_units) && length(warped_names(fit))) {
    cat("In input units a length scale of an input on a log scale is that at its median.\n")
  }
  if (any(grepl("lengthscale[.]", rownames(hyper)))) {
    cat("Length scales say how far the function reaches along an input, not how much it matters.\n")
  }
  print_scores(x, digits)
  if (!is.null(x$confusion)) print_confusion(x$confusion)
  cat("\n")
  print_iterations(fit)
  if (!is.null(fit$learning)) {
    cat("Learning: ", counted(fit$learning$evaluations, "evaluation"), " of the criterion, ",
        fit$learning$failures, " failed; largest slope ",
        format(max(abs(fit$learning$gradient)), digits = 2L), "\n", sep = "")
    if (!is.null(fit$learning$line_searches)) {
      cat("Failed line searches: ", fit$learning$line_searches, "\n", sep = "")
    }
  }
  print_tried(fit)
  print_convergence(fit)
  invisible(x)
}

print_scores <- function(x, digits) {
  scores <- c(
    evidence_words(x$fit, digits),
    if (!is.null(x$mean_loo_lpd)) {
      paste("leave-one-out log predictive density", format(x$mean_loo_lpd, digits = digits),
            "per row")
    }
  )
  if (length(scores)) cat("\n", sub("^l", "L", paste(scores, collapse = "; ")), "\n", sep = "")
  if (!is.null(x$loo_r2) || !is.null(x$concordance)) {
    words <- scores_in_words(list(r2 = x$loo_r2, sd = x$loo_sd, concordance = x$concordance),
                             digits)
    cat("Leave-one-out ", words, "\n", sep = "")
  }
}

# Beside each class the proportion of its rows that are classified as others.
print_confusion <- function(table) {
  share <- function(right, rows) paste0(format(round(100 * (1 - right / rows), 1L)), "%")
  cat("\nLeave-one-out classes, ", share(sum(diag(table)), sum(table)), " wrong:\n", sep = "")
  shown <- cbind(table, error = share(diag(table), rowSums(table)))
  shown[rowSums(table) == 0, "error"] <- ""
  names(dimnames(shown)) <- names(dimnames(table))
  print(shown, quote = FALSE, right = TRUE)
}
