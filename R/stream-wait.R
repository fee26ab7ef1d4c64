# Streams before their pilot. Until `pilot` complete rows have come all of them wait, in
# fit$stream$waiting, a chunk; scaling, starting values and what is learned are then read off the
# first `pilot` rows and frozen, and all rows are processed in their order. Where these rows have
# one class only, one level of a factor, or one value of a response of numbers, the pilot is as long
# as it takes, up to MOST_PILOTS times. So any chunking of the same rows gives the same fit.
#
# A fit whose rows wait is of class sparsegp_waiting. It is asked through ready(): the model of the
# rows that are there, which is fitted when something is asked first, and kept until more rows come
# in fit$stream$model, an environment that holds it as `fit`. fit$stream$seed: what that model draws
# at random must not change from call to call.

# clocks: see clocks_of().
start_stream <- function(chunk, setup, terms = NULL, clocks = NULL) {
  refuse_data_dependent(terms)
  refuse_coupled(setup$likelihood, "all rows at once, in memory")
  coder <- if (!is.null(terms)) {
    own <- Filter(length, lapply(chunk$x, attr, "contrasts")) # rbind() would drop them
    list(terms = terms, given = c(own[setdiff(names(own), names(setup$coded))], setup$coded))
  }
  stream <- list(setup = setup, coder = coder, pilot = setup$method$pilot,
                 weighted = !is.null(chunk$weights), omitted = 0)
  begun <- list(method = setup$method, terms = terms, clocks = clocks)
  fit <- feed(waiting_fit(begun, stream, NULL), chunk)
  begun_model(fit) %||% fit
}

# fit: what has been said of it by calls.
waiting_fit <- function(fit, stream, rows) {
  shell <- fit[intersect(c("method", FROM_CALL), names(fit))]
  stream[c("record", "predefined", "size")] <- NULL # of a model of fewer rows
  setup <- stream$setup
  draws <- setup$method$order == "random" || isTRUE(setup$control$restarts > 0L)
  stream$seed <- if (draws && !is.null(rows)) sample.int(.Machine$integer.max, 1L)
  stream$waiting <- rows
  stream$model <- new.env(parent = emptyenv())
  shell$stream <- stream
  structure(shell, class = c("sparsegp_waiting", "sparsegp_stream", "sparsegp"))
}

#' @export
feed.sparsegp_waiting <- function(fit, chunk) {
  fit$stream <- with_omitted(fit$stream, chunk)
  rows <- bind_chunks(fit$stream$waiting, chunk)
  if (chunk_size(rows)) {
    lik <- likelihood_for(fit$stream$setup$likelihood, rows$y)
    refuse_scale_of_labels(lik, rows$y)
    check_early(lik_codec(lik), rows, lik)
  }
  pilot <- pilot_length(fit$stream, rows)
  if (!is.null(pilot)) {
    fit$stream$pilot <- pilot
    return(begin(fit, rows))
  }
  if (chunk_size(rows)) {
    if (is.matrix(chunk$x)) check_finite_inputs(chunk$x) else check_finite_columns(chunk$x)
    if (!is.null(rows$time)) steps_in_order(rows$time, fit$stream$setup$method)
  }
  waiting_fit(fit, fit$stream, rows)
}

# Returns a fit that can be asked.
ready <- function(fit) UseMethod("ready")

# Checks a fit without its posterior: C sees nothing of one that waits but the model that it may
# have.
check_fit_or_waiting <- function(fit, argument = "object") {
  waits <- inherits(fit, "sparsegp_waiting")
  if (waits) refuse_flaw(invalid_part("waiting", fit), argument)
  if (waits && is.null(fit$posterior)) fit else check_fit(fit, argument)
}

#' @export
ready.sparsegp <- function(fit) check_fit(fit)

#' @export
ready.sparsegp_waiting <- function(fit) {
  model <- begun_model(check_fit_or_waiting(fit))
  if (!is.null(model)) return(model)
  what <- if (chunk_size(fit$stream$waiting) == 0L) "has no rows yet"
          else "has too few rows: one class only, or not yet the rows of `basis`"
  stop_sparsegp("object", what, "Give it rows by update(object, newdata)")
}

# Returns the model of the rows that wait, or NULL while they do not suffice.
begun_model <- function(fit) {
  if (!is.null(fit$posterior)) return(fit) # the model itself
  if (!can_begin(fit$stream)) return(NULL)
  known <- fit$stream$model
  if (is.null(known$fit)) known$fit <- model_of_waiting(fit)
  known$fit
}

model_of_waiting <- function(fit) {
  state <- with_seed(fit$stream$seed)
  on.exit(state$restore())
  model <- begin(fit, fit$stream$waiting, final = FALSE)
  model$stream$waiting <- fit$stream$waiting
  structure(model, class = class(fit))
}

# Refuses responses that the likelihood has no density for, before there are enough rows to read a
# model off.
check_early <- function(codec, rows, lik) UseMethod("check_early")

#' @export
check_early.response <- function(codec, rows, lik) {
  check_legal(codec, as_numbers(codec, rows$y, lik), lik, rows$weights)
}

#' @export
check_early.response_factor <- function(codec, rows, lik) invisible()

MOST_PILOTS <- 10L # times `pilot`

# Returns the number of rows that a stream's model is read off, or NULL while there are too few.
pilot_length <- function(stream, rows) {
  n <- chunk_size(rows)
  least <- as.integer(stream$pilot)
  if (n < least) return(NULL)
  suffice <- function(count) {
    first <- chunk_rows(rows, seq_len(count))
    lik <- likelihood_for(stream$setup$likelihood, first$y, declared = TRUE)
    # a factor of one level would be left out
    can_begin(stream, first) && response_varies(lik_codec(lik), first) &&
      (is.null(stream$coder) || all(lengths(stats::.getXlevels(stream$coder$terms, first$x)) > 1L))
  }
  most <- min(n, MOST_PILOTS * least)
  if (suffice(least)) return(least)
  if (!suffice(most)) return(if (n >= MOST_PILOTS * least) most)
  while (most - least > 1L) { # `most` suffice, `least` do not
    middle <- (least + most) %/% 2L
    if (suffice(middle)) most <- middle else least <- middle
  }
  most
}

# Returns whether a response tells apart what a model has to: not if all its numbers, or all its
# labels, are the same.
response_varies <- function(codec, rows) UseMethod("response_varies")

#' @export
response_varies.response <- function(codec, rows) TRUE

#' @export
response_varies.response_numbers <- function(codec, rows) {
  moments <- codec$moments(rows)
  any(sqrt(moments$m2 / pmax(moments$n, 1)) > 1e-14 * moments$size)
}

#' @export
response_varies.response_factor <- function(codec, rows) {
  length(unique(rows$y[!is.na(rows$y)])) > 1L
}

#' @export
response_varies.response_mixtures <- response_varies.response

# Returns whether there are rows enough to fit. A basis of rows needs these.
can_begin <- function(stream, rows = stream$waiting) {
  basis <- stream$setup$basis
  if (chunk_size(rows) == 0L) return(FALSE)
  if (is.numeric(basis) && is.null(dim(basis)) && any(basis > NROW(rows$y))) return(FALSE)
  labels_suffice(lik_codec(likelihood_for(stream$setup$likelihood, rows$y, declared = TRUE)),
                 rows$y)
}

# Classes need both of them, or a factor that names both.
labels_suffice <- function(codec, y) UseMethod("labels_suffice")

#' @export
labels_suffice.response <- function(codec, y) TRUE

#' @export
labels_suffice.response_factor <- function(codec, y) {
  nlevels(as.factor(y)) > 1L || is.logical(y) && !all(is.na(y))
}
