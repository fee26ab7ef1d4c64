# The candidates that the default strategy compared, a panel for each of its stages.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "choices", the candidates that were compared:
#' For a fit that chose among candidates, such as kernels, numbers of inducing points or length
#' scales: the score of each with one standard error to either side, in a panel for each stage of
#' the search, from top to bottom in the order in which they were tried. The candidates that were
#' taken are filled. *Value.* A data frame with a row for each candidate: `stage`, `candidate`,
#' `rows`, `points`, `score`, `se`, `taken`.
NULL

choices_plot <- function() {
  new_plot_type(function(object, asked) list(drawn = object$choices), charts = choice_charts,
                refuse = function(object) {
                  if (NROW(object$choices) == 0L) "needs a fit that chose among candidates"
                }, outputs = TRUE)
}

choice_charts <- function(object, picture) {
  choices <- picture$drawn
  stages <- split(choices, factor(choices$stage, unique(choices$stage)))
  unname(Map(stage_chart, stages, names(stages)))
}

# Draws the candidates of a stage below each other. Those without a standard error have no bar.
stage_chart <- function(stage, title) {
  y <- rev(seq_len(nrow(stage)))
  reach <- ifelse(is.na(stage$se), 0, stage$se)
  places <- data.frame(x = stage$score, y = y, lwr = stage$score - reach, upr = stage$score + reach)
  known <- is.finite(stage$score)
  points <- function(which, fill) {
    new_element("points", places[known & which, ], list(col = BLUE, bg = fill, cex = 1))
  }
  elements <- list(
    new_element("bars", places[known & reach > 0, ], list(col = BLUE, lwd = 2)),
    points(!stage$taken, "white"), points(stage$taken, BLUE),
    new_element("names", data.frame(y = y + 0.32, label = as.character(stage$candidate)),
                list(col = INK))
  )
  new_chart(title, elements, "score", "candidate", around(unlist(places[known, c("lwr", "upr")])),
            c(0.4, nrow(stage) + 0.8), lanes = y,
            key = list(key_item("taken", "point", BLUE), key_item("not taken", "point", BLUE, 1)))
}
