# Codecs of likelihoods that are R functions: numbers in units of their own, as the functions say,
# ordered categories, and responses of two latent functions.

reals_codec <- function() {
  codec_with_density("reals", "numbers of a likelihood of your own", function(y, weights) NULL)
}

# Ordered categories whose cut points are the functions' own affair.
ranks_codec <- function() {
  codec_like(ordered_codec(), c("ranks", "ordered", "in_order", "factor"),
             check = function(levels, lik) NULL)
}

# ---- Two latent functions of one response ----

# Returns a codec of one of the kinds above with two latent functions.
codec_of_pairs <- function(codec, name) {
  offers <- offers_without(codec$offers, "median", "terms", "slope")
  out <- codec_like(codec, name, offers = offers, gather = gather_spreads, read = read_pairs,
                    known_means = mean_offset, coregion = list(rank = 0),
                    measures = "intervals", unbounded = FALSE,
                    shape = shape_of_components(function(width) 1L))
  class(out) <- c(paste0("response_", name), "response_pairs", "response_components", class(codec))
  out
}

real_pairs_codec <- function() codec_of_pairs(reals_codec(), "real_pairs")

count_pairs_codec <- function() codec_of_pairs(counts_codec(), "count_pairs")

positive_pairs_codec <- function() codec_of_pairs(positive_codec(), "positive_pairs")

proportion_pairs_codec <- function() codec_of_pairs(proportions_codec(), "proportion_pairs")

read_pairs <- function(codec, y, lik, offset, weights, streams) {
  out <- read_counts(codec, y, lik, as.matrix(offset)[, 1L], weights, streams)
  out$width <- length(lik$custom$components)
  out$components <- lik$custom$components
  out
}
