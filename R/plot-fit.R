# A picture of what is predicted, along one input or over two.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "fit", predictions along one or two inputs:
#' *Along one input*: the data, the posterior mean and its error bars. For regression the dark band
#' is the interval of the mean and the light band that of new responses; for two classes the curve
#' is the probability of the second level, with the interval of `predict(interval = "confidence")`,
#' and observations are ticks at 0 and 1. Along a factor each level has a point and bars. With `by`,
#' or for a number and a factor, or two factors, each level of a factor has a curve (with the
#' interval of the mean). Proportions have larger symbols for more trials; a new response
#' has as many trials as all observations, and has no band if these differ. Ticks at the bottom mark
#' the inducing points (the *basis*), unless every row is one.
#'
#' *Over two inputs*: filled contours of the probability of the second level (a heavy line at 0.5)
#' or of the mean response, with the observations; inducing points are ringed, unless every row is
#' one. Dashed lines, or a second panel, show the standard error of the mean. In grey areas more
#' than nine tenths of the prior variance remain: the data hardly inform them.
#'
#' *Several classes* (a latent function for each) or ordered categories: over two inputs a decision
#' map, in the colour of the most probable class, deeper at higher probability (in steps of 0.1;
#' thin lines at 0.5, 0.7 and 0.9), with heavy lines at decision boundaries. Along one input the
#' probability of every class, and below a lane for each class with ticks at its observations, in
#' the order of the key. Colours suit colour-blind readers, and each class has its own symbol.
#'
#' *Several components*: over two inputs, for two components, arrows of the mean, the longest about
#' as long as a step of the grid; ellipses of probability `level` about the tips of some of them,
#' for the mean; grey areas as above; thin arrows of the observations, on the same scale; rings at
#' the inducing points. Directions are true if both axes have one scale, the default (`asp = 1`).
#' Along one input, for any number of components: curve, interval and observations of each. Several
#' components, and [lik_heteroscedastic()], have only this type, `"trace"`, `"choices"` and, for
#' mixtures, `"modes"`.
#'
#' *Value.* One input: the input, `fit`, `lwr`, `upr` and for regression `new_lwr`, `new_upr`; with
#' `by` the factor after the inputs. Two: the inputs, `fit`, its standard error `se`, and `known`:
#' `FALSE` in grey areas. Several classes: the inputs, `class`, the most probable one, and a column
#' `prob.<level>` for each. Two components over two inputs: the inputs, the means of the components,
#' standard deviations `sd.<component>` and `covariance`; components along one input
#' `fit.<component>`, `lwr.<component>` and `upr.<component>`.
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
  refuse_if(by == "none", "by", "is for pictures of one response",
            "Give `which`, one input or two numbers")
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
  charts <- unlist(Map(function(one, level) {
    lapply(make(object, one, style), `[[<-`, "strip", list(name = by$name, level = level))
  }, picture$panels, by$levels), recursive = FALSE, use.names = FALSE)
  again <- duplicated(lapply(charts, `[[`, "title"))
  charts[again] <- lapply(charts[again], `[[<-`, "title", "")
  charts
}

# A map and its standard error stand beside each other, levels below each other.
rows_of_maps <- function(charts) {
  level <- vapply(charts, function(chart) as.character(chart$strip$level %||% ""), "")
  if (anyDuplicated(level)) length(unique(level))
}
