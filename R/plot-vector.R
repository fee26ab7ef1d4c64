# Pictures of several components: over two inputs the arrows of a field of two, along one input the
# curves of all.

#' @export
panel_of.response_vectors <- function(object) {
  new_panel(component_curves, component_chart, field_grid, draw_field, by = "none")
}

# A mean with its spread
#' @export
panel_of.response_spreads <- function(object) {
  no_map <- function(...) {
    stop_sparsegp("which", "must be one input, for a mean with its spread", "Give its name")
  }
  new_panel(curve_frame, regression_chart, no_map, no_map, by = "none")
}

# ---- Along one input ----

component_curves <- function(object, view, shown, asked) {
  axis <- view$axis[[1L]]
  at <- curve_places(axis, curve_limits(axis, shown$at[[1L]], asked$style), asked$n)
  band <- vector_interval(object, slice_latent(object, view, list(at)), FALSE, asked$level)
  each <- lapply(components(object), function(name) {
    own <- as.data.frame(matrix(band[, , name], ncol = 3L))
    stats::setNames(own, paste(c("fit", "lwr", "upr"), name, sep = "."))
  })
  beside_axes(data.frame(at), view$axes, do.call(cbind, each))
}

component_chart <- function(object, picture, style) {
  drawn <- picture$drawn
  shown <- picture$shown
  names <- components(object)
  x <- drawn[[1L]]
  col <- class_colours(style, count = length(names))
  axis <- picture$view$axis[[1L]]
  limits <- if (is.null(axis$levels)) style$xlim %||% range(x)
            else curve_limits(axis, NULL, style)
  size <- style$cex %||% row_size(length(shown$y))
  at <- scattered(axis, shown$at[[1L]], length(names))
  each <- lapply(seq_along(names), function(k) {
    part <- stats::setNames(drawn[paste(c("fit", "lwr", "upr"), names[k], sep = ".")],
                            c("fit", "lwr", "upr"))
    shift <- dodged(axis, k, length(names))
    own <- function(what) estimate_of_group(axis, x + shift, part, col[k], what, style)
    rows <- list(fill = grDevices::adjustcolor(col[k], 0.7), pch = 21, size = size)
    c(own("band"), list(new_element("points", rows, x = at + shift, y = shown$y[, k])),
      own("line"))
  })
  elements <- c(unlist(each, recursive = FALSE), list(basis_ticks(shown$basis)))
  new_chart(beside_words(shown, picture$view), elements, picture$view$axes, toString(names),
            limits, around(c(unlist(drawn[-1L]), shown$y[!is.na(shown$y)])),
            list(x = axis_ticks(object, axis, limits)), unname(Map(key_item, names, "line", col)))
}

# ---- Over two ----

# A grid within limits, its places x and y, and `drawn`: all nodes with the mean there, standard
# deviations of the components and their covariance.
field_grid <- function(object, view, shown, asked) {
  if (n_outputs(object) != 2L) {
    stop_sparsegp("which", paste0("must be one input for ", n_outputs(object), " components"),
                  "Arrows have two")
  }
  nodes <- surface_nodes(view, shown, asked$n %||% 17L, asked$style)
  latent <- slice_latent(object, view, nodes$grid)
  names <- components(object)
  mean <- vector_means(object, latent)
  sd <- vector_sds(object, latent)
  answer <- data.frame(mean, sd, vector_covariances(object, latent)[1L, 2L, ])
  names(answer) <- c(names, paste0("sd.", names), "covariance")
  c(nodes, list(drawn = beside_axes(as.data.frame(nodes$grid), view$axes, answer)))
}

SHADES <- c("white", "grey94", "grey88", "grey82", "grey75")

# Grey where the field is not known, arrows of the mean, ellipses about the tips of some of them,
# and thin arrows of the rows. All lengths are of one scale: the longest takes a step of the grid.
draw_field <- function(object, picture, style) {
  names <- components(object)
  drawn <- picture$drawn
  shown <- picture$shown
  surface <- picture$surface
  limits <- surface$limits
  open_panel(limits[[1L]], limits[[2L]], if (is.na(style$asp)) 1 else style$asp)
  draw_uncertainty(surface, drawn[paste0("sd.", names)])
  step <- c(diff(surface$x[1:2]), diff(surface$y[1:2]))
  longest <- max(sqrt(rowSums(drawn[names]^2)), .Machine$double.xmin)
  scale <- 1.2 * min(abs(step)) / longest
  draw_arrows(do.call(cbind, shown$at), shown$y * scale, BLUE, 0.8)
  draw_arrows(as.matrix(drawn[1:2]), as.matrix(drawn[names]) * scale, INK, 1.3)
  draw_ellipses(picture, names, scale)
  draw_basis_rings(shown$basis)
  ticks <- Map(function(input, limit) input_ticks(object, input, limit), picture$view$axes, limits)
  close_panel(style, picture$view$axes[1L], picture$view$axes[2L], bty = "o", ticks[[1L]],
              ticks[[2L]])
  words <- c(mode_words(object), paste("longest arrow", format(longest, digits = 2L)),
             nonempty(beside_words(shown, picture$view)))
  key <- list(key_item(paste0("mean (", toString(names), ")"), "line", INK),
              key_item("rows", "line", BLUE),
              key_item(paste0(100 * picture$level, "% ellipses"), "line", ORANGE),
              key_item("less known", "band", SHADES[4L]),
              if (!is.null(shown$basis)) key_item("basis", "point", INK, 1))
  draw_heading(style, key, paste(words, collapse = "; "))
}

draw_uncertainty <- function(surface, sd) {
  z <- matrix(sqrt(rowMeans(sd^2)), length(surface$x))
  levels <- seq(0, max(z), length.out = length(SHADES) + 1L)
  if (levels[2L] > 0) fill_bands(list(x = surface$x, y = surface$y, z = z), levels, SHADES)
}

# Arrows from places, and dots where they would be too short for R to draw.
draw_arrows <- function(from, by, col, lwd) {
  known <- !is.na(rowSums(by))
  from <- from[known, , drop = FALSE]
  by <- by[known, , drop = FALSE]
  size <- sqrt((by[, 1L] * par("pin")[1L] / diff(par("usr")[1:2]))^2 +
                 (by[, 2L] * par("pin")[2L] / diff(par("usr")[3:4]))^2)
  long <- size > 0.01 # inches
  points(from[!long, , drop = FALSE], pch = 16, cex = 0.25, col = col)
  if (!any(long)) return(invisible())
  graphics::arrows(from[long, 1L], from[long, 2L], from[long, 1L] + by[long, 1L],
                   from[long, 2L] + by[long, 2L], length = 0.05, angle = 25, col = col, lwd = lwd)
}

# At every third node, so that they can be told apart.
draw_ellipses <- function(picture, names, scale) {
  third <- function(at) seq_along(at) %% 3L == 2L
  drawn <- picture$drawn[c(outer(third(picture$surface$x), third(picture$surface$y), "&")), ]
  turn <- seq(0, 2 * pi, length.out = 41L)
  circle <- sqrt(stats::qchisq(picture$level, 2)) * rbind(cos(turn), sin(turn))
  sd <- drawn[paste0("sd.", names)]
  for (i in seq_len(nrow(drawn))) {
    V <- diag(unlist(sd[i, ])^2) + matrix(c(0, 1, 1, 0), 2L) * drawn$covariance[i]
    root <- eigen(V, symmetric = TRUE)
    axes <- root$vectors %*% (sqrt(pmax(root$values, 0)) * circle)
    tip <- unlist(drawn[i, 1:2]) + scale * unlist(drawn[i, names])
    lines(tip[1L] + scale * axes[1L, ], tip[2L] + scale * axes[2L, ], col = ORANGE, lwd = 0.8)
  }
}
