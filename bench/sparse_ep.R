# Batch EP on a frozen basis (probit, rbf kernel) on USPS, digit 2 against the rest: 7291 rows, 256
# inputs, random rows as basis:
#   - log evidence and time against gplite's EP-FITC with the same points and hyperparameters;
#   - one sweep in units of (one dsyrk of n x d + one dtrsm of n x d), timed in the same run;
#   - an evaluation of evidence and gradient.
# Medians of REPEATS runs, but for gplite: one run. Usage: Rscript bench/sparse_ep.R [sizes]; the
# data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

arguments <- commandArgs(TRUE)
SIZES <- if (length(arguments)) as.integer(arguments) else c(100, 200, 500)
REPEATS <- 5
VARIANCE <- 10
LENGTHSCALE <- 8

usps <- read_usps()
x <- usps$x
y <- as.numeric(usps$digit == 2)

seconds <- function(run) system.time(run())[["elapsed"]]
median_time <- function(run) median(replicate(REPEATS, seconds(run)))

# crossprod() of n x d is R's dsyrk; backsolve() of d x n its dtrsm
blas_unit <- function(d) {
  V <- matrix(rnorm(nrow(x) * d), ncol = d)
  tV <- t(V)
  U <- chol(crossprod(V))
  median_time(function() crossprod(V)) +
    median_time(function() backsolve(U, tV, transpose = TRUE))
}

compare_gplite <- function(rows, logz, took) {
  if (!requireNamespace("gplite", quietly = TRUE)) {
    cat("  gplite is not installed: no comparison\n")
    return(invisible())
  }
  model <- gplite::gp_init(
    cfs = gplite::cf_sexp(lscale = LENGTHSCALE, magn = sqrt(VARIANCE)),
    lik = gplite::lik_bernoulli(link = "probit"),
    method = gplite::method_fitc(inducing = x[rows, ]),
    approx = gplite::approx_ep(quad_order = 51) # at its default, 11, the evidence is 0.2 off
  )
  peer <- NULL
  peer_took <- seconds(function() peer <<- gplite::gp_fit(model, x, y))
  cat(sprintf("  gplite EP-FITC %.1f s, %.1f times ours; ours - its log evidence %.1e\n", peer_took,
              peer_took / took, logz - peer$fit$log_evidence))
  bench_row("Batch EP of USPS 2 against gplite's EP-FITC", points = length(rows), "seconds" = took,
            "gplite's" = peer_took, ratio = peer_took / took,
            "difference of log evidence" = logz - peer$fit$log_evidence)
}

measure <- function(d) {
  set.seed(1)
  rows <- sample(nrow(x), d)
  fit <- sparsegp(x, y, likelihood = lik_probit(bias = 0), basis = rows, scale = FALSE,
                  learn = FALSE,
                  control = gp_control(keep_x = TRUE), kernel = kernel_rbf(VARIANCE, LENGTHSCALE),
                  method = method_ep(tol = 1e-4)) # gplite's tolerance
  problem <- sparsegp:::problem_of_fit(fit)
  evidence <- function(gradient = FALSE, sweeps = 200L) {
    problem$options$sweeps <- sweeps
    sparsegp:::engine_run(problem, fit$hyper$theta, gradient = gradient)
  }
  run <- evidence()
  took <- median_time(function() evidence())
  # what all sweeps but the first cost, without kernel matrices and factor
  sweep <- (took - median_time(function() evidence(sweeps = 1L))) / (run$sweeps - 1)
  cat(sprintf("d = %d: %d sweeps, log evidence %.4f, %.2f s; with gradient %.2f s\n", d, run$sweeps,
              run$logz, took, median_time(function() evidence(TRUE))))
  cat(sprintf("  a sweep %.1f ms = %.2f times (dsyrk + dtrsm)\n", 1000 * sweep,
              sweep / blas_unit(d)))
  compare_gplite(rows, run$logz, took)
}

cat(extSoftVersion()[["BLAS"]], "\n")
for (d in SIZES) measure(d)
