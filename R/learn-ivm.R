# Learning by the informative vector machine's own criterion (IVM paper, 3.3 and 6.1.1): phi = -log
# Q(D|theta), eq. 11. Major steps select an active set and its sites at the current
# hyperparameters; minor ones minimise phi minus log prior on what was selected.

# Returns what a selection leaves for the criterion (engine_phi()).
active_set <- function(run) {
  rows <- as.integer(run$id)
  list(rows = rows, tau = run$tau, nu = run$nu, at_hand = sort(union(rows, run$at_hand)))
}

# A criterion as in learn-evidence.R; its runs carry the posterior's sites and their rows.
phi_criterion <- function(problem, active, renew = FALSE) {
  function(theta) c(engine_phi(problem, theta, active, renew), active["rows"])
}

# ---- Minor steps ----

# How the sites follow theta between major steps. Each strategy takes a major step, with the box and
# `objective_on` an active set, and returns `par` and whether it ended with a failed line search.
STRATEGIES <- list(
  # not at all: criterion and gradient agree, and the wrong criterion is minimised
  constant = function(at, control) {
    search_by_optim(at$objective, at, control)
  },
  # set anew for each search direction, held for its line search
  hybrid = function(at, control) search_by_directions(at, control),
  # set anew at every point; the gradient is that of held sites, so searches fail
  exact = function(at, control) {
    search_by_optim(at$objective_on(at$active, renew = TRUE), at, control)
  }
)

search_by_optim <- function(objective, at, control) {
  result <- search_from(objective, list(at$par), at$centre, control)[[1L]]
  list(par = result$par, failed = result$convergence == ABNORMAL)
}

# Quasi-Newton directions (BFGS). The sites of a direction give the values, the slopes and the
# change of slope that it learns the curvature from, so all three agree; from one direction to
# the next the criterion may well go up.
search_by_directions <- function(at, control) {
  par <- at$par
  failed <- FALSE
  inverse <- NULL # of the Hessian
  for (direction in seq_len(control$inner)) {
    renewed <- at$objective_on(at$active, renew = TRUE)
    here <- list(par = par, value = renewed$value(par), gradient = renewed$gradient(par))
    held <- utils::modifyList(at$active, renewed$state$last$run[c("tau", "nu")])
    objective <- at$objective_on(held)
    to <- if (here$value < IMPOSSIBLE) line_search(objective, here, inverse, at$centre)
    failed <- is.null(to)
    if (failed) break
    inverse <- curvature(inverse, to$par - par, to$gradient - here$gradient)
    par <- to$par
  }
  list(par = par, failed = failed)
}

SUFFICIENT <- 1e-4 # of the fall that the slope promises

TRIALS <- 10L

# Back from the full step by parabolas, until the fall is sufficient; NULL: never.
line_search <- function(objective, here, inverse, centre) {
  step <- if (is.null(inverse)) -here$gradient / max(1, sqrt(sum(here$gradient^2)))
          else -drop(inverse %*% here$gradient)
  share <- 1
  for (trial in seq_len(TRIALS)) {
    par <- within_box(here$par + share * step, centre)
    promised <- sum(here$gradient * (par - here$par))
    if (promised >= 0) return(NULL)
    value <- objective$value(par)
    if (value <= here$value + SUFFICIENT * promised) {
      return(list(par = par, gradient = objective$gradient(par)))
    }
    share <- share * max(0.1, min(0.5, -promised / (2 * (value - here$value - promised))))
  }
  NULL
}

# The BFGS update of the inverse Hessian by a step and the change of slope along it.
curvature <- function(inverse, step, change) {
  along <- sum(step * change)
  if (along <= 1e-10 * sqrt(sum(step^2) * sum(change^2))) return(inverse)
  if (is.null(inverse)) inverse <- diag(along / sum(change^2), length(step))
  left <- diag(length(step)) - outer(step, change) / along
  left %*% inverse %*% t(left) + outer(step, step) / along
}

# ---- Major steps ----

# Selection at par and the criterion there.
major_step <- function(problem, table, par, progress) {
  run <- engine_ivm(problem, replace(table$theta, which(table$free), par))
  if (run$status != 0L || length(run$id) == 0L) return(list(par = par, value = IMPOSSIBLE))
  active <- active_set(run)
  objective <- make_objective(phi_criterion(problem, active), table, progress)
  list(par = par, value = objective$value(par), gradient = objective$gradient(par),
       active = active, objective = objective)
}

# Rounds of minor steps, each between two major ones; the best major step is kept. reached: log
# evidence + log prior at the start, and at the major step that ends each round (NA: it failed).
phi_rounds <- function(problem, table, start, control, progress) {
  objective_on <- function(active, renew = FALSE) {
    make_objective(phi_criterion(problem, active, renew), table, progress)
  }
  held <- list(centre = search_box(table), objective_on = objective_on)
  best <- here <- major_step(problem, table, start, progress)
  reached <- -here$value
  failed <- 0L
  for (round in seq_len(control$outer)) {
    if (here$value >= IMPOSSIBLE) break
    minor <- STRATEGIES[[control$strategy]](c(here, held), control)
    failed <- failed + minor$failed
    if (identical(minor$par, here$par)) break # and so would be all that follow
    here <- major_step(problem, table, minor$par, progress)
    reached <- c(reached, if (here$value < IMPOSSIBLE) -here$value else NA_real_)
    if (here$value < best$value) best <- here
  }
  list(best = best, reached = reached, failed = failed)
}

# The rounds of a search have settled when the last one was not better than all before it by more
# than this, in log evidence. Reselection makes the criterion jump: there is no convergence to speak
# of (paper 3.3).
SETTLED <- 1

rounds_settled <- function(rounds) {
  last <- length(rounds)
  isTRUE(last < 2L || is.na(rounds[last]) ||
           rounds[last] <= max(rounds[-last], na.rm = TRUE) + SETTLED)
}

# Returns the best of a few starts, each of which costs a selection: of the scan of length scales,
# then along the variances, then along the widths there. The criterion has optima far apart: labels
# that are nearly sure under a small active set take a variance of hundreds, to which no search from
# 1 leads.
phi_start <- function(problem, table, progress) {
  value_of <- function(par) major_step(problem, table, par, progress)$value
  best_of <- function(starts, known = NULL) {
    values <- c(known, vapply(starts[seq_along(starts) > length(known)], value_of, 0))
    list(par = starts[[which.min(values)]], value = min(values))
  }
  starts <- table_starts(table)
  moves <- list(label_variances(table, problem), width_moves(table))
  if (length(starts) == 1L && all(lengths(moves) == 0L)) return(starts[[1L]])
  best <- best_of(starts)
  for (move in moves) {
    best <- best_of(c(list(best$par), lapply(move, function(change) change(best$par))), best$value)
  }
  best$par
}

# Returns functions that multiply the kernel's variances, and take a bias with them: P(y = 1) of a
# probit is Phi(bias / sqrt(1 + variance)) far from the data. Of labels alone: other likelihoods
# have a unit.
label_variances <- function(table, problem) {
  table <- table[table$free, ]
  at <- which(table$base == "variance" & table$part == "kernel")
  if (length(at) == 0L || !lik_codec(problem$lik)$labelled) return(list())
  bias <- which(table$base == "bias")
  lapply(policy$ivm_variances, function(factor) {
    function(par) {
      before <- sum(exp(par[at]))
      par[at] <- par[at] + log(factor)
      par[bias] <- par[bias] * sqrt((1 + factor * before) / (1 + before))
      par
    }
  })
}

# Returns functions that multiply the length scales.
width_moves <- function(table) {
  table <- table[table$free, ]
  at <- which(table$base == "lengthscale" & table$part == "kernel")
  if (length(at) == 0L) return(list())
  lapply(log(policy$ivm_widths), function(longer) {
    function(par) replace(par, at, par[at] + longer)
  })
}

# The table with learned theta, the record of the search, and the problem with the random order of
# all its selections: steps can be compared, and the best repeated, only if that does not change.
search_by_ivm_criterion <- function(problem, table, control, progress) {
  check_one_process(problem)
  table$free[table$part == "response"] <- FALSE # has no gradient here
  problem$tie_break <- selection_order(problem)
  tally <- list2env(list(evaluations = 0L, failures = 0L))
  shown <- progress$step
  progress$step <- function(value, ok, theta, run) {
    tally$evaluations <- tally$evaluations + 1L
    tally$failures <- tally$failures + !ok
    shown(value, ok, theta, run)
  }
  given <- table$start[table$free]
  random <- replicate(control$restarts, random_start(given), simplify = FALSE)
  starts <- c(list(phi_start(problem, table, progress)), random)
  searches <- lapply(starts, phi_rounds, problem = problem, table = table, control = control,
                     progress = progress)
  values <- vapply(searches, function(search) search$best$value, 0)
  search <- searches[[which.min(values)]]
  best <- search$best
  if (best$value >= IMPOSSIBLE) {
    run <- engine_ivm(problem, table$theta)
    if (run$status == 0L && length(run$id) == 0L) stop_empty(run)
    check_run(list(status = run$status, logz = 0), table)
    stop_sparsegp("kernel", "has starting values at which the criterion cannot be computed")
  }
  table$theta[table$free] <- best$par
  record <- list(
    evaluations = tally$evaluations, failures = tally$failures, objective = -values,
    converged = rounds_settled(search$reached),
    gradient = stats::setNames(-best$gradient, table$name[table$free]),
    at_bound = at_edge(best$par, table, search_box(table)), start = search$reached[1L],
    choices = round_choices(search$reached[-1L], nrow(problem$x), problem$options$size),
    line_searches = sum(vapply(searches, `[[`, 0L, "failed")),
    advice = "its last round was still the best by far. Raise learn_control(outer =)"
  )
  list(table = table, record = record, problem = problem)
}

check_one_process <- function(problem) {
  refuse_if(count_latent_values(problem) != 1L, "learn",
            paste("has criterion = \"ivm\", which is for one latent function of one",
                  "response, not several"), "Use learn_control(criterion = \"evidence\")")
}
