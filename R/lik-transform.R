# Likelihoods whose response has a scale (lik-scale.R).

# Returns a likelihood whose response has a scale: a name, what response_scale() makes, or NULL.
with_transform <- function(lik, transform) {
  if (is.null(transform)) return(lik)
  if (!inherits(transform, "sparsegp_scale")) transform <- response_scale(transform)
  if (!traits_of(lik$type)$response %in% c("numbers", "spreads")) {
    stop_sparsegp("transform", paste0("is for responses of one number, and the likelihood is ",
                                      lik_label(lik)), "Leave it out")
  }
  lik$transform <- unclass(transform)
  lik
}
