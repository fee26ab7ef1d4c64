# Thesis fig. 5.4: sex of Leptograpsus crabs from five measurements and the species, 80 training and
# 120 test rows, sparse EP to the letter (basis exchange in every sweep, KL-optimal projections) in
# 50 random orders of the training rows. The thesis: from 20 points on 3 wrong (2.5 %) after three
# sweeps; the spread over the orders is gone by then, although points are still exchanged. Its split
# is not known row by row; ours trains on rows 1 and 3 of every 5 of the size-sorted groups.
# Parameters: learned once by full EP on the training rows, then kept.
# Usage: Rscript bench/thesis/crabs.R [orders] [most sweeps]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

ORDERS <- argument(1, 50)
SWEEPS <- seq_len(argument(2, 3))
SIZES <- c(10, 20, 30, 50, 80)
FORMULA <- sex ~ FL + RW + CL + CW + BD + sp

crabs <- read_data("crabs")
in_training <- crabs$index %% 5 %in% c(1, 3)
train <- crabs[in_training, ]
test <- crabs[!in_training, ]

full <- sparsegp(FORMULA, train, kernel = kernel_rbf(), scale = TRUE)
known <- as.list(coef(full))

# One row after the other through `sweeps` sweeps, to the letter of the thesis.
thesis_fit <- function(rows, size, sweeps, projection = "kl") {
  sweeps_of(FORMULA, rows, kernel = kernel_rbf(known$variance, known$lengthscale),
            likelihood = lik_probit(known$bias), learn = FALSE,
            method = method_ep(size, projection, freeze = Inf, sweeps = sweeps, score = "mean"))
}

wrong <- function(fit, rows) sum(predict(fit, rows, type = "class") != rows$sex)

shuffled <- function() train[sample(nrow(train)), ]

test_errors <- function(size, projection = "kl") {
  runs <- repeated(ORDERS, function(i) {
    rows <- shuffled()
    vapply(SWEEPS, function(s) wrong(thesis_fit(rows, size, s, projection), test), 1)
  })
  data.frame(size = size, sweeps = SWEEPS, summarised(runs)[c("mean", "sd", "max")],
             min = apply(runs, 2L, min),
             thesis = ifelse(size >= 20 & SWEEPS >= 3, "3, sd 0", ""), row.names = NULL)
}

joined <- function(size, sweeps) {
  repeated(ORDERS, function(i) thesis_fit(shuffled(), size, sweeps)$convergence$trace$exchanges)
}

cat("Full EP:", wrong(full, test), "of", nrow(test), "wrong;", "parameters",
    paste(names(known), signif(unlist(known), 4), sep = " = ", collapse = ", "), "\n")
show_table(sprintf("Errors on %d test rows over %g orders", nrow(test), ORDERS),
           do.call(rbind, lapply(SIZES, test_errors)))
show_table("The same with matched moments",
           do.call(rbind, lapply(c(10, 20, 30, 50), test_errors, projection = "moment")))
show_table("Points that join per sweep at size 50 (the first sweep fills the basis)",
           t(c(sweep = round(colMeans(joined(50, 5)), 1))))
