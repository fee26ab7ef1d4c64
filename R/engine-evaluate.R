# Evaluations of a search for hyperparameters: the log evidence, its gradient and the sites. Those
# of full EP of one input are computed with less work where the same numbers have a shorter way; the
# fit at the hyperparameters that were found is full EP itself.
#
#   a filter       if the kernel is that of a Markov process
#   a few rows     as inducing points, if they carry the function to rounding, as they do if it is
#                  smooth

# Returns a function of theta, sites and a basis that runs EP of a problem with its gradient;
# points: also that in the points of the basis. Full EP does more than shorter ways do where sweeps
# do not converge, or sites of negative precision are not reached, so that such runs are made again.
evaluator <- function(problem, points = FALSE) {
  own <- compiled_search(problem, points)
  shorter <- shorter_way(problem)
  if (is.null(shorter)) return(own)
  function(theta, sites, basis) {
    run <- shorter(theta, sites)
    found <- !is.null(run) && run$usable && run$converged && run$flat == 0L
    if (found) run else own(theta, sites, basis)
  }
}

compiled_search <- function(problem, points = FALSE) {
  compile(problem, gradient = TRUE, points = points, restart = TRUE)
}

# Returns a function of theta and sites that runs EP of a problem of full EP in a shorter way, or
# returns NULL where there is none at theta. NULL: there is none at all.
shorter_way <- function(problem) {
  full <- is.null(problem$basis) && is.null(problem$states) && is.null(problem$neighbours)
  if (!full || is_at_limit(problem)) return(NULL)
  filtered <- filtered_problem(problem)
  if (is.null(filtered)) return(by_carrying_rows(problem))
  filter <- compiled_search(filtered)
  function(theta, sites) if (is_whole_form(filtered, theta)) filter(theta, sites)
}

# ---- A filter ----

# Returns a problem of full EP as Markov EP has it, or NULL if that is not for it, or its rows are
# so few that it takes as long.
filtered_problem <- function(problem) {
  if (nrow(problem$x) < policy$filtered_rows || !is.null(what_forbids_markov(problem))) return(NULL)
  problem$states <- markov_form(problem$spec)$states
  problem
}

# Have the states all of the kernel's variance at theta? Cosines of a periodic part need not.
is_whole_form <- function(problem, theta) {
  own <- theta[seq_len(count_kernel_hyper(problem$spec))]
  markov_form(problem$spec, own, as.double(problem$x[1L, 1L]))$left_out < WHOLE_FORM
}

WHOLE_FORM <- 1e-8 # of the variance: log evidences of 1000 rows then agree to some 1e-6

# ---- A few rows ----

# Returns the shorter way by rows that carry the others, or NULL. They are few with one input, and
# found by many calls of the kernel, each of a column, which take long if it is a function in R.
by_carrying_rows <- function(problem) {
  n <- nrow(problem$x)
  if (n < policy$carried_rows || ncol(problem$x) != 1L || is_modal(problem$lik) ||
      count_latent_values(problem) > 1L || has_custom_part(problem$spec)) return(NULL)
  most <- round(policy$carrying_part * n)
  problem$basis <- problem$x[1L, , drop = FALSE]
  few <- compiled_search(problem)
  function(theta, sites) {
    rows <- carrying_rows(problem, theta, most)
    if (length(rows)) few(theta, sites, problem$x[rows, , drop = FALSE])
  }
}

has_custom_part <- function(spec) {
  !is.null(spec$custom) || any(vapply(spec$parts, has_custom_part, NA))
}

# Returns at most so many rows that leave nothing but rounding of the prior variance of all others
# open, each the row of which those before leave most open (a pivoted Cholesky factor), or NULL.
carrying_rows <- function(problem, theta, most) {
  x <- problem$x
  theta <- theta[seq_len(problem$nkernel)]
  open <- kernel_diagonal(problem$spec, theta, x)
  least <- CARRIED * max(open)
  V <- matrix(0, nrow(x), most)
  rows <- integer()
  while (isTRUE(max(open) > least) && length(rows) < most) {
    at <- which.max(open)
    before <- seq_along(rows)
    own <- drop(kernel_matrix(problem$spec, theta, x, x[at, , drop = FALSE]))
    if (length(rows)) own <- own - drop(V[, before, drop = FALSE] %*% V[at, before])
    rows <- c(rows, at)
    V[, length(rows)] <- own / sqrt(open[at])
    open <- open - V[, length(rows)]^2
  }
  if (isTRUE(max(open) <= least)) rows
}

CARRIED <- 1e-10 # of the variance: log evidences of 1000 rows then agree to some 1e-6
