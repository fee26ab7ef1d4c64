# Where nothing was said of the basis: hyperparameters are learned on some of the rows, then all
# rows are fitted on a basis that grows for as long as that pays. All rows are in it where they are
# few. Work is counted in multiplications, never in seconds: the same rows give the same fit on any
# machine.

# Of an evaluation of the evidence: of few rows by full EP, and on a basis; and of the last sweep.
# Effort multiplies them.
SECOND <- 1e9

STAGE_WORK <- 2.5e9

FIT_WORK <- 4e11

HELD <- 1.25e8 # most numbers of the rows as the basis sees them: 1 GB

plan_grown <- function(problem) {
  problem$method$pool <- min(problem$method$pool, HELD)
  n <- nrow(problem$x)
  new_plan("plan_grown", problem, effort = EFFORT[[problem$method$effort]],
           all = !too_dear(problem$method, problem$lik, n, problem$processes),
           order = spread_problem(problem))
}

# Points for n of the rows, at most every other one of them.
most_points <- function(plan, work, n) {
  points <- points_of_work(work * plan$effort, n, plan$problem$lik, plan$problem$processes)
  min(floor(n / 2), round(points))
}

# ---- Learning in stages ----

# The first stage is of so few rows that all of them are in the basis. Where full EP of all rows is
# too dear two more are on a basis, as what is learned there suits a basis: a full posterior would
# have less noise. After the second either points pay, and the third has as many as the work allows
# on twice the rows; or they do not, and it has as many rows.
PILOT_ROWS <- 2000L

PILOT_POINTS <- 333L

# from: free values of a search that has done the first stage.
#' @export
by_evidence.plan_grown <- function(plan, table, control, progress, from = NULL) {
  n <- nrow(plan$problem$x)
  few <- min(n, rows_of_work(SECOND * plan$effort, plan$problem$lik, plan$problem$processes))
  whole <- function(rows) list(rows = rows, points = rows)
  learned <- list(plan = plan, table = table, from = from)
  if (n == few || is.null(from)) learned <- learn_stage(learned, whole(few), control, progress)
  if (n == few) return(learned)
  if (plan$all) return(learn_stage(learned, whole(n), control, progress))
  learned <- learn_stage(learned, pilot_stage(plan), control, progress)
  learn_stage(learned, last_stage(plan, learned$table$theta), control, progress)
}

pilot_stage <- function(plan) {
  rows <- min(nrow(plan$problem$x), PILOT_ROWS)
  list(rows = rows, points = min(PILOT_POINTS, most_points(plan, STAGE_WORK, rows)))
}

last_stage <- function(plan, theta) {
  n <- nrow(plan$problem$x)
  pilot <- pilot_stage(plan)
  rows <- min(n, 2L * PILOT_ROWS)
  points <- most_points(plan, STAGE_WORK, rows)
  if (points > pilot$points && more_points_pay(plan, pilot, theta)) {
    return(list(rows = rows, points = points))
  }
  most <- STAGE_WORK * plan$effort / dearness(plan$problem$lik, plan$problem$processes)
  list(rows = min(n, max(rows, round(most / pilot$points^2))), points = pilot$points)
}

# Tried on half of the stage's rows at most, as rows outside of the basis tell.
more_points_pay <- function(plan, stage, theta) {
  more <- list(rows = stage$rows, points = min(TIMES * stage$points, floor(stage$rows / 2)))
  gain <- gain_of(run_plan(stage_plan(plan, stage), theta), run_plan(stage_plan(plan, more), theta))
  gain >= PAYS * log(more$points / stage$points) / log(TIMES)
}

# Batch EP of a stage's rows on its points.
stage_plan <- function(plan, stage) {
  problem <- part_of_problem(plan$problem, plan$order[seq_len(stage$rows)])
  rows <- seq_len(stage$rows)
  if (stage$points < stage$rows) {
    rows <- utils::head(distinct_rows(problem$x), stage$points)
    problem$basis <- basis_of_rows(problem, rows, NULL)
  }
  new_plan("plan_batch", problem, rows = rows)
}

# Learning goes on from where it was, on other rows. Values that more rows are to have need not be
# found to the last digit, nor dear ones.
learn_stage <- function(learned, stage, control, progress) {
  problem <- stage_plan(learned$plan, stage)$problem
  aim <- evidence(problem)
  if (stage$rows < nrow(learned$plan$problem$x) || !aim$cheap) control$within <- 0.1
  more <- learn_hyper(aim, learned$table, control, progress, learned$from)
  list(plan = learned$plan, table = more$table, from = more$table$theta[more$table$free],
       record = add_stage(learned$record, more$record, stage))
}

# The record of all stages: of the last search, with what all of them took.
add_stage <- function(record, new, stage) {
  new$stages <- rbind(record$stages, data.frame(
    rows = stage$rows, points = stage$points, evaluations = new$evaluations,
    objective = max(new$objective)
  ))
  for (count in c("evaluations", "failures")) new[[count]] <- new[[count]] + sum(record[[count]])
  new
}

# A copy of a point would make the basis's kernel matrix singular.
distinct_rows <- function(x) which(!duplicated(x))

# ---- The fit of all rows ----

#' @export
tunes.plan_grown <- function(plan) {
  if (lik_traits(plan$problem$lik)$tempered) "power" else character()
}

# Bases of a ninth, a third and all of the points that the work allows. The next is tried for as
# long as the last gained more than this in the mean leave-one-out log density of rows that are in
# neither: a row in the basis sees its own place in more detail than a new one would. A step that
# gains nothing is not kept.
PAYS <- 0.008 # nats a row for three times the points

TIMES <- 3

LEAST_POINTS <- 150

#' @export
run_plan.plan_grown <- function(plan, theta) {
  if (plan$all) return(run_plan(plan_ep(plan$problem, list(rows = seq_len(nrow(plan$problem$x)))),
                                theta))
  distinct <- plan$order[distinct_rows(plan$problem$x[plan$order, , drop = FALSE])]
  run <- NULL
  growth <- NULL
  for (size in sizes_of(plan)) {
    larger <- run_on_rows(plan$problem, theta, utils::head(distinct, size), run)
    if (larger$status != 0L && is.null(run)) return(larger)
    step <- growth_step(run, larger, size)
    growth <- rbind(growth, step)
    if (step$taken) run <- larger
    if (!step$taken || !(step$gain >= PAYS)) break
  }
  run$growth <- growth
  run
}

# Returns the record of a step to a larger basis. It is taken only if rows outside of the basis are
# predicted better than before: `before` is the run to beat, NULL for the first.
growth_step <- function(before, larger, points) {
  if (larger$status != 0L) {
    return(data.frame(points, log_evidence = NA, loo_lpd = NA, gain = NA, taken = FALSE))
  }
  gain <- gain_of(before, larger)
  data.frame(points = min(points, nrow(larger$basis)), log_evidence = larger$logz,
             loo_lpd = mean(larger$lpd[-larger$basis_rows]), gain, taken = isTRUE(gain > 0))
}

# Increasing.
sizes_of <- function(plan) {
  most <- most_points(plan, FIT_WORK, nrow(plan$problem$x))
  sizes <- most / TIMES^(2:0)
  as.integer(round(c(sizes[sizes >= LEAST_POINTS & sizes < most], most)))
}

# All rows on a basis of some; before: a run whose sites EP starts from, or NULL.
run_on_rows <- function(problem, theta, rows, before) {
  problem$basis <- basis_of_rows(problem, rows, NULL)
  run_plan(new_plan("plan_batch", problem, rows = rows, sites = before[c("tau", "nu")]), theta)
}

# In mean log density of a row, from one run to one on a basis that holds its basis.
gain_of <- function(before, after) {
  if (is.null(before)) return(Inf)
  gains <- (after$lpd - before$lpd)[-after$basis_rows]
  mean(replace(gains, is.nan(gains), 0)) # of rows that either run finds impossible
}
