# MNIST, ten classes in one model (lik_mprobit, rbf kernel): batch EP of all 60000 rows on a basis
# of SIZE of them, 784 inputs, 10000 test rows. Kernel and biases are learned by the evidence of
# LEARN_ROWS rows on LEARN_SIZE points and then held. Learning included, the target is an error of
# at most 2.5 per cent within two hours on two cores. A sweep takes about 20 n SIZE^2 operations, and
# there are some 15; 20000 rows on 200 points took 20 s on half a core.
#
# The basis is random, or those rows that method_ivm() chooses for each class (of candidates whose
# stubs fit into POOL doubles). Shown: test error in per cent, mean test log likelihood, seconds,
# sweeps, peak memory above that of the images.
#
# Usage: Rscript bench/multiclass_mnist.R [rows] [size] [random or ivm] [sweeps] [LEARN_ROWS]
# [LEARN_SIZE]; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
ROWS <- argument(1L, 60000)
SIZE <- argument(2L, 1500)
CHOICE <- if (length(given) > 2L) given[[3L]] else "random"
SWEEPS <- argument(4L, 40)
LEARN_ROWS <- argument(5L, 5000)
LEARN_SIZE <- argument(6L, 200)
INNER <- 15
TOL <- 1e-2 # a tilted moment this near the posterior's moves no digit of the scores
POOL <- 6e7

train <- read_mnist("train")
test <- read_mnist("t10k")
train$x <- train$x[seq_len(ROWS), ]
train$digit <- factor(train$digit[seq_len(ROWS)])
test$digit <- factor(test$digit)

learned <- function() {
  set.seed(1)
  some <- sample(ROWS, min(LEARN_ROWS, ROWS))
  suppressWarnings(sparsegp(
    train$x[some, ], train$digit[some], likelihood = lik_mprobit(), kernel = kernel_rbf(20, 6),
    scale = FALSE, basis = seq_len(LEARN_SIZE), method = method_ep(tol = 1e-4),
    learn = learn_control(inner = INNER)
  ))
}

final <- function(at) {
  set.seed(2)
  random <- CHOICE == "random"
  suppressWarnings(sparsegp(
    train$x, train$digit, scale = FALSE, learn = FALSE,
    likelihood = lik_mprobit(bias = unname(at[grep("^bias", names(at))])),
    kernel = kernel_rbf(at[["variance"]], at[["lengthscale"]]),
    basis = if (random) sample(ROWS, SIZE),
    method = if (random) method_ep(sweeps = SWEEPS, tol = TOL)
             else method_ivm(SIZE, pool = POOL, sweeps = SWEEPS, tol = TOL)
  ))
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
cat(sprintf("%d rows, %d %s points%s: error %.2f %%, log likelihood %.4f\n", ROWS, SIZE, CHOICE,
            if (CHOICE == "random") "" else " a class", scores[["error"]], scores[["log_lik"]]))
cat(sprintf("fit %.0f s, %d sweeps (%s), %.0f MB; prediction %.0f s\n", took,
            fit$convergence$sweeps, if (fit$convergence$converged) "converged" else "not converged",
            memory, predicted))
