# Streams: fits by method_online(), which take rows as they come and do not keep them. They are of
# class sparsegp_stream; before the pilot is there also of class sparsegp_waiting (stream-wait.R).
#
# fit$stream holds
#   setup      the arguments of sparsegp() that are not data
#   coder      terms and the contrasts that were given, for the pilot; NULL for fits of a matrix
#   pilot      rows from which scaling, starts and what is learned are read off
#   weighted   have rows weights?
#   omitted    rows left out because of missing values
#   record     points (a column each), their rows, counts and trace, once frozen; with fit$state
#              what C resumes from (glue_online.c)
#   predefined was the basis given?   size   most points of the basis, as C counts them
#   shift      of the log evidence of the rows so far, see unit_shift()
#   constant   values of inputs that have been constant so far, by name: their scale is 1
#   clock      of a stream that forgets or drifts: the step that the last rows were at

# Returns the fit with a chunk of more rows.
feed <- function(fit, chunk) UseMethod("feed")

# Refuses other values of an input that was constant while the scaling was read off: it has no
# scale, and no part in the model.
check_constant <- function(scaling, x) {
  moved <- moved_inputs(stats::setNames(scaling$constant, scaling$dropped), x)
  if (length(moved) == 0L) return(invisible())
  stop_sparsegp("newdata", paste0("has other values of an input that was constant in the first ",
                                  "rows: ", toString(moved)), "Fit all rows again, or leave it out")
}

# Warns of inputs that vary now and did not in the pilot: these have no scale but 1. That is what
# the columns of a factor have anyhow; one that is one input has as much for its levels.
note_moved <- function(fit, x) {
  constant <- fit$stream$constant
  moved <- moved_inputs(constant, x)
  if (length(moved) == 0L) return(fit)
  measured <- measured_inputs(fit, moved, x)
  fit$stream$constant <- constant[setdiff(names(constant), moved)]
  if (length(measured) && fit$scaling$scale) {
    warn_sparsegp("Constant in the first ", fit$stream$pilot, " rows, so their scale is 1: ",
                  toString(measured), ". Raise method_online(pilot =) until they vary, or scale ",
                  "them beforehand.")
  }
  fit
}

# Begins a stream: the pilot's model, then all rows. final: are these the rows that the model stays
# with?
begin <- function(fit, rows, final = TRUE) {
  progress <- open_progress(line_display(fit$stream$setup$verbose))
  on.exit(close_progress(progress))
  stream <- fit$stream
  setup <- stream$setup
  first <- seq_len(min(chunk_size(rows), stream$pilot))
  pilot_frame <- rows$x[first, , drop = FALSE]
  if (!is.null(fit$terms)) fit$terms <- learn_classes(fit$terms, pilot_frame)
  recipe <- with_coding(recipe_of(fit), pilot_frame, stream$coder$given)
  recipe$learns <- setup$factors
  rows <- code_rows(recipe, rows) # all at once: an unseen level fails before learning
  pilot <- chunk_rows(rows, first)
  setup$basis <- read_basis(recipe, setup$basis)
  if (final) remark_on_series(pilot, setup)
  settled <- choose_structure(pilot, setup, recipe$input_terms)
  learned <- learn_from(pilot, settled, remark = final)
  problem <- learned$problem
  basis <- learned$basis
  stream[c("waiting", "model", "seed", "clock")] <- NULL
  stream$predefined <- !is.null(basis$x)
  stream$constant <- constant_inputs(pilot$x)
  stream$size <- if (stream$predefined) nrow(basis$x) else setup$method$size * problem$width
  fit[CODING] <- with_read_levels(recipe, learned$setup)[CODING]
  fit <- with_new_levels(fit, rows)
  fit <- stream_fit(fit, stream, learned$setup, learned$candidate)
  fit <- keep_state(fit, empty_state(ncol(problem$x), problem$processes))
  take_rows(fit, rows, start = basis$x)
}

# Gives a message where the rows of a stream are a series in the order of time, without a basis, a
# kernel or a clock that somebody chose: its filter needs no basis.
remark_on_series <- function(pilot, setup) {
  chosen <- c(list(setup$basis, setup$kernel, half_life_of(setup$method)))
  times <- pilot$x
  if (any(lengths(chosen)) || ncol(times) != 1L || nrow(times) < policy$min_points) return()
  if (is.unsorted(times[, 1L], strictly = TRUE) || !is_time_grid(times[, 1L])) return()
  message("The rows are a series in the order of time; method_markov(window = 10000) also fits it ",
          "in constant memory, without inducing points.")
}

# Fields of a stream that the calls which made it have set
FROM_CALL <- c("call", "terms", "grown", "clocks")

stream_fit <- function(fit, stream, setup, candidate) {
  new <- new_fit(candidate$model, setup, candidate, new_run(list(status = 0L, logz = 0)), 0)
  new$stream <- stream
  new$stream$shift <- 0
  new[c(FROM_CALL, CODING)] <- fit[c(FROM_CALL, CODING)]
  structure(new, class = c("sparsegp_stream", "sparsegp"))
}

#' @export
feed.sparsegp_stream <- function(fit, chunk) {
  fit$stream <- with_omitted(fit$stream, chunk)
  if (chunk_size(chunk) == 0L) fit else take_rows(with_new_levels(fit, chunk), chunk)
}

# Returns the fit with the levels of rows that it has read, some of which may be new.
with_new_levels <- function(fit, rows) {
  if (!is.null(rows$xlevels)) fit$xlevels <- rows$xlevels
  fit
}

# Returns the stream with the count of the rows that were left out. Either all rows have weights, or
# no row has.
with_omitted <- function(stream, chunk) {
  weighted <- !is.null(chunk$weights)
  refuse_if(stream$weighted && !weighted, "weights", "are missing, and earlier rows had them")
  refuse_if(weighted && !stream$weighted,
            "weights", "are given, and earlier rows did not have them",
            "Begin the stream with weights, of 1 if need be")
  stream$omitted <- stream$omitted + length(chunk$omitted)
  stream
}

# Returns the fit of the rows so far and these, whose inputs are coded. A stream with a clock takes
# them block by block, each of one step.
take_rows <- function(fit, rows, start = NULL) {
  fit <- note_moved(fit, rows$x)
  if (is.null(half_life_of(fit$method))) return(take_block(fit, rows, start))
  clock <- clock_of(fit, rows)
  for (block in split(seq_along(clock), clock)) {
    fit <- take_block(aged(fit, clock[block[1L]]), chunk_rows(rows, block), start)
    start <- NULL
  }
  fit
}

AGES <- 64 # steps of a half-life

# Returns the steps of rows on the clock of a stream that has one.
clock_of <- function(fit, rows) {
  time <- if (is.null(rows$time)) fit$n + seq_len(chunk_size(rows)) - 1 else rows$time
  steps_in_order(time, fit$method, fit$stream$clock)
}

# Returns the steps of times, which may not go back. last: the step before
steps_in_order <- function(time, method, last = NULL) {
  clock <- floor(AGES * time / unname(half_life_of(method)))
  if (!is.unsorted(c(last, clock))) return(clock)
  stop_sparsegp("newdata", "has times that go back", "Give rows in the order of their time")
}

# Returns the fit at a later step: its sites have decayed, or its function has moved.
aged <- function(fit, clock) {
  if (!is.null(fit$stream$clock) && clock > fit$stream$clock) {
    left <- 2^((fit$stream$clock - clock) / AGES)
    fit$state[[1L]][SITE_SUMS] <- if (is.null(fit$method$drift)) {
      lapply(fit$state[[1L]][SITE_SUMS], `*`, left)
    } else {
      drifted_sums(fit$state[[1L]]$S, fit$state[[1L]]$t, left)
    }
  }
  fit$stream$clock <- clock
  fit
}

SITE_SUMS <- c("S", "t")

# Returns the sums S and t of each process after its function, z ~ N(0, I) on the whitened basis,
# has moved to rho z + (1 - rho^2)^1/2 e. With q = 1 - rho^2 the covariance (I + S)^-1 becomes
# rho^2 (I + S)^-1 + q I = (I + S)^-1 (I + q S), and the mean rho (I + S)^-1 t, so
#   S' = rho^2 (I + q S)^-1 S,  t' = rho (I + q S)^-1 t
drifted_sums <- function(S, t, rho) {
  d <- nrow(S)
  for (c in seq_len(ncol(t))) {
    at <- d * (c - 1L) + seq_len(d)
    inverse <- chol2inv(chol(diag(d) + (1 - rho^2) * S[, at]))
    moved <- rho^2 * inverse %*% S[, at]
    S[, at] <- (moved + t(moved)) / 2
    t[, c] <- rho * inverse %*% t[, c]
  }
  list(S = S, t = t)
}

take_block <- function(fit, rows, start) {
  n <- chunk_size(rows)
  order <- if (fit$method$order == "random") sample.int(n) else seq_len(n)
  before <- fit$n
  more <- chunk_rows(rows, order)
  y <- read_more(fit, more$y, n, more$weights)
  problem <- problem_of_new_rows(fit, more$x, data_rows_of(fit, y, more$weights), more$offset,
                                 size = fit$stream$size, frozen = fit$stream$predefined)
  run <- engine_online(problem, fit$hyper$theta, c(fit$stream$record, fit$state[[1L]]), start)
  if (before == 0) refuse_widening(problem, fit$hyper$theta, run$status != 0L)
  check_run(list(status = run$status, logz = run$count[record_names() == "logz"]), fit$hyper)
  at <- rows_of_points(run$id, n_outputs(fit))
  new <- at > before & !fit$stream$predefined
  at[new] <- before + order[at[new] - before]
  run$id <- n_outputs(fit) * (at - 1) + (run$id - 1) %% n_outputs(fit) + 1
  after_rows(fit, run, n, unit_shift(fit, rows$y))
}

# Stores a run of C, which resumes from it; its sums stand where every fit on a basis has them.
keep_state <- function(fit, run) {
  fit$stream$record <- run[setdiff(STATE, SUMS)]
  fit$state <- list(run[SUMS])
  fit
}

# shift: of all rows' log evidence, from C's units
after_rows <- function(fit, run, n, shift) {
  count <- stats::setNames(run$count, record_names())
  fit <- keep_state(fit, run)
  fit$n <- fit$n + n
  fit$posterior <- list(basis = t(run$points), alpha = run$alpha, G = run$G, H = run$H)
  colnames(fit$posterior$basis) <- c(point_names(fit$scaling),
                                     rep(".component", component_columns(n_outputs(fit))))
  id <- if (!fit$stream$predefined) run$id
  fit["basis_rows"] <- list(basis_rows_from(id, fit$posterior$basis, n_outputs(fit)))
  fit$stream$shift <- fit$stream$shift + shift
  each <- fit$stream$shift / fit$n # of a row
  fit$log_evidence <- count[["logz"]] - fit$stream$shift + count[["skipped"]] * each
  fit$convergence <- list(converged = TRUE, fates = count[catalogue()$fates],
                          skipped = count[["skipped"]],
                          trace = stream_trace(run$trace, each))
  fit
}

# Returns the trace of a stream at up to 256 rows, evenly spaced: basis size, log evidence
# of the rows so far, mean log predictive density since the entry before, and the KL divergences of
# the row's step.
stream_trace <- function(trace, log_unit) {
  counted <- trace[6L, ] # a row that was skipped has no density
  log_evidence <- trace[3L, ] - counted * log_unit
  lpd <- diff(c(0, log_evidence)) / diff(c(0, counted))
  # list2DF(), as data.frame() would be a tenth of the time of a call with a few rows
  list2DF(list(row = trace[1L, ], size = trace[2L, ], log_evidence = log_evidence,
               lpd = replace(lpd, is.nan(lpd), NA), kl_new_old = trace[4L, ],
               kl_old_new = trace[5L, ]))
}
