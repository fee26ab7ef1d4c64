# Charts: panels of elements that base graphics and ggplot2 both draw, from one description. A type
# of picture names the function that makes its charts (new_plot_type()) and draws nothing itself.

# Describes a panel.
#   title      words above it, which distinguish it from the others of a page
#   elements   a list of new_element() and NULL, drawn in this order
#   x, y       labels of the axes
#   xlim, ylim its limits
#   ticks      list(x, y): ticks of an axis, list(at, labels), or NULL
#   key        list of key_item() and NULL
#   name       short words that distinguish it from the others of a page, the label of a facet
#   strip      level of a factor that it is for, list(name, level), or NULL; with name "" words in
#              place of "name = level"; wide: does the key reach over the panels beside it?
#   log_x      is the axis of x logarithmic? NULL: as the style says
#   log_y      is the axis of y logarithmic?
#   frame      `bty` of graphics::par(): "l"; "o" around a map, which fills its panel; "n" where
#              there are several scales along y
new_chart <- function(title, elements, x, y, xlim, ylim, ticks = list(), key = list(),
                      name = title, frame = "l", asp = NA, height = NULL, log_x = NULL,
                      log_y = FALSE) {
  list(title = title, elements = Filter(Negate(is.null), elements), x = x, y = y, xlim = xlim,
       ylim = ylim, ticks = ticks, key = Filter(Negate(is.null), key), name = name,
       frame = frame, asp = asp, height = height, log_x = log_x, log_y = log_y)
}

# Describes an element. ...: columns of its data, named in ELEMENTS; look: constants of
# graphics::par(), one for all or one for each row.
new_element <- function(kind, look, ...) list(kind = kind, data = data.frame(...), look = look)

# Describes rows of the data as points.
row_points <- function(x, y, fill, style, size = style$cex %||% row_size(length(x))) {
  new_element("points", list(fill = fill, pch = style$pch %||% 21, size = size), x = x, y = y)
}

# Returns a chart with its colours for the page, and the looks of its elements complete.
chart_on_page <- function(chart, page) {
  chart$elements <- lapply(chart$elements, function(element) {
    usual <- ELEMENTS[[element$kind]]$look
    look <- c(element$look, usual[setdiff(names(usual), names(element$look))])
    element$look <- look_on_page(look, page)
    element
  })
  chart$key <- lapply(chart$key, look_on_page, page)
  chart
}

# Leaves a key with the first of the charts that have the same.
with_keys_once <- function(charts) {
  again <- duplicated(lapply(charts, `[[`, "key"))
  charts[again] <- lapply(charts[again], `[[<-`, "key", list())
  if (!is.null(charts[[1L]]$strip)) {
    charts[[1L]]$strip$wide <- sum(lengths(lapply(charts, `[[`, "key")) > 0L) == 1L
  }
  charts
}

# Draws charts on a page of so many rows; the title `main` stands above the first.
draw_charts <- function(charts, style, rows = NULL) {
  style$page <- base_page(style)
  charts <- with_keys_once(lapply(charts, chart_on_page, style$page))
  heights <- unlist(lapply(charts, `[[`, "height"))
  stacked <- length(heights) == length(charts) && length(charts) > 1L && is_free_page()
  draw <- function() {
    for (i in seq_along(charts)) {
      chart <- charts[[i]]
      if (stacked) {
        par(mar = stack_margins(charts)[[i]])
        if (i < length(charts)) chart$x <- ""
      }
      draw_chart(chart, style)
      style$main <- NULL
    }
  }
  if (stacked) on_stacked_page(stack_margins(charts), heights, draw)
  else on_one_page(length(charts), draw, rows = rows)
}

draw_chart <- function(chart, style) {
  asp <- if (is.na(style$asp)) chart$asp else style$asp
  ylim <- if (chart$frame != "n") style$ylim
  ylim <- ylim %||% chart$ylim
  if (!all(is.finite(ylim))) stop_nothing_finite()
  logs <- has_log_x(chart, style)
  open_panel(style$xlim %||% chart$xlim, ylim, asp,
             paste(c(if (logs) "x", if (chart$log_y) "y"), collapse = ""))
  for (element in chart$elements) {
    if (logs) element <- on_log_axis(element)
    if (nrow(element$data)) ELEMENTS[[element$kind]]$draw(element$data, element$look)
  }
  close_panel(style, chart$x, chart$y, chart$frame, chart$ticks$x, chart$ticks$y)
  draw_heading(style, chart$key, chart$title, chart$strip)
}

has_log_x <- function(chart, style) isTRUE(chart$log_x %||% style$log)

# Leaves out the rows of an element without a place on a logarithmic axis, where graphics would
# warn, and their looks.
on_log_axis <- function(element) {
  if (is.null(element$data$x)) return(element)
  there <- element$data$x > 0
  of_rows <- lengths(element$look) == length(there) & length(there) > 1L
  element$look[of_rows] <- lapply(element$look[of_rows], `[`, there)
  element$data <- element$data[there, , drop = FALSE]
  element
}

# Returns the margins, in lines, of charts below each other: the first has room for its key, the
# last for the label of all axes.
stack_margins <- function(charts) {
  last <- length(charts)
  lapply(seq_along(charts), function(i) {
    c(if (i == last) 3.3 else 1.6, 4.6, if (i == 1L) 3.4 else 1.5, 1.1)
  })
}

# Returns the style of charts by ggplot2, which draws its own legends.
auto_style <- function(...) plot_style(legend = FALSE, ...)

# Returns one ggplot, with a facet for each chart if there are several, in so many rows.
chart_layers <- function(charts, rows = NULL, style = auto_style()) {
  several <- length(charts) > 1L
  field <- function(name) unique(vapply(charts, `[[`, "", name))
  by_response <- several && length(field("y")) == length(charts)
  names <- facet_names(charts, by_response)
  logs <- all(vapply(charts, has_log_x, NA, style)) # facets share the kind of their axis
  charts <- lapply(charts, chart_on_page, theme_page())
  if (logs) charts <- lapply(charts, function(chart) {
    chart$elements <- lapply(chart$elements, on_log_axis)
    chart
  })
  charts <- on_one_scale(lapply(charts, with_limits, style))
  if (several) charts <- apart_along_x(charts)
  layers <- Map(element_layers, charts, names, list(names))
  if (several) layers <- c(layers, Map(limits_layer, charts, names, list(names)))
  ticks <- charts[[1L]]$ticks
  titles <- if (several) nonempty(field("title")) else field("title")
  ggplot2::ggplot() + unlist(unname(layers), recursive = FALSE) + scales_of(charts) +
    key_layers(charts[[1L]]) + horizontal_ticks(charts, if (logs) ggplot2::scale_x_log10) +
    tick_layer(if (charts[[1L]]$log_y) ggplot2::scale_y_log10, ticks$y,
               ggplot2::scale_y_continuous) + coordinates_of(charts) +
    (if (several) ggplot2::facet_wrap("chart", scales = free_scales(charts), nrow = rows)) +
    ggplot2::labs(x = shared_label(field("x")), y = if (!by_response) shared_label(field("y")),
                  caption = if (length(titles) == 1L) wrapped(titles))
}

# Returns the label that all charts share; labels that differ are in the names of the facets.
shared_label <- function(labels) {
  labels <- nonempty(labels)
  if (length(labels) == 1L) labels
}

# Moves charts along factors, of a page whose charts have different ticks along x, to places of
# their own: ggplot2 has one scale for all facets, and shows it ticks by their places alone.
apart_along_x <- function(charts) {
  if (length(unique(lapply(charts, function(chart) chart$ticks$x))) == 1L) return(charts)
  far <- 2 * max(1, abs(unlist(lapply(charts, `[[`, "xlim"))))
  lapply(seq_along(charts), function(i) {
    chart <- charts[[i]]
    if (is.null(chart$ticks$x$labels) || !is.null(chart$ticks$x$again)) return(chart)
    shifted(chart, far * i)
  })
}

shifted <- function(chart, by) {
  chart$elements <- lapply(chart$elements, function(element) {
    along <- intersect(c("x", "x1"), names(element$data))
    element$data[along] <- lapply(element$data[along], `+`, by)
    element
  })
  chart$xlim <- chart$xlim + by
  chart$ticks$x$at <- chart$ticks$x$at + by
  chart
}

# Returns the scale along x: of the one kind of ticks that charts have, or of those of each. logs:
# the logarithmic scale, or NULL.
horizontal_ticks <- function(charts, logs) {
  ticks <- unique(lapply(unname(charts), function(chart) chart$ticks$x))
  if (length(ticks) == 1L) return(tick_layer(logs, ticks[[1L]], ggplot2::scale_x_continuous))
  each <- lapply(unname(charts), own_ticks)
  nearest <- function(limits) {
    which.min(vapply(charts, function(chart) sum(abs(chart$xlim - limits)), 0))
  }
  (logs %||% ggplot2::scale_x_continuous)(
    breaks = function(limits) each[[nearest(limits)]]$at,
    labels = function(at) {
      holds <- vapply(each, function(own) all(at[!is.na(at)] %in% own$at), NA)
      own <- each[[which(holds)[1L]]]
      own$labels[match(at, own$at)]
    }
  )
}

# Returns list(at, labels), the ticks of a chart inside its limits.
own_ticks <- function(chart) {
  ticks <- chart$ticks$x
  if (!is.null(ticks$again)) ticks <- ticks$again(chart$xlim)
  at <- ticks$at %||% pretty(chart$xlim)
  labels <- ticks$labels %||% format(at, trim = TRUE)
  inside <- at >= min(chart$xlim) & at <= max(chart$xlim)
  list(at = at[inside], labels = labels[inside])
}

# Gives a chart the limits that were asked for; a panel of several scales has no such along y.
with_limits <- function(chart, style) {
  chart$xlim <- style$xlim %||% chart$xlim
  if (chart$frame != "n") chart$ylim <- style$ylim %||% chart$ylim
  chart
}

# Returns the layers of a chart's elements, in the facet of that name.
element_layers <- function(chart, name, names) {
  lapply(chart$elements, function(element) {
    element$data$chart <- rep(factor(name, names), nrow(element$data))
    ELEMENTS[[element$kind]]$layer(element$data, element$look)
  })
}

# Returns the labels of facets: what distinguishes the charts, their responses, levels or names.
facet_names <- function(charts, by_response) {
  words <- vapply(charts, function(chart) {
    if (by_response) return(chart$y)
    if (is.null(chart$strip)) return(chart$name)
    as.character(chart$strip$level)
  }, "")
  if (anyDuplicated(words) && !is.null(charts[[1L]]$strip)) {
    words <- paste(words, vapply(charts, `[[`, "", "name"), sep = ": ")
  }
  make.unique(words, " ")
}

# Returns nothing to be seen at the limits of a chart, which gives them to its facet.
limits_layer <- function(chart, name, names) {
  ends <- data.frame(x = chart$xlim, y = chart$ylim, chart = factor(name, names))
  if (chart$frame == "l") list(ggplot2::geom_blank(mapped(x = "x", y = "y"), ends))
}

# Returns the limits that all charts share along "xlim" or "ylim", or NULL.
shared_limits <- function(charts, name) {
  limits <- unique(lapply(unname(charts), function(chart) as.double(chart[[name]])))
  if (length(limits) == 1L) limits[[1L]]
}

free_scales <- function(charts) {
  free <- vapply(c("xlim", "ylim"), function(name) is.null(shared_limits(charts, name)), NA)
  c("fixed", "free_x", "free_y", "free")[1L + sum(free * 1:2)]
}

# Limits are those of plot(), which have their margin already.
coordinates_of <- function(charts) {
  asp <- charts[[1L]]$asp
  make <- if (is.na(asp)) ggplot2::coord_cartesian
          else function(...) ggplot2::coord_fixed(asp, ...)
  make(xlim = shared_limits(charts, "xlim"), ylim = shared_limits(charts, "ylim"), expand = FALSE)
}

# Returns the scales of all elements, one for each kind that has one.
scales_of <- function(charts) {
  elements <- unlist(lapply(unname(charts), `[[`, "elements"), recursive = FALSE)
  elements <- Filter(function(element) !is.null(ELEMENTS[[element$kind]]$scale), elements)
  elements <- elements[!duplicated(vapply(elements, `[[`, "", "kind"))]
  lapply(elements, function(element) ELEMENTS[[element$kind]]$scale(element$look))
}

# Returns a scale with these ticks: `logs`, or where that is NULL `scale`. A clock has ticks inside
# whatever limits its facet has.
tick_layer <- function(logs, ticks, scale) {
  if (is.null(ticks)) return(if (!is.null(logs)) logs())
  scale <- logs %||% scale
  if (!is.null(ticks$again)) {
    return(scale(breaks = function(limits) ticks$again(limits)$at,
                 labels = function(at) tick_labels(ticks$again, at)))
  }
  labels <- ticks$labels %||% format(ticks$at)
  scale(breaks = ticks$at[nzchar(labels)], labels = labels[nzchar(labels)])
}

# Returns the labels of ticks of a clock, those outside the limits being NA.
tick_labels <- function(again, at) {
  known <- again(range(at, na.rm = TRUE))
  found <- known$labels[match(at, known$at)]
  ifelse(is.na(at) | !is.na(found), found, "")
}

# Returns a legend of the key's items, by points that are nowhere. The lines of a map carry their
# values.
key_layers <- function(chart) {
  key <- chart$key
  if (chart$frame == "o") key <- Filter(function(item) item$kind == "point", key)
  titles <- vapply(key, function(item) item$kind == "title", NA)
  name <- if (any(titles)) sub(":$", "", key[[which(titles)[1L]]]$label)
  key <- key[!titles]
  if (length(key) == 0L) return(NULL)
  label <- vapply(key, `[[`, "", "label")
  items <- data.frame(x = NA_real_, y = NA_real_, label = factor(label, label))
  each <- function(field) unlist(lapply(key, `[[`, field))
  look <- list(shape = each("pch"), fill = each("col"), linetype = each("lty"), kind = each("kind"))
  list(ggplot2::geom_point(mapped(x = "x", y = "y", colour = "label"), items, na.rm = TRUE,
                           show.legend = c(colour = TRUE, alpha = FALSE), key_glyph = key_symbol),
       ggplot2::scale_colour_manual(values = vapply(key, `[[`, "", "col"), name = name,
                                    guide = ggplot2::guide_legend(override.aes = look)))
}

# Draws an item of a legend as the key of base graphics has it: a line, a band, a tick or a point.
key_symbol <- function(data, params, size) {
  draw <- switch(data$kind, line = "path", band = "rect", tick = "vpath", "point")
  if (draw != "point") data$linewidth <- 0.7
  getExportedValue("ggplot2", paste0("draw_key_", draw))(data, params, size)
}
