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
  for (case in list(list(y ~ a + b, lik_gaussian(fixed(0.1))),
                    list(c ~ a + b, lik_probit(fixed(0.1))))) {
    alone <- made_fit(case[[1L]], case[[2L]])
    for (workers in c(2L, 4L)) {
      shared <- with_plan(workers, made_fit(case[[1L]], case[[2L]]))
      expect_same_fold(alone, shared)
    }
  }
})

test_that("what a lost worker had is done again", {
  slow_tier()
  skip_on_os("windows")
  alone <- made_fit(y ~ a + b, lik_gaussian(fixed(0.1)))
  flag <- tempfile()
  source <- made_source()
  inner <- source$reader
  main <- Sys.getpid()
  rows <- inner()$read
  deadly <- function(i) {
    if (i == 5 && Sys.getpid() != main && !file.exists(flag)) {
      file.create(flag)
      tools::pskill(Sys.getpid(), 9L)
    }
    rows(i)
  }
  environment(deadly) <- list2env(list(rows = rows, flag = flag, main = main), parent = baseenv())
  shared <- with_plan(2L, made_fit(y ~ a + b, lik_gaussian(fixed(0.1)),
                                   row_source(deadly, chunks = 9L)))
  expect_true(file.exists(flag))
  expect_same_fold(alone, shared)
})
