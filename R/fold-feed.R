# Sources whose rows are seen once, in their order, and fits like another of the rows of a source.

# A stream; levels, where there are any, are read before.
stream_of_source <- function(source, recipe, frame, setup, checkpoint) {
  terms <- attr(frame, "terms")
  levels <- if (any(vapply(frame, has_levels, NA))) {
    scan_source(source, recipe, setup$coding, 1L, moments = FALSE)$levels
  }
  mark <- open_checkpoint(checkpoint, key_of_fit(source, terms, setup, frame))
  recipe$terms <- terms
  begin <- function() {
    none <- with_levels(frame[0L, , drop = FALSE], levels)
    attr(none, "terms") <- terms
    start_stream(frame_rows(recipe, none), setup, terms, clocks_of(frame))
  }
  feed_source(begin, source, recipe, levels, mark, chunk_progress(setup$verbose))
}

# Returns the fit that begin() gives, fed with every chunk. recipe: by which chunks become frames;
# levels: these have them all. A checkpoint holds the fit, how many chunks are in it, and the prints
# of their frames, which are compared when chunks are passed over.
feed_source <- function(begin, source, recipe, levels, mark, progress) {
  known <- mark$state
  if (is.null(known)) known <- list(fit = begin(), done = 0L, prints = list())
  seen <- each_chunk(source, function(i, chunk) {
    frame <- read_frame(recipe, chunk)
    print <- print_of_rows(frame)
    if (i <= known$done) return(check_chunk_again(source, known$prints, i, print))
    rows <- frame_rows(recipe_of(known$fit), with_levels(frame, levels))
    fit <- feed(known$fit, rows)
    known$prints[[i]] <<- print
    known[c("fit", "done")] <<- list(fit, i)
    mark$write(known, soon = FALSE)
    if (!is.null(fit$log_evidence)) progress(fit$n, fit$log_evidence)
  })
  check_all_again(source, known$prints, seen)
  mark$done()
  known$fit
}

# More rows for a fit, by update().
feed_more <- function(object, source, weights = NULL, checkpoint = NULL, verbose = FALSE, ...) {
  check_no_dots(...)
  refuse_matrix_source(object)
  key <- c(key_of_like(object), list(rows = object$n, evidence = object$log_evidence,
                                     waiting = print_of_waiting(object), chunks = source$chunks))
  recipe <- recipe_of(object)
  if (!is.null(weights)) recipe$arguments$weights <- weights
  feed_source(function() object, source, recipe, NULL, open_checkpoint(checkpoint, key),
              chunk_progress(check_flag(verbose, "verbose")))
}

# What of a fit tells whether a checkpoint is of it.
key_of_like <- function(fit) {
  list(formula = deparse(stats::formula(fit$terms)), likelihood = fit$likelihood,
       kernel = fit$kernel, theta = fit$hyper$theta,
       basis = if (!is.null(fit$posterior)) bases_of(fit))
}

print_of_waiting <- function(fit) {
  waiting <- fit$stream$waiting
  if (!is.null(waiting)) print_of_rows(as.data.frame(waiting$x))
}

refuse_matrix_source <- function(object) {
  if (!is.null(object$terms)) return(invisible())
  stop_sparsegp("data", "is a source of rows, and the model was fitted to a matrix",
                "Fit it by a formula")
}

# The rows of a source on the basis of `empty`, a fit without rows.
fold_like <- function(empty, source, weights, verbose, checkpoint) {
  refuse_matrix_source(empty)
  recipe <- recipe_of(empty)
  if (!is.null(weights)) recipe$arguments$weights <- weights
  mark <- open_checkpoint(checkpoint, c(key_of_like(empty),
                                        list(weights = recipe$arguments$weights,
                                             chunks = source$chunks)))
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
