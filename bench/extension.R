# Kernels and likelihoods from users beside their built-in twins: seconds of learned fits after one
# that warms up, medians of three, in one run. Needs the package of tools/example-extension.
# Rscript bench/extension.R [library]

library(sparsegp, lib.loc = if (length(commandArgs(TRUE))) commandArgs(TRUE)[[1L]])
set.seed(1)
n <- 300
rows <- data.frame(a = rnorm(n), b = rnorm(n))
rows$y <- sin(2 * rows$a) + rows$b + 0.1 * rt(n, 3)
r_rq <- function(x, z, theta) {
  r2 <- outer(rowSums(x^2), rowSums(z^2), "+") - 2 * tcrossprod(x, z)
  (1 + pmax(r2, 0) / (2 * theta[["shape"]] * theta[["lengthscale"]]^2))^-theta[["shape"]]
}
kernels <- list(
  "built-in kernel" = kernel_rq(lengthscale = 1, shape = 1),
  "kernel_extension()" = kernel_extension("sparsegpexample", "rq", lengthscale = 1, shape = 1),
  "kernel_custom()" = kernel_custom(r_rq, c(lengthscale = 1, shape = 1))
)
likelihoods <- list(
  "built-in likelihood" = lik_student(scale = 0.3, df = fixed(4)),
  "lik_extension()" = lik_extension("sparsegpexample", "student", start = c(scale = 0.2, df = 5),
                                    range = list(df = c(2, Inf)), unit = c(scale = 1),
                                    theta = list(scale = 0.3, df = fixed(4)))
)
seconds <- function(...) {
  run <- function() {
    system.time(sparsegp(y ~ a + b, rows, ...))[["user.self"]]
  }
  run() # the first fit loads and compiles
  stats::median(replicate(3L, run()))
}
for (size in c(Inf, 60)) {
  method <- if (is.finite(size)) method_ep(size = size) else method_ep()
  by_kernel <- vapply(kernels, function(k) seconds(kernel = k, method = method), 0)
  by_lik <- vapply(likelihoods, function(l) {
    seconds(likelihood = l, kernel = kernel_rbf(1, 1), method = method)
  }, 0)
  for (times in list(by_kernel, by_lik)) {
    cat(sprintf("%-8s %-20s %7.3f s  ratio %.2f\n", if (is.finite(size)) "basis" else "full EP",
                names(times), times, times / times[1L]), sep = "")
  }
}
