# The codec of numbers of a likelihood that is an R function: in units of their own, as it says.

reals_codec <- function() {
  codec_like(counts_codec(), c("reals", "counts"), called = "numbers of a likelihood of your own",
             constant = function(codes) if (is_flat(codes - codes[1L])) "does not vary",
             refuse = function(y, weights) NULL)
}
