# What centre and unit of a response of numbers are made of, chunk by chunk.

# Returns of every column of a response less its offset n, mean, m2, the sum of squares about it;
# weighted mean and the weights' sum, the largest value, and numbers of which there are few.
moments_of_numbers <- function(chunk) {
  y <- as.matrix(chunk$y)
  offset <- as.matrix(chunk$offset)
  # of several latent values of one response the first is its mean
  values <- y - as.vector(offset[, seq_len(min(ncol(y), ncol(offset)))])
  weights <- weights_or_ones(chunk$weights, nrow(y))
  n <- colSums(!is.na(values))
  mean <- ifelse(n > 0, colMeans(values, na.rm = TRUE), 0)
  list(n = n, mean = mean, m2 = colSums(sweep(values, 2L, mean)^2, na.rm = TRUE),
       weight = sum(weights), weighted = sum(values[, 1L] * (weights / sum(weights))),
       size = max(abs(y), abs(offset), 0, na.rm = TRUE),
       few = few_values(c(y)))
}

# The same of mixtures: no constant is removed, and m2 is about 0.
moments_of_mixture <- function(chunk) {
  squares <- mixture_squares(chunk$y)
  list(n = rep(nrow(squares), ncol(squares)), mean = numeric(ncol(squares)), m2 = colSums(squares),
       weight = nrow(squares), weighted = 0, size = sqrt(max(squares, 0)), few = NULL)
}

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
               size = max(one$size, other$size), few = few))
}

# The response read off some rows, in the units of all. known: what a scan knows, or NULL
in_known_units <- function(response, codec, known) {
  moments <- known$response
  if (is.null(moments) || !codec$scaled) return(response)
  size <- if (moments$size == 0) 1 else moments$size
  several <- codec$multi_output
  centre <- if (several) moments$mean else moments$weighted
  spread <- if (several) moments$m2 else moments$m2 + moments$n * (moments$mean - centre)^2
  response$centre <- stats::setNames(centre, names(response$centre))
  response$unit <- unit_of(sqrt(sum(spread) / sum(moments$n)) / size, size)
  response$y <- codec$codes(response$given, response)
  response
}
