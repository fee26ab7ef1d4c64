# Slopes as draws() and slopes() return them.

# Returns a fit that slopes may be asked of, or stops.
slope_object <- function(object, scale) {
  object <- ready(object)
  codec <- codec_of(object)
  refuse_if(is.null(codec$offers$slope), "object", paste("has no slopes:", codec$called),
            "See predict()")
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
