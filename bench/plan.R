# Is the plan for many rows right (article "Spark, and a plan for a billion rows")? What a row costs
# in the first pass and in a read, in seconds of the processor, is measured on a hundredth of the
# rows, without workers; bytes are those of a formula. Then workers make a fit of all rows, and what
# it took stands beside the plan.
#   - rows are made by a function, two inputs and Gaussian noise, in chunks of 50 000;
#   - seconds are the workers' own processor time, so that other work on the machine counts little;
#   - bytes of a read: S and t of d points, to and from each worker, several of them where shares do
#     not end where a branch of the sum does, and the factor of one worker; of the first pass the
#     rows that each worker may keep, with three numbers more of each, and the print of every chunk,
#     four numbers and what goes with them.
# Usage: Rscript bench/plan.R [ROWS = 1e7] [POINTS = 50] [WORKERS = 2]
source("bench/common.R")

rows <- argument(1, 1e7)
points <- argument(2, 50)
count <- argument(3, 2)
CHUNK <- 50000
KEPT <- 2000

made_source <- function(rows) {
  read <- function(i) {
    at <- seq(size * (i - 1) + 1, size * i)
    x <- 4 * (at * 0.7548777) %% 1 - 2
    z <- 6 * (at * 0.5698403) %% 1
    data.frame(x = x, z = z, y = sin(2 * x) + cos(z) + 0.3 * sqrt(2) * cos(1e4 * x * z))
  }
  environment(read) <- list2env(list(size = CHUNK), parent = baseenv())
  row_source(read, chunks = rows / CHUNK)
}

fit_of <- function(source) {
  sparsegp(y ~ x + z, source, lik_gaussian(), kernel = kernel_rbf(),
           method = method_ep(size = points), learn = learn_control(rows = KEPT),
           control = gp_control(integrate = "none"))
}

# Processor seconds, here or of all workers
cpu <- function() sum(proc.time()[1:2])
cpu_of_workers <- function(cluster) sum(unlist(parallel::clusterCall(cluster, cpu)))

# Evaluates `fit` with note() called before and after each pass over the rows; returns the
# differences of what it gives, of the first pass and the median of the others.
PASSES <- new.env()
measured <- function(fit, note) {
  PASSES$took <- list()
  PASSES$note <- note
  for (pass in c("scan_once", "chunked_read")) {
    suppressMessages(trace(pass, where = asNamespace("sparsegp"), print = FALSE,
                           tracer = quote(PASSES$began <- PASSES$note()),
                           exit = quote(PASSES$took <- c(PASSES$took, list(PASSES$note() -
                                                                             PASSES$began)))))
  }
  fit <- fit()
  took <- do.call(rbind, PASSES$took)
  list(fit = fit, first = took[1L, ], reads = took[-1L, , drop = FALSE])
}

noted <- function(cpu) c(cpu = cpu(), elapsed = proc.time()[["elapsed"]])

# ---- The plan ----

invisible(fit_of(made_source(rows / 100))) # R compiles functions when they are used
some <- measured(function() fit_of(made_source(rows / 100)), function() noted(cpu))
each <- 1e6 / (rows / 100)
cat(sprintf("a row of the first pass %.2f us, of a read with %d points %.2f us\n",
            each * some$first[["cpu"]], points, each * stats::median(some$reads[, "cpu"])))
triangle <- 8 * points * (points + 3) / 2
plan <- c("first pass, CPU s" = 100 * some$first[["cpu"]],
          "a read, CPU s" = 100 * stats::median(some$reads[, "cpu"]),
          "first pass, kB" = (count * KEPT * (3 + 3) * 8 + rows / CHUNK * 52) / 1000,
          "a read, kB" = (count * 2 * triangle + 8 * points^2) / 1000)

# ---- What it took ----

cluster <- parallel::makeCluster(count)
invisible(parallel::clusterCall(cluster, .libPaths, .libPaths()))
invisible(parallel::clusterCall(cluster, options, sparsegp.threads = 1))
invisible(parallel::clusterEvalQ(cluster, requireNamespace("sparsegp")))
future::plan(future::cluster, workers = cluster)
whole <- measured(function() fit_of(made_source(rows)),
                  function() noted(function() cpu_of_workers(cluster)))
parallel::stopCluster(cluster)
sent <- whole$fit$source$workers
found <- c(whole$first[["cpu"]], stats::median(whole$reads[, "cpu"]), sent$first / 1000,
           sent$read / 1000)
table <- data.frame(planned = plan, measured = found, ratio = found / plan)
bench_table(table, sprintf("%g rows, %d points, %d workers", rows, points, count))
cat(sprintf("elapsed: first pass %.0f s, reads %s s\n", whole$first[["elapsed"]],
            toString(round(whole$reads[, "elapsed"]))))
print(whole$fit)
