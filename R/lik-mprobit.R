# Several classes by normal noise: the twin of src/lik_mprobit.c.

#' @rdname likelihoods_classes
#' @order 8
#' @export
lik_mprobit <- function(bias = NULL, shared = TRUE, coupled = NULL) {
  new_class_likelihood("mprobit", bias, shared, coupled)
}

# Normal noise is much like Gumbel noise of its variance, for which the start would be exact.
mprobit_traits <- function() class_traits(function(p) log(p) * sqrt(6) / pi, stats::rnorm)
