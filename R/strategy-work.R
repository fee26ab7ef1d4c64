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
  rows <- pilot$count
  if (pilot$of_classes) {
    runs <- STRUCTURE_RUNS / 2 # the first of them are of a third of the rows
    points <- min(points_of_work(policy$class_pilot_flops, rows, lik, processes),
                  policy$class_pilot_points, rows / 2)
    rest <- class_work(n, class_points_wanted(n, asked$effort), lik, processes, TRUE) / FASTER
  } else {
    runs <- STRUCTURE_RUNS
    points <- rows
    grows <- leaves_open(asked) && exceeds_full_ep_budget(asked$effort, lik, n, processes)
    rest <- if (grows) adaptive_work(n, EFFORT[[asked$effort]], lik, processes, TRUE)
            else whole_work(n, min(n, asked$size), lik, processes, TRUE)
  }
  c(runs * run_work(rows, points, lik, processes), sum(rest))
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

# Of labels: what the race for structure has learned is not learned again.
class_work <- function(n, points, lik, processes, resumed) {
  work <- function(rows, points) run_work(rows, points, lik, processes)
  pilot <- work(min(n, policy$class_pilot_rows), policy$class_pilot_points)
  c(learning = if (resumed) 0 else SEARCH_RUNS * pilot,
    fitting = LOOKS * work(min(n, policy$compare_rows), points / 2) + 2 * work(n, points))
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
