# Rows of two components: batch EP of n of them, with noise of a full covariance, against that of
# the same 2 n values as rows of their own, on the same basis of points. Gaussian sites are exact,
# so that there is one sweep; the rest is what the basis sees of the rows. And locations that a
# stream takes in a second. Seconds are of the processor, by turns; medians of REPEATS.
# Usage: Rscript bench/vector.R [REPEATS [n]]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

REPEATS <- argument(1, 5)
N <- argument(2, 20000)

set.seed(1)
rows <- data.frame(x = runif(N, 0, 20), y = runif(N, 0, 20))
rows$u <- sin(rows$x) * cos(rows$y) + 0.3 * rnorm(N)
rows$v <- -cos(rows$x) * sin(rows$y) + 0.3 * rnorm(N)
points <- as.matrix(expand.grid(x = seq(1, 19, length.out = 10), y = seq(1, 19, length.out = 10)))

# The same points of the same kernel, as pairs and one by one: problems of the engine.
fit <- sparsegp(cbind(u, v) ~ x + y, rows, lik_gaussian(0.09, "full", 0.1), kernel_helmholtz(),
                basis = points, learn = FALSE)
hidden <- asNamespace("sparsegp")
pairs <- hidden$problem_of_kept_rows(fit)
pairs$basis <- fit$posterior$basis
singles <- pairs
singles[c("lik", "width")] <- list(list(type = "gaussian"), 1L)
singles$rows <- rbind(c(pairs$rows), 1)
theta <- fit$hyper$theta
PROBLEMS <- list(pairs = list(pairs, theta),
                 singles = list(singles, c(theta[seq_len(pairs$nkernel)], log(0.09))))

seconds <- function(run) {
  took <- system.time(suppressWarnings(run()))
  took[["user.self"]] + took[["sys.self"]]
}

run_seconds <- function(name) {
  problem <- PROBLEMS[[name]][[1L]]
  problem$method <- method_ep()
  seconds(function() hidden$engine_run(problem, PROBLEMS[[name]][[2L]]))
}

each <- replicate(REPEATS, vapply(names(PROBLEMS), run_seconds, 0))
middle <- apply(each, 1L, median)
cat(sprintf("%d pairs %.3f s, %d single rows %.3f s: %.2f times\n", N, middle[["pairs"]], 2 * N,
            middle[["singles"]], median(each["pairs", ] / each["singles", ])))

stream <- sparsegp(cbind(u, v) ~ x + y, rows[1:2000, ], lik_gaussian(0.09),
                   kernel_helmholtz(kernel_rbf(lengthscale = 2), kernel_rbf(lengthscale = 2)),
                   method = method_online(50), learn = FALSE, scale = FALSE)
took <- replicate(REPEATS, seconds(function() update(stream, rows[2001:7000, ])))
cat(sprintf("a stream on 50 locations: %.0f locations a second\n", 5000 / median(took)))
bench_row("Pairs against single rows", pairs = N, "seconds, pairs" = middle[["pairs"]],
          "seconds, twice as many rows" = middle[["singles"]],
          ratio = middle[["pairs"]] / middle[["singles"]],
          "stream, locations a second" = round(5000 / median(took)))
