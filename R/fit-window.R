# Fits by method_markov(window =) keep their last observations, in fit$held, and of all before them
# what these are given: the moments of the process's state behind them, in posterior$markov$from.
# So later observations are added in constant memory (update-sites.R).
#
# fit$held is
#   rows, offset   of the observations kept, as C sees them; their times and sites are the
#                  posterior's
#   base           what the log evidence of all observations has besides that of C for these

FORGOTTEN <- c(ROW_FIELDS, "x", "frame", "na.action", "basis_rows", "basis_rows_of")

is_windowed <- function(fit) !is.null(fit$held)

# Returns the fit with the observations of the method's window alone; the fit as it is, where there
# are no more.
with_window <- function(fit) {
  window <- window_of(fit$method)
  if (is.null(window) || !is_markov_fit(fit)) return(fit)
  order <- order(fit$posterior$basis[, 1L])
  before <- states_behind(fit, utils::head(order, -window))
  if (is.null(before)) return(fit)
  if (!is_windowed(fit)) {
    fit$held <- fit[c("data_rows", "offset")]
    names(fit$held)[1L] <- "rows"
    fit[FORGOTTEN] <- list(NULL)
  }
  forget_rows(fit, before$from, sort(order[-seq_len(before$count)]))
}

# Returns the state of each latent function behind the first `count` of the rows `earlier`, in the
# order of time: list(count, from); NULL without rows. They are all of these unless sites of
# negative precision leave such a part without a posterior of its own: then it is a shorter one.
states_behind <- function(fit, earlier) {
  parts <- markov_parts(fit)
  for (count in rev(seq_along(earlier))) {
    first <- earlier[seq_len(count)]
    from <- lapply(parts, function(part) {
      own <- lapply(part$markov[c("tau", "nu")], `[`, first)
      markov_end(fit$spec, part$theta, part$basis[first, , drop = FALSE],
                 c(own, list(from = part$markov$from)))
    })
    if (!any(vapply(from, is.null, NA))) return(list(count = count, from = from))
  }
}

# Returns the fit with the rows `later` alone, behind states `from`: the evidence of all stays, and
# the sites of these rows are where EP begins.
forget_rows <- function(fit, from, later) {
  sites <- lapply(markov_parts(fit), function(part) {
    lapply(part$markov[c("tau", "nu")], `[`, later)
  })
  held <- fit$held
  problem <- new_problem(model_of_fit(fit), fit$posterior$basis[later, , drop = FALSE],
                         held$rows[, later, drop = FALSE], some_rows(held$offset, later),
                         fit$options)
  run <- run_window(fit, problem, from, sites)
  fit$held <- list(rows = problem$rows, offset = problem$offset,
                   base = fit$log_evidence - run$logz)
  with_window_run(fit, run)
}

# Returns of each latent function its posterior with `theta`, those of its kernel.
markov_parts <- function(fit) {
  each <- fit$posterior$each %||% list(fit$posterior)
  lapply(seq_along(each), function(class) {
    c(each[[class]], list(theta = class_theta_of(fit, class)))
  })
}

# EP of the observations of a window, from states `from` of each latent function, NULL: from none,
# and from sites of each.
run_window <- function(fit, problem, from, sites) {
  plan <- plan_markov(problem)
  plan$problem["mean"] <- list(NULL)
  if (!is.null(from[[1L]])) plan$problem$from <- from
  together <- function(field) unlist(lapply(sites, `[[`, field))
  plan$sites <- list(tau = together("tau"), nu = together("nu"))
  check_run(run_plan(plan, fit$hyper$theta), fit$hyper)
}

# Returns the fit with the posterior of a run of its window.
with_window_run <- function(fit, run) {
  moved <- c("basis", "alpha", "markov")
  fit$posterior[intersect(moved, names(run))] <- run[intersect(moved, names(run))]
  fit$posterior["each"] <- list(run$each)
  fit$log_evidence <- fit$held$base + run$logz
  fit$convergence <- convergence_of(run, fit$held$base, n_outputs(fit))
  fit
}

# Returns the fit without any observation: a process that begins.
without_markov_rows <- function(fit) {
  rows <- fit$held$rows %||% fit$data_rows
  none <- function(part) {
    part$basis <- part$basis[0L, , drop = FALSE]
    if (!is.null(part$alpha)) part$alpha <- as.matrix(part$alpha)[0L, , drop = FALSE]
    if (!is.null(part$markov)) part$markov <- list(tau = numeric(), nu = numeric())
    part
  }
  bare <- none(fit$posterior)
  fit$posterior[names(bare)] <- bare
  if (!is.null(fit$posterior$each)) fit$posterior$each <- lapply(fit$posterior$each, none)
  fit[FORGOTTEN] <- list(NULL)
  fit$held <- list(rows = rows[, 0L, drop = FALSE], offset = numeric(), base = 0)
  fit$n <- 0L
  fit$log_evidence <- 0
  fit
}
