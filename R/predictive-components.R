# Answers of several latent values of one process in a row, in the user's units: components of a
# response (vectors), of which one of several parts may be meant (mixtures), or mean and spread of
# one (spreads). Latent moments are as C has them: a mean for each point, a block of covariances for
# each row.

#' @export
seen_mean.response_components <- function(object, latent) {
  by_component(latent$mean, components(object)) + latent$offset / object$response$unit
}

# Mean and median are the same.
#' @export
median_response.response_components <- function(object, latent, shift = 0) {
  mean_response(object, latent)
}

# The constants removed from the components
component_centres <- function(object) UseMethod("component_centres", codec_of(object))

#' @export
component_centres.response_vectors <- function(object) object$response$centre

# The logarithm of a spread is about that of the noise.
#' @export
component_centres.response_spreads <- function(object) {
  response <- object$response
  c(response$centre, log(lik_values(object)[["noise"]]) / 2 + log(response$unit))
}

vector_means <- function(object, latent) {
  means <- by_component(latent$mean, components(object))
  means <- sweep(means, 2L, component_units(object$response), "*")
  sweep(means + latent$offset, 2L, component_centres(object), "+")
}

# Covariance of the errors of a new response's components, in C's units
component_noise <- function(object) {
  lik_traits(object$likelihood)$noise(lik_values(object), n_outputs(object))
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

# Returns bounds of the latent function or of new responses, for each component separately.
#' @export
vector_bound.response <- function(object, latent, prediction, p) {
  vector_means(object, latent) + stats::qnorm(p) * spread_of_kind(object, latent, prediction)
}

spread_of_kind <- function(object, latent, prediction) {
  vector_spread(object, latent, if (prediction) diag(component_noise(object)) else 0)
}

# n x (fit, lwr, upr) x w
vector_interval <- function(object, latent, prediction, level) {
  mean <- vector_means(object, latent)
  bound <- function(p) vector_bound(object, latent, prediction, p)
  array(rbind(mean, bound((1 - level) / 2), bound((1 + level) / 2)),
        c(nrow(mean), 3L, ncol(mean)), list(NULL, c("fit", "lwr", "upr"), components(object)))
}

# n x probabilities x w: quantiles of new responses
vector_quantiles <- function(object, latent, probs) {
  mean <- vector_means(object, latent)
  each <- vapply(probs, function(p) vector_bound(object, latent, TRUE, p), mean)
  aperm(array(each, c(dim(mean), length(probs)),
              list(NULL, components(object), quantile_names(probs))), c(1L, 3L, 2L))
}

# ---- Vectors ----

#' @export
mean_response.response_vectors <- function(object, latent) vector_means(object, latent)

#' @export
noise_sds.response_components <- function(object) NULL

# Components that have the same have one.
#' @export
noise_sds.response_vectors <- function(object) {
  if (is.null(lik_traits(object$likelihood)$noise)) return(NULL)
  noise <- sqrt(diag(component_noise(object))) * object$response$unit
  if (object$likelihood$covariance == "spherical") noise[1L]
  else stats::setNames(noise, components(object))
}

#' @export
log_unit.response_vectors <- function(object, latent) {
  object$response$width * log(object$response$unit)
}

#' @export
response_moments.response_vectors <- function(object, latent) {
  list(mean = vector_means(object, latent),
       sd = vector_spread(object, latent, noise_of_rows(object)))
}

#' @export
standard_deviation.response_vectors <- function(object, latent, type) vector_sds(object, latent)

# Latent functions and responses have the same means.
#' @export
predicted.response_vectors <- function(object, latent, request) {
  if (request$type == "quantile") {
    return(restore_rows(vector_quantiles(object, latent, request$at), latent))
  }
  fit <- if (request$interval == "none") vector_means(object, latent)
         else vector_interval(object, latent, request$interval == "prediction", request$level)
  if (!request$se.fit) return(restore_rows(fit, latent))
  at <- asked_rows(latent)
  covariance <- vector_covariances(object, latent)[, , at, drop = FALSE]
  dimnames(covariance)[[3L]] <- names(at)
  c(restore_rows(list(fit = fit, se.fit = vector_sds(object, latent)), latent),
    list(covariance = covariance))
}

# rows x draws x components
#' @export
draws_of.response_vectors <- function(object, latent, n, type) {
  each <- lapply(seq_len(n), function(j) {
    vector_means(object, list(mean = latent$values[[1L]][, j], offset = latent$offset))
  })
  names <- components(object)
  drawn <- array(unlist(each), c(nrow(latent$offset), length(names), n))
  drawn <- aperm(drawn, c(1L, 3L, 2L))
  dimnames(drawn) <- list(NULL, paste0("draw_", seq_len(n)), names)
  restore_rows(drawn, latent)
}

# Each component by itself
#' @export
quantile_residuals.response_vectors <- function(object) {
  moments <- response_moments(object, loo_latent(object))
  (observed_values(object) - moments$mean) / moments$sd
}

# Each component by itself, as intervals are
#' @export
response_tails.response_vectors <- function(object, y, latent) {
  moments <- response_moments(object, latent)
  z <- (codec_of(object)$observed(y) - moments$mean) / moments$sd
  list(below = stats::pnorm(z), above = stats::pnorm(z, lower.tail = FALSE), jumps = FALSE)
}

#' @export
interval_width.response_vectors <- function(object, latent, p) {
  vector_bound(object, latent, TRUE, (1 + p) / 2) - vector_bound(object, latent, TRUE, (1 - p) / 2)
}

# A column for each entry of nu and of the lower triangle of T.
#' @export
site_table.response_components <- function(object) {
  names <- components(object)
  w <- length(names)
  units <- component_units(object$response)
  lower <- which(lower.tri(diag(w), diag = TRUE), arr.ind = TRUE)
  tau <- t(matrix(object$sites$tau, w * w)[lower[, 1L] + w * (lower[, 2L] - 1L), , drop = FALSE])
  colnames(tau) <- paste("precision", names[lower[, 2L]], names[lower[, 1L]], sep = ".")
  nu <- by_component(object$sites$nu, paste0("shift.", names))
  data.frame(row = object$row_names,
             sweep(tau, 2L, units[lower[, 2L]] * units[lower[, 1L]], "/"),
             sweep(nu, 2L, units, "/"))
}

# Variances of the errors of the fit's rows, in C's units: one of each component, or a matrix
noise_of_rows <- function(object) UseMethod("noise_of_rows", codec_of(object))

#' @export
noise_of_rows.response_vectors <- function(object) diag(component_noise(object))

# ---- One response of several latent values: mean and spread, or pairs ----

#' @export
predicted.response_components <- function(object, latent, request) {
  if (request$type %in% c("link", "latent")) predicted.response_vectors(object, latent, request)
  else NextMethod()
}

#' @export
draws_of.response_components <- function(object, latent, n, type) {
  if (type %in% c("link", "latent")) draws_of.response_vectors(object, latent, n, type)
  else NextMethod()
}

# The mean response is no monotone function of one latent value: bounds are those of a normal
# distribution with its mean and standard deviation.
#' @export
confidence_bound.response_components <- function(object, latent, type, z) {
  mean_response(object, latent) + z * standard_deviation(object, latent, type)
}

#' @export
mean_response.response_spreads <- function(object, latent) vector_means(object, latent)[, 1L]

#' @export
response_moments.response_spreads <- function(object, latent) {
  w <- length(components(object))
  total <- matrix(engine_lik_predict(object, latent$mean, latent$var)$var, w^2)[1L, ]
  list(mean = mean_response(object, latent), sd = sqrt(total) * object$response$unit)
}

# ---- Rows one by one ----

# Traces of var cov^-1 over the rows' blocks, whatever their units.
block_traces <- function(var, cov, w) {
  var <- matrix(var, w * w)
  cov <- matrix(cov, w * w)
  sum(vapply(seq_len(ncol(var)), function(i) {
    sum(diag(solve(matrix(cov[, i], w), matrix(var[, i], w))))
  }, 0))
}
