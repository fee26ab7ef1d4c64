# A fit of a source of rows. Kernel, hyperparameters and basis are settled on some of the rows, in
# memory, in units of all; then sites of all rows are found on that basis (fold-sweep.R).

KEPT_ROWS <- 10000L # unless learn_control() says how many

# call: the user's, evaluated in env; checkpoint: a file's name, or NULL.
fit_source <- function(source, call, env, setup, checkpoint) {
  check_source_setup(setup)
  call$forget <- time_column(setup$method)
  recipe <- list(call = call, env = env, likelihood = setup$likelihood)
  frame <- first_frame(source, recipe)
  terms <- attr(frame, "terms")
  refuse_data_dependent(terms)
  setup <- with_meaning(setup, frame_response(frame), stats::model.weights(frame))
  setup[c("kernel", "coding")] <- see_factors(setup$kernel, terms, used_inputs(terms, frame))
  recipe$likelihood <- setup$likelihood
  if (setup$streams) return(stream_of_source(source, recipe, frame, setup, checkpoint))
  mark <- open_checkpoint(checkpoint, key_of_fit(source, terms, setup, frame))
  known <- mark$state
  if (is.null(known)) {
    known <- settled_on_some(source, recipe, setup)
    if (known$fit$n == sum(known$scan$rows)) return(known$fit)
    mark$write(known)
  }
  known$scan$source <- source
  known$scan$source$chunks <- length(known$scan$rows)
  fold_all_rows(known, setup$control, setup$verbose, mark)
}

# What a checkpoint must have been made by.
key_of_fit <- function(source, terms, setup, frame) {
  list(formula = deparse(stats::formula(terms)), chunks = source$chunks,
       first = print_of_rows(frame),
       setup = setup[c("method", "control", "scale", "likelihood", "kernel", "basis", "prior")])
}

check_source_setup <- function(setup) {
  refuse_variances_of_stream(setup$likelihood, TRUE)
  points <- is.null(setup$basis) || !is.null(dim(setup$basis))
  if (!setup$streams && !points) {
    stop_sparsegp("basis", "is row numbers, and the rows are read in chunks",
                  "Give a data frame of points")
  }
}

# The first frame that has rows.
first_frame <- function(source, recipe) {
  chunks <- open_chunks(source)
  on.exit(chunks$close())
  while (!is.null(found <- chunks$read())) {
    frame <- source_frame(recipe, found$chunk)
    if (nrow(frame)) return(frame)
  }
  stop_incomplete("data")
}

# The first pass, and a fit of some of the rows: in memory, in units of all.
settled_on_some <- function(source, recipe, setup) {
  keep <- if (is.null(setup$control) || is.infinite(setup$control$rows)) KEPT_ROWS
          else setup$control$rows
  scan <- scan_source(source, recipe, setup$coding, keep)
  scan$recipe$levels <- with_label_levels(scan, setup$likelihood)
  kept <- with_levels(scan$kept, scan$recipe$levels)
  setup$known <- scan[c("inputs", "response")]
  setup$streams <- TRUE # levels are declared
  setup$keep_x <- FALSE
  all <- nrow(kept) == sum(scan$rows)
  if (all) setup["keep_x"] <- list(NULL)
  setup$provisional <- !all
  fit <- fit_formula(kept, scan$recipe$terms, setup)
  fit$terms <- scan$recipe$terms
  fit$clocks <- scan$clocks
  fit$source <- list(label = source$label, chunks = length(scan$rows), omitted = scan$omitted)
  if (all) {
    fit$row_names <- as.character(scan$rows_kept)
    if (every_row_in_basis(fit)) fit$frame <- kept
  } else {
    fit$source$kept <- nrow(kept)
  }
  if (!is.null(fit$basis_rows)) fit$basis_rows <- scan$rows_kept[fit$basis_rows]
  scan[c("kept", "source", "inputs", "response")] <- NULL
  list(scan = scan, fit = fit)
}

# Numbers that are labels are a factor's levels, too.
with_label_levels <- function(scan, likelihood) {
  levels <- scan$recipe$levels
  few <- scan$response$few
  if (is.null(likelihood) || is.null(few)) return(levels)
  codec <- lik_codec(likelihood)
  if (!codec$labelled || !codec$as_labels(few)) return(levels)
  name <- names(scan$kept)[attr(scan$recipe$terms, "response")]
  levels[[name]] <- list(levels = as.character(sort(few)), ordered = codec$ordered)
  levels
}

# The fit of all rows on the basis of known$fit: their sites, after hyperparameters where all rows
# are to be learned from. known: fit, scan, and what an earlier process has left besides.
fold_all_rows <- function(known, control, verbose, mark) {
  fit <- known$fit
  refuse_without_sums(fit)
  shell <- without_rows(fit, FALSE)
  shell[c("basis_rows", "basis_rows_of")] <- fit[c("basis_rows", "basis_rows_of")]
  progress <- sweep_progress(verbose, sum(known$scan$rows))
  on.exit(progress$close())
  note <- function(...) {
    known[names(list(...))] <<- list(...)
    mark$write(known)
  }
  store <- store_for(known$scan, shell, mark$file, known$filed, function() note(filed = TRUE))
  # what a checkpoint needs, sites that cannot be had otherwise, stays when something goes wrong
  ended <- is.null(mark$file) || has_exact_sites(fit$likelihood)
  on.exit(if (ended && !is.null(store)) store$remove(), add = TRUE)
  fold <- new_fold(known$scan, shell, store, progress$share)
  if (isTRUE(known$course$done)) check_rows_again(fold) # else a sweep does
  begun <- known$course
  if (!is.null(control) && is.infinite(control$rows)) {
    learned <- learn_all_rows(fold, control, known$learning, progress, function(learning) {
      note(learning = learning)
    })
    fold$fit <- learned$fit
    if (is.null(begun)) begun <- learned$point
  }
  run <- fold_run(fold, fold$fit$hyper$theta, batch_settings(fit$method), begun = begun,
                  after = function(course) {
                    progress$sweep(ncol(course$trace), course$logz, course$change)
                    note(course = course)
                  })
  if (has_exact_sites(fit$likelihood)) progress$sweep(run$sweeps, run$logz, run$change)
  fit <- fit_of_fold(fold, run)
  # the sites first: the last checkpoint needs them no more
  if (!is.null(store)) store$remove()
  mark$done()
  fit
}

refuse_without_sums <- function(fit) {
  if (has_state(fit)) return(invisible())
  stop_sparsegp("method", "does not leave sums on a basis, which a source of many rows needs",
                paste("Use method_ep(size =), method_ivm() with refine = \"basis\", or",
                      "method_online()"))
}

# Where sites and gamma are kept: in files if they are many, are to outlive the process, or if
# several processes share them. Sites that are the likelihood itself are not; gamma alone spares a
# product, but is not worth that processes have a folder in common. ours: does a checkpoint say that
# the folder of its sites is its own? If not claim() is called before one is made.
store_for <- function(scan, fit, checkpoint, ours, claim) {
  exact <- has_exact_sites(fit$likelihood)
  shared <- has_workers(scan$source)
  if (exact && shared) return(NULL)
  w <- n_outputs(fit)
  of_sites <- if (exact) 0 else processes(fit) * (w + w^2)
  numbers <- sum(scan$rows) * (of_sites + length(fit$state) * w^2)
  if (!exact && !is.null(checkpoint)) return(sites_of_checkpoint(checkpoint, ours, claim))
  if (numbers <= scan$source$hold && !shared) return(sites_in_memory())
  sites_in_temporary_files()
}

# The fit of all rows that a fold has come to.
fit_of_fold <- function(fold, run) {
  fit <- fold$fit
  check_run(run, fit$hyper)
  refuse_impossible(run, fit$likelihood, sum(fold$scan$rows))
  fit$n <- row_count(fold$scan$rows)
  fit$state <- run$state
  fit <- with_posterior(fit)
  shift <- run$values * log(fit$response$unit)
  fit$log_evidence <- run$logz - shift
  run[c("tau", "sequential", "skipped", "flat")] <- list(numeric(), 0L, 0L, 0L)
  run$tol <- batch_settings(fit$method)$tol
  fit$convergence <- convergence_of(run, -shift)
  fit$convergence$widening <- run$widening
  fit$source$loo_lpd <- (run$lpd - shift) / fit$n
  warn_about(fit$convergence, fit$learning, fit$likelihood)
  note_rows(fit, list(n = fit$n), NULL, NULL, NULL, all = FALSE)
}

# ---- Learning from all rows ----

# The search goes on from what some rows have taught, by the log evidence of all. told: called with
# all evaluations so far after each, which a later process need not do again.
learn_all_rows <- function(fold, control, learned, progress, told) {
  fit <- fold$fit
  table <- fit$hyper
  if (!any(table$free)) return(list(fit = fit))
  criterion <- fold_criterion(fold, learned, progress, told)
  found <- learn_hyper(list(criterion = criterion, plain = criterion, cheap = FALSE), table,
                       control, SILENT, table$theta[table$free])
  fit$hyper <- found$table
  fit$learning <- c(found$record, list(some_rows = fit$learning))
  list(fit = fit, point = environment(criterion)$point)
}

# The log evidence of all rows and its gradient, at theta. Sites start where those of the last
# evaluation ended.
fold_criterion <- function(fold, learned, progress, told) {
  done <- learned$done
  point <- learned$point
  settings <- batch_settings(fold$fit$method)
  function(theta) {
    for (known in done) if (identical(known$theta, theta)) return(known)
    run <- fold_run(fold, theta, settings, gradient = TRUE, begun = point)
    if (run$status != 0L && !is.null(point)) {
      run <- fold_run(fold, theta, settings, gradient = TRUE)
    }
    if (run$status == 0L) point <<- run$point
    progress$evaluation(run$logz)
    known <- c(run[c("status", "logz", "gradient")],
               list(theta = theta, converged = isTRUE(run$converged)))
    done <<- c(done, list(known))
    told(list(done = done, point = point))
    known
  }
}
