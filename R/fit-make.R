# From rows to a fit.

# Returns the fit of the rows that a recipe made first, by which their inputs are coded now.
fit_read <- function(recipe, rows, setup) {
  recipe <- with_coding(recipe, rows$x, setup$coding)
  setup$basis <- read_basis(recipe, setup$basis)
  rows <- code_rows(recipe, rows)
  fit <- fit_rows(rows, setup, recipe$input_terms)
  known <- c(recipe[CODING], list(na.action = rows$omitted, row_names = rows$names))
  known <- known[lengths(known) > 0L]
  fit[names(known)] <- known
  fit
}

# setup$provisional: is the fit one on some rows, which that of all rows follows?
fit_rows <- function(chunk, setup, input_terms = colnames(chunk$x)) {
  with_bar(bar_display(setup$verbose), settled_fit(chunk, setup, input_terms))
}

settled_fit <- function(chunk, setup, input_terms) {
  settled <- choose_kernel_and_scaling(chunk, setup, input_terms)
  model <- settled$model
  moot <- remark_on_rows(model, settled$setup, chunk)
  problem <- problem_of(model, chunk)
  basis <- resolve_basis(setup$basis, problem$x, model$scaling, problem$width)
  if (!is.null(setup$augment)) refuse_copies(model$lik)
  plan <- plan_for(setup$method, problem, basis)
  learns <- any(model$table$free) && !is.null(setup$control)
  expected <- expected_work(plan, learns, resumed = !is.null(settled$from))
  begin_stage(expected[["learning"]], expected[["fitting"]])
  candidate <- learned_candidate(plan, settled, chunk, input_terms)
  if (moot && !is.null(candidate$record)) candidate$record$moot <- TRUE
  begin_stage(expected[["fitting"]], 0)
  tuned <- tune(candidate$plan, candidate)
  settled$setup$options <- plan$problem$options
  fit <- fit_of(tuned, chunk, settled$setup)
  if (!is.null(setup$augment)) fit <- fit_with_copies(fit, tuned, chunk, settled$setup)
  if (!isTRUE(setup$provisional)) {
    warn_about(fit$convergence, fit$learning, fit$likelihood)
  }
  fit
}

# The fit of what a strategy has found, see tune(). setup$options: those of the plan.
fit_of <- function(tuned, chunk, setup) {
  n <- nrow(chunk$x)
  candidate <- tuned$candidate
  model <- candidate$model
  of_run <- function(run) {
    fit <- new_fit(model, setup, candidate, run, n)
    fit$log_evidence <- run$logz - unit_shift(fit, model$response$given)
    fit$convergence <- convergence_of(run, fit$log_evidence - run$logz, n_outputs(fit))
    if (!is.null(run$copies)) fit <- note_copies(fit, run)
    keep_rows(fit, chunk, model, run, setup$keep_x)
  }
  run <- tuned$run
  fit <- of_run(run)
  if (length(run$others)) fit$modes <- lapply(run$others, function(other) of_run(other)[OF_MODE])
  fit$choices <- rbind(candidate$record$choices, run$choices, tuned$choices)
  if (!is.null(tuned$power) && tuned$power != 1) fit$power <- tuned$power
  fit
}

# Gives one warning at most: learning cannot settle where EP did not.
warn_about <- function(run, record, lik) {
  if (run$converged) return(warn_about_search(record))
  remedy <- divergence_remedy(lik, "Raise method_ep(sweeps =) or lower its damping")
  warn_sparsegp("EP did not converge in ", counted(run$sweeps, "sweep"), " (change ",
                signif(run$change, 3), "). ", remedy, ".")
}

# Builds a fit. candidate: its table and record; n: number of rows seen.
new_fit <- function(model, setup, candidate, run, n) {
  response <- model$response
  structure(
    list(
      format = FIT_FORMAT, likelihood = model$lik, kernel = setup$kernel, method = setup$method,
      options = setup$options, hyper = candidate$table,
      learning = candidate$record[setdiff(names(candidate$record), "choices")],
      choices = candidate$record$choices, spec = model$spec,
      scaling = model$scaling, response = response[RESPONSE],
      posterior = c(run[c("basis", "alpha", "G", "H")], list(each = run$each)),
      basis_rows = basis_rows_from(run$basis_rows, run$basis, response$width),
      basis_rows_of = run$basis_rows_of,
      state = run$state, jitter = run$jitter, n = n,
      log_evidence = run$logz,
      # what only a fit of all rows at once fills in (keep_rows()); a stream's keeps none
      x = NULL, y = NULL, data_rows = NULL, offset = NULL, weights = NULL, latent = NULL,
      cavity = NULL, sites = NULL
    ),
    class = "sparsegp"
  )
}

# What a fit of all rows at once knows of each of them.
keep_rows <- function(fit, chunk, model, run, keep_x) {
  response <- model$response
  x <- chunk$x
  attr(x, "contrasts") <- NULL
  fit$y <- response$given
  fit$data_rows <- model$rows
  fit$offset <- chunk$offset
  fit["weights"] <- list(response$weights)
  fit <- keep_moments(fit, run)
  # full EP of several components keeps points in an order of its own
  if (is.null(keep_x)) keep_x <- ncol(x) <= 2L || n_outputs(fit) > 1L && every_row_in_basis(fit)
  if (keep_x) fit[["x"]] <- x
  fit
}

# The fit with what a run says of every row: with several latent functions matrices, a column each.
keep_moments <- function(fit, run) {
  by_process <- function(...) {
    if (processes(fit) == 1L) return(list(...))
    lapply(list(...), `colnames<-`, fit$response$levels)
  }
  fit$latent <- by_process(mean = run$mean, var = run$var)
  fit$cavity <- c(by_process(mean = run$cav_mean, var = run$cav_var), list(lpd = run$lpd))
  fit$sites <- by_process(tau = run$tau, nu = run$nu)
  fit
}
