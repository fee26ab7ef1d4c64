# Full EP, and batch EP on a basis.

# Returns the plan of method_ep() with a size. The basis is chosen only if none was given and the
# size leaves a choice.
plan_sized_ep <- function(method, problem, basis) {
  problem$options <- method
  chooses <- is.null(basis$x) && method$size < problem_rows(problem)
  sweeps <- if (is.null(basis$x)) method$freeze == Inf || chooses && method$projection == "kl"
            else method$projection == "kl"
  if (own_kernels(problem$lik)) refuse_own_kernels(method, chooses, sweeps)
  if (isTRUE(method$learn_points)) refuse_fixed_points(basis, chooses, sweeps)
  if (sweeps) problem <- without_mean(problem)
  plan <- if (chooses) new_plan(c("plan_sparse_ep", "plan_choosing"), problem)
          else plan_ep(problem, basis)
  if (isTRUE(method$learn_points)) return(plan_points(plan))
  if (!sweeps) return(plan)
  problem$basis <- basis$x
  new_plan(c("plan_sweeps", "plan_with_posterior"), problem, rows = basis$rows, evidence = plan)
}

# On the given basis, or without one with every row in it.
plan_ep <- function(problem, basis) {
  problem$basis <- basis$x
  class <- if (is.null(basis$x)) "plan_full" else "plan_batch"
  new_plan(class, problem, rows = basis$rows)
}

refuse_own_kernels <- function(method, chooses, sweeps) {
  if (chooses) {
    stop_shared_points(method, "Use shared = TRUE, method_ivm(), full EP, or give a `basis`")
  }
  if (!sweeps) return(invisible())
  stop_sparsegp("likelihood", paste("has shared = FALSE, and sweeps of sparse EP update",
                                    "all classes by one kernel"),
                "Use shared = TRUE, or projection = \"moment\" with a finite freeze")
}

stop_shared_points <- function(method, remedy) {
  stop_sparsegp("likelihood", paste("has shared = FALSE, and", method$label,
                                    "chooses points for all classes by one kernel"), remedy)
}

# plan$record$sweeps: the trace of the sweeps that chose the basis, which goes before this one.
#' @export
run_plan.plan <- function(plan, theta) {
  problem <- plan$problem
  if (is_modal(problem$lik)) {
    found <- lapply(run_modes(problem, theta, plan$sites), finish_run, plan)
    return(c(found[[1L]], list(others = found[-1L])))
  }
  finish_run(run_to_end(problem, theta, plan$sites), plan)
}

# Adds the fields of the plan to a run.
finish_run <- function(run, plan) {
  problem <- plan$problem
  if (run$status != 0L) return(run)
  before <- plan$record$sweeps
  if (!is.null(before)) {
    run$exchanges <- c(exchanges(before), numeric(ncol(run$trace)))
    run$sweeps <- run$sweeps + ncol(before)
    run$trace <- cbind(before[c("log_evidence", "change"), , drop = FALSE], run$trace)
  }
  if (is.list(problem$basis)) run$basis <- problem$x[plan$rows, , drop = FALSE]
  else if (!is.null(problem$basis)) run$basis <- problem$basis
  in_order <- !is.null(run$order) # of full EP
  new_run(run, basis_rows = if (in_order) plan$rows[run$order] else plan$rows,
          basis_rows_of = plan$rows_of, selection = plan$record$selection)
}
