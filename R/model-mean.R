# Checks what the prior mean asks of a response.

# Returns how many components of a response have coefficients of a mean; 0: it has none.
mean_width <- function(response) UseMethod("mean_width", codec_named(response$codec))

#' @export
mean_width.response <- function(response) 0L

#' @export
mean_width.response_numbers <- function(response) 1L

#' @export
mean_width.response_vectors <- function(response) response$width

# The parts of a mixture have no response of their own that a constant could be of.
#' @export
mean_width.response_mixtures <- function(response) 0L

# Returns a response of prior mean 0 in its own unit: nothing is subtracted, and the unit is the
# root of the mean square. chunk: what it was read from; moments: of all rows, or NULL
at_zero <- function(response, chunk, moments) {
  codec <- codec_named(response$codec)
  if (!inherits(codec, "response_numbers") || inherits(codec, "response_mixtures")) {
    stop_sparsegp("mean", paste0("= \"zero\" is for a response of numbers, and this is ",
                                 codec$called), "Fix the bias of the likelihood: fixed(0)")
  }
  if (!is.null(response$reference)) {
    stop_sparsegp("mean", "= \"zero\" has no meaning on a scale whose parameter is learned",
                  "Fix the parameter, or leave `transform` out")
  }
  if (is.null(moments)) moments <- codec$moments(chunk)
  rescale_response(codec, response, moments, 0 * response$centre,
                   moments$m2 + moments$n * moments$mean^2)
}
