# Long fits that are killed and begun again end with the numbers of one that was not.

r_code_alone()

# R in a process of its own: `task` in it gets `file`, a checkpoint's name; what it returns is
# saved. dies: at which chunk that it reads it is killed, and how many seconds after (NULL: never).
in_child <- function(task, file, answer, dies = NULL) {
  script <- tempfile(fileext = ".R")
  log <- tempfile()
  on.exit(unlink(c(script, log)))
  helper <- normalizePath(test_path("helper-rows.R"))
  writeLines(c(paste0(".libPaths(", deparse1(.libPaths()), ")"), "library(sparsegp)",
               "options(sparsegp.checkpoint = 0)", paste0("source(", deparse(helper), ")"),
               paste0("dies <- ", deparse1(dies)),
               paste0("one_read <- ", paste(deparse(read_and_die), collapse = "\n")),
               paste0("task <- ", paste(deparse(task), collapse = "\n")),
               paste0("saveRDS(task(", deparse(file), "), ", deparse(answer), ")")), script)
  rscript <- file.path(R.home("bin"), "Rscript")
  system2(rscript, shQuote(script), stdout = log, stderr = log)
  if (is.null(dies) && !file.exists(answer)) {
    stop("the child failed: ", paste(readLines(log), collapse = "\n"))
  }
  !file.exists(answer)
}

# What a task of these tests calls for each chunk. In a child: the chunk takes its time, and who is
# to be killed is so in the middle of one or soon after.
one_read <- function() NULL

read_and_die <- function() {
  reads <<- get0("reads", ifnotfound = 0) + 1
  if (identical(reads, dies[["read"]])) {
    system(sprintf("sleep %g; kill -9 %d", dies[["after"]], Sys.getpid()), wait = FALSE)
  }
  Sys.sleep(0.05)
}

# Killed ten times at random places, then left alone.
after_kills <- function(task) {
  skip_on_os("windows")
  skip_on_covr() # what is killed leaves half of a file of lines, which covr cannot read
  file <- tempfile("state-")
  answer <- tempfile(fileext = ".rds")
  on.exit(unlink(c(file, answer)))
  kills <- 0L
  for (i in 1:10) {
    dies <- c(read = sample(3, 1), after = stats::runif(1, 0, 0.1))
    if (!file.exists(answer)) kills <- kills + in_child(task, file, answer, dies)
  }
  if (!file.exists(answer)) in_child(task, file, answer)
  leftover <- list.files(dirname(file), basename(file))
  list(answer = readRDS(answer), kills = kills, leftover = leftover)
}

chunked_fit <- function(checkpoint) {
  d <- source_data()
  source <- row_source(function(i) {
    one_read()
    d[seq(50 * i - 49, 50 * i), ]
  }, chunks = 6)
  fit <- source_fit(c ~ a + b, source, lik_probit(fixed(0.1)), basis = source_points(d)[1:9, ],
                    control = gp_control(checkpoint = checkpoint))
  fit[c("state", "log_evidence", "n")]
}

chunked_stream <- function(checkpoint) {
  d <- source_data()
  d <- d[!is.na(d$a) & !is.na(d$y), ]
  fit <- sparsegp(y ~ a + b, d[1:60, ], kernel = kernel_rbf(1.5, 1), learn = FALSE,
                  method = method_online(size = 10, pilot = 40))
  source <- row_source(function(i) {
    one_read()
    d[seq(5 * i + 56, 5 * i + 60), ]
  }, chunks = 40)
  fit <- update(fit, source, checkpoint = checkpoint)
  fit[c("state", "log_evidence", "n")]
}

expect_survival <- function(task, seed) {
  undisturbed <- task(NULL)
  set.seed(seed)
  found <- after_kills(task)
  expect_gt(found$kills, 4L)
  expect_identical(found$answer, undisturbed)
  expect_length(found$leftover, 0L)
}

test_that("a fit of a source that is killed goes on with the same numbers", {
  slow_tier()
  expect_survival(chunked_fit, 3)
})

test_that("an update that is killed goes on with the same numbers", {
  slow_tier()
  expect_survival(chunked_stream, 4)
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
             learn = learn_control(rows = Inf), control = gp_control(checkpoint = checkpoint))
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
  expect_error(open_checkpoint(file, list(n = 2)), "another fit", class = "sparsegp_error")
  expect_length(list.files(dirname(file), basename(file)), 1L) # nothing half written
  writeLines("no state", file)
  expect_error(open_checkpoint(file, list(n = 1)), "another fit", class = "sparsegp_error")
  mark$done()
  expect_false(file.exists(file))
  expect_error(open_checkpoint(file.path(file, "x"), list()), "folder", class = "sparsegp_error")
})

test_that("an update goes on where it was broken off", {
  memory_tier()
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
