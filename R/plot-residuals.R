# Four panels of residuals, as plot.lm() has them.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "residuals", four panels of quantile residuals:
#' Panels as of [stats::plot.lm()], chosen by `which`, of quantile residuals (see
#' [residuals][residuals.sparsegp]): against fitted means, against normal quantiles, their size
#' against fitted means, and against [leverage][influence]. For counts and classes quantile
#' residuals are partly drawn at random. *Value.* `row`, `fitted`, `residual`, `leverage`.
NULL

residuals_plot <- function() {
  new_plot_type(residuals_picture, draw_residuals, residuals_layers, takes = "which",
                refuse = function(object) {
    if (processes(object) > 1L) {
      c("is not defined for classes without an order", "See type = \"reliability\" or \"loo\"")
    }
  })
}

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

residuals_picture <- function(object, asked) {
  list(which = residual_panels(asked$which), drawn = residual_frame(object))
}

draw_residuals <- function(object, picture, style) {
  on_one_page(length(picture$which), function() {
    for (panel in picture$which) draw_residual_panel(panel, picture$drawn, style)
  })
}

# Quantile residuals, standard normal under the model whatever the likelihood, and leverage.
residual_frame <- function(object) {
  object <- with_rows(object)
  latent <- training_latent(object)
  known <- !is.na(object$y)
  data.frame(row = object$row_names %||% as.character(seq_len(object$n)),
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
  draw_rows(x, y, style$col %||% grDevices::adjustcolor(INK, row_alpha(n)),
            style$pch %||% 21, 0.9 * (style$cex %||% row_size(n)))
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

residuals_layers <- function(object, picture) {
  panels <- lapply(picture$which, function(panel) {
    data.frame(residual_places(panel, picture$drawn), panel = factor(RESIDUAL_PANELS[panel],
                                                             RESIDUAL_PANELS))
  })
  ggplot2::ggplot(do.call(rbind, panels), mapped(x = "x", y = "y")) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey60") + ggplot2::geom_point(alpha = 0.6) +
    ggplot2::facet_wrap("panel", scales = "free") +
    ggplot2::labs(x = NULL, y = "quantile residual, or root of its size")
}
