# One-vs-rest: a binary problem for each class, its own label against all others, in turn.

# Are the latent functions of models of their own?
is_one_vs_rest <- function(problem) count_models(problem$lik, problem$processes) > 1L

# Runs each class, or a problem that is no one-vs-rest at once. run: (theta of the class, class) ->
# its run; class: NULL where it is the problem itself
one_vs_rest <- function(problem, theta, run) {
  if (!is_one_vs_rest(problem)) return(run(theta, NULL))
  runs <- list()
  for (class in seq_len(problem$processes)) {
    runs[[class]] <- run(theta_of_class(problem, theta, class), class)
    if (runs[[class]]$status != 0L) return(runs[[class]])
  }
  joined_runs(runs)
}

problem_of_class <- function(problem, class) {
  if (is.null(class)) return(problem)
  problem$rows[] <- ifelse(problem$rows == class, 1, -1)
  problem$processes <- 1L
  problem
}

plan_of_class <- function(plan, class) {
  if (is.null(class)) return(plan)
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
          lpd = Reduce(`+`, of("lpd")), options = runs[[1L]]$options,
          copies = do.call(rbind, of("copies")))
}

# The points of all: rows, and copies of rows (strategy-copies.R), each of them once.
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
