# Fits whose rows may agree in more than one way: the modes that EP found. The fit itself is at the
# one of largest evidence; fit$modes has what differs at the others, the best first (OF_MODE).

count_modes <- function(fit) 1L + length(fit$modes)

# Returns the fit at one of its modes, as if it were the only one; `mode` notes which it is.
as_mode <- function(fit, mode) {
  words <- mode_words(fit, mode)
  if (mode > 1L) fit[OF_MODE] <- fit$modes[[mode - 1L]][OF_MODE]
  fit$modes <- NULL
  fit$mode <- words
  fit
}

# Returns in words which mode a fit is at, or NULL for a single one.
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

# Returns the proportion of the posterior's mass at each mode.
mode_weights <- function(fit) {
  mass <- exp(mode_evidences(fit) - max(mode_evidences(fit)))
  mass / sum(mass)
}

# Returns the fit at one of its modes, or the ensemble of all.
at_mode <- function(fit, mode) {
  force(mode) # which is checked on the way
  if (length(fit$modes) == 0L) return(fit)
  if (!identical(mode, "all")) return(as_mode(fit, mode))
  new_ensemble(each_mode(fit, identity), mode_weights(fit), list(modes = NULL, mode = NULL))
}

# ---- Parts of its rows ----

# Builds the problem (engine-problem.R) of the fit's rows without their inputs, for the likelihood.
rows_without_inputs <- function(fit) {
  fit <- checked_rows(fit)
  list(lik = fit$likelihood, processes = processes(fit), width = n_outputs(fit),
       rows = fit$data_rows, offset = stacked_values(fit$offset / fit$response$unit),
       nkernel = sum(fit$hyper$part == "kernel"))
}

most_probable_parts <- function(fit) {
  prob <- part_probabilities(rows_without_inputs(fit), fit$hyper$theta, fit$cavity$mean,
                             fit$cavity$var)
  max.col(prob, "first")
}

# Statements about one vector hold for the part that the fit finds most probable.
#' @export
noise_of_rows.response_mixtures <- function(object) {
  part_variances(object$y, most_probable_parts(object)) / object$response$unit^2
}

#' @export
observed_values.response_mixtures <- function(object) {
  part_values(object$y, most_probable_parts(object))
}

# ---- Relative weights ----

# log of the mass at a mode by its mean and covariance alone (thesis 5.41, and N log 2 pi):
#   sum_i log p_i(z_i) - z'K^{-1}z / 2 - log|A|,  K^{-1}z = nu - T z, |A|^2 = |I + K T|,
# z the posterior mean, on a basis what it carries of it, and p_i then averaged over the rest.
# log|A| follows from the evidence, sum_i (log Z_i - (log|G_i| + cav_mean_i'alpha_i) / 2) - log|A|,
# or from the state. NA where that takes inputs that are not kept.
relative_weight <- function(fit) {
  summed <- has_state(fit)
  if (summed && !keeps_inputs(fit)) return(NA_real_)
  problem <- rows_without_inputs(fit)
  w <- n_outputs(fit)
  n <- fit$n
  seen <- seen_by_sites(fit)
  left <- if (summed) fit$latent$var - carried_variances(fit) else 0 * fit$latent$var
  at_mean <- engine_tilt(problem, fit$hyper$theta, fit$latent$mean, left)$logz
  log_det <- if (summed) sum(vapply(full_sums(fit)$state, function(s) state_moments(s)$log_det, 0))
             else sum(fit$cavity$lpd) - sum(seen$log_g + seen$pull) / 2 - engine_evidence(fit)
  own <- sum(at_mean) - sum(fit$latent$mean * seen$alpha) / 2 - log_det
  own - evidence_shift(fit, fit$y)
}

# Returns what the basis carries of the variances of the fit's rows, w x w blocks: |H'k|^2
# (posterior.h).
carried_variances <- function(fit) {
  x <- points_of_rows(fit[["x"]], fit)
  k <- class_kernel(fit, x, fit$posterior$basis, 1L)
  along <- cbind(k %*% full_factor(fit$posterior$H, ncol(k)), mean_residuals(fit$posterior, x, k))
  c(own_products(along, n_outputs(fit)))
}

# Returns, row by row, log|I - S T| and cav_mean'alpha, and alpha = nu - T mean of all.
seen_by_sites <- function(fit) {
  w <- n_outputs(fit)
  of_row <- function(S, tau, mean, nu, cavity) {
    tau <- matrix(tau, w)
    alpha <- nu - drop(tau %*% mean)
    c(determinant(diag(w) - matrix(S, w) %*% tau)$modulus, sum(cavity * alpha), alpha)
  }
  columns <- function(values) as.data.frame(matrix(values, ncol = fit$n))
  found <- mapply(of_row, columns(fit$latent$var), columns(fit$sites$tau), columns(fit$latent$mean),
                  columns(fit$sites$nu), columns(fit$cavity$mean))
  list(log_g = found[1L, ], pull = found[2L, ], alpha = c(found[-(1:2), ]))
}

# Checks the number of a mode, or "all".
check_mode <- function(mode, object, all = FALSE) {
  if (all && identical(mode, "all")) return(mode)
  mode <- check_count(mode, "mode")
  if (mode <= count_modes(object)) return(mode)
  stop_sparsegp("mode", paste0("is ", mode, ", and the fit has ",
                               counted(count_modes(object), "mode")), "See modes(fit)")
}
