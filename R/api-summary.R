#' Summary of a Gaussian-process fit
#'
#' Prints the model, what was chosen for it, the hyperparameters with standard errors, and how well
#' it predicts observations that were left out.
#'
#' @param object A fit of [sparsegp()].
#' @param x A summary.
#' @param details `TRUE` also prints all candidates that were compared, what each gained and would
#'   have needed to gain, and the numbers of iterations.
#' @param digits Significant digits to print, a whole number from 1 to 20.
#' @param ... Not used.
#' @return An object of class `summary.sparsegp`: a list with
#'
#' | element | value |
#' |---|---|
#' | `fit` | the fit |
#' | `hyperparameters` | data frame: `value`, `std.error` ([vcov()][confint.sparsegp]), `start`, `learned`, and for length scales `input_units` and `input_error`, the value and its standard error in units of the input (of an input on a log scale at its median) |
#' | `log_evidence` | log evidence |
#' | `mean_loo_lpd` | mean leave-one-out log predictive density |
#' | `loo_r2`, `r.squared`, `loo_sd` | for numbers and counts: R2 and the standard deviation of the errors of leave-one-out predictions, see [loo()] |
#' | `concordance` | for times to an event, see [loo()] |
#' | `confusion` | for classes: the training response against the leave-one-out class; the error rate of each class is printed beside it |
#' | `noise_sd` | for numbers, and for the logarithm of times: the standard deviation of a response about the function, [sigma()] |
#' | `mean` | data frame: estimates and standard errors of the coefficients of the prior mean, where they are integrated out, see `mean` of [sparsegp()] |
#'
#'   Leave-one-out values are missing for streams, which keep no rows. Standard errors are `NA`
#'   where nothing was learned, where inputs were not kept, and where they would take long, as for
#'   more than about 1000 observations without inducing points (the *basis*);
#'   [confint()][confint.sparsegp] computes them in any case.
#'
#'   A length scale is the distance over which the function bends along an input. It is not the
#'   input's importance: a long one can carry a strong linear trend.
#'
#'   `fit$choices` is the record that `details = TRUE` prints: a data frame with the `stage` and the
#'   `candidate`, its `score`, its mean `gain` over the best before it with standard error `se`, the
#'   gain that was `needed` for it to be taken, and whether it was `taken`.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' summary(fit)
#' summary(fit, details = TRUE)
#' @export
summary.sparsegp <- function(object, ..., details = FALSE) {
  check_no_dots(...)
  check_flag(details, "details")
  object <- ready(object)
  rows <- loo_if_kept(object)
  scores <- if (!is.null(rows)) loo_scores(rows)
  structure(
    list(fit = object, hyperparameters = hyperparameter_table(object),
         log_evidence = object$log_evidence,
         mean_loo_lpd = if (!is.null(rows)) mean(rows$lpd, na.rm = TRUE),
         loo_r2 = scores$r2, r.squared = scores$r2, loo_sd = scores$sd,
         concordance = scores$concordance,
         noise_sd = noise_sds(object), mean = mean_estimates(object),
         confusion = if (!is.null(rows$predicted)) {
           table(observed = rows$observed, predicted = rows$predicted)
         }, details = details),
    class = "summary.sparsegp"
  )
}

# Returns hyperparameters with their standard errors, on the natural scale and in units of inputs.
hyperparameter_table <- function(fit) {
  table <- fit$hyper
  value <- shown_values(table)
  learned <- table$free & !is.null(fit$learning)
  error <- rep(NA_real_, length(value))
  if (any(learned) && vcov_flops(fit) <= SUMMARY_FLOPS) error[learned] <- errors_or_na(fit)
  unit <- if (fit$scaling$scale) table$input_sd else NA_real_
  data.frame(value = value, std.error = error, start = shown_values(table, table$start),
             learned = learned, input_units = value * unit, input_error = error * unit,
             row.names = names(value))
}

errors_or_na <- function(fit) {
  tryCatch(sqrt(diag(vcov.sparsegp(fit))), sparsegp_error = function(e) NA_real_)
}

# Arithmetic operations that summary() spends on standard errors: about two seconds
SUMMARY_FLOPS <- 2e10

# Returns the operations of vcov(): two gradients for each learned hyperparameter.
vcov_flops <- function(fit) {
  n <- nobs(fit)
  points <- if (every_row_in_basis(fit)) n else nrow(basis_points_of(fit))
  2 * sum(fit$hyper$free) * processes(fit) * n * points^2
}

#' @rdname summary.sparsegp
#' @details `coef()` of a summary is a matrix with a row for each hyperparameter and the columns
#' `Estimate` and `Std. Error`, the latter from [vcov()][confint.sparsegp] and `NA` where nothing
#' was learned or the curvature is not available, as in a stream.
#' @export
coef.summary.sparsegp <- function(object, ...) {
  check_no_dots(...)
  fit <- object$fit
  learned <- object$hyperparameters$learned
  error <- rep(NA_real_, length(learned))
  if (any(learned)) error[learned] <- errors_or_na(fit)
  cbind(Estimate = coef(fit), `Std. Error` = error)
}

#' @rdname summary.sparsegp
#' @export
print.summary.sparsegp <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  fit <- x$fit
  writeLines(c(head_lines(fit, digits), detail_lines(fit)))
  print_hyperparameters(x$hyperparameters, digits, lengths_in_km(fit))
  if (length(warped_names(fit)) && !all(is.na(x$hyperparameters$input_units))) {
    cat("A length scale of an input on a log scale is that at its median.\n")
  }
  if (any(grepl("lengthscale[.]", rownames(x$hyperparameters)))) {
    cat("A length scale is a distance along an input, not a measure of its importance.\n")
  }
  if (NROW(x$mean) > 1L) {
    cat("\nCoefficients of the mean, for one standard deviation of an input:\n")
    print(format(x$mean, digits = digits), quote = FALSE)
  }
  print_scores(x, digits)
  if (!is.null(x$confusion)) print_confusion(x$confusion)
  if (isTRUE(x$details)) print_details(fit)
  writeLines(as.character(convergence_words(fit, full = TRUE)))
  invisible(x)
}

# Prints each hyperparameter in units of its input where it has one. km: which are in km?
print_hyperparameters <- function(hyper, digits, km) {
  own <- !is.na(hyper$input_units)
  number <- function(values) trimws(format(signif(values, digits), digits = digits))
  each <- function(values) vapply(values, number, "")
  shown <- data.frame(estimate = each(ifelse(own, hyper$input_units, hyper$value)),
                      std.error = each(signif(ifelse(own, hyper$input_error, hyper$std.error), 2L)),
                      unit = ifelse(own, "of the input",
                                    hyper_units(rownames(hyper))),
                      row.names = rownames(hyper))
  shown$unit[km] <- "km"
  shown$std.error[!hyper$learned] <- "fixed"
  if (any(hyper$learned) && all(is.na(hyper$std.error))) { # there are none to show
    shown$std.error[hyper$learned] <- ""
    if (all(hyper$learned)) shown$std.error <- NULL else names(shown)[2L] <- ""
  }
  if (all(shown$unit == "")) shown$unit <- NULL
  cat("\nHyperparameters:\n")
  print(shown, quote = FALSE)
}

# Returns the units of hyperparameters that are not in units of an input. That of the noise is said
# because its standard deviation stands above.
hyper_units <- function(names) {
  ifelse(grepl("lengthscale", names), "of scaled inputs",
         ifelse(grepl("(^|[.])noise", names), "variance", ""))
}

# Returns which hyperparameters are length scales on the sphere.
lengths_in_km <- function(fit) {
  leaves <- kernel_leaves(fit$kernel)
  own <- paste0(leaf_prefixes(leaves), "lengthscale")[vapply(leaves, on_sphere, NA)]
  Reduce(`|`, lapply(own, startsWith, x = fit$hyper$name), logical(nrow(fit$hyper)))
}

# Prints all candidates that were compared, and how the search and the iterations went.
print_details <- function(fit) {
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

# Prints the confusion table, with the error rate of each class in a further column.
print_confusion <- function(table) {
  share <- function(right, rows) paste0(format(round(100 * (1 - right / rows), 1L)), "%")
  cat("\nLeave-one-out classes, ", share(sum(diag(table)), sum(table)), " wrong:\n", sep = "")
  shown <- cbind(table, error = share(diag(table), rowSums(table)))
  shown[rowSums(table) == 0, "error"] <- ""
  names(dimnames(shown)) <- names(dimnames(table))
  print(shown, quote = FALSE, right = TRUE)
}
