# Checks of what a fit has stored of its response, which may come from a file: the fields that it
# keeps, how many values there are, and what they are. A kind that stores others has methods.

# Are levels, components and constants those that the codec makes?
is_right_response <- function(codec, response) UseMethod("is_right_response")

# Are there as many responses as n rows have? fit: with its `response` and `data_rows`
are_right_size <- function(codec, y, n, fit) UseMethod("are_right_size")

# Are these values that there can be?
are_right_values <- function(codec, y, response) UseMethod("are_right_values")

is_single <- function(response) {
  response$width == 1L && is.null(response$components) &&
    are_doubles(unname(response$centre), 1L)
}

#' @export
is_right_response.response <- function(codec, response) {
  is.null(response$levels) && is_single(response)
}

#' @export
is_right_response.response_factor <- function(codec, response) {
  is_single(response) && !anyDuplicated(response$levels) && length(response$levels) > 1L
}

#' @export
is_right_response.response_labels <- function(codec, response) {
  NextMethod() && length(response$levels) == 2L
}

#' @export
is_right_response.response_components <- function(codec, response) {
  is.null(response$levels) && response$width > 1L &&
    are_words(response$components, response$width) &&
    are_doubles(unname(response$centre), if (codec$multi_output) response$width else 1L)
}

#' @export
are_right_size.response <- function(codec, y, n, fit) length(y) == n

#' @export
are_right_size.response_vectors <- function(codec, y, n, fit) length(y) == n * fit$response$width

# A matrix of whole parts
#' @export
are_right_size.response_mixtures <- function(codec, y, n, fit) {
  w <- fit$response$width
  size <- 1L + moment_count(w)
  parts <- if (is_mixture(y)) mixture_parts(y) else 0L
  parts > 0L && nrow(y) == n && mixture_width(y) == w && NROW(fit$data_rows) == parts * size &&
    ncol(y) %in% (parts * size + c(0L, size - 1L))
}

#' @export
are_right_values.response <- function(codec, y, response) is.numeric(y) && are_finite(unclass(y))

# Components may be missing.
#' @export
are_right_values.response_vectors <- function(codec, y, response) is.numeric(y)

#' @export
are_right_values.response_mixtures <- function(codec, y, response) {
  is.numeric(y) && are_finite(unclass(y))
}

#' @export
are_right_values.response_factor <- function(codec, y, response) {
  is.factor(y) && identical(levels(y), response$levels) &&
    all(unclass(y) %in% c(seq_along(levels(y)), NA))
}
