# Maps by nearest neighbours, by the default call: a rough function (Matern 1/2, range 1/30 of the
# square, noise 0.3) beside kriging with the true kernel and peers that are installed; counts and
# labels of it; a simulated map of temperatures (Heaton and others 2019), if its file is given.
# CPU seconds of one process; errors are of the function at 2000 new places.
#
#   Rscript bench/neighbours.R [rows or a .csv.gz ...]    10^4 and 5 10^4 rows: some five minutes
#   Rscript bench/neighbours.R source                     a source of 10^6 rows, sorted in space
library(sparsegp)
ns <- asNamespace("sparsegp")
given <- commandArgs(TRUE)
files <- grep("csv", given, value = TRUE)
sizes <- as.numeric(setdiff(given, c(files, "source")))
if (length(given) == 0L) sizes <- c(1e4, 5e4)
MOST_SWEPT <- 5e4 # rows of counts and labels
MOST_PEERS <- 1e4 # rows that peers are given

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

# Peers with their usual settings for two inputs.
peers <- function(map, y) {
  d <- data.frame(map$X, y = y)
  new <- data.frame(map$new)
  fits <- list(
    bam = function() predict(mgcv::bam(y ~ s(lon, lat, k = 400), data = d, discrete = TRUE), new),
    ranger = function() {
      predict(ranger::ranger(y ~ lon + lat, d, num.threads = 1L), new)$predictions
    },
    laGP = function() {
      laGP::aGP(map$X, y, map$new, d = list(start = 0.01, mle = TRUE),
                g = list(start = 0.1, mle = TRUE), verb = 0)$mean
    },
    GpGp = function() {
      own <- GpGp::fit_model(y, map$X, covfun_name = "exponential_isotropic", silent = TRUE)
      GpGp::predictions(own, map$new, matrix(1, nrow(map$new), 1), m = 60)
    }
  )
  packages <- c(bam = "mgcv", ranger = "ranger", laGP = "laGP", GpGp = "GpGp")
  there <- names(fits)[vapply(packages[names(fits)], requireNamespace, NA, quietly = TRUE)]
  vapply(there, function(name) {
    time <- seconds(p <- fits[[name]]())
    c(seconds = time, rmse = rmse(p, map$truth))
  }, numeric(2))
}

if (length(sizes)) {
  cat("Rough maps, default call; intervals of 90 %\n")
  print(signif(t(vapply(sizes, one_map, numeric(8))), 3))
}
for (n in sizes[sizes <= MOST_PEERS]) {
  map <- draw_map(n)
  cat("\nPeers, ", n, " rows\n", sep = "")
  print(signif(t(peers(map, map$f + NOISE * rnorm(n))), 3))
}

# Counts and labels of the same function by the default call.
one_ep <- function(n, likelihood) {
  map <- draw_map(n)
  y <- if (likelihood == "poisson") rpois(n, exp(map$f)) else factor(map$f + rnorm(n) > 0)
  time <- seconds(fit <- sparsegp(map$X, y, likelihood))
  memory <- sum(gc()[, 6])
  print(fit)
  predicted <- seconds(p <- predict(fit, map$new, type = "link", interval = "confidence",
                                    level = 0.9))
  joint <- seconds(predict(fit, map$new, type = "link", se.fit = TRUE, covariance = TRUE))
  c(rows = n, seconds = time, `MB of R` = memory, `2000 predictions` = predicted, joint = joint,
    rmse = rmse(p[, 1], map$truth), inside = mean(p[, 2] < map$truth & map$truth < p[, 3]))
}

for (likelihood in c("poisson", "probit")[any(sizes <= MOST_SWEPT) * 1:2]) {
  found <- vapply(sizes[sizes <= MOST_SWEPT], one_ep, numeric(7), likelihood = likelihood)
  cat("\n", likelihood, ", default call\n", sep = "")
  print(signif(t(found), 3))
}

# Columns lon, lat, masked (the response where it is observed) and truth.
for (file in files) {
  d <- read.csv(file)
  seen <- !is.na(d$masked)
  time <- seconds(fit <- sparsegp(masked ~ lon + lat, d[seen, ]))
  memory <- sum(gc()[, 6])
  print(fit)
  inside <- function(level) {
    p <- predict(fit, d[!seen, ], interval = "prediction", level = level)
    mean(p[, 2] < d$truth[!seen] & d$truth[!seen] < p[, 3])
  }
  p <- predict(fit, d[!seen, ], interval = "prediction", level = 0.95)
  s <- (p[, 3] - p[, 1]) / qnorm(0.975)
  z <- (d$truth[!seen] - p[, 1]) / s
  crps <- s * (z * (2 * pnorm(z) - 1) + 2 * dnorm(z) - 1 / sqrt(pi)) # of a Gaussian
  cat("\n", basename(file), "\n", sep = "")
  print(signif(c(rows = sum(seen), seconds = time, `MB of R` = memory,
                 rmse = rmse(p[, 1], d$truth[!seen]), crps = mean(crps), `90 %` = inside(0.9),
                 `95 %` = inside(0.95)), 3))
}

# 10^6 rows sorted by cells of a grid, of 200 random waves with the spectrum of the rough map, so
# that they are drawn in little time.
if ("source" %in% given) {
  set.seed(1)
  all <- 1e6 + 2000
  X <- cbind(lon = runif(all), lat = runif(all))
  waves <- matrix(rnorm(400), 200) / sqrt(rgamma(200, 1 / 2, 1 / 2)) / RANGE
  phase <- 2 * pi * runif(200)
  f <- 0
  for (w in 1:200) f <- f + sqrt(2 / 200) * cos(drop(X %*% waves[w, ]) + phase[w])
  d <- data.frame(X, y = f + NOISE * rnorm(all))
  new <- tail(seq_len(all), 2000)
  sorted <- d[-new, ][order(floor(64 * d$lat[-new]), floor(64 * d$lon[-new])), ]
  chunks <- split(sorted, rep(1:20, each = 50000))
  rows <- row_source(function(i) chunks[[i]], chunks = 20)
  time <- seconds(fit <- sparsegp(y ~ lon + lat, rows, method = method_neighbours()))
  p <- predict(fit, d[new, ], interval = "confidence", level = 0.9)
  print(fit)
  cat("\na source of 10^6 rows\n")
  print(signif(c(seconds = time, `MB of R` = sum(gc()[, 6]), rmse = rmse(p[, 1], f[new]),
                 inside = mean(p[, 2] < f[new] & f[new] < p[, 3])), 3))
}
