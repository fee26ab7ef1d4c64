# Fits one-vs-rest classes by least squares (lik-squares.R), on points that all of them share.
# The precision of a site depends on the row, not on its label: EP of one class on the basis
# gives the variances of all, and classes differ in alpha only. So all classes together take
# little more than one of them.
#
#   points   rows in the basis
plan_least_squares <- function(problem, points) {
  problem$basis <- problem$x[points, , drop = FALSE]
  new_plan("plan_least_squares", problem, points = points)
}

ROWS_AT_ONCE <- 2048L # whose kernel with the basis is in memory

#' @export
run_plan.plan_least_squares <- function(plan, theta) {
  problem <- plan$problem
  one <- engine_run(problem_of_class(problem, 1L), theta_of_class(problem, theta, 1L),
                    posterior = TRUE)
  if (one$status != 0L) return(one)
  found <- of_all_classes(problem, theta, one)
  found$lpd <- engine_tilt(problem, theta, found$cav_mean, found$cav_var)$logz
  one[names(found)] <- found
  new_run(one[setdiff(names(one), "state")], basis = problem$basis, basis_rows = plan$points)
}

# With R't_c = K_B nu_c, nu_c the shifts of the sites of class c, alpha_c = R^-1 M t_c = H H' R't_c
# (state.h), and the part of the labels in log Z is t_c'M t_c = |H'R't_c|^2 and - sum tau (y -
# bias)^2. A cavity takes a row's own site from the part of its variance that the points carry,
# which one class's run has found. O(n d C), and kernels of all rows with the points once more.
of_all_classes <- function(problem, theta, one) {
  n <- nrow(problem$x)
  classes <- seq_len(problem$processes)
  labels <- 2 * outer(as.vector(problem$rows), classes, "==") - 1
  biases <- vapply(classes, function(class) {
    theta_of_class(problem, theta, class)[problem$nkernel + 1L]
  }, 0)
  off <- labels - problem$offset - rep(biases, each = n)
  tau <- as.double(one$tau)
  nu <- tau * off
  blocks <- row_blocks(n, ROWS_AT_ONCE)
  kernel <- function(rows) {
    kernel_matrix(problem$spec, theta[seq_len(problem$nkernel)], problem$x[rows, , drop = FALSE],
                  problem$basis)
  }
  turned <- crossprod(one$H, Reduce(`+`, lapply(blocks, function(rows) {
    crossprod(kernel(rows), nu[rows, , drop = FALSE])
  })))
  alpha <- one$H %*% turned
  mean <- do.call(rbind, lapply(blocks, function(rows) kernel(rows) %*% alpha))
  s <- carried_variance(one)
  alike <- function(values) matrix(as.double(values), nrow(off), ncol(off))
  says <- colSums(turned^2) - colSums(tau * off^2)
  list(logz = one$logz * ncol(off) + sum(says - says[1L]) / 2, alpha = alpha, mean = mean,
       var = alike(one$var), tau = alike(tau), nu = nu, cav_var = alike(one$cav_var),
       cav_mean = (mean - s * nu) / (1 - s * tau))
}

# Returns the part s of each row's variance that the points carry. A cavity is without the row's own
# site: cav_var - var = s / (1 - s tau) - s, whose positive root s is; as a quotient, so that where
# s tau is small nothing cancels.
carried_variance <- function(one) {
  gap <- as.double(pmax(one$cav_var - one$var, 0))
  slope <- gap * as.double(one$tau)
  ifelse(gap > 0, 2 * gap / (slope + sqrt(slope * (slope + 4))), 0)
}
