# Loops over rows on several threads: the same numbers to the last bit, and no thread where there
# can be none.

# Rows enough for tilts of all to be worth a second thread (a third of a millisecond).
thread_data <- function(n = 300) {
  set.seed(11)
  x <- matrix(runif(2 * n), n)
  f <- sin(5 * x[, 1]) + x[, 2]
  list(x = x, y = f + 0.2 * rt(n, 3), count = rnbinom(n, size = 3, mu = exp(f)),
       class = factor(max.col(cbind(f, 1 - f, x[, 2]) + 0.3 * rnorm(3 * n))))
}

test_that("EP, the IVM and streams are the same for any number of threads", {
  memory_tier()
  d <- thread_data()
  fit <- function(y, lik, ...) function() sparsegp(d$x, y, lik, learn = FALSE, ...)
  some <- seq(1, 300, by = 12)
  runs <- list(
    student = fit(d$y, lik_student(), basis = some),
    negbin = fit(d$count, lik_negbin(), basis = some),
    mprobit = fit(d$class, lik_mprobit(), basis = some),
    full = fit(d$y, lik_student(), method = method_ep()),
    stream = fit(d$count, lik_negbin(), method = method_online(20)),
    ivm = fit(d$y, lik_student(), method = method_ivm(8, refine = "none"))
  )
  for (name in of_tier(names(runs), 1L)) expect_same_by_threads(runs[[name]], name)
})

# 650 rows are 6 spans, with which products of 60 columns are worth it, too.
test_that("sums over rows are the same for any number of threads, held or not", {
  slow_tier()
  d <- thread_data(650)
  basis <- seq(1, 650, by = 11)
  one <- learn_control(inner = 1, outer = 1)
  # each pair of a mixing, a pool and a response
  cases <- data.frame(mixing = c(0, 0, 3, 3), pool = c(1, Inf, 1, Inf),
                      response = c("count", "class", "class", "count"))
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    lik <- if (case$response == "count") lik_negbin() else lik_mprobit()
    ep <- method_ep(sweeps = if (case$mixing) 6 else 2, mixing = case$mixing, pool = case$pool)
    run <- function() {
      suppressWarnings(sparsegp(d$x, d[[case$response]], lik, basis = basis, method = ep,
                                learn = one, structure = "fixed",
                                control = gp_control(integrate = "none")))
    }
    expect_same_by_threads(run, toString(case))
  }
})

test_that("learning and predictions are the same for any number of threads", {
  slow_tier()
  d <- thread_data(150)
  basis <- seq(1, 150, by = 12)
  new <- matrix(runif(6000), 3000)
  few <- learn_control(inner = 2, outer = 1) # which do not converge
  learn <- function() {
    suppressWarnings(sparsegp(d$x, d$count, "poisson", basis = basis, learn = few,
                              structure = "fixed"))
  }
  expect_same_by_threads(learn, "learning")
  counts <- learn()
  expect_same_by_threads(function() predict(counts, new, se.fit = TRUE), "moments")
  expect_same_by_threads(function() loo_lpd(counts), "LOO")
  classes <- sparsegp(d$x, d$class, basis = basis, learn = FALSE)
  expect_same_by_threads(function() predict(classes, new, type = "prob"), "class probabilities")
})

test_that("a long loop on threads stops when it is asked to", {
  slow_tier()
  n <- 2e5 # half a minute of Student-t tilts
  spec <- lik_for_c(list(type = "student"), 1L)
  tilts <- function() {
    .Call(sg_lik_tilt, spec, c(0, 1), matrix(seq(-5, 5, length.out = n), 1), numeric(n), rep(2, n),
          FALSE)
  }
  for (threads in 1:2) {
    took <- system.time(with_threads(threads, {
      setTimeLimit(elapsed = 0.5, transient = TRUE)
      expect_error(tilts(), "time limit")
    }))[["elapsed"]]
    expect_lt(took, 3) # 0.06 s after the limit, and more where others want the cores
  }
})

test_that("a fit within mclapply() is that of the process that was forked, after threads, too", {
  memory_tier()
  skip_on_os("windows")
  d <- thread_data()
  fit <- function(i) sparsegp(d$x, d$y, lik_student(), basis = 1:20, learn = FALSE)
  with_threads(2, {
    here <- fit()
    forked <- parallel::mclapply(1:2, fit, mc.cores = 2)
  })
  expect_identical(forked, list(here, here))
})

test_that("a forked process that loads the package itself has one thread, too", {
  memory_tier()
  skip_on_os("windows")
  ask <- paste(".libPaths(c(commandArgs(TRUE), .libPaths()));",
               "f <- function(i) sparsegp:::threads_wanted(FALSE);",
               "cat(unlist(parallel::mclapply(1:2, f, mc.cores = 2)), f())")
  said <- system2(file.path(R.home("bin"), "Rscript"),
                  c("-e", shQuote(ask), shQuote(dirname(system.file(package = "sparsegp")))),
                  stdout = TRUE)
  expect_identical(said, "1 1 0")
})

test_that("the BLAS has threads unless it is known to have none", {
  with_env <- function(..., code) {
    set <- c(...)
    old <- Sys.getenv(names(set), NA)
    on.exit({
      Sys.unsetenv(names(set))
      if (!all(is.na(old))) do.call(Sys.setenv, as.list(old[!is.na(old)]))
    })
    do.call(Sys.setenv, as.list(set))
    code
  }
  openblas <- "/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3"
  under <- function(own, all) {
    with_env(OPENBLAS_NUM_THREADS = own, OMP_NUM_THREADS = all, code = blas_has_threads(openblas))
  }
  expect_identical(c(under("", ""), under("", "4"), under("4", "1")), c(TRUE, TRUE, TRUE))
  expect_identical(c(under("1", ""), under("", "1"), under("1", "4")), c(FALSE, FALSE, FALSE))
  expect_true(blas_has_threads("/System/Library/Frameworks/Accelerate.framework/libBLAS.dylib"))
  for (reference in c("", "/usr/lib/R/lib/libRblas.so",
                      "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0")) {
    expect_false(blas_has_threads(reference), label = reference)
  }
})

test_that("options(sparsegp.threads =) is a number, and what is none is said", {
  for (bad in list("two", 0, NA_real_, c(1, 2))) {
    expect_error(with_threads(bad, threads_wanted(FALSE)), "sparsegp.threads",
                 class = "sparsegp_error")
  }
  expect_identical(with_threads(3, threads_wanted(FALSE)), 3L)
  expect_identical(with_threads(NULL, threads_wanted(FALSE)), 0L)
})
