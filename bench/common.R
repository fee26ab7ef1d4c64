# What the scripts of this folder and of thesis/ share; each of them sources it.
library(sparsegp)

# ---- What a script has found, for bench/run.R as well as for who looks on ----

# Tables in the order in which they were begun, and the file of bench/run.R that they are to be
# written to, as markdown; none is written where a script is run by itself.
bench_found <- new.env()
bench_found$tables <- list()

write_tables <- function() {
  file <- Sys.getenv("SPARSEGP_BENCH_TABLES")
  if (!nzchar(file)) return(invisible())
  writeLines(tables_text(), file)
}

tables_text <- function() {
  unlist(Map(markdown_table, bench_found$tables, names(bench_found$tables)))
}

four_digits <- function(x) {
  format(signif(x, 4L), scientific = !is.na(x) && x != 0 && abs(x) < 1e-4)
}

markdown_table <- function(x, caption) {
  cells <- vapply(x, function(column) {
    text <- if (is.numeric(column)) vapply(column, four_digits, "") else as.character(column)
    ifelse(is.na(column), "", gsub("|", "/", text, fixed = TRUE))
  }, character(nrow(x)))
  cells <- matrix(cells, nrow(x))
  line <- function(cells) paste0("| ", paste(cells, collapse = " | "), " |")
  c(paste0("*", caption, "*"), "", line(names(x)),
    line(ifelse(vapply(x, is.numeric, NA), "---:", "---")), apply(cells, 1L, line), "")
}

# A table as a whole: printed, and kept. Names of rows are the first column.
bench_table <- function(x, caption, digits = 4L) {
  cat("\n", caption, "\n", sep = "")
  print(x, digits = digits)
  x <- as.data.frame(x)
  if (is.character(attr(x, "row.names"))) {
    x <- cbind(data.frame(" " = rownames(x), check.names = FALSE), x)
  }
  bench_found$tables[[caption]] <- x
  write_tables()
}

# A row of the table of that caption, kept at once, so that a run that ends early leaves what it
# had. Nothing is printed: scripts show their rows as they like.
bench_row <- function(caption, ...) {
  row <- data.frame(..., check.names = FALSE)
  table <- bench_found$tables[[caption]]
  if (!is.null(table)) {
    for (name in setdiff(names(table), names(row))) row[[name]] <- NA
    for (name in setdiff(names(row), names(table))) table[[name]] <- NA
  }
  bench_found$tables[[caption]] <- rbind(table, row)
  write_tables()
}

# ---- Arguments and data ----

# The script's `i`th argument, a number.
argument <- function(i, default) {
  given <- commandArgs(TRUE)
  if (length(given) >= i) as.numeric(given[[i]]) else default
}

# Data set `name` from the folder that SPARSEGP_DATA names.
read_data <- function(name, file = name) {
  folder <- Sys.getenv("SPARSEGP_DATA")
  path <- file.path(folder, name, paste0(file, ".csv.gz"))
  if (!nzchar(folder) || !file.exists(path)) {
    stop("set SPARSEGP_DATA to the folder that holds ", name, "/", file, ".csv.gz", call. = FALSE)
  }
  read.csv(path)
}

# USPS digits: inputs in [-1, 1] and the digit of each row.
read_usps <- function(part = "train") {
  rows <- read_data("usps", paste0("usps_", part))
  list(x = as.matrix(rows[, -1L]) / 1000, digit = rows$label)
}

# A file of the MNIST set: the images as rows of a matrix, or the labels.
read_idx <- function(file) {
  path <- file.path(Sys.getenv("SPARSEGP_DATA"), "mnist", file)
  if (!file.exists(path)) stop("set SPARSEGP_DATA to the folder that holds mnist/", file,
                               call. = FALSE)
  input <- gzfile(path, "rb")
  on.exit(close(input))
  magic <- readBin(input, "integer", 1L, endian = "big")
  size <- readBin(input, "integer", magic %% 256, endian = "big")
  values <- readBin(input, "integer", prod(size), size = 1L, signed = FALSE)
  if (length(size) == 1L) values else matrix(values, size[1L], byrow = TRUE)
}

# MNIST digits: inputs in [0, 1] and the digit of each row.
read_mnist <- function(part = "train") {
  list(x = read_idx(paste0(part, "-images-idx3-ubyte.gz")) / 255,
       digit = read_idx(paste0(part, "-labels-idx1-ubyte.gz")))
}

# Median elapsed seconds of `repeats` runs.
median_time <- function(run, repeats) {
  median(replicate(repeats, system.time(run())[["elapsed"]]))
}

# Memory that `run` takes at its peak, above what was there before, in MB as gc() has seen it: all
# that is allocated in C comes from R, too.
memory_of <- function(run) {
  gc(reset = TRUE)
  before <- sum(gc()[, 2L])
  run()
  sum(gc()[, 6L]) - before
}

# Error in per cent and mean log likelihood of the probabilities in the rows of `prob`, whose
# columns are the levels of the factor `y`.
class_scores <- function(prob, y) {
  prob <- prob[, levels(y), drop = FALSE]
  c(error = 100 * mean(max.col(prob, "first") != as.integer(y)), log_lik = mean(own_log(prob, y)))
}

# The log probability of each row's own class.
own_log <- function(prob, y) log(prob[, levels(y)][cbind(seq_along(y), as.integer(y))])

# e1071's svm with a radial kernel, and probabilities of labels; gamma (in units of one over the
# inputs' total variance) and cost are the best of `grid` by the error in five folds of the first
# `folded` observations. NULL if e1071 is missing.
SVM_GRID <- expand.grid(gamma = c(0.5, 2, 8), cost = c(1, 10))

has_svm <- function() {
  if (requireNamespace("e1071", quietly = TRUE)) return(TRUE)
  cat("e1071 is not installed (install.packages(\"e1071\")): no comparison\n")
  FALSE
}

tuned_svm <- function(x, y, grid = SVM_GRID, folded = length(y)) {
  if (!has_svm()) return(NULL)
  unit <- 1 / sum(apply(x, 2L, var))
  set.seed(1)
  part <- seq_len(min(folded, length(y)))
  error <- mapply(function(gamma, cost) {
    fit <- e1071::svm(x[part, , drop = FALSE], y[part], scale = FALSE, gamma = gamma * unit,
                      cost = cost, cross = 5)
    if (is.factor(y)) -fit$tot.accuracy else fit$tot.MSE
  }, grid$gamma, grid$cost)
  best <- grid[which.min(error), ]
  model <- e1071::svm(x, y, scale = FALSE, gamma = best$gamma * unit, cost = best$cost,
                      probability = is.factor(y))
  list(model = model, gamma = best$gamma, cost = best$cost, mse = min(error))
}

svm_prob <- function(svm, x) attr(predict(svm$model, x, probability = TRUE), "probabilities")

# Inputs of `x` on the scale of `by`: centred, of unit standard deviation.
scaled_by <- function(x, by) {
  sd <- apply(by, 2L, sd)
  scale(x, colMeans(by), ifelse(sd > 0, sd, 1))[, ]
}

# USPS with pixels on the scale of the IVM paper, where w is one over their average variance.
usps_on_paper_scale <- function(w) {
  train <- read_usps("train")
  test <- read_usps("test")
  unit <- sqrt(mean(apply(train$x, 2L, var)) * w)
  train$x <- train$x / unit
  test$x <- test$x / unit
  list(train = train, test = test)
}

# ---- Internal values ----

# Evaluates `code` while an internal of the package, such as its policy, has another value.
with_internal <- function(name, value, code) {
  home <- asNamespace("sparsegp")
  set <- function(value) {
    unlockBinding(name, home)
    assign(name, value, home)
    lockBinding(name, home)
  }
  before <- home[[name]]
  on.exit(set(before))
  set(value)
  force(code)
}

# ---- Densities ----

# Log density of each of `y` by the quantiles of its predictive distribution, whatever that is: if
# the quantile of probability p is q(p), then z(q) = qnorm(p) is a smooth function, a straight line
# of a normal distribution, and the density is dnorm(z) dz / dq. z: the deviates of `quantiles`.
QUANTILES <- stats::pnorm(seq(-30, 7.9, 0.1))
NEAR_QUANTILES <- 40L # that its curve goes through, on each side

quantile_density <- function(quantiles, y, z = stats::qnorm(QUANTILES)) {
  vapply(seq_along(y), function(i) {
    q <- quantiles[i, ]
    beyond_bound <- duplicated(q) | duplicated(q, fromLast = TRUE)
    use <- which(is.finite(q) & !beyond_bound)
    # quantiles far off may lie a hundred orders of magnitude apart, too far for a spline
    use <- use[abs(seq_along(use) - findInterval(y[i], q[use])) <= NEAR_QUANTILES]
    at <- curve_at(q[use], z[use], y[i])
    stats::dnorm(at[1L], log = TRUE) + log(max(at[2L], .Machine$double.xmin))
  }, 0)
}

# Returns z and its slope at a quantile y: by a smooth spline, or by a monotone one where that
# leaves the interval of y, as it may where quantiles of heavy tails are far apart.
curve_at <- function(q, z, y) {
  at <- function(method) {
    curve <- stats::splinefun(q, z, method)
    c(curve(y), curve(y, 1))
  }
  smooth <- at("natural")
  beside <- z[findInterval(y, q) + 0:1]
  within <- anyNA(beside) || all(smooth[1L] >= beside[1L], smooth[1L] <= beside[2L], smooth[2L] > 0)
  if (within) smooth else at("monoH.FC")
}
