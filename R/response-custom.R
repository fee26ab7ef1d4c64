# Codecs and answers of the responses of lik_custom() that no other likelihood has.

# Numbers in units that the model scales with; their mean need not be the latent function.
custom_number_codec <- function() {
  codec_like(numbers_codec(), c("custom_number", "custom"), scaled = FALSE,
             offers = offer_table(c("se.fit", "confidence", "prediction"),
                                  c("confidence", "prediction"), quantile = character()))
}

custom_positive_codec <- function() {
  codec_like(counts_codec(), c("custom_positive", "custom"),
             called = "a response of positive numbers",
             constant = function(codes) if (is_flat(codes - codes[1L])) "does not vary",
             refuse = function(y, weights) if (any(y <= 0)) "has values that are not positive")
}

custom_share_codec <- function() {
  codec_like(custom_positive_codec(), c("custom_share", "custom"),
             called = "a response of shares",
             refuse = function(y, weights) {
               if (any(y <= 0 | y >= 1)) "has values that are not between 0 and 1"
             })
}

custom_ordered_codec <- function() {
  codec_like(ordered_codec(), c("custom_ordered", "ordered", "factor"),
             check = function(levels, lik) invisible())
}

#' @export
in_known_units.response_custom_number <- function(codec, response, moments) {
  in_known_units.response_numbers(codec, response, moments)
}
