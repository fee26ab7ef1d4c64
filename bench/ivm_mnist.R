# The IVM paper's table 2: MNIST digits 5, 8 and 9 against the rest (60000 training and 10000 test
# rows, 784 inputs, probit, rbf kernel), active sets of 3200, 3600 and 3900 rows chosen as in its
# section 6.2: randomised greedy selection, the stubs held in 3.6e7 doubles, refine = "none". Beside
# it refine = "basis" (batch EP of all 60000 rows) on BASIS points.
#
# Hyperparameters are learned once per digit, by the evidence of batch EP of LEARN_ROWS rows on
# LEARN_SIZE points, and then fixed; the paper learns by its own criterion in seven rounds.
#
# Error in per cent, mean test log likelihood, seconds and peak memory of each fit above what was
# there before (the training images).
#
# Usage: Rscript bench/ivm_mnist.R [digits, as 5,8,9] [basis, 0 for none] [rows, for a trial]; the
# data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
DIGITS <- if (length(given)) as.integer(strsplit(given[[1L]], ",")[[1L]]) else c(5, 8, 9)
BASIS <- argument(2L, 1000)
ROWS <- argument(3L, 60000)
POOL <- 3.6e7
LEARN_ROWS <- 10000
LEARN_SIZE <- 300
PAPER <- data.frame(digit = c(5, 8, 9), size = c(3200, 3600, 3900), error = c(0.37, 0.52, 0.74),
                    log_lik = c(-0.026, -0.043, -0.037))

train <- read_mnist("train")
test <- read_mnist("t10k")
train$x <- train$x[seq_len(ROWS), ]

against_rest <- function(labels, digit) factor(labels == digit, c(FALSE, TRUE), c("rest", "digit"))

learned <- function(digit) {
  set.seed(digit)
  some <- sample(ROWS, min(LEARN_ROWS, ROWS))
  suppressWarnings(sparsegp(
    train$x[some, ], against_rest(train$digit[some], digit), likelihood = lik_probit(),
    kernel = kernel_rbf(10, 8), scale = FALSE, method = method_ivm(LEARN_SIZE),
    learn = learn_control(inner = 40)
  ))
}

final <- function(digit, at, method) {
  sparsegp(train$x, against_rest(train$digit[seq_len(ROWS)], digit), scale = FALSE, learn = FALSE,
           likelihood = lik_probit(bias = at[["bias"]]), method = method,
           kernel = kernel_rbf(at[["variance"]], at[["lengthscale"]]))
}

show_fit <- function(what, digit, at, method) {
  set.seed(1)
  fit <- NULL
  took <- NULL
  memory <- memory_of(function() {
    took <<- system.time(fit <<- suppressWarnings(final(digit, at, method)))[["elapsed"]]
  })
  scores <- class_scores(predict(fit, test$x, type = "prob"), against_rest(test$digit, digit))
  cat(sprintf("  %-22s %6d %6.2f %8.4f %8.1f %8.0f\n", what, method$size, scores[["error"]],
              scores[["log_lik"]], took, memory))
  at_paper <- PAPER[PAPER$digit == digit, ]
  bench_row("MNIST, a digit against the rest: error in per cent, mean log likelihood",
            digit = digit, by = what, size = method$size, error = scores[["error"]],
            "error, paper" = at_paper$error, "log lik." = scores[["log_lik"]],
            "log lik., paper" = at_paper$log_lik, seconds = took, MB = memory)
}

for (digit in DIGITS) {
  took <- system.time(start <- learned(digit))[["elapsed"]]
  at <- coef(start)
  paper <- PAPER[PAPER$digit == digit, ]
  cat(sprintf("digit %d: variance %.3g, lengthscale %.3g, bias %.2f learned in %.0f s\n", digit,
              at[["variance"]], at[["lengthscale"]], at[["bias"]], took))
  cat("                           size  error  log lik        s       MB\n")
  cat(sprintf("  %-22s %6d %6.2f %8.3f\n", "paper", paper$size, paper$error, paper$log_lik))
  show_fit("refine none", digit, at, method_ivm(paper$size, refine = "none", pool = POOL))
  if (BASIS) {
    show_fit("refine basis", digit, at, method_ivm(BASIS, refine = "basis", pool = POOL))
  }
}
