# The elements that charts consist of (plot-charts.R).

# Every kind of element by base graphics (`draw`) and by ggplot2 (`layer`); d: data, l: look
#   band     from lwr to upr along x
#   line     through x, y
#   bars     from x, y to x1, y1
#   boxes    with these corners
#   rules    across the panel, through y where x is 0, of a slope and a line type
#   points   at x, y, with the look of draw_rows()
#   names    label beside x, y, at the side pos; x = -Inf: the left end of the panel
#   discs    at x, y, with a label of one or two letters inside
#   ticks    at x, on the lower edge
#   upright  lines across the panel at x
#   lanes    points on the left edge at y, no larger than a lane of that width
#   hanging  ticks with a label at the top, the first ones first, as many as there is room for
#   arrows   from x, y by dx, dy
# and of maps, whose data are at the nodes of a grid (plot-fill.R):
#   bands    colours between levels of z
#   contours lines at levels of z
#   mask     grey where `known` is FALSE
#   classes  the most probable class, deeper where surer; further columns: probabilities
# `look` has what an element's look need not name, `scale` returns what ggplot2 needs once for all
# elements of a kind. Colours are for white paper (plot-colours.R).
ELEMENTS <- list(
  band = list(
    draw = function(d, l) polygon(c(d$x, rev(d$x)), c(d$lwr, rev(d$upr)), col = l$col, border = NA),
    layer = function(d, l) {
      ggplot2::geom_ribbon(mapped(x = "x", ymin = "lwr", ymax = "upr"), d, fill = l$col)
    }
  ),
  line = list(
    draw = function(d, l) do.call(lines, c(d, l)),
    layer = function(d, l) {
      if (nrow(d) < 2L) return(NULL)
      layer_of(ggplot2::geom_path, mapped(x = "x", y = "y"), d, l, na.rm = TRUE)
    }
  ),
  bars = list(
    draw = function(d, l) do.call(segments, c(list(d$x, d$y, d$x1, d$y1, lend = 1), l)),
    layer = function(d, l) {
      layer_of(ggplot2::geom_segment, mapped(x = "x", y = "y", xend = "x1", yend = "y1"), d, l)
    }
  ),
  boxes = list(
    look = list(border = "white"),
    draw = function(d, l) rect(d$x, d$y, d$x1, d$y1, col = l$col, border = l$border, lwd = 0.7),
    layer = function(d, l) {
      ggplot2::geom_rect(mapped(xmin = "x", ymin = "y", xmax = "x1", ymax = "y1"), d,
                         fill = l$col, colour = l$border, linewidth = 0.2)
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
    look = list(edge = grDevices::adjustcolor("white", 0.8)),
    draw = function(d, l) do.call(draw_rows, c(d[c("x", "y")], l)),
    layer = function(d, l) {
      edge <- ifelse(l$pch %in% 21:25, l$edge, l$fill)
      ggplot2::geom_point(mapped(x = "x", y = "y"), d, shape = l$pch, colour = edge,
                          fill = l$fill, size = 2.5 * l$size, stroke = 0.4)
    }
  ),
  names = list(
    look = list(col = INK),
    draw = function(d, l) {
      text(pmax(d$x, left_end()), d$y, d$label, pos = d$pos, offset = l$offset %||% 0.4,
           col = l$col, cex = l$cex, xpd = NA)
    },
    layer = function(d, l) {
      # blanks are a distance that does not grow with the length of a name
      left <- d$pos == 2
      d$shown <- gsub("(?m)^", "  ", d$label, perl = TRUE)
      d$shown[left] <- paste0(d$shown[left], "  ")
      ggplot2::geom_text(mapped(x = "x", y = "y", label = "shown"), d, colour = l$col, size = 3,
                         hjust = as.double(left))
    }
  ),
  discs = list(
    look = list(col = INK, paper = "white"),
    draw = function(d, l) {
      points(d$x, d$y, pch = 21, cex = 2.2, bg = l$col, col = l$paper, xpd = NA)
      text(d$x, d$y, d$label, col = l$paper, cex = 0.8, font = 2, xpd = NA)
    },
    layer = function(d, l) {
      list(ggplot2::geom_point(mapped(x = "x", y = "y"), d, shape = 21, size = 5, fill = l$col,
                               colour = l$paper),
           ggplot2::geom_text(mapped(x = "x", y = "y", label = "label"), d, size = 3,
                              colour = l$paper, fontface = "bold"))
    }
  ),
  ticks = list(
    look = list(col = INK),
    draw = function(d, l) {
      ends <- par("usr")[3L] + c(0, 0.035) * diff(par("usr")[3:4])
      if (par("ylog")) ends <- 10^ends
      segments(d$x, ends[1L], d$x, ends[2L], col = l$col, lwd = l$lwd, lend = 1)
    },
    layer = function(d, l) {
      ggplot2::geom_rug(mapped(x = "x"), d, sides = "b", colour = l$col, linewidth = l$lwd / 3)
    }
  ),
  upright = list(
    look = list(col = "grey60"),
    draw = function(d, l) graphics::abline(v = d$x, col = l$col, lty = 3),
    layer = function(d, l) {
      ggplot2::geom_vline(mapped(xintercept = "x"), d, colour = l$col, linetype = 3)
    }
  ),
  lanes = list(
    look = list(edge = "white"),
    draw = function(d, l) {
      inches <- abs(diff(graphics::grconvertY(c(0, l$width), "user", "inches")))
      draw_rows(rep(left_end(), nrow(d)), d$y, l$fill, l$pch,
                min(0.9, 1.5 * inches / par("csi")), l$edge, xpd = NA)
    },
    layer = function(d, l) {
      ggplot2::geom_point(mapped(y = "y"), d, x = -Inf, shape = l$pch, fill = l$fill,
                          colour = l$edge)
    }
  ),
  hanging = list(
    look = list(col = "grey35", ink = INK),
    draw = function(d, l) draw_hanging(d, l$col, l$ink),
    layer = function(d, l) {
      ggplot2::geom_text(mapped(x = "x", label = "label"), d, y = Inf, vjust = 1.5, size = 3,
                         colour = l$col, check_overlap = TRUE)
    }
  ),
  arrows = list(
    draw = function(d, l) draw_arrows(d[c("x", "y")], d[c("dx", "dy")], l$col, l$lwd),
    layer = function(d, l) {
      d <- transform(d, dx = d$x + d$dx, dy = d$y + d$dy)
      ggplot2::geom_segment(mapped(x = "x", y = "y", xend = "dx", yend = "dy"),
                            d[stats::complete.cases(d), ], colour = l$col, linewidth = l$lwd / 3,
                            arrow = ggplot2::arrow(25, ggplot2::unit(0.05, "inches")))
    }
  ),
  bands = list(draw = function(d, l) fill_bands(grid_of(d), l$levels, l$colours),
               layer = function(d, l) band_layers(d, l$levels), scale = function(l) band_scale(l)),
  contours = list(look = list(paper = "white"),
                  draw = function(d, l) {
                    do.call(draw_contours, c(list(grid_of(d)), l[names(l) != "paper"]))
                  },
                  layer = function(d, l) do.call(contour_layers, c(list(d), l))),
  mask = list(look = list(fill = MASK, edge = "grey70"),
              draw = function(d, l) mask_unknown(grid_of(d, "known"), l$fill, l$edge),
              layer = function(d, l) mask_layers(d, l$fill, l$edge)),
  classes = list(look = list(paper = "white", faint = "grey35", ink = INK),
                 draw = function(d, l) paint_classes(grid_of(d, prob_columns(l$levels)), l),
                 layer = function(d, l) class_layers(d, l$levels, l$paper),
                 scale = function(l) class_scales(l))
)

# Captions are not broken by ggplot2, and are cut off at the edge of the page.
wrapped <- function(words) {
  words <- nonempty(words)
  if (length(words)) paste(strwrap(words, 60L), collapse = "\n")
}

# Returns a layer of lines with the look that base graphics would give them.
layer_of <- function(geom, mapping, data, look, ...) {
  names <- c(col = "colour", lwd = "linewidth", lty = "linetype")
  look$lwd <- (look$lwd %||% 1) / 3
  do.call(geom, c(list(mapping, data, ...), stats::setNames(look, names[names(look)])))
}

draw_hanging <- function(d, col, ink) {
  usr <- par("usr")
  height <- usr[4L] - usr[3L]
  wide <- graphics::strwidth(d$label, cex = 0.75)
  taken <- integer()
  for (i in which(d$x - wide / 2 > min(usr[1:2]) & d$x + wide / 2 < max(usr[1:2]))) {
    if (all(abs(d$x[i] - d$x[taken]) > 0.6 * (wide[i] + wide[taken]))) taken <- c(taken, i)
  }
  if (length(taken) == 0L) return(invisible())
  segments(d$x[taken], usr[4L], y1 = usr[4L] - 0.02 * height, col = ink)
  text(d$x[taken], usr[4L] - 0.06 * height, d$label[taken], cex = 0.75, col = col)
}

# Arrows from places, and dots where they would be too short for R to draw.
draw_arrows <- function(from, by, col, lwd) {
  known <- !is.na(rowSums(by))
  from <- as.matrix(from)[known, , drop = FALSE]
  by <- as.matrix(by)[known, , drop = FALSE]
  size <- sqrt((by[, 1L] * par("pin")[1L] / diff(par("usr")[1:2]))^2 +
                 (by[, 2L] * par("pin")[2L] / diff(par("usr")[3:4]))^2)
  long <- size > 0.01 # inches
  points(from[!long, , drop = FALSE], pch = 16, cex = 0.25, col = col)
  if (!any(long)) return(invisible())
  graphics::arrows(from[long, 1L], from[long, 2L], from[long, 1L] + by[long, 1L],
                   from[long, 2L] + by[long, 2L], length = 0.05, angle = 25, col = col, lwd = lwd)
}
