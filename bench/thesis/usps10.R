# Thesis figures 5.6b and 5.7: USPS, ten digits, each against the rest through one basis for all
# ten, the likelihood a step without noise (sigma_0^2 = 0), rbf kernel of sigma_K^2 = 0.5. With 350
# points the thesis has 5.4 per cent wrong after one pass and 5.15 after sparse EP. Random orders of
# the training rows. Figure 5.7: images whose largest probability is below a threshold are
# rejected; the figure has no numbers.
#   online     method_online(size), one pass
#   sweeps     sparse EP to the letter, 3 sweeps
# Usage: Rscript bench/thesis/usps10.R [orders] [points, as 150,350]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

ORDERS <- argument(1, 3)
SIZES <- if (length(commandArgs(TRUE)) < 2) c(150, 350) else
  as.integer(strsplit(commandArgs(TRUE)[[2]], ",")[[1]])
THRESHOLDS <- c(0, 0.5, 0.6, 0.7, 0.8, 0.9)

train <- read_usps("train")
test <- read_usps("test")
train$digit <- factor(train$digit)
test$digit <- factor(test$digit)

METHODS <- list(
  "one pass" = function(size) method_online(size, score = "mean"),
  "3 sweeps" = function(size) method_ep(size, "kl", freeze = Inf, sweeps = 3, score = "mean")
)

# Largest probability of each test image, whether it is of the wrong digit, and the scores of all.
answers <- function(method) {
  rows <- sample(nrow(train$x))
  took <- system.time({
    fit <- sweeps_of(train$x[rows, ], train$digit[rows], lik_step(fixed(0)),
                     thesis_rbf(0.5, 256), scale = FALSE, learn = FALSE, method = method)
  })[["elapsed"]]
  prob <- predict(fit, test$x, type = "prob")
  list(top = apply(prob, 1L, max), wrong = max.col(prob, "first") != as.integer(test$digit),
       scores = class_scores(prob, test$digit), seconds = took)
}

rejection <- function(runs, threshold) {
  accepted <- lapply(runs, function(run) run$top >= threshold)
  c(rejected = 100 * mean(!unlist(accepted)),
    wrong = 100 * mean(unlist(Map(function(run, kept) run$wrong[kept], runs, accepted))),
    "wrong, of all" = 100 * mean(unlist(Map(function(run, kept) run$wrong & kept, runs, accepted))))
}

for (size in SIZES) {
  for (what in names(METHODS)) {
    runs <- lapply(seq_len(ORDERS), function(i) {
      set.seed(i)
      answers(METHODS[[what]](size))
    })
    scores <- rowMeans(vapply(runs, `[[`, numeric(2L), "scores"))
    seconds <- mean(vapply(runs, `[[`, 0, "seconds"))
    cat(sprintf("%s, %d points: %.2f %% wrong (%s), log likelihood %.4f, %.0f s\n", what, size,
                scores[["error"]], toString(vapply(runs, function(run) sum(run$wrong), 0L)),
                scores[["log_lik"]], seconds))
    bench_row("USPS, ten digits, a step without noise; the thesis has 5.4 and 5.15 with 350 points",
              by = what, points = size, orders = ORDERS, wrong = scores[["error"]],
              "log likelihood" = scores[["log_lik"]], seconds = seconds)
    for (threshold in THRESHOLDS) {
      found <- rejection(runs, threshold)
      bench_row("Images rejected for a largest probability below a threshold: per cent",
                by = what, points = size, threshold = threshold, t(found))
    }
  }
}
