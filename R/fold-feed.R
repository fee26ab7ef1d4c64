# Sources whose rows are seen once, in their order, and fits like another of the rows of a source.

# A stream; levels, where there are any, are read before.
stream_of_source <- function(source, recipe, frame, setup, checkpoint) {
  terms <- attr(frame, "terms")
  if (any(vapply(frame, has_levels, NA))) {
    recipe <- scan_source(source, recipe, setup$coding, 1L, moments = FALSE)$recipe
  }
  recipe$terms <- terms
  begin <- function() {
    none <- with_levels(frame[0L, , drop = FALSE], recipe$levels)
    attr(none, "terms") <- terms
    fit <- start_stream(frame_chunk(none, recipe$likelihood), setup, terms)
    fit[c("terms", "clocks")] <- list(terms, clocks_of(frame))
    fit
  }
  read <- function(chunk) {
    frame <- with_levels(source_frame(recipe, chunk), recipe$levels)
    frame_chunk(frame, recipe$likelihood)
  }
  feed_source(begin, source, read, checkpoint, key_of_fit(terms, setup, frame),
              chunk_progress(setup$verbose))
}

# The fit that begin() gives, fed with every chunk as read() makes it. What a checkpoint holds is
# the fit and how many chunks are in it.
feed_source <- function(begin, source, read, checkpoint, key, told) {
  mark <- open_checkpoint(checkpoint, key)
  fit <- if (is.null(mark$state)) begin() else mark$state$fit
  done <- if (is.null(mark$state)) 0L else mark$state$done
  each_chunk(source, function(i, chunk) {
    if (i <= done) return(invisible())
    fit <<- feed(fit, read(chunk))
    mark$write(list(fit = fit, done = i), soon = FALSE)
    if (!is.null(fit$log_evidence)) told(fit$n, fit$log_evidence)
  })
  mark$done()
  fit
}

# More rows for a fit, by update().
feed_more <- function(object, source, weights = NULL, checkpoint = NULL, verbose = FALSE, ...) {
  check_no_dots(...)
  refuse_matrix_source(object)
  key <- list(rows = object$n, theta = object$hyper$theta, evidence = object$log_evidence)
  feed_source(function() object, source,
              function(chunk) more_rows_of_formula(object, chunk, weights), checkpoint, key,
              chunk_progress(check_flag(verbose, "verbose")))
}

refuse_matrix_source <- function(object) {
  if (!is.null(object$terms)) return(invisible())
  stop_sparsegp("data", "is a source of rows, and the model was fitted to a matrix",
                "Fit it by a formula")
}

# The rows of a source on the basis of `empty`, a fit without rows.
fold_like <- function(empty, source, weights, verbose, checkpoint) {
  refuse_matrix_source(empty)
  kept <- names(empty$call) %in% c("weights", "na.action")
  call <- empty$call[replace(kept, 1L, TRUE)]
  if (!is.null(weights)) call$weights <- weights
  recipe <- list(call = call, env = environment(empty$terms), likelihood = empty$likelihood,
                 terms = empty$terms)
  mark <- open_checkpoint(checkpoint, list(theta = empty$hyper$theta, basis = bases_of(empty)))
  known <- mark$state
  if (is.null(known)) {
    scan <- scan_source(source, recipe, NULL, 1L, moments = FALSE)
    empty$source <- list(label = source$label, chunks = length(scan$rows),
                         omitted = scan$omitted)
    known <- list(scan = scan[setdiff(names(scan), "kept")], fit = empty)
  }
  known$scan$source <- source
  known$scan$source$chunks <- length(known$scan$rows)
  fold_all_rows(known, NULL, verbose, mark)
}
