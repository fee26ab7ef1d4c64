# The progress of a fit: one line, whose stages follow each other.

r_code_alone()

# Evaluates `make` under a line, as fits are made.
with_line <- function(display, make) {
  opened <- open_progress(display)
  on.exit(close_progress(opened))
  make
}

# Every stage and count that a display is given while `make` is evaluated: a data frame.
shown_while <- function(make) {
  stage <- character()
  runs <- integer()
  closed <- 0L
  display <- list(show = function(now, count) {
    stage <<- c(stage, now)
    runs <<- c(runs, count)
  }, close = function() closed <<- closed + 1L)
  with_line(display, suppressWarnings(make))
  expect_identical(closed, 1L)
  data.frame(stage, runs)
}

STAGES <- c("choosing latent functions", "choosing kernel and scales", "learning hyperparameters",
            "fitting all observations", "integrating over hyperparameters")

# Stages come in their order, each begins at 0 and counts on by one.
expect_stages <- function(seen, label, wanted) {
  run <- rle(seen$stage)
  expect_identical(run$values, intersect(STAGES, run$values), label = label)
  expect_true(all(wanted %in% run$values), label = label)
  expect_identical(seen$runs, sequence(run$lengths) - 1L, label = label)
}

progress_rows <- function(n, classes = 3L) {
  at <- seq_len(n)
  d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 6 * (at * 0.5698403) %% 1)
  d$y <- sin(2 * d$a) + cos(d$b) + 0.3 * cos(17 * at)
  d$c <- factor(1L + (at * 7L + round(3 * d$a)) %% classes)
  d$two <- factor(d$y + cos(13 * at) > 0)
  d
}

test_that("the line has every stage of a fit by every strategy, in order", {
  slow_tier()
  d <- progress_rows(80L)
  d$grade <- cut(d$y, c(-Inf, -0.5, 0.5, Inf), ordered_result = TRUE)
  structure <- STAGES[c(2L, 4L)]
  given <- STAGES[3:4]
  cases <- list(
    categories = list(function() sparsegp(grade ~ a + b, d), STAGES[c(1L, 2L, 4L)]),
    numbers = list(function() sparsegp(y ~ a + b, d), structure),
    labels = list(function() sparsegp(two ~ a + b, d), structure),
    classes = list(function() sparsegp(c ~ a + b, d), structure),
    given = list(function() sparsegp(y ~ a + b, d, kernel = kernel_rbf()), given),
    basis = list(function() sparsegp(y ~ a + b, d, basis = d[1:9, ]), structure),
    sparse = list(function() sparsegp(two ~ a + b, d, method = method_ep(12)), structure),
    ivm = list(function() sparsegp(two ~ a + b, d, method = method_ivm(12)), structure),
    stream = list(function() sparsegp(y ~ a + b, d, method = method_online(10, pilot = 50)),
                  structure)
  )
  for (name in names(cases)) {
    expect_stages(shown_while(cases[[name]][[1L]]()), name, cases[[name]][[2L]])
  }
})

test_that("nothing is learned without a stage, and runs are counted", {
  seen <- shown_while(sparsegp(y ~ a, progress_rows(40L), kernel = kernel_rbf(1, 1), learn = FALSE))
  expect_identical(seen$stage, rep("fitting all observations", 2L))
  expect_identical(seen$runs, 0:1)
})

test_that("an error closes the line, and a fit within a fit has none", {
  closed <- 0L
  display <- list(show = function(stage, runs) NULL, close = function() closed <<- closed + 1L)
  expect_error(with_line(display, with_line(display, stop("no"))), "no")
  expect_identical(closed, 1L)
  expect_null(PROGRESS$current)
  expect_silent(note_run()) # nobody looks
})

test_that("in an interactive session the line comes after some seconds, or at once with verbose", {
  time <- 0
  shown <- function(verbose, seconds, ...) {
    time <<- 0
    text <- capture.output(type = "message", {
      display <- line_display(verbose, clock = function() time, ...)
      display$show(NULL, 3L) # before the first stage
      for (runs in c(1L, 5L, 9L)) {
        display$show("learning", runs)
        time <<- time + seconds
      }
      display$close()
    })
    paste(text, collapse = "")
  }
  expect_identical(shown(FALSE, 1, shows = TRUE), "")
  expect_match(shown(FALSE, 6, shows = TRUE), "\r *learning: 5 runs of EP\rlearning: 9 runs of EP")
  expect_no_match(shown(FALSE, 6, shows = TRUE), "1 run of EP")
  expect_match(shown(TRUE, 0, shows = TRUE), "learning: 1 run of EP *\r")
  expect_identical(shown(TRUE, 6, shows = FALSE), "")
  expect_identical(new_progress(FALSE), SILENT)
})
