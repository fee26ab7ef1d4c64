# Several classes by Gumbel noise: the twin of src/lik_softmax.c.

#' @rdname likelihoods_classes
#' @order 9
#' @export
lik_softmax <- function(bias = NULL, shared = TRUE, coupled = NULL) {
  new_class_likelihood("softmax", bias, shared, coupled)
}

softmax_traits <- function() {
  class_traits(log, function(n) -log(stats::rexp(n))) # Gumbel noise
}
