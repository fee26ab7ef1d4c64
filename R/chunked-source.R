# Fits of a source of rows. In general kernel, hyperparameters and basis are settled on some of the
# rows, in memory, in units of all; then sites of all rows are found on that basis (chunked-fit.R).
# A stream sees its rows once, in their order, and so does a series, whose structure is settled
# before; a fit like another needs their sites alone.

# checkpoint: a file's name, or NULL.
fit_source <- function(source, recipe, setup, checkpoint) {
  check_source_setup(setup)
  frame <- first_frame(source, recipe)
  terms <- attr(frame, "terms")
  refuse_data_dependent(terms)
  setup <- setup_for_frame(setup, frame)
  recipe["likelihood"] <- list(setup$likelihood)
  recipe$terms <- terms
  if (setup$streams) return(stream_of_source(source, recipe, frame, setup, checkpoint))
  if (is_filter(setup$method)) {
    return(series_of_source(source, recipe, frame, setup, checkpoint))
  }
  mark <- open_checkpoint(checkpoint, key_of_fit(source, terms, setup, frame))
  known <- check_checkpoint_state(mark$state, settled_kinds(), mark$file)
  if (is.null(known)) {
    known <- settled_on_some(source, recipe, frame, setup)
    if (known$fit$n == sum(known$scan$rows)) return(known$fit)
    mark$write(known)
  }
  chunked_all_rows(known, source, setup$control, setup$verbose, mark)
}

# Returns the kinds of what checkpoints hold, of a fit of all rows and of rows that are seen once
# (util-kinds.R).
settled_kinds <- function() list(
  fit = function(x) is_unflawed(x),
  scan = function(x) is.list(x) && are_doubles(as.double(x$rows), length(x$prints)),
  learning = optional(function(x) is.list(x) && is.list(x$done)),
  iteration = optional(function(x) {
    is.list(x) && are_doubles(x$state, length(x$state)) && is_flag(x$done) &&
      are_doubles(unname(x$weights), length(names(x$weights)))
  }),
  filed = optional(is_flag)
)

fed_kinds <- function() list(
  fit = function(x) is_unflawed(x), done = is_count,
  prints = function(x, whole) is.list(x) && length(x) <= whole$done
)

# Is this a fit, or a stream that waits, that a user could have given?
is_unflawed <- function(fit) {
  inherits(fit, "sparsegp") && is.null(tryCatch({
    check_fit_or_waiting(fit)
    NULL
  }, error = identity))
}

# Returns what a checkpoint must have been made by.
key_of_fit <- function(source, terms, setup, frame) {
  mean <- setup$mean
  list(formula = deparse(stats::formula(terms)), chunks = source$chunks,
       first = sums_of_rows(frame), # its bytes are compared when it is read
       mean = if (inherits(mean, "formula")) deparse(mean) else mean, # its environment differs
       setup = setup[c("method", "control", "scale", "likelihood", "kernel", "basis", "prior",
                       "coding", "structure")])
}

check_source_setup <- function(setup) {
  refuse_variances_of_stream(setup$likelihood)
  points <- is.null(setup$basis) || !is.null(dim(setup$basis))
  refuse_if(!setup$streams && !points, "basis", "is row numbers, and the rows are read in chunks",
            "Give a data frame of points")
}

# Returns the first frame that has rows.
first_frame <- function(source, recipe) {
  chunks <- open_chunks(source)
  on.exit(chunks$close())
  while (!is.null(found <- chunks$read())) {
    frame <- read_frame(recipe, found$chunk)
    if (nrow(frame)) return(frame)
  }
  stop_incomplete("data")
}

# Makes the first pass, and a fit of some of the rows, or of all if a method by neighbours holds
# them: in memory, in units of all. first: a frame.
settled_on_some <- function(source, recipe, first, setup) {
  some <- if (is.null(setup$control) || is.infinite(setup$control$rows)) policy$kept_rows
          else setup$control$rows
  scan <- scan_source(source, recipe, first, setup, max(some, rows_held(setup, first)), some)
  if (holds_rows(setup$method)) refuse_many_rows(fewest_neighbours(setup$method), sum(scan$rows))
  clocks <- clocks_of(first)
  scan$levels <- with_label_levels(scan, setup$likelihood)
  kept <- with_levels(scan$kept, scan$levels)
  setup$known <- scan[c("inputs", "response")]
  setup$clocks <- names(clocks)
  setup$streams <- TRUE # levels are declared
  setup$keep_x <- FALSE
  all <- nrow(kept) == sum(scan$rows)
  if (all) setup["keep_x"] <- list(NULL)
  setup$provisional <- !all
  fit <- fit_read(scan$recipe, frame_rows(scan$recipe, kept), setup)
  fit$clocks <- clocks
  fit$source <- source_record(source, scan)
  if (all) {
    fit$row_names <- as.character(scan$rows_kept)
    fit <- with_frame(fit, kept)
  } else {
    fit$source$kept <- nrow(kept)
  }
  if (!is.null(fit$basis_rows)) fit$basis_rows <- scan$rows_kept[fit$basis_rows]
  scan[c("kept", "source", "inputs", "response")] <- NULL
  list(scan = scan, fit = fit)
}

# Returns the most rows of a source that nearest neighbours may fit, which are in memory then: by
# that method, or where no method was given and the rows may be those of a map. 0: by no means.
# Their numbers are few, and a posterior by neighbours is one of all rows at once.
rows_held <- function(setup, frame) {
  if (holds_rows(setup$method)) {
    return(max(most_neighbour_rows(fewest_neighbours(setup$method)) + 1, policy$kept_rows))
  }
  if (may_show_map(setup, frame)) policy$map_rows else 0
}

# May the rows be those of a map (strategy-neighbours.R), by the first frame of them?
may_show_map <- function(setup, frame) {
  inputs <- used_inputs(attr(frame, "terms"), frame)
  columns <- sum(vapply(inputs, NCOL, 0L))
  lik <- setup$likelihood
  identical(as.double(setup$control$rows), policy$kept_rows) &&
    is.numeric(frame_response(frame)) && (is.null(lik) || lik_traits(lik)$exact) &&
    leaves_open(setup$method) && is.null(setup$basis) && is.null(setup$augment) &&
    is.null(setup$structure) && all(vapply(inputs, is.numeric, NA)) &&
    columns > 1L && columns <= policy$neighbour_inputs
}

# Returns what a fit keeps of its source.
source_record <- function(source, scan) {
  list(label = source$label, chunks = length(scan$rows), omitted = scan$omitted)
}

# Numbers that are labels are a factor's levels, too.
with_label_levels <- function(scan, likelihood) {
  levels <- scan$levels
  few <- scan$response$few
  if (is.null(likelihood) || is.null(few)) return(levels)
  codec <- lik_codec(likelihood)
  if (!codec$as_labels(few)) return(levels)
  name <- names(scan$kept)[attr(scan$recipe$terms, "response")]
  levels[[name]] <- structure(as.character(sort(few)), ordered = codec$ordered)
  levels
}

# ---- Rows that are seen once ----

# Fits a series by Markov EP: what is settled on some rows stays, and all rows are taken in their
# order into a window (fit-window.R).
series_of_source <- function(source, recipe, frame, setup, checkpoint) {
  setup$method <- filter_with_window(setup$method, policy$kept_rows)
  mark <- open_checkpoint(checkpoint, key_of_fit(source, attr(frame, "terms"), setup, frame))
  begun <- levels <- NULL
  if (is.null(mark$state)) {
    settled <- settled_on_some(source, recipe, frame, setup)
    if (settled$fit$n == sum(settled$scan$rows)) return(settled$fit)
    levels <- settled$scan$levels
    begun <- without_markov_rows(settled$fit)
  } else if (any(vapply(frame, has_levels, NA))) {
    levels <- scan_source(source, recipe)$levels
  }
  feed_source(function() begun, source, recipe, levels, mark, chunk_progress(setup$verbose))
}

# Fits a stream; levels, if there are any, are read before.
stream_of_source <- function(source, recipe, frame, setup, checkpoint) {
  terms <- attr(frame, "terms")
  levels <- if (any(vapply(frame, has_levels, NA))) {
    scan_source(source, recipe)$levels
  }
  mark <- open_checkpoint(checkpoint, key_of_fit(source, terms, setup, frame))
  begin <- function() {
    none <- with_levels(frame[0L, , drop = FALSE], levels)
    attr(none, "terms") <- terms
    clocks <- clocks_of(frame)
    setup$clocks <- names(clocks)
    start_stream(frame_rows(recipe, none), setup, terms, clocks)
  }
  feed_source(begin, source, recipe, levels, mark, chunk_progress(setup$verbose))
}

# Returns the fit that begin() gives, fed with every chunk. recipe: by which chunks become frames;
# levels: these have them all. A checkpoint holds the fit, how many chunks are in it, and the prints
# of their frames, which are compared when chunks are passed over.
feed_source <- function(begin, source, recipe, levels, mark, progress) {
  known <- check_checkpoint_state(mark$state, fed_kinds(), mark$file)
  if (is.null(known)) known <- list(fit = begin(), done = 0L, prints = list())
  seen <- each_chunk(source, function(i, chunk) {
    frame <- read_frame(recipe, chunk)
    print <- print_of_chunk(recipe, chunk, frame)
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
  recipe <- recipe_for_chunks(object, weights)
  waiting <- object$stream$waiting
  if (!is.null(waiting)) waiting <- print_of_rows(as.data.frame(waiting$x))
  key <- c(key_of_like(object), list(rows = object$n, evidence = object$log_evidence,
                                     waiting = waiting, chunks = source$chunks))
  feed_source(function() object, source, recipe, NULL, open_checkpoint(checkpoint, key),
              chunk_progress(check_flag(verbose, "verbose")))
}

# Returns the parts of a fit by which a checkpoint of it is known.
key_of_like <- function(fit) {
  list(formula = deparse(stats::formula(fit$terms)), likelihood = fit$likelihood,
       kernel = fit$kernel, theta = fit$hyper$theta,
       basis = if (!is.null(fit$posterior)) bases_of(fit))
}

# Returns the recipe for chunks of more rows of a fit.
recipe_for_chunks <- function(fit, weights) {
  refuse_if(is.null(fit$terms), "data", "is a source of rows, and the model was fitted to a matrix",
            "Fit it by a formula")
  recipe <- recipe_of(fit)
  if (!is.null(weights)) recipe$arguments$weights <- weights
  recipe
}

# Fits the rows of a source on the basis of `empty`, a fit without rows.
chunked_like <- function(empty, source, weights, verbose, checkpoint) {
  recipe <- recipe_for_chunks(empty, weights)
  mark <- open_checkpoint(checkpoint, c(key_of_like(empty),
                                        list(weights = recipe$arguments$weights,
                                             chunks = source$chunks)))
  known <- check_checkpoint_state(mark$state, settled_kinds(), mark$file)
  if (is.null(known)) {
    scan <- scan_source(source, recipe)
    empty$source <- source_record(source, scan)
    known <- list(scan = scan, fit = empty)
  }
  chunked_all_rows(known, source, NULL, verbose, mark)
}
