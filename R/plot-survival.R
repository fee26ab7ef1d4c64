# Survival curves: the survival probability against time.

#' @rdname plot.sparsegp
#' @name plot.sparsegp
#' @section Type "survival", survival curves:
#' For times to an event: the survival function against time, with pointwise intervals, for up to
#' eight rows of `newdata`, one curve per row (the response is not needed). Without `newdata` other
#' inputs are held fixed as in `"fit"`, with a curve for each level (or three values) of the input
#' along which the curves differ most, or of `by`, a factor. `xlim` sets the range of times;
#' default: to the largest time of the fit, or to the largest median if the fit keeps no rows.
#' *Value.* `curve`, `time`, `fit`, `lwr`, `upr`.
NULL

survival_plot <- function() {
  new_plot_type(survival_picture, survival_charts, takes = c("newdata", "by"),
                refuse = function(object) {
                  if (is.null(codec_of(object)$offers$survival)) {
                    c("is for times to an event", "Draw plot(fit) of other responses")
                  }
                })
}

survival_picture <- function(object, asked) {
  curves <- survival_latent(object, asked)
  n <- asked$n %||% 61L
  from <- max(min(asked$style$xlim %||% 0), 0)
  to <- max(asked$style$xlim %||% last_time(object, curves$latent))
  times <- seq(from, to, length.out = n)
  request <- list(type = "survival", interval = "confidence", level = asked$level, se.fit = FALSE)
  drawn <- lapply(times, function(time) survival_at(object, curves$latent, time, request))
  drawn <- data.frame(curve = factor(rep(curves$label, n), curves$label),
                      time = rep(times, each = length(curves$label)), do.call(rbind, drawn))
  list(drawn = drawn[order(drawn$curve), ], level = asked$level, caption = curves$caption)
}

# At time 0 nothing has happened yet.
survival_at <- function(object, latent, time, request) {
  if (time > 0) return(survival_answer(object, latent, time, request))
  matrix(1, latent_count(latent, 1L), 3L, dimnames = list(NULL, c("fit", "lwr", "upr")))
}

last_time <- function(object, latent) {
  if (length(object$y)) max(object$y[, 2L]) else max(median_response(object, latent))
}

# Returns list(latent, label, caption), latent moments and a label for each curve.
survival_latent <- function(object, asked) {
  if (is.null(asked$newdata)) return(typical_curves(object, asked$by))
  latent <- new_latent(object, asked$newdata)
  latent <- c(latent[c("mean", "var", "offset", "members", "shares")],
              list(label = latent$names[latent$complete]))
  if (length(latent$label) == 0L) stop_incomplete("newdata")
  refuse_if(length(latent$label) > MANY, "newdata",
            paste("has more than", MANY, "rows, each of which is a curve"), "Choose some of them")
  list(latent = Filter(Negate(is.null), latent[names(latent) != "label"]), label = latent$label,
       caption = "")
}

# Curves at typical inputs, one for each level of a factor if there is one.
typical_curves <- function(object, by) {
  rows <- training_rows(object)
  axes <- data_axes(object, rows, names(derived_columns(object, rows$x)))
  along <- by %||% most_moving(object, axes, rows)
  view <- slice_view(object, rows, along)
  axis <- view$axis[[1L]]
  level <- if (count_levels(view$axis) > 0L) seq_along(axis$levels)
           else few_places(axis$places(rows$x, rows$raw))
  label <- axis$levels %||% format(level, trim = TRUE, digits = 3L)
  refuse_if(length(level) > MANY,
            "by", paste0("is ", along, ", which has more than ", MANY, " levels"),
            "Give rows as `newdata`")
  list(latent = slice_latent(object, view, list(level)), label = paste(along, label),
       caption = view$caption)
}

# Returns the name of the axis along which the curves differ most, of those with few levels.
most_moving <- function(object, axes, rows) {
  few <- axes[count_levels(axes) <= MANY]
  if (length(few) <= 1L) return(names(c(few, axes))[1L])
  moved <- movement_along(object, few, rows, derived_columns(object, rows$x))
  names(few)[which.max(moved)]
}

# Values of a number for curves: all of few, or quartiles.
few_places <- function(x) {
  values <- sort(unique(x))
  if (length(values) <= 3L) values
  else unique(stats::quantile(x, c(0.25, 0.5, 0.75), names = FALSE, type = 1L))
}

survival_charts <- function(object, picture, style) {
  drawn <- split(picture$drawn, picture$drawn$curve)
  colours <- if (length(drawn) == 1L) BLUE else CLASS_COLOURS[seq_along(drawn)]
  colours <- rep_len(style$col %||% colours, length(drawn))
  bands <- if (length(drawn) <= MOST_BANDS) Map(function(own, col) {
    new_element("band", list(col = grDevices::adjustcolor(col, 0.18)), x = own$time,
                own[c("lwr", "upr")])
  }, drawn, colours)
  curves <- Map(function(own, col) {
    new_element("line", list(col = col, lwd = style$lwd), x = own$time, y = own$fit)
  }, drawn, colours)
  title <- paste(c(nonempty(picture$caption),
                   if (length(bands)) paste0("bands: ", percent(picture$level))), collapse = "; ")
  list(new_chart(title, unname(c(bands, curves)), "time", "survival probability",
                 range(picture$drawn$time), c(0, 1.02), list(y = list(at = seq(0, 1, 0.25))),
                 unname(Map(key_item, names(drawn), "line", colours))))
}
