# The modes of a fit of ambiguous measurements, a panel for each of the best.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "modes", the modes of an ambiguous fit:
#' For a fit of ambiguous measurements ([modes()]): a picture of type `"fit"` for each of the four
#' modes of largest weight. Each observation is drawn as the part that the mode assigns to it.
#' *Value.* A list of data frames, one for each mode.
NULL

modes_plot <- function() {
  new_plot_type(modes_picture, mode_charts, takes = "newdata", refuse = function(object) {
    why_not_measured(codec_of(object), "modes", "Leave it out")
  }, outputs = TRUE, rows = function(charts) if (length(charts) == 2L) 1)
}

MOST_MODES <- 4L # panels

modes_picture <- function(object, asked) {
  each <- lapply(seq_len(min(count_modes(object), MOST_MODES)), function(mode) {
    fit <- as_mode(object, mode)
    list(fit = fit, picture = fit_picture(fit, asked))
  })
  list(each = each, drawn = lapply(each, function(one) one$picture$drawn))
}

# The words above a panel name its mode, next to the panel: the key is above those of the first.
mode_charts <- function(object, picture, style) {
  charts <- unlist(lapply(picture$each, function(one) fit_charts(one$fit, one$picture, style)),
                   recursive = FALSE)
  lapply(charts, function(chart) {
    chart$strip <- list(name = "", level = chart$title)
    chart$title <- ""
    chart
  })
}
