# Partial dependence: what each input does to the latent function, averaged over the data.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "effects", the effect of each input:
#' A panel for each input: the latent function along it, averaged over (at most 50) observations
#' with their own values of the other inputs, less its mean (the partial dependence); its exact
#' pointwise interval; and partial residuals, as for `type = "terms"`. Factors have a point with
#' bars for each level. Between the dotted lines lie four fifths of the observations' own curves:
#' where they are far apart the effect depends on other inputs. The inputs along which the effect
#' varies most come first, and at most nine are drawn; `which` names others. A fit with three inputs
#' or more and one latent function is drawn so if nothing else is asked for. Of several classes
#' there is a curve for each. *Value.* A list of data frames, with `rows_lwr` and `rows_upr` for the
#' dotted lines.
NULL

effects_plot <- function() {
  new_plot_type(effects_picture, terms_charts, takes = c("which", "newdata"))
}

effects_picture <- function(object, asked) {
  object <- fit_of_latent_type(object, "terms")
  rows <- rows_of(object, asked$newdata)
  group <- list(effect = seq_along(fit_parts(object)))
  axes <- data_axes(object, rows, names(derived_columns(object, rows$x)))
  if (!is.null(asked$which)) axes <- asked_axes(object, asked$which, axes, most = length(axes))
  views <- partial_views(object, rows, group, axes, class_axis(object))
  parts <- lapply(views, function(view) {
    term_picture(object, rows, group, view, asked$level, asked$n, asked$style)
  })
  names(parts) <- vapply(views, `[[`, "", "axes")
  list(parts = parts, drawn = lapply(parts, `[[`, "drawn"))
}
