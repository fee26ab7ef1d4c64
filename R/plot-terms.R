# The parts of a sum of kernels, each with its band: the picture of predict(type = "terms").

plot_terms <- function(object, which, newdata, level, n, style) {
  parts <- terms_pictures(object, which, newdata, level, n, style)
  on_one_page(length(parts), function() for (part in parts) draw_term(object, part, style))
  lapply(parts, `[[`, "drawn")
}

terms_pictures <- function(object, which, newdata, level, n, style) {
  rows <- rows_of(object, newdata)
  groups <- term_groups(names(fit_parts(object)), which)
  if (length(groups) == 0L) {
    stop_sparsegp("type", "= \"terms\" is for kernels that vary, and this is a constant")
  }
  pictures <- unlist(lapply(names(groups), function(name) {
    pictures_of_term(object, rows, groups[name], level, n, style)
  }), recursive = FALSE)
  stats::setNames(pictures, vapply(pictures, `[[`, "", "label"))
}

# Of one latent function a picture; of one for each class curves in one picture where that can be
# read, else a picture for each.
pictures_of_term <- function(object, rows, group, level, n, style) {
  if (processes(object) == 1L) return(list(term_picture(object, rows, group, level, n, style)))
  axes <- term_axes(object, rows, fit_parts(object)[group[[1L]]])
  if (length(axes) != 2L) {
    return(list(term_picture(object, rows, group, level, n, style, class_axis(object))))
  }
  lapply(seq_len(processes(object)), function(class) {
    picture <- term_picture(object, rows, group, level, n, style, class = class)
    picture$label <- paste0(picture$label, ": ", object$response$levels[class])
    picture
  })
}

# The classes as a factor of which no column of the inputs tells.
class_axis <- function(object) {
  list(name = response_name(object), levels = object$response$levels, columns = character(),
       code = function(places) matrix(0, length(places), 0L),
       places = function(x, raw) NULL)
}

# What is drawn of one effect: `view` with the axes it depends on, rows with their partial residuals
# `y`, and `drawn`, its places, effect and band. NULL for `drawn`: of too many inputs. by: the
# classes, to be drawn as curves; else the effect is on the latent function of `class`.
term_picture <- function(object, rows, group, level, n, style, by = NULL, class = 1L) {
  axes <- term_axes(object, rows, fit_parts(object)[group[[1L]]])
  split <- if (length(axes) %in% 1:2) split_axes(axes, by) else list(axis = axes, by = by)
  view <- list(axis = split$axis, axes = names(split$axis), by = split$by, derived = list(),
               typical = apply(rows$x, 2L, stats::median), held = FALSE, caption = "")
  effect <- function(x, of = class) {
    effect_answer(object, group, scale_kept(x, object$scaling), of)
  }
  at <- if (!is.null(by)) as.integer(rows$y)
        else if (!is.null(view$by)) view$by$places(rows$x, rows$raw)
  shown <- list(at = lapply(view$axis, function(axis) axis$places(rows$x, rows$raw)), near = 1,
                level = at, moved = FALSE,
                y = effect(rows$x)$fit[, 1L] + working_residuals(object, rows))
  picture <- list(label = names(group), view = view, shown = shown, level = level)
  if (length(view$axis) == 1L) {
    at_group <- function(x, group) effect(x, if (is.null(by)) class else group)
    picture$drawn <- term_curve(view, shown, at_group, level, n, style)
  } else if (length(view$axis) == 2L) {
    picture$surface <- term_surface(view, shown, effect, n, style)
    picture$drawn <- picture$surface$drawn
  }
  picture
}

# The axes whose columns the parts see.
term_axes <- function(object, rows, parts) {
  at <- unlist(lapply(parts, function(part) spec_columns(part$spec)))
  columns <- colnames(rows$x)[sort(unique(at)) + 1L]
  axes <- data_axes(object, rows, character())
  axes[vapply(axes, function(axis) any(axis$columns %in% columns), NA)]
}

spec_columns <- function(spec) c(spec$vars, unlist(lapply(spec$parts, spec_columns)))

term_curve <- function(view, shown, effect, level, n, style) {
  axis <- view$axis[[1L]]
  places <- curve_places(axis, curve_limits(axis, shown$at[[1L]], style), n)
  along_curve(view, places, function(group) {
    with_band(effect(slice_inputs(view, list(places), group), group), level)
  })
}

with_band <- function(answer, level) {
  reach <- stats::qnorm((1 + level) / 2) * answer$se.fit[, 1L]
  fit <- answer$fit[, 1L]
  data.frame(fit = fit, lwr = fit - reach, upr = fit + reach)
}

term_surface <- function(view, shown, effect, n, style) {
  nodes <- surface_nodes(shown, or_else(n, 61L), style)
  answer <- effect(slice_inputs(view, nodes$grid))
  drawn <- surface_frame(nodes, view, answer$fit[, 1L], answer$se.fit[, 1L])
  c(nodes, list(z = array(drawn$fit, nodes$count), error = array(drawn$se, nodes$count),
                known = rep(TRUE, nrow(drawn)), drawn = drawn))
}

# What is left of each response, on the latent function's scale: of numbers the residual, of others
# the working residual of a generalised linear model, (y - m) / m'(f), times the root of its weight
# m'^2 / v over the roots' mean, so that rows that say little do not stand out. NA for labels.
working_residuals <- function(object, rows) {
  codec <- codec_of(object)
  if (codec$labelled) return(rep(NA_real_, length(rows$y)))
  latent <- latent_at(object, rows$x, rows$offset)
  if (codec$scaled) return(rows$y - mean_response(object, latent))
  seen <- seen_mean(object, latent)
  step <- 1e-4
  mean_at <- function(f) engine_lik_eval(object, f)$mean
  slope <- (mean_at(seen + step) - mean_at(seen - step)) / (2 * step)
  spread <- engine_lik_eval(object, seen)
  root <- abs(slope) / sqrt(spread$var / or_else(if (codec$trials) rows$weights, 1))
  (rows$y - spread$mean) / slope * root / mean(root)
}

# ---- Drawing ----

draw_term <- function(object, picture, style) {
  if (is.null(picture$drawn)) return(draw_no_term(picture, style))
  if (!is.null(picture$surface)) return(draw_term_surface(object, picture, style))
  draw_term_curve(object, picture, style)
}

# A part of three inputs or more has no picture.
draw_no_term <- function(picture, style) {
  open_panel(c(0, 1), c(0, 1))
  text(0.5, 0.5, paste0(picture$label, "\nhas ", length(picture$view$axis),
                        " inputs: see plot(which = )"), cex = style$cex.axis, col = INK)
}

# Rows without partial residuals are ticks at the bottom.
draw_term_curve <- function(object, picture, style) {
  view <- picture$view
  shown <- picture$shown
  axis <- view$axis[[1L]]
  xlim <- curve_limits(axis, shown$at[[1L]], style)
  seen <- shown$at[[1L]] >= min(xlim) & shown$at[[1L]] <= max(xlim) & is.finite(shown$y)
  ylim <- or_else(style$ylim, grDevices::extendrange(
    range(picture$drawn$lwr, picture$drawn$upr, shown$y[seen]), f = 0.04
  ))
  open_panel(xlim, ylim)
  segments(min(xlim), 0, max(xlim), col = "grey85")
  groups <- length(view$by$levels)
  x <- scattered(axis, shown$at[[1L]], groups)
  if (groups > 0L) x <- x + dodged(axis, shown$level, groups)
  fill <- if (groups == 0L) INK else group_colours(view$by)[shown$level]
  n <- length(shown$y)
  fill <- or_else(style$col, grDevices::adjustcolor(rep_len(fill, n), row_alpha(n)))
  draw_estimates(view, picture$drawn, style, "band")
  draw_rows(x[seen], shown$y[seen], rep_len(fill, n)[seen], or_else(style$pch, 21),
            0.8 * or_else(style$cex, row_size(n)))
  draw_estimates(view, picture$drawn, style, "line")
  if (!any(seen)) draw_basis_ticks(x)
  close_panel(style, input_label(object, view$axes), picture$label,
              x = axis_ticks(object, axis, xlim))
  key <- if (groups == 0L) {
    list(key_item("effect", "line", BLUE),
         key_item(percent(picture$level), "band", grDevices::adjustcolor(BLUE, DARK)),
         if (any(seen)) key_item("partial residuals", "point", INK))
  } else if (groups <= MANY) {
    unname(Map(key_item, view$by$levels, "line", group_colours(view$by)))
  }
  draw_heading(style, key)
}

draw_term_surface <- function(object, picture, style) {
  surface <- picture$surface
  shown <- picture$shown
  open_panel(surface$limits[[1L]], surface$limits[[2L]], style$asp)
  levels <- contour_levels(surface$z, surface$known, 8L)
  fill_bands(surface, levels, mean_ramp(length(levels) - 1L))
  draw_contours(surface, levels, INK, 0.7)
  draw_error_contours(surface)
  points(shown$at[[1L]], shown$at[[2L]], pch = 16, cex = 0.35, col = INK)
  axes <- picture$view$axes
  close_panel(style, axes[1L], axes[2L], bty = "o",
              input_ticks(object, axes[1L], surface$limits[[1L]]),
              input_ticks(object, axes[2L], surface$limits[[2L]]))
  draw_heading(style, list(key_item(picture$label, "line", INK, lwd = 0.7), error_key()))
}
