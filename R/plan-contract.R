# A plan is the algorithm of one fit: list(problem, ...) of a class of its own. plan_for() decides
# once which; nothing after that asks for the method.
#
#   plan_full            full EP: every row is in the basis                    plan-ep.R
#   plan_markov          full EP of one input by a filter                      plan-markov.R
#   plan_series          the default strategy for a series                     strategy-markov.R
#   plan_batch           batch EP on a basis, given or chosen                  plan-ep.R
#   plan_points          learns the points of one of these two                 plan-points.R
#   plan_sparse_ep       chooses a basis by sweeps, for batch EP               plan-sparse-ep.R
#   plan_sweeps          those sweeps give the posterior                       plan-sparse-ep.R
#   plan_ivm             chooses a basis by inclusions, for batch EP           plan-ivm.R
#   plan_locations       the same of components, one value after the other     plan-ivm.R
#   plan_active          the rows included give the posterior                  plan-ivm.R
#   plan_least_squares   one-vs-rest on points that classes share              plan-least-squares.R
#   plan_online          rows one after the other                              plan-online.R
#   plan_adaptive        the default strategy for one latent function          strategy-regression.R
#   plan_classification  the default strategy for many labels         strategy-classification.R
#   plan_copies          with virtual copies of rows of an earlier fit         strategy-copies.R
#
# A plan answers, by methods for its class,
#
#   choose_basis(plan, table, learning)  the plan_batch on a basis chosen at the table's theta; only
#                                        of a plan_choosing
#   plan_unlearned(plan, table)          list(plan, table) if nothing is learned
#   learn(plan, table, control, progress, from)
#                                        list(plan to run, table with learned theta, record of the
#                                        search); from: free values where an earlier search ended
#   run_plan(plan, theta)                the run a fit is made of, see new_run()
#   among_copies(plan, sites)            the plan for rows with copies, which start from these sites
#   refuse_forbidden(plan)               stops if the method cannot fit the problem of a candidate
#
# A plan_choosing chooses and learns in rounds. A plan_with_posterior has a posterior of its own and
# learns by another plan, its `evidence`.

# Returns the plan of a fit. basis: as resolve_basis() gives it. Stops where the method and the
# problem do not go together. Methods that leave something open are in strategy.R.
plan_for <- function(method, problem, basis) UseMethod("plan_for")

new_plan <- function(class, problem, ...) {
  structure(list(problem = problem, ...), class = c(class, "plan"))
}

choose_basis <- function(plan, table, learning) UseMethod("choose_basis")

plan_unlearned <- function(plan, table) UseMethod("plan_unlearned")

learn <- function(plan, table, control, progress, from = NULL) UseMethod("learn")

run_plan <- function(plan, theta) UseMethod("run_plan")

among_copies <- function(plan, sites) UseMethod("among_copies")

refuse_forbidden <- function(plan) UseMethod("refuse_forbidden")

# ---- What most plans do ----

#' @export
among_copies.plan <- function(plan, sites) plan

#' @export
refuse_forbidden.plan <- function(plan) invisible()

#' @export
plan_unlearned.plan <- function(plan, table) list(plan = plan, table = table)

#' @export
learn.plan <- function(plan, table, control, progress, from = NULL) {
  learned <- learn_at_mode(plan$problem, table, control, progress, from)
  plan["sites"] <- list(learned$sites)
  c(list(plan = plan), learned[c("table", "record")])
}

# ---- Plans without inducing points ----

# Refuses a given basis, and a problem that a method without inducing points cannot have. called:
# the method; found: list(argument, what, remedy), or NULL
refuse_without_points <- function(basis, called, found) {
  refuse_if(!is.null(basis$x), "basis", paste("is given, and", called, "has no inducing points"),
            "Leave it out, or use method_ep()")
  refuse_found(found)
}

refuse_found <- function(found) {
  if (!is.null(found)) stop_sparsegp(found$argument, found$what, found$remedy)
}

# ---- Plans that choose a basis ----

#' @export
plan_unlearned.plan_choosing <- function(plan, table) {
  list(plan = choose_basis(plan, table, learning = FALSE), table = table)
}

# Rounds of (choose, learn). Another basis may well be worse, so the best round is kept.
#' @export
learn.plan_choosing <- function(plan, table, control, progress, from = NULL) {
  if (!is.null(from)) table$theta[table$free] <- from
  best <- NULL
  reached <- numeric()
  spent <- 0L
  for (round in seq_len(control$outer)) {
    first <- round == 1L && is.null(from)
    chosen <- choose_basis(plan, if (first) at_shortest_parts(table) else table, learning = TRUE)
    if (round > 1L) from <- table$theta[table$free]
    learned <- learn_at_mode(chosen$problem, table, control, progress, from)
    chosen["sites"] <- list(learned$sites)
    table <- learned$table
    reached <- c(reached, max(learned$record$objective))
    spent <- spent + learned$record$evaluations
    if (which.max(reached) == round) best <- c(list(plan = chosen), learned[c("table", "record")])
  }
  best$record$evaluations <- spent
  best$record$choices <- round_choices(reached, problem_rows(plan$problem), length(best$plan$rows))
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
learn.plan_with_posterior <- function(plan, table, control, progress, from = NULL) {
  learned <- learn(plan$evidence, table, control, progress, from)
  learned$plan <- plan # which chooses once more, at what was learned
  learned
}

# ---- Learning ----

# The plan to run, the table with learned theta, and the record of the search, if there was one.
# from: free values where an earlier search ended, or NULL: then where every evaluation takes an
# iteration that is not cheap a step that gains little is the last one.
learn_plan <- function(plan, table, control, verbose, from = NULL) {
  learns <- any(table$free) || !is.null(plan$moving) # hyperparameters or points
  if (is.null(control) || !learns) return(plan_unlearned(plan, table))
  refuse_if(!lik_traits(plan$problem$lik)$has_evidence, "learn",
            paste0("= TRUE needs an evidence, and the ", plan$problem$lik$type,
                   " likelihood has none"),
            "Use learn = FALSE, fixed() hyperparameters, or another likelihood")
  problem <- plan$problem
  cheap <- problem$processes == 1L &&
    nrow(problem$x) <= rows_of_work(policy$cheap_flops, problem$lik, problem$processes)
  if (!is.null(from) && !lik_traits(problem$lik)$exact && !cheap) {
    control$within <- policy$search_tolerance
  }
  progress <- new_progress(verbose)
  if (control$criterion == "ivm") { # which selects by itself: any plan runs at what it learned
    found <- search_by_ivm_criterion(plan$problem, table, control, progress)
    plan$problem <- found$problem
    learned <- c(plan_unlearned(plan, found$table), found["record"])
  } else {
    learned <- learn(plan, table, control, progress, from)
  }
  progress$done(max(learned$record$objective))
  learned
}

# ---- Runs ----

# Builds what a fit is made of, whichever plan made it. found: what C gave; ...: fields of
# the plan.
#   status, logz   a run whose status is not 0 has nothing else
#   basis, alpha, G, H, each   the stored posterior (posterior.R); jitter of its kernel matrix
#   basis_rows, basis_rows_of  rows in the basis; those of each latent function
#   mean, var, tau, nu, cav_mean, cav_var, lpd   latent moments, sites, cavities and log predictive
#                              densities of all rows
#   sweeps, change, tol, converged, damped, sequential, skipped, flat, trace, exchanges
#                              how EP went
#   selection      how rows were included (plan-ivm.R)
#   others         runs of other modes (plan-modes.R)
#   options, copies, basis_copies  where copies of rows were in it (strategy-copies.R)
#   choices        sizes of the basis that were compared (strategy-regression.R)
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
