# A mean response, or a probability, along one input: a curve with its bands, or for a factor a
# point with bars at every level; one of them, or one for each level of another factor.

# ---- What is drawn ----

# A column for the axis, one for `by` where there is one, then curve_answer()'s.
curve_frame <- function(object, view, shown, asked) {
  axis <- view$axis[[1L]]
  limits <- axis_limits(axis, shown$at[[1L]], asked$style)
  n <- asked$n %||% series_nodes(object, view, shown$at[[1L]], max(limits))
  places <- axis_nodes(axis, limits, n)
  along_curve(view, places, function(group) {
    curve_answer(object, slice_latent(object, view, list(places), group), asked$level)
  })
}

# The columns of the axis and of `by`, and answer(group) at the places for each level.
along_curve <- function(view, places, answer) {
  own <- axis_values(view$axis[[1L]], places)
  parts <- lapply(seq_len(max(1L, length(view$by$levels))), function(group) {
    columns <- list(own)
    if (!is.null(view$by)) columns$by <- factor(view$by$levels[group], view$by$levels)
    beside_axes(data.frame(columns), c(view$axes, view$by$name), answer(group))
  })
  do.call(rbind, parts)
}

curve_answer <- function(object, latent, level) {
  type <- drawn_type(object)
  answer <- as.data.frame(interval_answer(object, latent, type, "confidence", level))
  latent$weights <- weight_of_new(object)
  if (is.null(latent$weights)) return(answer)
  new <- interval_answer(object, latent, "response", "prediction", level)
  cbind(answer, new_lwr = new[, "lwr"], new_upr = new[, "upr"])
}

# Returns the weight of a new response between the rows, or NULL where it is unknown or new
# responses have no intervals.
weight_of_new <- function(object) UseMethod("weight_of_new", codec_of(object))

#' @export
weight_of_new.response <- function(object) {
  if ("prediction" %in% codec_of(object)$offers$response) 1
}

# Known variances are those of the rows.
#' @export
weight_of_new.response_numbers <- function(object) {
  if (!has_variances(object$likelihood)) NextMethod()
}

# As many trials as all rows have
#' @export
weight_of_new.response_trials <- function(object) {
  trials <- unique(object$weights)
  if (length(trials) == 1L) trials
}

# ---- Pieces ----

# Shares of few trials are small.
trial_sizes <- function(object, weights) {
  trials <- trials_of(object, weights)
  if (is.null(trials)) 1 else 0.5 + sqrt(trials / max(trials))
}

# A colour for every level of `by`; those of more levels than have colours are alike and pale.
group_colours <- function(by) {
  count <- length(by$levels)
  if (count == 0L) return(BLUE)
  if (count > MANY) return(rep(grDevices::adjustcolor(BLUE, 0.5), count))
  if (by$ordered) ordered_colours(count) else CLASS_COLOURS[seq_len(count)]
}

# Returns where rows are along the axis, and their colours.
rows_along <- function(view, shown, style) {
  axis <- view$axis[[1L]]
  groups <- length(view$by$levels)
  n <- length(shown$at[[1L]])
  fill <- if (groups == 0L) INK else group_colours(view$by)[shown$level]
  list(x = scattered(axis, shown$at[[1L]], groups) +
         dodged(axis, shown$level %||% 1L, max(1L, groups)),
       fill = rep_len(style$col %||% grDevices::adjustcolor(fill, row_alpha(n)), n))
}

# Returns elements of every group: the intervals, the curve or points. drawn: of curve_frame()
estimate_elements <- function(view, drawn, style, what = c("band", "line")) {
  axis <- view$axis[[1L]]
  col <- group_colours(view$by)
  group <- if (is.null(view$by)) rep(1L, nrow(drawn)) else as.integer(drawn[[2L]])
  if (!has_bands(view)) what <- setdiff(what, "band")
  each <- unlist(lapply(seq_along(col), function(g) {
    part <- drawn[group == g, ]
    x <- as.numeric(part[[1L]]) + dodged(axis, g, length(col))
    estimate_of_group(axis, x, part, col[g], what, style)
  }), recursive = FALSE)
  if (length(col) > MANY && "line" %in% what) each <- c(each, list(group_names(axis, drawn)))
  each
}

# More bands than that cover each other, and more bars of a level than colours.
MOST_BANDS <- 3L

has_bands <- function(view) length(view$by$levels) <= most_bands(view$axis[[1L]])

most_bands <- function(axis) UseMethod("most_bands")

#' @export
most_bands.axis_number <- function(axis) MOST_BANDS

#' @export
most_bands.axis_factor <- function(axis) MANY

# Names of more groups than a key has room for: behind the right ends of their curves, those of the
# highest and the lowest first, then of all that have room between.
group_names <- function(axis, drawn) UseMethod("group_names")

#' @export
group_names.default <- function(axis, drawn) NULL

#' @export
group_names.axis_number <- function(axis, drawn) {
  LINES <- 20 # of letters, from the top of a panel to its bottom
  ends <- drawn[drawn[[1L]] == max(drawn[[1L]]), ]
  ends <- ends[order(-ends$fit), ]
  gap <- diff(range(drawn$fit)) / LINES
  taken <- c(1L, nrow(ends))
  for (i in seq_len(nrow(ends))) {
    if (all(abs(ends$fit[taken] - ends$fit[i]) > gap)) taken <- c(taken, i)
  }
  shown <- ends[unique(taken), ]
  new_element("names", list(cex = 0.75, offset = 0.1), x = shown[[1L]], y = shown$fit,
              label = as.character(shown[[2L]]), pos = 4)
}

# Opacity of the interval of the mean, and of that for new responses
DARK <- 0.32

PALE <- 0.13

# Returns intervals and means: a band and a curve, or bars and a point at every level.
estimate_of_group <- function(axis, x, part, col, what, style) {
  drawn <- function(kind, element, ...) if (kind %in% what) element(axis, x, ..., col, style)
  list(drawn("band", interval_element, part$new_lwr, part$new_upr, PALE),
       drawn("band", interval_element, part$lwr, part$upr, DARK),
       drawn("line", mean_element, part$fit))
}

interval_element <- function(axis, x, lwr, upr, alpha, col, style) {
  if (!is.null(lwr)) UseMethod("interval_element")
}

#' @export
interval_element.axis_number <- function(axis, x, lwr, upr, alpha, col, style) {
  new_element("band", list(col = grDevices::adjustcolor(col, alpha)), x = x, lwr = lwr, upr = upr)
}

#' @export
interval_element.axis_factor <- function(axis, x, lwr, upr, alpha, col, style) {
  new_element("bars", list(col = grDevices::adjustcolor(col, 2 * alpha), lwd = 4 * style$lwd),
              x = x, y = lwr, x1 = x, y1 = upr)
}

mean_element <- function(axis, x, fit, col, style) UseMethod("mean_element")

#' @export
mean_element.axis_number <- function(axis, x, fit, col, style) {
  new_element("line", list(col = col, lwd = style$lwd), x = x, y = fit)
}

#' @export
mean_element.axis_factor <- function(axis, x, fit, col, style) {
  new_element("points", list(fill = "white", pch = 21, size = 1, edge = col, lwd = style$lwd),
              x = x, y = fit)
}

# Returns the item of the mean in a key; centre: what it is called.
mean_item <- function(axis, centre) UseMethod("mean_item")

#' @export
mean_item.axis_number <- function(axis, centre) key_item(centre, "line", BLUE)

#' @export
mean_item.axis_factor <- function(axis, centre) key_item(centre, "point", BLUE, 1)

basis_ticks <- function(basis) {
  if (!is.null(basis)) new_element("ticks", list(lwd = 1.2), x = basis[[1L]])
}

# Returns items for the groups, the name of their factor before them, or NULL.
group_items <- function(view) {
  if (!length(view$by$levels) %in% seq_len(MANY)) return(NULL)
  c(list(key_title(view$by$name)),
    unname(Map(key_item, view$by$levels, "line", group_colours(view$by))))
}

# Returns the item of censored rows, if there are some.
censored_item <- function(shown) {
  if (!all(is.na(shown$censored %||% NA))) key_item("censored", "point", INK, 2)
}

# One key for mean and bands, or one colour for each group and one sample of its band.
curve_key <- function(view, level, has_new, basis, centre = "mean") {
  interval <- paste(percent(level), "for the", centre)
  open <- if (count_levels(view$axis[1L]) > 0L) list(key_item(centre, "point", INK, 1))
  c(group_items(view), if (!is.null(view$by)) open, if (is.null(view$by)) list(
    mean_item(view$axis[[1L]], centre),
    key_item(interval, "band", grDevices::adjustcolor(BLUE, DARK)),
    if (has_new) key_item(paste(percent(level), "for new responses"), "band",
                          grDevices::adjustcolor(BLUE, PALE))
  ) else if (has_bands(view)) list(key_item(interval, "band", grDevices::adjustcolor(INK, PALE))),
  list(if (!is.null(basis)) key_item("basis", "tick", INK)))
}

# Returns the points of rows. Censored times are open, and point to where the event may be.
row_elements <- function(rows, shown, style, size) {
  fill <- faded(rows$fill, shown$near)
  open <- !is.na(shown$censored %||% NA)
  if (!any(open)) return(list(row_points(rows$x, shown$y, fill, style, size)))
  size <- rep_len(size, length(open))
  list(row_points(rows$x[!open], shown$y[!open], fill[!open], style, size[!open]),
       new_element("points", list(fill = NA, edge = fill[open], pch = shown$censored[open],
                                  size = size[open]), x = rows$x[open], y = shown$y[open]))
}

# ---- Regression ----

#' @export
panel_of.response <- function(object) {
  new_panel(curve_frame, regression_chart, mean_surface, map_charts(mean_map),
            se = c("contour", "panel", "none"))
}

regression_chart <- function(object, picture, style) {
  view <- picture$view
  shown <- picture$shown
  drawn <- picture$drawn
  axis <- view$axis[[1L]]
  if (!is.null(view$by)) drawn$new_lwr <- drawn$new_upr <- NULL # they would overlap
  centre <- if (drawn_type(object) == "median") "median" else "mean"
  xlim <- axis_limits(axis, shown$at[[1L]], style)
  seen <- shown$at[[1L]] >= min(xlim) & shown$at[[1L]] <= max(xlim)
  ylim <- range(shown$y[seen], drawn$lwr, drawn$upr)
  if (centre == "mean") ylim <- range(ylim, drawn$new_lwr, drawn$new_upr) # times reach far up
  rows <- rows_along(view, shown, style)
  size <- style$cex %||% (row_size(length(shown$y)) * trial_sizes(object, shown$weights))
  elements <- c(
    estimate_elements(view, drawn, style, "band"),
    row_elements(rows, shown, style, size),
    estimate_elements(view, drawn, style, "line"), list(basis_ticks(shown$basis))
  )
  key <- c(curve_key(view, picture$level, !is.null(drawn$new_lwr), shown$basis, centre),
           list(censored_item(shown)))
  logs <- has_log_response(object, c(shown$y, drawn$lwr), style)
  ylim <- if (logs) exp(grDevices::extendrange(log(ylim), f = 0.04))
          else grDevices::extendrange(ylim, f = 0.04)
  new_chart(beside_words(shown, view), elements,
            input_label(object, view$axes), response_label(object), room_for_names(view, xlim),
            ylim, list(x = value_ticks(axis, object, xlim, shown$at[[1L]])), key, log_y = logs)
}

# Returns limits with room for the names of many groups behind their curves.
room_for_names <- function(view, xlim) {
  ROOM <- 0.07
  named <- length(view$by$levels) > MANY && is.null(view$axis[[1L]]$levels)
  if (!named) return(xlim)
  logs <- isTRUE(attr(xlim, "log"))
  ends <- if (logs) log(xlim) else xlim
  ends[2L] <- ends[2L] + ROOM * diff(ends)
  structure(if (logs) exp(ends) else ends, log = attr(xlim, "log"))
}

# ---- The probability of the second of two classes ----

#' @export
panel_of.response_labels <- function(object) {
  new_panel(curve_frame, probability_chart, probability_surface, map_charts(probability_map),
            se = c("none", "contour", "panel"))
}

probability_chart <- function(object, picture, style) {
  view <- picture$view
  shown <- picture$shown
  level <- picture$level
  axis <- view$axis[[1L]]
  xlim <- axis_limits(axis, shown$at[[1L]], style)
  elements <- c(list(probability_rules()), estimate_elements(view, picture$drawn, style),
                class_ticks(view, shown, style), list(basis_ticks(shown$basis)))
  key <- curve_key(view, level, FALSE, shown$basis)
  if (is.null(view$by)) {
    key[1:2] <- list(key_item("probability", "line", BLUE),
                     key_item(paste(percent(level), "interval"), "band",
                              grDevices::adjustcolor(BLUE, DARK)))
  }
  if (anyNA(shown$y)) key <- c(key, list(key_item("no label", "tick", UNLABELLED)))
  new_chart(beside_words(shown, view), elements, input_label(object, view$axes),
            response_label(object), room_for_names(view, xlim), c(-0.06, 1.06),
            list(x = axis_ticks(axis, object, xlim), y = probability_ticks(style)), key)
}

probability_rules <- function() {
  new_element("rules", list(col = "grey85"), y = c(0, 0.5, 1), slope = 0, lty = c(1, 3, 1))
}

probability_ticks <- function(style) if (is.null(style$ylim)) list(at = seq(0, 1, 0.25))

# Rows are ticks at 0 and 1, outwards; those without a label about 0.5.
class_ticks <- function(view, shown, style) {
  second <- as.integer(shown$y) - 1L
  groups <- length(view$by$levels)
  x <- scattered(view$axis[[1L]], shown$at[[1L]], groups)
  col <- if (groups > 0L) group_colours(view$by)[shown$level]
         else class_colours(style, row_alpha(length(shown$y)))[second + 1L]
  outwards <- 2 * second - 1
  lane <- if (groups == 0L) 0 else 0.012 * (shown$level - 1) # groups beside each other
  none <- is.na(second)
  bars <- function(which, from, to, look) {
    new_element("bars", look, x = x[which], y = from[which], x1 = x[which], y1 = to[which])
  }
  list(bars(!none, second + (0.01 + lane) * outwards, second + (0.045 + lane) * outwards,
            list(col = faded(col, shown$near)[!none], lwd = 1.4)),
       bars(none, 0.49 + 0 * x, 0.51 + 0 * x, list(col = UNLABELLED)))
}
