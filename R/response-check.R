# Checks of what a fit has stored of its response, which may come from a file: the fields that it
# keeps, how many values there are, and what they are. A kind that stores others has methods.

# Are there as many responses as n rows have? fit: with its `response` and `data_rows`
are_right_size <- function(codec, y, n, fit) UseMethod("are_right_size")

# Are these values that there can be?
are_right_values <- function(codec, y, response) UseMethod("are_right_values")

# Returns the kinds of these fields: by default those of a response of one number.
shape_of <- function(levels = is.null, components = is.null, width = function(x) x == 1L,
                     centre = function(x) are_doubles(unname(x), 1L)) {
  list(levels = levels, width = width, components = components, centre = centre)
}

# Returns the same of a response of several components. constants: how many, given the width
shape_of_components <- function(constants) {
  shape_of(components = function(x, whole) are_words(x, whole$width), width = function(x) x > 1L,
           centre = function(x, whole) are_doubles(unname(x), constants(whole$width)))
}

are_labels <- function(levels) !anyDuplicated(levels) && length(levels) > 1L

#' @export
are_right_size.response <- function(codec, y, n, fit) length(y) == n

#' @export
are_right_size.response_vectors <- function(codec, y, n, fit) length(y) == n * fit$response$width

#' @export
are_right_values.response <- function(codec, y, response) is.numeric(y) && are_finite(unclass(y))

# Components may be missing.
#' @export
are_right_values.response_vectors <- function(codec, y, response) is.numeric(y)

#' @export
are_right_values.response_factor <- function(codec, y, response) {
  is.factor(y) && identical(levels(y), response$levels) &&
    all(unclass(y) %in% c(seq_along(levels(y)), NA))
}
