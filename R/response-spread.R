# Numbers whose mean and whose spread are both functions of the inputs: one response, two latent
# values of a row, "mean" and "log_sd".

SPREAD <- c("mean", "log_sd")

spreads_codec <- function() {
  codec_like(numbers_codec(), c("spreads", "components", "numbers"), gather = gather_spreads,
             called = "a response whose mean and spread are functions",
             offers = offers_of_components(), measures = "intervals", read = read_spreads,
             known_means = mean_offset, shape = shape_of_components(function(width) 1L),
             coregion = list(rank = 0)) # mean and spread are independent
}

# Known means are those of the first.
mean_offset <- function(offset, size) cbind(offset, numeric(length(offset)), deparse.level = 0L)

gather_spreads <- function(chunk) {
  if (is.null(chunk$offset)) return(chunk)
  refuse_if(is.matrix(chunk$offset), "offset", "has several columns, and the response is one",
            "Give one number a row")
  chunk$offset <- mean_offset(chunk$offset)
  chunk
}

read_spreads <- function(codec, y, lik, offset, weights, streams) {
  out <- read_numbers(codec, y, lik, as.matrix(offset)[, 1L], weights, streams)
  out$width <- length(SPREAD)
  out$components <- SPREAD
  out
}
