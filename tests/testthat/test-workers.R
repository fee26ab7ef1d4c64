# Chunks of a source read and summed by workers.

with_plan <- function(workers, code) {
  skip_if_not_installed("future")
  old <- future::plan("multisession", workers = workers,
                      rscript_libs = .libPaths())
  on.exit(future::plan(old))
  force(code)
}

# A source that workers can read: all that its function needs is in it.
made_source <- function(chunks = 9L) {
  rows <- function(i) {
    at <- seq(40 * i - 39, 40 * i - if (i %% 2) 10 else 0)
    d <- data.frame(a = 4 * (at * 0.7548777) %% 1 - 2, b = 6 * (at * 0.5698403) %% 1)
    d$y <- sin(2 * d$a) + 0.3 * cos(17 * at)
    d$c <- ifelse(d$y + cos(13 * at) > 0, "yes", "no")
    d
  }
  environment(rows) <- baseenv()
  row_source(rows, chunks = chunks)
}

made_fit <- function(formula, lik, source = made_source()) {
  points <- expand.grid(a = c(-1.5, -0.5, 0.5, 1.5), b = c(1, 4))
  source_fit(formula, source, lik, basis = points)
}

test_that("the numbers do not depend on how many workers there are", {
  slow_tier()
  fits <- function() {
    list(made_fit(y ~ a + b, lik_gaussian(fixed(0.1))), made_fit(c ~ a + b, lik_probit(fixed(0.1))))
  }
  alone <- fits()
  for (workers in c(2L, 4L)) {
    shared <- with_plan(workers, fits()) # workers take long to start
    for (k in 1:2) expect_same_fold(alone[[k]], shared[[k]])
  }
})

# Chunk i kills the worker that reads it for the `time`th time.
deadly_source <- function(i, time, log) {
  rows <- made_source()$reader()$read
  deadly <- function(chunk) {
    if (chunk == i && Sys.getpid() != main) {
      cat(".", file = log, append = TRUE)
      if (file.size(log) == time) tools::pskill(Sys.getpid(), 9L)
    }
    rows(chunk)
  }
  environment(deadly) <- list2env(list(rows = rows, i = i, time = time, log = log,
                                       main = Sys.getpid()), parent = baseenv())
  row_source(deadly, chunks = 9L)
}

test_that("what lost workers had is done again, wherever they were lost", {
  slow_tier()
  skip_on_os("windows")
  alone <- made_fit(c ~ a + b, lik_probit(fixed(0.1)))
  # the first chunk of a worker, one in the middle, the last; in every sweep that may be
  deaths <- data.frame(chunk = c(1L, 4L, 6L, 9L), time = c(1L, 2L, 3L, 1L))
  for (k in seq_len(nrow(deaths))) {
    log <- tempfile()
    source <- deadly_source(deaths$chunk[k], deaths$time[k], log)
    shared <- with_plan(2L, made_fit(c ~ a + b, lik_probit(fixed(0.1)), source))
    expect_gte(file.size(log), deaths$time[k]) # somebody was killed
    expect_same_fold(alone, shared)
  }
})
