# Compiled problems: what runs of EP at many values of theta have in common is asked of the problem
# once, and an evaluation goes straight to C.

# Returns a function run(theta, sites, basis) that runs EP of a problem: full, on its basis, by a
# filter, or by neighbours. sites: list(tau, nu) to start from; NULL: from scratch, or from an
# online pass. basis: in place of the problem's, where its points are learned. Half of the sweeps of
# full EP may be of all rows at once, unless the method gives their number.
# gradient, posterior: are they part of the run? points: with the gradient, is that in the points of
# the basis part of it, a matrix for each basis? restart: does EP that did not converge from given
# sites begin anew? run$usable: is the log evidence one to learn from? run$impossible: see
# is_impossible().
compile <- function(problem, gradient = FALSE, posterior = FALSE, points = FALSE,
                    restart = FALSE) {
  problem$power <- problem$options$power
  at_limit <- limit_theta(problem)
  begin <- start_of(problem)
  iterate <- entry_of(problem, gradient, posterior, points)
  judge <- judge_of(problem)
  add_scale <- scale_part(problem)
  finish <- if (posterior) posterior_of(problem)
  function(theta, sites = NULL, basis = problem$basis) {
    if (!is.null(at_limit)) theta <- at_limit(theta)
    start <- if (is.null(sites) && !is.null(begin)) begin(theta) else sites
    run <- iterate(theta, start, basis)
    if (restart && !is.null(sites) && (run$status != 0L || !run$converged)) {
      run <- iterate(theta, if (!is.null(begin)) begin(theta), basis)
    }
    run <- judge(run)
    if (run$status != 0L) return(run)
    if (!is.null(add_scale)) run <- add_scale(theta, run)
    if (posterior) finish(run) else run
  }
}

# Runs EP once.
engine_run <- function(problem, theta, sites = NULL, gradient = FALSE, posterior = FALSE,
                       points = FALSE, restart = FALSE) {
  compile(problem, gradient, posterior, points, restart)(theta, sites)
}

# Returns a function of theta, a start and a basis that calls the problem's entry of C.
entry_of <- function(problem, gradient, posterior, points) {
  method <- problem$options
  options <- list(sweeps = method$sweeps, batch = method$batch %||% ceiling(method$sweeps / 2),
                  damping = method$damping, tol = method$tol, pool = method$pool,
                  mixing = method$mixing, gradient = gradient, posterior = posterior,
                  points = points, base = problem$base)
  options["trend"] <- list(functions_of_mean(problem))
  call_c <- caller_of(problem)
  options$room <- new.env(parent = emptyenv()) # memory that calls use again
  if (!is.null(problem$states)) return(markov_entry(problem, call_c, options))
  if (!is.null(problem$neighbours)) {
    return(function(theta, start, basis) engine_neighbours(problem, theta, start, options))
  }
  if (!is.null(problem$basis)) {
    return(function(theta, start, basis) call_c(sg_ep_batch, theta, start, options, basis))
  }
  function(theta, start, basis) {
    tryCatch(call_c(sg_ep_full, theta, start, options),
             error = function(e) explain_memory(e, nrow(problem$x)))
  }
}

# Returns a function that adds to a run whether its log evidence may be learned from, and its
# settings.
judge_of <- function(problem) {
  most <- most_evidence(problem$lik, problem_rows(problem))
  with <- list(problem$options$tol, problem$options$power %||% 1)
  function(run) {
    run$impossible <- isTRUE(run$logz > most)
    run$usable <- run$status == 0L && (run$converged || isTRUE(run$change <= NEAR)) &&
      !run$impossible
    run[c("tol", "power")] <- with
    run
  }
}

# Returns a function of a run that adds its posterior.
posterior_of <- function(problem) {
  add <- if (!is.null(problem$states)) markov_posterior
         else if (!is.null(problem$neighbours)) neighbour_posterior
         else if (is.null(problem$basis)) full_posterior
         else basis_posterior
  function(run) add(problem, run)
}

# Returns a function of theta that gives the sites that EP begins with where none are given, or NULL
# if there are none.
start_of <- function(problem) {
  if (is_modal(problem$lik)) return(function(theta) pass_sites(problem, theta))
  if (is_at_limit(problem) && !lik_traits(problem$lik)$exact) {
    return(function(theta) first_sites(problem, theta))
  }
  start_rows <- lik_traits(problem$lik)$start_rows
  if (is.null(start_rows) || is.null(problem$rows)) return(NULL)
  easier <- replace(problem, "rows", list(start_rows(problem$rows)))
  if (!identical(easier$rows, problem$rows)) function(theta) first_sites(easier, theta)
}

# Returns what EP makes of no sites. The limit begins with them: the mean of log p under a vague
# prior, with which it would begin otherwise, may have no digits, as that of an exponential rate.
# The second of two sweeps is at the sites of the first.
first_sites <- function(problem, theta) {
  problem$options <- utils::modifyList(problem$options, list(power = 1, sweeps = 2L))
  run <- engine_run(problem, theta)
  if (run$status != 0L || !all(is.finite(run$tau))) return(NULL)
  list(tau = pmax(run$tau, 0), nu = ifelse(run$tau > 0, run$nu, 0))
}
