# Builds a fit of what a strategy has found.

# The fit of what a strategy has found, see tune(). setup$options: those of the plan.
fit_of <- function(tuned, chunk, setup) {
  n <- nrow(chunk$x)
  candidate <- tuned$candidate
  setup$kernel <- candidate$data$setup$kernel # tune() may have found another
  if (is_of_neighbours(tuned$run)) setup$options <- candidate$plan$problem$options
  model <- candidate$model
  of_run <- function(run) {
    fit <- new_fit(model, setup, candidate, run, n)
    fit$log_evidence <- run$logz - evidence_shift(fit, model$response$given)
    fit$convergence <- convergence_of(run, fit$log_evidence - run$logz, n_outputs(fit))
    if (!is.null(run$fallback)) fit$options$power <- run$fallback$power
    if (!is.null(run$copies)) fit$copies <- copies_of_run(run, model$response$levels)
    keep_rows(fit, chunk, model, run, setup$keep_x)
  }
  run <- tuned$run
  fit <- of_run(run)
  if (length(run$others)) fit$modes <- lapply(run$others, function(other) of_run(other)[OF_MODE])
  choices <- list(candidate$record$choices, run$choices, tuned$choices)
  fit[c("choices", "choice_fields")] <- kept_choices(stacked_table(choices))
  if (!is.null(tuned$power) && tuned$power != 1) fit$power <- tuned$power
  # until integrated_fit() has taken it
  if (!isTRUE(setup$provisional)) fit$past <- candidate$record$past
  fit
}

# Builds a fit. candidate: its table and record; n: number of rows seen.
new_fit <- function(model, setup, candidate, run, n) {
  response <- model$response
  structure(
    c(list(
      format = FIT_FORMAT, likelihood = model$lik, kernel = setup$kernel, method = setup$method,
      options = setup$options, hyper = candidate$table,
      learning = candidate$record[setdiff(names(candidate$record), c("choices", "past"))],
      spec = model$spec, scaling = model$scaling,
      response = kept_of_response(response),
      posterior = c(run[c("basis", "alpha", "G", "H")], list(each = run$each),
                    if (!is.null(run$trend)) list(trend = run$trend),
                    run[intersect(OWN_POSTERIORS, names(run))]),
      basis_rows = basis_rows_from(run$basis_rows, run$basis, response$width),
      basis_rows_of = run$basis_rows_of,
      state = run$state, jitter = run$jitter, n = n,
      log_evidence = run$logz,
      # what only a fit of all rows at once fills in (keep_rows()); a stream's keeps no rows
      x = NULL, y = NULL, data_rows = NULL, offset = NULL, weights = NULL, latent = NULL,
      cavity = NULL, sites = NULL
    ), kept_choices(candidate$record$choices)),
    class = "sparsegp"
  )
}

# Adds what a fit of all rows at once keeps of each of them.
keep_rows <- function(fit, chunk, model, run, keep_x) {
  response <- model$response
  x <- chunk$x
  attr(x, "contrasts") <- NULL
  fit$y <- response$given
  fit$data_rows <- model$rows
  fit$offset <- chunk$offset
  fit["weights"] <- list(response$weights)
  fit <- keep_moments(fit, run)
  # full EP of several components keeps points in an order of its own, and not whose they are
  needs_x <- n_outputs(fit) > 1L && every_row_in_basis(fit)
  if (needs_x || (keep_x %||% are_few_inputs(dim(x)))) fit[["x"]] <- x
  fit
}

# Are inputs of c(rows, columns) kept unless that is asked for?
are_few_inputs <- function(size) size[2L] <= 2L || prod(size) <= policy$kept_inputs

# Adds the model frame of all rows where it is small beside the posterior.
with_frame <- function(fit, frame) {
  if (every_row_in_basis(fit) && !is_site_fit(fit)) fit$frame <- frame
  fit
}

# Adds the moments and sites that a run has of every row: with several latent functions matrices, a
# column each.
keep_moments <- function(fit, run) {
  by_process <- function(...) named_by_class(fit, list(...))
  fit$latent <- by_process(mean = run$mean, var = run$var)
  fit$cavity <- c(by_process(mean = run$cav_mean, var = run$cav_var), list(lpd = run$lpd))
  fit$sites <- by_process(tau = run$tau, nu = run$nu)
  fit
}

# made: a row for each latent function that had copies of its own (strategy-copies.R), with its
# class; points: which copy of its row each point of the basis is, 0 for the row itself.
copies_of_run <- function(run, levels) {
  made <- if (nrow(run$copies) > 1L) cbind(class = levels, run$copies) else run$copies
  list(made = made, points = run$basis_copies)
}
