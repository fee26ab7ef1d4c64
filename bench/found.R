# Is the structure found? Functions of six inputs on [-2, 2], of which some matter: numbers with
# noise of half the function's variance, and labels whose sign has normal noise of variance 1. The
# default fit is beside one with a length scale for each input that is given, kernel_rbf(ard =
# TRUE), whose search begins elsewhere; both at the hyperparameters of the largest evidence.
#   numbers  root mean square error of the function, in its standard deviations
#   labels   mean log probability of new labels, and that of the true probabilities
#
# Usage: Rscript bench/found.R [SEEDS = 3] [sizes, as 200,600]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
SEEDS <- argument(1L, 3)
SIZES <- if (length(given) > 1L) as.integer(strsplit(given[[2L]], ",")[[1L]]) else c(200, 600)
TESTED <- 2000
AT_MODE <- gp_control(integrate = "none")

FUNCTIONS <- list(
  "linear in three" = function(x) drop(x %*% c(2, 1, 1, 0, 0, 0)),
  "sum of three curves" = function(x) 2 * sin(2 * x[, 1]) + 2 * cos(2 * x[, 2]) + x[, 3]^2 - 1.3,
  "product of two" = function(x) 4 * x[, 1] * x[, 2],
  "sign of a product of three" = function(x) 4 * sign(x[, 1] * x[, 2] * x[, 3]),
  "ring in two" = function(x) 3 * (1.5 - rowSums(x[, 1:2]^2)),
  "step in one" = function(x) 6 * (x[, 1] > 0) - 3 + x[, 2],
  "wave of one" = function(x) 4 * sin(4 * x[, 3]),
  "wave of one, linear in three" = function(x) {
    drop(x %*% c(0, 1.5, 1, 1, 0, 0)) + 2.5 * sin(3 * x[, 1])
  }
)

drawn_inputs <- function(n) matrix(runif(6 * n, -2, 2), n, dimnames = list(NULL, letters[1:6]))

expected_log <- function(truth, prob) {
  prob <- pmin(pmax(prob, 1e-12), 1 - 1e-12)
  mean(truth * log(prob) + (1 - truth) * log(1 - prob))
}

# Returns the scores of the default, of the kernel that was given, and (labels) of the truth.
KINDS <- list(
  numbers = function(x, f, e, new_x, new_f) {
    y <- f + sd(f) * sqrt(0.5) * e
    error <- function(fit) sqrt(mean((predict(fit, new_x) - new_f)^2)) / sd(new_f)
    list(y = y, score = error, truth = 0)
  },
  labels = function(x, f, e, new_x, new_f) {
    truth <- pnorm(new_f)
    score <- function(fit) expected_log(truth, predict(fit, new_x, type = "prob")[, "TRUE"])
    list(y = factor(f + e > 0), score = score, truth = expected_log(truth, truth))
  }
)

measured <- function(kind, name, n, seed) {
  set.seed(seed)
  x <- drawn_inputs(n)
  e <- rnorm(n)
  new_x <- drawn_inputs(TESTED)
  f <- FUNCTIONS[[name]]
  task <- KINDS[[kind]](x, f(x), e, new_x, f(new_x))
  took <- system.time(fit <- sparsegp(x, task$y, control = AT_MODE))
  ard <- sparsegp(x, task$y, kernel = kernel_rbf(ard = TRUE), control = AT_MODE)
  list(kernel = format(fit$kernel),
       scores = c(default = task$score(fit), ard = task$score(ard), truth = task$truth,
                  seconds = sum(took[1:2])))
}

for (kind in names(KINDS)) for (name in names(FUNCTIONS)) for (n in SIZES) {
  runs <- lapply(seq_len(SEEDS), function(seed) measured(kind, name, n, seed))
  scores <- sapply(runs, `[[`, "scores")
  kernels <- table(vapply(runs, `[[`, "", "kernel"))
  bench_row("Means over seeds; best near the truth for labels, and near 0 for numbers",
            response = kind, "function" = name, rows = n, default = mean(scores["default", ]),
            "worst seed" = (if (kind == "labels") min else max)(scores["default", ]),
            "kernel_rbf(ard = TRUE)" = mean(scores["ard", ]), truth = mean(scores["truth", ]),
            "kernels of the default" = toString(paste0(names(kernels), " ", kernels)),
            "CPU s" = median(scores["seconds", ]))
  cat(sprintf("%-8s %-30s %d  %.4f  %.4f\n", kind, name, n, mean(scores["default", ]),
              mean(scores["ard", ])))
}
