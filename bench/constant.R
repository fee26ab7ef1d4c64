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
#   bias     labels, counts and positive numbers, whose bias is the constant: at its maximum, among
#            the hyperparameters that are integrated over, by mean = "constant", and by both; a
#            simulation, 40 repetitions, and small sets by 5-fold cross-validation
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

# ---- The bias of labels and counts ----

BIAS_CASES <- list(
  probit = list(lik = "probit", draw = function(f) factor(runif(length(f)) < pnorm(f))),
  poisson = list(lik = "poisson", draw = function(f) rpois(length(f), exp(f))),
  negbin = list(lik = "negbin", draw = function(f) rnbinom(length(f), 3, mu = exp(f))),
  gamma = list(lik = "gamma", draw = function(f) rgamma(length(f), 3, 3 / exp(f)))
)

# How the bias is treated: arguments of sparsegp()
BIAS_FITS <- list(
  maximum = list(control = gp_control(integrate = "none")),
  default = list(),
  constant = list(mean = "constant", control = gp_control(integrate = "none")),
  both = list(mean = "constant")
)

bias_fit <- function(given, ...) {
  suppressMessages(suppressWarnings(do.call(sparsegp, c(list(...), given))))
}

# A function of length scale 0.3 on [0, 1] about a constant ~ N(0, 1); 20 places among the data and
# 20 beyond them, from one to seven length scales
bias_data <- function(n, case, seed) {
  set.seed(seed)
  x <- c(runif(n), seq(0.02, 0.98, length.out = 20L), seq(1.3, 3, length.out = 20L))
  K <- exp(-outer(x, x, "-")^2 / 0.18) + diag(1e-8, length(x))
  f <- drop(crossprod(chol(K), rnorm(length(x)))) + rnorm(1L)
  list(rows = data.frame(x = x[seq_len(n)], y = case$draw(f[seq_len(n)])),
       new = data.frame(x = x[-seq_len(n)]), f = f[-seq_len(n)])
}

# Returns, for each treatment, coverage of 90 % intervals of the linear predictor, its mean log
# density and standard deviation, among the data and beyond.
bias_coverage <- function(n, case, times) {
  found <- lapply(seq_len(times), function(seed) {
    data <- bias_data(n, case, seed)
    if (length(unique(data$rows$y)) < 2L) return(NULL)
    vapply(BIAS_FITS, function(given) {
      fit <- bias_fit(given, y ~ x, data$rows, case$lik, "rbf")
      at <- predict(fit, data$new, type = "link", se.fit = TRUE)
      z <- (data$f - at$fit) / at$se.fit
      density <- dnorm(z, log = TRUE) - log(at$se.fit)
      c("coverage within" = mean(abs(z[1:20]) < qnorm(0.95)),
        "coverage beyond" = mean(abs(z[21:40]) < qnorm(0.95)),
        "log density within" = mean(density[1:20]), "log density beyond" = mean(density[21:40]),
        "sd within" = mean(at$se.fit[1:20]), "sd beyond" = mean(at$se.fit[21:40]))
    }, numeric(6L))
  })
  found <- Filter(Negate(is.null), found)
  t(Reduce(`+`, found) / length(found))
}

bias_sets <- function() {
  trials <- as.data.frame(MASS::snails)
  trials$Dead <- cbind(trials$Deaths, trials$N - trials$Deaths)
  list(
    kyphosis = list(Kyphosis ~ ., rpart::kyphosis, "probit"),
    birthwt = list(low ~ age + lwt + smoke + ptl + ht,
                   transform(MASS::birthwt, low = factor(low)), "probit"),
    Pima.tr = list(type ~ ., MASS::Pima.tr, "probit"),
    warpbreaks = list(breaks ~ wool + tension, warpbreaks, "negbin"),
    InsectSprays = list(count ~ spray, InsectSprays, "poisson"),
    quine = list(Days ~ Eth + Sex + Age + Lrn, MASS::quine, "negbin"),
    snails = list(Dead ~ Species + Exposure + Rel.Hum + Temp, trials, "binomial")
  )
}

# Returns the mean log probability of observations that were left out, by 5-fold cross-validation.
bias_log_probability <- function(set, given) {
  set.seed(1)
  fold <- sample(rep_len(1:5, nrow(set[[2L]])))
  each <- lapply(1:5, function(k) {
    fit <- bias_fit(given, set[[1L]], set[[2L]][fold != k, ], set[[3L]], "rbf")
    new <- set[[2L]][fold == k, ]
    y <- stats::model.response(stats::model.frame(set[[1L]], new))
    if (is.factor(y)) return(own_log(predict(fit, new, type = "prob"), y))
    pit <- attr(calibration(fit, new, nominal = 0.5), "pit")
    log(pit$upper - pit$lower)
  })
  mean(unlist(each))
}

compare_bias <- function() {
  for (case in names(BIAS_CASES)) for (n in c(15L, 30L, 60L, if (case == "probit") 400L)) {
    found <- bias_coverage(n, BIAS_CASES[[case]], if (n < 400L) 40L else 10L)
    for (way in rownames(found)) {
      bench_row("90 % intervals of the linear predictor", likelihood = case, n = n, bias = way,
                t(found[way, ]))
    }
    print(cbind(case, n, as.data.frame(found)), digits = 3L)
  }
  for (set in names(bias_sets())) {
    found <- vapply(BIAS_FITS, function(given) bias_log_probability(bias_sets()[[set]], given), 0)
    bench_row("Log probability of observations left out, 5-fold", set = set,
              n = nrow(bias_sets()[[set]][[2L]]), t(found))
    cat(set, format(found, digits = 4L), "\n")
  }
}

parts <- list(kriging = compare_kriging, ahead = compare_ahead, field = compare_field,
              zoo = compare_zoo, time = compare_time, bias = compare_bias)
asked <- commandArgs(TRUE)
for (part in if (length(asked)) asked else names(parts)) parts[[part]]()
