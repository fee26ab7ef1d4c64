# A plan is how one fit is made, decided once by plan_of() from the method, the problem (engine.R)
# and the basis as given; nothing after that asks what kind of fit this is. It is
# list(problem, ...) of a class of its own:
#
#   plan_full       full EP: every row is in the basis                              plan-ep.R
#   plan_batch      batch EP on a basis, given or chosen                            plan-ep.R
#   plan_sparse_ep  chooses a basis by sweeps, for batch EP                         plan-sparse-ep.R
#   plan_sweeps     those sweeps give the posterior                                 plan-sparse-ep.R
#   plan_ivm        chooses a basis by inclusions, for batch EP                     plan-ivm.R
#   plan_active     the rows included give the posterior                            plan-ivm.R
#   plan_grown      learns on some of the rows, then a basis grows                  plan-grown.R
#   plan_labels     learns on some of the rows, then informative vectors             plan-labels.R
#   plan_squares    classes by least squares, on points they share                  plan-squares.R
#   plan_copies     with copies of the rows that carry an earlier fit                plan-copies.R
#   plan_online     rows one after the other: the pilot is learned by another plan  plan-online.R
#
# and answers, by methods for its class,
#
#   objective(plan)                      what is maximised, see evidence() in learn-evidence.R
#   choose_basis(plan, table, learning)  the plan_batch on a basis chosen at the table's theta; only
#                                        where it chooses one (class plan_choosing)
#   settle(plan, table)                  the plan that is run where nothing is learned
#   by_evidence(plan, table, control, progress, from)
#                                        the table learned by the objective, the plan to run then,
#                                        the record of the search; from: free values where an
#                                        earlier search ended, or NULL
#   run_plan(plan, theta)                the run a fit is made of, see new_run()
#   tunes(plan)                          what is settled by what the fit says of rows it has not
#                                        seen (fit-tune.R): "lengthscale", "power", both or nothing
#   among_copies(plan, sites)            the same where there are copies among its rows
#                                        (plan-copies.R); sites: those of each one's row without
#   work_ahead(plan, resumed)            the multiplications that it is expected to take
#                                        (plan-work.R)
#
# A plan_choosing chooses and learns in rounds. A plan_own has a posterior by itself and learns by
# another plan, its `evidence`.

# basis: as resolve_basis() gives it. Refuses what the method cannot have.
plan_of <- function(method, problem, basis) UseMethod("plan_of")

#' @export
plan_of.method_default <- function(method, problem, basis) {
  n <- problem_rows(problem)
  if (is.null(basis$x) && fits_labels(method, problem$lik, n, problem$processes)) {
    return(plan_labels(problem, method$effort))
  }
  plan_of(default_method(method, problem, basis, n), problem, basis)
}

default_method <- function(method, problem, basis, n) {
  if (problem$processes * problem_width(problem) == 1L) {
    chosen <- method_ep(size = NULL)
    chosen$effort <- method$effort
    return(chosen)
  }
  size <- if (is.null(basis$x)) size_for_several(method, problem)
  if (is.null(size)) method_ep() else method_ep(size = size)
}

MOST_FOR_SEVERAL <- 500L # points of several latent functions

# Returns how many points several latent functions have, as many as a sweep of about n^2 allows;
# NULL where full EP is affordable.
size_for_several <- function(method, problem) {
  functions <- problem$processes * problem_width(problem)
  if (!too_dear(method, problem$lik, problem_rows(problem), functions)) return(NULL)
  points <- min(MOST_FOR_SEVERAL, as.integer(round(4 * sqrt(nrow(problem$x)))))
  max(1L, points %/% problem_width(problem))
}

new_plan <- function(class, problem, ...) {
  structure(list(problem = problem, ...), class = c(class, "plan"))
}

objective <- function(plan) UseMethod("objective")

choose_basis <- function(plan, table, learning) UseMethod("choose_basis")

settle <- function(plan, table) UseMethod("settle")

by_evidence <- function(plan, table, control, progress, from = NULL) UseMethod("by_evidence")

run_plan <- function(plan, theta) UseMethod("run_plan")

tunes <- function(plan) UseMethod("tunes")

among_copies <- function(plan, sites) UseMethod("among_copies")

# ---- What most plans do ----

#' @export
objective.plan <- function(plan) evidence(plan$problem)

#' @export
tunes.plan <- function(plan) character()

#' @export
among_copies.plan <- function(plan, sites) plan

#' @export
settle.plan <- function(plan, table) list(plan = plan, table = table)

#' @export
by_evidence.plan <- function(plan, table, control, progress, from = NULL) {
  learned <- learn_hyper(objective(plan), table, control, progress, from)
  plan["sites"] <- list(learned$sites)
  c(list(plan = plan), learned[c("table", "record")])
}

# ---- Plans that choose a basis ----

#' @export
settle.plan_choosing <- function(plan, table) {
  list(plan = choose_basis(plan, table, learning = FALSE), table = table)
}

# Rounds of (choose, learn). Another basis may well be worse, so the best round is kept.
#' @export
by_evidence.plan_choosing <- function(plan, table, control, progress, from = NULL) {
  if (!is.null(from)) table$theta[table$free] <- from
  best <- NULL
  reached <- numeric()
  spent <- 0L
  for (round in seq_len(control$outer)) {
    chosen <- choose_basis(plan, table, learning = TRUE)
    if (round > 1L) from <- table$theta[table$free]
    learned <- learn_hyper(objective(chosen), table, control, progress, from)
    chosen["sites"] <- list(learned$sites)
    table <- learned$table
    reached <- c(reached, max(learned$record$objective))
    spent <- spent + learned$record$evaluations
    if (which.max(reached) == round) best <- c(list(plan = chosen), learned[c("table", "record")])
  }
  best$record$rounds <- reached
  best$record$evaluations <- spent
  best
}

# Batch EP on what a run has chosen: `id`, rows in order of inclusion, or `ids`, those of each
# latent function. record: what the choice leaves in the fit, `sweeps` or `selection`. The run's
# sites are where EP starts, if it has them of all rows.
plan_chosen <- function(problem, run, table, record) {
  if (run$status != 0L) check_run(run, table)
  if (length(run$id) == 0L && !length(run$ids)) stop_empty(run)
  rows <- as.integer(if (is.null(run$ids)) run$id else unique(unlist(run$ids)))
  problem$basis <- basis_of_rows(problem, rows, run$ids)
  all <- length(no_sites(problem)$tau)
  new_plan("plan_batch", problem, rows = rows, rows_of = run$ids, record = record,
           sites = if (length(run$tau) == all) run[c("tau", "nu")])
}

# One basis, or one for each latent function.
basis_of_rows <- function(problem, rows, rows_of) {
  if (is.null(rows_of)) return(problem$x[rows, , drop = FALSE])
  lapply(rows_of, function(rows) problem$x[rows, , drop = FALSE])
}

# ---- Plans with a posterior of their own ----

#' @export
by_evidence.plan_own <- function(plan, table, control, progress, from = NULL) {
  learned <- by_evidence(plan$evidence, table, control, progress, from)
  learned$plan <- plan # which chooses once more, at what was learned
  learned
}

# ---- Learning ----

# What settle_model() began, by the plan for its model.
learn_settled <- function(plan, settled) {
  setup <- settled$setup
  learned <- learn_plan(plan, settled$model$table, setup$control, setup$verbose, settled$from)
  if (is.null(learned$record)) learned["record"] <- list(settled$record) # nothing more to learn
  if (!is.null(learned$record)) learned$record$structure <- settled$tried
  learned
}

# The plan to run, the table with learned theta, and the record of the search, if there was one.
# from: free values where an earlier search ended, or NULL.
learn_plan <- function(plan, table, control, verbose, from = NULL) {
  if (is.null(control) || !any(table$free)) return(settle(plan, table))
  if (!lik_traits(plan$problem$lik)$has_evidence) {
    stop_sparsegp("learn", paste0("= TRUE needs an evidence, and the ", plan$problem$lik$type,
                                  " likelihood has none"),
                  "Use learn = FALSE, fixed() hyperparameters, or another likelihood")
  }
  with_progress(new_progress(verbose), function(progress) {
    if (control$criterion == "ivm") by_phi(plan, table, control, progress)
    else by_evidence(plan, table, control, progress, from)
  })
}

# The IVM's criterion selects by itself (learn-ivm.R); whatever the plan is runs at what it learned.
by_phi <- function(plan, table, control, progress) {
  if (problem_width(plan$problem) > 1L) {
    stop_sparsegp("learn", "has criterion = \"ivm\", which is for one response",
                  "Use learn_control(criterion = \"evidence\")")
  }
  learned <- learn_by_phi(plan$problem, table, control, progress)
  plan$problem <- learned$problem
  c(settle(plan, learned$table), learned["record"])
}

# ---- Runs ----

# What a fit is made of, whichever plan made it. found: what C gave; ...: what the plan knows.
#   status, logz   a run whose status is not 0 has no more
#   basis, alpha, G, H, each   the stored posterior (posterior.R); jitter of its kernel matrix
#   basis_rows, basis_rows_of  rows in the basis; those of each latent function
#   mean, var, tau, nu, cav_mean, cav_var, lpd   latent moments, sites, cavities and log predictive
#                              densities of all rows
#   sweeps, change, tol, converged, damped, sequential, skipped, flat, trace, exchanges
#                              how EP went
#   selection      how rows were included (plan-ivm.R)
#   others         runs of other modes (plan-modes.R)
#   method, copies, basis_copies  where copies of rows were in it (plan-copies.R)
new_run <- function(found, ...) {
  known <- list(...)
  found[names(known)] <- known
  if (found$status != 0L) return(found)
  lacking <- setdiff(RUN, names(found))
  found[lacking] <- list(NULL)
  once <- setdiff(names(SET_ONCE), names(found))
  found[once] <- SET_ONCE[once]
  found
}

RUN <- c("logz", "basis", "alpha", "G", "H", "each", "basis_rows", "basis_rows_of", "mean", "var",
         "tau", "nu", "cav_mean", "cav_var", "lpd", "exchanges", "selection", "tol")

# How EP went where every site was set once.
SET_ONCE <- list(sweeps = 0L, change = 0, converged = TRUE, damped = 0L, sequential = 0L,
                 skipped = 0L, flat = 0L, trace = matrix(0, 2L, 0L), jitter = 0)
