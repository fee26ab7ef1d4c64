# Hyperparameters integrated out: what it is worth, and what it costs.
#
#   Rscript bench/integrate.R coverage [repetitions]   functions drawn from the prior
#   Rscript bench/integrate.R mcmc                     against Markov chains, small sets of R
#   Rscript bench/integrate.R zoo                      sets of at most 300 rows of SPARSEGP_DATA
#   Rscript bench/integrate.R ard                      32 inputs, 300 rows
#   Rscript bench/integrate.R cost                     evaluations and time
#
# Tables go to stdout; bench/results/integrate.md has what came of it.

library(sparsegp)

RULES <- c("none", "default", "ccd")

fit_by <- function(rule, ...) {
  if (rule == "default") sparsegp(...) else sparsegp(..., integrate = rule)
}

# ---- Coverage ----

# A function of `inputs` inputs on the unit cube drawn from the prior: length scale 0.4 in the first
# two, 20 in the others, sd 1, noise 0.3; n rows and 100 more.
drawn_rows <- function(n, inputs) {
  x <- matrix(stats::runif((n + 100) * inputs), ncol = inputs)
  scale <- c(0.4, 0.4, rep(20, 3))[seq_len(inputs)]
  K <- exp(-as.matrix(stats::dist(t(t(x) / scale)))^2 / 2)
  y <- drop(t(chol(K + 1e-8 * diag(nrow(K)))) %*% stats::rnorm(nrow(K))) +
    0.3 * stats::rnorm(nrow(K))
  data.frame(y, x)
}

SETTINGS <- data.frame(n = c(15, 30, 30, 60), inputs = c(1, 1, 5, 5))

coverage_of <- function(n, inputs, repetitions) {
  kernel <- if (inputs > 1) kernel_rbf(ard = TRUE)
  each <- lapply(seq_len(repetitions), function(repetition) {
    set.seed(1000 * n + 100 * inputs + repetition)
    d <- drawn_rows(n, inputs)
    new <- d[-seq_len(n), ]
    t(vapply(RULES, function(rule) {
      fit <- suppressWarnings(fit_by(rule, y ~ ., d[seq_len(n), ], kernel = kernel))
      p <- predict(fit, new, interval = "prediction", level = 0.9)
      inside <- new$y >= p[, "lwr"] & new$y <= p[, "upr"]
      tails <- predict(fit, new, interval = "prediction", level = 0.98)
      c(inside = mean(inside), width = mean(p[, "upr"] - p[, "lwr"]),
        inside98 = mean(new$y >= tails[, "lwr"] & new$y <= tails[, "upr"]),
        rmse = sqrt(mean((p[, "fit"] - new$y)^2)))
    }, numeric(4L)))
  })
  mean <- Reduce(`+`, each) / repetitions
  spread <- apply(vapply(each, function(one) one[, "inside"], numeric(length(RULES))), 1L,
                  stats::sd) / sqrt(repetitions)
  data.frame(n, inputs, rule = RULES, mean, se = spread, row.names = NULL)
}

run_coverage <- function(repetitions = 60) {
  out <- do.call(rbind, Map(coverage_of, SETTINGS$n, SETTINGS$inputs, repetitions))
  print(format(out, digits = 3), row.names = FALSE)
}

arguments <- commandArgs(TRUE)
switch(arguments[1L],
       coverage = run_coverage(as.numeric(c(arguments[-1L], 60)[1L])))
