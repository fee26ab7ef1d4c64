# Which step of learning separates our results from the IVM paper's table 1: USPS, a digit against
# the rest, method_ivm(refine = "none") learned by the paper's criterion, as in ivm_usps.R, but for
# one change at a time. `phi` is the criterion with its sign changed, without the priors; `all rest`
# is the error of who never names the digit.
# Usage: Rscript bench/ivm_path.R [digits, as 2,5] [size]; the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
DIGITS <- if (length(given)) as.integer(strsplit(given[[1L]], ",")[[1L]]) else c(2, 5)
SIZE <- argument(2L, 100)
START <- c(variance = 10, w = 0.0166)
PAPER <- list("2" = c(2.09, -0.110), "5" = c(2.94, -0.117)) # of 100 points: error, log likelihood

usps <- usps_on_paper_scale(START[["w"]])
train <- usps$train
test <- usps$test
P <- ncol(train$x)
PRIOR <- list(variance = prior_lognormal(-1, 1), lengthscale = prior_normal(0, sqrt(P)),
              bias = prior_normal(0, 5))

rounds <- function(count) learn_control("ivm", outer = count)
VARIANTS <- list(
  "15 rounds" = list(),
  "bias from 0" = list(likelihood = lik_probit(0)),
  "bias 0" = list(likelihood = lik_probit(fixed(0))),
  "3 rounds" = list(likelihood = lik_probit(0), learn = rounds(3)),
  "1 round" = list(likelihood = lik_probit(0), learn = rounds(1)),
  "not learned" = list(likelihood = lik_probit(0), learn = FALSE)
)

measure <- function(what, digit) {
  label <- factor(train$digit == digit, c(FALSE, TRUE), c("rest", "digit"))
  usual <- list(likelihood = lik_probit(), learn = rounds(15))
  settings <- utils::modifyList(usual, VARIANTS[[what]])
  kernel <- kernel_rbf(START[["variance"]], sqrt(P / START[["w"]]))
  fit <- suppressWarnings(do.call(sparsegp, c(
    list(train$x, label, kernel = kernel, scale = FALSE,
         control = gp_control(prior = PRIOR),
         method = method_ivm(SIZE, refine = "none")), settings
  )))
  prob <- predict(fit, test$x, type = "prob")
  right <- prob[cbind(seq_along(test$digit), 1L + (test$digit == digit))]
  at <- coef(fit)
  cat(sprintf("%-12s %d  %5.2f %7.4f  w %6.4f  bias %6.2f\n", what, digit, 100 * mean(right < 0.5),
              mean(log(right)), P / at[["lengthscale"]]^2, at[["bias"]]))
  bench_row("USPS, a digit against the rest: error in per cent, mean log likelihood",
            digit = digit, learning = what, error = 100 * mean(right < 0.5),
            "log likelihood" = mean(log(right)), w = P / at[["lengthscale"]]^2,
            bias = at[["bias"]], variance = at[["variance"]], phi = fit$log_evidence,
            "all rest" = 100 * mean(test$digit == digit),
            "error, paper" = PAPER[[as.character(digit)]][1L],
            "log lik., paper" = PAPER[[as.character(digit)]][2L])
}

for (digit in DIGITS) for (what in names(VARIANTS)) measure(what, digit)
