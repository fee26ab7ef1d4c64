# What a vector field should have for a prior mean where nothing is said: fields of several kinds,
# seen by drifters that are few or many, everywhere or on one side. Errors over all of the region,
# and the log density of the true velocities there (with the fit's noise), for mean = "zero" and
# mean = "constant", and the one of the two that a default takes: a constant if it raises the log
# evidence by 4 nats (policy, min_drift_gain, of two components).
# Usage: Rscript bench/field_mean.R [SEEDS]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SEEDS <- argument(1, 6)

# Velocities at places x, y of the unit square times 4, of size about 1.
waves <- function(x, y, size, kind) {
  k <- matrix(rnorm(24, sd = 1 / size), 12L)
  phase <- runif(12, 0, 2 * pi)
  a <- rnorm(12) / sqrt(6)
  slope <- -sweep(sin(sweep(cbind(x, y) %*% t(k), 2L, phase, "+")), 2L, a, "*")
  gradient <- slope %*% k * size
  switch(kind, stream = cbind(-gradient[, 2L], gradient[, 1L]), potential = gradient)
}
gyre <- function(x, y) {
  centre <- runif(2, 1, 3)
  r2 <- ((x - centre[1L])^2 + (y - centre[2L])^2) / 1.5^2
  1.6 * exp(0.5 - r2 / 2) * cbind(-(y - centre[2L]), x - centre[1L]) / 1.5
}
FIELDS <- list(
  "eddies" = function(x, y) waves(x, y, 1, "stream"),
  "large eddies" = function(x, y) waves(x, y, 2.5, "stream"),
  "stream and potential" = function(x, y) {
    (waves(x, y, 1.5, "stream") + waves(x, y, 1.5, "potential")) / sqrt(2)
  },
  "one gyre" = gyre,
  "eddies on a drift" = function(x, y) {
    angle <- runif(1, 0, 2 * pi)
    0.6 * waves(x, y, 1, "stream") + rep(1.5 * c(cos(angle), sin(angle)), each = length(x))
  }
)
KERNELS <- list(helmholtz = function() kernel_helmholtz(), divfree = function() kernel_divfree(),
                coregion = function() kernel_coregion(kernel_rbf(), rank = 0))
grid <- expand.grid(x = seq(0, 4, length.out = 12), y = seq(0, 4, length.out = 12))

one <- function(field, n, side, seed, kernel) {
  set.seed(seed)
  d <- data.frame(x = runif(n, 0, if (side == "one side") 1.6 else 4), y = runif(n, 0, 4))
  all <- FIELDS[[field]](c(d$x, grid$x), c(d$y, grid$y))
  d$u <- all[seq_len(n), 1L] + 0.1 * rnorm(n)
  d$v <- all[seq_len(n), 2L] + 0.1 * rnorm(n)
  truth <- all[-seq_len(n), ]
  of_mean <- function(mean) {
    fit <- tryCatch(suppressWarnings(suppressMessages(
      sparsegp(cbind(u, v) ~ x + y, d, kernel = KERNELS[[kernel]](), mean = mean)
    )), error = function(e) NULL)
    if (is.null(fit)) return(c(NA, NA, NA))
    found <- predict(fit, grid, se.fit = TRUE)
    sd <- sqrt(pmax(found$se.fit, 0)^2 + 0.1^2)
    c(sqrt(mean((found$fit - truth)^2)), mean(dnorm(truth, found$fit, sd, log = TRUE)),
      logLik(fit))
  }
  zero <- of_mean("zero")
  constant <- of_mean("constant")
  c(zero[1:2], constant[1:2], if (isTRUE(constant[3L] > zero[3L] + 4)) constant[1:2] else zero[1:2])
}

cases <- expand.grid(kernel = names(KERNELS), side = c("everywhere", "one side"),
                     n = c(8, 16, 40), field = names(FIELDS), stringsAsFactors = FALSE)
# the other kernels on a part of the cases
cases <- cases[cases$kernel == "helmholtz" | cases$n == 16, ]
cases <- cases[order(-match(cases$field, names(FIELDS))), ]
for (i in seq_len(nrow(cases))) {
  case <- cases[i, ]
  found <- vapply(seq_len(SEEDS), function(seed) {
    one(case$field, case$n, case$side, seed, case$kernel)
  }, numeric(6))
  found <- found[, !is.na(colSums(found)), drop = FALSE]
  gain <- found[4L, ] - found[2L, ]
  middle <- rowMeans(found)
  cat(sprintf("%-10s %-10s %3d %-22s zero %.3f %.2f, constant %.3f %.2f, by evidence %.3f %.2f\n",
              case$kernel, case$side, case$n, case$field, middle[1L], middle[2L], middle[3L],
              middle[4L], middle[5L], middle[6L]))
  bench_row("A prior mean of zero, and a constant", kernel = case$kernel, drifters = case$n,
            where = case$side, field = case$field, "RMSE, zero" = middle[1L],
            constant = middle[3L], "by evidence" = middle[5L], "log density, zero" = middle[2L],
            "constant " = middle[4L], "by evidence " = middle[6L],
            "standard error of constant - zero" = sd(gain) / sqrt(length(gain)))
}
