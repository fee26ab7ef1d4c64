# Labels, two or each against the rest, where rows are many and nothing was said of the method:
# hyperparameters are learned by the evidence of informative vectors of some rows; then each class
# has informative vectors of its own among all rows.
#
# The evidence prefers longer length scales than so many points want, and probabilities that each
# class has by itself are too sure or not sure enough. Both are settled by leave-one-out
# probabilities of the fits themselves (fit-tune.R), which take the points of a fit of all rows,
# half as many while they are looked for.

PILOT_LABELS <- 1500L # rows

PILOT_WORK <- 8e8 # of an evaluation of their evidence

MOST_PILOT <- 150

LABELS_WORK <- 1e11 # of a sweep of all rows

MOST_VECTORS <- 1000

NEARLY <- 1e-3 # change at which EP stops: probabilities move by less

# By this plan? Where full EP would be too dear.
fits_labels <- function(method, lik, n, processes) {
  leaves_open(method) && isTRUE(lik_traits(lik)$tempered) &&
    too_dear(method, lik, n, processes)
}

plan_labels <- function(problem, effort) {
  n <- nrow(problem$x)
  points <- points_of_work(LABELS_WORK * EFFORT[[effort]], n, problem$lik, problem$processes)
  problem$method <- method_ivm(round(min(points, MOST_VECTORS, n / 2)), tol = NEARLY, pool = HELD)
  problem$luck <- as.double(spread_rows(n, problem$strata)) # nothing is left to luck
  new_plan("plan_labels", problem)
}

# Rows and method of the pilot.
labels_pilot <- function(n, lik, processes) {
  rows <- min(n, PILOT_LABELS)
  points <- points_of_work(PILOT_WORK, rows, lik, processes)
  list(rows = rows, method = method_ivm(round(min(points, MOST_PILOT, rows / 2))))
}

# from: free values of a search on the pilot.
#' @export
by_evidence.plan_labels <- function(plan, table, control, progress, from = NULL) {
  if (!is.null(from)) {
    table$theta[table$free] <- from
    return(list(plan = plan, table = table, record = NULL))
  }
  problem <- plan$problem
  pilot <- labels_pilot(nrow(problem$x), problem$lik, problem$processes)
  rows <- spread_rows(nrow(problem$x), problem$strata)[seq_len(pilot$rows)]
  control$within <- 0.1
  learned <- by_evidence(plan_of(pilot$method, part_of_problem(problem, rows), list(rows = rows)),
                         table, control, progress)
  c(list(plan = plan), learned[c("table", "record")])
}

#' @export
tunes.plan_labels <- function(plan) c("lengthscale", "power")

# The plan with half the points, for looking around.
halved <- function(plan) {
  plan$problem$method$size <- max(1, round(plan$problem$method$size / 2))
  plan
}

#' @export
run_plan.plan_labels <- function(plan, theta) {
  problem <- plan$problem
  chosen <- choose_basis(new_plan(c("plan_ivm", "plan_choosing"), problem), list(theta = theta),
                         learning = FALSE)
  run_plan(chosen, theta)
}
