# Loops over rows on several threads: the same numbers to the last bit, and no thread where there can
# be none.

with_threads <- function(threads, code) {
  old <- options(sparsegp.threads = threads)
  on.exit(options(old))
  code
}

# `call` with 1, 2 and 3 threads gives one and the same object.
expect_same_by_threads <- function(call, label) {
  fits <- lapply(1:3, function(threads) with_threads(threads, call()))
  expect_identical(fits[[2L]], fits[[1L]], label = paste(label, "by 2 threads"))
  expect_identical(fits[[3L]], fits[[1L]], label = paste(label, "by 3 threads"))
}

# Rows enough for work that is worth a second thread (half a millisecond for all tilts).
thread_data <- function(n = 300) {
  set.seed(11)
  x <- matrix(runif(2 * n), n)
  f <- sin(5 * x[, 1]) + x[, 2]
  list(x = x, y = f + 0.2 * rt(n, 3), count = rnbinom(n, size = 3, mu = exp(f)),
       class = factor(max.col(cbind(f, 1 - f, x[, 2]) + 0.3 * rnorm(3 * n))))
}

test_that("EP is the same for any number of threads", {
  d <- thread_data()
  run <- function(y, lik, ...) function() sparsegp(d$x, y, lik, learn = FALSE, ...)
  some <- seq(1, 300, by = 12)
  expect_same_by_threads(run(d$y, lik_student(), basis = some), "student")
  expect_same_by_threads(run(d$count, lik_negbin(), basis = some), "negbin")
  expect_same_by_threads(run(d$class, lik_mprobit(), basis = some), "mprobit")
  expect_same_by_threads(run(d$y, lik_student(), method = method_ep()), "full EP")
  expect_same_by_threads(run(d$class, lik_softmax(), method = method_ep()), "full EP, softmax")
})

test_that("a fit within mclapply() is that of the process that was forked, after threads, too", {
  skip_on_os("windows")
  d <- thread_data()
  fit <- function(i) sparsegp(d$x, d$y, lik_student(), basis = 1:20, learn = FALSE)
  with_threads(2, {
    here <- fit()
    forked <- parallel::mclapply(1:2, fit, mc.cores = 2)
  })
  expect_identical(forked, list(here, here))
})

test_that("options(sparsegp.threads =) is a number, and what is none is said", {
  for (bad in list("two", 0, NA_real_, c(1, 2))) {
    expect_error(with_threads(bad, threads_wanted(FALSE)), "sparsegp.threads", class = "sparsegp_error")
  }
  expect_identical(with_threads(3, threads_wanted(FALSE)), 3L)
  expect_identical(with_threads(NULL, threads_wanted(FALSE)), 0L)
  d <- thread_data()
  expect_error(with_threads("two", sparsegp(d$x, d$y, lik_student(), basis = 1:20, learn = FALSE)),
               "sparsegp.threads", class = "sparsegp_error")
})
