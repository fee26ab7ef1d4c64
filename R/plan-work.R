# What the stages of a fit are expected to take, in multiplications: for the progress bar, and for
# nothing else. Counts are typical ones.

STRUCTURE_RUNS <- 60 # evaluations of a search for kernel and scaling

SEARCH_RUNS <- 30 # of a search from the beginning

RESUMED_RUNS <- 12 # of one that goes on

LOOKS <- 6 # fits that are compared while length scales are tuned

# Begins the stage that tries kernels and scalings, on some of n rows.
begin_structure <- function(asked, model, rows, n) {
  processes <- model$response$processes
  labels <- fits_labels(asked, model$lik, n, processes)
  points <- if (labels) min(MOST_PILOT, rows / 2) else rows
  rest <- if (labels) sum(labels_work(n, vectors_wanted(n, asked$effort), model$lik, processes))
          else sum(open_work(asked, n, model$lik, processes, TRUE))
  begin_stage(STRUCTURE_RUNS * run_work(rows, points, model$lik, processes), rest)
}

# c(learning, fitting) of a plan. learns: is there anything to learn? tried: were kernels tried?
expected_work <- function(plan, learns, tried) {
  problem <- plan$problem
  n <- nrow(problem$x)
  work <- if (inherits(plan, "plan_labels")) {
    labels_work(n, problem$method$size, problem$lik, problem$processes)
  } else if (is.null(problem$basis)) {
    open_work(problem$method, n, problem$lik, problem$processes, !is.null(tried))
  } else {
    work_of_call(problem) * c(learning = SEARCH_RUNS, fitting = 1)
  }
  if (learns) work else replace(work, "learning", 0)
}

# Of labels: hyperparameters have been learned with the structure, or else on a pilot.
labels_work <- function(n, points, lik, processes) {
  look <- min(n, LOOK_ROWS)
  c(learning = SEARCH_RUNS * run_work(min(n, PILOT_LABELS), MOST_PILOT, lik, processes),
    fitting = LOOKS * run_work(look, points / 2, lik, processes) +
      4 * run_work(n, points, lik, processes))
}

# Of all other plans that have no basis yet.
open_work <- function(method, n, lik, processes, resumed) {
  runs <- if (resumed) RESUMED_RUNS else SEARCH_RUNS
  work <- function(rows, points) run_work(rows, points, lik, processes)
  if (!leaves_open(method) || !too_dear(method, lik, n, processes)) {
    points <- if (is.null(method$size)) n else min(n, method$size)
    return(work(n, points) * c(learning = runs, fitting = 1))
  }
  few <- rows_of_work(SECOND * EFFORT[[method$effort]], lik, processes)
  stages <- c(runs * work(few, few), RESUMED_RUNS * work(PILOT_ROWS, PILOT_POINTS),
              RESUMED_RUNS * OUTSIDE * STAGE_WORK * EFFORT[[method$effort]])
  most <- points_of_work(FIT_WORK * EFFORT[[method$effort]], n, lik, processes)
  # the largest basis is seldom reached
  c(learning = sum(stages), fitting = work(n, min(most, n / 2) / TIMES))
}
