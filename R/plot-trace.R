# The trace of a fit: several scales share one panel, so a caller's layout holds.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "trace", convergence:
#' The log evidence in each sweep, the distance from a fixed point (on a logarithmic scale) with the
#' tolerance, and the number of exchanged inducing points if the method chooses them. For a stream,
#' against its rows: the number of inducing points, the log evidence of the rows so far, and the
#' mean log predictive density of each row before its update. *Value.* `sweep`, `log_evidence`,
#' `change` and, if the method chooses its basis, `exchanges`, the points that joined it; for a
#' stream `row`, `size` of the basis, `log_evidence` of the rows so far, `lpd`, the mean log
#' predictive density of rows since the previous entry, and the KL divergences of the update
#' (thesis 3.16), `kl_new_old` and `kl_old_new`.
NULL

trace_plot <- function() {
  new_plot_type(function(object, asked) list(drawn = trace_of(object)), trace_charts,
                refuse = function(object) {
                  if (NROW(trace_of(object)) == 0L) "needs a fit that records its iterations"
                }, outputs = TRUE, averages = FALSE)
}

trace_charts <- function(object, picture, style) {
  trace <- picture$drawn
  at <- trace[[1L]]
  xlim <- style$xlim %||% (range(at) + c(-0.5, 0.5) * max(1, diff(range(at)) / 40))
  strips <- trace_strips(object, trace, style)
  col <- if (object$convergence$converged) BLUE else ORANGE
  top <- 1 - (seq_along(strips) - 1) / length(strips)
  strips <- Map(function(strip, top) {
    placed(strip, top - c(0.88, 0.14) / length(strips))
  }, strips, top)
  elements <- lapply(strips, strip_elements, at, xlim, col, style)
  ticks <- pretty(xlim, 8L)
  list(new_chart(paste0(convergence_text(object), lone_words(trace[names(strips)])),
                 unlist(unname(elements), recursive = FALSE),
                 sub("size", "points selected", names(trace)[1L]), "", xlim, c(0, 1),
                 list(x = list(at = unique(round(ticks[ticks >= 1]))),
                      y = list(at = unlist(lapply(strips, `[[`, "ticks")),
                               labels = do.call(c, unname(lapply(strips, `[[`, "labels"))))),
                 frame = "n"))
}

# Describes how the columns of a trace are drawn; those that are not named here are not drawn.
trace_strips <- function(object, trace, style) {
  known <- list(
    size = function(v) count_scale(v, "Points in the basis"),
    gain = function(v) evidence_scale(v, style, "Gain of a point (nats)"),
    log_evidence = function(v) evidence_scale(v, style),
    lpd = function(v) evidence_scale(v, style, "Log predictive density of new rows"),
    change = function(v) change_scale(v, object$convergence$tol),
    exchanges = function(v) count_scale(v, "Points that joined the basis")
  )
  columns <- intersect(names(known), names(trace)[-1L])
  lapply(stats::setNames(nm = columns), function(column) known[[column]](trace[[column]]))
}

# One sweep is a dot without a line: its numbers are given.
lone_words <- function(trace) {
  if (nrow(trace) > 1L) return("")
  values <- vapply(trace, function(value) format(value, digits = 4L), "")
  paste0(": ", paste(gsub("_", " ", names(trace)), values, collapse = ", "))
}

# A strip: values, ticks and labels on a scale with limits; line: a value to mark.
new_strip <- function(values, ticks, labels, limits, name, line = NULL) {
  list(values = values, ticks = ticks, labels = labels, limits = limits, name = name, line = line)
}

# The strip where it goes on the panel's 0 to 1.
placed <- function(strip, place) {
  to <- function(v) place[1L] + diff(place) * (v - strip$limits[1L]) / diff(strip$limits)
  list(y = to(strip$values), ticks = to(strip$ticks), labels = strip$labels, place = place,
       line = if (!is.null(strip$line)) to(strip$line), name = strip$name)
}

evidence_scale <- function(values, style, name = "Log evidence") {
  seen <- values[is.finite(values)]
  # differences below a thousandth of a nat, or of the value, are not worth long labels
  spread <- max(diff(range(seen)), 1e-3 * abs(seen), 1e-3)
  limits <- (style$ylim %||% (mean(range(seen)) + c(-0.58, 0.58) * spread))
  ticks <- pretty(limits, 4L)
  ticks <- ticks[ticks >= min(limits) & ticks <= max(limits)]
  if (length(seen) == 1L && is.null(style$ylim)) ticks <- seen
  new_strip(values, ticks, format(signif(ticks, 5L), trim = TRUE), limits,
            style$ylab %||% name)
}

count_scale <- function(values, name) {
  limits <- c(0, max(values, 1)) * 1.05
  ticks <- unique(round(pretty(limits, 3L)))
  ticks <- ticks[ticks <= limits[2L]]
  new_strip(values, ticks, format(ticks, trim = TRUE), limits, name)
}

# Rounding level, 1e-17, stands for a change of exactly 0.
change_scale <- function(values, tol) {
  logs <- log10(pmax(values, 1e-17))
  limits <- range(logs[is.finite(logs)], log10(tol), na.rm = TRUE) + c(-0.4, 0.4)
  step <- max(1, ceiling(diff(limits) / 4))
  ticks <- seq(step * ceiling(limits[1L] / step), limits[2L], by = step)
  new_strip(logs, ticks, powers_of_ten(ticks), limits,
            "Distance from the fixed point (dashed: tolerance)", log10(tol))
}

powers_of_ten <- function(exponents) {
  as.expression(lapply(exponents, function(exponent) bquote(10^.(exponent))))
}

# Few values are all marked, and always the last one.
strip_elements <- function(strip, at, xlim, col, style) {
  height <- diff(strip$place)
  floor <- strip$place[1L] - 0.1 * height
  few <- if (length(at) <= 40L) seq_along(at)
  points <- function(which, look) {
    new_element("points", look, x = at[which], y = strip$y[which])
  }
  lines <- function(x1, y, y1, look) {
    new_element("bars", look, x = xlim[1L], y = y, x1 = x1, y1 = y1)
  }
  list(if (!is.null(strip$line)) {
         lines(xlim[2L], strip$line, strip$line, list(col = "grey50", lty = 2))
       }, new_element("line", list(col = col, lwd = style$lwd), x = at, y = strip$y),
       points(few, list(fill = "white", pch = 21, size = 0.8, edge = col, lwd = 1.3)),
       points(length(at), list(fill = col, pch = 16, size = 0.95)),
       if (style$axes) lines(c(xlim[2L], xlim[1L]), floor, c(floor, strip$place[2L]),
                             list(col = INK)),
       if (style$ann) new_element("names", list(cex = 0.8, offset = 0), x = -Inf, pos = 4,
                                  label = strip$name, y = strip$place[2L] + 0.1 * height))
}
