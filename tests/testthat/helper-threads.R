# Code under a number of threads, and the promise that the number changes no bit.

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
