# Where EP begins.

# Sites of an online pass over the rows in this order, each seen given those before it. A likelihood
# that leaves several modes is begun with them: from no sites, all rows at once would go their ways
# and end between the modes. NULL: no numbers.
pass_sites <- function(problem, theta, order = seq_len(problem_rows(problem))) {
  w <- problem_width(problem)
  some <- problem
  points <- stacked_rows(order, w)
  some$x <- problem$x[points, , drop = FALSE]
  some$rows <- problem$rows[, order, drop = FALSE]
  some$offset <- problem$offset[points]
  some$options <- method_ep()
  some$mean <- NULL # its prior would be wider than what a basis resolves
  run <- sparse_sweeps(some, theta, freeze = 1L, sweeps = 1L, narrow = FALSE)
  back <- order(order)
  sites <- list(tau = c(matrix(run$tau, w * w)[, back]), nu = c(matrix(run$nu, w)[, back]))
  if (all(is.finite(unlist(sites)))) sites
}
