# Sums, chunk by chunk, what centre and unit of a response of numbers are made of.

# Returns of every column of a response less its offset n, mean, m2, the sum of squares about it;
# weighted mean and the weights' sum, the largest size, the range, and numbers of which there are
# few.
moments_of_numbers <- function(chunk) {
  y <- as.matrix(chunk$y)
  offset <- as.matrix(chunk$offset)
  # of several latent values of one response the first is its mean
  values <- y - as.vector(offset[, seq_len(min(ncol(y), ncol(offset)))])
  weights <- if (is.list(chunk$weights)) rep(1, nrow(y)) # constants of lik_custom()
             else weights_or_ones(chunk$weights, nrow(y))
  n <- colSums(!is.na(values))
  mean <- ifelse(n > 0, colMeans(values, na.rm = TRUE), 0)
  list(n = n, mean = mean, m2 = colSums(sweep(values, 2L, mean)^2, na.rm = TRUE),
       weight = sum(weights), weighted = sum(values[, 1L] * (weights / sum(weights))),
       size = max(abs(y), abs(offset), 0, na.rm = TRUE), range = range_of(y),
       few = few_values(c(y)))
}

# As many labels as C has room for (SG_LIK_MAX_CLASSES)
MAX_CLASSES <- 256L

# NULL of no values
range_of <- function(values) if (!all(is.na(values))) range(values, na.rm = TRUE)

few_values <- function(values) {
  values <- unique(values[!is.na(values)])
  if (length(values) <= MAX_CLASSES + 1L) values
}

join_response <- function(one, other) {
  if (is.null(one)) return(other)
  both <- join_means(one, other)
  weight <- one$weight + other$weight
  few <- if (!is.null(one$few) && !is.null(other$few)) few_values(c(one$few, other$few))
  c(both, list(weight = weight,
               weighted = one$weighted + (other$weighted - one$weighted) * other$weight / weight,
               size = max(one$size, other$size), range = range_of(c(one$range, other$range)),
               few = few))
}

weights_or_ones <- function(weights, n) if (is.null(weights)) rep(1, n) else weights

# The unit of a response: its spread, of values that were divided by size.
unit_of <- function(spread, size) {
  unit <- size * if (spread > 1e-14) spread else 1
  if (is.finite(unit^2) && unit^2 >= .Machine$double.xmin) return(unit)
  stop_sparsegp("y", "is so large or small that its square is not finite",
                "Fit the response in other units")
}

# Returns a response read off some rows in the units of all. moments: of all, joined, or NULL
in_known_units <- function(codec, response, moments) UseMethod("in_known_units")

#' @export
in_known_units.response <- function(codec, response, moments) response

#' @export
in_known_units.response_numbers <- function(codec, response, moments) {
  if (is.null(moments)) return(response)
  centre <- moments$weighted
  rescale_response(codec, response, moments, centre,
                   moments$m2 + moments$n * (moments$mean - centre)^2)
}

#' @export
in_known_units.response_vectors <- function(codec, response, moments) {
  if (is.null(moments)) return(response)
  rescale_response(codec, response, moments, moments$mean, moments$m2)
}

# squares: the sum of squares about the centre
rescale_response <- function(codec, response, moments, centre, squares) {
  size <- if (moments$size == 0) 1 else moments$size
  response$centre <- stats::setNames(centre, names(response$centre))
  response$unit <- unit_of(sqrt(sum(squares) / sum(moments$n)) / size, size)
  response$y <- codec$codes(response$given, response)
  response
}
