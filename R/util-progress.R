# Shows how far a fit is: a bar in an interactive session, else lines for every evaluation.

PATIENCE <- 5 # seconds before a bar appears by itself

# ---- The bar of a fit ----

# A fit has stages, and a stage has an expected amount of work, in multiplications. Every call of C
# notes what it took (engine.R), so nothing has to be handed down. `current` is the fit that is
# being made: an environment of
#   from, to     the fractions of the whole at which the stage begins and ends
#   work, done   of the stage: expected, and so far
#   shown        the largest fraction shown; what the display is given never goes backwards
#   words        messages for after the bar
#   visible      has it a display at all?
#   display      list(show(fraction), close()); see bar_display()
PROGRESS <- new.env(parent = emptyenv())

# Opens the bar of a fit. A fit within a fit has no bar: what is returned then shows nothing.
open_bar <- function(display) {
  current <- list2env(list(from = 0, to = 0, work = 0, done = 0, shown = 0, words = character(),
                           display = display, visible = !identical(display, NO_DISPLAY)))
  if (is.null(PROGRESS$current)) PROGRESS$current <- current else current$display <- NO_DISPLAY
  current
}

# Closes a bar, after an error, too.
close_bar <- function(bar) {
  if (!identical(PROGRESS$current, bar)) return(invisible())
  PROGRESS$current <- NULL
  bar$display$close()
  for (words in bar$words) message(words)
}

# Begins a stage. work: of it, and of all that is to come after it; not evaluated if there is
# nothing to show.
begin_stage <- function(work) {
  current <- PROGRESS$current
  if (!isTRUE(current$visible)) return(invisible())
  current$from <- current$to
  current$to <- current$from + (1 - current$from) * work[[1L]] / sum(work)
  current$work <- work[[1L]]
  current$done <- 0
  show_fraction(current, current$from)
}

# Notes work that was done; evaluates it as begin_stage() does.
note_work <- function(work) {
  current <- PROGRESS$current
  if (!isTRUE(current$visible)) return(invisible())
  current$done <- current$done + work
  # in proportion up to three fifths; then ever slower, as more may come than was expected
  fraction <- current$done / max(current$work, current$done + 0.4 * current$work, 1)
  show_fraction(current, current$from + (current$to - current$from) * fraction)
}

show_fraction <- function(current, fraction) {
  current$shown <- max(current$shown, fraction)
  current$display$show(current$shown)
}

NO_DISPLAY <- list(show = function(fraction) invisible(), close = function() invisible())

# A bar at once, or without `verbose` after some seconds. clock: () -> seconds
bar_display <- function(verbose, bar = interactive(), patience = PATIENCE,
                        clock = function() proc.time()[["elapsed"]]) {
  if (!bar) return(NO_DISPLAY)
  began <- clock()
  shown <- NULL
  list(
    show = function(fraction) {
      if (is.null(shown) && !verbose && (fraction >= 1 || clock() - began < patience)) {
        return(invisible())
      }
      if (is.null(shown)) shown <<- utils::txtProgressBar(style = 3, file = stderr())
      utils::setTxtProgressBar(shown, fraction)
    },
    close = function() if (!is.null(shown)) close(shown)
  )
}

# ---- Observers of evaluations ----

# An observer of evaluations: step(value, ok, theta, run) after each, done(objective) at the end.
SILENT <- list(step = function(value, ok, theta, run) invisible(),
               done = function(objective) invisible())

new_progress <- function(verbose, bar = interactive()) {
  if (!verbose) SILENT else if (bar) progress_summary() else progress_lines()
}

# A line at the end.
progress_summary <- function() {
  count <- 0L
  list(
    step = function(value, ok, theta, run) count <<- count + 1L,
    done = function(objective) {
      words <- sprintf("log evidence + log prior %.6g after %s", objective,
                       counted(count, "evaluation"))
      current <- PROGRESS$current
      if (is.null(current)) message(words) else current$words <- c(current$words, words)
    }
  )
}

progress_lines <- function() {
  count <- 0L
  list(
    step = function(value, ok, theta, run) {
      count <<- count + 1L
      message(sprintf("%4d  log evidence + log prior %.6g%s", count, value,
                      if (ok) "" else "  (failed)"))
    },
    done = SILENT$done
  )
}

# ---- Rows that are read in chunks ----

# Of sweeps over many rows: share(done) within one, a share of the rows; sweep(count, logz, change,
# workers) after each, see traffic_record(); evaluation(logz) after several that are one for a
# search. Where there is no bar a share is told when the last word was PATIENCE ago.
sweep_progress <- function(verbose, rows, bar = interactive(), patience = PATIENCE) {
  if (!verbose) {
    silent <- function(...) invisible()
    return(list(share = silent, sweep = silent, evaluation = silent, close = silent))
  }
  shown <- NULL
  at <- "first pass"
  last <- proc.time()[["elapsed"]]
  say <- function(...) {
    last <<- proc.time()[["elapsed"]]
    message(...)
  }
  close_bar <- function() {
    if (!is.null(shown)) close(shown)
    shown <<- NULL
  }
  list(
    share = function(done) {
      late <- proc.time()[["elapsed"]] - last >= patience
      if (!bar && late && done < 1) say(at, ": ", percent(round(done, 2)), " of the rows")
      if (!bar) return(invisible())
      if (is.null(shown)) shown <<- utils::txtProgressBar(style = 3, file = stderr())
      utils::setTxtProgressBar(shown, done)
      if (done >= 1) close_bar()
    },
    sweep = function(count, logz, change, workers = NULL) {
      at <<- paste("sweep", count + 1L)
      say(sprintf("sweep %d of %.0f rows: log evidence %.8g, change %.2g%s", count, rows, logz,
                  change, if (is.null(workers)) "" else paste0("; ", worker_words(workers))))
    },
    evaluation = function(logz) say(sprintf("log evidence of all rows %.8g", logz)),
    close = close_bar
  )
}

# Returns words for traffic_record().
worker_words <- function(workers) {
  sprintf("%s, %.3g kB to and from them a read", counted(workers$count, "worker"),
          workers$read / 1000)
}

# After chunks of rows that are seen once: how many there were, and the evidence.
chunk_progress <- function(verbose, patience = PATIENCE) {
  last <- proc.time()[["elapsed"]]
  function(count, logz) {
    if (!verbose || proc.time()[["elapsed"]] - last < patience) return(invisible())
    last <<- proc.time()[["elapsed"]]
    message(sprintf("%.0f rows: log evidence %.8g", count, logz))
  }
}
