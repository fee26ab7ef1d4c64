#' Leave-one-out predictions, and comparing fits by them
#'
#' `loo()` predicts each row from all others, without refitting: expectation propagation keeps, for
#' each row, the posterior of its latent value given the rest of the data. This is exact for
#' Gaussian noise at given hyperparameters; for other likelihoods it is as accurate as the
#' posterior. Hyperparameters are those learned from all rows, which makes fits of few rows with
#' many hyperparameters look slightly better than they are.
#'
#' `compare()` compares fits of the same responses: the sum of their log predictive densities, the
#' difference from the best, and the standard error of that difference, from the differences of the
#' rows. A difference below two standard errors does not favour a fit, and with fewer than 30 rows
#' the standard error itself is unreliable. The last column is the log evidence, the sum of the log
#' densities of the rows given the rows before them: the first ones come from the prior alone, so a
#' vague prior costs more. `anova()` of several fits and `loo::loo_compare()` give the same table;
#' the latter accepts `loo(fit)`, too. Package testthat also exports `compare()`: if it is attached
#' after this package write `sparsegp::compare()`, or `anova()`.
#'
#' @param x A fit of [sparsegp()] that keeps its rows, not a stream.
#' @param object,... For `compare()` and `anova()` two fits or more, optionally named; otherwise not
#'   used.
#' @return `loo()`: a data frame of class `sparsegp_loo` with a row for each row used.
#'   * Numbers, counts and proportions: `observed`, and the predictive `mean` and `sd`, in the units
#'     of the response.
#'   * Classes: `observed`, `predicted` (the most probable class), `prob` (the probability of the
#'     observed class) and one column for each, `prob.<class>`.
#'   * Several components: `observed`, `mean` and `sd` of each, such as `mean.u`.
#'   * Times to an event: `time`, `status` (`"event"`, `"after"` for right and `"before"` for left
#'     censored times, or `"between"` this and `time2`) and the predicted `median`.
#'
#'   In all cases `lpd` is the natural logarithm of the predictive density, or probability, of the
#'   observation. Rows without a label ([lik_nullcat()]) have `NA`, as do rows without which the
#'   sites of the others, under `method_ep(power = )`, have no posterior. `print()` shows sums: the
#'   log predictive density with its standard error; for numbers R2 (one minus the ratio of the sum
#'   of squared errors to that about the mean of the responses) and the standard deviation of the
#'   errors; for classes the error rate; for times to an event the concordance: the proportion of
#'   pairs with a known order of events whose medians have the same order. Pairs to which the fit
#'   gives the same median, such as those with equal inputs, count half.
#'
#'   `compare()`: a data frame with a row for each fit, the best first: `lpd` (sum over the rows, in
#'   nats), `difference` (from the best, 0 or below), `se` (standard error of that difference) and
#'   `log_evidence` (`NA` for one-vs-rest classes).
#'
#'   Errors of class `sparsegp_error`: fits that keep no rows, fits of other responses.
#' @references Minka, T. P. *Gaussian EP* (update formulas), eqs 78-79. Vehtari, A., Gelman, A. and
#'   Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out cross-validation and
#'   WAIC. *Statistics and Computing* 27, 1413-1432, section 5.1.
#' @seealso [loo_lpd()], [calibration()], [residuals][residuals.sparsegp] of type `"quantile"`.
#' @examples
#' fit <- sparsegp(mpg ~ wt, mtcars)
#' loo(fit)
#' head(as.data.frame(loo(fit)), 3)
#' more <- sparsegp(mpg ~ wt + hp, mtcars)
#' compare(fit, "with power" = more)
#' @export
loo <- function(x, ...) UseMethod("loo")

#' @rdname loo
#' @rawNamespace S3method(loo::loo, sparsegp)
#' @export
loo.sparsegp <- function(x, ...) {
  check_no_dots(...)
  x <- with_rows(x)
  table <- loo_table(x)
  out <- data.frame(table, lpd = lpd_of_rows(x), row.names = x$row_names, check.names = FALSE)
  structure(out, alike = attr(table, "alike"),
            class = c("sparsegp_loo", "psis_loo", "loo", "data.frame"))
}

# ---- As an object of package loo ----

# Returns a column, or what loo::loo_compare() reads of its own objects: the sum of the log
# predictive densities with its standard error, and the densities of the rows.
#' @export
`[[.sparsegp_loo` <- function(x, ...) {
  table <- as.data.frame(x)
  if (!(...length() == 1L && is_word(..1, c("pointwise", "estimates")))) return(table[[...]])
  elpd <- table$lpd[!is.na(table$lpd)]
  if (..1 == "pointwise") return(cbind(elpd_loo = elpd, looic = -2 * elpd))
  cbind(Estimate = c(elpd_loo = sum(elpd), looic = -2 * sum(elpd)),
        SE = c(1, 2) * sum_error(elpd))
}

#' @export
`$.sparsegp_loo` <- function(x, name) x[[name]]

#' @export
dim.sparsegp_loo <- function(x) dim(as.data.frame(x))

# ---- In few numbers ----

# Returns NULL of a fit that keeps no rows.
loo_if_kept <- function(fit) if (has_rows(fit)) loo(fit)

# R2 and standard deviation of the errors, the proportion of errors, or the concordance of times;
# rows without a label do not count.
loo_scores <- function(table) {
  if (!is.null(table$predicted)) {
    known <- !is.na(table$observed)
    return(list(error = mean(as.character(table$predicted[known]) !=
                               as.character(table$observed[known]))))
  }
  if (!is.null(table$status)) return(list(concordance = concordance_of_table(table)))
  columns_of <- function(name) { # one, or those of several components
    own <- names(table) == name | startsWith(names(table), paste0(name, "."))
    unname(as.matrix(as.data.frame(table)[own]))
  }
  observed <- columns_of("observed")
  wrong <- observed - columns_of("mean")
  if (all(is.na(wrong))) return(NULL) # the likelihood has no mean response
  about <- sweep(observed, 2L, colMeans(observed, na.rm = TRUE))
  list(r2 = 1 - sum(wrong^2, na.rm = TRUE) / sum(about^2, na.rm = TRUE),
       sd = sqrt(mean(wrong^2, na.rm = TRUE)))
}

#' @export
print.sparsegp_loo <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  lpd <- x$lpd[!is.na(x$lpd)]
  cat("Leave-one-out predictions of ", counted(nrow(x), "row"), "\n",
      "  log predictive density ", format(sum(lpd), digits = digits + 2L), " (standard error ",
      format(sum_error(lpd), digits = digits), "), ", format(mean(lpd), digits = digits),
      " per row\n", sep = "")
  scores <- loo_scores(x)
  if (!is.null(scores)) cat("  ", scores_in_words(scores, digits), "\n", sep = "")
  rows <- utils::head(x, 6L)
  print(format(rows, digits = digits), quote = FALSE)
  if (nrow(x) > 6L) cat("and ", counted(nrow(x) - 6L, "row"), " more: as.data.frame()\n", sep = "")
  invisible(x)
}

# Returns some of the rows as a data frame: a table of them would print sums of these alone.
#' @export
`[.sparsegp_loo` <- function(x, ...) {
  class(x) <- "data.frame"
  x[...]
}

#' @export
as.data.frame.sparsegp_loo <- function(x, ...) {
  class(x) <- "data.frame"
  x
}

scores_in_words <- function(scores, digits) {
  if (!is.null(scores$concordance)) {
    return(paste("concordance", format(scores$concordance, digits = digits)))
  }
  if (is.null(scores$r2)) return(paste("error rate", percent(scores$error)))
  paste0("R2 ", format(scores$r2, digits = digits), ", standard deviation of the errors ",
         format(scores$sd, digits = digits))
}

# ---- Side by side ----

#' @rdname loo
#' @export
compare <- function(...) UseMethod("compare")

#' @export
compare.default <- function(...) pass_on("compare", ...)

#' @rdname loo
#' @export
compare.sparsegp <- function(...) compare_fits(list(...), match.call(expand.dots = TRUE))

#' @rawNamespace S3method(loo::loo_compare, sparsegp)
loo_compare.sparsegp <- function(x, ...) compare_fits(list(x, ...), match.call())

#' @rdname loo
#' @importFrom stats anova
#' @export
anova.sparsegp <- function(object, ...) {
  refuse_if(...length() == 0L,
            "object", "is one fit, and its terms have no degrees of freedom to test",
            paste("Give a second fit, such as one without the term in question:",
                  "anova(fit, update(fit, . ~ . - term))"))
  compare_fits(list(object, ...), match.call())
}

# Compares the fit with fits without each of its terms. car's own method would test hyperparameters,
# under the names of the terms.
#' @rdname loo
#' @param mod A fit of a formula with two terms or more.
#' @exportS3Method car::Anova
Anova.sparsegp <- function(mod, ...) {
  terms <- labels.sparsegp(mod)
  refuse_if(is.null(mod$terms) || length(terms) < 2L,
            "mod", "has fewer than two terms, so dropping one leaves no input",
            "Fit a formula, or see loo(mod)")
  fits <- lapply(seq_along(terms), function(k) {
    shorter <- stats::formula(stats::drop.terms(mod$terms, k, keep.response = TRUE))
    eval(as.call(list(quote(stats::update), mod, shorter)), environment(mod$terms))
  })
  named <- c("fit", paste("without", terms))
  compare_fits(c(list(mod), fits), as.call(c(list(quote(compare)),
                                             stats::setNames(lapply(named, as.name), named))))
}

# Returns labels of the fits of a call: as named, or as written where that is short.
fit_names <- function(call) {
  written <- as.list(call)[-1L]
  words <- vapply(written, function(expression) paste(deparse(expression), collapse = ""), "")
  words <- ifelse(nchar(words) > 30L, paste("fit", seq_along(words)), words)
  named <- names(written)
  if (is.null(named)) named <- rep("", length(written))
  make.unique(unname(ifelse(named %in% c("", "object", "x"), words, named)))
}

compare_fits <- function(fits, call) {
  if (length(fits) < 2L) stop_sparsegp("...", "has one fit, and a comparison needs two",
                                       "Give two fits or more, or see loo() of one")
  names(fits) <- fit_names(call)
  for (fit in fits) check_class(fit, "sparsegp", "...", "Give fits of sparsegp()")
  fits <- lapply(fits, with_rows, "...")
  for (fit in fits[-1L]) check_same_responses(fits[[1L]], fit)
  lpd <- vapply(fits, lpd_of_rows, numeric(fits[[1L]]$n))
  lpd <- matrix(lpd, ncol = length(fits)) # of one row, too
  lpd <- lpd[!is.na(lpd[, 1L]), , drop = FALSE]
  total <- colSums(lpd)
  behind <- lpd - lpd[, which.max(total)]
  out <- data.frame(lpd = total, difference = colSums(behind), se = apply(behind, 2L, sum_error),
                    log_evidence = vapply(fits, evidence_of, 0), row.names = names(fits))
  out <- out[order(-total), ]
  structure(out, class = c("sparsegp_compare", "data.frame"), rows = nrow(lpd))
}

check_same_responses <- function(f, g) {
  same <- identical(f$row_names, g$row_names) && identical(as.character(f$y), as.character(g$y)) &&
    identical(codec_of(f)[c("task", "trials")], codec_of(g)[c("task", "trials")])
  refuse_if(!same, "...", "were fitted to different rows or responses",
            "Fit all of them to the same rows, those without missing values in any of them")
}

#' @export
print.sparsegp_compare <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  cat("Leave-one-out log predictive densities of ", counted(attr(x, "rows"), "row"),
      ", the best first\n", sep = "")
  print(format(as.data.frame(unclass(x), row.names = rownames(x)), digits = digits + 2L),
        quote = FALSE)
  invisible(x)
}
