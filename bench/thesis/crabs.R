# Thesis fig. 5.4: sex of Leptograpsus crabs from five measurements and the species, 80 training and
# 120 test rows, sparse EP to the letter (basis exchange in every sweep, KL-optimal projections) in
# 50 random orders of the training rows. The thesis: from 20 points on 3 wrong (2.5 %) after three
# sweeps, and the spread over the orders vanishes, although points are still exchanged. Its split is
# not known row by row; ours has rows 1, 3 of every 5 of the size-sorted groups for training.
# Parameters: learned once by full EP on the training rows (default priors), then kept. Beside them
# the same without priors on the variance.
# Usage: Rscript bench/thesis/crabs.R [orders]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

ORDERS <- argument(1, 50)
SIZES <- c(10, 20, 30, 50, 80)
FORMULA <- sex ~ FL + RW + CL + CW + BD + sp

crabs <- read_data("crabs")
in_training <- crabs$index %% 5 %in% c(1, 3)
train <- crabs[in_training, ]
test <- crabs[!in_training, ]

wrong <- function(fit) sum(predict(fit, test, type = "class") != test$sex)

known_from <- function(fit) {
  value <- as.list(coef(fit))
  list(kernel = kernel_rbf(value$variance, value$lengthscale), likelihood = lik_probit(value$bias))
}

thesis_fit <- function(rows, known, size, sweeps) {
  sweeps_of(FORMULA, rows, kernel = known$kernel, likelihood = known$likelihood, learn = FALSE,
            method = method_ep(size, "kl", freeze = Inf, sweeps = sweeps))
}

# A `size` of all rows would be batch EP; one more row than points keeps the sweeps. That row is a
# copy of another's inputs, so that it never joins.
by_sweep <- function(known, size, projection) {
  runs <- repeated(ORDERS, function(i) {
    rows <- train[sample(nrow(train)), ]
    vapply(1:3, function(sweeps) {
      fit <- sweeps_of(FORMULA, rows, kernel = known$kernel, likelihood = known$likelihood,
                       learn = FALSE, method = method_ep(size, projection, freeze = Inf,
                                                         sweeps = sweeps))
      wrong(fit)
    }, 1)
  })
  data.frame(size = size, sweeps = 1:3, summarised(runs)[c("mean", "sd", "max")],
             min = apply(runs, 2L, min), thesis = c("", "", if (size >= 20) "3" else ""))
}
