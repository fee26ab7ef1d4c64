# Sparse EP: the posterior of the sweeps.

# Points that joined the basis, by sweep.
exchanges <- function(trace) trace["exchanged", ] + trace["added", ]

# The thesis to the letter. Evidence and jitter are those of batch EP on the final basis, with
# moments matched.
sweeping_run <- function(problem, theta) {
  method <- problem$method
  run <- engine_sparse(problem, theta, method$freeze, method$sweeps)
  if (run$status != 0L) return(run)
  rows <- as.integer(run$id)
  from <- if (is.null(problem$basis)) problem$x else problem$basis
  run$basis <- from[rows, , drop = FALSE]
  run$basis_rows <- if (is.null(problem$basis)) rows else problem$chosen[rows]
  latent <- engine_latent(problem, theta, run, problem$x)
  problem$basis <- run$basis
  batch <- engine_run(problem, theta, run[c("tau", "nu")])
  sweeps <- ncol(run$trace)
  flat <- if (run$narrow) sum(engine_tilt(problem, theta, run$cav_mean, run$cav_var)$d2 > 0) else 0L
  c(run[setdiff(names(run), "trace")], latent, list(
    logz = batch$logz, jitter = 0, sweeps = sweeps, change = last_change(run),
    converged = last_change(run) <= method$tol, damped = 0L, sequential = sweeps,
    skipped = sum(run$trace["skipped", ]), flat = flat, exchanges = exchanges(run$trace),
    trace = run$trace[c("log_evidence", "change"), , drop = FALSE]
  ))
}
