# CPU seconds of everyday calls as multiples of one product of two 1000 x 1000 matrices in the same
# run, the least of some repetitions, so that figures of different machines can be compared. Run it
# with one thread of the BLAS (OPENBLAS_NUM_THREADS=1).
#
# Usage: Rscript bench/seconds.R [case]...
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

cpu_of <- function(code) sum(system.time(code)[1:2])

# Returns the seconds of a product now, the least of five.
product_seconds <- function() {
  a <- matrix(rnorm(1e6), 1000)
  min(vapply(1:5, function(k) cpu_of(a %*% a), 0))
}

friedman <- function(n) {
  x <- matrix(runif(10 * n), n)
  data.frame(x, y = 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] +
               5 * x[, 5] + rnorm(n))
}
near_cars <- function(n) {
  rows <- mtcars[sample(nrow(mtcars), n, TRUE), ]
  rows[] <- lapply(rows, function(x) x + 0.3 * sd(x) * rnorm(n))
  rows
}
# Returns a function that draws a fit without a screen.
drawing_of <- function(fit) function() {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  suppressMessages(plot(fit))
}
predicting <- function(interval) function() {
  fit <- sparsegp(mpg ~ ., mtcars)
  rows <- near_cars(20000)
  function() predict(fit, rows, interval = interval)
}

# What is timed: functions that return a function of what is, and how often that is repeated.
CASES <- list(
  "cars, default fit" = list(5L, function() function() sparsegp(dist ~ speed, cars)),
  "mtcars, default fit" = list(3L, function() function() sparsegp(mpg ~ ., mtcars)),
  "mtcars, means of 20 000 rows" = list(3L, predicting("none")),
  "mtcars, prediction intervals of 20 000 rows" = list(3L, predicting("prediction")),
  "mtcars, confidence intervals of 20 000 rows" = list(3L, predicting("confidence")),
  "mtcars, plot()" = list(3L, function() drawing_of(sparsegp(mpg ~ ., mtcars))),
  "1000 rows of 10 inputs, default fit" = list(1L, function() {
    rows <- friedman(1000)
    function() sparsegp(y ~ ., rows)
  }),
  "1000 rows of 10 inputs, plot()" = list(3L, function() {
    drawing_of(sparsegp(y ~ ., friedman(1000)))
  }),
  "iris, default fit" = list(1L, function() function() sparsegp(Species ~ ., iris))
)

asked <- commandArgs(TRUE)
for (name in if (length(asked)) asked else names(CASES)) {
  set.seed(3)
  run <- CASES[[name]][[2L]]()
  if (CASES[[name]][[1L]] > 1L) run() # the first run of a session takes longer
  unit <- product_seconds()
  seconds <- min(vapply(seq_len(CASES[[name]][[1L]]), function(k) cpu_of(run()), 0))
  unit <- min(unit, product_seconds())
  cat(name, seconds, seconds / unit, "\n")
  bench_row("CPU seconds as multiples of a product of two 1000 x 1000 matrices", call = name,
            seconds = seconds, product = unit, multiple = seconds / unit)
}
