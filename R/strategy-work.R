# Estimates what the stages of a fit take, in multiplications: for the progress bar, and for
# nothing else. Counts are typical ones.

STRUCTURE_RUNS <- 60 # evaluations of the race for structure

SEARCH_RUNS <- 30 # of a search from the beginning

RESUMED_RUNS <- 8 # of one that goes on

LOOKS <- 6 # fits that are compared while length scales are tuned

FASTER <- 6 # fits by informative vectors take less time for a multiplication than a search does

# Returns the work of trying kernels and scalings on some of n rows, and that of what comes after.
structure_work <- function(asked, model, pilot, n) {
  lik <- model$lik
  processes <- model$response$processes
  if (isTRUE(pilot$series)) return(series_work(model, pilot, n))
  if (!is.null(pilot$k)) return(c(STRUCTURE_RUNS * pilot$count, 2 * n) * pilot$k^3)
  if (pilot$of_classes) {
    runs <- STRUCTURE_RUNS / 2 # the first of them are of a third of the rows
    rest <- class_work(n, class_points_wanted(n, asked$effort), lik, processes, TRUE) / FASTER
  } else {
    runs <- STRUCTURE_RUNS
    rest <- if (exceeds_budget(asked, lik, n, processes)) {
      adaptive_work(n, EFFORT[[asked$effort]], lik, processes, TRUE)
    } else {
      whole_work(n, min(n, asked$size), lik, processes, TRUE)
    }
  }
  c(runs * run_work(pilot$count, pilot$points, lik, processes), sum(rest))
}

# Returns the work of the race and of the fit of a series.
series_work <- function(model, pilot, n) {
  points <- markov_form(model$spec)$states
  c(STRUCTURE_RUNS * run_work(pilot$count, points, model$lik, model$response$processes),
    RESUMED_RUNS * run_work(n, points, model$lik, model$response$processes))
}

# Returns the work of scoring a model of categories on so many rows (strategy-categories.R).
categories_work <- function(model, rows) {
  processes <- model$response$processes
  points <- class_pilot(rows, model$lik, processes)$points
  SEARCH_RUNS * run_work(rows / 3, points / 3, model$lik, processes) +
    run_work(rows, points / 2, model$lik, processes)
}

# Returns c(learning, fitting) of a plan. resumed: is it known what the search for kernel and
# scaling has learned?
work_ahead <- function(plan, resumed) UseMethod("work_ahead")

#' @export
work_ahead.plan <- function(plan, resumed) {
  problem <- plan$problem
  whole_work(nrow(problem$x), points_of_call(problem), problem$lik, problem$processes, resumed)
}

#' @export
work_ahead.plan_classification <- function(plan, resumed) {
  problem <- plan$problem
  class_work(nrow(problem$x), problem$options$size, problem$lik, problem$processes, resumed)
}

#' @export
work_ahead.plan_adaptive <- function(plan, resumed) {
  if (plan$is_full) return(NextMethod())
  problem <- plan$problem
  adaptive_work(nrow(problem$x), plan$effort, problem$lik, problem$processes, resumed)
}

#' @export
work_ahead.plan_online <- function(plan, resumed) work_ahead(plan$evidence, resumed)

#' @export
work_ahead.plan_neighbours <- function(plan, resumed) {
  n <- as.double(nrow(plan$problem$x))
  one <- plan$problem$neighbours$k^3
  c(learning = (if (resumed) RESUMED_RUNS else SEARCH_RUNS) * min(n, policy$neighbour_rows) * one,
    fitting = 2 * n * one)
}

# Of labels: what the race for structure has learned is not learned again. After that race a rougher
# kernel is fitted, too, if candidates are compared on all rows.
class_work <- function(n, points, lik, processes, resumed) {
  work <- function(rows, points) run_work(rows, points, lik, processes)
  pilot <- work(min(n, policy$class_pilot_rows), policy$class_pilot_points)
  compared <- min(n, most_compared(processes))
  fits <- if (resumed && compared == n) 3 else 2
  c(learning = if (resumed) 0 else SEARCH_RUNS * pilot,
    fitting = LOOKS * work(compared, points / 2) + fits * work(n, points))
}

# Of all rows on so many points.
whole_work <- function(n, points, lik, processes, resumed) {
  runs <- if (resumed) RESUMED_RUNS else SEARCH_RUNS
  run_work(n, points, lik, processes) * c(learning = runs, fitting = 1)
}

# Of a basis that grows, which is seldom as large as it may be.
adaptive_work <- function(n, effort, lik, processes, resumed) {
  work <- function(rows, points) run_work(rows, points, lik, processes)
  few <- rows_of_work(policy$structure_flops, lik, processes)
  each <- factorisations_per_evaluation(lik, processes)
  later <- min(n, policy$stage_flops * effort / (policy$pilot_points^2 * each))
  stages <- c(if (!resumed) SEARCH_RUNS * work(few, few),
              RESUMED_RUNS * work(min(n, policy$pilot_rows), policy$pilot_points),
              RESUMED_RUNS * work(later, policy$pilot_points))
  most <- points_of_work(policy$fit_flops * effort, n, lik, processes)
  c(learning = sum(stages), fitting = work(n, min(most, n / 2) / policy$growth_factor))
}
