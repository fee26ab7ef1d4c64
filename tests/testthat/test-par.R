# Chunks of rows on threads, by themselves: par.c compiled with a host that counts (par-probe.c).

# The probe as a loaded library: list(file, run, threads_for).
new_probe <- function(openmp = TRUE) {
  skip_on_cran()
  skip_on_os("windows")
  sources <- normalizePath(source_folder("src"))
  folder <- tempfile("probe")
  dir.create(folder)
  file.copy(test_path("par-probe.c"), folder)
  flag <- if (openmp) "$(SHLIB_OPENMP_CFLAGS)" else ""
  old <- setwd(folder)
  on.exit(setwd(old))
  writeLines(c(paste0("PKG_CPPFLAGS = -DR_NO_REMAP -I'", sources, "'"),
               paste("PKG_CFLAGS =", flag), paste("PKG_LIBS =", flag)), "Makevars")
  said <- suppressWarnings(system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "par-probe.c"),
                                   stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(said, "status"))) skip("no compiler")
  file <- file.path(folder, paste0("par-probe", .Platform$dynlib.ext))
  dll <- dyn.load(file)
  list(
    file = file,
    run = function(n = 200, threads = 2, jump = 0, grain = 4, want = 5, more = 0, from_row = 0,
                   busy = 100, inner = 0, products = FALSE, again = 0, bad = integer(n),
                   later = busy) {
      options <- c(threads, jump, grain, want, more, from_row, busy, inner, products, again, later)
      out <- .Call(dll$probe, as.integer(bad), as.integer(options))
      list(value = out[[1]], calls = out[[2]], status = out[[3]][1], ticks = out[[3]][2],
           elsewhere = out[[3]][3])
    },
    threads_for = function(wanted) .Call(dll$threads_for, as.integer(wanted))
  )
}

# Does this OpenMP lend a second thread?
has_threads <- function(probe) probe$threads_for(2) > 1L

test_that("all rows are done once, by several threads where there is work for them", {
  probe <- new_probe()
  for (threads in 1:3) {
    for (n in c(0, 1, 4, 5, 203)) {
      run <- probe$run(n, threads)
      expect_identical(run$value, (seq_len(n) - 1)^2)
      expect_identical(run$calls, rep(1, n))
      expect_identical(run$status, 0)
    }
  }
  expect_identical(probe$run(threads = 1)$elsewhere, 0)
  skip_if_not(has_threads(probe), "one thread only")
  # of five runs, as on a busy machine the second thread may come when all is done
  expect_gt(max(replicate(5, probe$run(threads = 2)$elsewhere)), 0)
})

test_that("short loops, loops over products and loops in a body stay on their thread", {
  memory_tier()
  probe <- new_probe()
  # 50 chunks of next to nothing; on a busy machine the first one may be held up, hence of five runs
  elsewhere <- replicate(5, probe$run(busy = 0, grain = 4)$elsewhere)
  expect_identical(min(elsewhere), 0)
  expect_identical(probe$run(products = TRUE)$elsewhere, 0) # this host's BLAS has threads
  expect_identical(probe$run(inner = 9)$value, (0:199)^2)
})

test_that("a chunk that wants more memory than the first is done again, with the same numbers", {
  memory_tier()
  probe <- new_probe()
  skip_if_not(has_threads(probe), "one thread only")
  run <- probe$run(more = 1000, from_row = 102, grain = 4)
  expect_identical(run$value, (0:199)^2)
  expect_identical(run$status, 0)
  # rows 100 and 101 (from 0) were done when row 102 of their chunk found no memory
  expect_identical(which(run$calls == 2), 101:102)
})

test_that("a loop that is done again knows what its chunks want, and does them all each time", {
  slow_tier()
  probe <- new_probe()
  for (threads in 1:3) {
    run <- probe$run(threads = threads, products = TRUE, again = 4, more = 1000, from_row = 102)
    expect_identical(run$value, (0:199)^2)
    expect_identical(run$status, 0)
    expect_true(all(run$calls >= 5) && sum(run$calls > 5) <= 2)
  }
  expect_identical(run$calls[-(101:102)], rep(5, 198))
})

test_that("a loop with more to do than the first time has other threads again", {
  memory_tier()
  probe <- new_probe()
  skip_if_not(has_threads(probe), "one thread only")
  grown <- function() probe$run(busy = 0, later = 100, products = TRUE, again = 3)$elsewhere
  # of five runs, as on a busy machine the second thread may come when all is done
  expect_gt(max(replicate(5, grown())), 0)
})

test_that("the status is that of the first chunk that failed, and all chunks are done", {
  memory_tier()
  probe <- new_probe()
  bad <- integer(200)
  bad[c(60, 61, 150)] <- c(0L, 2L, 1L)
  for (threads in 1:3) {
    run <- probe$run(threads = threads, bad = bad)
    expect_identical(run$status, -2)
    expect_identical(run$value, (0:199)^2)
  }
})

test_that("the host ticks while a loop runs, and may jump out of it", {
  slow_tier()
  probe <- new_probe()
  for (threads in 1:2) {
    # 0.2 s or more on two threads, and a tick every 0.05 s
    expect_gte(probe$run(400, threads, busy = 1000)$ticks, 3)
    expect_error(probe$run(400, threads, jump = 2, busy = 1000), "jumped at tick 2")
    expect_identical(probe$run(threads = threads)$value, (0:199)^2)
  }
})

test_that("without OpenMP loops run on the calling thread", {
  memory_tier()
  probe <- new_probe(openmp = FALSE)
  run <- probe$run(threads = 2)
  expect_identical(run[c("value", "status", "elsewhere")],
                   list(value = (0:199)^2, status = 0, elsewhere = 0))
  expect_identical(probe$threads_for(4), 1L)
})

test_that("two threads are used at most unless more are asked for, and never more than the limit", {
  memory_tier()
  probe <- new_probe()
  expect_lte(probe$threads_for(0), 2L)
  skip_if_not(has_threads(probe), "one thread only")
  expect_identical(probe$threads_for(3), 3L)
  # OpenMP reads its limit when it is loaded
  ask <- sprintf("cat(.Call(dyn.load('%s')$threads_for, 3L))", probe$file)
  said <- function(limit) {
    system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(ask)), stdout = TRUE,
            env = paste0("OMP_THREAD_LIMIT=", limit))
  }
  expect_identical(c(said(1), said(2)), c("1", "2"))
})

test_that("what options(sparsegp.threads =) says is asked where there are threads", {
  memory_tier()
  skip_if_not(has_threads(new_probe()), "one thread only")
  x <- seq(0, 1, length.out = 3000L)
  expect_error(with_threads("two", sparsegp(x, sin(6 * x), lik_student(), basis = 1:20,
                                            learn = FALSE)),
               "sparsegp.threads", class = "sparsegp_error")
})
