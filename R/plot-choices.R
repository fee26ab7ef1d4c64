# The candidates that the default strategy compared, a panel for each of its stages.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "choices", the candidates that were compared:
#' For a fit that chose among candidates, such as kernels, numbers of inducing points (the *basis*)
#' or length scales: the score of each candidate with one standard error to either side, in a panel
#' for each step of the search, from top to bottom in the order of the search; a step that was
#' repeated with what later ones chose is its second round. Filled points are the chosen
#' candidates. *Value.* A data frame with a row for each candidate: `stage`, `candidate`, `rows`,
#' `points`, `score`, `gain` over the best before, its standard error `se`, and `taken`.
NULL

choices_plot <- function() {
  new_plot_type(function(object, asked) list(drawn = object$choices), choice_charts,
                refuse = function(object) {
                  if (NROW(object$choices) == 0L) "needs a fit that chose among candidates"
                }, outputs = TRUE, averages = FALSE)
}

choice_charts <- function(object, picture, style) {
  choices <- picture$drawn
  steps <- rle(choices$stage)
  round <- stats::ave(seq_along(steps$values), steps$values, FUN = seq_along)
  titles <- paste0(steps$values, ifelse(round > 1L, paste(", round", round), ""))
  stages <- split(choices, rep(seq_along(titles), steps$lengths))
  unname(Map(stage_chart, stages, titles))
}

LABEL_WIDTH <- 26L # characters in a line of a candidate's name

# Draws the candidates of a stage below each other, with room for their names at the left. Those
# without a standard error have no bar.
stage_chart <- function(stage, title) {
  y <- rev(seq_len(nrow(stage)))
  reach <- ifelse(is.na(stage$se), 0, stage$se)
  x <- stage$score - reach
  x1 <- stage$score + reach
  known <- is.finite(stage$score)
  bar <- known & reach > 0
  points <- function(which, fill) {
    new_element("points", list(fill = fill, pch = 21, size = 1.1, edge = BLUE, lwd = 1),
                x = stage$score[known & which], y = y[known & which])
  }
  xlim <- around(c(x, x1)[known])
  lines <- lapply(as.character(stage$candidate), strwrap, LABEL_WIDTH + 1L)
  names <- vapply(lines, paste, "", collapse = "\n")
  room <- min(0.7, 0.1 + 0.035 * max(nchar(unlist(lines)))) # proportion of a panel that is not wide
  ticks <- list(x = list(at = pretty(xlim, 2L)), y = list(at = y, labels = rep("", length(y))))
  elements <- list(
    new_element("bars", list(col = BLUE, lwd = 2), x = x[bar], x1 = x1[bar], y = y[bar],
                y1 = y[bar]),
    points(!stage$taken, "white"), points(stage$taken, BLUE),
    new_element("names", list(cex = 0.8), x = -Inf, y = y, pos = 4,
                label = names)
  )
  new_chart(title, elements, "score", "candidate", xlim - c(diff(xlim) * room / (1 - room), 0),
            c(0.4, nrow(stage) + 0.6), ticks,
            list(key_item("taken", "point", BLUE), key_item("not taken", "point", BLUE, 1)))
}
