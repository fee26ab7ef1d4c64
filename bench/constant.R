# The constant of a response: integrated out (mean = "constant", the default), or the average
# plugged in (mean = "average", as up to 0.4.0).
#
#   SPARSEGP_DATA=... Rscript bench/constant.R [kriging | ahead | field | zoo | time ...]
#
# Without arguments all of these, in about ten minutes of a core:
#   kriging  differences from ordinary and universal kriging of DiceKriging, three sets
#   ahead    coverage of 90 % intervals 1 to 30 steps after the end of a series, 40 repetitions
#   field    a current that 12 drifters on one side have met: error and coverage on the other side
#   zoo      sets of numbers of bench/zoo_sets.R with up to 1000 training observations
#   time     seconds of a fit of 100 and of 1000 observations
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R")) source(file.path(dirname(self), name))
})

MEANS_COMPARED <- c("average", "constant")

covered <- function(answer, truth) truth >= answer[, "lwr"] & truth <= answer[, "upr"]

# ---- Kriging ----

kriging_sets <- function() list(
  cars = list(data = cars[!duplicated(cars$speed), ], inputs = "speed", response = "dist"),
  trees = list(data = trees, inputs = c("Girth", "Height"), response = "Volume"),
  stackloss = list(data = unique(stackloss[c(1L, 2L, 4L)]),
                   inputs = c("Air.Flow", "Water.Temp"), response = "stack.loss")
)

# Returns the largest differences of means and of standard deviations, in standard deviations of the
# response, at the data and far beyond them.
kriging_differences <- function(set, linear) {
  x <- scale(as.matrix(set$data[set$inputs]))
  x <- x[!duplicated(x), , drop = FALSE]
  y <- set$data[[set$response]][seq_len(nrow(x))]
  x <- as.data.frame(x)
  at <- rbind(x + 0.1, 3 * x)
  unit <- stats::sd(y)
  terms <- stats::reformulate(if (linear) set$inputs else "1")
  peer <- DiceKriging::km(terms, x, y, "matern5_2", coef.trend = NULL, coef.cov = rep(1.5, ncol(x)),
                          coef.var = 2 * unit^2, noise.var = rep(0.05 * unit^2, nrow(x)),
                          control = list(trace = FALSE))
  theirs <- DiceKriging::predict(peer, at, "UK", checkNames = FALSE)
  formula <- stats::reformulate(set$inputs, "y")
  # theirs is a product of kernels of one input each
  parts <- lapply(seq_along(set$inputs), function(j) {
    kernel_matern52(variance = fixed(if (j == 1L) 2 * unit^2 else 1), lengthscale = fixed(1.5),
                    vars = set$inputs[j])
  })
  ours <- sparsegp(formula, cbind(x, y = y), kernel = Reduce(`*`, parts), scale = FALSE,
                   likelihood = lik_gaussian(fixed(0.05 * unit^2)), learn = FALSE,
                   mean = if (linear) terms else "constant")
  found <- predict(ours, at, type = "latent", se.fit = TRUE)
  c(mean = max(abs(found$fit - theirs$mean)), sd = max(abs(found$se.fit - theirs$sd))) / unit
}

compare_kriging <- function() {
  sets <- kriging_sets()
  rows <- lapply(names(sets), function(name) {
    rbind(data.frame(set = name, kriging = "ordinary", t(kriging_differences(sets[[name]], FALSE))),
          data.frame(set = name, kriging = "universal", t(kriging_differences(sets[[name]], TRUE))))
  })
  bench_table(do.call(rbind, rows), "Largest differences from DiceKriging, in sd of the response")
}

# ---- A series, 30 steps ahead ----

# A function of length scale 10 steps about a level of 5, seen 40 times
one_series <- function(seed) {
  set.seed(seed)
  t <- seq_len(70)
  K <- exp(-outer(t, t, "-")^2 / 200) + diag(1e-8, 70)
  f <- 5 + drop(crossprod(chol(K), rnorm(70)))
  data.frame(t, y = f + 0.3 * rnorm(70))
}

compare_ahead <- function(times = 40L) {
  found <- lapply(seq_len(times), function(seed) {
    series <- one_series(seed)
    vapply(MEANS_COMPARED, function(mean) {
      fit <- sparsegp(y ~ t, series[1:40, ], kernel = "rbf", mean = mean)
      answer <- predict(fit, series[41:70, ], interval = "prediction", level = 0.9)
      inside <- covered(answer, series$y[41:70])
      c(mean(inside[1:10]), mean(inside[21:30]), mean(inside),
        sqrt(mean((answer[, "fit"] - series$y[41:70])^2)))
    }, numeric(4L))
  })
  table <- Reduce(`+`, found) / times
  rownames(table) <- c("coverage, steps 1 to 10", "steps 21 to 30", "all 30 steps", "RMSE")
  bench_table(table, "90 % intervals after the end of a series of 40")
}

# ---- A field from one side ----

compare_field <- function(times = 20L) {
  found <- lapply(seq_len(times), function(seed) {
    set.seed(seed)
    place <- data.frame(x = runif(62, 0, 4), y = runif(62, 0, 4))
    place$x[1:12] <- place$x[1:12] / 4
    phase <- runif(3, 0, 6)
    place$u <- 1 + cos(place$y + phase[1]) + 0.5 * cos(place$x + phase[2]) + 0.1 * rnorm(62)
    place$v <- 0.5 * sin(place$x + phase[3]) + 0.1 * rnorm(62)
    truth <- as.matrix(place[13:62, c("u", "v")])
    vapply(c(MEANS_COMPARED, "zero"), function(mean) {
      fit <- sparsegp(cbind(u, v) ~ x + y, place[1:12, ], kernel = kernel_helmholtz(), mean = mean)
      answer <- predict(fit, place[13:62, ], interval = "prediction", level = 0.9)
      inside <- truth >= answer[, "lwr", ] & truth <= answer[, "upr", ]
      c(coverage = mean(inside), RMSE = sqrt(mean((truth - answer[, "fit", ])^2)))
    }, numeric(2L))
  })
  bench_table(Reduce(`+`, found) / times, "90 % intervals of a current away from 12 drifters")
}

# ---- The zoo ----

# Returns mean log predictive density of test observations and coverage, a column for each mean.
score_set <- function(set) {
  y <- set$test[[set$response]]
  vapply(MEANS_COMPARED, function(mean) {
    fit <- sparsegp(set$formula, set$train, mean = mean)
    density <- quantile_density(predict(fit, set$test, type = "quantile", at = QUANTILES), y)
    edges <- predict(fit, set$test, type = "quantile", at = c(0.05, 0.95))
    c(mean(density), mean(y > edges[, 1L] & y < edges[, 2L]))
  }, numeric(2L))
}

compare_zoo <- function() {
  table <- zoo_table()
  rows <- lapply(which(table$kind == "number"), function(k) {
    set <- tryCatch(zoo_split(table[k, ], most = 1000L), error = function(e) NULL)
    if (is.null(set)) return(NULL)
    found <- tryCatch(score_set(set), error = function(e) NULL)
    if (is.null(found)) return(NULL)
    cat(set$name, format(found, digits = 4L), "\n")
    data.frame(set = set$name, n = nrow(set$train), lpd_average = found[1L, 1L],
               lpd_constant = found[1L, 2L], coverage_average = found[2L, 1L],
               coverage_constant = found[2L, 2L])
  })
  rows <- do.call(rbind, rows)
  means <- as.list(colMeans(rows[-(1:2)]))
  bench_table(rbind(rows, data.frame(set = "mean", n = NA, means)),
              "Test log density and coverage of 90 % intervals")
}

# ---- Seconds ----

compare_time <- function() {
  rows <- lapply(c(100L, 1000L), function(n) {
    set.seed(1)
    data <- data.frame(x = runif(n), z = runif(n))
    data$y <- sin(6 * data$x) + data$z + 0.2 * rnorm(n)
    seconds <- function(mean) {
      system.time(sparsegp(y ~ x + z, data, kernel = "rbf", mean = mean))[["elapsed"]]
    }
    repeats <- if (n == 100L) 21L else 5L
    each <- replicate(repeats, vapply(MEANS_COMPARED, seconds, 0))
    data.frame(n = n, t(apply(each, 1L, stats::median)))
  })
  bench_table(do.call(rbind, rows), "Seconds of a fit, median")
}

parts <- list(kriging = compare_kriging, ahead = compare_ahead, field = compare_field,
              zoo = compare_zoo, time = compare_time)
asked <- commandArgs(TRUE)
for (part in if (length(asked)) asked else names(parts)) parts[[part]]()
