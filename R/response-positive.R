# Codecs of positive numbers and of proportions that are not successes of trials: numbers in units
# of their own, as counts are, with a density.

codec_with_density <- function(name, called, refuse, ...) {
  codec_like(counts_codec(), c(name, "counts"), jumps = FALSE, called = called,
             offers = offers_without(counts_codec()$offers, "zero"),
             constant = function(codes) if (is_flat(codes - codes[1L])) "does not vary",
             refuse = refuse, ...)
}

positive_codec <- function() {
  codec_with_density("positive", "a response of positive numbers", function(y, weights) {
    if (any(y <= 0)) "has values that are not positive"
  }, correct = paste("Correct those rows, or choose another likelihood: zeros beside",
                     "positive numbers have no density"))
}

proportions_codec <- function() {
  codec_with_density("proportions", "a response of proportions", function(y, weights) {
    if (any(y <= 0 | y >= 1)) "has values that are not between 0 and 1"
  }, unbounded = FALSE,
  correct = paste("Move 0 and 1 inwards, as by (y * (n - 1) + 0.5) / n, or give",
                  "cbind(successes, failures) and likelihood = \"binomial\""))
}
