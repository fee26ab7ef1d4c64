# Rows from a database and from Parquet files, more of them than memory is to hold: what a fit takes
# of memory and of time beside reading alone, and whether it is the fit of a data frame.
#   - ROWS rows of 8 inputs, numbers and labels, are written to SQLite and, where nanoparquet is
#     installed, to Parquet files of 100 000 rows (in tempdir(), or SPARSEGP_BENCH_FOLDER, where
#     they stay);
#   - products: a product with a triangle and a symmetric one of every row, which no sum over rows
#     on a basis does without, are as many multiplications as two symmetric ones: the BLAS's
#     seconds for these on one thread, a bound on the processor's seconds of a read;
#   - method_ep(size = POINTS) of all rows on one thread and on two: seconds of a read of all rows
#     (for numbers there are two, one for the sums and one for the evidence; for labels one for each
#     sweep), beside those of reading alone, all chunks and nothing done with them, in the same
#     process before and after; and the most memory above that of R with the package loaded;
#   - on the first tenth of the rows the fit of a data frame of the same basis and hyperparameters:
#     the largest difference between predictions, and of the log evidence.
# Every measurement is made in a process of its own. Seconds of the processor's are there beside
# elapsed ones, as other work counts little in them; 10^8 rows are ten times 10^7, as every part is
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

write_sqlite <- function(file) {
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con))
  for (part in seq_len(rows / PART)) DBI::dbWriteTable(con, "rows", made_rows(part), append = TRUE)
}

write_parquet <- function(folder) {
  dir.create(folder)
  for (part in seq_len(rows / PART)) {
    file <- file.path(folder, sprintf("%05d.parquet", part))
    nanoparquet::write_parquet(made_rows(part), file, compression = "uncompressed")
  }
}

# Which kinds of sources there are, once they are written.
write_rows <- function() {
  sqlite <- paste0(base, ".sqlite")
  parquet <- paste0(base, ".parquet")
  if (!file.exists(sqlite)) write_sqlite(sqlite)
  with_parquet <- requireNamespace("nanoparquet", quietly = TRUE)
  if (with_parquet && !dir.exists(parquet)) write_parquet(parquet)
  c("sqlite", if (with_parquet) "parquet")
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

# Elapsed seconds of reading all rows, three times.
reading <- function(kind) {
  replicate(3L, {
    system.time(sparsegp:::each_chunk(opened(kind), function(i, chunk) NULL))[["elapsed"]]
  })
}

products <- function() {
  WINDOW <- 2000L
  options(matprod = "blas")
  x <- matrix(stats::rnorm(points * WINDOW), WINDOW)
  took <- system.time(for (k in seq_len(2 * PART / WINDOW)) crossprod(x))
  list(rows = rows, points = points, "CPU s" = cpu(took) * rows / PART)
}

# Seconds of every read of all rows within a fit.
READS <- new.env()
time_reads <- function() {
  READS$took <- NULL
  trace("chunked_read", where = asNamespace("sparsegp"), print = FALSE,
        tracer = quote(READS$began <- proc.time()),
        exit = quote(READS$took <- rbind(READS$took, proc.time() - READS$began)))
}

fit_of <- function(formula, lik, source) {
  sparsegp(formula, source, lik, kernel = kernel_rbf(ard = TRUE), method = method_ep(size = points))
}

# The fit, its memory and its reads.
fitting <- function(kind, what, threads) {
  options(sparsegp.threads = as.numeric(threads))
  formula <- if (what == "numbers") y ~ . - c else c ~ . - y
  lik <- if (what == "numbers") lik_gaussian() else lik_probit()
  loaded <- megabytes("VmRSS")
  alone <- reading(kind)
  suppressMessages(time_reads())
  total <- system.time(fit <- fit_of(formula, lik, opened(kind)))
  most <- megabytes("VmHWM") - loaded
  alone <- stats::median(c(alone, reading(kind)))
  a_read <- stats::median(READS$took[, 3L])
  test <- made_rows(1e6)
  error <- if (what == "numbers") sqrt(mean((predict(fit, test) - test$y)^2))
           else mean((predict(fit, test, type = "response") > 0.5) != test$c)
  list(source = kind, response = what, threads = as.numeric(threads), reads = nrow(READS$took),
       "reading alone, s" = alone, "a read, s" = a_read, "times reading alone" = a_read / alone,
       "a read, CPU s" = stats::median(rowSums(READS$took[, 1:2, drop = FALSE])),
       "the fit, s" = total[["elapsed"]], "MB above R" = most, "test error" = error,
       "loo log density" = fit$source$loo_lpd)
}

# The same rows read in chunks and held: a tenth of them.
comparing <- function(what) {
  some <- rows / 10
  query <- paste("SELECT * FROM rows LIMIT", format(some, scientific = FALSE))
  formula <- if (what == "numbers") y ~ . - c else c ~ . - y
  lik <- if (what == "numbers") lik_gaussian() else lik_probit()
  read <- fit_of(formula, lik, opened("sqlite", query))
  held <- do.call(rbind, lapply(seq_len(some / PART), made_rows))
  whole <- sparsegp(control = gp_control(like = read), data = held)
  test <- made_rows(1e6)
  list(rows = some, "largest difference of predictions" =
         max(abs(predict(read, test) - predict(whole, test))),
       "of log evidences, relative" = abs(as.numeric(logLik(read)) / as.numeric(logLik(whole)) - 1))
}

# ---- The parent ----

# A task's answer becomes a row of the table of this caption.
in_process <- function(caption, what, ...) {
  arguments <- c("bench/source.R", rows, points, as.integer(labels_too))
  answer <- tempfile()
  Sys.setenv(SPARSEGP_BENCH_TASK = paste(c(what, ...), collapse = " "),
             SPARSEGP_BENCH_ANSWER = answer, SPARSEGP_BENCH_FOLDER = folder)
  status <- system2(file.path(R.home("bin"), "Rscript"), arguments)
  if (status != 0L) stop("a measurement has failed: ", what)
  row <- as.data.frame(readRDS(answer), check.names = FALSE)
  print(row, digits = 4L)
  do.call(bench_row, c(list(caption), row))
}

task <- strsplit(Sys.getenv("SPARSEGP_BENCH_TASK"), " ")[[1L]]
if (length(task)) {
  saveRDS(do.call(task[1L], as.list(task[-1L])), Sys.getenv("SPARSEGP_BENCH_ANSWER"))
} else {
  kinds <- write_rows()
  in_process("Time in the BLAS for a read: two symmetric matrix products over all rows", "products")
  reads <- "Median times for reads of all rows within a fit, and for reading alone"
  for (kind in kinds) {
    for (threads in 1:2) in_process(reads, "fitting", kind, "numbers", threads)
  }
  if (labels_too) in_process(reads, "fitting", "sqlite", "labels", 2L)
  if (rows / 10 >= PART) {
    in_process("The fit of a source compared with that of a data frame", "comparing", "numbers")
  }
}
