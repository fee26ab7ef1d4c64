# Codecs of numbers on a scale of their own (response-scale.R): codes are (g(y) - centre) / unit.
# Each is a codec of numbers, or of mean and spread, whose fields differ where g enters; its name is
# theirs, a dot, and the scale's. Beside what response-codec.R names it has
#   scale     the name of its scale
#   fitted    the codec on the fitted scale
# and its responses have `scale`, the record of the scale. Where the scale has a parameter a
# response is read at the start of its search; then it is open: `reference` has what centre and unit
# at other values are made of, list(y, offset, weights) of all rows (engine-scale.R).

# Adds these codecs to the others.
codecs_on_scales <- function(codecs) {
  for (kind in c("numbers", "spreads")) {
    for (scale in names(SCALES)) {
      codec <- codec_on_scale(codecs[[kind]], scale)
      codecs[[codec$name]] <- codec
    }
  }
  codecs
}

codec_on_scale <- function(fitted, scale) {
  codec <- fitted
  called <- SCALES[[scale]]$called
  changes <- list(
    name = paste(fitted$name, scale, sep = "."), scale = scale, fitted = fitted, unbounded = TRUE,
    called = paste(fitted$called, "on", called),
    offers = offers_on_scale(fitted$offers), shape = c(fitted$shape, scale = is_scale_record),
    refuse = function(y, weights) SCALES[[scale]]$wrong(y),
    correct = paste("Correct those rows, or choose another `transform`, such as \"identity\"",
                    "or \"asinh\", for the whole fit"),
    moments = function(chunk) moments_on_scale(scale, chunk), read = read_on_scale,
    codes = function(y, response) {
      SCALES[[scale]]$to(y, response$scale) / response$unit - response$centre / response$unit
    },
    back = function(codes, response) {
      SCALES[[scale]]$from(codes * response$unit + response$centre, response$scale)
    },
    words = function(response) words_on_scale(scale, response)
  )
  codec[names(changes)] <- changes
  class(codec) <- c(paste0("response_", codec$name), "response_transformed", class(fitted))
  codec
}

# The mean response is not the latent function, so that its covariances are not those.
offers_on_scale <- function(offers) {
  offers$response <- setdiff(offers$response, "covariance")
  offers$median <- setdiff(offers$median, "se.fit")
  offers
}

words_on_scale <- function(scale, response) {
  value <- if (has_parameter(scale)) {
    paste0(" (lambda ", format(round(response$scale[["value"]], 3L), digits = 3L), ")")
  }
  paste0("response on ", SCALES[[scale]]$called, value, "; ", constant_words(response, " there"))
}

read_on_scale <- function(codec, y, lik, offset, weights, streams) {
  y <- as_numbers(codec, y, lik)
  if (!all(is.finite(y))) stop_not_finite("y")
  check_legal(codec, y, lik)
  value <- lik$transform$value
  record <- scale_record(codec$scale, y, if (is.list(value)) value$value else value) # of fixed()
  out <- codec$fitted$read(codec$fitted, SCALES[[codec$scale]]$to(y, record), lik, offset, weights,
                           streams)
  out[c("codec", "given", "scale")] <- list(codec$name, y, record)
  if (has_parameter(codec$scale) && !isTRUE(lik$transform$settled)) {
    out$reference <- list(y = y, offset = as.matrix(offset)[, 1L], weights = out$weights)
  }
  out
}

is_open <- function(response) !is.null(response$reference)

# Moments of the responses on the scale. With a parameter the scale is not known yet, and centre and
# unit are those of the rows that settle it.
moments_on_scale <- function(scale, chunk) {
  raw <- moments_of_numbers(chunk)
  if (has_parameter(scale) || !is.null(SCALES[[scale]]$wrong(chunk$y))) return(raw)
  chunk$y <- SCALES[[scale]]$to(chunk$y, c(least = 1))
  c(moments_of_numbers(chunk)[setdiff(names(raw), "few")], raw["few"])
}

#' @export
in_known_units.response_transformed <- function(codec, response, moments) {
  if (has_parameter(codec$scale)) response else NextMethod()
}

# ---- Densities ----

# Returns what takes log densities in C's units to those of the responses: the logarithm of the
# slope of a code in its response, row by row.
log_slopes <- function(response, y) UseMethod("log_slopes", codec_named(response$codec))

#' @export
log_slopes.response <- function(response, y) {
  -codec_named(response$codec)$values(y) * log(response$unit)
}

#' @export
log_slopes.response_transformed <- function(response, y) {
  SCALES[[codec_named(response$codec)$scale]]$log_slope(y, response$scale) - log(response$unit)
}

# Returns their sum, the log Jacobian: log densities of the responses of a model, or of a part of
# it, are those of its codes and this. So models on different scales compare.
log_jacobian <- function(response, y = response$given) {
  UseMethod("log_jacobian", codec_named(response$codec))
}

#' @export
log_jacobian.response <- function(response, y = response$given) {
  -sum(codec_named(response$codec)$values(y)) * log(response$unit)
}

#' @export
log_jacobian.response_transformed <- function(response, y = response$given) {
  sum(log_slopes(response, y))
}
