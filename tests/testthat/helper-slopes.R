# Slopes as arrays, from the table of slopes(): rows x (fit, lwr, upr) x variables x outputs, of
# which sides of one are left out.
slope_arrays <- function(fit, newdata, se.fit = FALSE, interval = "none", ...) {
  found <- slopes(fit, newdata, ...)
  by <- list(rows = unique(found$row), vars = unique(found$variable),
             outputs = levels(found$output))
  array_of <- function(columns, names) {
    shape <- c(lengths(by[c("rows", "vars")]), outputs = max(1L, length(by$outputs)))
    each <- vapply(columns, function(column) {
      aperm(array(found[[column]], shape[c("rows", "outputs", "vars")]), c(1L, 3L, 2L))
    }, array(0, shape))
    out <- aperm(array(each, c(shape, length(columns))), c(1L, 4L, 2L, 3L))
    kept <- c(TRUE, unname(dim(out))[-1L] > 1L)
    labels <- list(by$rows, names, by$vars, by$outputs)[kept]
    if (sum(kept) == 1L) stats::setNames(c(out), labels[[1L]])
    else array(out, unname(dim(out))[kept], labels)
  }
  point <- if (interval == "none") array_of("estimate", NULL)
           else array_of(c("estimate", "conf.low", "conf.high"), c("fit", "lwr", "upr"))
  if (se.fit) list(fit = point, se.fit = array_of("std.error", NULL)) else point
}
