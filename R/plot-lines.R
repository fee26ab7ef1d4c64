#' Add a fit to a picture
#'
#' Adds the mean response of a fit of one input, and optionally its interval, to an existing panel:
#' over a `plot()` of the data, or beside other fits.
#'
#' @param x A fit of [sparsegp()] whose formula has one numeric variable, or of a matrix of one
#'   column.
#' @param interval `"none"`, `"confidence"` or `"prediction"`, as for [predict][predict.sparsegp];
#'   dashed lines of the same colour.
#' @param level Nominal coverage of the interval: one number in (0, 1).
#' @param n Number of points across the panel, a whole number.
#' @param ... Graphical parameters of [graphics::lines()]; `lty` is that of the mean.
#' @return A data frame of the drawn curve, invisibly: the input, `fit`, and with an interval `lwr`
#'   and `upr`. Errors of class `sparsegp_error`: several inputs, several classes, several
#'   components.
#' @examples
#' plot(dist ~ speed, cars)
#' lines(sparsegp(dist ~ speed, cars), interval = "confidence", col = "steelblue")
#' @importFrom graphics lines
#' @export
lines.sparsegp <- function(x, interval = c("none", "confidence", "prediction"), level = 0.95,
                           n = 201, ...) {
  interval <- check_choice(interval, c("none", "confidence", "prediction"), "interval")
  x <- ready(x)
  name <- only_variable(x)
  if (functions_of(x) > 1L) stop_sparsegp("x", "has a curve for each class", "Use plot(x)")
  ends <- par("usr")[1:2]
  if (par("xlog")) ends <- 10^ends
  at <- seq(ends[1L], ends[2L], length.out = check_count(n, "n", 2L))
  if (!is.null(x$clocks[[name]])) at <- on_clock(x$clocks[[name]], at)
  new <- stats::setNames(data.frame(at), name)
  drawn <- predict(x, new, interval = interval, level = level)
  refuse_if(length(dim(drawn)) > 1L + (interval != "none"), "x", "has a curve for each component",
            "Use plot(x)")
  answer <- if (is.matrix(drawn)) as.data.frame(drawn) else data.frame(fit = unname(drawn))
  drawn <- beside_axes(new, name, answer)
  draw_lines(drawn, ...)
  invisible(drawn)
}

draw_lines <- function(drawn, lty = 1, ...) {
  graphics::lines(drawn[[1L]], drawn$fit, lty = lty, ...)
  for (bound in intersect(c("lwr", "upr"), names(drawn))) {
    graphics::lines(drawn[[1L]], drawn[[bound]], lty = 2, ...)
  }
}

# The one variable that inputs are made of.
only_variable <- function(object) {
  names <- if (is.null(object$terms)) object$scaling$names
           else all.vars(stats::delete.response(object$terms))
  if (length(names) == 1L && length(object$xlevels) == 0L) return(names)
  stop_sparsegp("x", paste0("has other inputs than one number: ", toString(names)),
                "Use plot(x, which = ) or predict()")
}
