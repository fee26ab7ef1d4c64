# What a second thread saves: batch EP on 100 points of 2000 rows, by likelihoods whose tilts are
# most of the work, once and while hyperparameters are learned, and predictions and selections of
# many rows. Least and median seconds of several runs, and that the results are identical. Give the
# BLAS one thread (OPENBLAS_NUM_THREADS=1 or the like), as loops over matrix products go to ours
# only then.
#
#   Rscript bench/threads.R [runs = 5] [threads = 2]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})
runs <- argument(1, 5)
threads <- argument(2, 2)

set.seed(1)
n <- 2000
x <- matrix(runif(3 * n), n)
f <- sin(4 * x[, 1]) + x[, 2]
waves <- sapply(1:9, function(i) sin(i * x[, 1] + 3 * x[, 2]))
digit <- factor(max.col(cbind(f, waves) + 0.3 * rnorm(10 * n)))
y <- f + 0.2 * rt(n, 3)
count <- rnbinom(n, size = 3, mu = exp(f))
new <- matrix(runif(6e4), 2e4)

on_basis <- function(y, lik) function() sparsegp(x, y, lik, basis = 1:100, learn = FALSE)
few <- learn_control(inner = 5, outer = 1) # steps, which do not converge
learning <- function(y, lik) {
  function() suppressWarnings(sparsegp(x, y, lik, basis = 1:100, learn = few))
}
wide <- sparsegp(x, y, basis = 1:200, learn = FALSE)
cases <- list(
  mprobit = on_basis(digit, lik_mprobit()), student = on_basis(y, lik_student()),
  negbin = on_basis(count, lik_negbin()), `mprobit+` = learning(digit, lik_mprobit()),
  `student+` = learning(y, lik_student()), `negbin+` = learning(count, lik_negbin()),
  predict = function() predict(wide, new, type = "latent", se.fit = TRUE),
  ivm = function() sparsegp(x, y, lik_student(), method = method_ivm(20, refine = "none"),
                            learn = FALSE)
)

# seconds of `runs` runs under each number, taken in turn, and whether all results are the same
timed <- function(case) {
  took <- matrix(NA, runs, 2)
  results <- list()
  for (run in seq_len(runs)) {
    for (k in 1:2) {
      options(sparsegp.threads = c(1, threads)[k])
      took[run, k] <- system.time(results[[k]] <- case())[["elapsed"]]
    }
  }
  list(took = took, identical = identical(results[[1L]], results[[2L]]))
}

cat("+: hyperparameters are learned, a few steps\n")
cat(sprintf("%-8s %18s %18s %8s %s\n", "", "1 thread", paste(threads, "threads"), "ratio", "same"))
for (name in names(cases)) {
  case <- timed(cases[[name]])
  least <- apply(case$took, 2, min)
  middle <- apply(case$took, 2, median)
  cat(sprintf("%-8s %8.3f (%6.3f)  %8.3f (%6.3f) %8.2f %s\n", name, least[1], middle[1], least[2],
              middle[2], least[1] / least[2], case$identical))
  bench_row("Seconds on one thread and on several: minimum and median", case = name,
            "one, least" = least[1], "more, least" = least[2], "one, median" = middle[1],
            "more, median" = middle[2], ratio = round(least[1] / least[2], 2),
            "same bits" = case$identical)
}
