# Slopes as predict(), draws() and slopes() return them.

# Returns a fit that slopes may be asked of, or stops.
slope_object <- function(object, scale) {
  object <- ready(object)
  check_offered(codec_of(object), "slope", character())
  fit_of_latent_type(object, if (scale == "link") "link" else "response")
}

# Returns the columns of an answer, a matrix with a column for each output in each.
slope_columns <- function(answer, level) {
  ends <- c((1 - level) / 2, (1 + level) / 2)
  columns <- list(estimate = answer$mean, std.error = answer$sd,
                  conf.low = slope_quantile(answer, ends[1L]),
                  conf.high = slope_quantile(answer, ends[2L]))
  lapply(columns, function(column) unname(as.matrix(column)))
}

# Returns what predict(type = "slope") answers: rows x (fit, lwr, upr) x variables x outputs, of
# which sides of one are left out.
predict_slopes <- function(object, newdata, offset, request) {
  object <- slope_object(object, request$scale)
  vars <- check_slope_variables(object, request$vars)
  found <- slopes_asked(object, newdata, vars, request$scale, offset)
  at <- asked_rows(found$rows)
  columns <- lapply(found$each, slope_columns, request$level)
  values <- function(fields, interval) {
    each <- unlist(lapply(columns, function(own) {
      lapply(own[fields], function(column) column[at, , drop = FALSE])
    }))
    outputs <- slope_outputs(object, request$scale)
    count <- max(1L, length(outputs))
    out <- array(each, c(length(at), count, length(fields), length(vars)),
                 list(names(at), outputs, interval, vars))
    drop_sides(aperm(out, c(1L, 3L, 4L, 2L)))
  }
  fit <- if (request$interval == "none") values("estimate", NULL)
         else values(c("estimate", "conf.low", "conf.high"), c("fit", "lwr", "upr"))
  if (request$se.fit) list(fit = fit, se.fit = values("std.error", NULL)) else fit
}

# Leaves out the sides of an array, but the first, that have one place.
drop_sides <- function(x) {
  kept <- c(TRUE, dim(x)[-1L] > 1L)
  if (sum(kept) == 1L) return(stats::setNames(c(x), dimnames(x)[[1L]]))
  array(x, dim(x)[kept], dimnames(x)[kept])
}

# Returns a matrix with a row for each row and its latent values of all classes, or components.
by_row <- function(each, w) {
  do.call(cbind, lapply(each, matrix, ncol = w, byrow = TRUE))
}

# Returns slopes at latent values f with derivatives `slope`.
drawn_slopes <- function(object, f, slope, offset, shift, scale) {
  if (scale == "response") {
    refuse_jumps(object)
    return(slopes_at(object, f, slope, offset, shift))
  }
  slope * rep(component_units(object$response), each = nrow(f), length.out = length(slope)) + shift
}
