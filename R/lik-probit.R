# Two classes by a normal distribution function: the twin of src/lik_probit.c.

#' @rdname likelihoods_two_classes
#' @order 3
#' @export
lik_probit <- function(bias = NULL, flip = 0) {
  known <- given_value(flip)
  if (!identical(known, 0) && !identical(known, 0L)) return(lik_flip(bias, flip))
  new_likelihood("probit", list(bias = bias))
}

probit_traits <- function() {
  traits_like(binary_traits(stats::pnorm, stats::qnorm), tempered = TRUE)
}
