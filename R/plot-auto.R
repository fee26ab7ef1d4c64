#' Pictures by ggplot2
#'
#' What [plot()][plot.sparsegp] draws, as objects of ggplot2, to which scales, themes and layers can
#' be added. `library(ggplot2)` makes `autoplot()` known.
#'
#' @inheritParams plot.sparsegp
#' @param object A fit of [sparsegp()].
#' @param xlim,ylim How far to predict; default: as far as the rows go.
#' @param ... Nothing.
#' @return A `ggplot`. For `type = "terms"` of several terms a named list of them, as their axes are
#'   of different kinds. Errors, of class `sparsegp_error`, as of [plot()][plot.sparsegp].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' library(ggplot2)
#' fit <- sparsegp(len ~ dose + supp, ToothGrowth)
#' autoplot(fit) + theme_minimal()
#' autoplot(fit, type = "residuals")
#' @exportS3Method ggplot2::autoplot
autoplot.sparsegp <- function(object, which = NULL,
                              type = c("fit", "terms", "forecast", "loo", "residuals", "trace",
                                       "reliability", "reject"),
                              newdata = NULL, level = 0.95, n = NULL, by = NULL, se = NULL,
                              ahead = NULL, xlim = NULL, ylim = NULL, ...) {
  check_no_dots(...)
  object <- ready(object)
  asked <- asked_picture(object, which, if (!missing(type)) type, newdata, level, n, by, se, ahead)
  which <- asked$which
  n <- asked$n
  refuse_picture(object, asked$type, "trace")
  style <- plot_style(xlim = xlim, ylim = ylim)
  switch(
    asked$type,
    fit = auto_fit(object, fit_picture(object, which, newdata, level, n, by, se, style)),
    terms = auto_terms(object, terms_pictures(object, which, newdata, level, n, style)),
    forecast = auto_forecast(object, forecast_picture(object, which, newdata, level, n, ahead,
                                                      style)),
    loo = auto_loo(object, loo_picture(object, level)),
    residuals = auto_residuals(residual_frame(object), residual_panels(which)),
    trace = auto_trace(object),
    reliability = auto_reliability(reliability_picture(object, newdata, level, n)),
    reject = auto_reject(reject_picture(object, newdata, level, n))
  )
}

# ---- Pieces ----

# An aesthetic for each argument: the column of that name.
mapped <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# Columns of fixed names: place, by, and what is predicted.
placed_columns <- function(view, drawn) {
  names(drawn)[seq_along(view$axes)] <- c("place", "place2")[seq_along(view$axes)]
  if (!is.null(view$by)) names(drawn)[length(view$axes) + 1L] <- "by"
  drawn
}

shown_frame <- function(view, shown) {
  axis <- view$axis[[1L]]
  place <- shown$at[[1L]]
  frame <- data.frame(place = place, y = shown$y, near = shown$near)
  if (!is.null(axis$levels)) frame$place <- factor(axis$levels[place], axis$levels)
  if (length(shown$at) > 1L) frame$place2 <- shown$at[[2L]]
  if (!is.null(view$by)) frame$by <- factor(view$by$levels[shown$level], view$by$levels)
  frame[is.finite(as.numeric(frame$y)), ]
}

# Dates and times on the axis along numbers
clock_scale <- function(object, input) {
  clock <- object$clocks[[input]]
  if (is.null(clock)) return(NULL)
  ggplot2::scale_x_continuous(labels = function(at) format(on_clock(clock, at)))
}

# Intervals and mean, along numbers or over levels.
estimate_layers <- function(view, drawn, colour = TRUE) {
  grouped <- !is.null(view$by) && colour
  mapping <- function(...) {
    arguments <- list(x = "place", ...)
    if (!is.null(view$by)) arguments$group <- "by"
    if (grouped) arguments$colour <- "by"
    if (grouped && !is.null(arguments$ymax) && is.null(arguments$y)) arguments$fill <- "by"
    do.call(mapped, arguments)
  }
  blue <- if (grouped) list() else list(colour = BLUE)
  if (!is.null(view$axis[[1L]]$levels)) {
    apart <- ggplot2::position_dodge(0.5)
    return(list(do.call(ggplot2::geom_pointrange, c(
      list(mapping(y = "fit", ymin = "lwr", ymax = "upr"), drawn, position = apart), blue
    ))))
  }
  band <- function(lwr, upr, alpha) {
    filled <- if (grouped) list(colour = NA) else list(fill = BLUE)
    known <- drawn[!is.na(drawn[[lwr]]), ]
    do.call(ggplot2::geom_ribbon, c(list(mapping(ymin = lwr, ymax = upr), known, alpha = alpha),
                                    filled))
  }
  many <- length(view$by$levels) > MANY
  list(if (is.null(view$by) && !is.null(drawn$new_lwr)) band("new_lwr", "new_upr", PALE),
       if (!many) band("lwr", "upr", DARK),
       do.call(ggplot2::geom_line, c(list(mapping(y = "fit"), drawn), blue)))
}

row_layer <- function(view, rows, n) {
  mapping <- if (is.null(view$by) || length(view$by$levels) > MANY) mapped(x = "place", y = "y")
             else mapped(x = "place", y = "y", colour = "by")
  where <- if (is.null(view$axis[[1L]]$levels)) "identity"
           else ggplot2::position_jitterdodge(0.1, 0, 0.5, seed = 1L)
  if (!is.null(view$axis[[1L]]$levels) && is.null(view$by)) {
    where <- ggplot2::position_jitter(0.15, 0, seed = 1L)
  }
  ggplot2::geom_point(mapping, rows, alpha = row_alpha(n), size = 1.5 * row_size(n),
                      position = where)
}

group_scales <- function(view) {
  if (!length(view$by$levels) %in% seq_len(MANY)) return(NULL)
  list(ggplot2::scale_colour_manual(values = CLASS_COLOURS, name = view$by$name),
       ggplot2::scale_fill_manual(values = CLASS_COLOURS, name = view$by$name))
}

# ---- type = "fit" ----

auto_fit <- function(object, picture) {
  if (!is.null(picture$surface)) return(auto_surface(object, picture))
  if (shows_classes(object)) return(auto_class_curves(object, picture))
  view <- picture$view
  drawn <- placed_columns(view, picture$drawn)
  rows <- shown_frame(view, picture$shown)
  few <- length(view$by$levels) <= MANY
  points <- if (has_classes(object)) class_rugs(view, rows) else row_layer(view, rows, nrow(rows))
  ggplot2::ggplot() + estimate_layers(view, drawn, few) + points +
    group_scales(view) + clock_scale(object, view$axes) +
    ggplot2::labs(x = input_label(object, view$axes), y = response_label(object),
                  caption = wrapped(curve_words(view, picture$shown, picture$level)))
}

# Rows of two classes at the bottom and at the top
class_rugs <- function(view, rows) {
  mapping <- if (is.null(view$by)) mapped(x = "place") else mapped(x = "place", colour = "by")
  code <- as.integer(rows$y)
  rug <- function(class, side) {
    own <- if (is.null(view$by)) list(colour = CLASS_COLOURS[class])
    do.call(ggplot2::geom_rug, c(list(mapping, rows[code == class, ], sides = side, alpha = 0.5),
                                 own))
  }
  list(rug(2L, "t"), rug(1L, "b"))
}

auto_class_curves <- function(object, picture) {
  levels <- object$response$levels
  view <- picture$view
  drawn <- placed_columns(view, picture$drawn)
  long <- data.frame(place = rep(drawn$place, length(levels)),
                     class = factor(rep(levels, each = nrow(drawn)), levels),
                     fit = unlist(drawn[paste0("prob.", levels)], use.names = FALSE))
  if (!is.null(view$by)) long$by <- rep(drawn$by, length(levels))
  rows <- shown_frame(view, picture$shown)
  rows$class <- factor(rows$y, levels)
  along <- if (is.null(view$axis[[1L]]$levels)) ggplot2::geom_line else ggplot2::geom_point
  ggplot2::ggplot(long, mapped(x = "place", colour = "class")) + along(mapped(y = "fit")) +
    ggplot2::geom_rug(data = rows, sides = "b", alpha = 0.5) + class_scale("colour", levels) +
    by_panels(view) +
    ggplot2::labs(x = input_label(object, view$axes), y = "probability",
                  colour = response_name(object))
}

class_scale <- function(aesthetic, levels) {
  scale <- if (aesthetic == "fill") ggplot2::scale_fill_manual else ggplot2::scale_colour_manual
  scale(values = rep_len(CLASS_COLOURS, length(levels)), drop = FALSE)
}

# ---- Parts, and time series ----

auto_terms <- function(object, parts) {
  plots <- lapply(parts, auto_term, object)
  if (length(plots) == 1L) plots[[1L]] else plots
}

auto_term <- function(picture, object) {
  view <- picture$view
  drawn <- placed_columns(view, picture$drawn)
  rows <- shown_frame(view, picture$shown)
  if (!is.null(picture$surface)) return(auto_term_map(picture, drawn))
  few <- length(view$by$levels) <= MANY
  ggplot2::ggplot() + estimate_layers(view, drawn, few) +
    (if (nrow(rows)) row_layer(view, rows, nrow(rows))) + group_scales(view) +
    clock_scale(object, view$axes) +
    ggplot2::labs(x = input_label(object, view$axes), y = picture$label,
                  caption = wrapped(paste(view$caption, collapse = ", ")))
}

auto_forecast <- function(object, picture) {
  series <- picture$series
  all <- c(stats::setNames(list(series), response_label(object)), picture$parts)
  frames <- Map(function(part, name) {
    columns <- c("place", "fit", "lwr", "upr", "new_lwr", "new_upr")
    drawn <- placed_columns(part$view, part$drawn)
    drawn[setdiff(columns, names(drawn))] <- NA_real_
    data.frame(drawn[columns], part = name)
  }, all, names(all))
  panels <- c(names(all), "rest")
  drawn <- do.call(rbind, unname(frames))
  drawn$part <- factor(drawn$part, panels)
  rows <- data.frame(place = picture$time, y = c(series$shown$y, picture$rest),
                     part = factor(rep(panels[c(1L, length(panels))], each = length(picture$time)),
                                   panels))
  ggplot2::ggplot() + estimate_layers(series$view, drawn) +
    ggplot2::geom_point(mapped(x = "place", y = "y"), rows, size = 0.7) +
    ggplot2::geom_vline(xintercept = max(picture$time), linetype = 3) +
    ggplot2::facet_grid("part", scales = "free_y") + clock_scale(object, series$view$axes) +
    ggplot2::labs(x = input_label(object, series$view$axes), y = NULL)
}

# ---- What a fit gets wrong ----

auto_loo <- function(object, drawn) {
  if (is.null(drawn$fit)) {
    drawn$right <- drawn$class == drawn$observed
    return(ggplot2::ggplot(drawn, mapped(x = "observed", y = "probability", colour = "right")) +
             ggplot2::geom_point(position = ggplot2::position_jitter(0.2, 0, seed = 1L)) +
             ggplot2::labs(x = response_name(object), y = "probability of its own class",
                           colour = "most probable", caption = "leave-one-out"))
  }
  ggplot2::ggplot(drawn, mapped(x = "fit", y = "observed", ymin = "lwr", ymax = "upr",
                                colour = "inside")) +
    ggplot2::geom_abline(colour = "grey60") + ggplot2::geom_linerange(alpha = 0.4) +
    ggplot2::geom_point() +
    ggplot2::labs(x = "predicted from the other rows", y = response_label(object),
                  caption = "leave-one-out")
}

auto_residuals <- function(drawn, which) {
  panels <- lapply(which, function(panel) {
    data.frame(residual_places(panel, drawn), panel = factor(RESIDUAL_PANELS[panel],
                                                             RESIDUAL_PANELS))
  })
  ggplot2::ggplot(do.call(rbind, panels), mapped(x = "x", y = "y")) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey60") + ggplot2::geom_point(alpha = 0.6) +
    ggplot2::facet_wrap("panel", scales = "free") +
    ggplot2::labs(x = NULL, y = "quantile residual, or root of its size")
}

auto_trace <- function(object) {
  if (!has_trace(object)) {
    stop_sparsegp("type", "= \"trace\" needs a fit that records its course")
  }
  trace <- trace_of(object)
  long <- lapply(names(trace)[-1L], function(name) {
    data.frame(at = trace[[1L]], value = as.double(trace[[name]]), quantity = name)
  })
  ggplot2::ggplot(do.call(rbind, long), mapped(x = "at", y = "value")) +
    (if (nrow(trace) > 1L) ggplot2::geom_line()) + ggplot2::geom_point() +
    ggplot2::facet_grid("quantity", scales = "free_y") +
    ggplot2::labs(x = names(trace)[1L], y = NULL, caption = convergence_text(object))
}

auto_reliability <- function(picture) {
  drawn <- picture$drawn
  along <- names(drawn)[1L] # predicted, or nominal
  names(drawn)[1L] <- "along"
  intervals <- if (along == "predicted") ggplot2::geom_linerange else ggplot2::geom_ribbon
  ggplot2::ggplot(drawn, mapped(x = "along", y = "observed", ymin = "lwr", ymax = "upr")) +
    ggplot2::geom_abline(linetype = 2) + intervals(alpha = 0.3) +
    ggplot2::geom_line(colour = BLUE) +
    ggplot2::labs(x = if (along == "predicted") "predicted" else "nominal content of the interval",
                  y = "observed", caption = picture$source)
}

auto_reject <- function(picture) {
  ggplot2::ggplot(picture$drawn, mapped(x = "rejected", ymin = "lwr", ymax = "upr")) +
    ggplot2::geom_ribbon(alpha = 0.2, fill = BLUE) +
    ggplot2::geom_line(mapped(y = "expected"), linetype = 2) +
    ggplot2::geom_line(mapped(y = "error"), colour = BLUE) +
    ggplot2::labs(x = "share of rows rejected", y = "error rate of the rest",
                  caption = picture$source)
}
