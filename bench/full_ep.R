# One evaluation of full EP's log evidence (probit, rbf kernel, sites from scratch) on USPS, digit 2
# against the rest, 256 inputs:
#   - against gplite's full EP at the same hyperparameters, in the same run;
#   - in units of sweeps x (one dpotrf + one dtrsm of that size), timed in the same run;
#   - peak memory in units of n^2 doubles, with and without the gradient.
# Medians of REPEATS runs. Usage: Rscript bench/full_ep.R; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SIZES <- c(1000, 2000)
REPEATS <- 3
VARIANCE <- 10
LENGTHSCALE <- 8

usps <- read_usps()

median_time <- function(run) median(replicate(REPEATS, system.time(run())[["elapsed"]]))

# dpotrf and a dtrsm with n right-hand sides, as R calls them
lapack_unit <- function(n) {
  K <- crossprod(matrix(rnorm(n * n), n)) + diag(n, n)
  U <- chol(K)
  median_time(function() chol(K)) + median_time(function() backsolve(U, K, transpose = TRUE))
}

# what the gc() has seen at most while `run` ran, above what was there before, in n^2 doubles
peak_memory <- function(run, n) {
  gc(reset = TRUE)
  before <- sum(gc()[, 2L])
  run()
  (sum(gc()[, 6L]) - before) * 2^20 / (8 * n^2)
}

measure <- function(n) {
  set.seed(1)
  at <- sample(nrow(usps$x), n)
  x <- usps$x[at, ]
  y <- as.numeric(usps$digit[at] == 2)
  kernel <- kernel_rbf(VARIANCE, LENGTHSCALE)
  ours <- function() {
    sparsegp(x, y, likelihood = lik_probit(bias = 0), kernel = kernel, scale = FALSE, learn = FALSE,
             method = method_ep())
  }
  # evidence alone, as a learner would ask for it
  fit <- ours()
  problem <- sparsegp:::problem_of_fit(fit)
  evidence <- function(gradient = FALSE) {
    sparsegp:::engine_run(problem, fit$hyper$theta, gradient = gradient)
  }
  run <- evidence()
  seconds <- median_time(function() evidence())
  with_gradient <- median_time(function() evidence(TRUE))
  unit <- lapack_unit(n)
  cat(sprintf("n = %d: %d sweeps, log evidence %.5f\n", n, run$sweeps, run$logz))
  cat(sprintf("  evidence %.2f s, with gradient %.2f s\n", seconds, with_gradient))
  cat(sprintf("  %.2f times sweeps x (dpotrf + dtrsm) [%.3f s each]\n",
              seconds / (run$sweeps * unit), unit))
  cat(sprintf("  peak memory %.2f n^2 doubles; with gradient %.2f; the whole fit %.2f\n",
              peak_memory(function() evidence(), n), peak_memory(function() evidence(TRUE), n),
              peak_memory(ours, n)))
  compare_gplite(x, y, run$logz, seconds)
}

# gplite's tilts are Gauss-Hermite sums, of order 11 by default, and its evidence is only as good as
# they are: so both its default and an order at which the evidences agree.
compare_gplite <- function(x, y, logz, seconds) {
  if (!requireNamespace("gplite", quietly = TRUE)) {
    cat("  gplite is not installed: no comparison\n")
    return(invisible())
  }
  for (order in c(11, 51)) {
    model <- gplite::gp_init(
      cfs = gplite::cf_sexp(lscale = LENGTHSCALE, magn = sqrt(VARIANCE)),
      lik = gplite::lik_bernoulli(link = "probit"), approx = gplite::approx_ep(quad_order = order)
    )
    peer <- NULL
    took <- median_time(function() peer <<- gplite::gp_fit(model, x, y, jitter = 1e-12))
    cat(sprintf("  gplite, order %d: %.2f s, %.1f times ours; ours - its log evidence %.1e\n",
                order, took, took / seconds, logz - peer$fit$log_evidence))
    bench_row("One evaluation of full EP compared with gplite's, by quadrature order",
              rows = nrow(x), order = order, seconds = seconds, "gplite's" = took,
              ratio = took / seconds, "difference of log evidence" = logz - peer$fit$log_evidence)
  }
}

cat(extSoftVersion()[["BLAS"]], "\n")
for (n in SIZES) measure(n)
