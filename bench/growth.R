# How the time grows with rows, points and classes: CPU seconds of fits with given hyperparameters
# over a grid of sizes, and the slopes of their logarithms, by least squares. Beside them what an
# operation count gives for large sizes. One page, a picture of it where a file is named, and where
# another is one of what a first call takes, for the README.
#
#   Rscript bench/growth.R [growth.png [rows.png]]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

set.seed(1)
N <- 64000
x <- matrix(runif(4 * N), N)
f <- sin(6 * x[, 1]) + x[, 2] * x[, 3]
y <- f + 0.2 * rnorm(N)
label <- f + 0.3 * rnorm(N) > 0.5
classes <- function(count) cut(f + 0.2 * rnorm(N), quantile(f, 0:count / count), labels = FALSE)

cpu <- function(run) sum(replicate(2, system.time(run())[["user.self"]])) / 2

fit <- function(n, y, ..., lik = NULL) {
  at <- seq_len(n)
  sparsegp(x[at, ], y[at], lik, kernel_rbf(1, 0.5), learn = FALSE, scale = FALSE, ...)
}

CASES <- list(
  list(what = "full EP, numbers", of = "n", count = 3, sizes = c(500, 1000, 2000, 4000),
       run = function(n) fit(n, y, method = method_ep())),
  list(what = "full EP, labels", of = "n", count = 3, sizes = c(250, 500, 1000, 2000),
       run = function(n) fit(n, label, method = method_ep(tol = 1e-3))),
  list(what = "200 points, numbers", of = "n", count = 1, sizes = c(8000, 16000, 32000, 64000),
       run = function(n) fit(n, y, basis = 1:200)),
  list(what = "16000 rows, numbers", of = "d", count = 2, sizes = c(200, 400, 800, 1600),
       run = function(d) fit(16000, y, basis = seq_len(d))),
  list(what = "200 points, labels", of = "n", count = 1, sizes = c(8000, 16000, 32000),
       run = function(n) fit(n, label, basis = 1:200, method = method_ep(tol = 1e-3))),
  list(what = "4000 rows, labels", of = "d", count = 2, sizes = c(200, 400, 800, 1600),
       run = function(d) fit(4000, label, basis = seq_len(d), method = method_ep(tol = 1e-3))),
  list(what = "4000 rows, against rest", of = "C", count = 1, sizes = c(4, 8, 16, 32),
       run = function(C) fit(4000, factor(classes(C)), basis = 1:200, lik = lik_probit(),
                             method = method_ep(tol = 1e-3))),
  list(what = "IVM, 200 of rows", of = "n", count = 1, sizes = c(4000, 8000, 16000, 32000),
       run = function(n) fit(n, label, method = method_ivm(200, refine = "none"))),
  list(what = "stream of 8000 rows", of = "d", count = 2, sizes = c(50, 100, 200, 400),
       run = function(d) fit(8000, y, method = method_online(size = d, pilot = d), lik =
                               lik_gaussian(0.04)))
)

measure <- function(case) {
  seconds <- vapply(case$sizes, function(size) cpu(function() case$run(size)), 0)
  slope <- unname(coef(lm(log(seconds) ~ log(case$sizes)))[2L])
  cat(sprintf("%-24s %s = %s: %s s; slope %.2f (count %d)\n", case$what, case$of,
              toString(case$sizes), toString(signif(seconds, 2)), slope, case$count))
  bench_row("Slopes of log CPU seconds against log size, and slopes of operation counts",
            fit = case$what, against = case$of, sizes = paste(range(case$sizes), collapse = " to "),
            "seconds of the last" = max(seconds), slope = round(slope, 2), count = case$count)
  seconds
}

seconds <- lapply(CASES, measure)

picture <- commandArgs(TRUE)
if (length(picture)) {
  png(picture[1L], 1200, 900, res = 130)
  par(mfrow = c(3, 3), mar = c(4, 4, 2, 1))
  for (k in seq_along(CASES)) {
    case <- CASES[[k]]
    plot(case$sizes, seconds[[k]], log = "xy", pch = 19, xlab = case$of, ylab = "CPU seconds",
         main = case$what)
    last <- length(case$sizes)
    lines(case$sizes, seconds[[k]][last] * (case$sizes / case$sizes[last])^case$count, col = "grey")
  }
  dev.off()
}

# ---- What a first call takes: hyperparameters, and of default fits the structure, are learned ----

FIRST <- list(
  "default, numbers" = function(d) sparsegp(y ~ ., d),
  "default, labels" = function(d) sparsegp(label ~ ., d),
  "200 points, numbers" = function(d) sparsegp(y ~ ., d, method = method_ep(200)),
  "IVM of 200, labels" = function(d) sparsegp(label ~ ., d, method = method_ivm(200)),
  "stream, numbers" = function(d) sparsegp(y ~ ., d, method = method_online(100))
)
FIRST_SIZES <- c(250, 1000, 4000, 16000, 64000)

# Seconds of a first call at each size, or NA where the size before took more than a minute.
first_seconds <- function(name) {
  data <- data.frame(x)
  data[[if (grepl("labels", name)) "label" else "y"]] <- if (grepl("labels", name)) label else y
  seconds <- rep(NA_real_, length(FIRST_SIZES))
  for (k in seq_along(FIRST_SIZES)) {
    rows <- data[seq_len(FIRST_SIZES[k]), ]
    seconds[k] <- system.time(suppressWarnings(FIRST[[name]](rows)))[["user.self"]]
    if (seconds[k] > 60) break
  }
  cells <- as.list(signif(seconds, 3L))
  names(cells) <- paste(format(FIRST_SIZES, scientific = FALSE, trim = TRUE), "rows")
  do.call(bench_row, c(list("CPU seconds of a first call, including learning", call = name),
                       cells))
  seconds
}

# In the colours of the package's pictures, with names at the ends of lines in place of a key
draw_first <- function(file, seconds) {
  colours <- sparsegp:::CLASS_COLOURS[seq_along(seconds)]
  png(file, 1010, 600, res = 144)
  on.exit(dev.off())
  par(mar = c(3.8, 4, 0.6, 9.4), mgp = c(2.6, 0.7, 0), las = 1, cex = 0.85, bty = "l")
  plot(NA, log = "xy", xlab = "observations", ylab = "seconds of a first call", axes = FALSE,
       xlim = range(FIRST_SIZES), ylim = range(unlist(seconds), na.rm = TRUE))
  box()
  axis(1, FIRST_SIZES, format(FIRST_SIZES, big.mark = " ", scientific = FALSE, trim = TRUE))
  ticks <- c(0.1, 1, 10, 100)
  axis(2, ticks, format(ticks, drop0trailing = TRUE, trim = TRUE))
  ends <- vapply(seconds, function(of) max(which(!is.na(of))), 0L)
  at <- spread_apart(log(mapply(function(of, end) of[end], seconds, ends)),
                     diff(par("usr")[3:4]) * log(10) / 14)
  for (k in seq_along(seconds)) {
    lines(FIRST_SIZES, seconds[[k]], type = "o", pch = 16, lwd = 2, col = colours[k])
    mtext(names(FIRST)[k], 4, 0.6, at = exp(at[k]), col = colours[k], cex = 0.85)
  }
}

# Moves places that are nearer to each other than `gap` upwards, in their order.
spread_apart <- function(at, gap) {
  up <- order(at)
  for (k in seq_along(up)[-1L]) at[up[k]] <- max(at[up[k]], at[up[k - 1L]] + gap)
  at
}

if (length(picture) > 1L) draw_first(picture[2L], lapply(names(FIRST), first_seconds))
