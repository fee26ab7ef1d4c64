# Rows of which one of several parts is meant may agree in more than one way. EP finds one of these
# modes, by where it starts, and an evidence that is its mass. So it is run from a queue of starts:
#
#   online passes over the rows, in the order given and in random orders
#   every row at part j, for each j
#   from each mode that has been found, the heaviest first: its rows' second most probable parts,
#   the parts nearest to minus its mean, and the mode itself, nudged
#
# Between modes that mirror each other there is a fixed point that EP leaves when it is nudged. It
# is no mode: its place is taken by the one where the nudge leads.

# Returns runs of all modes that are found, the one of largest log evidence first. A run that did
# not come near a fixed point counts where no run did.
run_modes <- function(problem, theta, sites = NULL) {
  passes <- problem$options$starts %||% policy$mode_starts
  search <- new_mode_search(problem, theta, passes * policy$mode_runs)
  search$try(sites %||% pass_sites(problem, theta))
  for (part in seq_len(count_parts(problem))) search$try_parts(part)
  for (pass in seq_len(passes - 1L)) {
    search$try(pass_sites(problem, theta, sample.int(problem_rows(problem))))
  }
  while (search$follow_heaviest()) NULL
  found <- search$found()
  good <- vapply(found, is_at_mode, NA)
  if (any(good)) without_overlap(found[good], problem) else found[1L]
}

# Returns the modes, the best first, without those that lie between two others, and without those
# that overlap a better one: two normal densities of one variance have one peak between them if they
# are less than two standard deviations apart. The evidence of each would be that of both.
without_overlap <- function(found, problem) {
  APART <- 2
  count <- length(found)
  near <- matrix(FALSE, count, count)
  for (a in seq_len(count)) for (b in seq_len(a - 1L)) {
    near[a, b] <- near[b, a] <- mode_distance(found[[a]], found[[b]], problem) < APART
  }
  between <- vapply(seq_len(count), function(a) {
    around <- which(near[a, ])
    any(!near[around, around] & !diag(length(around)))
  }, NA)
  if (all(between)) between[] <- FALSE
  kept <- integer()
  for (a in which(!between)) if (!any(near[a, kept])) kept <- c(kept, a)
  found[kept]
}

# Returns the largest distance between the means of an observation's latent values at two modes, in
# units of the square root of the mean of their covariances.
mode_distance <- function(one, other, problem) {
  w <- problem_width(problem)
  away <- matrix(one$mean - other$mean, w)
  V <- matrix((one$var + other$var) / 2, w * w)
  squares <- vapply(seq_len(ncol(away)), function(i) {
    sum(away[, i] * solve(matrix(V[, i], w), away[, i]))
  }, 0)
  sqrt(max(squares))
}

sites_of <- function(run) if (run$status == 0L) run[c("tau", "nu")]

# Learns hyperparameters (learn_hyper()), where there are several modes at the heaviest of them:
# once from the heaviest at the starting values, and once more if another one is heavier at what was
# learned.
learn_at_mode <- function(problem, table, control, progress, from) {
  if (!is_modal(problem$lik)) return(learn_hyper(evidence(problem), table, control, progress, from))
  start <- table$theta
  if (!is.null(from)) start[table$free] <- from
  first <- run_modes(problem, start)[[1L]]
  learned <- learn_hyper(evidence(problem, sites_of(first)), table, control, progress, from)
  theta <- learned$table$theta
  now <- run_modes(problem, theta, learned$sites)[[1L]]
  ended <- mode_from(problem, theta, learned$sites)
  if (now$status != 0L || same_mode(now, ended, problem)) return(learned)
  again <- learn_hyper(evidence(problem, sites_of(now)), table, control, progress,
                       theta[table$free])
  if (max(again$record$objective) <= max(learned$record$objective)) return(learned)
  again$record <- with_spent(again$record, learned$record)
  again
}

# Has a run come near enough to a fixed point to be taken for a mode? Where responses are ambiguous
# sweeps may come nearer by little each time, and rounding decides whether they converge.
is_at_mode <- function(run) {
  AT_MODE <- 1e-3 # residual, in cavity standard deviations
  run$status == 0L && (run$converged || isTRUE(run$change <= AT_MODE))
}

# Builds a search for modes, in at most `most` runs of EP: try(sites) and try_parts(part) run EP
# from there; follow_heaviest() runs it from the heaviest mode that has not been followed yet and
# returns FALSE if there is none, or no run left; found() returns the modes.
new_mode_search <- function(problem, theta, most) {
  found <- list()
  tried <- character()
  runs <- 0L
  try <- function(sites) {
    runs <<- runs + 1L
    run <- mode_from(problem, theta, sites)
    at <- find_mode(found, run, problem)
    nearer <- at > 0L && !found[[at]]$converged && run$converged
    if (nearer) run$followed <- found[[at]]$followed
    if (nearer) found[[at]] <<- run else if (at == 0L) found <<- c(found, list(run))
    found <<- by_evidence(found)
    run
  }
  try_parts <- function(part) {
    part <- possible_parts(problem, part)
    key <- paste(part, collapse = " ")
    if (runs >= most || key %in% tried) return(invisible())
    tried <<- c(tried, key)
    try(part_sites(problem, part))
  }
  follow_heaviest <- function() {
    open <- Position(function(mode) mode$status == 0L && is.null(mode$followed), found)
    light <- is.na(open) || found[[open]]$logz < found[[1L]]$logz - policy$mode_nats
    if (light || runs >= most) return(FALSE)
    mode <- found[[open]]
    found[[open]]$followed <<- TRUE
    nudged <- nudged_sites(problem, theta, mode)
    if (!is.null(nudged)) {
      end <- try(nudged)
      left <- is_at_mode(end) && end$flat == 0L && !same_mode(mode, end, problem)
      if (left) found <<- found[-find_mode(found, mode, problem)]
    }
    try_parts(runner_up_parts(problem, theta, mode))
    try_parts(opposite_parts(problem, theta, mode))
    TRUE
  }
  list(try = try, try_parts = try_parts, follow_heaviest = follow_heaviest,
       found = function() found)
}

# Orders runs: modes first, and of these the largest log evidence.
by_evidence <- function(found) {
  rank <- vapply(found, function(mode) c(mode$status != 0L, !is_at_mode(mode), -mode$logz),
                 numeric(3L))
  found[order(rank[1L, ], rank[2L, ], rank[3L, ])]
}

# Runs EP once more from a mode: where sites were clipped on the way, they need not be at the mode
# itself; only then is the evidence stationary.
mode_from <- function(problem, theta, sites) {
  run <- run_to_end(problem, theta, sites)
  if (run$status != 0L || run$flat == 0L || !is.null(run$fallback)) return(run)
  again <- engine_run(problem, theta, run[c("tau", "nu")], posterior = TRUE)
  if (again$status == 0L && again$converged && again$flat == 0L) again else run
}

# Returns which of the runs found is of the same mode, or 0.
find_mode <- function(found, run, problem) {
  Position(function(known) same_mode(known, run, problem), found, nomatch = 0L)
}

# Two runs are of one mode if their means are the same: evidences of different modes may agree, and
# starts that differ may merge.
same_mode <- function(one, other, problem) {
  SAME <- 0.05 # posterior standard deviations; tolerances of EP are far below
  if (one$status != 0L || other$status != 0L) return(one$status == other$status)
  w <- problem_width(problem)
  sd <- sqrt(c(block_diagonals(one$var, w)))
  is_at_mode(one) == is_at_mode(other) && max(abs(one$mean - other$mean) / sd) < SAME
}

# ---- Parts of rows ----

# The numbers of one part in every row, as lik_mixture.c has them.
rows_of_part <- function(problem, part) {
  size <- 1L + moment_count(problem_width(problem))
  problem$rows[(part - 1L) * size + seq_len(size), , drop = FALSE]
}

count_parts <- function(problem) {
  nrow(problem$rows) %/% (1L + moment_count(problem_width(problem)))
}

# Probability of each part of each row, given all other rows: n x J.
part_probabilities <- function(problem, theta, cav_mean, cav_var) {
  scores <- vapply(seq_len(count_parts(problem)), function(part) {
    problem$rows <- rows_of_part(problem, part)
    engine_tilt(problem, theta, cav_mean, cav_var)$logz
  }, numeric(length(problem$offset) %/% problem_width(problem)))
  temper(matrix(scores, ncol = count_parts(problem)))
}

# Returns each row's second most probable part, if it has one, or else its first.
runner_up_parts <- function(problem, theta, run) {
  prob <- part_probabilities(problem, theta, run$cav_mean, run$cav_var)
  rows <- seq_len(nrow(prob))
  first <- max.col(prob, "first")
  rest <- replace(prob, cbind(rows, first), -1)
  second <- max.col(rest, "first")
  ifelse(rest[cbind(rows, second)] > 0, second, first)
}

# Returns the parts that are the most probable ones if the latent values are minus those of a mode.
opposite_parts <- function(problem, theta, run) {
  mean <- -run$mean - 2 * problem$offset # of latent values less offsets
  max.col(part_probabilities(problem, theta, mean, run$var), "first")
}

# Returns `part` of each row, or its likeliest part at 0 where that is not there.
possible_parts <- function(problem, part) {
  at_zero <- logs_at_zero(problem$rows, problem_width(problem))
  part <- rep_len(part, nrow(at_zero))
  ifelse(at_zero[cbind(seq_along(part), part)] > -Inf, part, max.col(at_zero, "first"))
}

# Returns the sites where plain sweeps of EP are after a mode was moved, so that the row whose part
# is least certain is shifted by a tenth of a posterior standard deviation towards its second part.
# Anderson mixing would lead back to a fixed point that sweeps leave. NULL: every row has one part,
# and the mode is one.
nudged_sites <- function(problem, theta, run) {
  NUDGE <- 0.1
  SWEEPS <- 30L
  CERTAIN <- 0.99
  prob <- part_probabilities(problem, theta, run$cav_mean, run$cav_var)
  row <- which.min(apply(prob, 1L, max))
  if (prob[row, which.max(prob[row, ])] > CERTAIN) return(NULL)
  w <- problem_width(problem)
  at <- stacked_rows(row, w)
  slope <- function(part) {
    problem$rows <- rows_of_part(problem, part)
    c(engine_tilt(problem, theta, run$cav_mean, run$cav_var)$d1)[at]
  }
  parts <- order(-prob[row, ])
  towards <- slope(parts[[2L]]) - slope(parts[[1L]])
  size <- sqrt(sum(towards * (matrix(matrix(run$var, w * w)[, row], w) %*% towards)))
  run$nu[at] <- run$nu[at] + NUDGE / size * towards
  problem$options[c("mixing", "sweeps")] <- list(0L, SWEEPS)
  moved <- engine_run(problem, theta, run[c("tau", "nu")])
  if (moved$status == 0L) moved[c("tau", "nu")]
}

# T = P and nu = h of one part of each row
part_sites <- function(problem, part) {
  w <- problem_width(problem)
  n <- length(part)
  own <- vapply(seq_len(count_parts(problem)), function(j) rows_of_part(problem, j),
                matrix(0, 1L + moment_count(w), n))
  at <- function(k) own[cbind(k, seq_len(n), part)]
  lower <- matrix(0L, w, w)
  lower[lower.tri(lower, diag = TRUE)] <- 1L + w + seq_len(moment_count(w) - w)
  entries <- pmax(lower, t(lower))
  list(tau = c(t(vapply(c(entries), at, numeric(n)))),
       nu = c(t(vapply(1L + seq_len(w), at, numeric(n)))))
}
