# Pictures of several components: over two inputs the arrows of a field of two, along one input the
# curves of all.

#' @export
panel_of.response_vectors <- function(object) {
  new_panel(component_curves, component_chart, field_grid, field_charts, by = "none")
}

# A mean with its spread
#' @export
panel_of.response_spreads <- function(object) {
  no_map <- function(...) {
    stop_sparsegp("which", "must be one input, for a mean with its spread", "Give its name")
  }
  new_panel(curve_frame, regression_chart, no_map, no_map, by = "none")
}

#' @export
panel_of.response_pairs <- panel_of.response_spreads

# ---- Along one input ----

component_curves <- function(object, view, shown, asked) {
  axis <- view$axis[[1L]]
  at <- axis_nodes(axis, axis_limits(axis, shown$at[[1L]], asked$style), asked$n)
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
  limits <- axis_limits(axis, shown$at[[1L]], style)
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
  new_chart(beside_words(shown, picture$view), elements, input_label(object, picture$view$axes),
            toString(lapply(names, function(name) title_in(object, name) %||% name)),
            limits, around(c(unlist(drawn[-1L]), shown$y[!is.na(shown$y)])),
            list(x = axis_ticks(axis, object, limits)), unname(Map(key_item, names, "line", col)))
}

# ---- Over two ----

# A grid within limits, its places x and y, and `drawn`: all nodes with the mean there, standard
# deviations of the components and their covariance.
field_grid <- function(object, view, shown, asked) {
  refuse_if(n_outputs(object) != 2L, "which",
            paste0("must be one input for ", n_outputs(object), " components"), "Arrows have two")
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
field_charts <- function(object, picture, style) {
  names <- components(object)
  drawn <- picture$drawn
  shown <- picture$shown
  surface <- picture$surface
  step <- c(diff(surface$x[1:2]), diff(surface$y[1:2]))
  longest <- max(sqrt(rowSums(drawn[names]^2)), .Machine$double.xmin)
  scale <- 1.2 * min(abs(step)) / longest
  arrows <- function(at, by, col, lwd) {
    new_element("arrows", list(col = col, lwd = lwd), x = at[[1L]], y = at[[2L]],
                dx = by[[1L]] * scale, dy = by[[2L]] * scale)
  }
  elements <- list(uncertainty_bands(surface, drawn[paste0("sd.", names)]),
                   arrows(shown$at, as.data.frame(shown$y), BLUE, 0.8),
                   arrows(drawn[1:2], drawn[names], INK, 1.3),
                   new_element("line", list(col = ORANGE, lwd = 0.8),
                               error_ellipses(picture, names, scale)))
  words <- c(mode_words(object), paste("longest arrow", format(longest, digits = 2L)),
             nonempty(beside_words(shown, picture$view)))
  key <- list(key_item(paste0("mean (", toString(names), ")"), "line", INK),
              key_item("rows", "line", BLUE),
              key_item(paste0(100 * picture$level, "% ellipses"), "line", ORANGE),
              key_item("less known", "band", SHADES[4L]))
  list(map_chart(object, picture, elements, key, paste(words, collapse = "; "), asp = 1))
}

uncertainty_bands <- function(surface, sd) {
  z <- sqrt(rowMeans(sd^2))
  levels <- seq(0, max(z), length.out = length(SHADES) + 1L)
  if (levels[2L] > 0) {
    on_grid("bands", surface, list(levels = levels, colours = SHADES, name = "standard deviation"),
            z = z)
  }
}

# Returns the ellipses at every third node, where they do not overlap, as lines that NA separate.
error_ellipses <- function(picture, names, scale) {
  third <- function(at) seq_along(at) %% 3L == 2L
  drawn <- picture$drawn[c(outer(third(picture$surface$x), third(picture$surface$y), "&")), ]
  turn <- seq(0, 2 * pi, length.out = 41L)
  circle <- sqrt(stats::qchisq(picture$level, 2)) * rbind(cos(turn), sin(turn))
  each <- lapply(seq_len(nrow(drawn)), function(i) {
    V <- diag(unlist(drawn[i, paste0("sd.", names)])^2) +
      matrix(c(0, 1, 1, 0), 2L) * drawn$covariance[i]
    root <- eigen(V, symmetric = TRUE)
    tip <- unlist(drawn[i, 1:2]) + scale * unlist(drawn[i, names])
    cbind(tip + scale * root$vectors %*% (sqrt(pmax(root$values, 0)) * circle), NA)
  })
  ends <- do.call(cbind, each)
  data.frame(x = ends[1L, ], y = ends[2L, ])
}
