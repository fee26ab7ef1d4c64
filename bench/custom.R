# Likelihoods that are R functions beside their twins in C: seconds of a learned fit of 2000 rows on
# 100 inducing points, one thread, in one run; medians of `repetitions`.
#
#   Rscript bench/custom.R [repetitions]

library(sparsegp)

repetitions <- as.integer(c(commandArgs(TRUE), 3)[1L])
options(sparsegp.threads = 1)

set.seed(1)
n <- 2000
d <- data.frame(x = runif(n, 0, 3))
d$y <- sin(2 * d$x) + 0.2 * rt(n, 4)
d$y <- d$y / sd(d$y)
d$label <- factor(d$y + rnorm(n) > 0)
d$count <- rpois(n, exp(1 + d$y / 2))
basis <- d[seq(1, n, 20), ]

own <- list(
  student = lik_custom(function(y, f, theta) {
    dt((y - f) / theta[["scale"]], 4, log = TRUE) - log(theta[["scale"]])
  }, theta = c(scale = 0.2)),
  probit = lik_custom(function(y, f, theta) pnorm(y * (f + theta[["bias"]]), log.p = TRUE),
                      theta = c(bias = 0), response = "label"),
  poisson = lik_custom(function(y, f, theta) dpois(y, exp(f + theta[["bias"]]), log = TRUE),
                       theta = c(bias = 0), response = "count")
)
twins <- list(student = lik_student(transform = "identity"), probit = lik_probit(),
              poisson = lik_poisson())
formulas <- list(student = y ~ x, probit = label ~ x, poisson = count ~ x)

seconds <- function(name, likelihood, mean = NULL) {
  took <- replicate(repetitions, system.time(
    fit <<- sparsegp(formulas[[name]], d, likelihood, kernel = kernel_rbf(1, 0.7), basis = basis,
                     mean = mean)
  )[["user.self"]])
  stats::median(took)
}

cat("| likelihood | in R, s | in C, s | ratio | evaluations, R and C | log evidence, R less C |\n",
    "| --- | ---: | ---: | ---: | ---: | ---: |\n", sep = "")
for (name in names(own)) {
  in_r <- seconds(name, own[[name]])
  fit_r <- fit
  in_c <- seconds(name, twins[[name]], if (name == "student") "zero")
  cat(sprintf("| %s | %.2f | %.2f | %.1f | %d, %d | %.2g |\n", name, in_r, in_c, in_r / in_c,
              fit_r$learning$evaluations, fit$learning$evaluations,
              as.numeric(logLik(fit_r)) - as.numeric(logLik(fit))))
}
