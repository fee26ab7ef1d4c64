# Streams by method_online(): seconds a row, ten inputs, on a basis of d points that is
#   - predefined (thesis 3.6.1): every row is projected, by blocks; and the same rows one by one,
#     with the largest relative difference between the two (state, log evidence);
#   - exchanged: full, every novel row is judged against every point, and some replace one. How many
#     depends on the score: "kl" the fewest, "error" the most;
#   - filled: the first d rows of a stream, each of which joins, with the d^3 of the call itself.
# A row's cost is also given in units of one matrix-vector product of d x d, timed next to it, again
# and again, so that both see the same machine: R's %*% calls dgemv once options(matprod = "blas")
# has turned off its search for NaN, and what the call takes by itself, timed on a 1 x 1 matrix, is
# subtracted. The matrix stays in cache, which makes the unit small. A row needs its d kernel values
# (exponentials, of distances in ten dimensions), a triangular solve (half a unit), a product with
# the covariance and an update of it (a unit each), and half a unit when its site is collected; one
# that is judged another solve and the scores, an exchange several times that. By blocks these are
# matrix products, which do two to three times as many multiplications a second.
# Then calls of update() on a predefined basis of 25 points, a data frame of 100 000, of 1000 rows
# and of one, which R's reading of rows is a part of: rows a second, and dgemv beside them.
# Then a stream of ROWS rows in ten chunks, through update(): first against last chunk.
# Medians of processor time: run it with one BLAS thread (OPENBLAS_NUM_THREADS=1).
# Usage: Rscript bench/online.R [ROWS] [REPEATS]
library(sparsegp)
options(matprod = "blas")

given <- commandArgs(TRUE)
ROWS <- if (length(given)) as.numeric(given[[1L]]) else 1e6
REPEATS <- if (length(given) > 1L) as.integer(given[[2L]]) else 15L
SIZES <- c(25, 50, 100, 200)
CHUNK <- 20000

seconds <- function(run) sum(system.time(run())[c("user.self", "sys.self")])

draw <- function(n) {
  x <- matrix(runif(10 * n), n)
  y <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5] + rnorm(n)
  list(x = x, y = y, offset = numeric(n))
}

# Seconds of one A %*% v of d x d, of about a tenth of a second's worth
product_time <- function(d) {
  times <- ceiling(1e9 / (d^2 + 4000))
  A <- matrix(rnorm(d * d), d)
  v <- rnorm(d)
  seconds(function() for (i in seq_len(times)) A %*% v) / times
}
dgemv_time <- function(d) product_time(d) - product_time(1)

# A stream of enough rows that its basis is full and has settled.
settled <- function(d, score, predefined) {
  first <- draw(5000)
  sparsegp(first$x, first$y, kernel = kernel_rbf(25, sqrt(10)), likelihood = lik_gaussian(1),
           learn = FALSE, method = method_online(size = d, score = score),
           basis = if (predefined) first$x[1:d, ])
}

# Largest relative difference between two runs of the engine: what is kept, and the log evidence
difference <- function(a, b) {
  of <- function(part) max(abs(a[[part]] - b[[part]])) / max(abs(b[[part]]))
  max(vapply(c("S", "t", "alpha", "H"), of, 0), abs(a$count[7L] / b$count[7L] - 1))
}

# Median seconds a row of `n` rows, of a dgemv timed beside it, and the median of their ratio
timed <- function(run, n, d) {
  run()
  pairs <- replicate(REPEATS, c(dgemv = dgemv_time(d), row = seconds(run) / n))
  c(row = median(pairs["row", ]), dgemv = median(pairs["dgemv", ]),
    ratio = median(pairs["row", ] / pairs["dgemv", ]))
}

# The problem that a stream hands to the engine for a chunk.
stream_problem <- function(fit, chunk) {
  y <- sparsegp:::read_more(fit, chunk$y, nrow(chunk$x), chunk$weights)
  data_rows <- sparsegp:::data_rows_of(fit, y, chunk$weights)
  sparsegp:::problem_of_new_rows(fit, chunk$x, data_rows, chunk$offset, size = fit$stream$size,
                                 frozen = fit$stream$predefined)
}

# A run of the engine over a chunk, from a settled state
engine_run <- function(fit) {
  problem <- stream_problem(fit, draw(CHUNK))
  state <- c(fit$stream$record, fit$state[[1L]])
  function(...) sparsegp:::engine_online(problem, fit$hyper$theta, state, ...)
}

row_times <- function(fit, d) timed(engine_run(fit), CHUNK, d)

# The first d rows, again and again
filling_times <- function(fit, d) {
  problem <- stream_problem(fit, draw(d))
  times <- ceiling(CHUNK / d)
  run <- function() {
    for (i in seq_len(times)) {
      sparsegp:::engine_online(problem, fit$hyper$theta, sparsegp:::empty_state(10L))
    }
  }
  timed(run, d * times, d)
}

# What share of the rows changed the basis
exchange_share <- function(fit) {
  chunk <- draw(CHUNK)
  more <- update(fit, chunk$x, chunk$y)
  (more$convergence$fates - fit$convergence$fates)[["exchanged"]] / CHUNK
}

report <- function(label, took, share) {
  cat(sprintf("  %-17s %6.2f us a row = %5.2f dgemv of %5.2f us, %7.0f rows a second, %4.1f %%",
              label, 1e6 * took[["row"]], took[["ratio"]], 1e6 * took[["dgemv"]],
              1 / took[["row"]], 100 * share), "exchanged\n")
  took[["row"]]
}

# The same rows one after the other
by_row <- function(d) {
  run <- engine_run(settled(d, "mean", TRUE))
  took <- report("  row by row", timed(function() run(by_row = TRUE), CHUNK, d), 0)
  cat(sprintf("  largest relative difference %.1e\n", difference(run(), run(by_row = TRUE))))
  took
}

measure <- function(d) {
  cat(sprintf("d = %d\n", d))
  one <- function(label, ...) {
    fit <- settled(d, ...)
    report(label, row_times(fit, d), exchange_share(fit))
  }
  c(predefined = one("predefined", "mean", TRUE), "row by row" = by_row(d),
    mean = one("exchanged, mean", "mean", FALSE),
    kl = one("exchanged, kl", "kl", FALSE), error = one("exchanged, error", "error", FALSE),
    filled = report("filled", filling_times(settled(d, "mean", FALSE), d), 0))
}

as_frame <- function(rows) data.frame(rows$x, y = rows$y)

# Calls of update() with data frames of n rows: the medians of seconds a row, and of dgemv
calls <- function(n, d = 25) {
  first <- as_frame(draw(5000))
  fit <- sparsegp(y ~ ., first, lik_gaussian(1), kernel = kernel_rbf(25, sqrt(10)), learn = FALSE,
                  method = method_online(), basis = first[seq_len(d), ])
  rows <- as_frame(draw(n))
  times <- ceiling(1e5 / n / (1 + 199 * (n < 100)))
  took <- timed(function() for (i in seq_len(times)) update(fit, rows), n * times, d)
  cat(sprintf("d = %d, update() with %6.0f rows: %7.2f us a row, %8.0f rows a second; %s\n", d, n,
              1e6 * took[["row"]], 1 / took[["row"]],
              sprintf("%.2f dgemv of %.2f us", took[["ratio"]], 1e6 * took[["dgemv"]])))
}

long_stream <- function(d, predefined) {
  fit <- settled(d, "mean", predefined)
  took <- numeric(10)
  for (i in seq_along(took)) {
    chunk <- draw(ROWS / length(took))
    took[i] <- seconds(function() fit <<- update(fit, chunk$x, chunk$y))
  }
  each <- 1e6 * took / (ROWS / length(took))
  cat(sprintf("d = %d, %s: update() takes %.2f us a row in the first tenth of %g rows, %.2f in the",
              d, if (predefined) "predefined" else "exchanged", each[1], ROWS, each[10]),
      sprintf("last (median %.2f)\n", median(each)))
}

cat(extSoftVersion()[["BLAS"]], "\n")
set.seed(1)
times <- vapply(SIZES, measure, numeric(6))
cat("Growth of a row's time for each doubling of d (4 if all were d^2):\n")
print(round(times[, -1] / times[, -length(SIZES)], 2))
for (n in c(1e5, 1000, 1)) calls(n)
long_stream(100, TRUE)
long_stream(100, FALSE)
