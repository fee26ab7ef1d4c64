# Codecs of numbers: any, counts, shares of trials, and points that were seen.

numbers_codec <- function() {
  codec_like(codec_defaults(), "numbers",
             called = "a response of numbers", task = "regression",
             offers = offer_table(c("se.fit", "confidence", "prediction", "covariance"),
                                  c("confidence", "prediction"), quantile = character()),
             measures = c("influence", "importance", "improvement", "intervals"),
             scaled = TRUE, tails = TRUE, read = read_numbers, again = read_more_numbers,
             remedy = "Convert the response, or choose another likelihood",
             codes = function(y, response) y / response$unit - response$centre / response$unit,
             back = function(codes, response) codes * response$unit + response$centre,
             observed = function(y) y,
             constant = function(codes) if (is_flat(codes)) "does not vary",
             words = function(response) constant_words(response))
}

counts_codec <- function() {
  codec_like(numbers_codec(), "counts", scaled = FALSE, jumps = TRUE, unbounded = TRUE,
             words = function(response) NULL, read = read_counts, called = "a response of counts",
             offers = offer_table(c("se.fit", "confidence", "prediction"),
                                  c("confidence", "prediction"), quantile = character(),
                                  zero = character()),
             constant = function(codes) if (all(codes == 0)) "is nothing but zeros",
             refuse = function(y, weights) illegal_counts(y))
}

# Successes of trials: the response is their share, the weights are the trials.
trials_codec <- function() {
  codec_like(counts_codec(), c("trials", "counts"), trials = TRUE, unbounded = FALSE,
             called = "a response of trials",
             offers = offers_without(counts_codec()$offers, "zero"), gather = gather_trials,
             refuse = function(y, weights) {
               if (any(y < 0 | y > 1)) "has shares of successes that are not between 0 and 1"
               else if (any(weights > 2^53)) "has more trials than can be counted"
               else illegal_counts(as_whole(y * weights))
             },
             correct = paste("Correct those rows; the trials of proportions are `weights`, or give",
                             "cbind(successes, failures)"),
             remedy = paste("Use likelihood = \"logit\" for classes, cbind(successes, failures)",
                            "for trials"),
             constant = function(codes) {
               if (all(codes == 0)) "is nothing but failures"
               else if (all(codes == 1)) "is nothing but successes"
             },
             unit_of_count = function(weights) 1 / weights)
}

# Points that were seen, and nothing else: the response is 1.
seen_codec <- function() {
  codec_like(counts_codec(), c("seen", "counts"), constant = function(codes) NULL,
             tails = FALSE, jumps = FALSE, unbounded = FALSE,
             called = "a response of points",
             offers = offers_without(counts_codec()$offers, "zero"),
             measures = c("influence", "importance", "improvement"),
             refuse = function(y, weights) {
    if (any(y != 1)) "has other values than 1, which marks an observed point"
  })
}

# Numbers as they are given
read_counts <- function(codec, y, lik, offset, weights, streams) {
  y <- as_numbers(codec, y, lik)
  if (!all(is.finite(y))) stop_not_finite("y")
  weights <- weights_or_ones(weights, length(y))
  check_legal(codec, y, lik, weights)
  new_response(codec, y, y, weights)
}

# Numbers in units in which C works: less their mean (after the offset) and divided by their
# standard deviation where the likelihood scales.
read_numbers <- function(codec, y, lik, offset, weights, streams) {
  response <- read_counts(codec, y, lik, offset, weights, streams)
  y <- response$given
  weights <- response$weights
  # divided first: a sum of values near the largest double must not overflow
  size <- max(abs(y), abs(offset), 0)
  if (size == 0) size <- 1
  shifted <- y / size - offset / size
  centre <- sum(shifted * (weights / sum(weights)))
  spread <- sqrt(mean((shifted - centre)^2))
  response$unit <- unit_of(spread, size)
  response$y <- (y / size - centre) / (response$unit / size)
  response$centre <- centre * size
  response
}

read_more_numbers <- function(codec, y, lik, weights, response) {
  refuse_if(!(is.numeric(y) || is.logical(y)) || any(is.infinite(y)),
            "newdata", "has a response that is not finite numbers", NOT_FINITE_REMEDY)
  check_legal(codec, y, lik, weights, "newdata")
  as.double(y)
}

# Returns what a likelihood for numbers may be given, as numbers.
as_numbers <- function(codec, y, lik) {
  if (is.numeric(y) || is.logical(y)) return(as.double(y))
  stop_sparsegp("y", paste0("is of class ", class(y)[1L], ", but the ", lik$type,
                            " likelihood is for numbers"), codec$remedy)
}

# Numbers the likelihood has a density for.
check_legal <- function(codec, y, lik, weights = 1, argument = "y") {
  known <- !is.na(y)
  weights <- if (is.null(weights)) 1 else rep_len(weights, length(y))[known]
  wrong <- codec$refuse(y[known], weights)
  refuse_if(!is.null(wrong), argument, paste0(wrong, ", and the likelihood is ", lik$type),
            codec$correct %||% "Correct those rows, or choose another likelihood")
}

illegal_counts <- function(y) {
  if (any(y < 0)) "has negative values, which are no counts"
  else if (any(y != round(y))) "has values that are not whole numbers"
}

# Codes of a response that is constant are 0, but for rounding: others have a mean square of 1.
is_flat <- function(codes) all(abs(codes) < 1e-12, na.rm = TRUE)

# Restores whole numbers after a division and a multiplication.
as_whole <- function(x) ifelse(abs(x - round(x)) < 1e-8 * pmax(1, abs(x)), round(x), x)

# ---- Trials ----

# A matrix of successes and failures, where the likelihood is of trials
are_trials <- function(y) is.matrix(y) && is.numeric(y) && ncol(y) == 2L

# Shares and trials in place of successes and failures
gather_trials <- function(chunk) {
  if (!are_trials(chunk$y)) return(chunk)
  refuse_if(!is.null(chunk$weights), "weights",
            "and a response of successes and failures exclude each other", "Leave the weights out")
  trials <- rowSums(chunk$y)
  wrong <- illegal_counts(chunk$y[!is.na(chunk$y)])
  if (!is.null(wrong)) stop_sparsegp("y", wrong)
  refuse_if(any(trials == 0, na.rm = TRUE), "y", "has rows without trials", "Leave them out")
  chunk$y <- unname(chunk$y[, 1L] / trials)
  chunk$weights <- unname(trials)
  chunk
}
