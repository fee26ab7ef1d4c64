# What learning says of itself while it goes on.

# An observer of evaluations: step(value, ok, theta, run) after each, close() at the end or when
# something has gone wrong, done(objective) after an end that is not.
SILENT <- list(step = function(value, ok, theta, run) invisible(),
               close = function() invisible(), done = function(objective) invisible())

# most: the length of the bar, in evaluations; a search that takes more leaves it full. Who sits
# before R sees a bar by itself where it takes longer than PATIENCE.
new_progress <- function(verbose, most, bar = interactive()) {
  if (!bar) return(if (verbose) progress_lines() else SILENT)
  if (verbose) progress_bar(most) else progress_later(most)
}

PATIENCE <- 5 # seconds

progress_later <- function(most, patience = PATIENCE) {
  began <- proc.time()[["elapsed"]]
  count <- 0L
  shown <- SILENT
  late <- FALSE
  list(
    step = function(value, ok, theta, run) {
      count <<- count + 1L
      if (!late && proc.time()[["elapsed"]] - began >= patience) {
        late <<- TRUE
        shown <<- progress_bar(most, count - 1L)
      }
      shown$step(value, ok, theta, run)
    },
    close = function() shown$close(), done = function(objective) shown$done(objective)
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
    close = SILENT$close, done = SILENT$done
  )
}

progress_bar <- function(most, count = 0L) {
  bar <- utils::txtProgressBar(max = most, style = 3, file = stderr())
  list(
    step = function(value, ok, theta, run) {
      count <<- count + 1L
      utils::setTxtProgressBar(bar, min(count, most))
    },
    close = function() close(bar),
    done = function(objective) {
      utils::setTxtProgressBar(bar, most)
      close(bar)
      message(sprintf("log evidence + log prior %.6g after %s", objective,
                      counted(count, "evaluation")))
    }
  )
}

# learn(progress), and whatever happens in it `progress` is closed, once.
with_progress <- function(progress, learn) {
  open <- TRUE
  on.exit(if (open) progress$close())
  learned <- learn(progress)
  open <- FALSE
  progress$done(max(learned$record$objective))
  learned
}

# Of sweeps over many rows: share(done) within one, a share of the rows; sweep(count, logz, change)
# after each; evaluation(logz) after several that are one for a search. Where there is no bar a
# share is told when the last word was PATIENCE ago.
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
    sweep = function(count, logz, change) {
      at <<- paste("sweep", count + 1L)
      say(sprintf("sweep %d of %.0f rows: log evidence %.8g, change %.2g", count, rows, logz,
                  change))
    },
    evaluation = function(logz) say(sprintf("log evidence of all rows %.8g", logz)),
    close = close_bar
  )
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
