# The parts of a sum of kernels, each with its band: the picture of predict(type = "terms").

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "terms", the effect of each kernel of a sum:
#' The effect of each kernel, with its interval, as `predict(type = "terms")` gives it, and partial
#' residuals: the effect plus the residual of each response. For counts and proportions this is the
#' working residual of a generalised linear model, shrunk for uninformative observations; classes
#' have ticks at the observations instead. A kernel of two inputs is a map with dashed standard
#' errors, a kernel of a number and a factor a curve for each level. A kernel of three inputs or
#' more, such as the default kernel of many inputs, has panels as in `type = "effects"`. With
#' several classes effects are on the latent function of each: curves in one picture, and a map, or
#' curves for the levels of a factor, for each class. *Value.* A list of data frames.
NULL

terms_plot <- function() {
  new_plot_type(terms_picture, terms_charts, takes = c("which", "newdata"), alike = FALSE)
}

terms_picture <- function(object, asked) {
  parts <- terms_pictures(object, asked$which, asked$newdata, asked$level, asked$n, asked$style)
  list(parts = parts, drawn = lapply(parts, `[[`, "drawn"))
}

terms_charts <- function(object, picture, style) {
  lapply(picture$parts, term_chart, object = object, style = style)
}

terms_pictures <- function(object, which, newdata, level, n, style) {
  object <- fit_of_latent_type(object, "terms")
  rows <- rows_of(object, newdata)
  groups <- term_groups(names(fit_parts(object)), which)
  refuse_if(length(groups) == 0L,
            "type", "= \"terms\" is for kernels that vary, and this is a constant")
  left <- working_residuals(object, rows)
  pictures <- unlist(lapply(names(groups), function(name) {
    pictures_of_term(object, rows, groups[name], level, n, style, left)
  }), recursive = FALSE)
  stats::setNames(pictures, make.unique(vapply(pictures, `[[`, "", "label"), " "))
}

# Returns the pictures of a term. With one latent function: a curve or a map, or the partial effects
# of three inputs or more. With one for each class: curves of all classes, or a map for each class.
pictures_of_term <- function(object, rows, group, level, n, style, left) {
  axes <- term_axes(object, rows, fit_parts(object)[group[[1L]]])
  by <- class_axis(object)
  draw <- function(view, ...) term_picture(object, rows, group, view, level, n, style, left, ...)
  if (length(axes) > 2L) {
    views <- partial_views(object, rows, group, axes, by)
    return(partial_pictures(object, rows, group, views, level, n, style, left))
  }
  if (is.null(by)) return(list(draw(term_view(rows, axes))))
  if (length(axes) == 1L) return(list(draw(term_view(rows, axes, by))))
  lapply(seq_len(functions_of(object)), function(class) {
    picture <- draw(term_view(rows, axes), class = class)
    picture$label <- paste0(picture$label, ": ", object$response$levels[class])
    picture
  })
}

# Returns the classes as a factor that no column of the inputs codes, where each has a latent
# function; else NULL.
class_axis <- function(object) UseMethod("class_axis", codec_of(object))

#' @export
class_axis.response <- function(object) NULL

#' @export
class_axis.response_classes <- function(object) {
  new_axis("axis_factor", response_name(object), character(),
           function(places) matrix(0, length(places), 0L), function(x, raw) NULL,
           object$response$levels)
}

# Builds the view over all axes that a term depends on.
term_view <- function(rows, axes, by = NULL) {
  split <- split_axes(axes, by)
  list(axis = split$axis, axes = names(split$axis), by = split$by, derived = list(),
       over = rbind(apply(rows$x, 2L, stats::median)), held = FALSE, caption = "")
}

# Returns the picture of one effect: `view`, rows with their partial residuals `y`, and `drawn`, its
# places, effect and band. If the view has the classes as `by`, there is a curve for each of them;
# else the effect is on the latent function of `class`. left: working_residuals() of the rows;
# known: of a curve the effect for each of its groups, NULL: it is found here
term_picture <- function(object, rows, group, view, level, n, style, left, class = 1L,
                         known = NULL) {
  of_classes <- !is.null(view$by) && length(view$by$columns) == 0L
  effect <- function(x, of = class) {
    effect_answer(object, group, scale_kept(x, object$scaling), of)
  }
  at <- lapply(view$axis, function(axis) axis$places(rows$x, rows$raw))
  by <- if (of_classes) as.integer(rows$y)
        else if (!is.null(view$by)) view$by$places(rows$x, rows$raw)
  if (length(at) == 1L) style <- style_along(view$axis[[1L]], at[[1L]], style)
  shown <- list(at = at, near = 1, level = by, moved = FALSE, censored = rows$censored)
  picture <- list(label = view$label %||% names(group), view = view, level = level)
  if (length(view$axis) == 1L) {
    at_group <- function(x, group) {
      if (!is.null(known)) known[[group]] else effect(x, if (of_classes) group else class)
    }
    picture$drawn <- term_curve(view, shown, at_group, level, n, style)
  } else {
    picture$surface <- term_surface(view, shown, effect, n, style)
    picture$drawn <- picture$surface$drawn
  }
  # beside an average of many rows a row's own effect would be another's
  own <- if (view$held) curve_at(view$axis[[1L]], picture$drawn, at[[1L]])
         else effect(rows$x)$fit[, 1L]
  shown$y <- own + left
  picture$shown <- shown
  picture
}

# Returns the height of a drawn curve at places on its axis, or of its points at levels.
curve_at <- function(axis, drawn, at) UseMethod("curve_at")

#' @export
curve_at.axis_number <- function(axis, drawn, at) {
  stats::approx(drawn[[1L]], drawn$fit, at, rule = 2L, ties = mean)$y
}

#' @export
curve_at.axis_factor <- function(axis, drawn, at) drawn$fit[at]

# Returns term_picture() of views of one effect. left: as there
partial_pictures <- function(object, rows, group, views, level, n, style, left) {
  known <- partial_effects(object, rows, group, views, n, style)
  Map(function(view, known) {
    term_picture(object, rows, group, view, level, n, style, left, known = known)
  }, views, known)
}

# Returns for each view a list of effect_answer() for each of its classes: all views are asked for
# at once, as far as memory allows, since what they have in common costs as much as a panel.
partial_effects <- function(object, rows, group, views, n, style) {
  if (length(views) == 0L) return(list())
  x <- lapply(views, function(view) {
    axis <- view$axis[[1L]]
    at <- axis$places(rows$x, rows$raw)
    places <- curve_places(view, at, n, style_along(axis, at, style))
    scale_kept(slice_inputs(view, list(places), 1L), object$scaling)
  })
  each <- nrow(views[[1L]]$over)
  classes <- seq_len(max(1L, length(views[[1L]]$by$levels)))
  at_once <- max(1L, MOST_DRAWN %/% max(vapply(x, nrow, 0L)))
  unlist(lapply(row_blocks(length(views), at_once), function(some) {
    panels <- vapply(x[some], nrow, 0L) %/% each
    of_classes <- lapply(classes, function(class) {
      effect <- effect_answer(object, group, do.call(rbind, x[some]), class, each, panels)
      split_effect(effect, panels)
    })
    lapply(seq_along(some), function(view) lapply(of_classes, `[[`, view))
  }), recursive = FALSE)
}

# The axes whose columns the parts see.
term_axes <- function(object, rows, parts) {
  at <- unlist(lapply(parts, function(part) spec_columns(part$spec)))
  columns <- colnames(rows$x)[inputs_of_columns(at + 1L, object$scaling)]
  axes <- data_axes(object, rows, character())
  axes[vapply(axes, function(axis) any(axis$columns %in% columns), NA)]
}

term_curve <- function(view, shown, effect, level, n, style) {
  places <- curve_places(view, shown$at[[1L]], n, style)
  along_curve(view, places, function(group) {
    with_band(effect(slice_inputs(view, list(places), group), group), level)
  })
}

AVERAGED_PLACES <- 41L # of a curve, each of which is an average

# Returns the places of a curve along the axis of a view, on which the rows are `at`.
curve_places <- function(view, at, n, style) {
  axis <- view$axis[[1L]]
  if (is.null(n) && nrow(view$over) > 1L) n <- AVERAGED_PLACES
  axis_nodes(axis, axis_limits(axis, at, style), n)
}

# Returns an effect with its interval and, where it is averaged, the tenth and ninetieth per cent of
# the curves of the rows, each less its own mean: how much they differ.
with_band <- function(answer, level) {
  reach <- stats::qnorm((1 + level) / 2) * answer$se.fit[, 1L]
  fit <- answer$fit[, 1L]
  band <- data.frame(fit = fit, lwr = fit - reach, upr = fit + reach)
  members <- answer$members[[1L]]
  if (ncol(members) == 1L) return(band)
  members <- sweep(members, 2L, colMeans(members)) + mean(fit)
  spread <- apply(members, 1L, stats::quantile, c(0.1, 0.9), names = FALSE)
  cbind(band, rows_lwr = spread[1L, ], rows_upr = spread[2L, ])
}

term_surface <- function(view, shown, effect, n, style) {
  nodes <- surface_nodes(view, shown, n %||% 61L, style)
  answer <- effect(slice_inputs(view, nodes$grid))
  drawn <- surface_frame(nodes, view, fit = answer$fit[, 1L], se = answer$se.fit[, 1L])
  c(nodes, list(z = array(drawn$fit, nodes$count), error = array(drawn$se, nodes$count),
                known = rep(TRUE, nrow(drawn)), drawn = drawn))
}

# Returns what is left of each response, on the latent function's scale: for numbers the residual,
# for counts the working residual of a generalised linear model, (y - m) / m'(f), times the root of
# its weight m'^2 / v over the roots' mean, so rows of little weight do not stand out. NA for
# labels.
working_residuals <- function(object, rows) UseMethod("working_residuals", codec_of(object))

#' @export
working_residuals.response_factor <- function(object, rows) rep(NA_real_, length(rows$y))

#' @export
working_residuals.response_numbers <- function(object, rows) {
  rows$y - point_response(object, latent_at(object, rows$x, rows$offset))
}

# On the fitted scale, as effects are
#' @export
working_residuals.response_transformed <- function(object, rows) {
  seen <- location(object, latent_at(object, rows$x, rows$offset))$mean
  (codec_of(object)$codes(rows$y, object$response) - seen) * object$response$unit
}

# About the median time, as pictures of times are: half of them lie below the effect.
#' @export
working_residuals.response_times <- function(object, rows) {
  NextMethod() - error_scale(object) * error_of(object)$exceeded(0.5)
}

#' @export
working_residuals.response_counts <- function(object, rows) {
  seen <- seen_mean(object, latent_at(object, rows$x, rows$offset))
  step <- 1e-4
  mean_at <- function(f) engine_lik_eval(object, f, weights = rows$weights)$mean
  slope <- (mean_at(seen + step) - mean_at(seen - step)) / (2 * step)
  spread <- engine_lik_eval(object, seen, weights = rows$weights)
  root <- abs(slope) / sqrt(spread$var / (trials_of(object, rows$weights) %||% 1))
  (rows$y - spread$mean) / slope * root / mean(root)
}

# ---- Drawing ----

term_chart <- function(object, picture, style) {
  chart <- if (is.null(picture$surface)) term_curve_chart else term_map_chart
  chart(object, picture, style)
}

# Rows without partial residuals are ticks at the bottom.
term_curve_chart <- function(object, picture, style) {
  view <- picture$view
  shown <- picture$shown
  axis <- view$axis[[1L]]
  style <- style_along(axis, shown$at[[1L]], style)
  xlim <- axis_limits(axis, shown$at[[1L]], style)
  seen <- shown$at[[1L]] >= min(xlim) & shown$at[[1L]] <= max(xlim) & is.finite(shown$y)
  ylim <- range(picture$drawn[-seq_along(c(view$axes, view$by$name))], shown$y[seen])
  groups <- length(view$by$levels)
  rows <- rows_along(view, shown, style)
  of_seen <- list(y = shown$y[seen], near = 1, censored = shown$censored[seen])
  size <- 0.8 * (style$cex %||% row_size(length(shown$y)))
  spread <- spread_elements(axis, picture$drawn)
  elements <- c(
    list(new_element("rules", list(col = "grey85"), y = 0, slope = 0, lty = 1)),
    if (groups == 0L) spread,
    estimate_elements(view, picture$drawn, style, "band"),
    row_elements(lapply(rows, `[`, seen), of_seen, style, size),
    estimate_elements(view, picture$drawn, style, "line"),
    list(if (!any(seen)) basis_ticks(list(rows$x)))
  )
  new_chart(paste(view$caption, collapse = ", "), elements, input_label(object, view$axes),
            picture$label, xlim, grDevices::extendrange(ylim, f = 0.04),
            list(x = if (!isTRUE(style$log)) value_ticks(axis, object, xlim, shown$at[[1L]])),
            term_key(picture, of_seen, length(spread) > 0L), log_x = style$log)
}

term_key <- function(picture, shown, spread) {
  groups <- group_items(picture$view)
  if (length(groups) || !is.null(picture$view$by)) return(groups)
  list(key_item("effect", "line", BLUE),
       key_item(percent(picture$level), "band", grDevices::adjustcolor(BLUE, DARK)),
       if (length(shown$y)) key_item("partial residuals", "point", INK),
       censored_item(shown),
       if (spread) key_item("80 % of individual curves", "line", FAINT, lty = 3))
}

FAINT <- "grey55"

# Returns two thin lines between which four fifths of the rows' own curves lie.
spread_elements <- function(axis, drawn) UseMethod("spread_elements")

#' @export
spread_elements.axis_factor <- function(axis, drawn) NULL

#' @export
spread_elements.axis_number <- function(axis, drawn) {
  if (is.null(drawn$rows_lwr)) return(NULL)
  look <- list(col = FAINT, lwd = 1, lty = 3)
  list(new_element("line", look, x = drawn[[1L]], y = drawn$rows_lwr),
       new_element("line", look, x = drawn[[1L]], y = drawn$rows_upr))
}

term_map_chart <- function(object, picture, style) {
  surface <- picture$surface
  levels <- contour_levels(surface$z, surface$known, 8L)
  elements <- c(band_elements(surface, surface$z, levels, mean_ramp, picture$label),
                list(error_contours(surface), dots(picture$shown)))
  map_chart(object, picture, elements,
            list(key_item(picture$label, "line", INK, lwd = 0.7), error_key()))
}
