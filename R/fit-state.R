# Fits on a basis as sums over their rows: the factor R of the basis and for every process S = sum
# tau v v' and t = sum nu v (state.h), in which the coefficients of a mean stand after the points, a
# list of them in fit$state, one for each basis. Sums of rows
# seen apart add up, and rows may go on being added.

takes_rows <- function(fit) UseMethod("takes_rows")

#' @export
takes_rows.sparsegp_stream <- function(fit) TRUE

#' @export
takes_rows.sparsegp <- function(fit) !is.null(fit$state) || is_site_fit(fit)

# Are the inputs of all rows that the fit has seen still there? Not those of copies of rows.
keeps_inputs <- function(fit) {
  !is.null(fit[["x"]]) && nrow(fit[["x"]]) == fit$n && is.null(fit$copies)
}

# The same bases without any row.
no_rows_state <- function(state) {
  lapply(state, function(one) list(R = one$R, S = 0 * one$S, t = 0 * one$t))
}

add_states <- function(f, g) {
  Map(function(a, b) list(R = a$R, S = a$S + b$S, t = a$t + b$t), f, g)
}

# Returns S of every process of a state.
process_sums <- function(one) {
  d <- nrow(one$t)
  if (ncol(one$t) == 1L) return(list(one$S))
  lapply(seq_len(ncol(one$t)), function(c) one$S[, (c - 1L) * d + seq_len(d), drop = FALSE])
}

# Returns the means of z, a column for each process, and the sum of log|A|, A'A = I + S.
state_moments <- function(one) {
  factors <- lapply(process_sums(one), function(S) chol(diag(nrow(S)) + S))
  mean <- mapply(function(A, c) backsolve(A, backsolve(A, one$t[, c], transpose = TRUE)),
                 factors, seq_along(factors))
  list(mean = matrix(mean, nrow(one$t)),
       log_det = sum(vapply(factors, function(A) sum(log(diag(A))), 0)))
}

# Returns the log of the integral of N(z; 0, I) exp(-z'S z / 2 + t'z) over all processes: t'M t / 2
# - log|A|.
state_mass <- function(state) {
  sum(vapply(state, function(one) {
    moments <- state_moments(one)
    sum(one$t * moments$mean) / 2 - moments$log_det
  }, 0))
}

# Returns t_before'(mean after) / 2, which C's sum over new rows lacks of their evidence where rows
# before them stand (ep_loop.h: base), but for state_mass(before).
state_pull <- function(before, after) {
  sum(unlist(Map(function(b, a) sum(b$t * state_moments(a)$mean) / 2, before, after)))
}

# Returns the fit without its rows.
without_rows <- function(fit, keep_x) {
  keeps <- if (is.null(keep_x)) length(fit$scaling$names) <= 2L else check_flag(keep_x, "keep_x")
  fit$state <- no_rows_state(fit$state)
  fit$n <- 0L
  fit["x"] <- list(if (keeps) {
    matrix(0, 0L, length(fit$scaling$names), dimnames = list(NULL, fit$scaling$names))
  })
  fit["basis_rows"] <- fit["basis_rows_of"] <- list(NULL) # they are not rows of this fit
  fit$copies <- NULL
  fit
}

# Sets the posterior that belongs to the state.
with_posterior <- function(fit) {
  stored <- lapply(fit$state, state_posterior, fit$posterior$trend)
  if (is.null(fit$posterior$each)) fit$posterior[names(stored[[1L]])] <- stored[[1L]]
  else fit$posterior$each <- Map(function(each, new) utils::modifyList(each, new),
                                 fit$posterior$each, stored)
  fit
}

# ---- More rows ----

# Builds the problem of more rows for a fit; x: inputs in the user's units.
problem_of_new_rows <- function(fit, x, data_rows, offset, ...) {
  new_problem(model_of_fit(fit), points_of_rows(x, fit), data_rows, offset, fit$options, ...)
}

# Returns what new_problem() asks of a model, from a fit.
model_of_fit <- function(fit) {
  list(lik = fit$likelihood, spec = fit$spec, nkernel = sum(fit$hyper$part == "kernel"),
       response = fit$response, mean = mean_record(fit$posterior$trend))
}

# Returns the data rows that C sees of responses read by read_more().
data_rows_of <- function(fit, y, weights) {
  weights <- weights_or_ones(weights, NROW(y))
  lik_traits(fit$likelihood)$data_rows(codec_of(fit)$codes(y, fit$response), weights)
}

# Sets states, each on its own `points`, and their posterior.
on_points <- function(fit, states) {
  points <- lapply(states, `[[`, "points")
  fit$state <- lapply(states, `[`, c("R", "S", "t"))
  if (is.null(fit$posterior$each)) fit$posterior$basis <- points[[1L]]
  else {
    fit$posterior$each <- Map(utils::modifyList, fit$posterior$each,
                              lapply(points, function(own) list(basis = own)))
    fit$posterior$basis <- unique(do.call(rbind, points))
  }
  with_posterior(fit)
}
