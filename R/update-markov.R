# More rows for a fit by Markov EP, which keeps the times, responses and sites of all its rows.

# Returns the fit with more rows as take_more() does: EP goes on with all of them, so it is the fit
# of all rows at these hyperparameters.
take_more_markov <- function(fit, problem, rows) {
  basis <- fit$posterior$basis
  first <- new_problem(model_of_fit(fit), basis, fit$data_rows, fit$offset, fit$options)
  colnames(problem$x) <- colnames(basis)
  joint <- join_problems(first, problem)
  joint$options <- fit$options
  plan <- plan_markov(joint)
  plan$sites <- join_sites(fit, rows$sites, problem)
  run <- check_run(run_plan(plan, fit$hyper$theta), fit$hyper)
  refuse_impossible(run, fit$likelihood, problem_rows(joint))
  warn_about(run, NULL, fit)
  new <- note_rows(fit, fit, rows, problem, run, all = TRUE)
  if (!keeps_inputs(fit)) new["x"] <- list(NULL)
  new$n <- row_count(fit$n, problem_rows(problem))
  moved <- c("basis", "alpha", "trend", "markov")
  new$posterior[intersect(moved, names(run))] <- run[intersect(moved, names(run))]
  new$posterior["each"] <- list(run$each)
  new$basis_rows <- run$basis_rows
  new$log_evidence <- run$logz - unit_shift(fit, rows$y) - unit_shift(fit, fit$y) +
    mean_normalisation(fit$posterior$trend)
  new$convergence <- convergence_of(run, new$log_evidence - run$logz, n_outputs(fit))
  new
}
