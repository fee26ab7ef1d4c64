# Rows from a database and from Parquet files, more of them than memory is to hold: what a fit takes
# of memory and of time beside reading alone, and whether it is the fit of a data frame.
#   - ROWS rows of 8 inputs, numbers and labels, are written to SQLite and, where nanoparquet is
#     installed, to Parquet files of 100 000 rows (in tempdir(), or SPARSEGP_BENCH_FOLDER, where
#     they stay);
#   - reading alone: all chunks, nothing done with them;
#   - method_ep(size = POINTS) of all rows: seconds of a read of all rows (for numbers there are
#     two, one for the sums and one for the evidence; for labels one for each sweep), rows per
#     second, and the most memory above that of R with the package loaded;
#   - on the first tenth of the rows the fit of a data frame of the same basis and hyperparameters:
#     the largest difference between predictions, and of the log evidence.
# Every measurement is made in a process of its own. Seconds are of the processor's, as other work
# counts little there, with elapsed ones beside them; 10^8 rows are ten times 10^7, as every part is
# proportional to the rows but learning, which is not measured with them.
# Usage: Rscript bench/source.R [ROWS = 1e6] [POINTS = 200] [labels too = 1]
source("bench/common.R")

rows <- argument(1, 1e6)
points <- argument(2, 200)
labels_too <- argument(3, 1) > 0
folder <- Sys.getenv("SPARSEGP_BENCH_FOLDER", tempdir())
base <- file.path(folder, format(rows, scientific = FALSE))
PART <- 1e5 # rows that are made, and written, at once

made_rows <- function(part) {
  set.seed(part)
  x <- matrix(stats::rnorm(PART * 8), PART)
  f <- sin(x[, 1]) + sin(2 * x[, 2]) + 0.5 * x[, 3] * x[, 4]
  data.frame(x, y = f + 0.3 * stats::rnorm(PART), c = as.integer(f + stats::rnorm(PART) > 0))
}

write_rows <- function() {
  sqlite <- paste0(base, ".sqlite")
  parquet <- paste0(base, ".parquet")
  if (file.exists(sqlite)) return(invisible())
  con <- DBI::dbConnect(RSQLite::SQLite(), sqlite)
  on.exit(DBI::dbDisconnect(con))
  with_parquet <- requireNamespace("nanoparquet", quietly = TRUE)
  if (with_parquet) dir.create(parquet)
  for (part in seq_len(rows / PART)) {
    d <- made_rows(part)
    DBI::dbWriteTable(con, "rows", d, append = TRUE)
    if (with_parquet) {
      file <- file.path(parquet, sprintf("%05d.parquet", part))
      nanoparquet::write_parquet(d, file, compression = "uncompressed")
    }
  }
}

# ---- What is measured, each in a process of its own ----

opened <- function(kind, query = "SELECT * FROM rows") {
  if (kind == "parquet") return(row_source(paste0(base, ".parquet")))
  row_source(DBI::dbConnect(RSQLite::SQLite(), paste0(base, ".sqlite")), query = query)
}

megabytes <- function(what) {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep(paste0("^", what, ":"), status, value = TRUE))) / 1024
}

cpu <- function(took) took[["user.self"]] + took[["sys.self"]]

reading <- function(kind) {
  took <- system.time(sparsegp:::each_chunk(opened(kind), function(i, chunk) NULL))
  c(cpu = cpu(took), elapsed = took[["elapsed"]])
}

# Seconds of every read of all rows within a fit.
READS <- new.env()
time_reads <- function() {
  READS$took <- NULL
  trace("fold_read", where = asNamespace("sparsegp"), print = FALSE,
        tracer = quote(READS$began <- proc.time()),
        exit = quote(READS$took <- rbind(READS$took, proc.time() - READS$began)))
}

fit_of <- function(formula, lik, source) {
  sparsegp(formula, source, lik, kernel = kernel_rbf(ard = TRUE), method = method_ep(size = points))
}

# The fit, its memory and its reads.
fitting <- function(kind, what) {
  formula <- if (what == "numbers") y ~ . - c else c ~ . - y
  lik <- if (what == "numbers") lik_gaussian() else lik_probit()
  loaded <- megabytes("VmRSS")
  suppressMessages(time_reads())
  total <- system.time(fit <- fit_of(formula, lik, opened(kind)))
  reads <- rowSums(READS$took[, 1:2, drop = FALSE])
  test <- made_rows(1e6)
  error <- if (what == "numbers") sqrt(mean((predict(fit, test) - test$y)^2))
           else mean((predict(fit, test, type = "response") > 0.5) != test$c)
  c(reads = length(reads), cpu_a_read = mean(reads), elapsed_a_read = mean(READS$took[, 3]),
    total_elapsed = total[["elapsed"]], megabytes = megabytes("VmHWM") - loaded, error = error,
    loo_lpd = fit$source$loo_lpd)
}

# The same rows read in chunks and held: a tenth of them.
comparing <- function(what) {
  some <- rows / 10
  query <- paste("SELECT * FROM rows LIMIT", format(some, scientific = FALSE))
  formula <- if (what == "numbers") y ~ . - c else c ~ . - y
  lik <- if (what == "numbers") lik_gaussian() else lik_probit()
  read <- fit_of(formula, lik, opened("sqlite", query))
  held <- do.call(rbind, lapply(seq_len(some / PART), made_rows))
  whole <- sparsegp(like = read, data = held)
  test <- made_rows(1e6)
  c(rows = some, largest_difference = max(abs(predict(read, test) - predict(whole, test))),
    log_evidence = as.numeric(logLik(read)) / as.numeric(logLik(whole)) - 1)
}

# ---- The parent ----

in_process <- function(what, ...) {
  arguments <- c("bench/source.R", rows, points, as.integer(labels_too))
  answer <- tempfile()
  Sys.setenv(SPARSEGP_BENCH_TASK = paste(c(what, ...), collapse = " "),
             SPARSEGP_BENCH_ANSWER = answer, SPARSEGP_BENCH_FOLDER = folder)
  status <- system2(file.path(R.home("bin"), "Rscript"), arguments)
  if (status != 0L) stop("a measurement has failed: ", what)
  print(c(task = paste(c(what, ...), collapse = " "),
          vapply(readRDS(answer), format, "", digits = 4)), quote = FALSE)
}

task <- strsplit(Sys.getenv("SPARSEGP_BENCH_TASK"), " ")[[1L]]
if (length(task)) {
  saveRDS(do.call(task[1L], as.list(task[-1L])), Sys.getenv("SPARSEGP_BENCH_ANSWER"))
} else {
  write_rows()
  kinds <- c("sqlite", if (dir.exists(paste0(base, ".parquet"))) "parquet")
  for (kind in kinds) in_process("reading", kind)
  for (kind in kinds) in_process("fitting", kind, "numbers")
  if (labels_too) in_process("fitting", "sqlite", "labels")
  if (rows / 10 >= PART) in_process("comparing", "numbers")
}
