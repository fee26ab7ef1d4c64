# Shows how far a fit is: a line in an interactive session, else lines for every evaluation.

PATIENCE <- 5 # seconds before a line appears by itself

# ---- The line of a fit ----

# A fit has stages, in which EP is run. Every call of C that runs it notes that (engine-call.R), so
# nothing has to be handed down. `current` is the fit that is being made: an environment of
#   stage     what is being done, in words; NULL before the first stage
#   runs      of EP in this stage so far
#   words     messages for after the line
#   display   list(show(stage, runs), close()); see line_display()
PROGRESS <- new.env(parent = emptyenv())

# Opens the line of a fit. A fit within a fit has no line: what is returned then shows nothing.
open_progress <- function(display) {
  current <- list2env(list(stage = NULL, runs = 0L, words = character(), display = display))
  if (is.null(PROGRESS$current)) PROGRESS$current <- current else current$display <- NO_DISPLAY
  current
}

# Closes a line, after an error, too.
close_progress <- function(opened) {
  if (!identical(PROGRESS$current, opened)) return(invisible())
  PROGRESS$current <- NULL
  opened$display$close()
  for (words in opened$words) message(words)
}

begin_stage <- function(stage) {
  current <- PROGRESS$current
  if (is.null(current)) return(invisible())
  current$stage <- stage
  current$runs <- 0L
  current$display$show(stage, 0L)
}

# Notes a run of EP.
note_run <- function() {
  current <- PROGRESS$current
  if (is.null(current)) return(invisible())
  current$runs <- current$runs + 1L
  current$display$show(current$stage, current$runs)
}

NO_DISPLAY <- list(show = function(stage, runs) invisible(), close = function() invisible())

# A line that is written over, at once or without `verbose` after some seconds. clock: () -> seconds
line_display <- function(verbose, shows = interactive(), patience = PATIENCE,
                         clock = function() proc.time()[["elapsed"]]) {
  if (!shows) return(NO_DISPLAY)
  began <- clock()
  width <- 0L
  write_over <- function(text) {
    cat("\r", formatC(text, width = -width), sep = "", file = stderr())
    width <<- max(width, nchar(text))
  }
  list(
    show = function(stage, runs) {
      late <- clock() - began >= patience
      if (is.null(stage) || !verbose && !late) return(invisible())
      write_over(paste0(stage, if (runs) paste0(": ", counted(runs, "run"), " of EP")))
    },
    close = function() if (width > 0L) cat("\n", file = stderr())
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

# Returns functions that report sweeps over many rows: share(done) within one, a proportion of the
# rows; sweep(count, logz, change, workers) after each, see traffic_record(); evaluation(logz) after
# those sweeps that make one evaluation of a search. Without a bar there is a message with the
# proportion every PATIENCE seconds.
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
