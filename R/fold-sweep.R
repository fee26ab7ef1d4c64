# EP on a basis for rows that are not all at hand: the loop of ep_loop.c over chunks. A sweep is a
# sum over chunks of what each adds to the sums of the next sites (S and t of every basis), to the
# log evidence, its gradient, and the residual. Between sweeps only these and the sites are kept.
#
# A fold is a list of what all chunks have in common:
#   scan      of the source (fold-scan.R)
#   fit       a fit without rows: how chunks are coded, bases, kernel, likelihood
#   batches   chunks that are added up together, whoever does it
#   store     of what is kept of the rows (fold-sites.R); NULL: nothing is, and sites are exact
#   told      what is called with a share of the rows done
# A point is where a fold stands: `sums` of the sites, and the sites as `from`, `to` and `share`.

# As many sums are added up apart: of so many batches, whatever the number of workers.
MOST_BATCHES <- 32L

new_fold <- function(scan, fit, store = NULL, told = function(share) NULL) {
  chunks <- scan$source$chunks
  batch_of <- ceiling(seq_len(chunks) * min(1, MOST_BATCHES / chunks))
  batches <- unname(split(seq_len(chunks), batch_of))
  list(scan = scan, fit = fit, batches = batches, store = store, told = told)
}

has_exact_sites <- function(lik) catalogue()$likelihoods[[lik$type]]$exact

# ---- A chunk ----

# The rows of a chunk as C sees them, and what a sum over responses needs.
fold_rows <- function(fold, i, chunk) {
  fit <- fold$fit
  frame <- read_frame(fold$scan$recipe, chunk)
  check_chunk_again(fold$scan$source, fold$scan$prints, i, print_of_rows(frame))
  if (nrow(frame) == 0L) return(NULL)
  rows <- with_data_rows(fit, frame_rows(recipe_of(fit), with_levels(frame, fold$scan$levels)))
  problem <- problem_of_new_rows(fit, rows$x, rows$data_rows, rows$offset)
  problem$basis <- if (is.null(fit$posterior$each)) fit$posterior$basis else bases_of(fit)
  list(problem = problem, values = sum(codec_of(fit)$values(rows$y)))
}

# What a chunk adds. task: list(theta, point, what, own), where `what` is "collect", the sums of the
# sites as they are, "sweep", or "gradient", a sweep that changes nothing; `at` and `asked`, the
# generations to write; `seen`: has a read at this theta left gamma in the store?
fold_chunk <- function(fold, task, i, chunk) {
  rows <- fold_rows(fold, i, chunk)
  if (is.null(rows)) return(NULL)
  problem <- rows$problem
  store <- fold$store
  exact <- has_exact_sites(fold$fit$likelihood)
  sites <- if (exact) no_sites(problem) else sites_at(store, task$point, i, problem)
  collects <- task$what == "collect"
  part <- engine_pass(problem, task$theta, task$point$sums, sites,
                      list(collect = collects, gradient = task$what == "gradient",
                           own = i == task$own, narrow = isTRUE(task$narrow),
                           rows = sum(fold$scan$rows)),
                      if (isTRUE(task$seen)) store$read(GAMMA, i))
  if (!is.null(store) && part$status == 0L) store_part(store, task, i, sites, part)
  list(status = part$status, logz = part$logz, gradient = part$gradient,
       change = if (collects) 0 else part$change, state = part$state, values = rows$values,
       lpd = if (collects) 0 else sum(part$lpd),
       widening = count_widening(part$tau, problem_width(problem)))
}

store_part <- function(store, task, i, sites, part) {
  if (!isTRUE(task$seen)) store$write(GAMMA, i, part$gamma)
  if (is.null(task$asked)) return(invisible())
  store$write(task$asked, i, part[c("tau", "nu")])
  if (task$at != task$point$to) store$write(task$at, i, sites)
}

add_parts <- function(one, other) {
  if (is.null(one) || is.null(other)) return(if (is.null(one)) other else one)
  if (one$status != 0L) return(one)
  if (other$status != 0L) return(other)
  total <- c("logz", "gradient", "values", "lpd", "widening")
  one[total] <- Map(function(a, b) if (is.null(a)) NULL else a + b, one[total], other[total])
  one$change <- max(one$change, other$change)
  one$state <- add_states(one$state, other$state)
  one
}

# ---- A read of all rows ----

# What all chunks add up to.
fold_read <- function(fold, task) {
  counts <- fold$scan$rows
  task$own <- which(counts > 0)[1L]
  parts <- if (has_workers(fold$scan$source)) read_by_workers(fold, task) else read_here(fold, task)
  Reduce(add_parts, parts)
}

read_here <- function(fold, task) {
  source <- fold$scan$source
  batch_of <- rep(seq_along(fold$batches), lengths(fold$batches))
  parts <- vector("list", length(fold$batches))
  done <- 0
  if (!source$apart) source$chunks <- NA_integer_ # one more than there were is a change
  seen <- each_chunk(source, function(i, chunk) {
    part <- fold_chunk(fold, task, i, chunk)
    if (!is.null(part)) parts[[batch_of[i]]] <<- add_parts(parts[[batch_of[i]]], part)
    done <<- done + fold$scan$rows[i]
    fold$told(done / sum(fold$scan$rows))
  })
  check_all_again(source, fold$scan$prints, seen)
  parts
}

# Reads all chunks and compares them with what they were.
check_rows_again <- function(fold) {
  scan <- fold$scan
  seen <- each_chunk(scan$source, function(i, chunk) {
    check_chunk_again(scan$source, scan$prints, i,
                      print_of_rows(read_frame(scan$recipe, chunk)))
  })
  check_all_again(scan$source, scan$prints, seen)
}

# ---- Sweeps ----

# Where no site says anything.
fold_start <- function(fold) {
  list(sums = no_rows_state(fold$fit$state), from = 0L, to = 0L, share = 0)
}

# The sums of the sites at a point, read anew: at other hyperparameters, or where they are exact.
fold_collect <- function(fold, theta, point) {
  read <- fold_read(fold, list(theta = theta, point = point, what = "collect"))
  if (read$status != 0L) return(read)
  point$sums <- read$state
  point
}

# EP at theta, from `begun`: a course as this function is in the midst of, of an earlier call, or a
# point, or NULL. after(course): called after every sweep. Returns list(status, logz), and
# with status 0 what a run has: change, converged, sweeps, damped, trace, state, widening, lpd,
# values; point, where it ended; gradient where it is wanted.
fold_run <- function(fold, theta, control, gradient = FALSE, begun = NULL,
                     after = function(course) NULL) {
  if (has_exact_sites(fold$fit$likelihood)) return(fold_exactly(fold, theta, gradient))
  course <- begun
  if (is.null(course$damping)) course <- new_course(fold, theta, begun, control)
  while (!course$done) {
    course <- fold_step(fold, theta, course, control)
    if (course$status != 0L) return(course[c("status", "logz")])
    after(course)
    fold$store$keep(c(course$point[c("from", "to")], begun[c("from", "to")]))
  }
  run <- course[c("status", "logz", "change", "converged", "damped", "trace", "widening", "lpd",
                  "values")]
  run$sweeps <- ncol(run$trace)
  run$point <- course$at
  if (gradient) {
    task <- list(theta = theta, point = course$at, what = "gradient", narrow = course$narrow,
                 seen = TRUE)
    run$gradient <- fold_read(fold, task)$gradient
  }
  run$state <- with_factor(course$at$sums, course$R)
  run
}

# Sites that are the likelihood itself are known beforehand: their sums, then all rows once.
fold_exactly <- function(fold, theta, gradient) {
  point <- fold_collect(fold, theta, fold_start(fold))
  if (is.null(point$sums)) return(list(status = point$status, logz = NaN))
  read <- fold_read(fold, list(theta = theta, point = point, seen = !is.null(fold$store),
                               what = if (gradient) "gradient" else "sweep"))
  if (read$status != 0L) return(list(status = read$status, logz = NaN))
  c(read[c("status", "logz", "gradient", "change", "lpd", "values", "widening")],
    list(converged = TRUE, damped = 0L, sweeps = 1L, trace = rbind(read$logz, read$change),
         point = point, state = point$sums))
}

with_factor <- function(sums, R) Map(function(own, R) list(R = R, S = own$S, t = own$t), sums, R)

new_course <- function(fold, theta, begun, control) {
  point <- if (!is.null(begun)) fold_collect(fold, theta, begun)
  seen <- !is.null(point$sums)
  if (!seen) point <- fold_start(fold)
  list(point = point, damping = control$damping, longest = control$damping, overshoots = 0L,
       waited = 0L,
       best = Inf, damped = 0L, troubles = 0L,
       narrow = FALSE, seen = seen, trace = matrix(0, 2L, 0L),
       last = max(point$from, point$to), done = FALSE)
}

# A sweep that has come to its end, and the step after it: halved where a sweep has ended nowhere,
# with sites that widen the posterior given up where that happens time and again (ep_loop.c).
fold_step <- function(fold, theta, course, control) {
  for (halvings in 0:catalogue()$pacing$halvings) {
    swept <- fold_sweep(fold, theta, course)
    if (swept$status == 0L || course$point$share == 0) break
    course <- shortened(course)
    course$troubles <- course$troubles + 1L
    course$damped <- course$damped + 1L
    course$point <- halved(course$point)
  }
  course[c("status", "logz")] <- list(swept$status, swept$logz)
  if (swept$status != 0L) return(course)
  course$seen <- TRUE
  course[c("change", "widening", "lpd", "values")] <-
    swept[c("change", "widening", "lpd", "values")]
  course$trace <- cbind(course$trace, c(swept$logz, swept$change))
  course$last <- swept$asked
  course$R <- lapply(swept$state, `[[`, "R")
  course$at <- list(sums = course$point$sums, from = swept$at, to = swept$at, share = 1)
  course$converged <- swept$change <= control$tol
  course$done <- course$converged || ncol(course$trace) >= control$sweeps
  course <- paced(course, control)
  course$point <- list(sums = blend_sums(course$point$sums, swept$state, course$damping),
                       from = swept$at, to = swept$asked, share = course$damping,
                       ends = list(course$point$sums, swept$state))
  if (lost(course, control)) narrowed(fold, course, control) else course
}

# One read at a point, which writes the sites that it asks for as generation `asked`, and those at
# the point, unless they are one already, as `at`.
fold_sweep <- function(fold, theta, course) {
  point <- course$point
  at <- if (point$share == 1) point$to else if (point$share == 0) point$from else course$last + 1L
  asked <- max(course$last, at) + 1L
  read <- fold_read(fold, list(theta = theta, point = point, what = "sweep", at = at,
                               asked = asked, narrow = course$narrow, seen = course$seen))
  c(read, list(at = at, asked = asked))
}

halved <- function(point) {
  point$share <- point$share / 2
  point$sums <- blend_sums(point$ends[[1L]], point$ends[[2L]], point$share)
  point
}

blend_sums <- function(from, to, share) {
  Map(function(a, b) {
    list(R = b$R, S = a$S + share * (b$S - a$S), t = a$t + share * (b$t - a$t))
  }, from, to)
}

shortened <- function(course) {
  course$damping <- max(course$damping / 2, catalogue()$pacing$least)
  course
}

paced <- function(course, control) {
  pacing <- catalogue()$pacing
  course$waited <- if (course$change < course$best) 0L else course$waited + 1L
  swings <- course$waited >= pacing$wait
  if (swings || course$change > pacing$worse * course$best) {
    if (swings || course$overshoots > 0L) {
      course$longest <- max(pacing$lower * course$damping, pacing$least)
    }
    course$overshoots <- course$overshoots + 1L
    course <- shortened(course)
    course$best <- course$change
    course$waited <- 0L
  } else {
    course$damping <- min(course$damping * pacing$longer, course$longest)
    course$best <- min(course$best, course$change)
  }
  course$damped <- course$damped + (course$damping < control$damping)
  course
}

lost <- function(course, control) {
  pacing <- catalogue()$pacing
  late <- pacing$parts * ncol(course$trace) > control$sweeps
  !course$done && !course$narrow && course$widening > 0 &&
    (course$troubles >= pacing$patience || late)
}

narrowed <- function(fold, course, control) {
  course$narrow <- TRUE
  course$point <- fold_start(fold)
  course[c("damping", "longest")] <- control$damping
  course[c("best", "overshoots", "waited")] <- list(Inf, 0L, 0L)
  course
}
