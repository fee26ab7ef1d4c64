# Leave-one-out predictions against responses.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "loo", leave-one-out predictions:
#' Every response against its prediction from all other rows, with its predictive interval; for
#' classes the probability that the other rows give each row's own class. *Value.* `observed`,
#' `fit`, `lwr`, `upr` and whether it is `inside`, or for classes `observed`, the `probability` of
#' that and the most probable `class`.
NULL

loo_plot <- function() new_plot_type(loo_picture, draw_loo, loo_layers)

# Returns every row's prediction by the others, as `drawn`.
loo_picture <- function(object, asked) {
  list(drawn = loo_frame(object, asked$level), level = asked$level)
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

#' @export
loo_frame.response_factor <- function(object, level) {
  held_out <- loo_rows(object)
  prob <- class_probabilities(object, held_out$latent)
  own <- prob[cbind(seq_along(held_out$y), as.integer(held_out$y))]
  data.frame(observed = held_out$y, probability = own, class = most_probable(prob))
}

#' @export
loo_frame.response_ordered <- loo_frame.response

draw_loo <- function(object, picture, style) {
  draw <- if ("probability" %in% names(picture$drawn)) draw_loo_classes else draw_loo_numbers
  draw(object, picture$drawn, picture$level, style)
}

# Predictions along, responses up: the diagonal is where they agree, and a bar is an interval.
draw_loo_numbers <- function(object, drawn, level, style) {
  open_panel(style$xlim %||% around(drawn$fit),
             style$ylim %||% around(c(drawn$observed, drawn$lwr, drawn$upr)), style$asp)
  n <- nrow(drawn)
  col <- ifelse(drawn$inside, BLUE, ORANGE)
  graphics::abline(0, 1, col = "grey60")
  segments(drawn$fit, drawn$lwr, y1 = drawn$upr, lend = 1, lwd = if (n > 200L) 0.5 else 1.2,
           col = grDevices::adjustcolor(col, 0.35 * row_alpha(n) + 0.1))
  fill <- style$col %||% grDevices::adjustcolor(col, row_alpha(n))
  draw_rows(drawn$fit, drawn$observed, fill, style$pch %||% 21,
            style$cex %||% row_size(n))
  close_panel(style, "predicted from the other rows", response_label(object))
  outside <- sum(!drawn$inside)
  key <- list(key_item(paste("inside its", percent(level), "interval"), "point", BLUE),
              key_item("outside", "point", ORANGE))
  draw_heading(style, key, paste0("leave-one-out, ", n, " rows, ", outside, " outside (",
                                  percent(signif(outside / n, 2L)), "; ", percent(1 - level),
                                  " expected)"))
}

# The probability that the others give a row's own class, in a column for each class.
draw_loo_classes <- function(object, drawn, level, style) {
  levels <- levels(drawn$observed)
  axis <- list(levels = levels)
  right <- drawn$class == drawn$observed
  open_panel(style$xlim %||% c(0.5, length(levels) + 0.5), style$ylim %||% c(-0.03, 1.03))
  segments(0.5, c(0, 0.5, 1), length(levels) + 0.5, col = "grey85", lty = c(1, 3, 1))
  n <- nrow(drawn)
  x <- scattered(axis, as.integer(drawn$observed), 1L)
  col <- grDevices::adjustcolor(ifelse(right, BLUE, ORANGE), row_alpha(n))
  draw_rows(x, drawn$probability, style$col %||% col, style$pch %||% 21,
            style$cex %||% row_size(n))
  close_panel(style, response_name(object), "probability of its own class",
              x = list(at = seq_along(levels), labels = levels))
  key <- list(key_item("most probable", "point", BLUE), key_item("not", "point", ORANGE))
  draw_heading(style, key, paste0("leave-one-out, ", n, " rows, ", sum(!right), " wrong"))
}

loo_layers <- function(object, picture) {
  drawn <- picture$drawn
  if (is.null(drawn$fit)) {
    drawn$right <- drawn$class == drawn$observed
    return(ggplot2::ggplot(drawn, mapped(x = "observed", y = "probability", colour = "right")) +
             ggplot2::geom_point(position = ggplot2::position_jitter(0.2, 0, seed = 1L)) +
             ggplot2::labs(x = response_name(object), y = "probability of its own class",
                           colour = "most probable", caption = "leave-one-out"))
  }
  ggplot2::ggplot(drawn, mapped(x = "fit", y = "observed", ymin = "lwr", ymax = "upr",
                                colour = "inside")) +
    ggplot2::geom_abline(colour = "grey60") + ggplot2::geom_linerange(alpha = 0.4) +
    ggplot2::geom_point() +
    ggplot2::labs(x = "predicted from the other rows", y = response_label(object),
                  caption = "leave-one-out")
}
