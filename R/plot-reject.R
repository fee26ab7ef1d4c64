# Error rate against the proportion of rows rejected (thesis, figure 5.7).

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "reject", error rate against the proportion rejected:
#' For classes: the effect of `predict(type = "class", reject = )`. The error rate of the accepted
#' rows against the proportion of rejected rows, as the threshold on the largest probability rises
#' (marked at the top edge), with the binomial (Clopper-Pearson) interval at each threshold; dashed:
#' the error rate expected from the probabilities, the mean of one minus the largest. Predictions
#' are as for `"reliability"`. *Value.* `threshold`, the proportion `rejected` below it, `error`,
#' `lwr`, `upr` and `expected` of the accepted rows, and their number `accepted`.
NULL

reject_plot <- function() {
  new_plot_type(reject_picture, reject_charts, takes = "newdata",
                refuse = function(object) {
    if (is.null(codec_of(object)$offers$class)) {
      c("is for classes, and this is a regression",
        "See how sure it is by type = \"reliability\"")
    }
  })
}

reject_picture <- function(object, asked) {
  held_out <- held_out_rows(object, asked$newdata)
  prob <- class_probabilities(object, held_out$latent)
  list(drawn = reject_curve(prob, as.integer(held_out$y), asked$level, asked$n),
       source = held_out$source, level = asked$level)
}

# A row per threshold at which a row more is rejected, from the first, at which no row is. `n`: not
# more rows than these.
reject_curve <- function(prob, code, level, n) {
  best <- max.col(prob, "first")
  top <- prob[cbind(seq_along(best), best)]
  wrong <- best != code
  threshold <- sort(unique(top))
  if (!is.null(n)) {
    threshold <- threshold[unique(round(seq(1, length(threshold), length.out = n)))]
  }
  # of the rows in ascending order all from `from` on are accepted
  from <- findInterval(threshold, sort(top), left.open = TRUE) + 1L
  accepted <- length(top) - from + 1L
  from_here_on <- function(v) rev(cumsum(rev(v[order(top)])))[from]
  errors <- from_here_on(wrong)
  data.frame(threshold, rejected = 1 - accepted / length(top), error = errors / accepted,
             binomial_interval(errors, accepted, level),
             expected = from_here_on(1 - top) / accepted, accepted)
}

reject_charts <- function(object, picture, style) {
  drawn <- picture$drawn
  x <- drawn$rejected
  band <- grDevices::adjustcolor(BLUE, 0.2)
  col <- style$col %||% BLUE
  # the interval of the last few rows may reach 1
  top <- 1.25 * max(drawn$error, drawn$expected, drawn$upr[1L], 1e-3)
  elements <- list(
    new_element("band", list(col = band), x = x, drawn[c("lwr", "upr")]),
    new_element("line", list(col = "grey45", lty = 2, lwd = 0.75 * style$lwd), x = x,
                y = drawn$expected),
    new_element("line", list(col = col, lwd = style$lwd), x = x, y = drawn$error),
    if (style$ann) threshold_ticks(drawn)
  )
  list(new_chart(
    paste0(picture$source, "; ticks at the top: threshold"), elements,
    "proportion of rows rejected", "error rate of the rest", c(0, 1), c(0, min(top, 1.1)),
    key = list(key_item("observed", "line", col),
               key_item(paste(percent(picture$level), "interval"), "band", band),
               key_item("expected if calibrated", "line", "grey45", lty = 2))
  ))
}

# Marks where thresholds are reached, the round ones first.
threshold_ticks <- function(drawn) {
  at <- c(0.9, 0.5, 0.99, 0.7, 0.8, 0.95, 0.6, 0.999, 0.4, 0.3, 0.2)
  x <- drawn$rejected[findInterval(at, drawn$threshold, left.open = TRUE) + 1L]
  new_element("hanging", list(), x = x[!is.na(x)], label = as.character(at)[!is.na(x)])
}
