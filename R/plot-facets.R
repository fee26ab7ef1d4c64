# Pictures side by side, one for each level of a factor: maps, and curves of several classes.

MOST_FACETS <- 12L # on a page

# As fit_picture(), with `panels`, the picture of each level, and `limits` of their axes, which are
# the same; `drawn` is that of all.
facet_picture <- function(object, rows, view, asked) {
  style <- asked$style
  by <- view$by
  check_facets(view)
  of_rows <- by$places(rows$x, rows$raw)
  at <- lapply(view$axis, function(axis) axis$places(rows$x, rows$raw))
  limits <- list(xlim = axis_limits(view$axis[[1L]], at[[1L]], style))
  if (length(at) == 2L) limits$ylim <- style$ylim %||% around(at[[2L]])
  asked$style <- utils::modifyList(style, limits)
  if (length(at) == 2L) asked$n <- asked$n %||% default_nodes(object, length(by$levels))
  panels <- lapply(seq_along(by$levels), function(group) {
    own <- level_view(view, group)
    picture <- slice_picture(object, level_rows(rows, view, of_rows, group), own, asked)
    picture$drawn <- append_level(picture$drawn, view, group)
    picture
  })
  together <- panels[[1L]]
  together[c("view", "limits")] <- list(view, limits)
  together$drawn <- do.call(rbind, lapply(panels, `[[`, "drawn"))
  together$panels <- with_same_levels(panels)
  together
}

check_facets <- function(view) {
  refuse_if(any(count_levels(view$axis) > 0L) && length(view$axis) == 2L,
            "by", "is for a curve along one input, or a map over two numbers",
            "Name one of the two inputs alone")
  count <- length(view$by$levels)
  refuse_if(count > MOST_FACETS,
            "by", paste0("has ", count, " levels, and a picture for each is too many"),
            paste0("At most ", MOST_FACETS, ": draw some of them one by one, with newdata = ",
                   "rows of that level"))
}

# The slice at a level.
level_view <- function(view, group) {
  by <- view$by
  level <- rep(group, nrow(view$over))
  view$over[, by$columns] <- by$code(level)
  view$over <- with_nested(view$over, view, by, level)
  view$by <- NULL
  view
}

# Rows of a level, perhaps no rows, and the basis points there.
level_rows <- function(rows, view, of_rows, group) {
  at <- which(of_rows == group)
  rows[c("x", "y", "offset")] <- lapply(rows[c("x", "y", "offset")], some_rows, at)
  rows$weights <- rows$weights[at]
  raw <- rows$raw
  rows$raw <- function(name) raw(name)[at]
  if (!is.null(rows$basis)) {
    of_basis <- view$by$places(rows$basis, function(name) NULL)
    rows$basis <- rows$basis[of_basis == group, , drop = FALSE]
  }
  rows
}

append_level <- function(drawn, view, group) {
  axes <- seq_along(view$axes)
  level <- data.frame(factor(view$by$levels[group], view$by$levels))
  beside_axes(cbind(drawn[axes], level), c(names(drawn)[axes], view$by$name), drawn[-axes])
}

# Contours at the same numbers, so colours mean the same in all maps.
with_same_levels <- function(panels) {
  surfaces <- lapply(panels, `[[`, "surface")
  if (is.null(surfaces[[1L]]$error)) return(panels)
  all <- function(field) unlist(lapply(surfaces, `[[`, field))
  levels <- list(mean = contour_levels(all("z"), all("known"), 10L),
                 error = contour_levels(all("error"), all("known"), 8L))
  lapply(panels, function(panel) {
    panel$surface$levels <- levels
    panel
  })
}

slice_picture <- function(object, rows, view, asked) {
  panel <- panel_of(object)
  shown <- rows_beside(object, rows, view)
  picture <- list(view = view, shown = shown, level = asked$level)
  if (length(view$axes) == 2L) {
    picture$se <- check_se(panel, asked$se)
    picture$surface <- panel$over(object, view, shown, asked)
    picture$drawn <- picture$surface$drawn
    return(picture)
  }
  if (!is.null(asked$se)) stop_sparsegp("se", "is for maps over two inputs", "Leave it out")
  picture$drawn <- panel$along(object, view, shown, asked)
  picture
}
