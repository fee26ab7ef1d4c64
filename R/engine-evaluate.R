# Evaluations of a search for hyperparameters: the log evidence, its gradient and the sites. Those
# of full EP are computed with less work where the same numbers have a shorter way; the fit at the
# hyperparameters that were found is full EP itself.

# Returns a function of theta, sites and a basis that runs EP of a problem with its gradient;
# points: also that in the points of the basis. Full EP does more than the filter does where sweeps
# do not converge, or sites of negative precision are not reached, so that such runs are made again.
evaluator <- function(problem, points = FALSE) {
  compiled <- function(problem, points = FALSE) {
    compile(problem, gradient = TRUE, points = points, restart = TRUE)
  }
  own <- compiled(problem, points)
  filtered <- filtered_problem(problem)
  if (is.null(filtered)) return(own)
  filter <- compiled(filtered)
  function(theta, sites, basis) {
    run <- if (is_whole_form(filtered, theta)) filter(theta, sites)
    found <- !is.null(run) && run$usable && run$converged && run$flat == 0L
    if (found) run else own(theta, sites, basis)
  }
}

# Returns a problem of full EP as Markov EP has it, or NULL if that is not for it, or its rows are
# so few that it takes as long.
filtered_problem <- function(problem) {
  full <- is.null(problem$basis) && is.null(problem$states) && is.null(problem$neighbours)
  if (!full || nrow(problem$x) < policy$filtered_rows || is_at_limit(problem) ||
      !is.null(what_forbids_markov(problem))) return(NULL)
  problem$states <- markov_form(problem$spec)$states
  problem
}

# Have the states all of the kernel's variance at theta? Cosines of a periodic part need not.
is_whole_form <- function(problem, theta) {
  own <- theta[seq_len(count_kernel_hyper(problem$spec))]
  markov_form(problem$spec, own, as.double(problem$x[1L, 1L]))$left_out < WHOLE_FORM
}

WHOLE_FORM <- 1e-8 # of the variance: log evidences of 1000 rows then agree to some 1e-6
