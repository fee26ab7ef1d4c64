#' Plots of a Gaussian-process fit
#'
#' @description
#' * `type = "fit"`, along one input: the data, the posterior mean and its error bars. For
#'   regression the dark band is the interval for the mean and the light one that for new
#'   responses; for two classes the curve is the probability of the second level, with the interval
#'   of `predict(interval = "confidence")`, and rows are ticks at 0 and 1. Along a factor a point
#'   and bars for each level. With `by`, or for a number and a factor, or two factors, one curve
#'   (with the interval of the mean) for each level of a factor. Shares of trials are
#'   drawn the larger the more trials they are of; a new response is one of as many trials as all
#'   rows have, and there is no band for it where they differ. Ticks at the bottom mark
#'   the basis, unless every row is in it.
#' * `type = "fit"`, over two inputs: filled contours of the probability of the second level (a
#'   heavy line where it is 0.5) or of the mean response, with the rows; rows of the basis are
#'   ringed, unless every row is in it. Dashed lines, or a second panel, are the standard error of
#'   the mean, and grey is where data say next to nothing: more than nine tenths of the prior
#'   variance are left.
#' * `type = "fit"`, a response of two components over two inputs: arrows of the mean, the longest
#'   about as long as a step of the grid; ellipses of probability `level` about the tips of some of
#'   them, for the mean; grey where less is known; thin arrows of the rows, of the same scale; rings
#'   at the basis. Directions are right where both axes have one scale, as they have by default
#'   (`asp = 1`). Along one input, of any number of components: the curve, interval and rows of
#'   each. Of several components there are no other types but `"trace"` and `"modes"`.
#' * `type = "modes"`, for a fit of ambiguous measurements ([modes()]): such a picture for each of
#'   the four modes of largest weight. Rows are drawn as the part that the mode takes them for.
#' * `type = "fit"`, several classes (a latent function for each) or ordered categories: over two
#'   inputs a decision map, in the colour of the most probable class, which is deeper where its
#'   probability is higher (in steps of 0.1; thin lines at 0.5, 0.7 and 0.9); heavy lines are where
#'   the decision changes.
#'   Along one input the probability of every class, and below a lane for each class with ticks at
#'   its rows, the lanes in the order of the key. Colours are chosen for colour-blind readers, and
#'   each class has a symbol too.
#' * `type = "terms"`: the effect of each kernel of a sum, with its interval, as
#'   `predict(type = "terms")` gives it, and partial residuals: the effect plus what is left of each
#'   response. For counts and shares that is the working residual of a generalised linear model,
#'   less for rows that say less; labels have none, and rows are ticks then. A kernel of two inputs
#'   is a map with the standard error dashed, one of a number and a factor a curve for each level.
#'   A kernel of three inputs or more, as the default kernel of many inputs, has a panel for each
#'   input: the partial effect along it, with the other inputs held where `type = "fit"` holds them.
#'   The inputs along which the effect varies most come first, and at most nine are drawn.
#'   Of several classes there are effects on the latent function of each: curves in one picture, and
#'   a map, or curves for the levels of a factor, for each class.
#' * `type = "forecast"`, for a fit along time alone: the series with its intervals and how it goes
#'   on, each part of the kernel, and what is left of the responses. A message tells of a kernel
#'   that has neither trend nor season, whose forecast returns to the mean.
#' * `type = "loo"`: every response against its prediction from all other rows, with its predictive
#'   interval; for classes the probability that the other rows give each row's own class.
#' * `type = "residuals"`: four panels as of [stats::plot.lm()], chosen by `which`, of quantile
#'   residuals (see [residuals][residuals.sparsegp]): against fitted means, against normal
#'   quantiles, their size against fitted means, and against [leverage][influence].
#'   For counts and classes quantile residuals are partly drawn at random.
#' * `type = "trace"`: the log evidence sweep by sweep, the distance from a fixed point (on a
#'   logarithmic scale) with the tolerance, and the points that joined the basis where the method
#'   chooses it. For a stream, over its rows: the size of the basis, the log evidence of the rows so
#'   far, and the mean log predictive density of rows before they are seen.
#' * `type = "reliability"`: are the probabilities right? For classes the observed frequency of the
#'   second level in bins of equal counts against the mean predicted probability, with binomial
#'   (Clopper-Pearson) intervals and a histogram of the probabilities. With several classes every
#'   row is as many events as there are classes, each with its predicted probability, all in one
#'   picture; bins are of equal predicted variance (the sum of `p * (1 - p)`), since most of these
#'   events are almost excluded. Those of one row exclude each other, which makes the intervals too
#'   wide rather than too narrow. For regression the share of
#'   responses inside central predictive intervals against the intervals' nominal content, with the
#'   band of a calibrated model (pointwise, binomial). Predictions are for `newdata` or, without it,
#'   leave-one-out predictions for the training rows from the cavities of EP.
#' * `type = "reject"`, for classes: what `predict(type = "class", reject = )` does. The error rate
#'   of the rows that are not rejected against the share of those that are, as the threshold on the
#'   largest probability rises (marked at the top edge), with the binomial (Clopper-Pearson)
#'   interval at each threshold; dashed the error rate that the probabilities themselves promise,
#'   the mean of one minus the largest. Predictions as for `"reliability"`.
#'
#' @details
#' Axes are variables of the data, in their original units: numbers (as they are in the formula,
#' `log(x)` say), factors, and the variable `x` of a term such as `poly(x, 2)` where the data are
#' still to be found. Inputs that are not axes stay at
#' their medians, a factor at its most common level, an offset at its median; columns that follow
#' from others, such as `a:b` or `I(a^2)` beside
#' `a`, follow them. With more than two inputs, and no `which`, the axes are the two numeric inputs
#' of the shortest length scales (in standard deviations) under automatic relevance determination,
#' else the first two. What is held fixed is written above the panel.
#'
#' Rows do not lie where inputs are held fixed. Numbers and counts are drawn as partial residuals:
#' the picture's mean at the row, plus what is left of the row's response beside its own mean, for
#' counts times their ratio. Labels and shares stay, and are the fainter the less the latent
#' function at the row has to do with that at the picture (the prior correlation of both).
#'
#' Where one call draws several panels they come on one page, unless `par(mfrow)` or `layout()` has
#' several places, which they then fill.
#' Nothing in `par()` is changed when it is done, so that panels of `par(mfrow)` and `layout()` can
#' be filled and `points()`, `lines()` or `legend()` can add to a panel. The scales of `"trace"`
#' share one panel, whose vertical user coordinate runs from 0 to 1.
#'
#' @param x A fit of [sparsegp()].
#' @param which `type = "fit"`: one or two inputs to be the axes, names of variables or of columns
#'   of the model matrix, numbers of these, or a formula such as `~ x` or `~ x + z`.
#'   `type = "terms"` and `"forecast"`: names or numbers of terms, or a list, as `terms` in
#'   [predict][predict.sparsegp]. `type = "residuals"`: numbers of panels, 1 to 4. A type that is no
#'   input may stand here, as in `plot(fit, "terms")`.
#' @param type See the description.
#' @param newdata For a fit of a formula a data frame with its variables, the response too; for a
#'   fit of a matrix `list(x = , y = )`, and `offset` and trials as `weights` where needed.
#'   `type = "fit"` draws these rows and takes ranges and medians from them instead of from the
#'   training rows.
#' @param level Probability content of intervals and bands, in (0, 1).
#' @param n `type = "fit"` and `"terms"`: number of points along each input (default 201, and 81 or
#'   61 for two inputs; fewer for more than 12 classes and more than two maps on a page).
#'   `type = "reliability"`: for classes the largest number of bins (default 10, fewer for less than
#'   200 rows), for regression the number of nominal levels (default 99). `type = "reject"`: the
#'   largest number of thresholds (default: one for every row).
#' @param by `type = "fit"`: a factor, each level of which has a curve of its own; over two inputs,
#'   and of several classes, a picture of its own, all with the same scales, for at most twelve
#'   levels. Where nothing is said, along one input the only other one is taken if it is a factor of
#'   at most eight levels. More than eight levels have curves alike, without intervals.
#' @param se `type = "fit"` over two inputs: the standard error as `"contour"` (dashed; the default
#'   for numbers), on a second `"panel"`, or `"none"` (the default for classes).
#' @param ahead `type = "forecast"`: how far to go on after the last row, in units of the input
#'   (days for dates, seconds for times); default a quarter of the time there is. `xlim` wins over
#'   it.
#' @param ... `xlab`, `ylab`, `main`, `xlim`, `ylim`, `las`, `bty`, `axes`, `ann`, `asp`,
#'   `cex.axis`, `cex.lab`, `cex.main` as in [graphics::plot.default()]; `sub` replaces the words
#'   above the panel (`sub = ""`: none), and `legend = FALSE` leaves out the key there; `pch`,
#'   `cex`, `col` are for the rows (`pch` and `col` one per class)
#'   and `lwd` for the curve. `xlim` (and `ylim` for two inputs) also says how far to predict.
#'   Others are errors.
#' @return Invisibly a data frame of what was drawn.
#'   One input: the input, `fit`, `lwr`, `upr` and for regression `new_lwr`, `new_upr`; the factor
#'   after the inputs where there is `by`.
#'   Two: the inputs, `fit`, its standard error `se`, and `known`: `FALSE` where the map is grey.
#'   Two components over two inputs: the inputs, the components' means, standard deviations
#'   `sd.<component>` and `covariance`; of components along one input `fit.<component>`,
#'   `lwr.<component>` and `upr.<component>`.
#'   Modes: a list of those. Several classes: the inputs, `class`, the most probable one, and a
#'   column `prob.<level>` for each. Terms, and forecast: a list of such data frames, `series` first
#'   for a forecast. Loo: `observed`, `fit`, `lwr`, `upr` and whether it is `inside`, or for classes
#'   `observed`, the `probability` of that and the most probable `class`. Residuals: `row`,
#'   `fitted`, `residual`, `leverage`. Trace: `sweep`, `log_evidence`, `change` and where
#'   the method chooses its basis `exchanges`, points that joined it; for a stream `row`, `size` of
#'   the basis, `log_evidence` of the rows so far, `lpd`, the mean log predictive density of rows
#'   since the entry before, and the KL divergences of the row's step (thesis 3.16), `kl_new_old`
#'   and `kl_old_new`. Reliability: `predicted`
#'   or `nominal`, `observed`, `lwr`, `upr` and, for classes, `rows` in the bin (of several
#'   classes: rows times classes). Reject: `threshold`, the share `rejected` below it, `error`,
#'   `lwr`, `upr` and `expected` of the others and how many they are, `accepted`. Bad arguments,
#'   and types that a fit has not, are errors of class `sparsegp_error`.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD
#'   thesis, Aston University, figs 2.1, 5.1 and 5.7.
#' @examples
#' plot(sparsegp(dist ~ speed, cars))
#' plot(sparsegp(len ~ dose + supp, ToothGrowth))
#'
#' fit <- sparsegp(am ~ wt + hp, mtcars, likelihood = "probit")
#' plot(fit)
#' plot(fit, "wt", level = 0.8, main = "Manual gearboxes are light")
#' plot(fit, type = "trace")
#' plot(fit, type = "reliability")
#' plot(fit, type = "loo")
#'
#' fit <- sparsegp(mpg ~ wt + hp, mtcars,
#'                 kernel = kernel_rbf(vars = "wt") + kernel_rbf(vars = "hp"))
#' plot(fit, "terms")
#' plot(fit, ~ wt)
#' plot(fit, type = "residuals")
#' plot(fit, se = "panel")
#' plot(sparsegp(mpg ~ wt + hp + qsec, mtcars), "terms")
#' plot(sparsegp(mpg ~ wt + hp + factor(am), mtcars), c("wt", "hp"), by = "factor(am)")
#'
#' temperature <- data.frame(year = c(time(nottem)), degrees = c(nottem))[1:72, ]
#' fit <- sparsegp(degrees ~ year, temperature, kernel = kernel_rbf() + kernel_periodic(period = 1))
#' plot(fit, "forecast")
#'
#' currents <- expand.grid(x = 1:4, y = 1:4)
#' currents <- transform(currents, u = sin(y) + 0.1 * rnorm(16), v = cos(x) + 0.1 * rnorm(16))
#' plot(sparsegp(cbind(u, v) ~ x + y, currents, kernel = kernel_helmholtz()), level = 0.9)
#'
#' fit <- sparsegp(Species ~ Petal.Length + Sepal.Width, iris[c(TRUE, FALSE), ])
#' plot(fit, n = 41)
#' plot(fit, "Sepal.Width")
#' plot(fit, type = "reject")
#' @export
plot.sparsegp <- function(x, which = NULL,
                          type = c("fit", "terms", "forecast", "loo", "residuals", "trace",
                                   "reliability", "reject", "modes"),
                          newdata = NULL, level = 0.95, n = NULL, by = NULL, se = NULL,
                          ahead = NULL, ...) {
  x <- ready(x)
  asked <- asked_picture(x, which, if (!missing(type)) type, newdata, level, n, by, se, ahead)
  which <- asked$which
  n <- asked$n
  style <- plot_style(...)
  refuse_picture(x, asked$type, c("fit", "trace", "modes"), "x")
  drawn <- switch(
    asked$type,
    fit = plot_fit(x, which, newdata, level, n, by, se, style),
    terms = plot_terms(x, which, newdata, level, n, style),
    forecast = plot_forecast(x, which, newdata, level, n, ahead, style),
    loo = plot_loo(x, level, style),
    residuals = plot_residuals(x, which, style),
    trace = plot_trace(x, newdata, style),
    reliability = plot_reliability(x, newdata, level, n, style),
    reject = plot_reject(x, newdata, level, n, style),
    modes = plot_modes(x, newdata, level, n, style)
  )
  invisible(drawn)
}

PLOT_TYPES <- c("fit", "terms", "forecast", "loo", "residuals", "trace", "reliability", "reject",
                "modes")

# list(which, type, n) of the arguments of plot() and autoplot(), checked; type: NULL if it was not
# given.
asked_picture <- function(object, which, type, newdata, level, n, by, se, ahead) {
  if (is.null(type) && is_type(which, object)) {
    type <- which
    which <- NULL
  }
  type <- check_choice(or_else(type, "fit"), PLOT_TYPES, "type")
  check_number(level, "level", 0, 1)
  refuse_for_type(type, which = which, newdata = newdata, by = by, se = se, ahead = ahead)
  list(which = which, type = type, n = if (!is.null(n)) check_count(n, "n", 2L))
}

# plot(fit, "terms"): one of the types, and no input.
is_type <- function(which, object) {
  is.character(which) && length(which) == 1L && which %in% PLOT_TYPES &&
    !which %in% c(plain_names(object), names(attr(object$terms, "dataClasses")))
}

# Of several components there are not all.
refuse_picture <- function(object, type, those, argument = "object") {
  if (n_outputs(object) == 1L || type %in% those) return(invisible())
  stop_sparsegp(argument, "has several components, of which there is no such picture",
                "Draw plot(fit) of it, or residuals()")
}

# Arguments that only some types know
TYPES_OF <- list(which = c("fit", "terms", "forecast", "residuals"),
                 newdata = setdiff(PLOT_TYPES, c("loo", "residuals")),
                 by = "fit", se = "fit", ahead = "forecast")

refuse_for_type <- function(type, ...) {
  given <- names(Filter(Negate(is.null), list(...)))
  for (name in given[!vapply(TYPES_OF[given], function(types) type %in% types, NA)]) {
    stop_sparsegp(name, paste0("has no meaning for type = \"", type, "\""), "Leave it out")
  }
}

plot_fit <- function(object, which, newdata, level, n, by, se, style) {
  picture <- fit_picture(object, which, newdata, level, n, by, se, style)
  draw <- if (n_outputs(object) > 1L) draw_vectors
          else if (!is.null(picture$surface)) draw_surface
          else if (shows_classes(object)) draw_class_curves
          else if (has_classes(object)) draw_probability else draw_regression
  if (is.null(picture$panels)) draw(object, picture, style)
  else draw_facets(object, picture, draw, style)
  picture$drawn
}

# What is to be drawn: `view`, the slice; `shown`, the rows beside it; `drawn`, the places on the
# axes with what is predicted there; `surface`, of two axes; `panels`, such pictures for levels of a
# factor that are not curves in one panel.
fit_picture <- function(object, which, newdata, level, n, by, se, style) {
  if (n_outputs(object) > 1L) {
    return(vector_picture(object, which, newdata, level, n, by, se, style))
  }
  rows <- rows_of(object, newdata)
  view <- slice_view(object, rows, which, by)
  apart <- !is.null(view$by) && (length(view$axes) == 2L || shows_classes(object))
  make <- if (apart) facet_picture else slice_picture
  make(object, rows, view, level, n, se, style)
}

slice_picture <- function(object, rows, view, level, n, se, style) {
  shown <- rows_beside(object, rows, view)
  picture <- list(view = view, shown = shown, level = level)
  if (length(view$axes) == 2L) {
    picture$se <- check_se(object, se)
    picture$surface <- surface_of(object, view, shown, n, style)
    picture$drawn <- picture$surface$drawn
    return(picture)
  }
  if (!is.null(se)) stop_sparsegp("se", "is for maps over two inputs", "Leave it out")
  picture$drawn <- if (shows_classes(object)) class_curves(object, view, shown, n, style)
                   else curve_frame(object, view, shown, level, n, style)
  picture
}
