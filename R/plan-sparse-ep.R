# Sparse EP: sweeps that exchange points of the basis choose it for batch EP, or give the posterior.

#' @export
choose_basis.plan_sparse_ep <- function(plan, table, learning) {
  problem <- plan$problem
  # thesis 5.2: later exchanges gain little
  sweeps <- min(problem$options$freeze, problem$options$sweeps,
                if (learning) policy$selection_sweeps)
  run <- engine_sparse(problem, table$theta, freeze = sweeps, sweeps = sweeps,
                       posterior = FALSE)
  plan_chosen(problem, run, table, list(sweeps = run$trace))
}

# Points that joined the basis, by sweep.
exchanges <- function(trace) trace["exchanged", ] + trace["added", ]

# The thesis to the letter. Evidence and jitter are those of batch EP on the final basis, with
# moments matched.
#' @export
run_plan.plan_sweeps <- function(plan, theta) {
  problem <- plan$problem
  method <- problem$options
  run <- engine_sparse(problem, theta, method$freeze, method$sweeps)
  if (run$status != 0L) return(run)
  rows <- as.integer(run$id)
  from <- if (is.null(problem$basis)) problem$x else problem$basis
  run$basis <- from[rows, , drop = FALSE]
  latent <- engine_latent(problem, theta, run, problem$x)
  problem$basis <- run$basis
  batch <- engine_run(problem, theta, run[c("tau", "nu")])
  if (batch$status != 0L) return(batch)
  flat <- 0L # rows that would have widened the posterior
  if (run$narrow) {
    tilt <- engine_tilt(problem, theta, run$cav_mean, run$cav_var)
    flat <- count_widening(-tilt$d2, problem_width(problem))
  }
  course <- run$trace
  change <- last_change(run)
  run$trace <- course[c("log_evidence", "change"), , drop = FALSE]
  new_run(c(run, latent), logz = batch$logz, basis_rows = plan$rows[rows], sweeps = ncol(course),
          change = change, tol = method$tol, converged = change <= method$tol,
          sequential = ncol(course),
          skipped = sum(course["skipped", ]), flat = flat, exchanges = exchanges(course))
}
