# Partial dependence: what each input does to the latent function, averaged over the data.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "effects", the effect of each input:
#' A panel for each input: the latent function along it, averaged over (at most 50) observations
#' with their own values of the other inputs, minus its mean (the partial dependence); its exact
#' pointwise interval; and partial residuals, as for `type = "terms"`. Factors have a point with
#' bars for each level. The words above the panels name the scale of the effects if it is that of a
#' link or of a transformed response. Dotted lines: 10 % and 90 % quantiles of the individual (ICE)
#' curves; a wide gap between them shows an interaction. Panels are in the order of the size of the
#' effect, at most nine; `which` names others. Panels here and of `type = "terms"` and `"slope"`
#' have a logarithmic axis where the fit has the logarithm of the input and its values span orders
#' of magnitude; `log = ""` gives linear ones. Several classes have a curve each. *Value.* A list of
#' data frames, with `rows_lwr` and `rows_upr` for the dotted lines.
NULL

effects_plot <- function() {
  new_plot_type(effects_picture, effects_charts, takes = c("which", "newdata"))
}

# Effects of one fit have one unit, and one scale; the first panel has the key of all.
effects_charts <- function(object, picture, style) {
  charts <- terms_charts(object, picture, style)
  ylim <- range(unlist(lapply(charts, `[[`, "ylim")))
  key <- unlist(unname(lapply(charts, `[[`, "key")), recursive = FALSE)
  key <- key[!duplicated(vapply(key, `[[`, "", "label"))]
  lapply(seq_along(charts), function(i) {
    chart <- charts[[i]]
    chart$ylim <- ylim
    chart$key <- if (i == 1L) key
    if (i != min(2L, length(charts))) chart$title <- ""
    chart
  })
}

effects_picture <- function(object, asked) {
  object <- fit_of_latent_type(object, "terms")
  rows <- rows_of(object, asked$newdata)
  group <- list(effect = seq_along(fit_parts(object)))
  axes <- data_axes(object, rows, names(derived_columns(object, rows$x)))
  if (!is.null(asked$which)) axes <- asked_axes(object, asked$which, axes, most = length(axes))
  views <- partial_views(object, rows, group, axes, class_axis(object))
  report_left_out(names(axes), vapply(views, `[[`, "", "axes"))
  parts <- partial_pictures(object, rows, group, views, asked$level, asked$n, asked$style,
                            working_residuals(object, rows))
  names(parts) <- vapply(views, `[[`, "", "axes")
  list(parts = parts, drawn = lapply(parts, `[[`, "drawn"))
}
