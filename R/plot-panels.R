# The panels plot() draws, and the pieces they share. Every panel is one figure in which par() stays
# as it was: a caller's par(mfrow) or layout() holds, and points(), lines() or legend() can add.

PLOT_ARGUMENTS <- c(
  "xlab", "ylab", "main", "sub", "xlim", "ylim", "las", "bty", "axes", "ann", "cex.axis",
  "cex.lab", "cex.main", "pch", "cex", "col", "lwd", "asp", "legend", "log"
)

plot_style <- function(...) {
  given <- Filter(Negate(is.null), list(...))
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  unknown <- setdiff(names, PLOT_ARGUMENTS)
  if (length(unknown)) {
    stop_unknown(unknown, paste0("Use one of ", toString(PLOT_ARGUMENTS)))
  }
  for (name in intersect(c("xlim", "ylim"), names)) {
    if (inherits(given[[name]], c("Date", "POSIXct"))) given[[name]] <- as.double(given[[name]])
    check_limits(given[[name]], name)
  }
  if ("asp" %in% names) check_number(given$asp, "asp", 0)
  if ("legend" %in% names) check_flag(given$legend, "legend")
  if ("log" %in% names) given$log <- is_log_axis(given$log)
  defaults <- list(las = 1, axes = TRUE, ann = TRUE, cex.axis = 0.9, cex.lab = 1, cex.main = 1.1,
                   lwd = 2, asp = NA, legend = TRUE)
  utils::modifyList(defaults, given)
}

# Is the horizontal axis to be logarithmic?
is_log_axis <- function(log) {
  if (identical(log, "x") || identical(log, "")) return(log == "x")
  stop_sparsegp("log", "must be \"x\"",
                paste("For a response on a logarithmic scale fit its logarithm,",
                      "as in log(y) ~ x"))
}

check_limits <- function(x, argument) {
  good <- is.numeric(x) && length(x) == 2L && all(is.finite(x)) && x[1L] != x[2L]
  if (!good) stop_sparsegp(argument, "must be two different finite numbers")
}

# ---- Pieces ----

open_panel <- function(xlim, ylim, asp = NA, log = "") {
  graphics::plot.new()
  graphics::plot.window(xlim, ylim, log, asp = asp, xaxs = "i", yaxs = "i")
}

# Returns the left end of a panel as a place along its axis.
left_end <- function() if (par("xlog")) 10^par("usr")[1L] else par("usr")[1L]

# Letters of a page of several figures, beside those of one: axes and keys have 9 points then.
PAGE_CEX <- 0.84

is_free_page <- function() all(par("mfrow") == 1L)

# Several figures by one call: all on one page, closer together than pages are, and par() then as it
# was; unless the caller has a layout, in which they go on. rows: of the page; NULL: so many that
# figures are about as high as wide.
on_one_page <- function(count, draw, rows = NULL) {
  if (count > 1L && is_free_page()) {
    size <- par("din")
    if (is.null(rows)) rows <- max(1, ceiling(sqrt(count * size[2L] / size[1L]) - 0.35))
    old <- par(mfrow = c(rows, ceiling(count / rows)), cex = PAGE_CEX, mar = c(3.6, 4.1, 2.9, 1.1))
    on.exit(par(old))
  }
  draw()
}

# Figures below each other on one page, whose panels have heights in these proportions inside their
# margins (in lines); par() is then as it was.
on_stacked_page <- function(margins, heights, draw) {
  old <- par(mfrow = c(1L, 1L), cex = par("cex"), mar = par("mar"))
  on.exit(par(old))
  line <- par("csi") * PAGE_CEX
  edges <- vapply(margins, function(mar) sum(mar[c(1L, 3L)]) * line, 0)
  room <- max(par("din")[2L] - sum(edges), 0.25 * par("din")[2L])
  graphics::layout(matrix(seq_along(heights)), heights = edges + room * heights / sum(heights))
  par(cex = PAGE_CEX)
  draw()
}

# Axes, frame and labels. x, y: list(at, labels), ticks that are not those of numbers, or not of all
# of the axis.
close_panel <- function(style, xlab, ylab, bty = "l", x = NULL, y = NULL) {
  if (style$axes) {
    draw_axis(1L, x$at, x$labels, style)
    draw_axis(2L, y$at, y$labels, style)
    box(bty = style$bty %||% bty, col = on_page(INK, style$page))
  }
  label_axes(style, xlab, ylab, y$labels %||% y$at %||% graphics::axTicks(2L))
}

draw_axis <- function(side, at, labels, style) {
  axis(side, at, if (is.null(labels)) TRUE else labels, las = style$las,
       cex.axis = style$cex.axis, tcl = -0.3, mgp = c(3, if (side == 1L) 0.5 else 0.6, 0),
       col = NA, col.ticks = on_page(INK, style$page),
       col.axis = label_colour("col.axis", style$page))
}

# The vertical label stands clear of the widest horizontal tick label, as far as the margin goes.
label_axes <- function(style, xlab, ylab, y_at) {
  if (!style$ann) return(invisible())
  col <- label_colour("col.lab", style$page)
  title(xlab = style$xlab %||% xlab, line = min(2.1, par("mar")[1L] - 1.1),
        cex.lab = style$cex.lab, col.lab = col)
  if (!is.expression(y_at)) y_at <- format(y_at)
  wide <- max(graphics::strwidth(y_at, "inches", cex = style$cex.axis)) / par("csi")
  line <- max(2.1, if (style$las %in% 1:2) 1.35 + wide else 0)
  title(ylab = style$ylab %||% ylab, line = min(line, par("mar")[2L] - 1.1),
        cex.lab = style$cex.lab, col.lab = col)
}

# ---- Above the panel: a key, next to the panel, then words, then the title ----

key_item <- function(label, kind, col, pch = 16, lwd = 2, lty = 1) {
  list(label = label, kind = kind, col = col, pch = pch, lwd = lwd, lty = lty)
}

# Returns the title of the items after it, which ggplot2 has as the name of its legend.
key_title <- function(label) key_item(paste0(label, ":"), "title", INK)

# Draws the heading, and again when the picture is replayed on a device of another size, as its
# places are in inches.
draw_heading <- function(style, key = list(), caption = "", strip = NULL) {
  if (!style$ann) return(invisible())
  grDevices::recordGraphics(draw_heading_now(style, key, caption, strip),
                            list(style = style, key = key, caption = caption, strip = strip),
                            topenv())
}

# Shortens words that the margin has no room for, and of the key leaves out its last items.
draw_heading_now <- function(style, key, caption, strip) {
  heading <- heading_room(style, strip)
  key <- if (style$legend) Filter(Negate(is.null), key)
  at <- key_layout(key, heading$cex, heading$width)
  key <- key[at$row <= heading$rows]
  at <- lapply(at, `[`, at$row <= heading$rows)
  of_key <- max(at$row, 0L)
  if (of_key > 0L) draw_key(key, at, heading, on_page(INK, style$page))
  words <- style$sub %||% caption
  words <- if (nzchar(words)) wrap_words(words, heading$cex, heading$width)
  words <- heading_lines(words, heading$rows - of_key)
  used <- of_key + length(words)
  for (i in seq_along(words)) {
    draw_above(0, heading$base + (used - i + 0.5) * heading$line, words[i], heading$cex,
               on_page("grey35", style$page))
  }
  if (heading$base > 0) {
    draw_above(0, 0.5 * heading$line, paste(c(nonempty(strip$name), strip$level), collapse = " = "),
               heading$cex, on_page(INK, style$page), font = if (nzchar(strip$name)) 2 else 1)
  }
  if (!is.null(style$main)) {
    title(main = style$main, adj = 0, cex.main = style$cex.main,
          col.main = label_colour("col.main", style$page),
          line = (heading$base + used * heading$line) / par("csi") + 0.45)
  }
}

# Returns the size of letters, inches of a line of them, how many the top margin holds, and the
# inches that are free along a line. Letters have 9 points at least, but are not larger than those
# of the axes. The name of a strip takes the lowest line, from 0 to `base`; if it is `wide`, the
# others may reach over the next panels, which have no key.
heading_room <- function(style, strip = NULL) {
  cex <- max(0.8, min(0.9, 9 / (par("ps") * par("cex")))) * style$cex.axis / 0.9
  line <- 1.15 * cex * par("csi")
  of_strip <- !is.null(strip)
  width <- if (isTRUE(strip$wide)) par("din")[1L] - graphics::grconvertX(0, "npc", "inches")
           else par("pin")[1L]
  list(cex = cex, line = line, base = if (of_strip) line else 0, width = width,
       rows = floor((par("mai")[3L] - 0.2 * line) / line) - of_strip)
}

wrap_words <- function(words, cex, width) {
  per_inch <- nchar(words) / graphics::strwidth(words, "inches", cex = cex)
  strwrap(words, max(10, 0.95 * per_inch * width))
}

# Returns the first lines of words, at most so many; dots are in the place of what is left out.
heading_lines <- function(words, lines) {
  if (length(words) <= lines) return(words)
  words <- words[seq_len(max(lines, 0))]
  last <- length(words)
  words[last] <- paste0(sub("[[:space:],]+[^[:space:]]*$", "", words[last]), " ...")
  words
}

# Places each item of the key: inches from the left, and the row counted from the top.
key_layout <- function(key, cex, width) {
  text <- vapply(key, function(item) {
    graphics::strwidth(item$label, "inches", cex = cex)
  }, 0)
  titles <- vapply(key, function(item) item$kind == "title", NA)
  wide <- ifelse(titles, 0, 0.34) * cex + text + 0.2 * cex
  left <- row <- numeric(length(key))
  x <- 0
  now <- 1
  for (i in seq_along(key)) {
    if (x > 0 && x + wide[i] > width + 0.2 * cex) {
      x <- 0
      now <- now + 1
    }
    left[i] <- x
    row[i] <- now
    x <- x + wide[i]
  }
  list(left = left, row = row)
}

draw_key <- function(key, at, heading, ink) {
  cex <- heading$cex
  line <- heading$line
  for (i in seq_along(key)) {
    item <- key[[i]]
    x <- above_x(at$left[i] + c(0, 0.13, 0.26) * cex)
    middle <- heading$base + (max(at$row) - at$row[i] + 0.5) * line
    y <- above_y(middle + c(-0.3, 0, 0.3) * line)
    switch(
      item$kind,
      line = lines(x[c(1L, 3L)], y[c(2L, 2L)], col = item$col, lwd = item$lwd, lty = item$lty,
                   lend = 1, xpd = NA),
      band = rect(x[1L], y[1L], x[3L], y[3L], col = item$col, border = NA, xpd = NA),
      point = points(x[2L], y[2L], pch = item$pch, col = item$col, bg = item$col, cex = cex,
                     xpd = NA),
      tick = segments(x[2L], y[1L], x[2L], y[3L], col = item$col, lwd = item$lwd, lend = 1,
                      xpd = NA)
    )
    symbol <- if (item$kind == "title") 0 else 0.34
    draw_above(at$left[i] + symbol * cex, middle, item$label, cex, ink)
  }
}

above_x <- function(inches) {
  graphics::grconvertX(graphics::grconvertX(0, "npc", "inches") + inches, "inches", "user")
}

above_y <- function(inches) {
  base <- graphics::grconvertY(1, "npc", "inches") + 0.2 * par("csi")
  graphics::grconvertY(base + inches, "inches", "user")
}

draw_above <- function(x, y, words, cex, col, ...) {
  text(above_x(x), above_y(y), words, adj = c(0, 0.5), cex = cex, col = col, xpd = NA, ...)
}

# ---- Rows ----

# Many rows are drawn small and pale
row_alpha <- function(n) min(0.85, max(0.15, 0.85 * (150 / n)^0.4))

row_size <- function(n) min(1, max(0.4, (300 / n)^0.25))

# Filled symbols get a thin white edge, which keeps them apart.
draw_rows <- function(x, y, fill, pch, size, edge, lwd = 0.7, ...) {
  solid <- pch %in% 21:25
  points(x, y, pch = pch, cex = size, bg = fill, col = ifelse(solid, edge, fill), lwd = lwd, ...)
}

# The least range, of numbers of size 1, of an axis or a surface: it holds a thousand different
# numbers, or places along it would coincide.
LEAST_RANGE <- 1e3 * .Machine$double.eps

stop_nothing_finite <- function() {
  stop_sparsegp("x", "has no finite values to show", "See predict(fit, type = \"link\")")
}

# Returns the range of the finite x with a margin; of one value, one to either side.
around <- function(x) {
  x <- x[is.finite(x)]
  if (length(x) == 0L) stop_nothing_finite()
  range <- range(x)
  least <- max(LEAST_RANGE * abs(range), 1e-300)
  if (diff(range) == 0) return(range + c(-1, 1) * max(1, least))
  if (diff(range) < least) return(mean(range) + c(-0.5, 0.5) * least)
  grDevices::extendrange(range, f = 0.04)
}

# Returns the range of values along an axis with a margin, but for the end at which the log scale of
# an input begins: all beyond it would be far from the data.
around_axis <- function(axis, x) {
  limits <- around(x)
  if (axis$side > 0) limits[1L] <- min(x)
  if (axis$side < 0) limits[2L] <- max(x)
  limits <- if (diff(limits) > 0) limits else around(x)
  pmin(pmax(limits, axis$within[1L]), axis$within[2L])
}
