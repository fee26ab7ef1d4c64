# Charts: panels of elements that base graphics and ggplot2 both draw, from one description. A type
# of picture that consists of charts names the function that makes them (new_plot_type()) and draws
# nothing itself.

# Describes a panel.
#   title      above it, and what tells it from the others of a page
#   elements   a list of new_element(), drawn in this order
#   x, y       labels of the axes
#   xlim, ylim its limits
#   lanes      places along the vertical axis that have ticks and no numbers, or NULL
#   key        list of key_item(); base graphics only
new_chart <- function(title, elements, x, y, xlim, ylim, lanes = NULL, key = list()) {
  list(title = title, elements = elements, x = x, y = y, xlim = xlim, ylim = ylim, lanes = lanes,
       key = key)
}

# Describes an element. data: its columns are named in ELEMENTS; look: constants of
# graphics::par(), which ELEMENTS turns into those of ggplot2.
new_element <- function(kind, data, look) list(kind = kind, data = data, look = look)

# Every kind of element by base graphics (`draw`) and by ggplot2 (`layer`); d: data, l: look
#   bars     from lwr to upr at the height y
#   points   at x, y; filled with `bg`
#   names    label, at the left end of the panel at the height y
ELEMENTS <- list(
  bars = list(
    draw = function(d, l) segments(d$lwr, d$y, d$upr, col = l$col, lwd = l$lwd, lend = 1),
    layer = function(d, l) {
      ggplot2::geom_linerange(mapped(y = "y", xmin = "lwr", xmax = "upr"), d, colour = l$col,
                              linewidth = l$lwd / 4)
    }
  ),
  points = list(
    draw = function(d, l) points(d$x, d$y, pch = 21, col = l$col, bg = l$bg, cex = 1.1 * l$cex),
    layer = function(d, l) {
      ggplot2::geom_point(mapped(x = "x", y = "y"), d, shape = 21, colour = l$col, fill = l$bg,
                          size = 2.5 * l$cex)
    }
  ),
  names = list(
    draw = function(d, l) {
      text(par("usr")[1L], d$y, paste0(" ", d$label), adj = c(0, 0.5), col = l$col, cex = 0.8)
    },
    layer = function(d, l) {
      ggplot2::geom_text(mapped(y = "y", label = "label"), d, x = -Inf, hjust = -0.05,
                         colour = l$col, size = 3)
    }
  )
)

draw_charts <- function(charts, style) {
  on_one_page(length(charts), function() for (chart in charts) draw_chart(chart, style))
}

draw_chart <- function(chart, style) {
  open_panel(style$xlim %||% chart$xlim, style$ylim %||% chart$ylim, style$asp)
  for (element in chart$elements) ELEMENTS[[element$kind]]$draw(element$data, element$look)
  lanes <- chart$lanes
  close_panel(style, chart$x, chart$y,
              y = if (length(lanes)) list(at = lanes, labels = rep("", length(lanes))))
  draw_heading(style, chart$key, chart$title)
}

# Returns one ggplot, with a facet for each chart if there are several.
chart_layers <- function(charts) {
  titles <- make.unique(vapply(charts, `[[`, "", "title"), " ")
  layers <- lapply(seq_along(charts), function(i) {
    lapply(charts[[i]]$elements, function(element) {
      data <- cbind(element$data, chart = rep(factor(titles[i], titles), nrow(element$data)))
      ELEMENTS[[element$kind]]$layer(data, element$look)
    })
  })
  first <- charts[[1L]]
  bare <- ggplot2::theme(axis.text.y = ggplot2::element_blank(),
                         axis.ticks.y = ggplot2::element_blank())
  ggplot2::ggplot() + unlist(layers, recursive = FALSE) + (if (length(first$lanes)) bare) +
    ggplot2::facet_wrap("chart", scales = "free") + ggplot2::labs(x = first$x, y = first$y)
}
