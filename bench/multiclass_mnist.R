# MNIST, ten classes, each against the rest (lik_probit(), rbf kernel, a bias per class): all 60000
# rows, 784 inputs, 10000 test rows. Every class has an active set of SIZE rows of its own, chosen
# by method_ivm() from candidates whose stubs fit into POOL doubles. refine = "basis" goes on with
# batch EP of all rows on these sets, "none" does not (the IVM paper's way). Kernel and biases are
# those that LEARN_ROWS rows on LEARN_SIZE points a class learn by the evidence; then they are held.
#
# The target is an error of at most 2.5 per cent within two hours on two cores, learning included.
#
# Shown: seconds of learning, fit and prediction, test error in per cent, mean test log likelihood,
# sweeps, peak memory above that of the images.
#
# Usage: Rscript bench/multiclass_mnist.R [rows] [size] [basis or none] [LEARN_ROWS] [LEARN_SIZE];
# the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
ROWS <- argument(1L, 60000)
SIZE <- argument(2L, 1000)
REFINE <- if (length(given) > 2L) given[[3L]] else "basis"
LEARN_ROWS <- argument(4L, 5000)
LEARN_SIZE <- argument(5L, 200)
INNER <- 15
SWEEPS <- 40
TOL <- 1e-2 # a tilted moment this near the posterior's moves no digit of the scores
POOL <- 6e8 # 4.8 GB: the stubs, and in batch EP all rows as the bases see them

train <- read_mnist("train")
test <- read_mnist("t10k")
train$x <- train$x[seq_len(ROWS), ]
train$digit <- factor(train$digit[seq_len(ROWS)])
test$digit <- factor(test$digit)

fit_rows <- function(rows, bias = NULL, ...) {
  suppressWarnings(sparsegp(train$x[rows, ], train$digit[rows], likelihood = lik_probit(bias),
                            scale = FALSE, ...))
}

learned <- function() {
  set.seed(1)
  fit_rows(sample(ROWS, min(LEARN_ROWS, ROWS)), kernel = kernel_rbf(20, 6),
           method = method_ivm(LEARN_SIZE, tol = 1e-4), learn = learn_control(inner = INNER))
}

final <- function(at) {
  set.seed(2)
  fit_rows(TRUE, unname(at[grep("^bias", names(at))]), learn = FALSE,
           kernel = kernel_rbf(at[["variance"]], at[["lengthscale"]]),
           method = method_ivm(SIZE, refine = REFINE, pool = POOL, sweeps = SWEEPS, tol = TOL))
}

cat(extSoftVersion()[["BLAS"]], "\n")
took <- system.time(start <- learned())[["elapsed"]]
at <- coef(start)
cat(sprintf("variance %.3g, lengthscale %.3g learned in %.0f s, %d evaluations\n",
            at[["variance"]], at[["lengthscale"]], took, start$learning$evaluations))
fit <- NULL
memory <- memory_of(function() took <<- system.time(fit <<- final(at))[["elapsed"]])
predicted <- system.time(prob <- predict(fit, test$x, type = "prob"))[["elapsed"]]
scores <- class_scores(prob, test$digit)
cat(sprintf("%d rows, %d points a class, refine = \"%s\": error %.2f %%, log likelihood %.4f\n",
            ROWS, SIZE, REFINE, scores[["error"]], scores[["log_lik"]]))
sweeps <- if (REFINE == "none") "no sweep" else sprintf("%d sweeps", fit$convergence$sweeps)
cat(sprintf("fit %.0f s, %s, %.0f MB; prediction %.0f s\n", took, sweeps, memory, predicted))
