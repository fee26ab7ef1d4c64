# What a default fit of many labels takes: many classes, very unequal ones, skewed inputs, many
# observations. For each set the CPU seconds and megabytes of the fit, its error and mean log
# probability on test rows, how many inducing points there are in all, and the same of a forest
# (ranger's defaults, shares of trees at least 0.001). Run it with the package of either side in
# R_LIBS, with one BLAS thread.
#
# Sets: mlbench's LetterRecognition (14 000 rows, 26 classes), Shuttle (10 000, 7 classes of which
# one has 78 per cent and one a single row) and Satellite; kernlab's spam; and ten overlapping
# classes of mixtures in three of five inputs, 20 000 and 5000 rows.
#
# Usage: Rscript bench/classes_speed.R [SET ...]: all of them without an argument.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

MOST_TEST <- 20000

of_package <- function(package, data, response, rows) {
  held <- new.env()
  utils::data(list = data, package = package, envir = held)
  d <- held[[data]]
  x <- vapply(d[setdiff(names(d), response)], as.numeric, numeric(nrow(d)))
  split_rows(x, d[[response]], rows)
}

split_rows <- function(x, y, rows) {
  set.seed(1)
  order <- sample(nrow(x))
  train <- order[seq_len(rows)]
  test <- utils::head(order[-seq_len(rows)], MOST_TEST)
  list(x = x[train, , drop = FALSE], y = droplevels(y[train]), new_x = x[test, , drop = FALSE],
       new_y = y[test])
}

mixtures <- function(rows) {
  set.seed(5)
  n <- 26000
  centre <- 1.6 * matrix(rnorm(30 * 3), 30)
  part <- sample(30, n, TRUE)
  x <- cbind(centre[part, ] + 0.55 * matrix(rnorm(n * 3), n), matrix(rnorm(n * 2), n))
  colnames(x) <- paste0("x", 1:5)
  split_rows(x, factor(rep(1:10, 3)[part]), rows)
}

SETS <- list(
  letter = function() of_package("mlbench", "LetterRecognition", "lettr", 14000),
  shuttle = function() of_package("mlbench", "Shuttle", "Class", 10000),
  satellite = function() of_package("mlbench", "Satellite", "classes", 4435),
  spam = function() of_package("kernlab", "spam", "type", 3221),
  mixtures = function() mixtures(20000),
  mixtures_5000 = function() mixtures(5000)
)

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
  seconds <- cpu(peer <- ranger::ranger(x = d$x, y = d$y, probability = TRUE, num.threads = 1,
                                        seed = 1))
  prob <- pmax(stats::predict(peer, d$new_x, num.threads = 1)$predictions, 1e-3)
  show_row(set, "ranger", prob, d, seconds)
}

asked <- commandArgs(TRUE)
for (set in if (length(asked)) asked else names(SETS)) measure(set)
