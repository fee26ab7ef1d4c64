#' Plot where to ask next
#'
#' Of a fit along one or two inputs the picture of [plot()][plot.sparsegp] with the rows that
#' [next_rows()] has chosen, numbered in their order: along one input dashed lines, and ticks at the
#' top for the candidates; over two inputs discs, and dots for the candidates, which are the darker
#' the higher their score alone. Of more inputs, and of fits that keep no rows, every candidate's
#' score against its row number.
#'
#' @param x Of [next_rows()].
#' @param which One or two inputs to be the axes, as for [plot()][plot.sparsegp]; where there are
#'   more inputs the others stay at their medians.
#' @param ... As for [plot()][plot.sparsegp].
#' @return Invisibly a data frame of the candidates: `row`, `score`, each row's for itself (`NA`
#'   where it could not be chosen), `order` in which it was chosen, `NA` for the others.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars[cars$speed < 15, ])
#' plot(next_rows(fit, data.frame(speed = 4:25), k = 3))
#' @export
plot.sparsegp_next <- function(x, which = NULL, ...) {
  fit <- attr(x, "picture")$fit
  style <- plot_style(...)
  if (!has_rows(fit)) {
    if (!is.null(which)) stop_sparsegp("which", "is for a fit that keeps its rows", "Leave it out")
    return(draw_scores(x, style))
  }
  rows <- rows_of(fit, NULL)
  axes <- data_axes(fit, rows, names(derived_columns(fit, rows$x)))
  if (is.null(which) && length(axes) > 2L) return(draw_scores(x, style))
  view <- slice_view(fit, rows, which)
  places <- candidate_places(x, view)
  limits <- Map(function(axis, at) {
    axis_limits(axis, c(axis$places(rows$x, rows$raw), at), list())
  }, view$axis, places)
  style$xlim <- style$xlim %||% limits[[1L]]
  if (length(limits) > 1L) style$ylim <- style$ylim %||% limits[[2L]]
  words <- c(nonempty(view$caption), "numbers: rows to ask for, in order")
  style$sub <- style$sub %||% paste(words, collapse = "; ")
  asked <- list(which = which, level = 0.95, style = style)
  draw_charts(fit_charts(fit, fit_picture(fit, asked), style), style)
  if (length(places) == 1L) draw_asked_lines(x, places[[1L]])
  else draw_asked_points(x, places)
  invisible(score_frame(x))
}

score_frame <- function(x) {
  first <- attr(x, "first")
  data.frame(row = seq_along(first), score = first, order = match(seq_along(first), as.integer(x)))
}

# Returns where all candidates are on the axes; NA without inputs.
candidate_places <- function(x, view) {
  picture <- attr(x, "picture")
  inputs <- unscaled_inputs(picture$fit, row_inputs(picture$x, n_outputs(picture$fit)))
  raw <- function(name) as.double(picture$candidates[[name]])[picture$complete]
  lapply(view$axis, function(axis) {
    at <- rep(NA_real_, length(attr(x, "first")))
    at[picture$complete] <- axis$places(inputs, raw)
    at
  })
}

# Numbers of rows at one place are below each other.
draw_asked_lines <- function(x, at) {
  usr <- par("usr")
  tall <- usr[4L] - usr[3L]
  ink <- on_page(INK, base_page(list()))
  segments(at, usr[4L] - 0.02 * tall, y1 = usr[4L], col = ink, lend = 1)
  segments(at[x], usr[3L], y1 = usr[4L] - 0.02 * tall, col = ink, lty = 3)
  beside <- abs(outer(at[x], at[x], "-")) < 0.02 * (usr[2L] - usr[1L])
  lane <- rowSums(beside & lower.tri(beside))
  numbered_discs(at[x], usr[4L] - (0.05 + 0.06 * lane) * tall)
}

draw_asked_points <- function(x, places) {
  score <- attr(x, "first")
  known <- is.finite(score)
  share <- (rank(score[known]) - 0.5) / sum(known)
  points(places[[1L]][known], places[[2L]][known], pch = 16, cex = 0.6,
         col = on_page(grDevices::grey(0 * share + 0.2, 0.1 + 0.7 * share), base_page(list())))
  numbered_discs(places[[1L]][x], places[[2L]][x])
}

numbered_discs <- function(x, y) {
  col <- on_page(c(INK, "white"), base_page(list()))
  points(x, y, pch = 21, cex = 2.2, bg = col[1L], col = col[2L])
  text(x, y, seq_along(x), col = col[2L], cex = 0.8, font = 2)
}

draw_scores <- function(x, style) {
  frame <- score_frame(x)
  shown <- is.finite(frame$score)
  asked <- which(!is.na(frame$order))
  asked <- asked[order(frame$order[asked])]
  fill <- style$col %||% grDevices::adjustcolor(INK, 0.5)
  chart <- new_chart("every row's score alone; numbers: rows to ask for, in order",
                     list(row_points(frame$row[shown], frame$score[shown], fill, style)),
                     "row of the candidates", ACQUISITIONS[[attr(x, "score")]]$words,
                     around(frame$row), around(frame$score[shown]))
  draw_charts(list(chart), style)
  numbered_discs(asked, frame$score[asked])
  invisible(frame)
}
