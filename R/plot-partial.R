# Partial effects of a term of many inputs: a curve along each, averaged over rows with their own
# values of the others.

# Gives a message on inputs that have no panel.
report_left_out <- function(names, drawn) {
  out <- setdiff(names, drawn)
  if (length(out) == 0L) return(invisible())
  shown <- toString(utils::head(out, NAMED_TERMS))
  more <- if (length(out) > NAMED_TERMS) paste(" and", length(out) - NAMED_TERMS, "more")
  message("These terms have smaller effects and are not drawn: ", shown, more,
          ". Name terms by `which`.")
}

MOST_EFFECTS <- 9L # panels
NAMED_TERMS <- 10L # of those without a panel, in a message

AVERAGED_ROWS <- 50L # over so many rows a partial effect is averaged, at most

# Returns a view along each input of a term, averaged over evenly spread rows; those along which the
# effect varies most come first, and only these where there are many.
partial_views <- function(object, rows, group, term_axes, by) {
  derived <- derived_columns(object, rows$x)
  axes <- data_axes(object, rows, names(derived))
  columns <- unlist(lapply(term_axes, `[[`, "columns"))
  seen <- axes[vapply(axes, function(axis) any(axis$columns %in% columns), NA)]
  if (length(seen) == 0L) seen <- term_axes # all of them follow from inputs of other terms
  alone <- length(unlist(group)) == length(fit_parts(object))
  some <- unique(round(seq(1, nrow(rows$x), length.out = min(nrow(rows$x), AVERAGED_ROWS))))
  link <- family.sparsegp(object)$link
  scale <- if (link != "identity") paste(link, "scale")
  views <- lapply(seen, function(axis) {
    list(axis = stats::setNames(list(axis), axis$name), axes = axis$name, by = by,
         derived = derived[setdiff(names(derived), axis$columns)],
         over = rows$x[some, , drop = FALSE], held = TRUE,
         caption = paste(c(scale, if (length(axes) > 1L) "averaged over the other inputs"),
                         collapse = ", "),
         label = paste(if (alone) "effect of" else paste(names(group), "along"), axis$name))
  })
  spread <- vapply(views, effect_spread, 0, object, rows, group)
  unname(views[utils::head(order(-spread), MOST_EFFECTS)])
}

# Returns the parts of an effect that are of panels with so many places each.
split_effect <- function(effect, panels) {
  lapply(split(seq_len(sum(panels)), rep(seq_along(panels), panels)), function(at) {
    own <- function(values) values[at, , drop = FALSE]
    list(members = lapply(effect$members, own), fit = own(effect$fit),
         se.fit = own(effect$se.fit), constant = effect$constant)
  })
}

# Returns how much the mean of an effect varies along a view: its standard deviation over some
# quantiles of the rows, or over the levels of a factor, the largest of all classes.
effect_spread <- function(view, object, rows, group) {
  axis <- view$axis[[1L]]
  places <- typical_places(axis, axis$places(rows$x, rows$raw))
  view$by <- NULL
  x <- scale_kept(slice_inputs(view, list(places)), object$scaling)
  of_class <- function(class) {
    parts <- fit_parts(object, class)[group[[1L]]]
    posterior <- posterior_of_class(object, class, factors = FALSE)
    own <- points_of_class(object, x, class)
    effect <- if (is_of_sites(posterior)) {
      as.matrix(site_moments(object$spec, class_theta_of(object, class), posterior, own,
                               parts = chosen_parts(object, names(parts)))$mean)
    } else {
      parts_kernel(parts)$cross(own, posterior$basis) %*% posterior$alpha
    }
    stats::sd(average_rows(effect, nrow(view$over)))
  }
  max(vapply(seq_len(functions_of(object)), of_class, 0))
}
