# Series by Markov EP: seconds of value and gradient by the number of observations; a sine of period
# 50 samples with noise 0.2 by the default call beside kriging with the true kernel; a million
# observations at given hyperparameters; 2 10^5 counts learned. CPU seconds of one process.
#
#   Rscript bench/markov.R [quick]    some three minutes; quick: up to 10^4 observations
library(sparsegp)
quick <- identical(commandArgs(TRUE), "quick")
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
for (name in names(kernels)) {
  table <- t(vapply(sizes, one_evaluation, numeric(3), kernel = kernels[[name]]))
  cat("\nGaussian noise,", name, "\n")
  print(signif(table, 3))
  large <- table[table[, 1] >= 1e4, , drop = FALSE]
  if (nrow(large) > 1L) {
    slope <- coef(lm(log(large[, 3]) ~ log(large[, 1])))[[2]]
    cat("seconds grow as n to the power", round(slope, 2), "from 10^4 observations on\n")
  }
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

cat("\nA sine of period 50, noise 0.2, default call; intervals of 90 %\n")
print(signif(t(vapply(if (quick) 3000 else c(3000, 1e4, 1e5), one_sine, numeric(6))), 3))

# ---- Many observations ----

if (!quick) {
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
}
