# The fit of all rows of a source on a basis (chunked-sweep.R), after hyperparameters if all
# rows are to be learned from.

# Returns the fit of all rows on the basis of known$fit. known: fit, scan, and what an earlier
# process has left besides.
chunked_all_rows <- function(known, source, control, verbose, mark) {
  known$scan$source <- source
  known$scan$source$chunks <- length(known$scan$rows)
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
  chunked <- new_chunked(known$scan, shell, NULL, progress$share)
  chunked$store <- store_for(chunked, mark$file, known$filed, function() note(filed = TRUE))
  # what a checkpoint needs, sites that cannot be had otherwise, stays when something goes wrong
  on.exit(if (is.null(mark$file) || chunked$exact) chunked$store$remove(), add = TRUE)
  if (isTRUE(known$iteration$done)) check_rows_again(chunked) # else a sweep does
  begun <- known$iteration
  learned <- NULL
  if (!is.null(control) && is.infinite(control$rows)) {
    learned <- learn_all_rows(chunked, control, known$learning, progress, function(learning) {
      note(learning = learning)
    })
    chunked$fit <- learned$fit
    if (is.null(begun)) begun <- learned$point
  }
  run <- learned$run
  if (is.null(run)) {
    run <- chunked_run(chunked, chunked$fit$hyper$theta, batch_settings(fit$options),
                       begun = begun, after = function(it) {
                         progress$sweep(ncol(it$trace), it$read$logz, it$read$change,
                                        traffic_record(chunked$traffic))
                         note(iteration = it)
                       })
  }
  if (chunked$exact) {
    progress$sweep(run$sweeps, run$logz, run$change, traffic_record(chunked$traffic))
  }
  fit <- chunked_result(chunked, run)
  chunked$store$remove() # the sites first: the last checkpoint needs them no more
  mark$done()
  fit
}

refuse_without_sums <- function(fit) {
  if (has_state(fit)) return(invisible())
  stop_sparsegp("method", paste("does not summarise rows by sums on inducing points, as a source",
                                "of rows requires"),
                paste("Use method_ep(size =), method_ivm() with refine = \"basis\", or",
                      "method_online()"))
}

# Returns the store of sites and gamma: in files if they are many, are to outlive the process, or if
# several processes share them. Sites that are the likelihood itself are not; gamma alone spares a
# product, but is not worth that processes have a folder in common. The source's `hold` bounds one
# generation of sites, of which there are up to 2 mixing + 5. ours: does a checkpoint say that the
# folder of its sites is its own? If not claim() is called before one is made.
store_for <- function(chunked, checkpoint, ours, claim) {
  fit <- chunked$fit
  source <- chunked$scan$source
  shared <- has_workers(source)
  if (chunked$exact && shared) return(NO_STORE)
  w <- n_outputs(fit)
  of_sites <- if (chunked$exact) 0 else processes(fit) * (w + w^2)
  numbers <- chunked$n * (of_sites + length(fit$state) * w^2)
  if (!chunked$exact && !is.null(checkpoint)) return(sites_of_checkpoint(checkpoint, ours, claim))
  if (numbers <= source$hold && !shared) return(sites_in_memory())
  sites_in_files(tempfile("sparsegp-sites-"), "data",
                 paste("Is the disk full? Workers on other machines need a folder that all share:",
                       "set TMPDIR before R starts"))
}

# Returns the fit of all rows that a run over the chunks has come to.
chunked_result <- function(chunked, run) {
  fit <- chunked$fit
  check_run(run, fit$hyper)
  refuse_impossible(run, fit$likelihood, chunked$n)
  fit$n <- row_count(chunked$scan$rows)
  fit$state <- run$state
  fit <- with_posterior(fit)
  shift <- -run$jacobian - mean_normalisation(fit$posterior$trend)
  fit$log_evidence <- run$logz - shift
  run[c("tau", "sequential", "skipped", "flat")] <- list(numeric(), 0L, 0L, 0L)
  run$tol <- batch_settings(fit$options)$tol
  fit$convergence <- convergence_of(run, -shift)
  fit$convergence$widening <- run$widening
  fit$source$loo_lpd <- (run$lpd + run$jacobian) / fit$n
  fit$source$workers <- traffic_record(chunked$traffic)
  warn_about(fit$convergence, fit$learning, fit)
  note_rows(fit, list(n = fit$n), NULL, NULL, NULL, all = FALSE)
}

# ---- Learning from all rows ----

# Goes on with the search from what some rows have taught, by the log evidence of all. note():
# called with all evaluations so far after each, which a later process need not do again.
learn_all_rows <- function(chunked, control, learned, progress, note) {
  fit <- chunked$fit
  table <- fit$hyper
  table$free[table$part == "response"] <- FALSE # some rows have settled the response's scale
  if (!any(table$free)) return(list(fit = fit))
  criterion <- chunked_criterion(chunked, learned, progress, note)
  found <- learn_hyper(list(criterion = criterion, plain = criterion, cheap = FALSE), table,
                       control, SILENT, table$theta[table$free])
  fit$hyper <- found$table
  fit$learning <- c(found$record, list(some_rows = fit$learning))
  last <- environment(criterion)
  # of exact sites all is known that the last evaluation was about
  known <- chunked$exact && identical(last$run$theta, fit$hyper$theta)
  list(fit = fit, point = last$point, run = if (known) last$run)
}

# Returns the log evidence of all rows and its gradient, as a function of theta. Sites start
# where those of the last evaluation ended.
chunked_criterion <- function(chunked, learned, progress, note) {
  done <- learned$done
  point <- learned$point
  run <- NULL
  settings <- batch_settings(chunked$fit$options)
  function(theta) {
    for (known in done) if (identical(known$theta, theta)) return(known)
    run <<- chunked_run(chunked, theta, settings, gradient = TRUE, begun = point)
    if (run$status != 0L && !is.null(point)) {
      run <<- chunked_run(chunked, theta, settings, gradient = TRUE)
    }
    if (run$status == 0L) point <<- run$point
    run$theta <<- theta
    progress$evaluation(run$logz)
    known <- c(run[c("status", "logz", "gradient")],
               list(theta = theta, converged = isTRUE(run$converged)))
    done <<- c(done, list(known))
    note(list(done = done, point = point))
    known
  }
}
