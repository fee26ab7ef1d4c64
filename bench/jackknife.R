# How often 90 % prediction intervals hold a new response, and how wide they are: the model's own
# and those by jackknife+ (predict(interval = "jackknife+")), of default fits and of fits whose
# kernel or noise is wrong. Rows are exchangeable, on one input or five. Each run is tested on 1000
# new rows; the coverage of a case is the mean over its runs, and its standard error that of this
# mean.
#
# Usage: Rscript bench/jackknife.R [quick] [from], from: the number of the first case
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

SIZES <- c(30, 100, 300, 1000, 3000)
RUNS <- if ("quick" %in% commandArgs(TRUE)) c(20, 10, 4, 2, 1) else c(100, 50, 20, 6, 3)
LEVEL <- 0.9

wave <- function(d) sin(3 * d$x) + d$x / 2
uniform <- function(n) data.frame(x = runif(n, -2, 2))
cube <- function(n) as.data.frame(matrix(runif(5 * n), n, dimnames = list(NULL, letters[1:5])))
friedman <- function(d) {
  10 * sin(pi * d$a * d$b) + 20 * (d$c - 0.5)^2 + 10 * d$d + 5 * d$e
}

# inputs: n -> rows; response: rows -> responses; fit: rows -> a fit
case <- function(inputs, response, fit) list(inputs = inputs, response = response, fit = fit)
by_default <- function(d) sparsegp(y ~ ., d)

CASES <- list(
  "right model" = case(uniform, function(d) wave(d) + 0.4 * rnorm(nrow(d)), by_default),
  "five inputs" = case(cube, function(d) friedman(d) + rnorm(nrow(d)), by_default),
  "kernel: a line for a wave" = case(uniform, function(d) wave(d) + 0.4 * rnorm(nrow(d)),
    function(d) sparsegp(y ~ x, d, kernel = kernel_linear())),
  "kernel: smooth for steps" = case(uniform, function(d) {
    2 * (d$x > 0) + (d$x > 1) + 0.2 * rnorm(nrow(d))
  }, function(d) sparsegp(y ~ x, d, kernel = kernel_rbf())),
  "kernel: far too short" = case(uniform, function(d) wave(d) + 0.4 * rnorm(nrow(d)),
    function(d) sparsegp(y ~ x, d, kernel = kernel_rbf(lengthscale = fixed(0.05)))),
  "noise: outliers" = case(uniform, function(d) wave(d) + 0.3 * rt(nrow(d), 2.2), by_default),
  "noise: skewed" = case(uniform, function(d) wave(d) + rexp(nrow(d)), by_default),
  "noise: grows" = case(uniform, function(d) wave(d) + exp(d$x - 1) * rnorm(nrow(d)), by_default),
  "noise: held at a fifth" = case(uniform, function(d) wave(d) + 0.4 * rnorm(nrow(d)),
    function(d) sparsegp(y ~ x, d, likelihood = lik_gaussian(variance = fixed(0.08^2)))),
  "counts: overdispersed" = case(uniform, function(d) {
    rnbinom(nrow(d), 1.5, mu = exp(1 + wave(d) / 2))
  }, function(d) sparsegp(y ~ x, d, likelihood = "poisson")),
  "counts: right model" = case(uniform, function(d) rpois(nrow(d), exp(1 + wave(d) / 2)),
    function(d) sparsegp(y ~ x, d, likelihood = "poisson"))
)

intervals_of <- function(fit, test, interval = "prediction") {
  bounds <- predict(fit, test, interval = interval, level = LEVEL)
  c(held = mean(test$y >= bounds[, "lwr"] & test$y <= bounds[, "upr"]),
    width = mean(bounds[, "upr"] - bounds[, "lwr"]))
}

run <- function(case, n, seed) {
  set.seed(seed)
  rows <- function(n) {
    d <- case$inputs(n)
    d$y <- case$response(d)
    d
  }
  train <- rows(n)
  test <- rows(1000)
  fit <- suppressMessages(suppressWarnings(case$fit(train)))
  c(own = intervals_of(fit, test), jackknife = intervals_of(fit, test, "jackknife+"))
}

CAPTION <- "Coverage of 90 % prediction intervals, and their mean widths"
held <- list()
first <- max(1L, suppressWarnings(as.integer(commandArgs(TRUE))), na.rm = TRUE)
for (name in names(CASES)[first:length(CASES)]) {
  for (size in seq_along(SIZES)) {
    runs <- vapply(seq_len(RUNS[size]), function(seed) run(CASES[[name]], SIZES[size], seed),
                   numeric(4))
    mean <- rowMeans(runs)
    cat(name, SIZES[size], format(mean, digits = 3), "\n")
    held[[length(held) + 1L]] <- mean
    bench_row(CAPTION, case = name, rows = SIZES[size], runs = RUNS[size],
              own = mean[["own.held"]], `jackknife+` = mean[["jackknife.held"]],
              `standard error` = sd(runs["jackknife.held", ]) / sqrt(ncol(runs)),
              `width, own` = mean[["own.width"]], `width, jackknife+` = mean[["jackknife.width"]])
  }
}
held <- do.call(rbind, held)
bench_table(data.frame(intervals = c("own", "jackknife+"),
                       mean = colMeans(held[, c("own.held", "jackknife.held")]),
                       least = apply(held[, c("own.held", "jackknife.held")], 2L, min),
                       row.names = NULL), "All cases and sizes")
