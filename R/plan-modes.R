# Rows of which one of several parts is meant may agree in more than one way. EP finds one of these
# modes, by where it starts, and an evidence that is its mass. So it is run from several starts:
# from online passes over the rows in the order given and in random orders, and from each mode so
# found by its rows' second most probable parts.

# Runs of all modes that are found, the one of largest log evidence first. A run that did not
# converge counts where no run did.
run_modes <- function(problem, theta, sites = NULL) {
  found <- list(mode_from(problem, theta, sites))
  starts <- if (is.null(problem$options$starts)) policy$mode_starts else problem$options$starts
  orders <- replicate(starts - 1L, sample.int(problem_rows(problem)), simplify = FALSE)
  for (order in orders) {
    found <- add_mode(found, mode_from(problem, theta, pass_sites(problem, theta, order)), problem)
  }
  for (mode in found) {
    if (mode$status != 0L) next
    other <- mode_from(problem, theta, runner_up_sites(problem, theta, mode))
    found <- add_mode(found, other, problem)
  }
  rank <- vapply(found, function(mode) c(mode$status != 0L, !isTRUE(mode$converged), -mode$logz),
                 numeric(3L))
  found <- found[order(rank[1L, ], rank[2L, ], rank[3L, ])]
  good <- vapply(found, function(mode) mode$status == 0L && mode$converged, NA)
  if (any(good)) found[good] else found[1L]
}

# Runs EP once more from a mode: where sites were clipped on the way, they need not be at the mode
# itself; only then is the evidence stationary.
mode_from <- function(problem, theta, sites) {
  run <- run_to_end(problem, theta, sites)
  if (run$status != 0L || run$flat == 0L || !is.null(run$fallback)) return(run)
  again <- engine_run(problem, theta, run[c("tau", "nu")], posterior = TRUE)
  if (again$status == 0L && again$converged && again$flat == 0L) again else run
}

# Two runs are of one mode if their means are the same: evidences of different modes may agree, and
# starts that differ may merge.
add_mode <- function(found, run, problem) {
  if (run$status != 0L) return(found)
  SAME <- 0.05 # posterior standard deviations; tolerances of EP are far below
  w <- problem_width(problem)
  sd <- function(of) sqrt(c(block_diagonals(of$var, w)))
  for (known in found) {
    if (known$status == 0L && known$converged == run$converged &&
          max(abs(known$mean - run$mean) / sd(known)) < SAME) return(found)
  }
  c(found, list(run))
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

# Sites that take every row for its second most probable part, if it has one.
runner_up_sites <- function(problem, theta, run) {
  prob <- part_probabilities(problem, theta, run$cav_mean, run$cav_var)
  rows <- seq_len(nrow(prob))
  first <- max.col(prob, "first")
  rest <- replace(prob, cbind(rows, first), -1)
  second <- max.col(rest, "first")
  part_sites(problem, ifelse(rest[cbind(rows, second)] > 0, second, first))
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
