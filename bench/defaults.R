# The accuracy of default fits, with nothing but the data given: predictions, and the CPU
# seconds they take, beside peers on the same split in the same run. Peers that are not installed
# are left out, and all of them for MNIST (an hour) and for one digit of USPS against the rest (ten
# minutes each). svm: e1071's, radial kernel with probabilities, the best of six of SVM_GRID by the
# error in five folds; forest: ranger's with its defaults.
#
# Usage: Rscript bench/defaults.R [task ...]; tasks are the names of TASKS below, all without an
# argument. The data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

cpu <- function(run) {
  took <- system.time(value <- run())
  list(value = value, seconds = sum(took[1:2]))
}

row <- function(task, who, scores, seconds) {
  caption <- if ("error" %in% names(scores)) "Labels: error in per cent, mean log likelihood"
             else "Numbers, in units of the response's standard deviation"
  do.call(bench_row, c(list(caption, data = task, by = who), as.list(scores),
                       list("CPU seconds" = round(seconds, 1))))
  cat(sprintf("%-22s %-10s %8.1f s  %s\n", task, who, seconds,
              paste(names(scores), signif(scores, 4), collapse = "  ")))
}

has <- function(package) requireNamespace(package, quietly = TRUE)

# ---- Numbers ----

# Of new responses y, in units of the training responses' standard deviation.
regression_scores <- function(fit, x, y) {
  quantiles <- predict(fit, x, type = "quantile", at = QUANTILES)
  edges <- predict(fit, x, type = "quantile", at = c(0.05, 0.95))
  c(MSE = mean((predict(fit, x) - y)^2), lpd = mean(quantile_density(quantiles, y)),
    "90 % holds" = mean(y > edges[, 1L] & y < edges[, 2L]))
}

regression <- function(task, d) {
  unit <- sd(d$y)
  ours <- cpu(function() sparsegp(d$x, d$y / unit))
  fit <- ours$value
  row(task, "sparsegp", regression_scores(fit, d$new_x, d$new_y / unit), ours$seconds)
  cat("  ", format(fit$kernel), ", ", nrow(basis(fit)), " points\n", sep = "")
  if (!has("ranger")) return(invisible())
  forest <- cpu(function() {
    peer <- ranger::ranger(x = d$x, y = d$y, num.threads = 1, seed = 1)
    stats::predict(peer, d$new_x, num.threads = 1)$predictions
  })
  row(task, "ranger", c(MSE = mean(((d$new_y - forest$value) / unit)^2)), forest$seconds)
}

fold <- function(name, inputs, number) {
  d <- read_data(name)
  test <- d$fold == number
  x <- as.matrix(d[inputs])
  list(x = x[!test, ], y = d$y[!test], new_x = x[test, ], new_y = d$y[test])
}

friedman <- function(n) {
  made <- function(n, seed) {
    set.seed(seed)
    x <- matrix(runif(10 * n), n, dimnames = list(NULL, paste0("x", 1:10)))
    f <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
    list(x = x, f = f, y = f + rnorm(n))
  }
  train <- made(1100, 1)
  test <- made(5000, 2)
  list(x = train$x[seq_len(n), ], y = train$y[seq_len(n)], new_x = test$x, new_y = test$y)
}

# ---- Labels ----

classification <- function(task, d, peers = TRUE) {
  ours <- cpu(function() sparsegp(d$x, d$y))
  fit <- ours$value
  prob <- predict(fit, d$new_x, type = "prob")
  row(task, "sparsegp", class_scores(prob, d$new_y), ours$seconds)
  cat("  ", format(fit$kernel), ", ", nrow(fit$posterior$basis), " points",
      ", ", fit$likelihood$type, ", ", utils::tail(fit$choices$candidate[fit$choices$taken], 1L),
      ", power ", signif(if (is.null(fit$power)) 1 else fit$power, 2),
      "\n", sep = "")
  if (!peers) return(invisible())
  # what ours is ahead by on the same test rows, with its standard error
  beside <- function(who, peer) {
    ahead <- own_log(prob, d$new_y) - own_log(peer$value, d$new_y)
    row(task, who, c(class_scores(peer$value, d$new_y), "ours ahead by" = mean(ahead),
                     "standard error" = sd(ahead) / sqrt(length(ahead))), peer$seconds)
  }
  if (has_svm()) beside("svm", cpu(function() svm_prob(tuned_svm(d$x, d$y), d$new_x)))
  if (!has("ranger")) return(invisible())
  beside("ranger", cpu(function() {
    peer <- ranger::ranger(x = d$x, y = d$y, probability = TRUE, num.threads = 1, seed = 1)
    # a share of trees may be 0
    pmax(stats::predict(peer, d$new_x, num.threads = 1)$predictions, 1e-3)
  }))
}

satimage <- function() {
  part <- function(name) {
    d <- read_data("satimage", paste0("satimage_", name))
    list(x = as.matrix(d[paste0("x", 1:36)]), y = factor(d$label))
  }
  train <- part("train")
  test <- part("test")
  list(x = train$x, y = train$y, new_x = test$x, new_y = test$y)
}

# digit: NULL for all ten
usps <- function(digit = NULL) {
  train <- read_usps()
  test <- read_usps("test")
  labels <- function(part) factor(if (is.null(digit)) part$digit else part$digit == digit)
  list(x = train$x, y = labels(train), new_x = test$x, new_y = labels(test))
}

mnist <- function() {
  train <- read_mnist()
  test <- read_mnist("t10k")
  list(x = train$x, y = factor(train$digit), new_x = test$x, new_y = factor(test$digit))
}

# Training and test rows by the file's first split, or where it has none the benchmark's number of
# training rows, by a fixed seed.
RAETSCH <- c(breast_cancer = 200, diabetis = 468, flare_solar = 666, german = 700, heart = 170,
             image = 1300, ringnorm = 400, splice = 1000, titanic = 150, twonorm = 400,
             waveform = 400)

raetsch <- function(name) {
  d <- read_data("raetsch", name)
  set.seed(1)
  train <- if ("split1" %in% names(d)) d$split1 == "train"
           else seq_len(nrow(d)) %in% sample(nrow(d), RAETSCH[[name]])
  x <- as.matrix(d[seq_len(which(names(d) == "label") - 1L)])
  y <- factor(d$label)
  list(x = scaled_by(x[train, ], x[train, ]), y = y[train],
       new_x = scaled_by(x[!train, ], x[train, ]), new_y = y[!train])
}

TASKS <- c(
  list(
    protein = function() regression("protein, fold 1", fold("protein", paste0("x", 1:9), 1)),
    pumadyn = function() {
      for (k in 1:10) {
        regression(paste("pumadyn, fold", k), fold("pumadyn32nm", paste0("x", 1:32), k))
      }
    },
    friedman = function() {
      for (n in c(900, 1000, 1001, 1100)) regression(paste("Friedman 1,", n), friedman(n))
    },
    satimage = function() classification("satimage", satimage()),
    usps = function() classification("USPS, ten classes", usps()),
    mnist = function() classification("MNIST", mnist(), peers = FALSE),
    digits = function() {
      for (k in c(2, 5, 8)) classification(paste("USPS", k), usps(k), peers = FALSE)
    }
  ),
  lapply(stats::setNames(names(RAETSCH), names(RAETSCH)), function(name) {
    function() classification(name, raetsch(name))
  })
)

asked <- commandArgs(TRUE)
for (task in if (length(asked)) asked else names(TASKS)) TASKS[[task]]()
