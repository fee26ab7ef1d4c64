# The IVM paper's table 1: each digit of USPS against the rest (7291 training and 2007 test rows,
# 256 inputs, probit, rbf kernel), active sets of 50, 100, 200 and 500 rows: test error in per cent
# and mean test log likelihood of method_ivm() with refine = "none" (the paper's IVM) and "basis"
# (its active set as the basis of batch EP on all rows), beside the paper's.
#
# Model and start are those of the paper's section 6.1. Its w = 0.0166 is "one over the average
# component variance" of its pixels; here pixels are put on that scale, so that its numbers mean
# what they mean there: length scale sqrt(p / w) to begin with, and a prior on lengthscale^2 / p,
# gamma of mean 1 and one degree of freedom, which is a (half-)normal lengthscale of variance p: the
# same distribution, though the density that learning adds is then that of the length scale.
#
# "none" learns as the paper does, by its criterion and the constant strategy in 15 rounds of at
# most 8 steps; "basis" by the evidence of batch EP on the active set, in two rounds. The
# hyperparameters of both are shown. An asterisk: learning ended at the edge of its box.
#
# Usage: Rscript bench/ivm_usps.R [digits, as 2,5,8] [sizes, as 50,100,200,500]; the data folder is
# SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

numbers <- function(i, default) {
  given <- commandArgs(TRUE)
  if (length(given) < i) default else as.integer(strsplit(given[[i]], ",")[[1L]])
}

DIGITS <- numbers(1L, 0:9)
SIZES <- numbers(2L, c(50, 100, 200, 500))
START <- c(variance = 10, w = 0.0166)

# Table 1: a row per digit, a column per size.
TABLE1_SIZES <- c(50, 100, 200, 500)
TABLE1_ERROR <- matrix(c(
  3.64, 0.95, 0.80, 0.80, 0.75, 0.70, 0.75, 0.70, 4.24, 2.09, 1.25, 1.59, 2.84, 1.69, 1.15, 1.30,
  4.38, 2.74, 1.40, 1.49, 4.98, 2.94, 1.00, 1.20, 2.24, 1.64, 0.70, 0.65, 2.39, 0.90, 0.65, 0.60,
  2.39, 1.94, 1.69, 1.15, 1.44, 1.15, 0.95, 0.80
), 10L, byrow = TRUE)
TABLE1_LOGLIK <- -matrix(c(
  0.117, 0.081, 0.035, 0.029, 0.088, 0.037, 0.032, 0.031, 0.190, 0.110, 0.094, 0.052,
  0.110, 0.087, 0.079, 0.045, 0.220, 0.148, 0.091, 0.048, 0.230, 0.117, 0.094, 0.041,
  0.263, 0.097, 0.028, 0.020, 0.089, 0.087, 0.029, 0.024, 0.112, 0.104, 0.067, 0.054,
  0.080, 0.074, 0.065, 0.036
), 10L, byrow = TRUE)

usps <- usps_on_paper_scale(START[["w"]])
train <- usps$train
test <- usps$test
P <- ncol(train$x)

against_rest <- function(digit) factor(digit, c(FALSE, TRUE), c("rest", "digit"))

LEARN <- list(none = learn_control("ivm"), basis = learn_control("evidence", outer = 2))

learned_fit <- function(digit, size, refine) {
  sparsegp(train$x, against_rest(train$digit == digit), likelihood = lik_probit(),
           kernel = kernel_rbf(START[["variance"]], sqrt(P / START[["w"]])), scale = FALSE,
           method = method_ivm(size, refine = refine), learn = LEARN[[refine]],
           control = gp_control(prior = list(variance = prior_lognormal(-1, 1),
                                             lengthscale = prior_normal(0, sqrt(P)),
                                             bias = prior_normal(0, 5))))
}

test_scores <- function(fit, digit) {
  prob <- predict(fit, test$x, type = "prob")
  right <- prob[cbind(seq_along(test$digit), 1L + (test$digit == digit))]
  c(error = 100 * mean(right < 0.5), log_lik = mean(log(right)))
}

learned <- function(digit, size, refine) {
  took <- system.time(fit <- suppressWarnings(learned_fit(digit, size, refine)))[["elapsed"]]
  at <- coef(fit)
  data.frame(t(test_scores(fit, digit)), variance = at[["variance"]],
             w = P / at[["lengthscale"]]^2, bias = at[["bias"]],
             edge = length(fit$learning$at_bound) > 0, evidence = fit$log_evidence,
             steps = fit$learning$evaluations, seconds = took)
}

measure <- function(digit, size) {
  row <- data.frame(digit = digit, size = size, paper = paper_scores(digit, size),
                    none = learned(digit, size, "none"), basis = learned(digit, size, "basis"))
  show_row(row)
  row
}

paper_scores <- function(digit, size) {
  at <- cbind(digit + 1L, match(size, TABLE1_SIZES))
  data.frame(error = TABLE1_ERROR[at], log_lik = TABLE1_LOGLIK[at])
}

# After the scores: what was learned, and what it took.
search_words <- function(row, refine) {
  at <- function(field) row[[paste0(refine, ".", field)]]
  sprintf("%8.3g %7.3g %6.2f%s%8.1f %4d %6.1f", at("variance"), at("w"), at("bias"),
          if (at("edge")) "*" else " ", at("evidence"), at("steps"), at("seconds"))
}

show_row <- function(row) {
  with(row, cat(sprintf("%5d %4d %6.2f %7.3f %6.2f %7.3f %6.2f %7.3f |%s |%s\n", digit, size,
                        paper.error, paper.log_lik, none.error, none.log_lik, basis.error,
                        basis.log_lik, search_words(row, "none"), search_words(row, "basis"))))
  bench_row("USPS, each digit against the rest: error in per cent, mean log likelihood",
            digit = row$digit, size = row$size, "error, paper" = row$paper.error,
            "IVM (none)" = row$none.error, "IVM (basis)" = row$basis.error,
            "log lik., paper" = row$paper.log_lik, "IVM (none) " = row$none.log_lik,
            "IVM (basis) " = row$basis.log_lik)
}

# Averages over the cells, and in how many of them `ours` is better than `other`.
compare <- function(cells, ours, other) {
  error <- function(name) cells[[paste0(name, ".error")]]
  log_lik <- function(name) cells[[paste0(name, ".log_lik")]]
  known <- !is.na(error(other))
  cat(sprintf(
    paste("%s against %s, %d cells: error %.3f against %.3f, better in %d, equal in %d;",
          "log likelihood %.4f against %.4f, better in %d\n"),
    ours, other, sum(known), mean(error(ours)[known]), mean(error(other)[known]),
    sum(error(ours) < error(other) - 0.005, na.rm = TRUE), # the paper's have two decimals
    sum(abs(error(ours) - error(other)) <= 0.005, na.rm = TRUE),
    mean(log_lik(ours)[known]), mean(log_lik(other)[known]),
    sum(log_lik(ours) > log_lik(other), na.rm = TRUE)
  ))
}

searched <- "variance       w   bias      phi evals      s"
cat("                  paper    refine none   refine basis | learned by phi (sign changed)",
    strrep(" ", 17), "| learned by the evidence\n",
    "digit size  error log lik  error log lik  error log lik |", searched, " |",
    sub("     phi", "evidence", searched), "\n", sep = "")
grid <- expand.grid(digit = DIGITS, size = SIZES)
cells <- do.call(rbind, Map(measure, grid$digit, grid$size))
cat("\n")
compare(cells, "none", "paper")
compare(cells, "basis", "paper")
compare(cells, "basis", "none")
for (size in SIZES) for (ours in c("none", "basis")) {
  cat("size ", size, ": ", sep = "")
  compare(cells[cells$size == size, ], ours, "paper")
}
