# What a class more costs: one joint fit (lik_mprobit, fixed hyperparameters, batch EP on a given
# basis) of synthetic rows in C classes: its time, a sweep's, and peak memory above what there was
# before. Every fit makes SWEEPS sweeps and stops, so that all do the same work. Prediction of
# NEW_ROWS rows is timed apart: a probability for each of C classes takes C integrals over C
# factors, so that it grows with the square. Last the slopes of log time and log memory against
# log C from ten classes on: 1 would be linear, less is what all classes share.
#
# The classes are those of C linear functions of ten inputs: the largest wins.
#
# Run it with one BLAS thread (OPENBLAS_NUM_THREADS=1).
# Usage: Rscript bench/classes.R [rows] [basis] [classes, as 3,10,30,100] [repeats, for medians]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

N <- argument(1L, 3000)
D <- argument(2L, 100)
CLASSES <- if (length(commandArgs(TRUE)) < 3L) c(3, 10, 30, 100) else
  as.numeric(strsplit(commandArgs(TRUE)[[3L]], ",")[[1L]])
REPEATS <- argument(4L, 1)
SWEEPS <- 20
INPUTS <- 10
NEW_ROWS <- 300

draw <- function(C) {
  set.seed(1)
  x <- matrix(rnorm(N * INPUTS), N)
  y <- max.col(x %*% matrix(rnorm(INPUTS * C), INPUTS))
  y[seq_len(C)] <- seq_len(C) # every class occurs
  list(x = x, y = factor(y))
}

fit_once <- function(set) {
  suppressWarnings(sparsegp(set$x, set$y, likelihood = lik_mprobit(bias = 0), scale = FALSE,
                            kernel = kernel_rbf(10, 5), basis = seq_len(D), learn = FALSE,
                            method = method_ep(sweeps = SWEEPS, tol = 1e-300)))
}

measure <- function(C) {
  set <- draw(C)
  memory <- memory_of(function() fit_once(set))
  fit <- NULL
  fit_time <- median_time(function() fit <<- fit_once(set), REPEATS)
  new <- set$x[seq_len(NEW_ROWS), ]
  predict_time <- median_time(function() predict(fit, new, type = "prob"), REPEATS)
  cat(sprintf("%7d %8.2f %8.3f %6d %10.2f %10.1f\n", C, fit_time,
              fit_time / fit$convergence$sweeps, fit$convergence$sweeps, predict_time, memory))
  data.frame(classes = C, fit = fit_time, predict = predict_time, memory = memory)
}

slope <- function(of, rows) {
  rows <- rows[rows$classes >= 10, ]
  unname(coef(lm(log(rows[[of]]) ~ log(rows$classes)))[[2L]])
}

cat(sprintf("%d rows, %d points, %d inputs; %s\n", N, D, INPUTS, extSoftVersion()[["BLAS"]]))
cat("classes    fit s  sweep s sweeps  predict s  memory MB\n")
rows <- do.call(rbind, lapply(CLASSES, measure))
if (sum(rows$classes >= 10) > 1L) {
  cat(sprintf("slope against classes, from 10 on: fit %.2f, predict %.2f, memory %.2f\n",
              slope("fit", rows), slope("predict", rows), slope("memory", rows)))
}
