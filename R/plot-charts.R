# Charts: panels of elements that base graphics and ggplot2 both draw, from one description. A type
# of picture that consists of charts names the function that makes them (new_plot_type()) and draws
# nothing itself.

# Describes a panel.
#   title      words above it, which tell it from the others of a page
#   elements   a list of new_element() and NULL, drawn in this order
#   x, y       labels of the axes
#   xlim, ylim its limits
#   ticks      list(x, y): ticks of an axis, list(at, labels), or NULL
#   key        list of key_item() and NULL
new_chart <- function(title, elements, x, y, xlim, ylim, ticks = list(), key = list()) {
  list(title = title, elements = Filter(Negate(is.null), elements), x = x, y = y, xlim = xlim,
       ylim = ylim, ticks = ticks, key = Filter(Negate(is.null), key))
}

# Describes an element. ...: columns of its data, named in ELEMENTS; look: constants of
# graphics::par(), one for all or one for each row.
new_element <- function(kind, look, ...) list(kind = kind, data = data.frame(...), look = look)

# Describes rows of the data as points.
row_points <- function(x, y, fill, style, size = style$cex %||% row_size(length(x))) {
  new_element("points", list(fill = fill, pch = style$pch %||% 21, size = size), x = x, y = y)
}

# Every kind of element by base graphics (`draw`) and by ggplot2 (`layer`); d: data, l: look
#   band     from lwr to upr along x
#   line     through x, y
#   bars     from x, y to x1, y1
#   boxes    with these corners
#   rules    across the panel, through y where x is 0, of a slope and a line type
#   points   at x, y, with the look of draw_rows()
#   names    label beside x, y, at the side pos; x = -Inf: the left end of the panel
#   ticks    at x, on the lower edge
#   upright  lines across the panel at x
#   lanes    points on the left edge at y, no larger than a lane of that width
#   hanging  ticks with a label at the top, the first ones first, as many as there is room for
ELEMENTS <- list(
  band = list(
    draw = function(d, l) draw_band(d$x, d$lwr, d$upr, l$col),
    layer = function(d, l) {
      ggplot2::geom_ribbon(mapped(x = "x", ymin = "lwr", ymax = "upr"), d, fill = l$col)
    }
  ),
  line = list(
    draw = function(d, l) do.call(lines, c(d, l)),
    layer = function(d, l) {
      if (nrow(d) > 1L) layer_of(ggplot2::geom_path, mapped(x = "x", y = "y"), d, l)
    }
  ),
  bars = list(
    draw = function(d, l) do.call(segments, c(list(d$x, d$y, d$x1, d$y1, lend = 1), l)),
    layer = function(d, l) {
      layer_of(ggplot2::geom_segment, mapped(x = "x", y = "y", xend = "x1", yend = "y1"), d, l)
    }
  ),
  boxes = list(
    draw = function(d, l) rect(d$x, d$y, d$x1, d$y1, col = l$col, border = "white", lwd = 0.7),
    layer = function(d, l) {
      ggplot2::geom_rect(mapped(xmin = "x", ymin = "y", xmax = "x1", ymax = "y1"), d,
                         fill = l$col, colour = "white", linewidth = 0.2)
    }
  ),
  rules = list(
    draw = function(d, l) Map(graphics::abline, d$y, d$slope, lty = d$lty, col = l$col),
    layer = function(d, l) {
      ggplot2::geom_abline(mapped(intercept = "y", slope = "slope"), d, linetype = d$lty,
                           colour = l$col, linewidth = 0.3)
    }
  ),
  points = list(
    draw = function(d, l) do.call(draw_rows, c(d[c("x", "y")], l)),
    layer = function(d, l) {
      edge <- ifelse(l$pch %in% 21:25, l$edge %||% "white", l$fill)
      ggplot2::geom_point(mapped(x = "x", y = "y"), d, shape = l$pch, colour = edge,
                          fill = l$fill, size = 2.5 * l$size, stroke = 0.4)
    }
  ),
  names = list(
    draw = function(d, l) {
      text(pmax(d$x, par("usr")[1L]), d$y, d$label, pos = d$pos, offset = 0.4, col = INK,
           cex = l$cex, xpd = NA)
    },
    layer = function(d, l) {
      ggplot2::geom_text(mapped(x = "x", y = "y", label = "label"), d, colour = INK, size = 3,
                         hjust = ifelse(d$pos == 2, 1.1, -0.1))
    }
  ),
  ticks = list(
    draw = function(d, l) {
      usr <- par("usr")
      segments(d$x, usr[3L], d$x, usr[3L] + 0.035 * (usr[4L] - usr[3L]), col = INK, lwd = l$lwd,
               lend = 1)
    },
    layer = function(d, l) {
      ggplot2::geom_rug(mapped(x = "x"), d, sides = "b", colour = INK, linewidth = l$lwd / 3)
    }
  ),
  upright = list(
    draw = function(d, l) graphics::abline(v = d$x, col = "grey60", lty = 3),
    layer = function(d, l) {
      ggplot2::geom_vline(mapped(xintercept = "x"), d, colour = "grey60", linetype = 3)
    }
  ),
  lanes = list(
    draw = function(d, l) {
      inches <- abs(diff(graphics::grconvertY(c(0, l$width), "user", "inches")))
      draw_rows(rep(par("usr")[1L], nrow(d)), d$y, l$fill, l$pch,
                min(0.9, 1.5 * inches / par("csi")), xpd = NA)
    },
    layer = function(d, l) {
      ggplot2::geom_point(mapped(y = "y"), d, x = -Inf, shape = l$pch, fill = l$fill,
                          colour = "white")
    }
  ),
  hanging = list(
    draw = function(d, l) draw_hanging(d),
    layer = function(d, l) {
      ggplot2::geom_text(mapped(x = "x", label = "label"), d, y = Inf, vjust = 1.5, size = 3,
                         colour = "grey35", check_overlap = TRUE)
    }
  )
)

# Returns a layer of lines with the look that base graphics would give them.
layer_of <- function(geom, mapping, data, look) {
  names <- c(col = "colour", lwd = "linewidth", lty = "linetype")
  look$lwd <- (look$lwd %||% 1) / 3
  do.call(geom, c(list(mapping, data), stats::setNames(look, names[names(look)])))
}

draw_hanging <- function(d) {
  usr <- par("usr")
  height <- usr[4L] - usr[3L]
  wide <- graphics::strwidth(d$label, cex = 0.75)
  taken <- integer()
  for (i in which(d$x - wide / 2 > min(usr[1:2]) & d$x + wide / 2 < max(usr[1:2]))) {
    if (all(abs(d$x[i] - d$x[taken]) > 0.6 * (wide[i] + wide[taken]))) taken <- c(taken, i)
  }
  if (length(taken) == 0L) return(invisible())
  segments(d$x[taken], usr[4L], y1 = usr[4L] - 0.02 * height, col = INK)
  text(d$x[taken], usr[4L] - 0.06 * height, d$label[taken], cex = 0.75, col = "grey35")
}

# Draws charts on a page of so many rows; the title `main` stands above the first.
draw_charts <- function(charts, style, rows = NULL) {
  on_one_page(length(charts), function() {
    for (chart in charts) {
      open_panel(style$xlim %||% chart$xlim, style$ylim %||% chart$ylim, style$asp)
      for (element in chart$elements) {
        if (nrow(element$data)) ELEMENTS[[element$kind]]$draw(element$data, element$look)
      }
      close_panel(style, chart$x, chart$y, x = chart$ticks$x, y = chart$ticks$y)
      draw_heading(style, chart$key, chart$title)
      style$main <- NULL
    }
  }, rows = rows)
}

# The style of charts by ggplot2, which draws its own legends
AUTO <- list(las = 1, axes = TRUE, ann = TRUE, lwd = 2, legend = FALSE)

# Returns one ggplot, with a facet for each chart if there are several, in so many rows. Charts of
# different responses are named by these.
chart_layers <- function(charts, rows = NULL) {
  field <- function(name) vapply(charts, `[[`, "", name)
  several <- length(charts) > 1L
  same <- length(unique(lapply(charts, `[`, c("xlim", "ylim")))) == 1L
  by_response <- several && !anyDuplicated(field("y"))
  titles <- make.unique(field(if (by_response) "y" else "title"), " ")
  layers <- Map(function(chart, title) {
    lapply(chart$elements, function(element) {
      element$data$chart <- rep(factor(title, titles), nrow(element$data))
      ELEMENTS[[element$kind]]$layer(element$data, element$look)
    })
  }, charts, titles)
  ticks <- charts[[1L]]$ticks
  ggplot2::ggplot() + unlist(unname(layers), recursive = FALSE) + key_layers(charts[[1L]]$key) +
    tick_layer(ggplot2::scale_x_continuous, ticks$x) +
    tick_layer(ggplot2::scale_y_continuous, ticks$y) +
    (if (several) ggplot2::facet_wrap("chart", scales = if (same) "fixed" else "free", nrow = rows)
     else ggplot2::labs(caption = wrapped(titles))) +
    ggplot2::labs(x = toString(unique(field("x"))),
                  y = if (!by_response) toString(unique(field("y"))))
}

tick_layer <- function(scale, ticks) {
  if (is.null(ticks)) return(NULL)
  labels <- ticks$labels %||% format(ticks$at)
  scale(breaks = ticks$at[nzchar(labels)], labels = labels[nzchar(labels)])
}

# Returns a legend of the key's colours, by points that are nowhere.
key_layers <- function(key) {
  if (length(key) == 0L) return(NULL)
  label <- vapply(key, `[[`, "", "label")
  items <- data.frame(x = NA_real_, y = NA_real_, label = factor(label, label))
  look <- list(shape = vapply(key, `[[`, 0, "pch"))
  list(ggplot2::geom_point(mapped(x = "x", y = "y", colour = "label"), items, na.rm = TRUE,
                           show.legend = TRUE),
       ggplot2::scale_colour_manual(values = vapply(key, `[[`, "", "col"), name = NULL,
                                    guide = ggplot2::guide_legend(override.aes = look)))
}
