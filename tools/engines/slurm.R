# Run by tools/engines/slurm, within an allocation of four nodes. Everything is checked with
# stopifnot(); what was measured is printed.
library(sparsegp)

ROWS <- as.double(Sys.getenv("SPARSEGP_ROWS"))
CHUNK <- min(50000, ROWS / 10)
CHUNKS <- ROWS / CHUNK

# Workers are steps of the job: parallelly takes their number for one of processes here.
options(parallelly.maxWorkers.localhost = c(Inf, Inf))

# Workers that last, each a step of the job on a node of its own, with one thread
workers <- function(count) {
  srun <- c("srun", "--quiet", "--exact", "--nodes=1", "--ntasks=1", "--input=none", "--no-kill")
  cluster <- parallelly::makeClusterPSOCK(
    count, rscript = c(srun, file.path(R.home("bin"), "Rscript")), rscript_args = "--no-init-file"
  )
  parallel::clusterCall(cluster, options, sparsegp.threads = 1)
  cluster
}

# Evaluates `code` with so many workers; 0: none.
with_workers <- function(count, code) {
  cluster <- if (count > 0L) workers(count)
  old <- if (count > 0L) future::plan(future::cluster, workers = cluster)
  on.exit({
    if (!is.null(old)) future::plan(old)
    try(parallel::stopCluster(cluster), silent = TRUE)
  })
  force(code)
}

# A source that is made by its function, which meets with `event` at some chunk
made_source <- function(chunks, event = function(i) NULL, size = CHUNK) {
  environment(event) <- list2env(as.list(environment(event)), parent = baseenv())
  read <- function(i) {
    event(i)
    at <- seq(size * (i - 1) + 1, size * i)
    x <- 4 * (at * 0.7548777) %% 1 - 2
    z <- 6 * (at * 0.5698403) %% 1
    y <- sin(2 * x) + cos(z) + 0.3 * sqrt(2) * cos(1e4 * x * z)
    data.frame(x = x, z = z, y = y, label = y + cos(1e5 * x * z) > 0)
  }
  environment(read) <- list2env(list(event = event, size = size), parent = baseenv())
  row_source(read, chunks = chunks)
}

fit_of <- function(formula, source, size = 50, checkpoint = NULL) {
  lik <- if (formula[[2L]] == "y") lik_gaussian() else lik_probit()
  sparsegp(formula, source, lik, method = method_ep(size = size),
           control = gp_control(checkpoint = checkpoint),
           learn = learn_control(rows = 1000))
}

stopifnot_same <- function(fit, other) {
  new <- data.frame(x = c(-1, 0, 1.5), z = c(1, 4, 5))
  stopifnot(identical(fit$state, other$state), identical(logLik(fit), logLik(other)),
            identical(predict(fit, new, se.fit = TRUE), predict(other, new, se.fit = TRUE)))
}

# ---- The same numbers by 1, 2 and 4 workers ----

# A source of ten chunks, whose rows need not be many
small_source <- function(...) made_source(10, ..., size = min(CHUNK, 10000))
both <- function(source = small_source()) lapply(c(y ~ x + z, label ~ x + z), fit_of, source)
alone <- both()
for (count in c(1L, 2L, 4L)) Map(stopifnot_same, alone, with_workers(count, both()))

# ---- Seconds and bytes of a read ----

# Bytes on the loopback interface, which everything here goes by
loopback <- function() {
  line <- grep("^ *lo:", readLines("/proc/net/dev"), value = TRUE)
  as.double(strsplit(trimws(sub(".*:", "", line)), " +")[[1L]][1L])
}

READS <- new.env()
now <- function() c(proc.time()[[3L]], loopback())
suppressMessages(trace("chunked_read", where = asNamespace("sparsegp"), print = FALSE,
                       tracer = quote(READS$began <- now()),
                       exit = quote(READS$took <- rbind(READS$took, now() - READS$began))))
suppressMessages(trace("scan_source", where = asNamespace("sparsegp"), print = FALSE,
                       tracer = quote(READS$began <- now()),
                       exit = quote(READS$first <- now() - READS$began)))

# By 1 and 2 workers in turn, as other work on this machine comes and goes
measured <- lapply(c(1L, 2L, 1L, 2L, 4L), function(count) {
  READS$took <- NULL
  whole <- system.time(fit <- with_workers(count, fit_of(y ~ x + z, made_source(CHUNKS), 100)))
  list(count = count, fit = fit, whole = whole[["elapsed"]], took = READS$took,
       first = READS$first)
})
for (one in measured[-1L]) stopifnot_same(measured[[1L]]$fit, one$fit)

# ---- This process is gone, and the workers with it: a checkpoint ----

checkpoint <- tempfile()
gone <- (function(checkpoint) {
  force(checkpoint)
  function(i) if (i == 3L && file.exists(checkpoint)) stop("the node of the fit is gone")
})(checkpoint)
said <- tryCatch(with_workers(2L, fit_of(label ~ x + z, small_source(gone),
                                         checkpoint = checkpoint)),
                 error = conditionMessage)
stopifnot(grepl("is gone", said), file.exists(checkpoint))
resumed <- with_workers(4L, fit_of(label ~ x + z, small_source(), checkpoint = checkpoint))
stopifnot_same(alone[[2L]], resumed)
cat("from a checkpoint, with other workers: the same numbers\n")

# ---- A worker is killed, a node is drained, a node goes down ----

# An allocation that loses a node does not get it back, so this comes last.

# Calls what() once, in a worker, when chunk 3 is read for the `time`th time; the first is in the
# first pass.
once <- function(what, time = 2) {
  environment(what) <- baseenv()
  log <- tempfile(tmpdir = dirname(tempdir()))
  main <- Sys.getpid()
  function(i) {
    if (i != 3L || Sys.getpid() == main) return(NULL)
    cat(".", file = log, append = TRUE)
    if (file.size(log) == time) what()
  }
}
kill <- function() tools::pskill(Sys.getpid(), 9L)
events <- list(
  killed = once(kill), "killed in the first pass" = once(kill, 1),
  drained = once(function() {
    node <- paste0("NodeName=", Sys.getenv("SLURMD_NODENAME"))
    system2("scontrol", c("update", node, "State=drain", "Reason=test"))
  }),
  down = once(function() {
    node <- paste0("NodeName=", Sys.getenv("SLURMD_NODENAME"))
    system2("scontrol", c("update", node, "State=down", "Reason=test"))
    Sys.sleep(60)
  })
)
for (name in names(events)) {
  said <- character()
  fits <- withCallingHandlers(with_workers(2L, both(small_source(events[[name]]))),
                              sparsegp_warning = function(w) {
                                said <<- c(said, conditionMessage(w))
                                tryInvokeRestart("muffleWarning")
                              })
  Map(stopifnot_same, alone, fits)
  cat(name, ": the same numbers; warnings: ", length(said), "\n", sep = "")
  # newer versions of future start a worker again before the second fit
  stopifnot(length(said) %in% if (name == "drained") 0L else 1:2, grepl("did not answer", said))
  system2("scontrol", c("update", "NodeName=n[1-4]", "State=resume"), stderr = FALSE)
}

cat("| workers | rows | points | the first pass, s | a read, s | of its time with one |",
    "the fit, s | kB of the first pass, counted | of a read, counted | on the interface |\n")
cat("|", rep(" ---: |", 10L), "\n", sep = "")
counts <- vapply(measured, `[[`, 0L, "count")
seconds_of <- function(count) {
  stats::median(unlist(lapply(measured[counts == count], function(one) one$took[, 1L])))
}
for (count in c(1L, 2L, 4L)) {
  own <- measured[counts == count]
  counted <- own[[1L]]$fit$source$workers
  cat(sprintf("| %d | %.0f | 100 | %.1f | %.1f | %.2f | %.1f | %.0f | %.0f | %.0f |\n", count, ROWS,
              stats::median(vapply(own, function(one) one$first[[1L]], 0)),
              seconds_of(count), seconds_of(count) / seconds_of(1L),
              stats::median(vapply(own, `[[`, 0, "whole")), counted$first / 1000,
              counted$read / 1000, stats::median(own[[1L]]$took[-1L, 2L]) / 1000))
}
