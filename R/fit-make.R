# From rows to a fit.

fit_formula <- function(frame, terms, setup) {
  inputs <- model_inputs(terms, frame, setup$coding)
  setup$basis <- formula_basis(setup$basis, terms, frame, inputs$x)
  chunk <- frame_chunk(frame, setup$likelihood)
  chunk$x <- inputs$x
  fit <- fit_rows(chunk, setup, inputs$terms)
  fit$xlevels <- stats::.getXlevels(terms, frame)
  fit$contrasts <- attr(inputs$x, "contrasts")
  fit
}

# setup$provisional: is the fit one on some rows, which that of all rows follows?
fit_rows <- function(chunk, setup, input_terms = colnames(chunk$x)) {
  with_bar(bar_display(setup$verbose), settled_fit(chunk, setup, input_terms))
}

settled_fit <- function(chunk, setup, input_terms) {
  settled <- settle_model(chunk, setup, input_terms)
  model <- settled$model
  moot <- remark_on_rows(model, setup, chunk)
  setup <- settled$setup
  problem <- problem_of(model, chunk)
  basis <- resolve_basis(setup$basis, problem$x, model$scaling, problem$width)
  if (!is.null(setup$augment)) refuse_copies(model$lik)
  asked <- setup$method
  plan <- plan_of(asked, problem, basis)
  setup$method <- plan$problem$method
  make <- function(learned, rows) {
    if (is.null(rows)) return(fit_of(learned, chunk, setup))
    learned$model <- part_of_model(learned$model, rows)
    fit_of(learned, chunk_rows(chunk, rows), setup)
  }
  as_margin <- function(learned, width) {
    if (!may_have_margin(learned, setup)) return(NULL)
    setup$likelihood <- lik_margin(width = fixed(width))
    with_margin(learned, read_model(chunk, setup, input_terms), width)
  }
  as_squares <- function(learned) {
    if (!may_have_squares(learned, setup)) return(NULL)
    setup$likelihood <- lik_squares(noise = fixed(LABEL_NOISE))
    with_squares(learned, read_model(chunk, setup, input_terms))
  }
  learns <- any(model$table$free) && !is.null(setup$control)
  expected <- expected_work(plan, learns, resumed = !is.null(settled$from))
  begin_stage(expected[["learning"]], expected[["fitting"]])
  learned <- c(learn_settled(plan, settled), list(model = model))
  if (moot && !is.null(learned$record)) learned$record$moot <- TRUE
  begin_stage(expected[["fitting"]], 0)
  tuned <- tuned_fit(learned, make, as_margin, as_squares)
  fit <- if (is.null(setup$augment)) tuned$fit else fit_with_copies(tuned, asked, chunk, setup)
  if (!isTRUE(setup$provisional)) {
    warn_about(fit$convergence, fit$learning, fit$likelihood)
  }
  fit
}

# What has been learned, run on all rows.
fit_of <- function(learned, chunk, setup) {
  n <- nrow(chunk$x)
  model <- learned$model
  run <- check_run(run_plan(learned$plan, learned$table$theta), learned$table)
  refuse_impossible(run, model$lik, n)
  of_run <- function(run) {
    fit <- new_fit(model, setup, learned, run, n)
    fit$log_evidence <- run$logz - unit_shift(fit, model$response$given)
    fit$convergence <- convergence_of(run, fit$log_evidence - run$logz, n_outputs(fit))
    if (!is.null(run$copies)) fit <- note_copies(fit, run)
    keep_rows(fit, chunk, model, run, setup$keep_x)
  }
  fit <- of_run(run)
  if (length(run$others)) fit$modes <- lapply(run$others, function(other) of_run(other)[OF_MODE])
  fit
}

# What differs between modes of one fit.
OF_MODE <- c("posterior", "basis_rows", "state", "jitter", "log_evidence", "convergence", "latent",
             "cavity", "sites")

# Gives one warning at most: learning cannot settle where EP did not.
warn_about <- function(run, record, lik) {
  if (run$converged) return(warn_about_search(record))
  remedy <- divergence_remedy(lik, "Raise method_ep(sweeps =) or lower its damping")
  warn_sparsegp("EP did not converge in ", counted(run$sweeps, "sweep"), " (change ",
                signif(run$change, 3), "). ", remedy, ".")
}

# What is subtracted from a log density in C's units to have that of the responses y: of y, not of
# y / unit.
unit_shift <- function(fit, y) sum(codec_of(fit)$values(y)) * log(fit$response$unit)

# What every fit has; n: rows seen.
new_fit <- function(model, setup, learned, run, n) {
  response <- model$response
  structure(
    list(
      format = FIT_FORMAT, likelihood = model$lik, kernel = setup$kernel, method = setup$method,
      hyper = learned$table, learning = learned$record, spec = model$spec,
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
