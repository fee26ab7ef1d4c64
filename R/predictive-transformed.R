# Answers of numbers on a scale of their own (response-transformed.R), where they differ from those
# of the class above. What is monotone goes through the inverse of the scale: medians, quantiles and
# intervals. Means are sums over nodes of the distribution of a new response.

#' @export
to_response.response_transformed <- function(object, mean) {
  SCALES[[codec_of(object)$scale]]$from(mean * object$response$unit + object$response$centre[[1L]],
                                        object$response$scale)
}

# Noise is symmetric about the latent value.
#' @export
median_response.response_transformed <- function(object, latent, shift = 0) {
  to_response(object, location(object, latent)$mean + shift)
}

# ---- Means over the distribution of a new response ----

# Returns list(y, weight): responses at the nodes of a rule for integrals over the predictive
# distribution of each row (a matrix with a column for each node), and the nodes' weights. Where
# that is normal on the fitted scale its nodes are of the trapezoid rule, as far out as exp() of the
# scale's widest distribution can move mass; of others they are quantiles.
predictive_nodes <- function(object, latent) {
  STEP <- 0.5
  QUANTILES <- 4 # farther out exp() of heavy tails has no mean
  if (lik_traits(object$likelihood)$exact) {
    at <- normal_moments(object, latent)
    t <- normal_nodes(STEP, sqrt(at$var) * object$response$unit)
    z <- at$mean + outer(sqrt(at$var), t)
  } else {
    t <- seq(-QUANTILES, QUANTILES, by = STEP)
    z <- fitted_quantiles(object, latent, stats::pnorm(t))
  }
  list(y = to_response(object, z), weight = normal_weights(t))
}

# Returns quantiles of responses on the fitted scale, a column for each p. Where latent values are
# known the noise is all there is, and it is the same for all rows, so one row gives all quantiles.
fitted_quantiles <- function(object, latent, p) {
  rows <- latent_count(latent, n_outputs(object))
  known <- rows > 1L && n_outputs(object) == 1L && is.null(latent$weights) && all(latent$var == 0)
  if (known) {
    one <- list(mean = 0, var = 0, offset = 0)
    noise <- fitted_quantiles(object, one, p) - location(object, one)$mean
    return(outer(location(object, latent)$mean, drop(noise), "+"))
  }
  response_quantiles(object, latent, p, function(object, p, latent) {
    of_responses(engine_lik_quantile, object, numeric(length(p)), latent, p)
  })
}

# Returns a fit whose responses are those on the fitted scale, for moments and
# quantiles there.
on_fitted_scale <- function(object) {
  fitted <- codec_of(object)$fitted
  if (!is.null(fitted)) object$response$codec <- fitted$name
  object
}

# Moments of a new response on the fitted scale under normal noise, in C's units
normal_moments <- function(object, latent) {
  at <- location(object, latent)
  noise <- lik_traits(object$likelihood)
  predicted <- engine_lik_predict(object, at$mean, at$var)
  extra <- noise$extra_var(lik_values(object), weights_or_ones(latent$weights, 1L), 0)
  list(mean = predicted$mean, var = predicted$var + extra)
}

# Returns fun(latent) of blocks of rows, so that matrices of nodes stay small.
by_rows <- function(object, latent, fun) {
  w <- n_outputs(object)
  latent <- expand_latent(latent, w)
  in_blocks(latent_count(latent, w), function(rows) fun(some_latent(latent, rows, w)))
}

#' @export
mean_response.response_transformed <- function(object, latent) {
  over_nodes(object, latent, "mean")
}

over_nodes <- function(object, latent, moment) {
  by_rows(object, latent, function(latent) {
    nodes <- predictive_nodes(object, latent)
    node_moments(nodes$y, nodes$weight)[[moment]]
  })
}

#' @export
response_moments.response_transformed <- function(object, latent) {
  list(mean = mean_response(object, latent), sd = over_nodes(object, latent, "sd"))
}

# The mean over the noise where the latent value is known
#' @export
response_at.response_transformed <- function(object, latent, shift = 0) {
  mean_response(object, with_known_location(object, latent, shift))
}

with_known_location <- function(object, latent, shift) {
  w <- n_outputs(object)
  n <- latent_count(latent, w)
  first <- (seq_len(n) - 1L) * w + 1L
  latent$mean[first] <- latent$mean[first] + shift
  blocks <- matrix(latent$var, w * w)
  blocks[c(seq_len(w), (seq_len(w) - 1L) * w + 1L), ] <- 0
  latent$var <- c(blocks)
  latent
}

# Over the posterior of the latent value, of the mean over the noise
#' @export
standard_deviation.response_transformed <- function(object, latent, type) {
  if (type %in% c("link", "latent")) return(NextMethod())
  STEP <- 1 # in standard deviations of a normal variable, good to 1e-8
  by_rows(object, latent, function(latent) {
    spread <- sqrt(location(object, latent)$var)
    t <- normal_nodes(STEP, spread * object$response$unit)
    means <- vapply(t, function(t) response_at(object, latent, t * spread), spread)
    node_moments(matrix(means, ncol = length(t)), normal_weights(t))$sd # of one row, too
  })
}

#' @export
confidence_bound.response_transformed <- confidence_bound.response

# ---- Densities, and what is in units of the response ----

# The mean, over the distribution of a new response, of the logarithm of a unit of C's there
#' @export
log_unit.response_transformed <- function(object, latent) {
  by_rows(object, latent, function(latent) {
    nodes <- predictive_nodes(object, latent)
    slopes <- log_slopes(object$response, c(nodes$y))
    -drop(matrix(slopes, ncol = length(nodes$weight)) %*% nodes$weight)
  })
}
