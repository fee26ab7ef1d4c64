# Maps by nearest neighbours: a rough function (Matern 1/2, range 1/30 of the square, noise 0.3) by
# the default call beside kriging with the true kernel; counts and labels by method_neighbours().
# CPU seconds of one process; errors are of the function at 2000 new places.
#
#   Rscript bench/neighbours.R [rows ...]    10^4 and 5 10^4 rows by default, some three minutes
library(sparsegp)
ns <- asNamespace("sparsegp")
sizes <- as.numeric(commandArgs(TRUE))
if (length(sizes) == 0L) sizes <- c(1e4, 5e4)

RANGE <- 1 / 30
NOISE <- 0.3

seconds <- function(expr) {
  gc(reset = TRUE)
  unname(sum(system.time(expr)[1:2]))
}

kernel_of_map <- function(X) {
  inputs <- list(names = colnames(X), kept = c(TRUE, TRUE))
  ns$spec_for_c(ns$resolve_kernel(kernel_matern12(), inputs))
}

# A map of n rows and 2000 new places: each value is drawn given its 40 nearest ones before it.
draw_map <- function(n) {
  set.seed(1)
  all <- n + 2000
  X <- cbind(lon = runif(all), lat = runif(all))
  order <- ns$neighbours_before(X, 40L, seq_len(all))
  own <- ns$neighbour_weights(kernel_of_map(X), log(c(1, RANGE)), X, NULL, X, matrix(0L, 0L, all),
                              before = order$near)
  f <- drop(ns$solver_of_points(own$weights, order, 1L)(matrix(drop(own$root) * rnorm(all))))
  rows <- seq_len(n)
  list(X = X[rows, ], f = f[rows], new = X[-rows, ], truth = f[-rows])
}

# Kriging from 60 neighbours with the true kernel and noise.
krige <- function(map, y) {
  near <- ns$neighbours_of(map$X, y, map$new, 60L)
  own <- ns$neighbour_weights(kernel_of_map(map$X), log(c(1, RANGE)), map$X,
                              rep(NOISE^2, nrow(map$X)), map$new, near)
  ns$weighted_sums(own$weights, near, y)
}

rmse <- function(x, truth) sqrt(mean((x - truth)^2))

one_map <- function(n) {
  map <- draw_map(n)
  y <- map$f + NOISE * rnorm(n)
  time <- seconds(fit <- sparsegp(map$X, y))
  memory <- sum(gc()[, 6])
  p <- predict(fit, map$new, interval = "confidence", level = 0.9)
  print(fit)
  c(rows = n, seconds = time, `MB of R` = memory, rmse = rmse(p[, 1], map$truth),
    kriging = rmse(krige(map, y), map$truth),
    ratio = rmse(p[, 1], map$truth) / rmse(krige(map, y), map$truth),
    inside = mean(p[, 2] < map$truth & map$truth < p[, 3]), `MB of fit` = object.size(fit) / 1e6)
}

cat("Rough maps, default call; intervals of 90 %\n")
print(signif(t(vapply(sizes, one_map, numeric(8))), 3))

# Counts and labels of a smoother map, at given hyperparameters: seconds of EP.
one_ep <- function(n, likelihood) {
  map <- draw_map(n)
  y <- if (likelihood == "poisson") rpois(n, exp(map$f)) else factor(map$f + rnorm(n) > 0)
  time <- seconds(fit <- sparsegp(map$X, y, likelihood, scale = FALSE, learn = FALSE,
                                  kernel = kernel_matern12(variance = 1, lengthscale = RANGE),
                                  method = method_neighbours(k = 10)))
  memory <- sum(gc()[, 6])
  predicted <- seconds(p <- predict(fit, map$new, type = "link", interval = "confidence",
                                    level = 0.9))
  c(rows = n, seconds = time, sweeps = fit$convergence$sweeps, `MB of R` = memory,
    `2000 predictions` = predicted, rmse = rmse(p[, 1], map$truth),
    inside = mean(p[, 2] < map$truth & map$truth < p[, 3]))
}

for (likelihood in c("poisson", "probit")) {
  cat("\n", likelihood, ", 10 neighbours, true hyperparameters, EP\n", sep = "")
  print(signif(t(vapply(sizes[sizes <= 5e4], one_ep, numeric(7), likelihood = likelihood)), 3))
}
