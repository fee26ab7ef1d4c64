# The default strategy for one latent function: learn on a subset, then grow the set of inducing
# points for as long as that pays. If observations are few, all of them are inducing points.
#
#   stage      observations                 inducing points            stops
#   kernel     of structure_flops           all of these               all kernels tried, or the
#                                                                      one given is learned
#   learning   pilot_rows                   pilot_points
#   growth?    pilot_rows                   growth_factor times these
#   learning   twice as many, or of         most of stage_flops, or
#              stage_flops                  pilot_points
#   points     all                          1/9, 1/3, all of           a step that gains less than
#                                           fit_flops                  min_gain
#
# Both stages of learning are on inducing points, as what is learned there suits
# them: a full posterior would have less noise.

plan_adaptive <- function(problem, effort) {
  problem$options$pool <- min(problem$options$pool, policy$held_numbers)
  n <- nrow(problem$x)
  new_plan("plan_adaptive", problem, effort = EFFORT[[effort]],
           is_full = !exceeds_full_ep_budget(effort, problem$lik, n, problem$processes),
           order = spread_problem(problem),
           near = windowed_problem(problem, rows_to_begin_with(problem)))
}

# Observations of the first stage of learning, all of which are inducing points.
rows_to_begin_with <- function(problem) {
  min(nrow(problem$x), rows_of_work(policy$structure_flops, problem$lik, problem$processes))
}

# Inducing points for n observations: at most every other one of them.
most_points <- function(plan, flops, n) {
  points <- points_of_work(flops * plan$effort, n, plan$problem$lik, plan$problem$processes)
  min(floor(n / 2), round(points))
}

# ---- Learning in stages ----

# from: free values of a search that has done the first stage.
#' @export
learn.plan_adaptive <- function(plan, table, control, progress, from = NULL) {
  n <- nrow(plan$problem$x)
  few <- rows_to_begin_with(plan$problem)
  whole <- function(rows) list(rows = rows, points = rows)
  learned <- list(plan = plan, table = table, from = from)
  if (n == few || is.null(from)) learned <- learn_stage(learned, whole(few), control, progress)
  if (n == few) return(learned)
  if (plan$is_full) return(learn_stage(learned, whole(n), control, progress))
  if (!is.null(plan$near)) return(as_learned(learned))
  learned <- learn_stage(learned, pilot_stage(plan), control, progress)
  learn_stage(learned, last_stage(plan, learned$table$theta), control, progress)
}

# A function that varies too fast for a sample of observations does so for a sample of inducing
# points, too: what a window of neighbours taught is final.
as_learned <- function(learned) {
  learned$table$theta[learned$table$free] <- learned$from
  learned
}

pilot_stage <- function(plan) {
  rows <- min(nrow(plan$problem$x), policy$pilot_rows)
  list(rows = rows,
       points = min(policy$pilot_points, most_points(plan, policy$stage_flops, rows)))
}

# Either points pay, and the last stage has as many as the budget allows on twice the observations;
# or they do not, and it has as many observations.
last_stage <- function(plan, theta) {
  n <- nrow(plan$problem$x)
  pilot <- pilot_stage(plan)
  rows <- min(n, 2L * policy$pilot_rows)
  points <- most_points(plan, policy$stage_flops, rows)
  if (points > pilot$points && more_points_pay(plan, pilot, theta)) {
    return(list(rows = rows, points = points))
  }
  most <- policy$stage_flops * plan$effort /
    factorisations_per_evaluation(plan$problem$lik, plan$problem$processes)
  list(rows = min(n, max(rows, round(most / pilot$points^2))), points = pilot$points)
}

# Tried on half of the stage's observations at most, as those outside of the basis tell.
more_points_pay <- function(plan, stage, theta) {
  more <- list(rows = stage$rows,
               points = min(policy$growth_factor * stage$points, floor(stage$rows / 2)))
  run <- function(stage) list(run = run_plan(stage_plan(plan, stage), theta))
  gain <- mean(gain_outside(run(more), run(stage)))
  gain >= policy$min_gain * log(more$points / stage$points) / log(policy$growth_factor)
}

# Batch EP of a stage's observations on its inducing points.
stage_plan <- function(plan, stage) {
  order <- plan$near %||% plan$order
  problem <- part_of_problem(plan$problem, order[seq_len(stage$rows)])
  rows <- seq_len(stage$rows)
  if (stage$points < stage$rows) {
    rows <- utils::head(inducing_rows(problem, rows), stage$points)
    problem$basis <- basis_of_rows(problem, rows, NULL)
  }
  new_plan("plan_batch", problem, rows = rows)
}

# Learning goes on from where it was, on other observations. Values that more of them are to refine
# need not be found to the last digit, nor expensive ones. The record is of the last search, with
# what all of them took.
learn_stage <- function(learned, stage, control, progress) {
  problem <- stage_plan(learned$plan, stage)$problem
  aim <- evidence(problem)
  if (stage$rows < nrow(learned$plan$problem$x) || !aim$cheap) {
    control$within <- policy$search_tolerance
  }
  more <- learn_hyper(aim, learned$table, control, progress, learned$from)
  record <- more$record
  choice <- choice_row("learning", c(stage, list(value = max(record$objective))),
                       label = paste(record$evaluations, "evaluations"))
  record$choices <- only_last_taken(stacked_table(list(learned$record$choices, choice)))
  list(plan = learned$plan, table = more$table, from = more$table$theta[more$table$free],
       record = with_spent(record, learned$record))
}

# ---- The fit of all observations ----

# A row in the basis sees its own place in more detail than a new one would, so that a larger basis
# is judged by the leave-one-out log density of the others.
#' @export
run_plan.plan_adaptive <- function(plan, theta) {
  if (plan$is_full) {
    return(run_plan(plan_ep(plan$problem, list(rows = seq_len(nrow(plan$problem$x)))), theta))
  }
  rows <- inducing_rows(plan$problem, plan$order)
  most <- most_points(plan, policy$fit_flops, nrow(plan$problem$x))
  sizes <- most / policy$growth_factor^(2:0)
  sizes <- as.integer(round(c(sizes[sizes >= policy$min_points & sizes < most], most)))
  if (isTRUE(plan$fewest)) sizes <- sizes[1L]
  if (!is.null(plan$near)) sizes <- sizes_that_see(plan$problem, rows, sizes, theta)
  entries <- lapply(sizes, function(size) {
    function(best) c(list(rows = utils::head(rows, size)), best$run[c("tau", "nu")])
  })
  best <- race("inducing points", entries,
               function(candidate) score_outside(candidate, plan, theta), gain_outside,
               go_on = function(taken, gain) taken && gain >= policy$min_gain)
  if (best$run$status == 0L) best$run$choices <- best$choices
  best$run
}

# Returns the sizes but those of the smallest that leave most of the prior variance of other rows
# open: a function that varies fast is as invisible to somewhat more of these.
sizes_that_see <- function(problem, rows, sizes, theta) {
  kernel <- function(x, z) {
    kernel_matrix(problem$spec, theta[seq_len(problem$nkernel)], x, z)
  }
  probes <- problem$x[utils::tail(rows, policy$min_points), , drop = FALSE]
  prior <- sum(apply(probes, 1L, function(row) kernel(rbind(row), rbind(row))))
  sees <- function(size) {
    basis <- problem$x[utils::head(rows, size), , drop = FALSE]
    K <- kernel(basis, basis)
    factor <- chol(K + diag(1e-6 * mean(diag(K)), size))
    sum(backsolve(factor, kernel(basis, probes), transpose = TRUE)^2) > prior / 2
  }
  while (length(sizes) > 1L && !sees(sizes[1L])) sizes <- sizes[-1L]
  sizes
}

# Runs batch EP on some rows as inducing points, from the sites of an earlier run, if there was one.
score_outside <- function(candidate, plan, theta) {
  problem <- plan$problem
  n <- nrow(problem$x)
  problem$basis <- basis_of_rows(problem, candidate$rows, NULL)
  sites <- if (!is.null(candidate$tau)) candidate[c("tau", "nu")]
  run <- run_plan(new_plan("plan_batch", problem, rows = candidate$rows, sites = sites), theta)
  if (run$status != 0L) {
    return(list(run = run, value = NA, rows = n, points = NA, label = "not a number"))
  }
  points <- nrow(run$basis)
  list(run = run, value = mean(run$lpd[-run$basis_rows]), rows = n, points = points,
       label = counted(points, "point"))
}

# Has the largest number of inducing points gained?
gains_to_the_end <- function(run) {
  isTRUE(utils::tail(run$choices$taken, 1L)) && nrow(run$choices) > 1L
}

# In log density of the observations outside of the larger basis, which holds the smaller one.
gain_outside <- function(found, best) {
  if (found$run$status != 0L || best$run$status != 0L) return(NA)
  gains <- (found$run$lpd - best$run$lpd)[-found$run$basis_rows]
  replace(gains, is.nan(gains), 0) # both runs find the observation impossible
}

#' @export
tune.plan_adaptive <- function(plan, candidate) {
  run <- checked_run(candidate)
  tuned <- list(candidate = candidate, run = run)
  failed <- "neighbours" %in% candidate$record$choices$stage # before points were learned
  if (!failed && may_have_neighbours(plan, candidate) && gains_to_the_end(run)) {
    found <- neighbours_candidate(candidate)
    if (is.null(found$lost)) return(race_neighbours(score_basis(candidate, run), found))
    tuned$choices <- found$lost
  }
  if (lik_traits(plan$problem$lik)$tempered && !is.null(candidate$record)) {
    tuned$power <- best_temper(loo_label_scores(candidate, run), labels_of(candidate))$power
  }
  tuned
}

# A series (strategy-markov.R): probabilities of its one-vs-rest classes are too sure, too.
#' @export
tune.plan_series <- function(plan, candidate) tune.plan_adaptive(plan, candidate)
