# More rows for a fit on a basis.

# Runs EP of the rows of `problem` on the fit's bases. sites: where to begin; base: states of rows
# that are not among them.
run_on_state <- function(fit, problem, sites = NULL, base = NULL) {
  problem$basis <- basis_for_c(fit)
  problem["base"] <- list(base)
  problem$options <- batch_settings(fit$options)
  run <- check_run(run_to_end(problem, fit$hyper$theta, sites), fit$hyper)
  if (is.null(base)) refuse_impossible(run, fit$likelihood, problem_rows(problem))
  warn_about(run, NULL, fit)
  new_run(run)
}

# Returns the fit with more rows: inputs x, as the user has them and `problem` has them scaled;
# response, offset, weights, names; sites to begin with. Where the inputs of all rows are there EP
# continues with all of them, and what it finds is the fit of all rows on this basis at these
# hyperparameters. Otherwise the sites of the rows before stand, and the fit forgets these rows.
take_more <- function(fit, problem, rows) {
  all <- keeps_inputs(fit)
  again <- all && fit$n > 0
  before <- if (!all && fit$n > 0) full_sums(fit)$state
  joint <- if (again) join_problems(problem_of_kept_rows(fit), problem) else problem
  sites <- if (again) join_sites(fit, rows$sites, problem) else rows$sites
  run <- run_on_state(fit, joint, sites, before)
  new <- fit
  new$n <- row_count(fit$n, problem_rows(problem))
  new$state <- run$state
  moved <- intersect(c("alpha", "G", "H", "trend"), names(run))
  new$posterior[moved] <- run[moved]
  new$posterior["each"] <- list(run$each)
  own <- run$logz - unit_shift(fit, rows$y)
  all_own <- own + mean_normalisation(new$posterior$trend)
  new$log_evidence <- if (is.null(before)) all_own - if (again) unit_shift(fit, fit$y) else 0
                      else fit$log_evidence + own + state_pull(before, run$state) -
                        state_mass(before)
  new$convergence <- convergence_of(run, new$log_evidence - run$logz, n_outputs(fit))
  note_rows(new, fit, rows, problem, run, all)
}

# Builds the problem of the rows that a fit has kept.
problem_of_kept_rows <- function(fit) {
  fit <- checked_rows(fit)
  problem_of_new_rows(fit, fit[["x"]], fit$data_rows, fit$offset)
}

join_problems <- function(first, second) {
  first$x <- rbind(first$x, second$x)
  first$rows <- cbind(first$rows, second$rows)
  first$offset <- c(first$offset, second$offset)
  first
}

# Joins sites of the fit's rows and of new ones, given or flat. Processes are columns.
join_sites <- function(fit, given, problem) {
  if (is.null(given)) given <- no_sites(problem)
  join <- function(field) {
    rbind(matrix(fit$sites[[field]], ncol = processes(fit)),
          matrix(given[[field]], ncol = processes(fit)))
  }
  list(tau = c(join("tau")), nu = c(join("nu")))
}

# Notes what a fit keeps of its rows, with those of the run; nothing unless all of them are in it.
note_rows <- function(new, fit, rows, problem, run, all) {
  new$modes <- NULL # more rows may tell which it is
  if (!all && fit$n > 0) {
    new[c(ROW_FIELDS, "x", "na.action")] <- list(NULL)
    return(new)
  }
  old <- fit[ROW_FIELDS]
  if (fit$n == 0) old[] <- list(NULL)
  new$y <- if (is.null(old$y)) rows$y else bind_responses(old$y, rows$y)
  new$data_rows <- cbind(old$data_rows, problem$rows)
  new$offset <- bind_rows(old$offset, rows$offset)
  new["weights"] <- list(c(old$weights, rows$weights))
  new$row_names <- make.unique(c(old$row_names, rows$names))
  new["na.action"] <- list(NULL) # rows that were left out have no place among these
  new <- keep_moments(new, run)
  new["x"] <- list(if (all) rbind(fit[["x"]], rows$x))
  new
}
