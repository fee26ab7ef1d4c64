# The properties of a fit, by which others decide, never by the method that made it.

# Does a fit have latent moments, sites and cavities of the rows it was fitted to?
has_rows <- function(fit) !is.null(fit$latent)

# Sums over its rows (fit-state.R)
has_state <- function(fit) !is.null(fit$state)

# The points of each of its bases
bases_of <- function(fit) {
  each <- fit$posterior$each
  if (is.null(each)) list(fit$posterior$basis) else lapply(each, `[[`, "basis")
}

# Returns the basis as C takes it: a list where each process has its own.
basis_for_c <- function(fit) {
  if (is.null(fit$posterior$each)) fit$posterior$basis else bases_of(fit)
}

# Returns the trace of sweeps or inclusions, or of a stream's rows.
trace_of <- function(fit) {
  chosen <- fit$convergence$selection$trace
  if (is.null(chosen)) fit$convergence$trace else chosen
}

# Is the basis the training rows, as for full EP, though perhaps in another order?
every_row_in_basis <- function(fit) {
  has_rows(fit) && is.null(fit$copies) && length(fit$basis_rows) == fit$n &&
    nrow(fit$posterior$basis) == fit$n * n_outputs(fit) &&
    setequal(fit$basis_rows, seq_len(fit$n))
}

# Returns the points of a basis in scaled inputs; of several components the locations.
basis_points_of <- function(fit) {
  points <- fit$posterior$basis
  if (n_outputs(fit) == 1L) return(points)
  if (!every_row_in_basis(fit)) return(points[first_points(points), -ncol(points), drop = FALSE])
  scaled_inputs(fit[["x"]], fit$scaling)[fit$basis_rows, , drop = FALSE]
}

# Returns the difference of a log density in C's units, of codes, from that of the responses y.
unit_shift <- function(fit, y) -log_jacobian(fit$response, y)

# Returns the log evidence in C's units.
engine_evidence <- function(fit) fit$log_evidence + evidence_shift(fit, fit$y)

# Returns the difference of the log evidence in C's units from that of the responses y. Where
# coefficients of a mean are integrated out, it is given under a prior of unit information.
evidence_shift <- function(fit, y) unit_shift(fit, y) - mean_normalisation(fit$posterior$trend)
