# Methods that choose their basis: selection at given hyperparameters, learning on what was
# selected, selection again.

SELECTION_SWEEPS <- 2 # with basis exchange, while learning; thesis 5.2: later exchanges gain little

# Does the method choose the basis itself? A size of all rows leaves no choice: that is full EP.
selects_basis <- function(problem) {
  is.null(problem$basis) && problem$method$size < nrow(problem$x)
}

# Does the posterior come from the sweeps themselves, rather than from batch EP on what they chose?
keeps_sweeping <- function(problem) {
  method <- problem$method
  is.null(problem$basis) && method$freeze == Inf ||
    method$projection == "kl" && (selects_basis(problem) || !is.null(problem$basis))
}

# Sparse EP with basis exchange from scratch, at theta: the problem with its basis, and the sites.
select_basis <- function(problem, theta, sweeps) {
  sweeps <- min(sweeps, problem$method$sweeps)
  run <- engine_sparse(problem, theta, freeze = sweeps, sweeps = sweeps)
  if (run$status != 0L) return(NULL)
  problem$chosen <- as.integer(run$id)
  problem$basis <- problem$x[problem$chosen, , drop = FALSE]
  list(problem = problem, sites = run[c("tau", "nu")], trace = run$trace)
}

selected_or_error <- function(problem, table, sweeps) {
  choice <- select_basis(problem, table$theta, sweeps)
  if (is.null(choice)) check_run(list(status = -2L), table)
  choice
}

# The table with learned theta, the sites to start from, the record of the search, the problem with
# its basis, and the trace of its selection.
learn_model <- function(problem, table, control, verbose) {
  learns <- !is.null(control) && any(table$free)
  if (!selects_basis(problem)) {
    return(c(learn_hyper(problem, table, control, verbose), list(problem = problem)))
  }
  if (learns) return(learn_rounds(problem, table, control, verbose))
  if (keeps_sweeping(problem)) return(list(table = table, problem = problem))
  c(list(table = table), selected_or_error(problem, table, problem$method$freeze))
}

# Rounds of (select, learn). Another basis may well be worse, so the best round is kept.
learn_rounds <- function(problem, table, control, verbose) {
  sweeps <- min(problem$method$freeze, SELECTION_SWEEPS)
  best <- NULL
  reached <- numeric()
  for (round in seq_len(control$outer)) {
    choice <- selected_or_error(problem, table, sweeps)
    from <- if (round > 1L) table$theta[table$free]
    learned <- learn_hyper(choice$problem, table, control, verbose, from)
    table <- learned$table
    reached <- c(reached, max(learned$record$objective))
    if (which.max(reached) == round) best <- c(learned, choice[c("problem", "trace")])
  }
  best$record$rounds <- reached
  if (keeps_sweeping(problem)) best$problem <- problem # the sweeps choose again, to the letter
  best
}

# Points that joined the basis, by sweep.
exchanges <- function(trace) if (!is.null(trace)) trace["exchanged", ] + trace["added", ]

# The run the fit is made of.
final_run <- function(problem, learned) {
  theta <- learned$table$theta
  if (keeps_sweeping(problem)) return(sweeping_run(problem, theta))
  run <- engine_run(problem, theta, learned$sites, posterior = TRUE)
  before <- learned$trace
  run$exchanges <- c(exchanges(before), numeric(ncol(run$trace)))
  if (!is.null(before)) run$sweeps <- run$sweeps + ncol(before)
  run$trace <- cbind(before[c("log_evidence", "change"), , drop = FALSE], run$trace)
  run$basis <- if (is.null(problem$basis)) problem$x else problem$basis
  run["basis_rows"] <- list(problem$chosen)
  run
}

# The thesis to the letter: the posterior of the sweeps. Evidence and jitter are those of batch EP
# on the final basis, with moments matched.
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
  c(run[setdiff(names(run), "trace")], latent, list(
    logz = batch$logz, jitter = 0, sweeps = sweeps, change = run$trace[["change", sweeps]],
    converged = run$trace[["change", sweeps]] <= method$tol, damped = 0L, sequential = sweeps,
    skipped = sum(run$trace["skipped", ]), trace = run$trace[c("log_evidence", "change"), ,
                                                             drop = FALSE],
    exchanges = exchanges(run$trace)
  ))
}
