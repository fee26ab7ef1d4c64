# Fits whose rows may agree in more than one way: the modes that EP found. The fit itself is at the
# one of largest evidence; fit$modes has what differs at the others, the best first (OF_MODE).

is_modal_fit <- function(fit) is_modal(fit$likelihood)

count_modes <- function(fit) 1L + length(fit$modes)

# The fit at one of its modes, as if it were the only one; `mode` says which it is.
as_mode <- function(fit, mode) {
  words <- mode_words(fit, mode)
  if (mode > 1L) fit[OF_MODE] <- fit$modes[[mode - 1L]][OF_MODE]
  fit$modes <- NULL
  fit$mode <- words
  fit
}

# Which mode a fit is at, in words; NULL: there is but one.
mode_words <- function(fit, mode = 1L) {
  if (length(fit$modes) == 0L) return(fit[["mode"]])
  paste0("mode ", mode, " of ", count_modes(fit), ", weight ",
         format(mode_weights(fit)[mode], digits = 2L))
}

each_mode <- function(fit, what) {
  lapply(seq_len(count_modes(fit)), function(mode) what(as_mode(fit, mode)))
}

mode_evidences <- function(fit) {
  c(fit$log_evidence, vapply(fit$modes, function(mode) mode$log_evidence, 0))
}

# Their shares of the posterior's mass.
mode_weights <- function(fit) {
  mass <- exp(mode_evidences(fit) - max(mode_evidences(fit)))
  mass / sum(mass)
}

# Moments of a mixture of modes from those at each: mean and var as C has them, w x w blocks.
mixed_moments <- function(each, weights, w) {
  add <- function(values) Reduce(`+`, Map(`*`, weights, values))
  mean <- add(lapply(each, `[[`, "mean"))
  pairs <- expand.grid(a = seq_len(w), b = seq_len(w))
  var <- add(lapply(each, function(latent) {
    away <- matrix(latent$mean - mean, w)
    c(matrix(latent$var, w * w) + away[pairs$a, , drop = FALSE] * away[pairs$b, , drop = FALSE])
  }))
  list(mean = mean, var = var)
}

# What latent() says of the fit, moments of vectors or of one number a row: at one mode, or mixed
# over all.
over_modes <- function(fit, mode, latent) {
  if (length(fit$modes) == 0L) return(latent(fit))
  if (!identical(mode, "all")) return(latent(as_mode(fit, mode)))
  each <- each_mode(fit, latent)
  w <- length(each[[1L]]$var) / length(each[[1L]]$mean)
  mixed <- mixed_moments(each, mode_weights(fit), w)
  replace(each[[1L]], names(mixed), mixed)
}

# ---- Parts of its rows ----

# What a likelihood has to know of the fit's rows (engine.R), without their inputs.
rows_without_inputs <- function(fit) {
  fit <- checked_rows(fit)
  list(lik = fit$likelihood, processes = processes(fit), width = n_outputs(fit),
       rows = fit$data_rows, offset = tall_values(fit$offset / fit$response$unit),
       nkernel = sum(fit$hyper$part == "kernel"))
}

fit_part_probabilities <- function(fit) {
  part_probabilities(rows_without_inputs(fit), fit$hyper$theta, fit$cavity$mean, fit$cavity$var)
}

most_probable_parts <- function(fit) max.col(fit_part_probabilities(fit), "first")

# ---- Relative weights ----

# log of the mass at a mode by its mean and covariance alone (thesis 5.41, and N log 2 pi):
#   sum_i log p_i(z_i) - z'K^{-1}z / 2 - log|A|,  K^{-1}z = nu - T z, |A|^2 = |I + K T|,
# z the posterior mean, on a basis what it carries of it, and p_i then averaged over the rest.
# log|A| follows from the evidence, sum_i (log Z_i - (log|G_i| + cav_mean_i'alpha_i) / 2) - log|A|,
# or from the state. NA where that takes inputs that are not kept.
relative_weight <- function(fit) {
  if (has_state(fit) && !keeps_inputs(fit)) return(NA_real_)
  problem <- rows_without_inputs(fit)
  w <- n_outputs(fit)
  n <- fit$n
  seen <- seen_by_sites(fit)
  left <- if (has_state(fit)) fit$latent$var - carried_variances(fit) else 0 * fit$latent$var
  at_mean <- engine_tilt(problem, fit$hyper$theta, fit$latent$mean, left)$logz
  log_det <- if (has_state(fit)) sum(vapply(fit$state, function(s) state_moments(s)$log_det, 0))
             else sum(fit$cavity$lpd) - sum(seen$log_g + seen$pull) / 2 - engine_evidence(fit)
  own <- sum(at_mean) - sum(fit$latent$mean * seen$alpha) / 2 - log_det
  own - unit_shift(fit, fit$y)
}

# What the basis carries of the variances of the fit's rows, w x w blocks: |H'k|^2 (posterior.h).
carried_variances <- function(fit) {
  w <- n_outputs(fit)
  x <- tall_inputs(scaled_inputs(fit[["x"]], fit$scaling), w)
  carried <- crossprod(fit$posterior$H, class_kernel(fit, fit$posterior$basis, x, 1L))
  pairs <- expand.grid(a = seq_len(w), b = seq_len(w))
  points <- function(a) carried[, seq(a, by = w, length.out = fit$n), drop = FALSE]
  c(t(mapply(function(a, b) colSums(points(a) * points(b)), pairs$a, pairs$b)))
}

# The log evidence as C had it.
engine_evidence <- function(fit) fit$log_evidence + unit_shift(fit, fit$y)

# Row by row log|I - S T| and cav_mean'alpha, and alpha = nu - T mean of all.
seen_by_sites <- function(fit) {
  w <- n_outputs(fit)
  mean <- matrix(fit$latent$mean, w)
  nu <- matrix(fit$sites$nu, w)
  var <- matrix(fit$latent$var, w * w)
  tau <- matrix(fit$sites$tau, w * w)
  block <- function(x, i) matrix(x[, i], w)
  alpha <- vapply(seq_len(fit$n), function(i) nu[, i] - drop(block(tau, i) %*% mean[, i]),
                  numeric(w))
  log_g <- vapply(seq_len(fit$n), function(i) {
    determinant(diag(w) - block(var, i) %*% block(tau, i))$modulus[[1L]]
  }, 0)
  list(alpha = c(alpha), log_g = log_g, pull = colSums(matrix(fit$cavity$mean, w) * alpha))
}
