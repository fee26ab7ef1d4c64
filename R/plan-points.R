# Inducing points that are learned (Snelson and Ghahramani 2006): a plan chooses rows and learns
# hyperparameters, then the points leave the rows and are searched with the hyperparameters.

# Returns the plan whose points are learned after `plan`, batch EP on a given basis or on a chosen
# one, has learned. moving: numbers of the columns of points that move.
plan_points <- function(plan) {
  problem <- plan$problem
  refuse_if(count_spheres(problem$spec), "method",
            paste("has learn_points = TRUE, and points of a kernel with distance =",
                  "\"sphere\" would leave the sphere"), "Leave learn_points out")
  moving <- moving_columns(problem)
  refuse_if(length(moving) == 0L, "method",
            paste("has learn_points = TRUE, and points cannot move along any",
                  "input: inputs are factors or indicators, or the kernel has no",
                  "derivative along them"),
            "Leave learn_points out, or use a kernel such as kernel_matern32()")
  new_plan("plan_points", problem, first = plan, moving = moving)
}

# Returns which columns of points are numbers along which the kernel has a derivative. Columns of at
# most two values are indicators; between them there is nothing to be learned.
moving_columns <- function(problem) {
  columns <- seq_len(ncol(problem$x) - component_columns(problem_width(problem)))
  still <- level_columns(problem$spec) + 1L
  Filter(function(column) {
    !column %in% still && is.null(part_without_slope(problem$spec, column - 1L)) &&
      length(unique(problem$x[, column])) > 2L
  }, columns)
}

# Returns the columns (from 0) that a part of a specification reads as levels of a factor.
level_columns <- function(spec) {
  c(spec$vars[spec$levels > 0], unlist(lapply(spec$parts, level_columns)))
}

# Stops where there are no points to be learned, or where they are exchanged until the end.
refuse_fixed_points <- function(basis, chooses, sweeps) {
  refuse_if(sweeps, "method",
            paste("has learn_points = TRUE, and exchanges points in all sweeps, or",
                  "projects by \"kl\", which has no evidence"),
            "Use projection = \"moment\" with a finite freeze")
  if (chooses || !is.null(basis$x)) return(invisible())
  stop_sparsegp("method", "has learn_points = TRUE, and every observation is in the basis",
                "Give method_ep(size =) below the number of observations, or a `basis`")
}

#' @export
plan_unlearned.plan_points <- function(plan, table) plan_unlearned(plan$first, table)

# With all hyperparameters given the points are learned alone.
#' @export
learn.plan_points <- function(plan, table, control, progress, from = NULL) {
  first <- if (any(table$free)) learn(plan$first, table, control, progress, from)
           else plan_unlearned(plan$first, table)
  learn_points(first, plan$moving, control, progress)
}

# Returns what learn() does, with hyperparameters and points searched from where `learned` ended:
# its plan with a basis that is no rows. If the evidence has no gradient there, that is all there
# is.
learn_points <- function(learned, moving, control, progress) {
  problem <- learned$plan$problem
  table <- learned$table
  layout <- points_layout(problem, moving)
  objective <- make_objective(points_criterion(problem, layout), table, progress)
  hyper <- search_box(table)
  start <- c(table$theta[table$free], layout$start)
  began <- objective$value(start)
  if (began >= IMPOSSIBLE) return(learned)
  centre <- list(value = c(hyper$value, layout$start), reach = c(hyper$reach, layout$reach),
                 lower = c(hyper$lower, layout$start - layout$reach),
                 stride = c(hyper$stride, rep(1, length(layout$start))))
  best <- search_from(objective, list(start), centre, control)[[1L]]
  found <- learned_hyper(objective, table, hyper, best, best$value, began)
  problem$basis <- layout$points(utils::tail(best$par, length(layout$start)))
  list(plan = new_plan("plan_batch", problem, rows = NULL, record = learned$plan$record,
                       sites = found$sites),
       table = found$table, record = joint_record(learned$record, found$record, best))
}

# Returns how numbers that are searched are points: `start`, as far as each may go (`reach`, the
# width of the data), points(par), and pull(gradient), the gradient in the numbers. These are in
# standard deviations of the inputs. Components at one location stay together.
points_layout <- function(problem, moving) {
  points <- problem$basis
  x <- problem$x[, moving, drop = FALSE]
  unit <- apply(x, 2L, stats::sd)
  location <- locations_of(points, problem_width(problem))
  first <- !duplicated(location)
  per_column <- function(values) rep(values, each = sum(first))
  scaled <- function(par) matrix(par * per_column(unit), ncol = length(moving))
  list(start = c(points[first, moving]) / per_column(unit),
       reach = per_column(apply(x, 2L, function(values) diff(range(values))) / unit),
       points = function(par) {
         points[, moving] <- scaled(par)[location, , drop = FALSE]
         points
       },
       pull = function(gradient) {
         c(rowsum(gradient[, moving, drop = FALSE], location)) * per_column(unit)
       })
}

# Returns the number of each point's location, in the order in which they first occur.
locations_of <- function(points, w) {
  if (w == 1L) return(seq_len(nrow(points)))
  key <- point_keys(points[, -ncol(points), drop = FALSE] + 0) # 0 and -0 are one place
  match(key, unique(key))
}

# Classes with kernels of their own share the points, which add up what each makes of them.
points_criterion <- function(problem, layout) {
  evidence <- evidence_criterion(problem, points = TRUE)
  function(theta, par) {
    run <- evidence(theta, layout$points(par))
    if (run$status == 0L) run$others <- layout$pull(Reduce(`+`, run$points))
    run
  }
}

# Returns the record of both searches. The last one may end after `inner` iterations: hundreds of
# coordinates have no sharp optimum, and what counts is that hyperparameters have settled.
joint_record <- function(first, last, best) {
  ended <- best$convergence == 1L && all(abs(last$gradient) < STEEP)
  last$converged <- last$converged || ended
  last$objective <- c(first$objective, last$objective)
  last$choices <- first$choices
  with_spent(last, first)
}
