# How far intervals of slopes can be trusted: functions drawn from a Gaussian process, or made by
# hand, and responses with noise; the proportion of true derivatives inside the 90 % intervals of
# slopes() at new inputs, and of true average slopes inside the intervals of their average. Fits are
# defaults, so hyperparameters are learned from the same observations.
#
#   Rscript bench/slopes.R [repeats]    20 by default; some two minutes
library(sparsegp)
repeats <- as.integer(c(commandArgs(TRUE), 20)[1L])

# Truths: list(f, slope) of two inputs on the unit square, of which the slope is along the first.
waves <- function(lengthscale, count = 200L) { # random Fourier features of a kernel_rbf()
  frequency <- matrix(rnorm(2 * count), count) / lengthscale
  phase <- runif(count, 0, 2 * pi)
  size <- rnorm(count) * sqrt(2 / count)
  list(f = function(x) drop(cos(x %*% t(frequency) + rep(phase, each = nrow(x))) %*% size),
       slope = function(x) {
         drop(-sin(x %*% t(frequency) + rep(phase, each = nrow(x))) %*% (size * frequency[, 1L]))
       })
}
TRUTHS <- list(
  smooth = function() waves(0.5), wiggly = function() waves(0.25),
  ridge = function() list(f = function(x) sin(6 * x[, 1L]) + x[, 2L],
                          slope = function(x) 6 * cos(6 * x[, 1L])),
  bend = function() list(f = function(x) exp(2 * x[, 1L] * x[, 2L]),
                         slope = function(x) 2 * x[, 2L] * exp(2 * x[, 1L] * x[, 2L]))
)

# Responses: how they are drawn, and the slope of their mean
RESPONSES <- list(
  numbers = list(draw = function(f) f + rnorm(length(f), sd = 0.2), slope = function(f, s) s,
                 likelihood = "gaussian"),
  counts = list(draw = function(f) rpois(length(f), 3 * exp(f / 2)), likelihood = "poisson",
                slope = function(f, s) 3 * exp(f / 2) * s / 2),
  classes = list(draw = function(f) factor(runif(length(f)) < pnorm(f)), likelihood = "probit",
                 slope = function(f, s) dnorm(f) * s)
)

one <- function(truth, response, n) {
  made <- TRUTHS[[truth]]()
  kind <- RESPONSES[[response]]
  x <- cbind(a = runif(n), b = runif(n))
  centre <- if (response == "numbers") 0 else mean(made$f(x))
  data <- data.frame(x, y = kind$draw(made$f(x) - centre))
  fit <- suppressMessages(sparsegp(y ~ a + b, data, likelihood = kind$likelihood))
  new <- cbind(a = runif(100, 0.05, 0.95), b = runif(100, 0.05, 0.95))
  true <- kind$slope(made$f(new) - centre, made$slope(new))
  inside <- function(found, true) found$conf.low <= true & true <= found$conf.high
  found <- slopes(fit, data.frame(new), "a", level = 0.9)
  average <- slopes(fit, data.frame(new), "a", average = TRUE, level = 0.9)
  c(points = mean(inside(found, true)), average = inside(average, mean(true)),
    rmse = sqrt(mean((found$estimate - true)^2)) / sqrt(mean(true^2)))
}

cat(sprintf("%-8s %-8s %4s  %s\n", "truth", "response", "n",
            "inside 90 %: slopes, averages; error over size"))
for (truth in names(TRUTHS)) {
  for (response in names(RESPONSES)) {
    n <- if (response == "numbers") 60L else 150L
    set.seed(11)
    each <- replicate(repeats, one(truth, response, n))
    cat(sprintf("%-8s %-8s %4d  %.2f  %.2f  %.2f\n", truth, response, n, mean(each["points", ]),
                mean(each["average", ]), median(each["rmse", ])))
  }
}
