# Long fits that are killed and begun again end with the numbers of one that was not.

# R in a process of its own: `task` in it gets `file`, a checkpoint's name; what it returns is
# saved. after: seconds until it is killed, Inf: never.
in_child <- function(task, file, answer, after = Inf) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  helper <- normalizePath(test_path("helper-rows.R"))
  writeLines(c(paste0(".libPaths(", deparse1(.libPaths()), ")"), "library(sparsegp)",
               "options(sparsegp.checkpoint = 0)", paste0("source(", deparse(helper), ")"),
               paste0("task <- ", paste(deparse(task), collapse = "\n")),
               paste0("saveRDS(task(", deparse(file), "), ", deparse(answer), ")")), script)
  rscript <- file.path(R.home("bin"), "Rscript")
  log <- tempfile()
  pid <- system(paste(shQuote(rscript), shQuote(script), ">", shQuote(log), "2>&1 & echo $!"),
                intern = TRUE)
  began <- proc.time()[["elapsed"]]
  is_there <- function() suppressWarnings(system(paste("kill -0", pid, "2>/dev/null"))) == 0L
  killed <- FALSE
  while (is_there()) {
    spent <- proc.time()[["elapsed"]] - began
    killed <- spent > after
    if (killed) system(paste("kill -9", pid))
    if (spent > 120) stop("the child does not end: ", paste(readLines(log), collapse = "\n"))
    Sys.sleep(0.02)
  }
  killed && !file.exists(answer)
}

# Killed at random moments, ten at most, then left alone. A machine that is busy takes longer: the
# moments are shares of what a child takes that is not disturbed.
after_kills <- function(task) {
  skip_on_os("windows")
  file <- tempfile("state-")
  answer <- tempfile(fileext = ".rds")
  on.exit(unlink(c(file, answer)))
  whole <- system.time(in_child(task, file, answer))[["elapsed"]]
  unlink(answer)
  kills <- 0L
  for (moment in stats::runif(10L, 0.3, 0.8) * whole) {
    if (!file.exists(answer)) kills <- kills + in_child(task, file, answer, moment)
  }
  if (!file.exists(answer)) in_child(task, file, answer)
  leftover <- list.files(dirname(file), basename(file))
  list(answer = readRDS(answer), kills = kills, leftover = leftover)
}

# Chunks that take their time, so that there is something to kill.
slow_fit <- function(checkpoint) {
  d <- source_data()
  source <- row_source(function(i) {
    Sys.sleep(0.05)
    d[seq(50 * i - 49, 50 * i), ]
  }, chunks = 6)
  fit <- source_fit(c ~ a + b, source, lik_probit(fixed(0.1)), basis = source_points(d)[1:9, ],
                    checkpoint = checkpoint)
  fit[c("state", "log_evidence", "n")]
}

slow_stream <- function(checkpoint) {
  d <- source_data()
  d <- d[!is.na(d$a) & !is.na(d$y), ]
  fit <- sparsegp(y ~ a + b, d[1:60, ], kernel = kernel_rbf(1.5, 1), learn = FALSE,
                  method = method_online(size = 10, pilot = 40))
  source <- row_source(function(i) {
    Sys.sleep(0.1)
    d[seq(10 * i + 51, 10 * i + 60), ]
  }, chunks = 20)
  fit <- update(fit, source, checkpoint = checkpoint)
  fit[c("state", "log_evidence", "n")]
}

test_that("a fit of a source that is killed goes on with the same numbers", {
  slow_tier()
  undisturbed <- slow_fit(NULL)
  set.seed(3)
  found <- after_kills(slow_fit)
  expect_gt(found$kills, 0L)
  expect_identical(found$answer, undisturbed)
  expect_length(found$leftover, 0L)
})

test_that("an update that is killed goes on with the same numbers", {
  slow_tier()
  undisturbed <- slow_stream(NULL)
  set.seed(4)
  found <- after_kills(slow_stream)
  expect_gt(found$kills, 0L)
  expect_identical(found$answer, undisturbed)
  expect_length(found$leftover, 0L)
})

test_that("learning from all rows that is broken off goes on with the same numbers", {
  slow_tier()
  at <- seq_len(10500L)
  d <- data.frame(a = 2 * sin(7 * at))
  d$c <- ifelse(sin(2 * d$a) + cos(13 * at) > 0, "yes", "no")
  reads <- 0L
  fit_until <- function(most, checkpoint = NULL) {
    reads <<- 0L
    source <- row_source(function(i) {
      reads <<- reads + 1L
      if (reads > most) stop("the power is gone")
      d[seq(5250L * (i - 1L) + 1L, 5250L * i), , drop = FALSE]
    }, chunks = 2L)
    sparsegp(c ~ a, source, kernel = kernel_rbf(), method = method_ep(size = 6),
             learn = learn_control(rows = Inf), checkpoint = checkpoint)
  }
  undisturbed <- fit_until(Inf)
  file <- tempfile("state-")
  needed <- reads
  for (most in c(15L, 40L, 60L)) expect_error(fit_until(most, file), "power")
  fit <- fit_until(Inf, file)
  expect_lt(reads, needed)
  expect_identical(fit[c("state", "log_evidence", "hyper")],
                   undisturbed[c("state", "log_evidence", "hyper")])
  expect_length(list.files(dirname(file), basename(file)), 0L)
})

test_that("a checkpoint of something else is refused, and half a file is none", {
  file <- tempfile("state-")
  on.exit(unlink(file))
  mark <- open_checkpoint(file, list(n = 1))
  mark$write("so far")
  expect_identical(open_checkpoint(file, list(n = 1))$state, "so far")
  expect_error(open_checkpoint(file, list(n = 2)), "something else", class = "sparsegp_error")
  expect_length(list.files(dirname(file), basename(file)), 1L) # nothing half written
  writeLines("no state", file)
  expect_error(open_checkpoint(file, list(n = 1)), "something else", class = "sparsegp_error")
  mark$done()
  expect_false(file.exists(file))
  expect_error(open_checkpoint(file.path(file, "x"), list()), "folder", class = "sparsegp_error")
})

test_that("an update goes on where it was broken off", {
  d <- source_data()
  fit <- source_fit(y ~ a + b, d[1:100, ], lik_gaussian(fixed(0.1)), basis = source_points(d))
  reads <- 0L
  rows <- function(most) {
    row_source(function(i) {
      reads <<- reads + 1L
      if (i > most) stop("the power is gone")
      d[seq(50L * i + 51L, 50L * i + 100L), ]
    }, chunks = 4L)
  }
  file <- tempfile("state-")
  old <- options(sparsegp.checkpoint = 0)
  on.exit(options(old))
  expect_error(update(fit, rows(2L), checkpoint = file), "power")
  expect_true(file.exists(file))
  more <- update(fit, rows(4L), checkpoint = file)
  expect_same_fold(more, update(fit, d[101:300, ]))
  expect_false(file.exists(file))
})
