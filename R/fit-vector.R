# What a fit of several components answers, in the user's units. Latent moments are as C has them: a
# mean for each point, a block of covariances for each row.

# Fields that follow from a vector field, and the numbers C has for them in place of a component
# (kern_vector.c); power of the inputs' unit by which they have another than the response.
DERIVED <- list(divergence = list(code = -1, power = -1), vorticity = list(code = -2, power = -1),
                stream = list(code = -3, power = 1), potential = list(code = -4, power = 1))

# Constants removed from the components; the logarithm of a spread is about that of the noise.
component_centres <- function(object) {
  response <- object$response
  if (codec_of(object)$several) return(response$centre)
  c(response$centre, log(lik_values(object)[["noise"]]) / 2 + log(response$unit))
}

vector_means <- function(object, latent) {
  means <- by_component(latent$mean, components(object))
  means <- sweep(means, 2L, component_units(object$response), "*")
  sweep(means + latent$offset, 2L, component_centres(object), "+")
}

vector_sds <- function(object, latent) {
  sds <- sqrt(component_vars(latent$var, components(object)))
  sweep(sds, 2L, component_units(object$response), "*")
}

# w x w x n
vector_covariances <- function(object, latent) {
  names <- components(object)
  units <- component_units(object$response)
  array(latent$var, c(length(names), length(names), nrow(latent$offset)),
        list(names, names, NULL)) * c(units %o% units)
}

# Standard deviations of the latent function plus errors: variances of these, in C's units, one for
# each component or a matrix.
vector_spread <- function(object, latent, noise) {
  var <- component_vars(latent$var, components(object))
  if (!is.matrix(noise)) noise <- rep(noise, each = nrow(var))
  sweep(sqrt(var + noise), 2L, component_units(object$response), "*")
}

# n x (fit, lwr, upr) x w
vector_interval <- function(object, latent, prediction, level) {
  mean <- vector_means(object, latent)
  noise <- if (prediction) diag(component_noise(object)) else 0
  reach <- stats::qnorm((1 + level) / 2) * vector_spread(object, latent, noise)
  array(rbind(mean, mean - reach, mean + reach), c(nrow(mean), 3L, ncol(mean)),
        list(NULL, c("fit", "lwr", "upr"), components(object)))
}

# n x probabilities x w: quantiles of new responses, each component by itself.
vector_quantiles <- function(object, latent, probs) {
  mean <- vector_means(object, latent)
  spread <- vector_spread(object, latent, diag(component_noise(object)))
  each <- vapply(probs, function(p) mean + stats::qnorm(p) * spread, mean)
  aperm(array(each, c(dim(mean), length(probs)),
              list(NULL, components(object), quantile_names(probs))), c(1L, 3L, 2L))
}

# ---- Fields that follow ----

# Is there such a field? Stream function and vorticity are vectors themselves in space.
check_derived <- function(object, type) {
  parts <- component_parts(object$spec)
  types <- vapply(parts, function(part) part$type, "")
  own <- if (type %in% c("divergence", "potential")) "curlfree" else "divfree"
  why <- if (!any(types %in% FIELDS)) "is of a field, and no part of the kernel is one"
         else if (own == "divfree" && width(object) > 2L) "is a vector itself in space"
         else if (bases_unfit(parts, types, own, type)) {
           "is no function, as the field of matern32 has no derivatives"
         } else if (sees_space(object$spec, space_of(parts))) {
           "is not known where the kernel has other parts that see the inputs of the field"
         }
  if (is.null(why)) return(invisible())
  stop_sparsegp("type", paste0("= \"", type, "\" ", why),
                "Use type = \"response\", or fit by kernel_helmholtz()")
}

bases_unfit <- function(parts, types, own, type) {
  bases <- vapply(parts[types == own], function(part) part$parts[[1L]]$type, "")
  DERIVED[[type]]$power < 0 && any(bases == "matern32")
}

space_of <- function(parts) {
  fields <- Filter(function(part) part$type %in% FIELDS, parts)
  unique(unlist(lapply(fields, function(field) field$parts[[1L]]$vars)))
}

# Does something beside the fields see their inputs?
sees_space <- function(spec, space) {
  if (spec$type %in% FIELDS) return(FALSE)
  if (length(spec$parts)) return(any(vapply(spec$parts, sees_space, NA, space)))
  spec$type != "coregion" && any(spec$vars %in% space)
}

# Mean and variance of a derived field at tall inputs x, of which one point a row is kept.
derived_moments <- function(object, type, x) {
  w <- width(object)
  about <- DERIVED[[type]]
  at <- cbind(row_inputs(x, w), .component = rep(about$code, nrow(x) %/% w))
  model <- list(spec = object$spec, lik = object$likelihood, processes = 1L, width = 1L)
  moments <- latent_moments(model, kernel_theta(object), object$posterior, at)
  space <- space_of(component_parts(object$spec))[1L] + 1L
  unit <- object$response$unit * object$scaling$sd[[space]]^about$power
  list(mean = moments$mean * unit, var = moments$var * unit^2)
}

# ---- Rows one by one ----

# Leave-one-out quantiles of the components, each by itself.
vector_loo_quantiles <- function(object) {
  moments <- response_moments(object, loo_latent(object))
  (observed_values(object) - moments$mean) / moments$sd
}

# Traces of var cov^-1 over the rows' blocks, whatever their units.
block_traces <- function(var, cov, w) {
  var <- matrix(var, w * w)
  cov <- matrix(cov, w * w)
  sum(vapply(seq_len(ncol(var)), function(i) {
    sum(diag(solve(matrix(cov[, i], w), matrix(var[, i], w))))
  }, 0))
}
