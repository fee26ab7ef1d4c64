# A picture of what is predicted, along one input or over two.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "fit", predictions along one or two inputs:
#' *Along one input*: the data, the posterior mean and its error bars. For regression the dark band
#' is the interval for the mean and the light one that for new responses; for two classes the curve
#' is the probability of the second level, with the interval of `predict(interval = "confidence")`,
#' and observations are ticks at 0 and 1. Along a factor there are a point and bars for each level.
#' With `by`, or for a number and a factor, or two factors, there is one curve (with the interval
#' of the mean) for each level of a factor. Proportions of trials are drawn the larger the more
#' trials they have; a new response has as many trials as all observations have, and there is no
#' band for it where these differ. Ticks at the bottom mark the inducing points (the *basis*),
#' unless every row is one.
#'
#' *Over two inputs*: filled contours of the probability of the second level (a heavy line where it
#' is 0.5) or of the mean response, with the observations; inducing points are ringed, unless every
#' row is one. Dashed lines, or a second panel, are the standard error of the mean. Grey areas have
#' more than nine tenths of the prior variance left: the data hardly inform it there.
#'
#' *Several classes* (a latent function for each) or ordered categories: over two inputs a decision
#' map, in the colour of the most probable class, which is deeper where its probability is higher
#' (in steps of 0.1; thin lines at 0.5, 0.7 and 0.9); heavy lines are where the decision changes.
#' Along one input the probability of every class, and below a lane for each class with ticks at
#' its observations, the lanes in the order of the key. Colours are chosen for colour-blind
#' readers, and each class has a symbol too.
#'
#' *Several components*: over two inputs, of two components, arrows of the mean, the longest about
#' as long as a step of the grid; ellipses of probability `level` about the tips of some of them,
#' for the mean; grey where less is known; thin arrows of the observations, of the same scale;
#' rings at the inducing points. Directions are right where both axes have one scale, as they have
#' by default (`asp = 1`). Along one input, of any number of components: the curve, interval and
#' observations of each. Of several components, and of
#' [lik_heteroscedastic()], there are no other types but `"trace"`, `"choices"` and, of mixtures,
#' `"modes"`.
#'
#' *Value.* One input: the input, `fit`, `lwr`, `upr` and for regression `new_lwr`, `new_upr`; the
#' factor after the inputs where there is `by`. Two: the inputs, `fit`, its standard error `se`,
#' and `known`: `FALSE` where the map is grey. Several classes: the inputs, `class`, the most
#' probable one, and a column `prob.<level>` for each. Two components over two inputs: the inputs,
#' the components' means, standard deviations `sd.<component>` and `covariance`; of components
#' along one input `fit.<component>`, `lwr.<component>` and `upr.<component>`.
NULL

fit_plot <- function() {
  new_plot_type(fit_picture, fit_charts, rows = rows_of_maps, outputs = TRUE,
                takes = c("which", "newdata", "by", "se", "log"))
}

# Returns `view`, the slice; `shown`, the rows beside it; `drawn`, the places on the axes with what
# is predicted there; `surface`, of two axes; `panels`, such pictures for levels of a factor that
# are not curves in one panel.
fit_picture <- function(object, asked) {
  rows <- rows_of(object, asked$newdata)
  view <- slice_view(object, rows, asked$which, asked$by)
  if (is.null(view$by)) return(slice_picture(object, rows, view, asked))
  by <- panel_of(object)$by
  if (by == "none") {
    stop_sparsegp("by", "is for pictures of one response", "Give `which`, one input or two numbers")
  }
  make <- if (by == "pictures" || length(view$axes) == 2L) facet_picture else slice_picture
  make(object, rows, view, asked)
}

# Returns the charts of a picture, or of those of each level.
fit_charts <- function(object, picture, style) {
  panel <- panel_of(object)
  make <- if (is.null(picture$surface)) function(...) list(panel$chart(...)) else panel$maps
  if (is.null(picture$panels)) return(make(object, picture, style))
  style <- utils::modifyList(style, picture$limits)
  by <- picture$view$by
  unlist(Map(function(one, level) {
    lapply(make(object, one, style), `[[<-`, "strip", list(name = by$name, level = level))
  }, picture$panels, by$levels), recursive = FALSE, use.names = FALSE)
}

# A map and its standard error stand beside each other, levels below each other.
rows_of_maps <- function(charts) {
  level <- vapply(charts, function(chart) as.character(chart$strip$level %||% ""), "")
  if (anyDuplicated(level)) length(unique(level))
}
