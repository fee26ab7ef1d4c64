# Likelihoods that are R functions beside their twins in C: seconds of a learned fit of 2000 rows on
# 100 inducing points, one thread, in one run; medians of `repetitions`. Last, a mean and a spread
# that are both functions: 100 rows, all of them inducing points, hyperparameters as they are.
#
#   Rscript bench/custom.R [repetitions]

library(sparsegp)

repetitions <- as.integer(c(commandArgs(TRUE), 3)[1L])
options(sparsegp.threads = 1)
`%||%` <- function(a, b) if (is.null(a)) b else a

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
                       theta = c(bias = 0), response = "count",
                       prior = list(bias = prior_normal(0, 5))), # as lik_poisson() has it
  heteroscedastic = lik_custom(function(y, f, theta) {
    dnorm(y, f$mean, theta[["sd"]] * exp(f$log_sd), log = TRUE)
  }, theta = c(sd = 0.2), width = 2, components = c("mean", "log_sd"))
)
twins <- list(student = lik_student(transform = "identity"), probit = lik_probit(),
              poisson = lik_poisson(),
            heteroscedastic = lik_heteroscedastic(0.04, transform = "identity"))
formulas <- list(student = y ~ x, probit = label ~ x, poisson = count ~ x, heteroscedastic = y ~ x)

fit_once <- function(name, likelihood, mean) {
  if (name == "heteroscedastic") {
    kernel <- kernel_coregion(kernel_rbf(lengthscale = 0.7), 0, c(1, 1))
    return(sparsegp(y ~ x, basis, likelihood, kernel, mean = mean, learn = FALSE))
  }
  sparsegp(formulas[[name]], d, likelihood, kernel_rbf(1, 0.7), basis = basis, mean = mean)
}

seconds <- function(name, likelihood, mean = NULL) {
  took <- replicate(repetitions,
                    system.time(fit <<- fit_once(name, likelihood, mean))[["user.self"]])
  stats::median(took)
}

cat("| likelihood | in R, s | in C, s | ratio | evaluations, R and C | log evidence, R less C |\n",
    "| --- | ---: | ---: | ---: | ---: | ---: |\n", sep = "")
for (name in names(own)) {
  in_r <- seconds(name, own[[name]])
  fit_r <- fit
  in_c <- seconds(name, twins[[name]], if (name %in% c("student", "heteroscedastic")) "zero")
  evaluations <- vapply(list(fit_r, fit), function(one) one$learning$evaluations %||% 0L, 0L)
  cat(sprintf("| %s | %.2f | %.2f | %.1f | %d, %d | %.2g |\n", name, in_r, in_c, in_r / in_c,
              evaluations[1L], evaluations[2L],
              as.numeric(logLik(fit_r)) - as.numeric(logLik(fit))))
}
