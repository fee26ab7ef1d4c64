# The panels plot() draws, and the pieces they share. Every panel is one figure in which par() stays
# as it was: a caller's par(mfrow) or layout() holds, and points(), lines() or legend() can add.

# Okabe and Ito's colours, which people with colour-blindness can tell apart
BLUE <- "#0072B2"

ORANGE <- "#D55E00"

INK <- "grey20"

PLOT_ARGUMENTS <- c(
  "xlab", "ylab", "main", "sub", "xlim", "ylim", "las", "bty", "axes", "ann", "cex.axis",
  "cex.lab", "cex.main", "pch", "cex", "col", "lwd"
)

plot_style <- function(...) {
  given <- Filter(Negate(is.null), list(...))
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  unknown <- setdiff(names, PLOT_ARGUMENTS)
  if (length(unknown)) {
    unknown[unknown == ""] <- "an unnamed argument"
    stop_sparsegp("...", paste0("holds what this plot does not know: ", toString(unknown)),
                  paste0("It knows ", toString(PLOT_ARGUMENTS)))
  }
  for (name in intersect(c("xlim", "ylim"), names)) {
    if (inherits(given[[name]], c("Date", "POSIXct"))) given[[name]] <- as.double(given[[name]])
    check_limits(given[[name]], name)
  }
  defaults <- list(las = 1, axes = TRUE, ann = TRUE, cex.axis = 0.9, cex.lab = 1, cex.main = 1.1,
                   lwd = 2)
  utils::modifyList(defaults, given)
}

check_limits <- function(x, argument) {
  good <- is.numeric(x) && length(x) == 2L && all(is.finite(x)) && x[1L] != x[2L]
  if (!good) stop_sparsegp(argument, "must be two different finite numbers")
}

or_else <- function(given, default) if (is.null(given)) default else given

# ---- Pieces ----

open_panel <- function(xlim, ylim) {
  graphics::plot.new()
  graphics::plot.window(xlim, ylim, xaxs = "i", yaxs = "i")
}

# Axes, frame and labels. x, y: list(at, labels), ticks that are not those of numbers, or not of all
# of the axis.
close_panel <- function(style, xlab, ylab, bty = "l", x = NULL, y = NULL) {
  if (style$axes) {
    draw_axis(1L, x$at, x$labels, style)
    draw_axis(2L, y$at, y$labels, style)
    box(bty = or_else(style$bty, bty), col = INK)
  }
  label_axes(style, xlab, ylab, or_else(or_else(y$labels, y$at), graphics::axTicks(2L)))
}

draw_axis <- function(side, at, labels, style) {
  axis(side, at, if (is.null(labels)) TRUE else labels, las = style$las,
       cex.axis = style$cex.axis, tcl = -0.3, mgp = c(3, if (side == 1L) 0.5 else 0.6, 0),
       col = NA, col.ticks = INK)
}

# The vertical label stands clear of the widest horizontal tick label, as far as the margin goes.
label_axes <- function(style, xlab, ylab, y_at) {
  if (!style$ann) return(invisible())
  title(xlab = or_else(style$xlab, xlab), line = min(2.1, par("mar")[1L] - 1.1),
        cex.lab = style$cex.lab)
  wide <- max(graphics::strwidth(format(y_at), "inches", cex = style$cex.axis)) / par("csi")
  line <- max(2.1, if (style$las %in% 1:2) 1.35 + wide else 0)
  title(ylab = or_else(style$ylab, ylab), line = min(line, par("mar")[2L] - 1.1),
        cex.lab = style$cex.lab)
}

# ---- Above the panel: a key, next to the panel, then words, then the title ----

key_item <- function(label, kind, col, pch = 16, lwd = 2, lty = 1) {
  list(label = label, kind = kind, col = col, pch = pch, lwd = lwd, lty = lty)
}

# Left out from the top where the margin has no room for it.
draw_heading <- function(style, key = list(), caption = "") {
  if (!style$ann) return(invisible())
  heading <- heading_room(style)
  cex <- heading$cex
  line <- heading$line
  room <- heading$rows
  key <- Filter(Negate(is.null), key)
  at <- key_layout(key, cex, par("pin")[1L])
  words <- or_else(style$sub, caption)
  words <- if (nzchar(words)) wrap_words(words, cex, par("pin")[1L])
  if (max(at$row, 0L) <= room) draw_key(key, at, cex, line)
  used <- max(at$row, 0L) + length(words)
  if (used <= room) {
    for (i in seq_along(words)) draw_above(0, (used - i + 0.5) * line, words[i], cex, "grey35")
  } else {
    used <- max(at$row, 0L)
  }
  if (!is.null(style$main)) {
    title(main = style$main, adj = 0, cex.main = style$cex.main,
          line = used * line / par("csi") + 0.45)
  }
}

# Size of letters, inches of a line of them, and how many the top margin holds.
heading_room <- function(style) {
  cex <- 0.8 * style$cex.axis / 0.9
  line <- 1.15 * cex * par("csi")
  list(cex = cex, line = line, rows = floor((par("mai")[3L] - 0.2 * line) / line))
}

wrap_words <- function(words, cex, width) {
  per_inch <- nchar(words) / graphics::strwidth(words, "inches", cex = cex)
  strwrap(words, max(10, 0.95 * per_inch * width))
}

# Where each item of the key goes: inches from the left, and the row counted from the top.
key_layout <- function(key, cex, width) {
  text <- vapply(key, function(item) {
    graphics::strwidth(item$label, "inches", cex = cex)
  }, 0)
  wide <- 0.34 * cex + text + 0.2 * cex
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

draw_key <- function(key, at, cex, line) {
  for (i in seq_along(key)) {
    item <- key[[i]]
    x <- above_x(at$left[i] + c(0, 0.13, 0.26) * cex)
    middle <- (max(at$row) - at$row[i] + 0.5) * line
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
    draw_above(at$left[i] + 0.34 * cex, middle, item$label, cex, INK)
  }
}

above_x <- function(inches) {
  graphics::grconvertX(graphics::grconvertX(0, "npc", "inches") + inches, "inches", "user")
}

above_y <- function(inches) {
  base <- graphics::grconvertY(1, "npc", "inches") + 0.2 * par("csi")
  graphics::grconvertY(base + inches, "inches", "user")
}

draw_above <- function(x, y, words, cex, col) {
  text(above_x(x), above_y(y), words, adj = c(0, 0.5), cex = cex, col = col, xpd = NA)
}

# ---- Rows ----

# Many rows are drawn small and pale
row_alpha <- function(n) min(0.85, max(0.15, 0.85 * (150 / n)^0.4))

row_size <- function(n) min(1, max(0.4, (300 / n)^0.25))

# Filled symbols get a thin white edge, which keeps them apart.
draw_rows <- function(x, y, fill, pch, size, edge = grDevices::adjustcolor("white", 0.8), ...) {
  solid <- pch %in% 21:25
  points(x, y, pch = pch, cex = size, bg = fill, col = ifelse(solid, edge, fill), lwd = 0.7, ...)
}

draw_basis_ticks <- function(basis) {
  if (is.null(basis)) return(invisible())
  usr <- par("usr")
  segments(basis, usr[3L], basis, usr[3L] + 0.035 * (usr[4L] - usr[3L]), col = INK, lwd = 1.2,
           lend = 1)
}

draw_band <- function(x, lwr, upr, col) {
  polygon(c(x, rev(x)), c(lwr, rev(upr)), col = col, border = NA)
}

# ---- One input ----

plot_curve <- function(object, rows, view, level, n, style) {
  curve <- slice_curve(object, rows, view, n, style)
  drawn <- curve_answer(object, curve$latent, level)
  drawn <- cbind(stats::setNames(data.frame(curve$at), view$axes), drawn)
  draw <- if (has_classes(object)) draw_probability else draw_regression
  draw(object, rows, view, drawn, curve$xlim, level, style)
  drawn
}

# The points along the axis, and latent moments there.
slice_curve <- function(object, rows, view, n, style) {
  xlim <- or_else(style$xlim, around(rows$x[, view$axes]))
  at <- seq(min(xlim), max(xlim), length.out = or_else(n, 201L))
  list(xlim = xlim, at = at, latent = slice_latent(object, view, cbind(at)))
}

curve_answer <- function(object, latent, level) {
  answer <- as.data.frame(interval_answer(object, latent, "response", "confidence", level))
  if (is.null(lik_traits(object$likelihood)$quantile)) return(answer)
  if (has_variances(object$likelihood)) return(answer) # nobody knows them between the rows
  latent$weights <- weight_of_new(object)
  if (is.null(latent$weights)) return(answer)
  new <- interval_answer(object, latent, "response", "prediction", level)
  cbind(answer, new_lwr = new[, "lwr"], new_upr = new[, "upr"])
}

# Of how many trials a new response is: of as many as all rows, else nobody knows. Other new
# responses have weight 1.
weight_of_new <- function(object) {
  if (!codec_of(object)$trials) return(1)
  trials <- unique(object$weights)
  if (length(trials) == 1L) trials
}

# Shares of few trials are small.
trial_sizes <- function(object, rows) {
  if (!codec_of(object)$trials || is.null(rows$weights)) return(1)
  0.5 + sqrt(rows$weights / max(rows$weights))
}

draw_regression <- function(object, rows, view, drawn, xlim, level, style) {
  x <- drawn[[1L]]
  pale <- grDevices::adjustcolor(BLUE, 0.13)
  dark <- grDevices::adjustcolor(BLUE, 0.32)
  has_new <- !is.null(drawn$new_lwr)
  seen <- rows$x[, view$axes] >= min(xlim) & rows$x[, view$axes] <= max(xlim)
  ylim <- range(rows$y[seen], drawn$lwr, drawn$upr, drawn$new_lwr, drawn$new_upr)
  open_panel(xlim, or_else(style$ylim, grDevices::extendrange(ylim, f = 0.04)))
  if (has_new) draw_band(x, drawn$new_lwr, drawn$new_upr, pale)
  draw_band(x, drawn$lwr, drawn$upr, dark)
  n <- length(rows$y)
  fill <- or_else(style$col, grDevices::adjustcolor(INK, row_alpha(n)))
  draw_rows(rows$x[, view$axes], rows$y, fill, or_else(style$pch, 21),
            or_else(style$cex, row_size(n) * trial_sizes(object, rows)))
  lines(x, drawn$fit, col = BLUE, lwd = style$lwd)
  draw_basis_ticks(rows$basis[, view$axes])
  close_panel(style, input_label(object, view$axes), response_label(object),
              x = input_ticks(object, view$axes, xlim))
  key <- list(
    key_item("mean", "line", BLUE), key_item(paste(percent(level), "for the mean"), "band", dark),
    if (has_new) key_item(paste(percent(level), "for new responses"), "band", pale),
    if (!is.null(rows$basis)) key_item("basis", "tick", INK)
  )
  draw_heading(style, key, view$caption)
}

draw_probability <- function(object, rows, view, drawn, xlim, level, style) {
  x <- drawn[[1L]]
  band <- grDevices::adjustcolor(BLUE, 0.25)
  open_panel(xlim, or_else(style$ylim, c(-0.06, 1.06)))
  segments(min(xlim), c(0, 0.5, 1), max(xlim), col = "grey85", lty = c(1, 3, 1))
  draw_band(x, drawn$lwr, drawn$upr, band)
  lines(x, drawn$fit, col = BLUE, lwd = style$lwd)
  second <- as.integer(rows$y) - 1L
  col <- class_colours(style, row_alpha(length(rows$y)))[second + 1L]
  outwards <- 2 * second - 1
  segments(rows$x[, view$axes], second + 0.01 * outwards, y1 = second + 0.045 * outwards, col = col,
           lwd = 1.4, lend = 1)
  unlabelled <- rows$x[is.na(second), view$axes]
  if (length(unlabelled)) segments(unlabelled, 0.49, y1 = 0.51, col = UNLABELLED)
  draw_basis_ticks(rows$basis[, view$axes])
  close_panel(style, input_label(object, view$axes), response_label(object),
              x = input_ticks(object, view$axes, xlim),
              y = if (is.null(style$ylim)) list(at = seq(0, 1, 0.25)))
  key <- list(
    key_item("probability", "line", BLUE),
    key_item(paste(percent(level), "interval"), "band", band),
    if (length(unlabelled)) key_item("no label", "tick", UNLABELLED),
    if (!is.null(rows$basis)) key_item("basis", "tick", INK)
  )
  draw_heading(style, key, view$caption)
}

# ---- Two inputs ----

# The range of x with a margin; of one value, one to either side.
around <- function(x) {
  range <- range(x)
  if (diff(range) == 0) range + c(-1, 1) else grDevices::extendrange(range, f = 0.04)
}

plot_surface <- function(object, rows, view, n, style) {
  limits <- Map(function(given, name) {
    or_else(given, around(rows$x[, name]))
  }, list(style$xlim, style$ylim), view$axes)
  at <- lapply(limits, function(limit) {
    seq(min(limit), max(limit), length.out = or_else(n, 81L))
  })
  grid <- as.matrix(expand.grid(at, KEEP.OUT.ATTRS = FALSE))
  latent <- slice_latent(object, view, grid)
  fit <- if (shows_classes(object)) class_probabilities(object, latent)
         else mean_response(object, latent)
  # with several classes a layer of probabilities for each
  surface <- list(x = at[[1L]], y = at[[2L]], z = drop(array(fit, c(lengths(at), NCOL(fit)))))
  open_panel(limits[[1L]], limits[[2L]])
  draw <- if (shows_classes(object)) draw_decision_map
          else if (has_classes(object)) draw_class_surface else draw_mean_surface
  heading <- draw(object, rows, view, surface, style)
  draw_basis_rings(rows$basis, view$axes)
  ticks <- Map(function(input, limit) input_ticks(object, input, limit), view$axes, limits)
  close_panel(style, view$axes[1L], view$axes[2L], bty = "o", ticks[[1L]], ticks[[2L]])
  if (!is.null(rows$basis)) heading$key <- c(heading$key, list(key_item("basis", "point", INK, 1)))
  draw_heading(style, heading$key, heading$caption)
  if (shows_classes(object)) return(class_frame(grid, view$axes, fit))
  stats::setNames(data.frame(grid, fit), c(view$axes, "fit"))
}

# contour() warns of a flat surface, and its labels do not follow par("cex")
draw_contours <- function(surface, levels, col, lwd, ...) {
  if (diff(range(surface$z)) == 0) return(invisible())
  contour(surface, levels = levels, add = TRUE, col = col, lwd = lwd, vfont = NULL,
          labcex = 0.75 * par("cex"), ...)
}

UNLABELLED <- "grey45" # rows without a label

draw_class_surface <- function(object, rows, view, surface, style) {
  levels <- seq(0, 1, 0.1)
  palette <- grDevices::colorRampPalette(c("#7FB8DA", "#F7F7F7", "#F0B27F"), space = "Lab")(10L)
  graphics::.filled.contour(surface$x, surface$y, surface$z, levels, palette)
  draw_contours(surface, c(0.1, 0.3, 0.7, 0.9), "grey35", 0.7)
  draw_contours(surface, 0.5, INK, style$lwd, drawlabels = FALSE)
  pch <- rep_len(or_else(style$pch, c(21, 24)), 2L)
  col <- class_colours(style)
  code <- as.integer(rows$y)
  points(rows$x[is.na(code), view$axes, drop = FALSE], pch = 16, col = UNLABELLED,
         cex = 0.6 * or_else(style$cex, row_size(length(code))))
  draw_rows(rows$x[, view$axes[1L]], rows$x[, view$axes[2L]], col[code], pch[code],
            or_else(style$cex, row_size(sum(!is.na(code)))))
  names <- object$response$levels
  key <- list(key_item(names[1L], "point", col[1L], pch[1L]),
              key_item(names[2L], "point", col[2L], pch[2L]),
              if (anyNA(code)) key_item("no label", "point", UNLABELLED),
              key_item("probability 0.5", "line", INK))
  list(key = key, caption = paste(c(response_label(object), nonempty(view$caption)),
                                  collapse = "; "))
}

mean_ramp <- function(count) {
  grDevices::colorRampPalette(c("#F9FBFD", "#C3D9EC", "#7FB0D6", "#3F80B5"), space = "Lab")(count)
}

# Rows are filled by their response on the colours of the mean: a row that stands out is a residual.
draw_mean_surface <- function(object, rows, view, surface, style) {
  levels <- pretty(range(surface$z), 10L)
  palette <- mean_ramp(length(levels) - 1L)
  graphics::.filled.contour(surface$x, surface$y, surface$z, levels, palette)
  draw_contours(surface, levels, INK, 0.7)
  fill <- palette[findInterval(rows$y, levels, all.inside = TRUE)]
  n <- length(rows$y)
  draw_rows(rows$x[, view$axes[1L]], rows$x[, view$axes[2L]], or_else(style$col, fill),
            or_else(style$pch, 21), or_else(style$cex, row_size(n)),
            grDevices::adjustcolor("black", row_alpha(n)))
  key <- list(key_item(paste("mean of", response_label(object)), "line", INK, lwd = 0.7),
              key_item("rows, filled by their response", "point", "grey45"))
  list(key = key, caption = view$caption)
}

draw_basis_rings <- function(basis, axes) {
  if (!is.null(basis)) points(basis[, axes], pch = 1, cex = 1.5, col = INK, lwd = 1.2)
}
