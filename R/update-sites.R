# More rows for a fit whose posterior is the sites of all rows (posterior-sites.R): it keeps their
# inputs and responses, too.

# Returns the fit with more rows as take_more() does: EP goes on with all of them, so it is the fit
# of all rows at these hyperparameters.
take_more_sites <- function(fit, problem, rows) {
  if (is_windowed(fit)) return(take_later(fit, problem, rows))
  with_window(take_all(fit, problem, rows))
}

take_all <- function(fit, problem, rows) {
  basis <- fit$posterior$basis
  first <- new_problem(model_of_fit(fit), basis, fit$data_rows, fit$offset, fit$options)
  colnames(problem$x) <- colnames(basis)
  joint <- join_problems(first, problem)
  joint$options <- fit$options
  plan <- if (is_markov_fit(fit)) plan_markov(joint) else plan_neighbours(joint)
  plan$sites <- join_sites(fit, rows$sites, problem)
  run <- check_run(run_plan(plan, fit$hyper$theta), fit$hyper)
  refuse_impossible(run, fit$likelihood, problem_rows(joint))
  warn_about(run, NULL, fit)
  new <- note_rows(fit, fit, rows, problem, run, all = TRUE)
  if (!keeps_inputs(fit)) new["x"] <- list(NULL)
  new$n <- row_count(fit$n, problem_rows(problem))
  moved <- c("basis", "alpha", "trend", OWN_POSTERIORS)
  new$posterior[intersect(moved, names(run))] <- run[intersect(moved, names(run))]
  new$posterior["each"] <- list(run$each)
  new$basis_rows <- run$basis_rows
  new$log_evidence <- run$logz - unit_shift(fit, rows$y) - unit_shift(fit, fit$y) +
    mean_normalisation(fit$posterior$trend)
  new$convergence <- convergence_of(run, new$log_evidence - run$logz, n_outputs(fit))
  new
}

# Returns the plan of a fit's method for a problem.
# Returns a fit that keeps a window (fit-window.R) with later rows.
take_later <- function(fit, problem, rows) {
  parts <- markov_parts(fit)
  for (part in parts) {
    refuse_forgotten(part$markov$from, problem$x[, 1L],
                     "Give rows in the order of time (ORDER BY), or fit")
  }
  held <- fit$held
  first <- new_problem(model_of_fit(fit), fit$posterior$basis, held$rows, held$offset, fit$options)
  colnames(problem$x) <- colnames(first$x)
  joint <- join_problems(first, problem)
  joint$options <- fit$options
  n <- nrow(problem$x)
  none <- numeric(n)
  sites <- lapply(parts, function(part) lapply(part$markov[c("tau", "nu")], c, none))
  run <- run_window(fit, joint, lapply(parts, function(part) part$markov$from), sites)
  refuse_impossible(run, fit$likelihood, problem_rows(joint))
  warn_about(run, NULL, fit)
  fit$n <- row_count(fit$n, n)
  fit$held <- list(rows = joint$rows, offset = joint$offset,
                   base = held$base - unit_shift(fit, rows$y))
  with_window(with_window_run(fit, run))
}
