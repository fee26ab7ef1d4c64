#' Plots of a Gaussian-process fit
#'
#' @description
#' Plots predictions, effects or diagnostics. Each `type` has a section below; the default is
#' `"effects"` for three inputs or more and `"fit"`, a curve or a map of predictions, for fewer.
#'
#' @details
#' Axes are variables of the data, in their original units: numbers (as in the formula, such as
#' `log(x)`), factors, and the variable `x` of a term such as `poly(x, 2)` if the data still exist.
#' Inputs that are not axes are held at their medians, a factor at its most common level (of many
#' equally common groups one with a typical response), an offset at its median; columns that
#' follow from others, such as `a:b` or `I(a^2)` beside `a`, follow them. With more than two
#' inputs and no `which`, the axes are the two most important inputs. The line above the panel
#' shows what is held fixed.
#'
#' Observations do not lie where inputs are held fixed. Numbers and counts are drawn as partial
#' residuals: the mean of the picture at the row, plus the residual of the row (for counts times
#' the ratio of the two means). Classes and proportions are drawn unchanged, and fainter the lower
#' their prior correlation with the slice.
#'
#' Several panels come on one page, unless `par(mfrow)` or `layout()` provides several places, which
#' they then fill. Colours suit the page: on a dark background, `par(bg = "black")` or that of the
#' device, classes have lighter colours and the lightness of all others is mirrored. Labels have the
#' colours of `par()` (`col.axis`, `col.lab`, `col.main`), or light ones if these cannot be read.
#' `par()` is restored afterwards, and `points()`, `lines()` or `legend()` can add to a panel. The
#' scales of `"trace"` share one panel, whose vertical user coordinate runs from 0 to 1.
#'
#' @param x A fit of [sparsegp()].
#' @param which `type = "fit"`: one or two inputs as axes: names of variables or of columns of the
#'   model matrix, numbers of these, or a formula such as `~ x` or `~ x + z`. `type = "terms"` and
#'   `"forecast"`: names or numbers of terms, or a list, as `terms` in [predict][predict.sparsegp].
#'   `type = "residuals"`: numbers of panels, 1 to 4. A type that is not the name of an input may be
#'   given here, as in `plot(fit, "terms")`.
#' @param type Name of a type, described in the sections of [plot][plot.sparsegp]. `NULL`:
#'   `"effects"` for three inputs or more and one latent function, unless `which`, `by` or `se` is
#'   given, otherwise `"fit"`. An [average()] of fits on different scales has no effects.
#' @param newdata For a fit of a formula a data frame with its variables and the response; for a fit
#'   of a matrix `list(x = , y = )`, and `offset` and trials as `weights` if needed. `type = "fit"`
#'   draws these rows, and derives ranges and medians from them, instead of the training rows.
#' @param level Nominal coverage of intervals and bands: one number in (0, 1).
#' @param n A whole number. `type = "fit"` and `"terms"`: points along each input (default 201, and
#'   81 or 61 for two inputs; fewer for more than 12 classes and more than two maps on a page).
#'   `type = "reliability"`: the largest number of bins for classes (default 10, fewer below 200
#'   rows), the number of nominal levels for regression (default 99). `type = "reject"`: the largest
#'   number of thresholds (default: one per row). At most 1e6, along each of two inputs 1000.
#' @param by `type = "fit"`: a factor, or a number of at most eight values, with a curve for each
#'   level, or several of these, such as `c("a", "b")`, with a curve for each combination. Over two
#'   inputs and for several classes, each level has a panel of its own, with common scales, for at
#'   most twelve levels. Default, along one input: the only other input, if it is a factor of at
#'   most eight levels. Curves of more than eight levels have no intervals.
#' @param se `type = "fit"` over two inputs: the standard error as `"contour"` (dashed; default for
#'   numbers), on a second `"panel"`, or `"none"` (default for classes).
#' @param ahead `type = "forecast"`: forecast horizon after the last observation: a number of steps
#'   of the series (`24` is two years of monthly data, whether time is a date or a number of years),
#'   a `difftime`, or for dates and times words such as `"2 years"`. Default: a quarter of the
#'   length of the series. Overridden by `xlim`.
#' @param ... `xlab`, `ylab`, `main`, `xlim`, `ylim`, `las`, `bty`, `axes`, `ann`, `asp`,
#'   `cex.axis`, `cex.lab`, `cex.main` as in [graphics::plot.default()]; `sub` replaces the words
#'   above the panel (`sub = ""` removes them), and `legend = FALSE` removes the key; `pch`, `cex`
#'   and `col` are for the observations (`pch` and `col` one per class) and `lwd` for the curve;
#'   `log = "x"` draws a logarithmic axis for a curve along a positive number, such as a dose. It is
#'   the default if the fit has a log scale for this input and its values span a factor of 100; the
#'   axis of the response is then logarithmic under the same conditions. `log = ""` draws linear
#'   axes. `xlim` (and `ylim` for two inputs) also sets the range of predictions. Other arguments
#'   are errors.
#' @return The numbers that were drawn, invisibly: a data frame, or a list of data frames, with the
#'   columns that the section of each type lists. Bad arguments, and types that are not defined for
#'   a fit, are errors of class `sparsegp_error`.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD
#'   thesis, Aston University, figs 2.1, 5.1 and 5.7.
#' @examples
#' plot(sparsegp(dist ~ speed, cars))
#'
#' fit <- sparsegp(am ~ wt + hp, mtcars, likelihood = "probit")
#' plot(fit, n = 11)
#' plot(fit, "wt", level = 0.8, main = "Manual gearboxes are light")
#' plot(fit, type = "trace")
#' plot(fit, type = "reliability")
#'
#' fit <- sparsegp(mpg ~ wt + hp, mtcars,
#'                 kernel = kernel_rbf(vars = "wt") + kernel_rbf(vars = "hp"))
#' plot(fit, "terms")
#' plot(fit, type = "residuals")
#' plot(sparsegp(mpg ~ wt + factor(am), mtcars, structure = "fixed"), by = "factor(am)")
#'
#' temperature <- data.frame(year = c(time(nottem)), degrees = c(nottem))[1:36, ]
#' fit <- sparsegp(degrees ~ year, temperature, kernel = kernel_rbf() + kernel_periodic(period = 1))
#' plot(fit, "forecast")
#'
#' fit <- sparsegp(Species ~ Petal.Length + Sepal.Width, iris[1:20 * 7, ], kernel = "rbf")
#' plot(fit, n = 15)
#' plot(fit, type = "reject")
#' @export
plot.sparsegp <- function(x, which = NULL, type = NULL, newdata = NULL, level = 0.95, n = NULL,
                          by = NULL, se = NULL, ahead = NULL, ...) {
  x <- ready(x)
  asked <- list(which = which, type = type, newdata = newdata, level = level,
                n = n, by = by, se = se, ahead = ahead)
  style <- plot_style(...)
  asked$log <- if (isTRUE(style$log)) "x"
  asked <- with_log_axis(x, match_plot_args(x, asked), style)
  style <- asked$style
  type <- offered_type(x, asked$type, "x")
  picture <- type$picture(x, asked)
  charts <- type$charts(x, picture, style)
  draw_charts(charts, style, type$rows(charts))
  invisible(picture$drawn)
}

# Adds the style to the arguments of a picture, and to that whether its axis is logarithmic; NULL:
# each panel decides, by style_along().
with_log_axis <- function(object, asked, style) {
  if (!asked$type %in% c("effects", "slope", "terms")) { # whose panels have axes of their own
    style$log <- style$log %||% has_log_axis(object, asked, style)
  }
  asked$style <- style
  asked
}

# Is the axis of a curve logarithmic unless another is asked for? It is if the fit has the logarithm
# of its input, and values span orders of magnitude.
has_log_axis <- function(object, asked, style) {
  logs <- any(object$scaling$warp$side > 0) && asked$type == "fit" && is.null(style$xlim)
  if (!logs) return(FALSE)
  rows <- rows_of(object, asked$newdata)
  axis <- slice_view(object, rows, asked$which, asked$by)$axis
  if (length(axis) != 1L || axis[[1L]]$side <= 0) return(FALSE)
  spans_log_range(axis[[1L]]$places(rows$x, rows$raw))
}

#' Pictures by ggplot2
#'
#' The pictures of [plot()][plot.sparsegp] as objects of ggplot2, to which scales, themes and layers
#' can be added, after `library(ggplot2)`. Colours suit the background of the theme that is set:
#' call `theme_set()` with a dark theme before `autoplot()`, since a theme that is added to a plot
#' does not change the colours of its layers.
#'
#' @inheritParams plot.sparsegp
#' @param object A fit of [sparsegp()].
#' @param xlim,ylim Range of predictions and of the axis, two numbers in the units of the input;
#'   default: as in [plot()][plot.sparsegp].
#' @param log `"x"` for a logarithmic axis along one positive number, `""` for linear axes; `NULL`:
#'   logarithmic if the fit has log scales, as in [plot()][plot.sparsegp].
#' @param ... Not used; unknown arguments are an error.
#' @return A `ggplot`. For `type = "terms"` with several terms a named list of `ggplot`s, as their
#'   axes differ. Errors of class `sparsegp_error`, as in [plot()][plot.sparsegp].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' library(ggplot2)
#' fit <- sparsegp(len ~ dose + supp, ToothGrowth)
#' autoplot(fit) + theme_minimal()
#' autoplot(fit, type = "residuals")
#' @exportS3Method ggplot2::autoplot
autoplot.sparsegp <- function(object, which = NULL, type = NULL, newdata = NULL, level = 0.95,
                              n = NULL, by = NULL, se = NULL, ahead = NULL, xlim = NULL,
                              ylim = NULL, log = NULL, ...) {
  check_no_dots(...)
  object <- ready(object)
  asked <- list(which = which, type = type, newdata = newdata, level = level,
                n = n, by = by, se = se, ahead = ahead)
  style <- auto_style(xlim = xlim, ylim = ylim, log = log)
  asked$log <- if (isTRUE(style$log)) "x"
  asked <- with_log_axis(object, match_plot_args(object, asked), style)
  style <- asked$style
  type <- offered_type(object, asked$type, "object")
  charts <- type$charts(object, type$picture(object, asked), style)
  if (type$alike || length(charts) == 1L) return(chart_layers(charts, type$rows(charts), style))
  lapply(charts, function(chart) chart_layers(list(chart), style = style))
}

# ---- Types of pictures ----

# Describes a type of picture. A type is added by a file R/plot-<type>.R with a function
# <type>_plot() that returns this value (util-registry.R calls it once); a section of the help page
# stands above that function.
#   picture  (object, asked) -> what is to be drawn, a list; its `drawn` is the value of plot().
#            asked: the arguments of plot(), and `style`, those in `...`
#   takes    arguments besides `level` and `n` that mean something here
#   refuse   (object) -> why there is no such picture of this fit, c(fault, remedy), or NULL
#   outputs  is there such a picture of a fit of several components?
#   charts   (object, picture, style) -> a list of charts (plot-charts.R), which base graphics and
#            ggplot2 draw
#   rows     (charts) -> in how many rows they stand; NULL: panels are about as high as wide
#   alike    have all charts axes of one kind? Else ggplot2 makes a plot of each
#   averages is there such a picture of an average of fits?
new_plot_type <- function(picture, charts, takes = character(), refuse = function(object) NULL,
                          outputs = FALSE, rows = function(charts) NULL, alike = TRUE,
                          averages = TRUE) {
  list(picture = picture, charts = charts, takes = takes, refuse = refuse, outputs = outputs,
       rows = rows, alike = alike, averages = averages)
}

plot_types <- function() names(REGISTRY$plots)

# How many places a picture may have: more are beyond every screen, and beyond memory.
MOST_DRAWN <- 1e6

# Checks the arguments of plot() and autoplot(), a list; its `type` is NULL if none was given.
match_plot_args <- function(object, asked) {
  if (is.null(asked$type) && is_type(asked$which, object)) {
    asked$type <- asked$which
    asked["which"] <- list(NULL)
  }
  asked$type <- check_choice(asked$type %||% default_type(object, asked), plot_types(), "type")
  check_number(asked$level, "level", 0, 1)
  refuse_for_type(asked)
  if (!is.null(asked$n)) asked$n <- check_count(asked$n, "n", 2L, MOST_DRAWN)
  asked
}

# Returns the type of picture that plot() draws if none is asked for: effects, if there are three
# inputs or more and one latent function.
default_type <- function(object, asked) {
  plain <- all(lengths(asked[c("which", "by", "se", "log")]) == 0L)
  if (!plain || count_latent_values(object$response) > 1L) return("fit")
  if (length(fit_parts(object)) == 0L || has_mean_slopes(object)) return("fit")
  # an average on several scales has no effects
  if (!has_one_latent_scale(object, "terms") && object$ensemble$fixed) return("fit")
  if (count_variables(object) > 2L) "effects" else "fit"
}

# Returns how many variables a fit's inputs are of; columns of a factor or a spline are of one.
count_variables <- function(object) {
  if (is.null(object$terms)) return(length(object$scaling$names[object$scaling$kept]))
  length(all.vars(stats::delete.response(object$terms)))
}

# Is this the name of a type, as in plot(fit, "terms"), and not that of an input?
is_type <- function(which, object) {
  is.character(which) && length(which) == 1L && which %in% plot_types() &&
    !which %in% c(plain_names(object), names(attr(object$terms, "dataClasses")))
}

# Refuses arguments that mean something for other types only.
refuse_for_type <- function(asked) {
  given <- names(Filter(Negate(is.null), asked))
  known <- c("type", "level", "n", registered("plots", asked$type)$takes)
  for (name in setdiff(given, known)) {
    stop_sparsegp(name, paste0("is not used by type = \"", asked$type, "\""), "Leave it out")
  }
}

# Returns the type of this name, or refuses fits that have no such picture. argument: of the fit.
offered_type <- function(object, name, argument) {
  type <- registered("plots", name)
  if (!type$outputs) refuse_components_picture(object, argument)
  if (!type$averages) refuse_if_average(object, argument)
  why <- type$refuse(object)
  refuse_if(!is.null(why), "type", paste0("= \"", name, "\" ", why[1L]),
            if (length(why) > 1L) why[2L])
  type
}

refuse_components_picture <- function(object, argument) {
  UseMethod("refuse_components_picture", codec_of(object))
}

#' @export
refuse_components_picture.response <- function(object, argument) invisible()

#' @export
refuse_components_picture.response_components <- function(object, argument) {
  stop_sparsegp(argument, "has several components, for which this picture is not defined",
                "Draw plot(fit) of it, or residuals()")
}
