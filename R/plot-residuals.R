# What a fit gets wrong: leave-one-out predictions against responses, and four panels of residuals.

# ---- type = "loo" ----

# Every row's prediction by the others. list(drawn, classes)
loo_picture <- function(object, level) {
  held_out <- loo_rows(object)
  if (has_classes(object) && !codec_of(object)$ordered || processes(object) > 1L) {
    prob <- class_probabilities(object, held_out$latent)
    own <- prob[cbind(seq_along(held_out$y), as.integer(held_out$y))]
    return(data.frame(observed = held_out$y, probability = own,
                      class = most_probable(prob)))
  }
  answer <- interval_answer(object, held_out$latent, "response", "prediction", level)
  observed <- codec_of(object)$observed(held_out$y)
  data.frame(observed, answer, inside = observed >= answer[, "lwr"] & observed <= answer[, "upr"])
}

plot_loo <- function(object, level, style) {
  drawn <- loo_picture(object, level)
  draw <- if ("probability" %in% names(drawn)) draw_loo_classes else draw_loo
  draw(object, drawn, level, style)
  drawn
}

# Predictions along, responses up: the diagonal is where they agree, and a bar is an interval.
draw_loo <- function(object, drawn, level, style) {
  open_panel(or_else(style$xlim, around(drawn$fit)),
             or_else(style$ylim, around(c(drawn$observed, drawn$lwr, drawn$upr))), style$asp)
  n <- nrow(drawn)
  col <- ifelse(drawn$inside, BLUE, ORANGE)
  graphics::abline(0, 1, col = "grey60")
  segments(drawn$fit, drawn$lwr, y1 = drawn$upr, lend = 1, lwd = if (n > 200L) 0.5 else 1.2,
           col = grDevices::adjustcolor(col, 0.35 * row_alpha(n) + 0.1))
  fill <- or_else(style$col, grDevices::adjustcolor(col, row_alpha(n)))
  draw_rows(drawn$fit, drawn$observed, fill, or_else(style$pch, 21),
            or_else(style$cex, row_size(n)))
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
  open_panel(or_else(style$xlim, c(0.5, length(levels) + 0.5)), or_else(style$ylim, c(-0.03, 1.03)))
  segments(0.5, c(0, 0.5, 1), length(levels) + 0.5, col = "grey85", lty = c(1, 3, 1))
  n <- nrow(drawn)
  x <- scattered(axis, as.integer(drawn$observed), 1L)
  col <- grDevices::adjustcolor(ifelse(right, BLUE, ORANGE), row_alpha(n))
  draw_rows(x, drawn$probability, or_else(style$col, col), or_else(style$pch, 21),
            or_else(style$cex, row_size(n)))
  close_panel(style, response_name(object), "probability of its own class",
              x = list(at = seq_along(levels), labels = levels))
  key <- list(key_item("most probable", "point", BLUE), key_item("not", "point", ORANGE))
  draw_heading(style, key, paste0("leave-one-out, ", n, " rows, ", sum(!right), " wrong"))
}

# ---- type = "residuals": which of four panels, as plot.lm() has them ----

RESIDUAL_PANELS <- c("Residuals against fitted", "Normal Q-Q", "Scale against fitted",
                     "Residuals against leverage")

residual_panels <- function(which) {
  if (is.null(which)) return(1:4)
  if (!is.numeric(which) || length(which) == 0L || !all(which %in% 1:4) || anyDuplicated(which)) {
    stop_sparsegp("which", "must be among the panels 1 to 4",
                  paste(1:4, RESIDUAL_PANELS, sep = ": ", collapse = ", "))
  }
  which
}

plot_residuals <- function(object, which, style) {
  which <- residual_panels(which)
  drawn <- residual_frame(object)
  on_one_page(length(which), function() {
    for (panel in which) draw_residual_panel(panel, drawn, style)
  })
  drawn
}

# Quantile residuals, standard normal under the model whatever the likelihood, and leverage.
residual_frame <- function(object) {
  object <- with_rows(object)
  if (processes(object) > 1L) {
    stop_sparsegp("type", "= \"residuals\" is not defined for classes without an order",
                  "See type = \"reliability\" or \"loo\"")
  }
  latent <- training_latent(object)
  known <- !is.na(object$y)
  data.frame(row = or_else(object$row_names, as.character(seq_len(object$n))),
             fitted = mean_response(object, latent), residual = unname(quantile_residuals(object)),
             leverage = leverages(object))[known, ]
}

residual_places <- function(panel, drawn) {
  r <- drawn$residual
  x <- switch(panel, drawn$fitted, stats::qqnorm(r, plot.it = FALSE)$x, drawn$fitted,
              drawn$leverage)
  list(x = x, y = if (panel == 3L) sqrt(abs(r)) else r)
}

draw_residual_panel <- function(panel, drawn, style) {
  places <- residual_places(panel, drawn)
  x <- places$x
  y <- places$y
  open_panel(around(x), around(c(y, if (panel != 3L) c(-2, 2) else c(0, 1.5))))
  if (panel == 2L) graphics::abline(0, 1, col = "grey60")
  else if (panel == 3L) graphics::abline(h = sqrt(0.6745), col = "grey60", lty = 3)
  else graphics::abline(h = c(-2, 0, 2), col = "grey60", lty = c(3, 1, 3))
  n <- nrow(drawn)
  draw_rows(x, y, or_else(style$col, grDevices::adjustcolor(INK, row_alpha(n))),
            or_else(style$pch, 21), 0.9 * or_else(style$cex, row_size(n)))
  if (panel != 2L) draw_running_mean(x, y, style)
  name_extremes(x, y, drawn$residual, drawn$row)
  close_panel(style, c("fitted", "normal quantile", "fitted", "leverage")[panel],
              if (panel == 3L) "root of |quantile residual|" else "quantile residual")
  style$main <- NULL
  draw_heading(style, caption = RESIDUAL_PANELS[panel])
}

draw_running_mean <- function(x, y, style) {
  if (length(unique(x)) < 6L) return(invisible())
  lines(stats::lowess(x, y), col = ORANGE, lwd = style$lwd)
}

# The three largest residuals, if they are large at all, are named.
name_extremes <- function(x, y, r, names) {
  top <- utils::head(order(-abs(r)), 3L)
  top <- top[abs(r[top]) > 2]
  if (length(top) == 0L) return(invisible())
  left <- x[top] > mean(par("usr")[1:2])
  text(x[top], y[top], names[top], pos = ifelse(left, 2, 4), offset = 0.4, cex = 0.75, col = INK,
       xpd = NA)
}
