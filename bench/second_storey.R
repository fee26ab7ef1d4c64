# Two versions of the package against each other, in one run on one machine: seconds and memory of
#   - a sweep of batch EP on a given basis (probit, rbf kernel), with the rows as the basis sees
#     them held in memory and not, and the most memory that such a fit takes above its data; both
#     without mixing, too, in a version whose method_ep() has that argument;
#   - a row of a stream;
#   - the inclusions of an IVM;
#   - full EP;
#   - and, in the new version alone, fits on one and on two threads.
# SPARSEGP_OLD and SPARSEGP_NEW name the libraries (folders, as of R CMD INSTALL --library) of the
# two versions. Every measurement is made in a process of its own, old and new by turns, with one
# BLAS thread and, but for the last, no thread of the package's own; medians of REPEATS. Seconds are
# of the processor's, so that other work on the machine counts little; the last ones are elapsed.
# SPARSEGP_BENCH_SCALE=0.05 makes all sizes a twentieth: to see that it works, not to measure.
# Usage: SPARSEGP_OLD=... SPARSEGP_NEW=... Rscript bench/second_storey.R [REPEATS]

SCALE <- as.numeric(Sys.getenv("SPARSEGP_BENCH_SCALE", "1"))
scaled <- function(size, least = 20) as.integer(max(least, round(size * SCALE)))

# ---- What is measured: functions that draw data and return seconds or megabytes ----

seconds <- function(run, elapsed = FALSE) {
  took <- system.time(suppressWarnings(run()))
  if (elapsed) took[["elapsed"]] else took[["user.self"]] + took[["sys.self"]]
}

# Sums of sines of the inputs, and labels of either sign
draw <- function(n, p) {
  set.seed(1)
  x <- matrix(stats::rnorm(n * p), n)
  f <- rowSums(sin(x[, seq_len(min(p, 8)), drop = FALSE]))
  list(x = x, f = f, label = ifelse(f + stats::rnorm(n) > 0, 1, -1))
}

SWEPT <- c(few = 2L, many = 12L) # what they differ by is sweeps and nothing else
NEVER <- 1e-300 # a tolerance that no sweep meets

batch_fit <- function(pool, ...) {
  data <- draw(scaled(50000, 200), 8L)
  points <- data$x[seq_len(scaled(200)), ]
  function(sweeps) {
    sparsegp(data$x, data$label, likelihood = lik_probit(0), kernel = kernel_rbf(2, 2),
             basis = points, learn = FALSE, scale = FALSE,
             method = method_ep(tol = NEVER, sweeps = sweeps, pool = pool, ...))
  }
}

sweep_seconds <- function(pool, ...) {
  fit <- batch_fit(pool, ...)
  suppressWarnings(fit(1L)) # R compiles its functions when they are first called
  took <- vapply(SWEPT, function(sweeps) seconds(function() fit(sweeps)), 0)
  (took[["many"]] - took[["few"]]) / (SWEPT[["many"]] - SWEPT[["few"]])
}

# kB of this process, by the kernel's name for it
memory <- function(what) {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep(paste0("^", what, ":"), status, value = TRUE)))
}

peak_megabytes <- function(pool, ...) {
  fit <- batch_fit(pool, ...)
  gc()
  cat("5\n", file = "/proc/self/clear_refs") # the peak is from now on
  before <- memory("VmRSS")
  suppressWarnings(fit(SWEPT[["few"]]))
  (memory("VmHWM") - before) / 1024
}

stream_microseconds <- function() {
  n <- scaled(20000, 200)
  settled <- draw(scaled(5000, 200), 10L)
  new <- draw(n, 10L)
  stream <- sparsegp(settled$x, settled$f, kernel = kernel_rbf(25, sqrt(10)), learn = FALSE,
                     likelihood = lik_gaussian(1), method = method_online(size = scaled(100)))
  1e6 * seconds(function() update(stream, new$x, new$f)) / n
}

ivm_seconds <- function() {
  data <- draw(scaled(7000, 100), 256L)
  seconds(function() {
    sparsegp(data$x, data$label, likelihood = lik_probit(0), kernel = kernel_rbf(10, 16),
             scale = FALSE, learn = FALSE, method = method_ivm(scaled(500), refine = "none"))
  })
}

full_seconds <- function() {
  data <- draw(scaled(1000, 50), 8L)
  seconds(function() {
    sparsegp(data$x, data$label, likelihood = lik_probit(0), kernel = kernel_rbf(2, 2),
             scale = FALSE, learn = FALSE, method = method_ep())
  })
}

RESPONSES <- list(
  mprobit = function(data) cut(data$f, c(-Inf, -1, 1, Inf), c("low", "mid", "high")),
  student = function(data) data$f + stats::rt(length(data$f), 4),
  negbin = function(data) stats::rnbinom(length(data$f), 2, mu = exp(data$f / 2))
)

thread_seconds <- function(likelihood, threads) {
  options(sparsegp.threads = threads)
  data <- draw(scaled(2000, 100), 4L)
  y <- RESPONSES[[likelihood]](data)
  points <- data$x[seq_len(scaled(100)), ]
  seconds(function() {
    sparsegp(data$x, y, likelihood = likelihood, kernel = kernel_rbf(2, 2), basis = points,
             scale = FALSE, learn = FALSE, method = method_ep())
  }, elapsed = TRUE)
}

HELD <- Inf # rows seen through the basis stay in memory
NOT_HELD <- 1 # there is room for one number of them
MEASUREMENTS <- list(
  "sweep, rows held (s)" = function() sweep_seconds(HELD),
  "sweep, rows not held (s)" = function() sweep_seconds(NOT_HELD),
  "peak, rows held (MB)" = function() peak_megabytes(HELD),
  "peak, rows not held (MB)" = function() peak_megabytes(NOT_HELD),
  "row of a stream (us)" = stream_microseconds,
  "IVM (s)" = ivm_seconds,
  "full EP (s)" = full_seconds
)
WITHOUT_MIXING <- list(
  "sweep, rows held, no mixing (s)" = function() sweep_seconds(HELD, mixing = 0),
  "sweep, rows not held, no mixing (s)" = function() sweep_seconds(NOT_HELD, mixing = 0),
  "peak, rows held, no mixing (MB)" = function() peak_megabytes(HELD, mixing = 0),
  "peak, rows not held, no mixing (MB)" = function() peak_megabytes(NOT_HELD, mixing = 0)
)
THREADED <- unlist(lapply(names(RESPONSES), function(likelihood) {
  runs <- lapply(1:2, function(threads) function() thread_seconds(likelihood, threads))
  stats::setNames(runs, paste0(likelihood, ", threads ", 1:2))
}))

# ---- One measurement: this script again, in a process of its own ----

measure_here <- function(name, answer) {
  suppressPackageStartupMessages(library(sparsegp))
  home <- dirname(find.package("sparsegp"))
  if (home != normalizePath(Sys.getenv("R_LIBS"))) stop("sparsegp is of ", home, call. = FALSE)
  options(sparsegp.threads = 1)
  saveRDS(c(MEASUREMENTS, WITHOUT_MIXING, THREADED)[[name]](), answer)
}

SCRIPT <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))

in_new_process <- function(library, ...) {
  answer <- tempfile()
  on.exit(unlink(answer))
  status <- system2(
    file.path(R.home("bin"), "Rscript"),
    c("--no-init-file", shQuote(SCRIPT), "--one", shQuote(c(..., answer))), stdout = FALSE,
    env = c(paste0("R_LIBS=", shQuote(library)), "OPENBLAS_NUM_THREADS=1")
  )
  if (status != 0L) stop("no answer from ", library, " to: ", toString(c(...)), call. = FALSE)
  readRDS(answer)
}

# ---- The table ----

library_of <- function(variable) {
  folder <- Sys.getenv(variable)
  if (dir.exists(file.path(folder, "sparsegp")) && nzchar(folder)) return(normalizePath(folder))
  stop(variable, " is to name a library with sparsegp: SPARSEGP_OLD and SPARSEGP_NEW are the two ",
       "versions that are compared (R CMD INSTALL --library=FOLDER)", call. = FALSE)
}

# What a version has: an argument of method_ep() or a function of its own.
version_has <- function(library, what) in_new_process(library, "has", what)

has_here <- function(what, answer) {
  own <- asNamespace("sparsegp")
  has <- switch(what, mixing = "mixing" %in% names(formals(own$method_ep)),
                threads = exists("threads_wanted", own, inherits = FALSE))
  saveRDS(has, answer)
}

# Medians, a column a library; the libraries take turns, each being first as often as the other.
medians <- function(name, libraries, repeats) {
  each <- vapply(seq_len(repeats), function(i) {
    turn <- if (i %% 2L) libraries else rev(libraries)
    vapply(turn, in_new_process, 0, name)[names(libraries)]
  }, numeric(length(libraries)))
  apply(matrix(each, length(libraries)), 1L, stats::median)
}

show_row <- function(name, numbers, ratio) {
  cat(sprintf("%-38s %10s %10s %7s\n", name, numbers[1L], numbers[2L], ratio))
}
shown <- function(x) formatC(x, digits = 4L, format = "g")

compare <- function(repeats) {
  libraries <- c(old = library_of("SPARSEGP_OLD"), new = library_of("SPARSEGP_NEW"))
  cat(extSoftVersion()[["BLAS"]], "\n")
  if (SCALE != 1) cat("sizes are", SCALE, "of what they are to be\n")
  show_row("", names(libraries), "new/old")
  for (name in names(MEASUREMENTS)) {
    found <- medians(name, libraries, repeats)
    show_row(name, shown(found), sprintf("%.3f", found[2L] / found[1L]))
  }
  if (version_has(libraries[["new"]], "mixing")) {
    for (name in names(WITHOUT_MIXING)) {
      show_row(name, c("", shown(medians(name, libraries["new"], repeats))), "")
    }
  }
  if (!version_has(libraries[["new"]], "threads")) return(invisible())
  show_row("new version, seconds on threads", 1:2, "2/1")
  for (likelihood in names(RESPONSES)) {
    found <- vapply(paste0(likelihood, ", threads ", 1:2), medians, 0, libraries["new"], repeats)
    show_row(likelihood, shown(found), sprintf("%.3f", found[[2L]] / found[[1L]]))
  }
}

given <- commandArgs(TRUE)
if (!identical(given[1L], "--one")) {
  compare(if (length(given)) as.integer(given[[1L]]) else 5L)
} else if (given[[2L]] == "has") {
  has_here(given[[3L]], given[[4L]])
} else {
  measure_here(given[[2L]], given[[3L]])
}
