# Time of the IVM's inclusions on USPS, digit 2 against the rest (7291 rows, 256 inputs, probit, rbf
# kernel):
#   - 500 inclusions from all rows, against the products of stubs and a vector that they contain,
#     alone (n x d times d for d = 1, 11, 21, ..., 491, times ten; R's %*% with the BLAS), and one
#     tilt of all rows per inclusion;
#   - cost against n at d = 500 and against d at all rows, with the slopes of a log-log fit.
# Medians of REPEATS runs; what is compared is timed in turns, since a shared machine's speed
# drifts, and by processor time: run it with a BLAS of one thread (OPENBLAS_NUM_THREADS=1).
# Usage: Rscript bench/ivm_speed.R [repeats]; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})
options(matprod = "blas") # without R's own search for NaN before each product

REPEATS <- argument(1, 5)
SIZE <- 500
ROWS <- c(1000, 1750, 3000, 5000, 7291)
SIZES <- c(100, 200, 400, 800)
VARIANCE <- 10
LENGTHSCALE <- 8

usps <- read_usps()
set.seed(1)
shuffled <- sample(nrow(usps$x))
x <- usps$x[shuffled, ]
y <- as.numeric(usps$digit[shuffled] == 2)

seconds <- function(run) sum(system.time(run())[c("user.self", "sys.self")])

# What C needs for the first n rows: problem and hyperparameters of a cheap fit.
ivm_of <- function(n, size) {
  rows <- seq_len(n)
  fit <- sparsegp(x[rows, ], y[rows], likelihood = lik_probit(bias = 0), scale = FALSE,
                  learn = FALSE, kernel = kernel_rbf(VARIANCE, LENGTHSCALE),
                  method = method_ivm(1, refine = "none"))
  problem <- list(x = x[rows, ], spec = fit$spec, nkernel = 2L, lik = fit$likelihood,
                  rows = fit$data_rows, offset = fit$offset,
                  method = method_ivm(size, refine = "none"))
  list(problem = problem, theta = fit$hyper$theta)
}

selection <- function(ivm) {
  function() {
    run <- sparsegp:::engine_ivm(ivm$problem, ivm$theta)
    stopifnot(length(run$id) == ivm$problem$method$size)
  }
}

# The passes over the stubs of n rows as they grow to `size` columns, every tenth of them.
EVERY <- 10
passes <- function(n, size) {
  stubs <- lapply(seq(1, size, by = EVERY), function(d) matrix(runif(n * d), n))
  vectors <- lapply(stubs, function(M) runif(ncol(M)))
  function() for (k in seq_along(stubs)) stubs[[k]] %*% vectors[[k]]
}

# A tilt of all rows, at marginals as they are after some inclusions.
tilts <- function(ivm, n, times) {
  mean <- rnorm(n)
  var <- runif(n, 0.5, VARIANCE)
  function() for (k in seq_len(times)) sparsegp:::engine_tilt(ivm$problem, ivm$theta, mean, var)
}

# Medians of runs that take turns.
in_turns <- function(runs) {
  took <- replicate(REPEATS, vapply(runs, seconds, 0))
  apply(matrix(took, length(runs), dimnames = list(names(runs), NULL)), 1L, median)
}

against_passes <- function(n, size) {
  ivm <- ivm_of(n, size)
  some <- size / EVERY
  took <- in_turns(list(ivm = selection(ivm), passes = passes(n, size),
                        tilts = tilts(ivm, n, some)))
  took[c("passes", "tilts")] <- EVERY * took[c("passes", "tilts")]
  least <- took[["passes"]] + took[["tilts"]] / size # the passes and a single tilt of all rows
  cat(sprintf("%d inclusions from %d rows: %.2f s\n", size, n, took[["ivm"]]))
  cat(sprintf("  passes over the stubs %.2f s (%.1f GB/s), a tilt of all rows %.2f ms\n",
              took[["passes"]], 8e-9 * n * size^2 / 2 / took[["passes"]],
              1000 * took[["tilts"]] / size))
  cat(sprintf("  %.2f times the passes and one tilt; %.2f times the passes and a tilt each\n",
              took[["ivm"]] / least, took[["ivm"]] / (took[["passes"]] + took[["tilts"]])))
}

slope <- function(at, took) coef(lm(log(took) ~ log(at)))[[2L]]

against <- function(what, at, ivms) {
  took <- in_turns(lapply(ivms, selection))
  cat(sprintf("%s %s: %s s; slope %.2f, over the upper half %.2f\n", what, toString(at),
              toString(sprintf("%.3f", took)), slope(at, took),
              slope(tail(at, 2L), tail(took, 2L))))
}

cat(extSoftVersion()[["BLAS"]], "\n")
against_passes(nrow(x), SIZE)
against("n =", ROWS, lapply(ROWS, ivm_of, size = SIZE))
against("d =", SIZES, lapply(SIZES, ivm_of, n = nrow(x)))
