# Two classes by a logistic distribution function, exactly or by MacKay's approximation: the twin of
# src/lik_logit.c.

#' @rdname likelihoods_two_classes
#' @order 6
#' @export
lik_logit <- function(bias = NULL, moments = c("quadrature", "mackay")) {
  moments <- check_choice(moments, c("quadrature", "mackay"), "moments")
  if (moments == "mackay") lik_mackay(bias) else new_likelihood("logit", list(bias = bias))
}

#' @rdname likelihoods_two_classes
#' @order 7
#' @export
lik_mackay <- function(bias = NULL) new_likelihood("mackay", list(bias = bias))

logit_traits <- function() {
  traits_like(binary_traits(stats::plogis, stats::qlogis), tempered = TRUE)
}

mackay_traits <- function() traits_like(logit_traits(), has_evidence = FALSE)
