# Leave-one-out predictions against responses.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "loo", leave-one-out predictions:
#' Every response against its prediction from all other rows, with its predictive interval; for
#' classes the leave-one-out probability of each row's own class. *Value.* `observed`, `fit`, `lwr`,
#' `upr` and whether it is `inside`, or for classes `observed`, its `probability` and the most
#' probable `class`.
NULL

loo_plot <- function() {
  new_plot_type(function(object, asked) {
    list(drawn = loo_frame(object, asked$level), level = asked$level)
  }, function(object, picture, style) {
    chart <- if (is.null(picture$drawn$fit)) loo_classes_chart else loo_numbers_chart
    list(chart(object, picture$drawn, picture$level, style))
  }, refuse = function(object) {
    if (length(object$y) == 0L) {
      c("needs the rows of the fit, which a stream does not keep",
        "Use type = \"reliability\" with new observations as `newdata`")
    }
  })
}

# Returns `observed` and what the other rows predict: an interval, or probabilities.
loo_frame <- function(object, level) UseMethod("loo_frame", codec_of(object))

#' @export
loo_frame.response <- function(object, level) {
  held_out <- loo_rows(object)
  answer <- interval_answer(object, held_out$latent, "response", "prediction", level)
  observed <- codec_of(object)$observed(held_out$y)
  data.frame(observed, answer, inside = observed >= answer[, "lwr"] & observed <= answer[, "upr"])
}

# A censored time is inside where it may be.
#' @export
loo_frame.response_times <- function(object, level) {
  held_out <- loo_rows(object)
  answer <- interval_answer(object, held_out$latent, "response", "prediction", level)
  known <- known_times(held_out$y)
  data.frame(observed = shown_responses(object, held_out$y), answer,
             inside = known$upper >= answer[, "lwr"] & known$lower <= answer[, "upr"])
}

#' @export
loo_frame.response_factor <- function(object, level) {
  held_out <- loo_rows(object)
  prob <- class_probabilities(object, held_out$latent)
  own <- prob[cbind(seq_along(held_out$y), as.integer(held_out$y))]
  data.frame(observed = held_out$y, probability = own, class = most_probable(prob))
}

#' @export
loo_frame.response_in_order <- loo_frame.response

# Predictions along, responses up: the diagonal is where they agree, and a bar is an interval.
loo_numbers_chart <- function(object, drawn, level, style) {
  n <- nrow(drawn)
  col <- ifelse(drawn$inside, BLUE, ORANGE)
  outside <- sum(!drawn$inside)
  elements <- list(
    new_element("rules", list(col = "grey60"), y = 0, slope = 1, lty = 1),
    new_element("bars", list(lwd = if (n > 200L) 0.5 else 1.2,
                             col = grDevices::adjustcolor(col, 0.35 * row_alpha(n) + 0.1)),
                x = drawn$fit, y = drawn$lwr, x1 = drawn$fit, y1 = drawn$upr),
    row_points(drawn$fit, drawn$observed,
               style$col %||% grDevices::adjustcolor(col, row_alpha(n)), style)
  )
  new_chart(paste0("leave-one-out, ", n, " rows, ", outside, " outside (",
                   percent(signif(outside / n, 2L)), "; ", percent(1 - level), " expected)"),
            elements, "predicted from the other rows", response_label(object), around(drawn$fit),
            around(c(drawn$observed, drawn$lwr, drawn$upr)),
            key = list(key_item(paste("inside its", percent(level), "interval"), "point", BLUE),
                       key_item("outside", "point", ORANGE)))
}

# The probability that the others give a row's own class, in a column for each class.
loo_classes_chart <- function(object, drawn, level, style) {
  levels <- levels(drawn$observed)
  right <- drawn$class == drawn$observed
  col <- grDevices::adjustcolor(ifelse(right, BLUE, ORANGE), row_alpha(nrow(drawn)))
  elements <- list(
    probability_rules(),
    row_points(about_levels(as.integer(drawn$observed)), drawn$probability,
               style$col %||% col, style)
  )
  new_chart(paste0("leave-one-out, ", nrow(drawn), " rows, ", sum(!right), " wrong"), elements,
            response_name(object), "probability of its own class", c(0.5, length(levels) + 0.5),
            c(-0.03, 1.03), list(x = list(at = seq_along(levels), labels = levels)),
            list(key_item("predicted correctly", "point", BLUE),
                 key_item("misclassified", "point", ORANGE)))
}
