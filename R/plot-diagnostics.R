# Pictures about a fit rather than of it: the trace of EP, and reliability.

# ---- Reliability: what was predicted against what happened ----

plot_reliability <- function(object, newdata, level, n, style) {
  held_out <- if (is.null(newdata)) loo_rows(object) else predicted_rows(object, newdata)
  source <- paste0(if (is.null(newdata)) "Leave-one-out, " else "New data, ",
                   length(held_out$y), " rows")
  if (is.null(object$response$levels)) {
    drawn <- coverage(object, held_out, level, or_else(n, 99L))
    draw_coverage(drawn, level, source, style)
    return(drawn)
  }
  events <- class_events(object, held_out)
  n <- or_else(n, max(2L, min(10L, length(held_out$y) %/% 20L)))
  drawn <- reliability_bins(events$prob, events$happened, level, n, events$share)
  draw_reliability(drawn, level, source, events, style)
  drawn
}

# What is predicted to happen with which probability, and did it? Two classes: that a row is of the
# second level. Several: for every row and class, that it is of the class; a bin's share of those is
# measured by their variance, as most of them are foregone.
class_events <- function(object, held_out) {
  prob <- class_probabilities(object, held_out$latent)
  if (shows_classes(object)) {
    happened <- outer(as.integer(held_out$y), seq_len(ncol(prob)), "==")
    return(list(prob = c(prob), happened = c(happened), share = c(prob * (1 - prob)),
                label = paste0("P(", response_name(object), ") of every class"),
                counted = "rows x classes"))
  }
  list(prob = prob[, 2L], happened = as.integer(held_out$y) == 2L, share = rep(1, nrow(prob)),
       label = response_label(object), counted = "rows")
}

loo_rows <- function(object) {
  if (is.null(object$cavity) || length(object$y) == 0L) {
    stop_sparsegp("newdata", "is needed, as this fit keeps no rows",
                  "Give data with the response that the model has not seen")
  }
  known <- !is.na(object$y)
  of_known <- function(x) if (is.matrix(x)) x[known, , drop = FALSE] else x[known]
  list(y = object$y[known], latent = lapply(loo_latent(object), of_known))
}

predicted_rows <- function(object, newdata) {
  rows <- new_rows(object, newdata)
  moments <- engine_predict(object, scale_kept(rows$x, object$scaling))
  if (has_variances(object$likelihood)) {
    refuse_unknown_variances("newdata", "Leave it out for leave-one-out predictions")
  }
  latent <- list(mean = moments$mean, var = moments$var, offset = rows$offset, weights = 1)
  list(y = rows$y, latent = latent)
}

# Bins of equal shares (counts, where each event's share is 1), ties kept together; never an empty
# bin.
reliability_bins <- function(prob, happened, level, n, share) {
  if (sum(share) == 0) share[] <- 1
  tie <- match(prob, sort(unique(prob)))
  mass <- as.vector(rowsum(share, tie))
  # rank() where each event's share is 1
  place <- cumsum(mass) - (mass - mass / tabulate(tie)) / 2
  bin <- pmin(ceiling(n * place / sum(mass)), n)[tie]
  bin <- match(bin, sort(unique(bin)))
  rows <- tabulate(bin)
  hits <- as.vector(rowsum(as.integer(happened), bin))
  data.frame(predicted = as.vector(rowsum(prob, bin)) / rows, observed = hits / rows,
             binomial_interval(hits, rows, level), rows = rows)
}

# Clopper and Pearson's
binomial_interval <- function(hits, rows, level) {
  tail <- (1 - level) / 2
  data.frame(
    lwr = ifelse(hits == 0, 0, stats::qbeta(tail, pmax(hits, 1), rows - hits + 1)),
    upr = ifelse(hits == rows, 1, stats::qbeta(1 - tail, hits + 1, pmax(rows - hits, 1)))
  )
}

# Observed content of central predictive intervals, and the band of a calibrated model.
coverage <- function(object, held_out, level, n) {
  if (is.null(lik_traits(object$likelihood)$quantile)) {
    stop_sparsegp("type", "= \"reliability\" is not defined for this likelihood")
  }
  bound <- function(p) response_quantile(object, p, held_out$latent)
  y <- held_out$y
  nominal <- seq_len(n) / (n + 1)
  observed <- vapply(nominal, function(p) {
    mean(y >= bound((1 - p) / 2) & y <= bound((1 + p) / 2))
  }, 0)
  tail <- (1 - level) / 2
  rows <- length(y)
  data.frame(nominal, observed, lwr = stats::qbinom(tail, rows, nominal) / rows,
             upr = stats::qbinom(1 - tail, rows, nominal) / rows)
}

# ---- Trace: several scales share one panel, so that a caller's layout holds ----

plot_trace <- function(object, newdata, style) {
  trace <- object$convergence$selection$trace
  if (is.null(trace)) trace <- object$convergence$trace
  if (!is.null(newdata)) {
    stop_sparsegp("newdata", "has no meaning for type = \"trace\"", "Leave it out")
  }
  if (!NROW(trace)) stop_sparsegp("type", "= \"trace\" needs a fit that records its course")
  at <- trace[[1L]]
  open_panel(or_else(style$xlim, range(at) + c(-0.5, 0.5) * max(1, diff(range(at)) / 40)), c(0, 1))
  strips <- trace_strips(object, trace, style)
  col <- if (object$convergence$converged) BLUE else ORANGE
  height <- 1 / length(strips)
  for (i in seq_along(strips)) {
    top <- 1 - (i - 1) * height
    place <- c(top - height + 0.12 * height, top - 0.14 * height)
    draw_strip(at, placed(strips[[i]], place), col, style)
  }
  ticks <- pretty(par("usr")[1:2], 8L)
  if (style$axes) draw_axis(1L, unique(round(ticks[ticks >= 1])), NULL, style)
  if (style$ann) {
    along <- sub("size", "points selected", names(trace)[1L])
    title(xlab = or_else(style$xlab, along), line = 2.1, cex.lab = style$cex.lab)
  }
  draw_heading(style, caption = trace_words(object))
  trace
}

# What the columns of a trace look like; those that are not named here are not drawn.
trace_strips <- function(object, trace, style) {
  known <- list(
    size = function(v) count_scale(v, "Points in the basis"),
    gain = function(v) evidence_scale(v, style, "Gain of a point (nats)"),
    log_evidence = function(v) evidence_scale(v, style),
    lpd = function(v) evidence_scale(v, style, "Log predictive density of new rows"),
    change = function(v) change_scale(v, object$method$tol),
    exchanges = function(v) count_scale(v, "Points that joined the basis")
  )
  columns <- intersect(names(known), names(trace)[-1L])
  lapply(stats::setNames(nm = columns), function(column) known[[column]](trace[[column]]))
}

trace_words <- function(object) {
  run <- object$convergence
  if (!is.null(run$selection)) {
    return(paste0(counted(nrow(run$selection$trace), "point"), " selected; stopped by ",
                  run$selection$stopped))
  }
  if (is.null(run$sweeps)) return(paste(counted(object$n, "row"), "in one pass"))
  if (run$converged) return(paste("Converged in", counted(run$sweeps, "sweep")))
  paste("Did NOT converge in", counted(run$sweeps, "sweep"))
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
  limits <- or_else(style$ylim, mean(range(seen)) + c(-0.58, 0.58) * spread)
  ticks <- pretty(limits, 4L)
  ticks <- ticks[ticks >= min(limits) & ticks <= max(limits)]
  if (length(seen) == 1L && is.null(style$ylim)) ticks <- seen
  new_strip(values, ticks, format(signif(ticks, 5L), trim = TRUE), limits,
            or_else(style$ylab, name))
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
  new_strip(logs, ticks, parse(text = paste0("10^", ticks)), limits,
            "Distance from the fixed point (dashed: tolerance)", log10(tol))
}

draw_strip <- function(at, strip, col, style) {
  usr <- par("usr")
  height <- diff(strip$place)
  floor <- strip$place[1L] - 0.1 * height
  if (!is.null(strip$line)) segments(usr[1L], strip$line, usr[2L], col = "grey50", lty = 2)
  lines(at, strip$y, col = col, lwd = style$lwd)
  few <- length(at) <= 40L
  if (few) points(at, strip$y, pch = 21, col = col, bg = "white", lwd = 1.3, cex = 0.8)
  points(at[length(at)], strip$y[length(at)], pch = 16, col = col, cex = 0.95)
  if (style$axes) {
    segments(usr[1L], floor, c(usr[2L], usr[1L]), c(floor, strip$place[2L]), col = INK, xpd = NA)
    draw_axis(2L, strip$ticks, strip$labels, style)
  }
  if (style$ann) {
    text(usr[1L], strip$place[2L] + 0.1 * height, strip$name, adj = c(0, 0.5), cex = 0.8,
         col = INK, xpd = NA)
  }
}

# ---- Reliability ----

draw_reliability <- function(drawn, level, source, events, style) {
  open_panel(or_else(style$xlim, c(-0.02, 1.02)), or_else(style$ylim, c(-0.2, 1.02)))
  segments(0, 0, 1, 1, col = "grey55", lty = 2)
  segments(drawn$predicted, drawn$lwr, y1 = drawn$upr, col = grDevices::adjustcolor(BLUE, 0.45),
           lwd = 3, lend = 1)
  lines(drawn$predicted, drawn$observed, col = BLUE, lwd = 0.5 * style$lwd)
  points(drawn$predicted, drawn$observed, pch = or_else(style$pch, 16),
         col = or_else(style$col, BLUE), cex = or_else(style$cex, 1))
  counts <- graphics::hist(events$prob, seq(0, 1, 0.05), plot = FALSE)$counts
  left <- seq(0, 0.95, 0.05)
  rect(left, -0.19, left + 0.05, -0.19 + 0.14 * counts / max(counts), col = "grey75",
       border = "white", lwd = 0.7)
  close_panel(style, paste("predicted", events$label), "observed frequency", x_at = seq(0, 1, 0.25),
              y_at = seq(0, 1, 0.25))
  key <- list(key_item(paste(percent(level), "interval"), "line",
                       grDevices::adjustcolor(BLUE, 0.45), lwd = 3),
              key_item("calibrated", "line", "grey55", lwd = 1, lty = 2),
              key_item(events$counted, "band", "grey75"))
  draw_heading(style, key, source)
}

draw_coverage <- function(drawn, level, source, style) {
  open_panel(or_else(style$xlim, c(0, 1)), or_else(style$ylim, c(0, 1)))
  draw_band(drawn$nominal, drawn$lwr, drawn$upr, "grey88")
  segments(0, 0, 1, 1, col = "grey55", lty = 2)
  lines(drawn$nominal, drawn$observed, col = or_else(style$col, BLUE), lwd = style$lwd)
  ticks <- seq(0, 1, 0.25)
  close_panel(style, "nominal content of the interval", "share of responses inside",
              x_at = ticks, y_at = ticks)
  key <- list(key_item("observed", "line", or_else(style$col, BLUE)),
              key_item("calibrated", "line", "grey55", lwd = 1, lty = 2),
              key_item(paste(percent(level), "of calibrated models"), "band", "grey88"))
  draw_heading(style, key, source)
}
