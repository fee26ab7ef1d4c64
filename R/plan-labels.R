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

WITH_CARE <- 1e-3 # change at which EP stops: the evidence then moves by its square

# Informative vectors of each class: ten times the root of the number of rows, within these. Effort
# multiplies what a sweep takes, the square of all.
FEW_VECTORS <- 800

MOST_VECTORS <- 1300

CANDIDATES <- 0.25 # share of the rows

NEARLY <- 2e-2 # change at which EP stops: probabilities then move by some 3e-4

ROUGHLY <- 5e-2 # the same, where fits are only compared

# By this plan? Where full EP would be too dear.
fits_labels <- function(method, lik, n, processes) {
  leaves_open(method) && lik_traits(lik)$tempered &&
    too_dear(method, lik, n, processes)
}

# Informative vectors of each class among n rows.
vectors_wanted <- function(n, effort) {
  points <- sqrt(EFFORT[[effort]]) * min(max(10 * sqrt(n), FEW_VECTORS), MOST_VECTORS)
  round(min(points, n / 2))
}

plan_labels <- function(problem, effort) {
  n <- nrow(problem$x)
  problem$method <- method_ivm(vectors_wanted(n, effort), tol = NEARLY, pool = HELD)
  problem$luck <- as.double(spread_problem(problem)) # nothing is left to luck
  new_plan("plan_labels", problem)
}

# Rows of the pilot, and its plan.
labels_pilot <- function(n, lik, processes) {
  rows <- min(n, PILOT_LABELS)
  points <- points_of_work(PILOT_WORK, rows, lik, processes)
  method <- method_ivm(round(min(points, MOST_PILOT, rows / 2)), tol = WITH_CARE)
  list(rows = rows, plan = function(problem) {
    problem$method <- method
    new_plan(c("plan_pilot", "plan_ivm", "plan_choosing"), problem)
  })
}

# Spread over all rows, which may be sorted by their labels.
a_third <- function(problem) {
  spread_problem(problem)[seq_len(round(nrow(problem$x) / 3))]
}

# From nothing the way is long, and begins with a third of the rows and points: an evaluation costs
# a 27th there.
#' @export
by_evidence.plan_pilot <- function(plan, table, control, progress, from = NULL) {
  first <- NULL
  if (is.null(from)) {
    small <- plan
    small$problem <- part_of_problem(plan$problem, a_third(plan$problem))
    small$problem$method$size <- max(1, round(plan$problem$method$size / 3))
    class(small) <- setdiff(class(plan), "plan_pilot")
    first <- by_evidence(small, table, control, progress)
    from <- first$table$theta[table$free]
  }
  learned <- NextMethod(from = from)
  learned$record$evaluations <- learned$record$evaluations + sum(first$record$evaluations)
  learned
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
  rows <- spread_problem(problem)[seq_len(pilot$rows)]
  control$within <- 0.1
  learned <- by_evidence(pilot$plan(part_of_problem(problem, rows)), table, control, progress)
  c(list(plan = plan), learned[c("table", "record")])
}

#' @export
tunes.plan_labels <- function(plan) c("lengthscale", "power")

# Times the points there would be: copies bear a closer look, within three times the time of
# a fit without them.
POINTS_AMONG_COPIES <- 1.75

#' @export
among_copies.plan_labels <- function(plan, sites) {
  plan$problem$method$size <- round(POINTS_AMONG_COPIES * plan$problem$method$size)
  plan$sites <- sites
  plan
}

# For looking around: the plan with half the points, of some of the rows where they are many, and
# EP that ends sooner.
smaller_plan <- function(plan, rows) {
  plan <- rougher_plan(plan, rows)
  plan$problem$method$size <- max(1, round(plan$problem$method$size / 2))
  plan
}

rougher_plan <- function(plan, rows) {
  if (length(rows) < nrow(plan$problem$x)) {
    plan$problem <- part_of_problem(plan$problem, rows)
    plan$problem$luck <- as.double(seq_along(rows))
  }
  plan$problem$method$tol <- ROUGHLY
  plan
}

LOOK_ROWS <- 8000L

#' @export
run_plan.plan_labels <- function(plan, theta) {
  if (plan$problem$processes == 1L) return(run_vectors(plan, theta))
  class_by_class(plan$problem, theta, function(theta, class) {
    run_vectors(plan_of_class(plan, class), theta)
  })
}

# EP starts from plan$sites, those of an earlier fit, or else from those of the vectors.
run_vectors <- function(plan, theta) {
  chosen <- chosen_vectors(plan, theta)
  chosen$problem$method$pool <- HELD
  chosen$sites <- if (is.null(plan$sites)) chosen$included else plan$sites
  run_plan(chosen, theta)
}

# Informative vectors are looked for among a quarter as many candidates as there would be without a
# limit: those left when the set is full.
chosen_vectors <- function(plan, theta) {
  problem <- plan$problem
  problem$method$pool <- min(HELD, CANDIDATES * stub_count(problem))
  choose_basis(new_plan(c("plan_ivm", "plan_choosing"), problem), list(theta = theta),
               learning = FALSE)
}

# The rows that each class has for its vectors, in the order that they were chosen in.
vectors_of_classes <- function(plan, theta) {
  lapply(seq_len(plan$problem$processes), function(class) {
    own <- theta_of_class(plan$problem, theta, class)
    chosen_vectors(plan_of_class(plan, class), own)$rows
  })
}

# ---- One class after the other: each is two labels, its own and the rest's ----

# Are the latent functions of models of their own?
sets_apart <- function(problem) {
  problem$processes > 1L && !catalogue()$likelihoods[[problem$lik$type]]$classes
}

# run: (theta of the class, class) -> its run
class_by_class <- function(problem, theta, run) {
  runs <- list()
  for (class in seq_len(problem$processes)) {
    runs[[class]] <- run(theta_of_class(problem, theta, class), class)
    if (runs[[class]]$status != 0L) return(runs[[class]])
  }
  joined_runs(runs)
}

problem_of_class <- function(problem, class) {
  problem$rows[] <- ifelse(problem$rows == class, 1, -1)
  problem$processes <- 1L
  problem
}

plan_of_class <- function(plan, class) {
  plan$problem <- problem_of_class(plan$problem, class)
  if (!is.null(plan$sites)) plan$sites <- lapply(plan$sites, function(of_all) of_all[, class])
  plan
}

theta_of_class <- function(problem, theta, class) {
  from_kernel <- seq_len(problem$nkernel)
  own <- matrix(theta[-from_kernel], ncol = problem$processes)
  c(theta[from_kernel], own[, class])
}

joined_runs <- function(runs) {
  of <- function(field) lapply(runs, `[[`, field)
  points <- joined_points(runs)
  joined <- lapply(stats::setNames(nm = OF_ONE_CLASS), function(field) do.call(cbind, of(field)))
  joined$state <- unlist(of("state"), recursive = FALSE)
  joined$each <- lapply(runs, `[`, c("basis", "alpha", "G", "H"))
  if (!is.null(runs[[1L]]$selection)) {
    joined$selection <- list(stopped = runs[[1L]]$selection$stopped, exchanged = 0L,
                             trace = joined_inclusions(of("selection")))
  }
  new_run(c(joined, points, joined_course(runs)), basis_rows_of = of("basis_rows"),
          lpd = Reduce(`+`, of("lpd")), method = runs[[1L]]$method,
          copies = do.call(rbind, of("copies")))
}

# The points of all: rows, and copies of rows (plan-copies.R), each of them once.
joined_points <- function(runs) {
  all <- function(field, bind) do.call(bind, lapply(runs, `[[`, field))
  points <- cbind(row = all("basis_rows", c), copy = all("basis_copies", c))
  first <- !duplicated(points)
  list(basis = all("basis", rbind)[first, , drop = FALSE], basis_rows = points[first, "row"],
       basis_copies = if (ncol(points) > 1L) points[first, "copy"])
}

OF_ONE_CLASS <- c("tau", "nu", "mean", "var", "cav_mean", "cav_var")

joined_inclusions <- function(selections) {
  do.call(rbind, Map(function(selection, class) {
    trace <- selection$trace
    cbind(trace[intersect(c("size", "row", "gain", "copy"), names(trace))], class = class)
  }, selections, seq_along(selections)))
}

# How EP of all went: where one class has ended it stands while others go on.
joined_course <- function(runs) {
  numbers <- function(field) vapply(runs, function(run) as.double(run[[field]]), 0)
  total <- function(field) as.integer(sum(numbers(field)))
  sweeps <- max(numbers("sweeps"))
  traces <- lapply(runs, function(run) {
    run$trace[, pmin(seq_len(sweeps), ncol(run$trace)), drop = FALSE]
  })
  evidence <- Reduce(`+`, lapply(traces, function(trace) trace[1L, ]))
  change <- do.call(pmax, lapply(traces, function(trace) trace[2L, ]))
  list(status = 0L, logz = sum(numbers("logz")), sweeps = as.integer(sweeps),
       change = max(numbers("change")), tol = runs[[1L]]$tol,
       converged = all(numbers("converged") == 1),
       damped = total("damped"), sequential = total("sequential"), skipped = total("skipped"),
       flat = total("flat"), jitter = max(numbers("jitter")), trace = rbind(evidence, change))
}
