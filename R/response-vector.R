# Responses of several components: cbind(u, v) ~ x + y. A response is a matrix with a column for
# each, in which some may be missing. One unit for all, and a constant removed from each.

MAX_COMPONENTS <- 8L # SG_LIK_MAX_WIDTH

vectors_codec <- function() {
  codec_like(numbers_codec(), c("vectors", "components", "numbers"), missing = TRUE,
             coregion = list(), dims = 2L, known_means = wide_offset,
             shape = shape_of_components(identity),
             called = "a response of several components", offers = offers_of_components(),
             measures = "intervals",
             absent = "missing values of components",
             gather = gather_vectors, read = read_vectors, again = read_more_vectors,
             codes = function(y, response) sweep(y, 2L, response$centre) / response$unit,
             back = function(codes, response) {
               sweep(codes * response$unit, 2L, response$centre, "+")
             },
             words = function(response) {
               paste0("components: ", toString(response$components), "; ",
                      constant_words(response))
             },
             constant = function(codes) {
               flat <- apply(codes, 2L, is_flat)
               if (any(flat)) {
                 paste("has a component that does not vary:", toString(colnames(codes)[flat]))
               }
             },
             values = function(y) rowSums(!is.na(y)))
}

offers_of_components <- function() {
  field <- c("se.fit", "confidence") # there are no new responses of it
  list(response = c(field, "prediction"), link = field, latent = field,
       median = c("confidence", "prediction"), quantile = character(), slope = field)
}

is_vectors <- function(y) {
  is.matrix(y) && is.numeric(y) && ncol(y) > 1L &&
    !inherits(y, c("sparsegp_mixture", "sparsegp_times"))
}

# A matrix with names, and an offset for each component.
gather_vectors <- function(chunk) {
  if (!is_vectors(chunk$y)) return(chunk) # refused by its reader
  colnames(chunk$y) <- column_names(chunk$y, "y")
  if (!is.null(chunk$offset)) chunk$offset <- wide_offset(chunk$offset, dim(chunk$y))
  chunk
}

# Known means of the components: a column for each, or what all have in common.
wide_offset <- function(offset, size) {
  refuse_if(is.matrix(offset) && !all(dim(offset) == size),
            "offset", paste0("has ", ncol(offset), " columns for ", size[2L], " components"),
            "Give a column for each, or one number for a row")
  matrix(offset, size[1L], size[2L])
}

read_vectors <- function(codec, y, lik, offset, weights, streams) {
  check_vectors(y, "y")
  refuse_if(ncol(y) > MAX_COMPONENTS,
            "y", paste0("has ", ncol(y), " components, and ", MAX_COMPONENTS, " is the most"),
            "Fit them in groups")
  empty <- colSums(!is.na(y)) == 0
  refuse_if(any(empty),
            "y", paste0("has a component without values: ", toString(colnames(y)[empty])),
            "Leave it out")
  # divided first: a sum of values near the largest double must not overflow
  size <- max(abs(y), abs(offset), 0, na.rm = TRUE)
  if (size == 0) size <- 1
  shifted <- y / size - offset / size
  centre <- colMeans(shifted, na.rm = TRUE)
  codes <- sweep(shifted, 2L, centre)
  spread <- sqrt(mean(codes^2, na.rm = TRUE))
  unit <- unit_of(spread, size)
  out <- new_response(codec, sweep(y / size, 2L, centre) / (unit / size), y,
                      centre = centre * size, unit = unit)
  out$width <- ncol(y)
  out$components <- colnames(y)
  out
}

# Numbers, but for what is missing.
check_vectors <- function(y, argument) {
  refuse_if(!is_vectors(y), argument, "is one column, and the likelihood is for several components",
            "Write cbind(u, v) ~ x + y, or leave `covariance` out")
  if (any(is.infinite(y))) stop_not_finite(argument)
}

read_more_vectors <- function(codec, y, lik, weights, response) {
  check_vectors(y, "newdata")
  refuse_if(ncol(y) != response$width,
            "newdata", paste0("has ", ncol(y), " components for ", response$width),
            paste0("They are ", toString(response$components)))
  colnames(y) <- response$components
  y
}

# ---- What the response of a fit is ----

components <- function(fit) fit$response$components

# Returns what a latent value of each component is in C's units: the response's unit, or 1 of a
# logarithm.
component_units <- function(response) {
  UseMethod("component_units", codec_named(response$codec))
}

#' @export
component_units.response_vectors <- function(response) rep(response$unit, response$width)

#' @export
component_units.response <- function(response) {
  c(response$unit, rep(1, response$width - 1L))
}

# Variances of every row's components, from w x w blocks.
component_vars <- function(blocks, components) {
  by_component(block_diagonals(blocks, length(components)), components)
}
