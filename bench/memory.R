# Memory of default fits of many rows, and of full EP: the peak of the process that makes the fit,
# and what the fit takes on disk before compression (serialize()). Each case is a process of its
# own, whose peak Linux keeps in /proc/self/status.
#
# Usage: Rscript bench/memory.R [case]...
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

# Smooth in all of d inputs, with an interaction in the first two.
smooth_rows <- function(n, d, noise) {
  set.seed(1)
  x <- matrix(stats::runif(n * d), n)
  data.frame(x, y = sin(6 * x[, 1] * x[, 2]) + drop(x %*% seq(1, 0.2, length.out = d)) +
               noise * stats::rnorm(n))
}
classes_of <- function(n, d) {
  rows <- smooth_rows(n, d, 0.2)
  rows$y <- cut(rows$y, stats::quantile(rows$y, (0:10) / 10), letters[1:10], include.lowest = TRUE)
  rows
}

# What a case fits; of rows with little noise more inducing points pay.
CASES <- list(
  "nothing: R and the package" = function() NULL,
  "1e5 rows of 8 inputs" = function() sparsegp(y ~ ., smooth_rows(1e5, 8L, 0.3)),
  "1e5 rows of 8 inputs, little noise" = function() sparsegp(y ~ ., smooth_rows(1e5, 8L, 0.01)),
  "1e4 rows of 8 inputs, little noise" = function() sparsegp(y ~ ., smooth_rows(1e4, 8L, 0.01)),
  "1e4 rows in ten classes" = function() sparsegp(y ~ ., classes_of(1e4, 8L)),
  "full EP of 5000 rows" = function() {
    sparsegp(y ~ ., smooth_rows(5000, 8L, 0.3), method = method_ep(), learn = FALSE)
  }
)

peak_megabytes <- function() {
  line <- grep("^VmHWM:", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

# In a process of its own: peak first, as measuring the size takes memory, too.
measure <- function(name) {
  fit <- CASES[[name]]()
  peak <- peak_megabytes()
  points <- if (is.null(fit)) NA else NROW(basis(fit))
  cat("MEASURED", points, peak, length(serialize(fit, NULL)) / 1e6, sum(proc.time()[1:2]), "\n")
}

measured_apart <- function(name) {
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  said <- system2(file.path(R.home("bin"), "Rscript"), c(self, "--apart", shQuote(name)),
                  stdout = TRUE)
  line <- sub("^MEASURED ", "", grep("^MEASURED ", said, value = TRUE))
  if (length(line) == 0L) return(rep(NA_real_, 4L))
  suppressWarnings(as.numeric(strsplit(trimws(line), " ")[[1L]]))
}

asked <- commandArgs(TRUE)
if (identical(asked[1L], "--apart")) {
  measure(asked[2L])
} else {
  for (name in if (length(asked)) asked else names(CASES)) {
    found <- measured_apart(name)
    cat(sprintf("%-36s %5g points, peak %6.0f MB, saved %6.1f MB, %6.1f CPU s\n", name, found[1L],
                found[2L], found[3L], found[4L]))
    bench_row("Memory of fits, MB", fit = name, points = found[1L], peak = found[2L],
              saved = found[3L], "CPU seconds" = found[4L])
  }
}
