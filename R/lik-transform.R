# Likelihoods whose response has a scale (lik-scale.R).

# Returns a likelihood whose response has a scale: a name, what response_scale() makes, or NULL.
with_transform <- function(lik, transform) {
  if (is.null(transform)) return(lik)
  if (!inherits(transform, "sparsegp_scale")) transform <- response_scale(transform)
  refuse_if(!takes_transform(lik), "transform",
            paste0("is for responses of one number, and the likelihood is ", lik_label(lik)),
            "Leave it out")
  lik$transform <- unclass(transform)
  lik
}

takes_transform <- function(lik) {
  is.null(lik$extension) && traits_of(lik$type)$response %in% c("numbers", "spreads")
}

# Is the scale of its response left open? If nothing was said of it, nor of a hyperparameter that is
# in units of the response, as known variances are.
open_transform <- function(lik) {
  takes_transform(lik) && is.null(lik$transform) &&
    all(vapply(lik$params[hyper_in_units(lik)], is.null, NA))
}

# Returns the names of the hyperparameters in units of the response.
hyper_in_units <- function(lik) {
  names(Filter(function(row) row$unit_power != 0, lik_traits(lik)$about))
}
