# Series by Markov EP: seconds of value and gradient by the number of observations; a sine of period
# 50 samples with noise 0.2 by the default call beside kriging with the true kernel; a million
# observations at given hyperparameters, in memory and from a source; 2 10^5 counts learned;
# forecasts beside those of last season and of mgcv::bam(). CPU seconds of one process.
#
#   Rscript bench/markov.R [quick] [PART ...]    some five minutes; quick: up to 10^4 observations
# Parts: evaluation, search, kfas, fastgasp, sine, coverage, many, forecasts; all of them if none is
# named.
library(sparsegp)
quick <- "quick" %in% commandArgs(TRUE)
parts <- setdiff(commandArgs(TRUE), "quick")
wanted <- function(part) length(parts) == 0L || part %in% parts
sizes <- if (quick) 10^(3:4) else 10^(3:6)

seconds <- function(expr) {
  gc()
  unname(sum(system.time(expr)[1:2]))
}

# ---- Value and gradient ----

# Seconds of the log evidence at given hyperparameters, with its gradient where it is learned.
one_evaluation <- function(n, kernel) {
  set.seed(1)
  t <- cbind(t = sort(runif(n)))
  y <- sin(12 * t[, 1L]) + 0.2 * rnorm(n)
  small <- sparsegp(t[1:500, , drop = FALSE], y[1:500], lik_gaussian(variance = 0.04),
                    kernel = kernel, method = method_markov(), learn = FALSE)
  ns <- asNamespace("sparsegp") # one run of the engine, without reading and checking rows
  model <- ns$model_of_fit(small)
  problem <- ns$new_problem(model, t, rbind(y, 1)[seq_len(nrow(small$data_rows)), , drop = FALSE],
                            numeric(n), small$options)
  problem$mean <- NULL
  problem <- ns$plan_markov(problem)$problem
  run <- function(gradient) ns$engine_run(problem, small$hyper$theta, gradient = gradient)
  c(observations = n, value = seconds(run(FALSE)), `with gradient` = seconds(run(TRUE)))
}

kernels <- list(`matern32()` = kernel_matern32(lengthscale = 0.3),
                `matern52() + matern12()` = kernel_matern52(lengthscale = 0.3) +
                  kernel_matern12(lengthscale = 0.1))
for (name in if (wanted("evaluation")) names(kernels)) {
  table <- t(vapply(sizes, one_evaluation, numeric(3), kernel = kernels[[name]]))
  cat("\nGaussian noise,", name, "\n")
  print(signif(table, 3))
  large <- table[table[, 1] >= 1e4, , drop = FALSE]
  if (nrow(large) > 1L) {
    slope <- coef(lm(log(large[, 3]) ~ log(large[, 1])))[[2]]
    cat("seconds grow as n to the power", round(slope, 2), "from 10^4 observations on\n")
  }
}

# ---- What a search computes in place of full EP ----

# Milliseconds of one evaluation, with the gradient, by full EP, and by a filter or by few rows; NA
# where the policy leaves it to full EP.
one_search <- function(n, kernel, likelihood) {
  set.seed(1)
  t <- cbind(t = sort(runif(n)))
  f <- sin(12 * t[, 1L])
  y <- switch(likelihood, gaussian = f + 0.2 * rnorm(n), poisson = rpois(n, exp(1 + f)),
              probit = factor(f + rnorm(n) > 0), student = f + 0.2 * rt(n, 5))
  fit <- sparsegp(t, y, likelihood, kernel = kernel, method = method_ep(), learn = FALSE)
  ns <- asNamespace("sparsegp")
  problem <- ns$problem_of_fit(fit)
  theta <- fit$hyper$theta
  each <- function(run) {
    count <- max(1, round(4e7 / n^3))
    1000 * seconds(for (k in seq_len(count)) run(theta, NULL)) / count
  }
  shorter <- ns$shorter_way(problem)
  c(observations = n, `full EP` = each(ns$compiled_search(problem)),
    search = if (is.null(shorter) || is.null(shorter(theta, NULL))) NA else each(shorter))
}

searched <- list(`matern32()` = kernel_matern32(lengthscale = 0.3),
                 `matern32() + periodic()` = kernel_matern32(lengthscale = 0.3) +
                   kernel_periodic(period = 0.1),
                 `rbf()` = kernel_rbf(lengthscale = 0.3),
                 `rbf() + periodic()` = kernel_rbf(lengthscale = 0.3) +
                   kernel_periodic(period = 0.1))
for (name in if (wanted("search")) names(searched)) {
  for (likelihood in c("gaussian", "poisson", "probit", "student")) {
    cat("\nMilliseconds of an evaluation,", name, likelihood, "\n")
    print(signif(t(vapply(c(100, 300, 1000), one_search, numeric(3), searched[[name]],
                          likelihood)), 2))
  }
}

# ---- The same value by package KFAS ----

# Seconds of the log likelihood of the Matern 3/2 process on a grid by KFAS, and here; and by how
# much the two values differ.
beside_kfas <- function(n) {
  set.seed(1)
  t <- seq_len(n)
  y <- sin(t / 300) + 0.2 * rnorm(n)
  lambda <- sqrt(3) / 200
  A <- exp(-lambda) * matrix(c(1 + lambda, -lambda^2, 1, 1 - lambda), 2)
  P <- diag(c(1, lambda^2))
  Z <- matrix(c(1, 0), 1)
  model <- KFAS::SSModel(y ~ -1 + SSMcustom(Z = Z, T = A, R = diag(2), Q = P - A %*% P %*% t(A),
                                            a1 = c(0, 0), P1 = P, P1inf = diag(0, 2)),
                         H = matrix(0.04))
  theirs <- seconds(value <- as.numeric(logLik(model)))
  ours <- seconds(fit <- sparsegp(cbind(t), y, lik_gaussian(0.04), mean = "zero", scale = FALSE,
                                  kernel = kernel_matern32(1, 200), method = method_markov(),
                                  learn = FALSE))
  c(observations = n, KFAS = theirs, `sparsegp, whole fit` = ours,
    difference = as.numeric(logLik(fit)) - value)
}

if (wanted("kfas") && requireNamespace("KFAS", quietly = TRUE)) {
  library(KFAS) # its formula looks for SSMcustom()
  cat("\nThe log evidence beside KFAS\n")
  print(signif(t(vapply(sizes, beside_kfas, numeric(4))), 3))
}

# ---- The same value by package FastGaSP ----

# Seconds of the log likelihood of the Matern 5/2 process and noise by FastGaSP, which takes
# the best variance of the process, and here, with that variance; and by how much they differ.
beside_fastgasp <- function(n) {
  set.seed(1)
  t <- seq_len(n) / n
  y <- sin(12 * t) + 0.2 * rnorm(n)
  ratio <- 0.04 # of the variances of noise and process
  model <- FastGaSP::fgasp(t, y, have_noise = TRUE, kernel_type = "matern_5_2")
  at <- log(c(5, ratio))
  theirs <- seconds(value <- FastGaSP::log_lik(at, model))
  squares <- FastGaSP::Get_log_det_S2(at, TRUE, diff(t), y, "matern_5_2")[[2L]]
  variance <- squares / n
  whole <- seconds(fit <- sparsegp(cbind(t), y, lik_gaussian(variance * ratio), mean = "zero",
                                   scale = FALSE, kernel = kernel_matern52(variance, 1 / 5),
                                   method = method_markov(), learn = FALSE))
  ns <- asNamespace("sparsegp")
  problem <- ns$plan_markov(ns$new_problem(ns$model_of_fit(fit), cbind(t), fit$data_rows,
                                           numeric(n), fit$options))$problem
  own <- seconds(ns$engine_run(problem, fit$hyper$theta))
  constant <- n / 2 * (log(n) - 1 - log(2 * pi)) # that theirs leaves out
  c(observations = n, FastGaSP = theirs, sparsegp = own, `sparsegp, whole fit` = whole,
    difference = as.numeric(logLik(fit)) - value - constant)
}

if (wanted("fastgasp") && requireNamespace("FastGaSP", quietly = TRUE)) {
  cat("\nThe log evidence beside FastGaSP\n")
  large <- if (quick) 10^(3:4) else 10^(4:6)
  print(signif(t(vapply(large, beside_fastgasp, numeric(5))), 3))
}

# ---- A sine of many cycles ----

# Kriging with the covariance of the sine, cos(2 pi (s - t) / 50): a regression on two waves.
krige <- function(t, y, at) {
  waves <- function(t) cbind(cos(2 * pi * t / 50), sin(2 * pi * t / 50))
  drop(waves(at) %*% solve(crossprod(waves(t)) / 0.04 + diag(2), crossprod(waves(t), y) / 0.04))
}

# Kriging with a kernel of the length scale of the sine, which does not know that it is one: 60
# neighbours on each side.
krige_local <- function(t, y, at) {
  vapply(at, function(s) {
    near <- which(abs(t - s) <= 60)
    k <- function(d) exp(-(d / (50 / (2 * pi) * sqrt(2)))^2 / 2)
    K <- k(outer(t[near], t[near], "-")) + diag(0.04, length(near))
    sum(k(t[near] - s) * solve(K, y[near]))
  }, 0)
}

one_sine <- function(n) {
  set.seed(1)
  d <- data.frame(t = seq_len(n))
  d$y <- sin(2 * pi * d$t / 50) + 0.2 * rnorm(n)
  time <- seconds(fit <- sparsegp(y ~ t, d))
  at <- sort(runif(500, 1, n))
  truth <- sin(2 * pi * at / 50)
  p <- predict(fit, data.frame(t = at), interval = "confidence", level = 0.9)
  rmse <- function(x) sqrt(mean((x - truth)^2))
  c(observations = n, seconds = time, rmse = rmse(p[, 1]), `kriging, smooth` = rmse(krige_local(
    d$t, d$y, at)), `kriging, two waves` = rmse(krige(d$t, d$y, at)),
    inside = mean(p[, 2] < truth & truth < p[, 3]))
}

if (wanted("sine")) {
  cat("\nA sine of period 50, noise 0.2, default call; intervals of 90 %\n")
  print(signif(t(vapply(if (quick) 3000 else c(3000, 1e4, 1e5), one_sine, numeric(6))), 3))
}

# ---- Coverage ----

# Functions of time, of a random phase or path, whose observations have noise 0.2 or are counts.
# A smooth function has few independent errors, so intervals of one series hold nearly all of it or
# little; the mean is over series.
COVERED <- list(
  sine = function(t, phase) sin(2 * pi * t / 50 + phase),
  `trend and sine` = function(t, phase) 2 * (t / max(t))^2 + sin(2 * pi * t / 50 + phase),
  `two rhythms` = function(t, phase) sin(2 * pi * t / 24 + phase) + 0.6 * sin(2 * pi * t / 168),
  `autoregression 0.95` = function(t, phase) {
    as.numeric(arima.sim(list(ar = 0.95), length(t), sd = 0.3))
  },
  `log mean of counts` = function(t, phase) 1 + 0.7 * sin(2 * pi * t / 50 + phase)
)

covered <- function(name, n = 2500, series = 10) {
  counts <- grepl("counts", name)
  each <- vapply(seq_len(series), function(seed) {
    set.seed(seed)
    d <- data.frame(t = seq_len(n))
    f <- COVERED[[name]](d$t, runif(1, 0, 6))
    d$y <- if (counts) rpois(n, exp(f)) else f + 0.2 * rnorm(n)
    time <- seconds(fit <- sparsegp(y ~ t, d, likelihood = if (counts) "poisson"))
    p <- predict(fit, d, interval = "confidence", level = 0.9)
    if (counts) f <- exp(f)
    c(seconds = time, rmse = sqrt(mean((p[, 1L] - f)^2)), inside = mean(p[, 2L] < f & f < p[, 3L]))
  }, numeric(3))
  rowMeans(each)
}

if (wanted("coverage")) {
  cat("\nTen series of 2500 observations each, default call: means; intervals of 90 %\n")
  print(signif(t(vapply(names(COVERED), covered, numeric(3))), 3))
}

# ---- Many observations ----

if (!quick && wanted("many")) {
  n <- 1e6
  set.seed(1)
  t <- cbind(t = seq_len(n))
  y <- sin(t[, 1L] / 300) + 0.2 * rnorm(n)
  time <- seconds(fit <- sparsegp(t, y, lik_gaussian(variance = 0.04), learn = FALSE,
                                  kernel = kernel_matern32(lengthscale = 0.001),
                                  method = method_markov()))
  again <- seconds(predict(fit, cbind(t = n + 1:1000), interval = "prediction"))
  cat("\n10^6 observations at given hyperparameters:", signif(time, 3), "s; 1000 forecasts:",
      signif(again, 3), "s; most memory of R:", round(sum(gc()[, 6])), "MB\n")
  n <- 2e5
  t <- cbind(t = seq_len(n))
  counts <- rpois(n, exp(sin(t[, 1L] / 3000) + 0.3 * cos(t[, 1L] / 200)))
  time <- seconds(fit <- sparsegp(t, counts, "poisson", kernel = kernel_matern32()))
  cat("2 10^5 counts, learned:", signif(time, 3), "s,", fit$learning$evaluations,
      "evaluations\n")
  t <- t[, 1L]
  chunk <- function(i) {
    at <- seq(50000 * (i - 1) + 1, 50000 * i)
    data.frame(t = at, y = sin(at / 300) + 0.2 * rnorm(50000))
  }
  read <- function(i) {
    set.seed(i)
    if (i <= 20) chunk(i)
  }
  time <- seconds(fit <- sparsegp(y ~ t, row_source(read, chunks = 20), method = method_markov(),
                                  kernel = kernel_matern32()))
  cat("10^6 observations of a source, in two passes, learned from windows:", signif(time, 3),
      "s; the fit has", round(as.numeric(object.size(fit)) / 1e6, 1), "MB\n")
}

# ---- Forecasts ----

# A year of half-hourly loads: rhythms of a day, a week and a year, and an autoregression.
loads <- function() {
  set.seed(1)
  n <- 17520
  hour <- seq_len(n) / 2
  wave <- function(period, times = 1, at = 0) sin(2 * pi * times * hour / period - at)
  y <- 30 + 4 * wave(8766, 1, 5) + 3 * wave(24, 1, 2) + 1.5 * wave(24, 2, -1.5) +
    0.6 * wave(24, 3) - 3 * ((hour %/% 24) %% 7 >= 5) +
    as.numeric(arima.sim(list(ar = 0.99), n, sd = 0.1)) + 0.3 * rnorm(n)
  data.frame(time = as.POSIXct("2023-01-01", tz = "UTC") + 3600 * hour, y = y)
}

by_bam <- function(formula) function(known, new) predict(mgcv::bam(formula, data = known), new)

of_months <- by_bam(y ~ s(at, k = 20) + s(phase, bs = "cc", k = 12))
SERIES <- list(
  nottem = list(data = nottem, ahead = 48, season = 12, bam = of_months),
  co2 = list(data = co2, ahead = 60, season = 12, bam = of_months),
  sunspot.year = list(data = sunspot.year, ahead = 11, season = 11,
                      bam = by_bam(y ~ s(at, k = 20) + s(phase, bs = "cc", k = 10))),
  loads = list(data = loads, ahead = 336, season = 336,
               bam = by_bam(y ~ s(at, k = 40) + s(phase, bs = "cc", k = 84) +
                              s(day, bs = "cc", k = 24)))
)

# Root mean squared errors of the default call, of the values one season before, and of bam().
one_forecast <- function(series) {
  d <- if (is.function(series$data)) series$data()
       else data.frame(time = as.numeric(time(series$data)), y = as.numeric(series$data))
  n <- nrow(d)
  d$at <- seq_len(n)
  d$phase <- d$at %% series$season
  d$day <- d$at %% 48
  known <- d[seq_len(n - series$ahead), ]
  new <- d[-seq_len(n - series$ahead), ]
  time <- seconds(fit <- sparsegp(y ~ time, known))
  p <- predict(fit, new, interval = "prediction", level = 0.9)
  last <- known$y[nrow(known) - series$season + 1 + (seq_len(series$ahead) - 1) %% series$season]
  rmse <- function(x) sqrt(mean((x - new$y)^2))
  theirs <- if (requireNamespace("mgcv", quietly = TRUE)) series$bam(known, new) else NA
  c(observations = nrow(known), ahead = series$ahead, seconds = time, rmse = rmse(p[, 1L]),
    `last season` = rmse(last), bam = rmse(theirs),
    inside = mean(p[, 2L] < new$y & new$y < p[, 3L]))
}

if (wanted("forecasts")) {
  cat("\nForecasts by the default call; prediction intervals of 90 %\n")
  print(signif(t(vapply(if (quick) SERIES[1:3] else SERIES, one_forecast, numeric(7))), 3))
}
