# What a fit has. Whoever needs something of a fit asks here, never which method made it.

# Latent moments, sites and cavities of the rows it was fitted to
has_rows <- function(fit) !is.null(fit$latent)

has_cavities <- function(fit) !is.null(fit$cavity)

# Rows that come one after the other, of which it keeps none
is_stream <- function(fit) inherits(fit, "sparsegp_stream")

# Errors that are alike in all rows, or scale with their weights
has_noise <- function(fit) UseMethod("has_noise", codec_of(fit))

#' @export
has_noise.response <- function(fit) FALSE

#' @export
has_noise.response_numbers <- function(fit) !has_variances(fit$likelihood)

#' @export
has_noise.response_components <- function(fit) !is.null(lik_traits(fit$likelihood)$noise)

# A course of sweeps or inclusions, or of a stream's rows
has_trace <- function(fit) NROW(trace_of(fit)) > 0L

trace_of <- function(fit) {
  chosen <- fit$convergence$selection$trace
  if (is.null(chosen)) fit$convergence$trace else chosen
}

# Full EP: the basis is the training rows, though perhaps in another order.
every_row_in_basis <- function(fit) {
  has_rows(fit) && is.null(fit$copies) && length(fit$basis_rows) == fit$n &&
    nrow(fit$posterior$basis) == fit$n * n_outputs(fit) &&
    setequal(fit$basis_rows, seq_len(fit$n))
}

# The points of a basis in scaled inputs; of several components the locations.
basis_points_of <- function(fit) {
  points <- fit$posterior$basis
  if (n_outputs(fit) == 1L) return(points)
  if (!every_row_in_basis(fit)) return(points[first_points(points), -ncol(points), drop = FALSE])
  scaled_inputs(fit[["x"]], fit$scaling)[fit$basis_rows, , drop = FALSE]
}
