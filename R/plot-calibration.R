#' Are intervals and probabilities calibrated?
#'
#' Compares predictions with observations, in numbers. For responses with an order (numbers, counts,
#' proportions, ordered categories) it gives the observed coverage of central predictive intervals
#' against their nominal coverage, and their widths. For classes it gives the observed frequency of
#' events against their predicted probability. Without new data it uses leave-one-out predictions,
#' see [loo()].
#'
#' @param object A fit of [sparsegp()].
#' @param newdata As for [plot][plot.sparsegp]: new observations with their responses. `NULL`:
#'   leave-one-out predictions for the observations of the fit.
#' @param level Nominal coverage of `lwr` and `upr`: one number in (0, 1).
#' @param nominal For intervals: nominal coverages, numbers in (0, 1).
#' @param n For probabilities: the largest number of bins, a whole number; `NULL`: 10, fewer below
#'   200 observations.
#' @param type `"intervals"` or `"probabilities"`. `NULL`: intervals if the response has an order.
#'   Ordered categories have both.
#' @param x A result of `calibration()`.
#' @param digits Significant digits to print, a whole number from 1 to 20.
#' @param ... `plot()`: graphical parameters, as for [plot][plot.sparsegp]. The others: not used;
#'   unknown arguments are an error.
#' @return A data frame of class `sparsegp_calibration`, with methods of `plot()` and `autoplot()`.
#'
#'   For intervals one row per nominal coverage (for several components one per component, with the
#'   column `component`):
#'   * `nominal`, the nominal coverage, in (0, 1);
#'   * `observed`, the observed coverage, in \[0, 1\], and `se`, its binomial standard error for a
#'     calibrated model;
#'   * `lwr`, `upr`: a calibrated model has `observed` between them with probability `level`;
#'   * `width`, the mean width of the intervals in units of the response (for ordered categories the
#'     number of steps). Prefer the narrower of two calibrated models;
#'   * `inside`, the proportion of responses in the intervals of [predict()][predict.sparsegp].
#'     Counts, proportions and ordered categories are discrete, so the coverage of their intervals
#'     is at least the nominal coverage. `observed` allows for that, see "Details"; for other
#'     numbers both are the same.
#'
#'   Attribute `pit`: a data frame with the probabilities `lower` of a smaller response and `upper`
#'   of one that is no larger, one row per observation (and component).
#'
#'   For probabilities one row per bin: mean probability `predicted`, frequency `observed`, its
#'   Clopper-Pearson interval `lwr`, `upr`, and the number of observations `rows` (for several
#'   classes observations times classes). Attribute `scores`: the `brier` score (mean squared
#'   difference between probabilities and outcomes, summed over all classes of an observation) and
#'   `log` (mean logarithm of the probability of the outcome).
#'
#'   Errors of class `sparsegp_error`: streams without `newdata`; responses with neither intervals
#'   nor probabilities; `newdata` if variances are known only for the observations of the fit.
#' @details
#' The *probability integral transform* (PIT) of a response y is F(y), the predictive distribution
#' function at y. If the model is calibrated, F(y) is uniform, and the central interval of coverage
#' p holds the responses with F(y) between (1 - p) / 2 and (1 + p) / 2. Where responses jump, F
#' jumps at y, and the transform is spread evenly over the jump. This is the non-randomised
#' transform of Czado, Gneiting and Held (2009). `plot()` draws its histogram, and `observed` is the
#' coverage of central intervals by it; nothing is drawn at random. The histogram is flat if the
#' model is calibrated, U-shaped if intervals are too narrow, has a hump if they are too wide, and
#' slopes if predictions are biased.
#'
#' Standard errors and bands take the observations to be independent. Leave-one-out predictions of
#' neighbouring observations are not quite.
#' @references Czado, C., Gneiting, T. and Held, L. (2009). Predictive model assessment for count
#'   data. *Biometrics* 65, 1254-1261, section 2.1.
#'
#'   Gneiting, T., Balabdaoui, F. and Raftery, A. E. (2007). Probabilistic forecasts, calibration
#'   and sharpness. *Journal of the Royal Statistical Society B* 69, 243-268.
#'
#'   Gneiting, T. and Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and
#'   estimation. *Journal of the American Statistical Association* 102, 359-378.
#' @seealso `vignette("trust")`: when intervals fail, and what to do; [loo()],
#'   [residuals][residuals.sparsegp] of type `"quantile"`.
#' @concept calibration
#' @concept coverage
#' @concept probability integral transform
#' @concept sharpness
#' @examples
#' calibration(sparsegp(mpg ~ wt, mtcars))
#' plot(calibration(sparsegp(carb ~ wt, mtcars, "poisson")))
#' calibration(sparsegp(am ~ wt, mtcars, "probit"))
#' @export
calibration <- function(object, ...) UseMethod("calibration")

#' @export
calibration.default <- function(object, ...) pass_on("calibration", object, ...)

#' @rdname calibration
#' @rawNamespace S3method(caret::calibration, sparsegp)
#' @export
calibration.sparsegp <- function(object, newdata = NULL, level = 0.95,
                                 nominal = c(0.5, 0.8, 0.9, 0.95, 0.99), n = NULL, type = NULL,
                                 ...) {
  check_no_dots(...)
  object <- ready(object)
  type <- calibration_type(object, type)
  check_number(level, "level", 0, 1)
  if (!is.numeric(nominal) || length(nominal) == 0L || !isTRUE(all(nominal > 0 & nominal < 1))) {
    stop_sparsegp("nominal", "must be numbers between 0 and 1")
  }
  if (!is.null(n)) n <- check_count(n, "n")
  held_out <- held_out_rows(object, newdata)
  out <- if (type == "intervals") interval_calibration(object, held_out, level, nominal)
         else probability_calibration(object, held_out, level, n)
  structure(out, source = held_out$source, level = level,
            class = c("sparsegp_calibration", "data.frame"))
}

# Returns the type asked for, or the first that the response offers.
calibration_type <- function(object, type) {
  codec <- codec_of(object)
  types <- c(if ("intervals" %in% codec$measures) "intervals",
             if (!is.null(codec$offers$prob)) "probabilities")
  refuse_if(length(types) == 0L,
            "object", "has neither predictive intervals nor probabilities of classes",
            "See loo() and residuals()")
  if (is.null(type)) return(types[1L])
  type <- check_choice(type, c("intervals", "probabilities"), "type")
  if (type %in% types) return(type)
  stop_sparsegp("type", paste0("= \"", type, "\" is not defined for ", codec$called),
                paste0("Use type = \"", types, "\""))
}

# ---- Intervals ----

# Returns the table, with the attribute `pit`, of all components below each other.
interval_calibration <- function(object, held_out, level, nominal) {
  tails <- response_tails(object, held_out$y, held_out$latent)
  below <- as.matrix(tails$below)
  above <- as.matrix(tails$above)
  widths <- lapply(nominal, function(p) as.matrix(interval_width(object, held_out$latent, p)))
  each <- lapply(seq_len(ncol(below)), function(j) {
    known <- !is.na(below[, j])
    pit <- data.frame(lower = below[known, j], upper = 1 - above[known, j])
    table <- coverage(pit, nominal, level)
    table$width <- vapply(widths, function(width) mean(width[known, j]), 0)
    table$inside <- share_inside(pit, nominal)
    lapply(list(table = table, pit = pit), of_component, colnames(below)[j])
  })
  structure(do.call(rbind, lapply(each, `[[`, "table")),
            pit = do.call(rbind, lapply(each, `[[`, "pit")))
}

of_component <- function(table, name) if (is.null(name)) table else cbind(component = name, table)

# ---- Probabilities ----

probability_calibration <- function(object, held_out, level, n) {
  events <- class_events(object, held_out)
  prob <- class_probabilities(object, held_out$latent)
  structure(event_bins(events, held_out, level, n), events = events,
            scores = class_scores(prob, held_out$y))
}

class_scores <- function(prob, y) {
  happened <- outer(as.integer(y), seq_len(ncol(prob)), "==")
  c(brier = mean(rowSums((prob - happened)^2)), log = mean(log(prob[happened])))
}

# ---- In print and as a picture ----

# Returns some of the rows as a plain data frame, without its attributes.
#' @export
`[.sparsegp_calibration` <- function(x, ...) {
  class(x) <- "data.frame"
  x[...]
}

#' @rdname calibration
#' @export
print.sparsegp_calibration <- function(x, digits = 3L, ...) {
  intervals <- !is.null(x$nominal)
  table <- as.data.frame(unclass(x)[names(x)])
  if (isTRUE(all.equal(table$inside, table$observed))) table$inside <- NULL
  cat(if (intervals) "Observed coverage of prediction intervals"
      else "Frequencies of what was predicted", " (", attr(x, "source"), ")\n", sep = "")
  print(format(table, digits = digits), quote = FALSE, row.names = FALSE)
  cat("lwr, upr: ", percent(attr(x, "level")),
      if (intervals) " of calibrated models" else " interval of the frequency", "\n", sep = "")
  if (!is.null(table$inside)) {
    cat("inside: the intervals of predict(), whose coverage is at least the nominal one\n")
  }
  scores <- attr(x, "scores")
  if (!is.null(scores)) {
    cat("Brier score ", format(scores[["brier"]], digits = digits), ", mean log probability ",
        format(scores[["log"]], digits = digits), "\n", sep = "")
  }
  invisible(x)
}

#' @rdname calibration
#' @export
plot.sparsegp_calibration <- function(x, ...) {
  style <- plot_style(...)
  draw_charts(calibration_charts(x, style), style)
  invisible(x)
}

#' @rdname calibration
#' @exportS3Method ggplot2::autoplot
autoplot.sparsegp_calibration <- function(object, ...) {
  check_no_dots(...)
  chart_layers(calibration_charts(object, auto_style()))
}

# Returns a chart of frequencies, or of each component the coverage and the histogram of the
# transform.
calibration_charts <- function(object, style) {
  level <- attr(object, "level")
  source <- attr(object, "source")
  pit <- attr(object, "pit")
  if (is.null(pit)) {
    return(list(square_chart(source, frequency_parts(object, attr(object, "events"), level,
                                                     style))))
  }
  unlist(lapply(unname(split(pit, pit$component %||% rep("", nrow(pit)))), function(own) {
    title <- paste(c(own$component[1L], source), collapse = ", ")
    list(square_chart(title, coverage_parts(coverage(own, LEVELS_DRAWN, level), level, style)),
         pit_chart(title, own, level, style))
  }), recursive = FALSE)
}

# Draws the histogram of the non-randomised transform, of density 1 in calibrated models.
pit_chart <- function(title, pit, level, style) {
  bins <- max(5L, min(20L, nrow(pit) %/% 20L))
  edges <- seq(0, 1, length.out = bins + 1L)
  height <- bins * vapply(seq_len(bins), function(j) {
    mean(pit_share(pit, edges[j], edges[j + 1L]))
  }, 0)
  band <- bins * calibrated_band(1 / bins, nrow(pit), level)
  elements <- list(
    new_element("band", list(col = "grey88"), x = c(0, 1), lwr = band$lwr, upr = band$upr),
    new_element("boxes", list(col = grDevices::adjustcolor(style$col %||% BLUE, 0.6)),
                x = edges[-(bins + 1L)], y = 0, x1 = edges[-1L], y1 = height),
    new_element("rules", list(col = "grey55"), y = 1, slope = 0, lty = 2)
  )
  new_chart(title, elements, "probability integral transform", "density", c(0, 1),
            c(0, 1.05 * max(height, band$upr)), list(x = list(at = seq(0, 1, 0.25))),
            list(key_item("observed", "band", BLUE), key_item("calibrated", "line", "grey55",
                                                              lwd = 1, lty = 2)))
}
