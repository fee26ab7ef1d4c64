# Defines what learning maximises (learn-search.R): log evidence + log prior over the free
# hyperparameters.

RECENT <- 12L      # evaluations that are not made again: starts, and places inputs return to

IMPOSSIBLE <- 1e30 # what a failed evaluation costs; finite, because optim() wants it so

# Returns what a search maximises: `criterion`, see below, `plain`, a run that fails with a reason,
# `cheap`: does an evaluation cost so little that the search is made from several starts? `limit`: a
# function that returns what is maximised where EP ends nowhere (engine-power.R), or NULL. `every`:
# rows for each of those on which a search that knows nothing begins, or NULL: it begins on all.
# sites: where EP starts at first, or NULL.
evidence <- function(problem, sites = NULL) {
  problem <- learned_loosely(problem)
  n <- as.double(nrow(problem$x))
  full <- is.null(problem$basis) && is.null(problem$states) && is.null(problem$neighbours)
  points <- if (full) n else points_of_call(problem)
  limit <- limit_of(problem)
  list(criterion = evidence_criterion(problem, sites = sites),
       plain = function(theta) engine_run(problem, theta),
       rows = n,
       cheap = n * points^2 * problem$processes <= policy$cheap_flops,
       ranks = function() ranking_criterion(problem),
       every = if (full && problem_width(problem) == 1L && n >= 2 * policy$ranking_rows) {
         n / count_ranked(n)
       },
       limit = if (!is.null(limit)) function() evidence(limit))
}

# Returns the log evidence of a third of the rows and inducing points, by which the places are
# ranked where inputs are tried anew (reactivate_inputs()): full EP of many rows takes a 27th of the
# time there. Where they are too few to tell, it is that of all rows. EP ends early, as places
# differ by many nats. NULL: the log evidence itself.
ranking_criterion <- function(problem) {
  n <- nrow(problem$x)
  count <- count_ranked(n)
  exact <- lik_traits(problem$lik)$exact
  if (!is.null(problem$states) || !is.null(problem$neighbours) || count >= n && exact ||
      problem_width(problem) > 1L) return(NULL)
  problem$options$tol <- max(problem$options$tol, policy$ranking_tolerance)
  if (count >= n) return(evidence_criterion(problem))
  third <- part_of_problem(problem, spread_problem(problem)[seq_len(count)])
  first <- function(points) points[seq_len(ceiling(nrow(points) * count / n)), , drop = FALSE]
  basis <- problem$basis
  if (!is.null(basis)) third$basis <- if (is.matrix(basis)) first(basis) else lapply(basis, first)
  evidence_criterion(third)
}

count_ranked <- function(n) max(policy$ranking_rows, round(n / 3))

# Returns a problem whose EP ends early where several classes have a latent function each, as sweeps
# are most of the time then. The fit itself, at the hyperparameters found, has its own tolerance.
# Beyond policy$learn_tolerance the evidence and its gradient disagree, line searches fail, and a
# search ends dozens of nats below the optimum.
learned_loosely <- function(problem) {
  functions <- problem$processes * problem_width(problem)
  if (functions > 1L && lik_codec(problem$lik)$labelled) {
    tol <- problem$options$tol
    looser <- min(policy$class_search_tolerance * tol, policy$learn_tolerance)
    problem$options$tol <- max(tol, looser)
  }
  problem
}

# A criterion is a function of theta that returns a run: status, logz, gradient, and whatever else
# its owner needs in objective$state$last$run. This one is the log evidence, with the log
# Jacobian where the response's scale is being learned; sites are warm-started from the last run
# that converged. It may be given a basis, too; points: then with the gradient in its points.
evidence_criterion <- function(problem, points = FALSE, sites = NULL) {
  force(sites)
  run_at <- NULL # neighbours are those at the first theta
  constant <- mean_normalisation(problem$mean)
  function(theta, basis = problem$basis) {
    if (is.null(run_at)) run_at <<- evaluator(learning_problem(problem, theta), points)
    run <- run_at(theta, sites, basis)
    if (run$status == 0L && run$converged) sites <<- run[c("tau", "nu")]
    if (run$status == 0L && !run$usable) run$status <- NOT_CONVERGED
    if (!is.null(run$log_jacobian)) run$logz <- run$logz + run$log_jacobian
    run$logz <- run$logz + constant
    c(run[c("status", "logz", "gradient")], list(sites = sites, points = run$points))
  }
}

NOT_CONVERGED <- -4L

# An evaluator with memory: value and gradient, of minus criterion and log prior, come from one run,
# which is recalled at the last RECENT places.
# state$past: free values and gradients so far, matrices with a column for each evaluation.
# progress: see new_progress(). If there are more numbers than free hyperparameters, the criterion
# takes the others as its second argument, and its runs have their part of the gradient as `others`.
# state$most: failures, such as of EP without a fixed point, after which it evaluates nothing more,
# so that a search ends: all else is a failure then.
make_objective <- function(criterion, table, progress) {
  free <- which(table$free)
  state <- new.env(parent = emptyenv())
  state$evaluations <- 0L
  state$failures <- 0L
  state$most <- policy$failed_evaluations
  state$last <- list(par = NULL)
  state$recent <- list()
  state$past <- list(par = matrix(0, length(free), 0L), gradient = matrix(0, length(free), 0L))
  evaluate <- function(par) {
    if (identical(par, state$last$par)) return(state$last)
    known <- Find(function(one) identical(par, one$par), state$recent)
    if (!is.null(known)) return(state$last <- known)
    if (state$failures >= state$most) {
      return(list(value = IMPOSSIBLE, gradient = numeric(length(par))))
    }
    own <- seq_along(par) <= length(free)
    theta <- replace(table$theta, free, par[own])
    prior <- hyper_log_prior(table, theta)
    run <- if (all(own)) criterion(theta) else criterion(theta, par[!own])
    state$evaluations <- state$evaluations + 1L
    value <- run$logz + prior$value
    gradient <- if (run$status == 0L) -c(run$gradient[free] + prior$gradient, run$others)
    ok <- run$status == 0L && is.finite(value) && all(is.finite(gradient))
    if (!ok) state$failures <- state$failures + 1L
    state$last <- list(
      par = par,
      value = if (ok) -value else IMPOSSIBLE,
      gradient = if (ok) gradient else numeric(length(par)),
      run = run
    )
    if (ok) state$past <- list(par = cbind(state$past$par, par[own]),
                               gradient = cbind(state$past$gradient, gradient[own]))
    if (ok) state$recent <- utils::head(c(list(state$last), state$recent), RECENT)
    progress$step(value, ok, theta, run)
    state$last
  }
  list(value = function(par) evaluate(par)$value, gradient = function(par) evaluate(par)$gradient,
       state = state)
}
