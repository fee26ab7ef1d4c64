# What a default fit of many labels takes: many classes, very unequal ones, skewed inputs, many
# observations. For each set the CPU seconds and megabytes of the fit, its error and mean log
# probability on test rows, how many inducing points there are in all, and the same of a forest
# (ranger, tuned as in zoo_peers.R). Run it with the package of either side in R_LIBS, with one BLAS
# thread. The sets are those of classes_sets.R.
#
# Usage: Rscript bench/classes_speed.R [SET ...]: all of them without an argument.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
  source(file.path(dirname(self), "classes_sets.R"))
  source(file.path(dirname(self), "zoo_peers.R"))
})

cpu <- function(run) sum(system.time(run)[1:2])

show_row <- function(set, by, prob, d, seconds, ...) {
  scores <- class_scores(prob, factor(d$new_y, levels(d$y)))
  bench_row("Default fits of many labels", set = set, by = by, "CPU seconds" = round(seconds, 1),
            error = scores[["error"]], "log probability" = scores[["log_lik"]], ...)
  cat(sprintf("%-14s %-9s %7.1f s  error %6.2f  log probability %8.4f  %s\n", set, by, seconds,
              scores[["error"]], scores[["log_lik"]], paste(names(list(...)), list(...),
                                                            collapse = "  ")))
}

measure <- function(set) {
  d <- SETS[[set]]()
  seconds <- cpu(fit <- sparsegp(d$x, d$y))
  points <- lengths(fit$basis_rows_of)
  show_row(set, "sparsegp", predict(fit, d$new_x, type = "prob"), d, seconds,
           MB = round(as.numeric(utils::object.size(fit)) / 1e6, 1),
           points = if (length(points)) sum(points) else nrow(basis(fit)))
  if (!requireNamespace("ranger", quietly = TRUE)) return(invisible())
  inputs <- as.data.frame(d$x)
  seconds <- cpu(prob <- labels_by_ranger(inputs, d$y, as.data.frame(d$new_x)))
  show_row(set, "ranger", prob, d, seconds)
}

asked <- commandArgs(TRUE)
for (set in if (length(asked)) asked else names(SETS)) measure(set)
