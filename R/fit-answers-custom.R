# Answers of responses that only lik_custom() has.

# A mean is not the latent function, and has the unit of the response.
#' @export
standard_deviation.response_custom <- function(object, latent, type) {
  if (type %in% c("link", "latent")) return(sqrt(latent$var) * object$response$unit)
  predicted <- engine_lik_predict(object, seen_mean(object, latent), latent$var, TRUE)
  sqrt(predicted$spread) * object$response$unit
}

#' @export
response_tails.response_custom <- function(object, y, latent) tails_in_c(object, y, latent)
