# Markov EP: full EP of one numeric input by a filter and a smoother.

#' @export
plan_for.method_markov <- function(method, problem, basis) {
  refuse_power(method, problem)
  refuse_without_points(basis, "Markov EP", what_forbids_markov(problem))
  problem$options <- method
  if (!is.null(method$window)) problem <- without_mean(problem)
  plan_markov(problem)
}

# Returns the plan of a problem that can have it. problem$states: how many states the process has,
# which makes engine_run() filter and smooth.
plan_markov <- function(problem) {
  problem$basis <- NULL
  problem$states <- markov_form(problem$spec)$states
  new_plan("plan_markov", problem, rows = seq_len(nrow(problem$x)))
}

#' @export
refuse_forbidden.plan_markov <- function(plan) refuse_found(what_forbids_markov(plan$problem))

# Learns on all rows. Of very many, a search on some of them comes first, as in the race for
# structure: its starts, and that it is made again, cost little there.
#' @export
learn.plan_markov <- function(plan, table, control, progress, from = NULL) {
  count <- policy$series_rows
  problem <- plan$problem
  first <- NULL
  if (is.null(from) && nrow(problem$x) > count) {
    pilot <- plan
    pilot$problem <- part_of_problem(problem, rows_of_series(problem$x[, 1L], count))
    first <- learn.plan(pilot, table, pilot_control(control), progress)
    from <- first$table$theta[table$free]
    control$within <- policy$search_tolerance
  }
  learned <- learn.plan(plan, table, control, progress, from)
  if (!is.null(first)) learned$record <- with_spent(learned$record, first$record)
  learned
}

# Returns `count` rows of a series with these times: half of them in windows of consecutive rows, as
# noise and a rough function differ from one row to the next alone, and half spread over all, which
# see what is slow. A filter is not slowed by gaps.
rows_of_series <- function(times, count) {
  n <- length(times)
  if (count >= n) return(seq_len(n))
  width <- count %/% (2 * policy$pilot_windows)
  first <- round((n - width) * (seq_len(policy$pilot_windows) - 1 / 2) / policy$pilot_windows)
  near <- outer(seq_len(width), first, `+`)
  sort(order(times)[unique(c(near, spread_rows(n)))[seq_len(count)]])
}

# Warns of a periodic part with finer ripples than there are cosines for.
#' @export
run_plan.plan_markov <- function(plan, theta) {
  run <- NextMethod()
  problem <- plan$problem
  if (run$status != 0L) return(run)
  own <- seq_len(count_kernel_hyper(problem$spec))
  form <- markov_form(problem$spec, theta[own], as.double(problem$x[1L, 1L]))
  if (form$left_out > 1e-3) {
    warn_sparsegp("The periodic part of the kernel has finer ripples than the ", form$harmonics,
                  " cosines that ", MOST_STATES, " states have room for: ",
                  signif(100 * form$left_out, 2L), " % of the variance of the kernel is left out. ",
                  "Use fewer other parts, or a lower bound of its length scale (prior =).")
  }
  run
}
