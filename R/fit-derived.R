# Fields that follow from a vector field, in the user's units.

# The numbers C has for them in place of a component (kern_vector.c); power of the inputs' unit by
# which they have another than the response.
DERIVED <- list(divergence = list(code = -1, power = -1), vorticity = list(code = -2, power = -1),
                stream = list(code = -3, power = 1), potential = list(code = -4, power = 1))

# Is there such a field? Stream function and vorticity are vectors themselves in space.
check_derived <- function(object, type) {
  refuse_mean_slopes(object)
  parts <- component_parts(object$spec)
  types <- vapply(parts, function(part) part$type, "")
  own <- if (type %in% c("divergence", "potential")) "curlfree" else "divfree"
  bases <- vapply(parts[types == own], function(part) part$parts[[1L]]$type, "")
  why <- if (!any(types %in% FIELDS)) "is for fields, and the kernel has no part for a field"
         else if (own == "divfree" && n_outputs(object) > 2L) "is a vector itself in space"
         else if (DERIVED[[type]]$power < 0 && any(bases == "matern32")) {
           "does not exist: fields by kernel_matern32() have no derivatives"
         } else if (any(inputs_beside_fields(object$spec) %in% space_of(parts))) {
           "is not identified if other parts of the kernel read the inputs of the field"
         }
  refuse_if(!is.null(why), "type", paste0("= \"", type, "\" ", why),
            "Use predict(), or fit by kernel_helmholtz()")
}

space_of <- function(parts) {
  fields <- Filter(function(part) part$type %in% FIELDS, parts)
  unique(unlist(lapply(fields, function(field) field$parts[[1L]]$vars)))
}

# Returns the inputs that other parts of the kernel read.
inputs_beside_fields <- function(spec) {
  if (spec$type %in% FIELDS) return(NULL)
  if (length(spec$parts)) return(unlist(lapply(spec$parts, inputs_beside_fields)))
  if (spec$type != "coregion") spec$vars
}

# Mean and variance of a derived field at tall inputs x, of which one point a row is kept.
derived_moments <- function(object, type, x) {
  by_member(object, function(object, x) derived_of_fit(object, type, x), function(each, object) {
    mixed_moments(object, each, object$ensemble$weights, w = 1L)
  }, x)
}

derived_of_fit <- function(object, type, x) {
  w <- n_outputs(object)
  about <- DERIVED[[type]]
  at <- cbind(row_inputs(x, w), .component = rep(about$code, nrow(x) %/% w))
  model <- list(spec = object$spec, lik = object$likelihood, processes = 1L, width = 1L)
  moments <- latent_moments(model, kernel_theta(object), object$posterior, at)
  space <- space_of(component_parts(object$spec))[1L] + 1L
  unit <- object$response$unit * object$scaling$sd[[space]]^about$power
  list(mean = moments$mean * unit, var = moments$var * unit^2)
}

# Quantiles of a derived field, whose posterior is normal or a mixture of such.
derived_bound <- function(moments, p) {
  ends <- lapply(moments$members %||% list(moments), function(own) {
    own$mean + stats::qnorm(p) * sqrt(own$var)
  })
  if (length(ends) == 1L) return(ends[[1L]])
  increasing_root(function(q) {
    mixed(lapply(moments$members, function(own) stats::pnorm(q, own$mean, sqrt(own$var))),
          moments$shares) - p
  }, do.call(pmin, ends), do.call(pmax, ends))
}
