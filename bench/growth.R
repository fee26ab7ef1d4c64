# How the time grows with rows, points and classes: CPU seconds of fits with given hyperparameters
# over a grid of sizes, and the slopes of their logarithms, by least squares. Beside them what an
# operation count says for large sizes. One page, a picture of it where a file is named, and one of
# the README's size of what grows with the rows where another is.
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
  bench_row("Slope of log CPU seconds, and what an operation count says of large sizes",
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

if (length(picture) > 1L) {
  by_rows <- which(vapply(CASES, `[[`, "", "of") == "n")
  colours <- hcl.colors(length(by_rows), "Dark 3")
  png(picture[2L], 460, 300, pointsize = 11, antialias = "none") # few colours, so a small file
  par(mar = c(4, 4, 1, 1))
  plot(NA, log = "xy", xlab = "rows", ylab = "seconds of a core, hyperparameters known",
       xlim = range(unlist(lapply(CASES[by_rows], `[[`, "sizes"))),
       ylim = range(unlist(seconds[by_rows])))
  for (k in seq_along(by_rows)) {
    lines(CASES[[by_rows[k]]]$sizes, seconds[[by_rows[k]]], type = "b", pch = 19, cex = 0.7,
          col = colours[k])
  }
  legend("bottomright", vapply(CASES[by_rows], `[[`, "", "what"), col = colours, lty = 1,
         bty = "n", cex = 0.8)
  dev.off()
}
