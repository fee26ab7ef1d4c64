# Answers of one response with one latent function: what all kinds do that have nothing of their
# own, and what differs for numbers that the model scales with.

#' @export
seen_mean.response <- function(object, latent) latent$mean + latent$offset / object$response$unit

#' @export
to_response.response <- function(object, mean) mean * object$response$unit + object$response$centre

#' @export
mean_response.response <- function(object, latent) {
  to_response(object, engine_lik_predict(object, seen_mean(object, latent), latent$var,
                                         weights = latent$weights)$mean)
}

# Latent function and response are in the same order.
#' @export
median_response.response <- function(object, latent, shift = 0) {
  to_response(object, engine_lik_eval(object, seen_mean(object, latent) + shift,
                                      weights = latent$weights)$mean)
}

#' @export
response_at.response <- function(object, latent, shift = 0) median_response(object, latent, shift)

#' @export
known_response.response <- function(object, f, offset) {
  var <- numeric(length(f) * n_outputs(object))
  response_at(object, list(mean = c(t(f)), var = var, offset = offset))
}

# The chance of a point is even in f, so its quantiles are those of |f|: of f^2 / sd^2, a
# chi-squared variable, or where f has a sign for sure those of f. shift: in f, of which the normal
# probability is that of the quantile.
#' @export
median_response.response_seen <- function(object, latent, shift = 0) {
  SURE <- 12 # standard deviations from 0
  sd <- sqrt(latent$var)
  mean <- abs(seen_mean(object, latent))
  far <- mean > SURE * sd
  p <- ifelse(sd > 0, stats::pnorm(shift / sd), 0.5)
  size <- suppressWarnings(sd * sqrt(stats::qchisq(p, 1, ifelse(far, 0, (mean / sd)^2))))
  size <- ifelse(far, mean + shift, size)
  to_response(object, engine_lik_eval(object, size, weights = latent$weights)$mean)
}

#' @export
standard_deviation.response <- function(object, latent, type) {
  if (type %in% c("link", "latent")) return(sqrt(latent$var) * object$response$unit)
  sqrt(engine_lik_predict(object, seen_mean(object, latent), latent$var, TRUE,
                          latent$weights)$spread)
}

# The mean of a response that scales with the latent function is the latent function.
#' @export
standard_deviation.response_numbers <- function(object, latent, type) {
  sqrt(location_variance(object, latent)) * object$response$unit
}

#' @export
confidence_bound.response <- function(object, latent, type, z) {
  shift <- z * sqrt(location_variance(object, latent))
  if (type == "median") return(median_response(object, latent, shift))
  if (!type %in% c("link", "latent")) return(response_at(object, latent, shift))
  centre_answer(object, replace(latent, "mean", list(latent$mean + shift)), type)
}

# A weight is that of the new responses.
#' @export
response_moments.response <- function(object, latent) {
  seen <- seen_mean(object, latent)
  predicted <- engine_lik_predict(object, seen, latent$var, weights = latent$weights)
  # the last argument is evaluated only where it is asked for
  extra <- lik_traits(object$likelihood)$extra_var(
    lik_values(object), latent$weights,
    predicted$var - engine_lik_predict(object, seen, latent$var, TRUE)$spread
  )
  list(mean = to_response(object, predicted$mean),
       sd = sqrt(predicted$var + extra) * object$response$unit)
}

#' @export
predicted.response <- function(object, latent, request) {
  type <- point_type(object, request$type)
  fit <- switch(type,
                prob = class_probabilities(object, latent),
                class = predicted_class(object, class_probabilities(object, latent),
                                        request$reject),
                quantile = quantile_answer(object, latent, request$at),
                zero = zero_probability(object, latent),
                if (request$interval == "none") point_answer(object, latent, type)
                else interval_answer(object, latent, type, request$interval, request$level))
  answer <- if (!request$se.fit) fit
            else list(fit = fit, se.fit = point_spread(object, latent, type))
  restore_rows(answer, latent)
}

# Returns the probability that a new count is 0.
zero_probability <- function(object, latent) {
  none <- numeric(latent_count(latent, n_outputs(object)))
  pmax(1 - response_tails(object, none, latent)$above, 0)
}

# ---- Draws ----

#' @export
draws_of.response <- function(object, latent, n, type) {
  w <- n_outputs(object)
  f <- c(latent$values[[1L]])
  at <- expand_latent(list(mean = f, var = numeric(w * length(f)), offset = latent$offset,
                             weights = latent$weights), w)
  drawn <- if (type == "response") response_at(object, at) else centre_answer(object, at, type)
  restore_rows(drawn_matrix(drawn, n), latent)
}

# A column for each draw, of values of all rows of a draw after those of the one before.
drawn_matrix <- function(values, n) {
  matrix(values, ncol = n, dimnames = list(NULL, paste0("draw_", seq_len(n))))
}

#' @export
draw_response.response <- function(object, f, weights, prob) {
  y <- lik_traits(object$likelihood)$draw(f, lik_values(object), weights)
  codec_of(object)$back(y, object$response)
}

# ---- Rows of the fit ----

#' @export
observed_values.response <- function(object) codec_of(object)$observed(object$y)

plain_residuals <- function(object, pearson) {
  latent <- rows_latent(object)
  observed <- observed_values(object)
  if (!pearson) return(known_residuals(observed - point_response(object, latent), observed))
  moments <- point_moments(object, latent)
  known_residuals((observed - moments$mean) / moments$sd, observed)
}

# Sets 0 / 0 to 0: the response is the predicted one, and the standard deviation is 0.
known_residuals <- function(residual, observed) {
  residual[is.nan(residual) & !is.na(observed)] <- 0
  residual
}

# Dunn and Smyth's, from what the leave-one-out distributions have below and above the responses.
#' @export
quantile_residuals.response <- function(object) {
  tails <- response_tails(object, object$y, loo_latent(object))
  refuse_if(is.null(tails), "type", "= \"quantile\" is for responses that have an order",
            "Use type = \"response\" or \"pearson\"")
  # a quantile lies at random within a jump
  tail_quantiles(tails, if (tails$jumps) stats::runif(length(tails$below)) else 0)
}

#' @export
response_tails.response <- function(object, y, latent) {
  if (codec_of(object)$tails) tails_in_c(object, y, latent)
}

tails_in_c <- function(object, y, latent) {
  codec <- codec_of(object)
  c(of_responses(engine_lik_tails, object, codec$codes(y, object$response), latent),
    jumps = codec$jumps)
}

#' @export
interval_width.response <- function(object, latent, p) {
  ends <- response_quantiles(object, latent, (1 + c(-1, 1) * p) / 2)
  ends[, 2L] - ends[, 1L]
}

#' @export
lpd_of_rows.response <- function(object) {
  object$cavity$lpd + log_slopes(object$response, object$y)
}

#' @export
noise_sds.response <- function(object) NULL

#' @export
noise_sds.response_numbers <- function(object) {
  if (!has_variances(object$likelihood)) sqrt(engine_lik_eval(object, 0)$var) * object$response$unit
}

#' @export
evidence_of.response <- function(object) object$log_evidence

#' @export
log_unit.response <- function(object, latent) log(object$response$unit)

#' @export
loo_table.response <- function(object) {
  moments <- if_responses(point_moments(object, loo_latent(object)),
                          list(mean = NA_real_, sd = NA_real_))
  data.frame(observed = observed_values(object), mean = moments$mean, sd = moments$sd)
}

#' @export
site_table.response <- function(object) {
  unit <- object$response$unit
  data.frame(row = object$row_names, precision = c(object$sites$tau) / unit^2,
             shift = c(object$sites$nu) / unit)
}
