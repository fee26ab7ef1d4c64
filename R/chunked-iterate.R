# The iteration of EP over chunks. C returns the next step (ep_iteration.h). Here a step is a
# weighted sum of generations of sites (chunked-sites.R), and of their sums: no step reads a row. An
# iteration is a list of
#   state      C's numbers; narrow: are there to be no negative precisions?
#   weights    where it stands, see chunked-sweep.R; stale: are the sums there to be read anew, and
#              clip: after negative precisions are clipped?
#   sums       of the sites of every generation that is kept, by its number
#   at, asked  generations: the sites last evaluated, and those that they asked for
#   best       those of the least residual
#   past       pairs (at, asked) of mixed steps, newest first
#   last       the newest generation
#   seen       has a read at these hyperparameters left gamma in the store?
#   read       what the last sweep adds up to; trace of all sweeps

# EP at theta, from `begun`: an iteration that an earlier call was in the midst of, or a point where
# one has ended, or NULL. after(iteration): called after every sweep. Returns list(status, logz),
# and with status 0 what a run has: change, converged, sweeps, damped, trace, state, widening, lpd,
# jacobian; point, where it ended; gradient where it is wanted. answers: where sites are exact, is
# anything wanted but log Z?
chunked_run <- function(chunked, theta, control, gradient = FALSE, begun = NULL, answers = TRUE,
                     after = function(iteration) NULL) {
  if (chunked$exact) return(chunked_exactly(chunked, theta, gradient, answers))
  it <- if (is.null(begun$at)) new_iteration(theta, begun) else begun
  while (!it$done) {
    if (it$stale) it <- collected(chunked, theta, it)
    if (it$stale) break
    it <- swept(chunked, theta, it, control)
    if (it$read$status != 0L) next
    after(it)
    chunked$store$keep(c(kept_generations(it), names(begun$weights)))
  }
  if (it$read$status != 0L) return(list(status = it$read$status, logz = NaN))
  run_of_iteration(chunked, theta, it, gradient)
}

run_of_iteration <- function(chunked, theta, it, gradient) {
  point <- point_of(chunked, it, one_of(it$at))
  run <- c(it$read[c("status", "logz", "change", "widening", "lpd", "jacobian")],
           it[c("converged", "damped", "trace")],
           list(sweeps = ncol(it$trace), point = c(point, list(theta = theta))))
  if (gradient) {
    task <- list(theta = theta, point = point, stage = "gradient", narrow = it$narrow, seen = TRUE)
    run$gradient <- chunked_read(chunked, task)$gradient
  }
  run$state <- Map(function(own, read) c(read["R"], own[c("S", "t")]), point$sums, it$read$state)
  run
}

# Sites that are the likelihood itself are known beforehand. One read collects their sums, which log
# Z is had from, too; the rest of the answers takes another.
chunked_exactly <- function(chunked, theta, gradient, answers) {
  point <- list(weights = numeric(), sums = no_rows_state(chunked$fit$state))
  read <- chunked_read(chunked, list(theta = theta, point = point, stage = "collect"))
  if (read$status != 0L) return(list(status = read$status, logz = NaN))
  logz <- read$logz + state_mass(read$state)
  if (!gradient && !answers || !is.finite(logz)) return(list(status = 0L, logz = logz))
  point$sums <- read$state
  read <- chunked_read(chunked, list(theta = theta, point = point, seen = TRUE,
                                     stage = if (gradient) "gradient" else "sweep"))
  if (read$status != 0L) return(list(status = read$status, logz = NaN))
  c(read[c("status", "logz", "gradient", "change", "lpd", "jacobian", "widening")],
    list(converged = TRUE, damped = 0L, sweeps = 1L, trace = rbind(read$logz, read$change),
         point = point, state = point$sums))
}

# ---- Where an iteration stands ----

new_iteration <- function(theta, begun) {
  if (is.null(begun)) begun <- list(weights = numeric())
  last <- max(0L, as.integer(names(begun$weights)))
  it <- list(narrow = FALSE, clip = FALSE, weights = begun$weights, past = list(), last = last,
             seen = FALSE, done = FALSE, trace = matrix(0, 2L, 0L),
             stale = length(begun$weights) > 0L && !identical(begun$theta, theta))
  if (last > 0L) it$sums[[as.character(last)]] <- begun$sums
  it
}

one_of <- function(generation) {
  if (generation == 0L) numeric() else stats::setNames(1, generation)
}

is_stored <- function(weights) length(weights) == 0L || identical(unname(weights), 1)

point_of <- function(chunked, it, weights) {
  sums <- no_rows_state(chunked$fit$state)
  for (generation in names(weights)) {
    weight <- weights[[generation]]
    sums <- Map(function(a, b) list(R = a$R, S = a$S + weight * b$S, t = a$t + weight * b$t),
                sums, it$sums[[generation]])
  }
  list(weights = weights, sums = sums)
}

# Weights times numbers, added up by generation; those of 0 are left out.
add_weights <- function(...) {
  all <- c(...)
  sums <- vapply(split(all, names(all)), sum, 0)
  sums[sums != 0 & names(sums) != "0"]
}

kept_generations <- function(it) {
  unique(as.character(c(names(it$weights), it$at, it$best, unlist(it$past))))
}

# ---- Reads ----

# Returns what all chunks add up to.
chunked_read <- function(chunked, task) {
  task$own <- which(chunked$scan$rows > 0)[1L]
  read <- if (has_workers(chunked$scan$source)) read_by_workers else read_here
  blocks <- read(chunked, task)
  Reduce(add_parts, lapply(blocks, `[[`, "sum"), right = TRUE)
}

# Reads the sums of the sites where the iteration stands, which become a generation.
collected <- function(chunked, theta, it) {
  point <- list(weights = it$weights, sums = no_rows_state(chunked$fit$state))
  stored <- is_stored(it$weights) && !it$clip
  to <- if (stored) as.integer(names(it$weights)) else it$last + 1L
  it$read <- chunked_read(chunked, list(theta = theta, point = point, stage = "collect",
                                  asked = if (!stored) to, narrow = it$clip, seen = it$seen))
  if (it$read$status != 0L) return(it)
  it$sums[[as.character(to)]] <- it$read$state
  it$weights <- one_of(to)
  it$last <- max(it$last, to)
  it[c("stale", "clip", "seen")] <- list(FALSE, FALSE, TRUE)
  it
}

# Makes a sweep, and the step after it.
swept <- function(chunked, theta, it, control) {
  point <- point_of(chunked, it, it$weights)
  stored <- is_stored(it$weights)
  at <- if (stored) max(0L, as.integer(names(it$weights))) else it$last + 1L
  asked <- max(it$last, at) + 1L
  coupled <- chunked$coupled
  task <- list(theta = theta, point = point, stage = "sweep", narrow = it$narrow, seen = it$seen)
  goal <- list(asked = asked, past = it$past)
  read <- chunked_read(chunked, c(task, list(at = if (!stored) at, coupled = coupled),
                            if (!coupled) goal))
  if (read$status == 0L && !is.finite(read$logz + read$change)) {
    read$status <- catalogue()$statuses[["not_finite"]]
  }
  if (coupled && read$status == 0L && read$change > control$tol) {
    task$seen <- TRUE
    read <- with_coupled_shifts(chunked, c(task, goal), read)
  }
  it$read <- read
  if (read$status == 0L) {
    it[c("at", "asked", "last", "seen")] <- list(at, asked, asked, TRUE)
    it$sums[as.character(c(at, asked))] <- list(point$sums, read$state)
    it$trace <- cbind(it$trace, c(read$logz, read$change))
  }
  take_step(it, control, coupled)
}

# Returns the read of coupled classes with the sites that the solution of its system asks for.
with_coupled_shifts <- function(chunked, task, read) {
  task$coupled <- TRUE
  task$solution <- solve(diag(length(read$side)) + read$weights, read$side)
  shifted <- chunked_read(chunked, task)
  read[c("state", "products")] <- shifted[c("state", "products")]
  read[c("weights", "side")] <- list(NULL)
  read
}

# ---- Steps ----

take_step <- function(it, control, coupled) {
  step <- engine_iterate(control, coupled, it$state, it$read)
  it[c("state", "narrow", "converged", "damped")] <-
    step[c("state", "narrow", "converged", "damped")]
  if (step$best) it$best <- it$at
  it <- CHUNKED_STEPS[[step$step]](it, step)
  it$past <- utils::head(it$past, control$mixing)
  it$sums <- it$sums[names(it$sums) %in% kept_generations(it)]
  it
}

plain_step <- function(it, step) {
  it$weights <- add_weights(stats::setNames(c(1 - step$length, step$length), c(it$at, it$asked)))
  it
}

# Mixed from this step and the past ones: with x the sites and f their residuals,
#   x + b f - (dX + b dF) gamma
mixed_step <- function(it, step) {
  if (length(step$gamma) == 0L) it$past <- list()
  it$past <- c(list(c(it$at, it$asked)), it$past)
  parts <- c(1, step$gamma) - c(step$gamma, 0)
  it$weights <- add_weights(unlist(Map(function(pair, part) {
    stats::setNames(part * c(1 - step$length, step$length), pair)
  }, it$past[seq_along(parts)], parts)))
  it
}

# Clips the sites to start from, or those of a plain step.
clip_step <- function(it, step) {
  if (!is.null(it$at)) it <- plain_step(it, step)
  it[c("stale", "clip", "done")] <- list(TRUE, TRUE, length(it$weights) == 0L)
  it
}

stand_at <- function(it, ...) replace(it, "weights", list(add_weights(...)))

# By the names of C's steps.
CHUNKED_STEPS <- list(
  done = function(it, step) replace(it, "done", TRUE),
  halve = function(it, step) stand_at(it, it$weights / 2, one_of(it$at) / 2),
  retreat = function(it, step) stand_at(it, one_of(it$at)),
  best = function(it, step) stand_at(it, one_of(it$best)),
  plain = plain_step,
  mixed = mixed_step,
  clip = clip_step
)
