# Four panels of residuals, as plot.lm() has them.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "residuals", four panels of quantile residuals:
#' The panels of [stats::plot.lm()], chosen by `which`, for quantile residuals (see
#' [residuals][residuals.sparsegp]): against fitted means, against normal quantiles, their absolute
#' size against fitted means, and against [leverage][influence]. For counts and classes quantile
#' residuals are partly drawn at random. *Value.* `row`, `fitted`, `residual`, `leverage`.
NULL

residuals_plot <- function() {
  new_plot_type(function(object, asked) {
    list(which = residual_panels(asked$which), drawn = residual_frame(object))
  }, function(object, picture, style) {
    lapply(picture$which, residual_chart, picture$drawn, style)
  }, takes = "which", refuse = function(object) {
    why_not_measured(codec_of(object), "influence", "See type = \"reliability\" or \"loo\"")
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

# Quantile residuals, standard normal under the model whatever the likelihood, and leverage.
residual_frame <- function(object) {
  object <- with_rows(object)
  latent <- training_latent(object)
  known <- !is.na(object$y)
  data.frame(row = object$row_names %||% as.character(seq_len(object$n)),
             fitted = point_response(object, latent), residual = unname(quantile_residuals(object)),
             leverage = leverages(object))[known, ]
}

residual_chart <- function(panel, drawn, style) {
  r <- drawn$residual
  x <- switch(panel, drawn$fitted, stats::qqnorm(r, plot.it = FALSE)$x, drawn$fitted,
              drawn$leverage)
  y <- if (panel == 3L) sqrt(abs(r)) else r
  rules <- list(y = c(-2, 0, 2), slope = 0, lty = c(3, 1, 3))
  rules <- switch(panel, rules, list(y = 0, slope = 1, lty = 1),
                  list(y = sqrt(0.6745), slope = 0, lty = 3), rules)
  n <- nrow(drawn)
  step <- diff(range(x)) / 100 # lowess() wants one that is a number
  mean <- if (panel != 2L && length(unique(x)) >= 6L && is.finite(step) && step > 0) {
    stats::lowess(x, y)
  }
  elements <- list(
    new_element("rules", list(col = "grey60"), rules),
    row_points(x, y, style$col %||% grDevices::adjustcolor(INK, row_alpha(n)), style,
               0.9 * (style$cex %||% row_size(n))),
    if (!is.null(mean)) new_element("line", list(col = ORANGE, lwd = style$lwd), mean),
    extreme_names(x, y, r, drawn$row)
  )
  new_chart(RESIDUAL_PANELS[panel], elements,
            c("fitted", "normal quantile", "fitted", "leverage")[panel],
            if (panel == 3L) "root of |quantile residual|" else "quantile residual", around(x),
            around(c(y, if (panel == 3L) c(0, 1.5) else c(-2, 2))))
}

# Names the three largest residuals, if they are large at all.
extreme_names <- function(x, y, r, names) {
  top <- utils::head(order(-abs(r)), 3L)
  top <- top[abs(r[top]) > 2]
  new_element("names", list(cex = 0.75), x = x[top], y = names_at(x[top], y[top], x, y),
              label = names[top], pos = ifelse(x[top] > mean(around(x)), 2, 4))
}

# Returns the heights of names; those that are near each other are in lines below each other.
# x, y: their points; all_x, all_y: the values that the panel shows
names_at <- function(x, y, all_x, all_y) {
  line <- 0.07 * diff(range(all_y))
  near <- 0.4 * diff(range(all_x))
  down <- order(-y)
  for (i in seq_along(down)[-1L]) {
    above <- down[seq_len(i - 1L)]
    above <- above[abs(x[above] - x[down[i]]) < near]
    y[down[i]] <- min(y[down[i]], y[above] - line)
  }
  y
}
