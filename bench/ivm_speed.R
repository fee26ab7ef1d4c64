# Time and memory of the IVM's inclusions, a digit 2 against the rest (probit, rbf kernel):
#   - USPS: 500 inclusions from all 7291 rows, against the products of stubs and a vector that they
#     contain, alone (n x d times d, R's %*% with the BLAS);
#   - USPS: cost against n at 500 inclusions and against d at all rows, with the slopes of a log-log
#     fit, and those of the products alone, as stubs that fit into a cache are cheaper;
#   - MNIST: 1000 inclusions from all 60000 rows, against the products and one read of the inputs
#     per inclusion; once;
#   - MNIST with a pool of 3.6e7 doubles: the most memory that the run holds, against the pool and
#     the inputs as the kernel reads them.
# Medians of runs that take turns, since a shared machine's speed drifts, in processor time: run it
# with a BLAS of one thread (OPENBLAS_NUM_THREADS=1). Each run has one before it that does not
# count: a virtual machine may be slow to find memory that it has not read for a while.
# Usage: Rscript bench/ivm_speed.R [repeats]; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})
options(matprod = "blas") # without R's own search for NaN before each product

REPEATS <- argument(1, 5)
ROWS <- c(1000, 1750, 3000, 5000, 7291)
SIZES <- c(100, 200, 400, 800)
VARIANCE <- 10
LENGTHSCALE <- 8
POOL <- 3.6e7

seconds <- function(run) sum(system.time(run())[c("user.self", "sys.self")])

in_turns <- function(runs, repeats) {
  took <- replicate(repeats, vapply(runs, function(run) {
    run()
    seconds(run)
  }, 0))
  apply(matrix(took, length(runs), dimnames = list(names(runs), NULL)), 1L, median)
}

shuffled <- function(set) {
  set.seed(1)
  rows <- sample(nrow(set$x))
  list(x = set$x[rows, ], y = set$digit[rows] == 2)
}

# What C needs to select `size` of the first n rows of a set; theta is that of a cheap fit.
ivm_of <- function(set, n, size, pool = Inf) {
  few <- seq_len(50)
  fit <- sparsegp(set$x[few, ], set$y[few], likelihood = lik_probit(bias = 0), scale = FALSE,
                  learn = FALSE, kernel = kernel_rbf(VARIANCE, LENGTHSCALE))
  # with the inputs that are constant in few rows
  fit$spec[c("vars", "levels")] <- list(seq_len(ncol(set$x)) - 1L, numeric(ncol(set$x)))
  rows <- seq_len(n)
  x <- if (n < nrow(set$x)) set$x[rows, ] else set$x
  problem <- list(x = x, spec = fit$spec, nkernel = 2L, lik = fit$likelihood,
                  rows = rbind(2 * set$y[rows] - 1), offset = numeric(n), processes = 1L,
                  width = 1L, options = method_ivm(size, pool = pool, refine = "none"))
  list(problem = problem, theta = fit$hyper$theta)
}

selection <- function(ivm) {
  force(ivm)
  function() {
    run <- sparsegp:::engine_ivm(ivm$problem, ivm$theta)
    stopifnot(length(run$id) == ivm$problem$options$size)
  }
}

# The products with the stubs of n rows as they grow to `size` columns: every tenth of them.
EVERY <- 10
passes <- function(n, size) {
  stubs <- lapply(seq(EVERY / 2, size, by = EVERY), function(d) matrix(runif(n * d), n))
  vectors <- lapply(stubs, function(M) runif(ncol(M)))
  function() for (k in seq_along(stubs)) stubs[[k]] %*% vectors[[k]]
}

# A hundred tilts of all rows, at marginals as they are after some inclusions.
tilts <- function(ivm) {
  mean <- rnorm(length(ivm$problem$offset))
  var <- runif(length(mean), 0.5, VARIANCE)
  function() for (k in 1:100) sparsegp:::engine_tilt(ivm$problem, ivm$theta, mean, var)
}

against_passes <- function(set, size) {
  n <- nrow(set$x)
  ivm <- ivm_of(set, n, size)
  took <- in_turns(list(ivm = selection(ivm), passes = passes(n, size)), REPEATS)
  took[["passes"]] <- EVERY * took[["passes"]]
  cached <- median(replicate(REPEATS, products_of(n, size)))
  tilt <- in_turns(list(tilts(ivm)), REPEATS)
  cat(sprintf("USPS, %d of %d rows: %.2f s\n", size, n, took[["ivm"]]))
  cat(sprintf("  %.2f times the products with stubs (%.2f s, %.1f GB/s)\n",
              took[["ivm"]] / took[["passes"]], took[["passes"]],
              8e-9 * n * size^2 / 2 / took[["passes"]]))
  cat(sprintf("  %.2f times the products with stubs that the cache may hold (%.2f s)\n",
              took[["ivm"]] / cached, cached))
  cat(sprintf("  a tilt of all rows with its parameter's derivative: %.2f ms\n", 10 * tilt))
}

slope <- function(at, took) coef(lm(log(took) ~ log(at)))[[2L]]

# Slopes over all of `at` and over its upper half.
slopes <- function(at, took) {
  upper <- seq_along(at) > length(at) / 2
  sprintf("%.2f (upper half %.2f)", slope(at, took), slope(at[upper], took[upper]))
}

against <- function(what, n, size) {
  at <- if (what == "n") n else size
  took <- in_turns(Map(function(n, size) selection(ivm_of(usps, n, size)), n, size), REPEATS)
  alone <- mapply(function(n, size) median(replicate(REPEATS, products_of(n, size))), n, size)
  cat(sprintf("USPS, %s = %s: %s s\n  slope %s; of the products alone %s\n", what, toString(at),
              toString(sprintf("%.3f", took)), slopes(at, took), slopes(at, alone)))
}

# The median of some runs of a product, of so many in one go, after a run that does not count
of_product <- function(M, vector, times = 1) {
  again <- function() for (k in seq_len(times)) M %*% vector
  again()
  stats::median(replicate(9, seconds(again))) / times
}

# Seconds of the products with n x d stubs, d = 1, ..., size, from `some` of them, each again
# and again, so that small ones stay in the cache as a selection's do.
products_of <- function(n, size, some = 10) {
  M <- matrix(runif(n * size), n)
  took <- vapply(round((seq_len(some) - 0.5) * size / some), function(d) {
    of_product(M[, seq_len(d), drop = FALSE], runif(d), ceiling(2e7 / (n * d)))
  }, 0)
  size * mean(took)
}

reads_of <- function(x, times) times * of_product(x, runif(ncol(x)))

large <- function(set, size) {
  n <- nrow(set$x)
  took <- seconds(selection(ivm_of(set, n, size)))
  products <- products_of(n, size)
  reads <- reads_of(set$x, size)
  cat(sprintf("MNIST, %d of %d rows: %.1f s\n", size, n, took))
  cat(sprintf("  %.2f times the products with stubs (%.1f s) and a read of X each (%.1f s)\n",
              took / (products + reads), products, reads))
}

# MB of this process, of which Linux knows the most there were since the last reset.
memory <- function(field) {
  line <- grep(paste0("^", field), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

peak <- function(set, size, pool) {
  if (!file.exists("/proc/self/clear_refs")) return(message("no /proc: no peak memory"))
  before <- 0
  run <- selection(ivm_of(set, nrow(set$x), size, pool))
  took <- seconds(function() { # which starts by collecting garbage
    cat("5", file = "/proc/self/clear_refs")
    before <<- memory("VmRSS")
    run()
  })
  cat(sprintf("MNIST with a pool of %.2g: %.1f s; at most %.0f MB beside the data\n", pool, took,
              memory("VmHWM") - before))
  cat(sprintf("  pool %.0f MB, inputs as the kernel reads them %.0f MB\n", pool * 8 / 2^20,
              length(set$x) * 8 / 2^20))
}

cat(extSoftVersion()[["BLAS"]], "\n")
usps <- shuffled(read_usps())
against_passes(usps, 500)
against("n", ROWS, 500)
against("d", nrow(usps$x), SIZES)
mnist <- tryCatch(shuffled(read_mnist()), error = function(e) message(conditionMessage(e)))
if (!is.null(mnist)) {
  large(mnist, 1000)
  peak(mnist, 1000, POOL)
}
