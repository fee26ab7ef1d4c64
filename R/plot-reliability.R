# Reliability: what was predicted against what happened.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "reliability", calibration of the probabilities:
#' For classes the observed frequency of the second level in bins of equal counts against the mean
#' predicted probability, with binomial (Clopper-Pearson) intervals and a histogram of the
#' probabilities. With several classes every row counts as one event per class, each with its
#' predicted probability; bins have equal predicted variance (the sum of `p * (1 - p)`), since most
#' of these events are nearly excluded. The events of a row exclude each other, which makes the
#' intervals conservative. For regression the observed coverage of central predictive intervals
#' against their nominal coverage, with the band of a calibrated model (pointwise, binomial).
#' Predictions are for `newdata` or, by default, leave-one-out for the training rows, from the
#' cavities of EP. *Value.* For classes `predicted`, `observed`, `lwr`, `upr` and `rows` in the bin
#' (for several classes rows times classes). For regression `nominal`, `observed`, `se`, the
#' standard error of `observed` for a calibrated model, and `lwr` and `upr` of the band.
NULL

reliability_plot <- function() {
  new_plot_type(reliability_picture, reliability_charts, takes = "newdata")
}

# Nominal coverages of the intervals that are drawn
LEVELS_DRAWN <- seq_len(99L) / 100

# Returns `drawn`, predictions and what happened; `source`, the rows they are of; and `events`, of
# classes.
reliability_picture <- function(object, asked) {
  held_out <- held_out_rows(object, asked$newdata)
  events <- class_events(object, held_out)
  nominal <- if (is.null(asked$n)) LEVELS_DRAWN else seq_len(asked$n) / (asked$n + 1)
  drawn <- if (is.null(events)) coverage(transforms(object, held_out), nominal, asked$level)
           else event_bins(events, held_out, asked$level, asked$n)
  list(drawn = drawn, events = events, source = held_out$source, level = asked$level)
}

# Returns the bins of reliability_bins(), at most `n`.
event_bins <- function(events, held_out, level, n) {
  n <- n %||% max(2L, min(10L, length(held_out$y) %/% 20L))
  reliability_bins(events$prob, events$happened, level, n, events$share)
}

reliability_charts <- function(object, picture, style) {
  parts <- if (is.null(picture$events)) coverage_parts(picture$drawn, picture$level, style)
           else frequency_parts(picture$drawn, picture$events, picture$level, style)
  list(square_chart(picture$source, parts))
}

# Describes a chart of what was observed against what was predicted, and the diagonal.
square_chart <- function(title, parts) {
  ticks <- list(at = seq(0, 1, 0.25))
  diagonal <- new_element("bars", list(col = "grey55", lty = 2), x = 0, y = 0, x1 = 1, y1 = 1)
  key <- append(parts$key, list(key_item("calibrated", "line", "grey55", lwd = 1, lty = 2)), 1L)
  new_chart(title, append(parts$elements, list(diagonal), parts$below), parts$x, parts$y,
            parts$lim[1:2], parts$lim[3:4], list(x = ticks, y = ticks), key)
}

# Returns what the chart of bins' frequencies has beside the diagonal, which lies above the first
# `below` elements; lim: xlim, ylim.
frequency_parts <- function(drawn, events, level, style) {
  pale <- grDevices::adjustcolor(BLUE, 0.45)
  left <- seq(0, 0.95, 0.05)
  counts <- graphics::hist(events$prob, seq(0, 1, 0.05), plot = FALSE)$counts
  x <- drawn$predicted
  elements <- list(
    new_element("bars", list(col = pale, lwd = 3), x = x, y = drawn$lwr, x1 = x, y1 = drawn$upr),
    new_element("line", list(col = BLUE, lwd = 0.5 * style$lwd), x = x, y = drawn$observed),
    new_element("points", list(fill = style$col %||% BLUE, pch = style$pch %||% 16,
                               size = style$cex %||% 1, lwd = 1), x = x, y = drawn$observed),
    new_element("boxes", list(col = "grey75"), x = left, y = -0.19, x1 = left + 0.05,
                y1 = -0.19 + 0.14 * counts / max(counts))
  )
  list(elements = elements, below = 0L, x = paste("predicted", events$label),
       y = "observed frequency", lim = c(-0.02, 1.02, -0.2, 1.02),
       key = list(key_item(paste(percent(level), "interval"), "line", pale, lwd = 3),
                  key_item(events$counted, "band", "grey75")))
}

coverage_parts <- function(drawn, level, style) {
  col <- style$col %||% BLUE
  elements <- list(
    new_element("band", list(col = "grey88"), x = drawn$nominal, drawn[c("lwr", "upr")]),
    new_element("line", list(col = col, lwd = style$lwd), x = drawn$nominal, y = drawn$observed)
  )
  list(elements = elements, below = 1L, x = "nominal coverage of the interval",
       y = "proportion of responses inside", lim = c(0, 1, 0, 1),
       key = list(key_item("observed", "line", col),
                  key_item(paste(percent(level), "of calibrated models"), "band", "grey88")))
}

# Rows that the model has not seen, or each as if it had not; and which, in words.
held_out_rows <- function(object, newdata) {
  rows <- if (is.null(newdata)) loo_rows(object)
          else warn_once(predicted_rows(object, newdata))
  rows$source <- paste0(if (is.null(newdata)) "leave-one-out, " else "new data, ",
                        counted(NROW(rows$y), "row"))
  rows
}

# Returns events, their predicted probabilities and whether they happened; NULL for numbers, which
# have intervals instead.
class_events <- function(object, held_out) UseMethod("class_events", codec_of(object))

#' @export
class_events.response <- function(object, held_out) NULL

# Two classes: that a row is of the second level.
#' @export
class_events.response_labels <- function(object, held_out) {
  prob <- class_probabilities(object, held_out$latent)
  list(prob = prob[, 2L], happened = as.integer(held_out$y) == 2L, share = rep(1, nrow(prob)),
       label = response_label(object), counted = "rows")
}

# Several: for every row and class, that it is of the class; a bin's part of those is measured by
# their variance, as most of them are almost excluded.
#' @export
class_events.response_factor <- function(object, held_out) {
  prob <- class_probabilities(object, held_out$latent)
  happened <- outer(as.integer(held_out$y), seq_len(ncol(prob)), "==")
  list(prob = c(prob), happened = c(happened), share = c(prob * (1 - prob)),
       label = paste0("P(", response_name(object), ") of every class"), counted = "rows x classes")
}

loo_rows <- function(object) {
  refuse_if(length(object$y) == 0L, "newdata", "is needed, as this fit keeps no rows",
            "Give new data, with the response")
  object <- checked_rows(object)
  known <- have_response(object$y)
  list(y = some_rows(object$y, known),
       latent = some_latent(loo_latent(object), which(known), n_outputs(object)))
}

# Returns which rows have a response, of several components one at least.
have_response <- function(y) if (is.matrix(y)) !is.na(labelled_rows(y)) else !is.na(y)

# Returns the responses of new rows, and the latent moments there.
predicted_rows <- function(object, newdata) {
  refuse_unknown_variances(object$likelihood, "newdata",
                           "Leave it out for leave-one-out predictions")
  rows <- new_rows(object, newdata)
  latent <- new_latent(object, rows$given$x, rows$given$offset)
  known <- rows$complete & latent$complete
  latent <- some_latent(latent, which(known[latent$complete]), n_outputs(object))
  of_known <- known[rows$complete]
  latent$weights <- rows$weights[of_known] %||% 1
  list(y = some_rows(rows$responses, of_known), latent = latent)
}

# Bins of equal sums of `share` (counts, where it is 1), ties kept together; never an empty
# bin.
reliability_bins <- function(prob, happened, level, n, share) {
  if (sum(share) == 0) share[] <- 1
  tie <- match(prob, sort(unique(prob)))
  mass <- as.vector(rowsum(share, tie))
  # rank() where each event's share is 1
  place <- cumsum(mass) - (mass - mass / tabulate(tie)) / 2
  bin <- pmin(ceiling(n * place / sum(mass)), n)[tie]
  bin <- match(bin, sort(unique(bin)))
  rows <- tabulate(bin)
  hits <- as.vector(rowsum(as.integer(happened), bin))
  data.frame(predicted = as.vector(rowsum(prob, bin)) / rows, observed = hits / rows,
             binomial_interval(hits, rows, level), rows = rows)
}

# Clopper and Pearson's
binomial_interval <- function(hits, rows, level) {
  tail <- (1 - level) / 2
  data.frame(
    lwr = ifelse(hits == 0, 0, stats::qbeta(tail, pmax(hits, 1), rows - hits + 1)),
    upr = ifelse(hits == rows, 1, stats::qbeta(1 - tail, hits + 1, pmax(rows - hits, 1)))
  )
}

# Returns the probability integral transform of each response, the interval from `lower` to `upper`
# that a jump of its distribution function takes; a number jumps by nothing.
transforms <- function(object, held_out) {
  tails <- response_tails(object, held_out$y, held_out$latent)
  refuse_if(is.null(tails), "type", "= \"reliability\" is not defined for this likelihood")
  data.frame(lower = tails$below, upper = 1 - tails$above)
}

# Returns the part of each transform that lies between two probabilities, 0 to 1 (Czado, Gneiting
# and Held 2009, eq. 2).
pit_share <- function(pit, from, to) {
  jump <- pit$upper - pit$lower
  share <- (pmin(pit$upper, to) - pmax(pit$lower, from)) / jump
  ifelse(jump > 0, pmin(pmax(share, 0), 1), pit$lower >= from & pit$lower < to)
}

# Returns the observed coverage of central predictive intervals, its standard error and the band of
# a calibrated model.
coverage <- function(pit, nominal, level) {
  observed <- vapply(nominal, function(p) mean(pit_share(pit, (1 - p) / 2, (1 + p) / 2)), 0)
  rows <- nrow(pit)
  data.frame(nominal, observed, se = sqrt(nominal * (1 - nominal) / rows),
             calibrated_band(nominal, rows, level))
}

# Returns the proportion of responses inside intervals between quantiles. A response is not below
# the quantile of p if P(no larger) >= p, and not above it if P(less) < p.
share_inside <- function(pit, nominal) {
  vapply(nominal, function(p) mean(pit$upper >= (1 - p) / 2 & pit$lower < (1 + p) / 2), 0)
}

# Binomial quantiles of a proportion
calibrated_band <- function(prob, rows, level) {
  tail <- (1 - level) / 2
  data.frame(lwr = stats::qbinom(tail, rows, prob) / rows,
             upr = stats::qbinom(1 - tail, rows, prob) / rows)
}
