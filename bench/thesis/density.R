# Density estimation (thesis section 5.3, fig. 5.9): a mixture of two normal densities on the unit
# interval, 500 points, k0 = 5: L2 error on an even grid against sweeps of EP (at lambda = 0 and at
# the next one, as many each), with the order chosen by evidence besides, and beside
# stats::density() with its default bandwidth and that of Sheather and Jones. The thesis names
# neither the mixture nor the numbers. Medians over seeds.
# Usage: Rscript bench/thesis/density.R [seeds] [file.pdf for the figure]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SEEDS <- argument(1, 20)
POINTS <- 500
SWEEPS <- c(1, 2, 4, 8, 16, 200)
GRID <- (seq_len(500) - 0.5) / 500

mixture <- function(n) {
  x <- ifelse(runif(n) < 0.5, rnorm(n, 0.3, 0.06), rnorm(n, 0.7, 0.1))
  x[x > 0 & x < 1]
}
truth <- 0.5 * dnorm(GRID, 0.3, 0.06) + 0.5 * dnorm(GRID, 0.7, 0.1)

l2 <- function(density) sqrt(mean((density - truth)^2))

of_kernels <- function(x, bandwidth) {
  at <- density(x, bandwidth, n = 2048)
  l2(approx(at$x, at$y, GRID, yleft = 0, yright = 0)$y)
}

errors <- repeated(SEEDS, function(seed) {
  x <- mixture(POINTS)
  by_sweeps <- vapply(SWEEPS, function(sweeps) {
    l2(predict(suppressWarnings(gp_density(x, 5, c(0, 1), 1, sweeps = sweeps)), GRID))
  }, 0)
  chosen <- gp_density(x, NULL, c(0, 1))
  holds <- function(fit) {
    band <- predict(fit, GRID, interval = "confidence", level = 0.9)
    mean(truth >= band[, "lwr"] & truth <= band[, "upr"])
  }
  c(setNames(by_sweeps, paste("k0 = 5, EP sweeps", SWEEPS)),
    "k0 by evidence" = l2(predict(chosen, GRID)), "stats::density" = of_kernels(x, "nrd0"),
    "stats::density, SJ" = of_kernels(x, "SJ"), "(order chosen)" = chosen$k0,
    "(90 % interval holds)" = holds(chosen),
    "(that of k0 = 5)" = holds(gp_density(x, 5, c(0, 1))))
})
cat(sprintf("Two normal densities, %d points, %g seeds: L2 error\n", POINTS, SEEDS))
bench_table(cbind(median = apply(errors, 2L, median), summarised(errors)[c("mean", "sd")]),
            "L2 error by sweeps of EP and of kernel estimates", 3L)

took <- system.time(gp_density(mixture(POINTS), 5, c(0, 1)))[["elapsed"]]
many <- system.time(gp_density(mixture(1e5), 5, c(0, 1)))[["elapsed"]]
cat(sprintf("Seconds: %.2f; with 100 000 points %.1f\n", took, many))

file <- commandArgs(TRUE)[2L]
if (!is.na(file)) {
  set.seed(1)
  grDevices::pdf(file, 6, 4)
  plot(gp_density(mixture(POINTS), 5, c(0, 1)), xlab = "x")
  lines(GRID, truth, lty = 2)
  invisible(grDevices::dev.off())
}
