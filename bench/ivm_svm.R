# Two classes, everything included: sparsegp() as it comes (method = NULL), and method_ivm(SIZE)
# with refine = "basis", both learning rbf kernel and bias by the evidence, beside e1071's svm
# (radial kernel, probability = TRUE; gamma and cost the best of six in five folds), in one run:
# seconds, test error in per cent, mean test log likelihood. Inputs are as they come for USPS
# (digits against the rest) and standardised for the two sets of Raetsch's collection (image,
# 1300/1010 rows, 18 inputs; waveform, 400/4600 rows, 21 inputs; the first split of each).
#
# Seconds are those until a model that predicts stands: the choice of hyperparameters, for the svm
# its 30 fits of the folds, the final one and those that calibrate its probabilities. Prediction of
# the test rows is included.
#
# Needs e1071 (install.packages("e1071")); without it the svm is left out.
# Usage: Rscript bench/ivm_svm.R [sets, as usps2,usps5,usps8,image,waveform] [size]; the data folder
# is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
SETS <- if (length(given)) strsplit(given[[1L]], ",")[[1L]] else
  c("usps2", "usps5", "usps8", "image", "waveform")
SIZE <- argument(2L, 200)

two_classes <- function(yes) factor(yes, c(FALSE, TRUE), c("rest", "class"))

usps_set <- function(digit) {
  train <- read_usps("train")
  test <- read_usps("test")
  list(x = train$x, y = two_classes(train$digit == digit), test_x = test$x,
       test_y = two_classes(test$digit == digit))
}

raetsch_set <- function(name) {
  rows <- read_data("raetsch", name)
  train <- rows$split1 == "train"
  x <- as.matrix(rows[, grepl("^x[0-9]+$", names(rows))])
  y <- two_classes(rows$label == 1)
  list(x = scaled_by(x[train, ], x[train, ]), y = y[train],
       test_x = scaled_by(x[!train, ], x[train, ]), test_y = y[!train])
}

read_set <- function(name) {
  if (grepl("^usps", name)) usps_set(as.integer(sub("usps", "", name))) else raetsch_set(name)
}

gp <- function(method) function(set) {
  fit <- suppressWarnings(sparsegp(set$x, set$y, likelihood = lik_probit(), scale = FALSE,
                                   kernel = kernel_rbf(), method = method))
  list(prob = predict(fit, set$test_x, type = "prob"),
       note = sprintf("%d points, variance %.3g, lengthscale %.3g, bias %.2f; %d evaluations",
                      nrow(fit$posterior$basis), coef(fit)[["variance"]],
                      coef(fit)[["lengthscale"]], coef(fit)[["bias"]], fit$learning$evaluations))
}

svm <- function(set) {
  model <- tuned_svm(set$x, set$y)
  if (is.null(model)) return(NULL)
  list(prob = svm_prob(model, set$test_x),
       note = sprintf("%d vectors, gamma %g / total variance, cost %g", nrow(model$model$SV),
                      model$gamma, model$cost))
}

METHODS <- list(default = gp(NULL), ivm = gp(method_ivm(SIZE, refine = "basis")),
                "e1071::svm" = svm)

compare <- function(name) {
  set <- read_set(name)
  cat(sprintf("\n%s: %d rows, %d inputs; %d test rows\n", name, nrow(set$x), ncol(set$x),
              nrow(set$test_x)))
  cat("method            s  error  log lik\n")
  for (method in names(METHODS)) {
    took <- system.time(run <- METHODS[[method]](set))[["elapsed"]]
    if (is.null(run)) next
    scores <- class_scores(run$prob, set$test_y)
    cat(sprintf("%-10s %8.1f %6.2f %8.4f  %s\n", method, took, scores[["error"]],
                scores[["log_lik"]], run$note))
    bench_row("Everything included: seconds, error in per cent, mean log likelihood", data = name,
              by = method, seconds = round(took, 1), error = scores[["error"]],
              "log likelihood" = scores[["log_lik"]])
  }
}

cat(extSoftVersion()[["BLAS"]], "\n")
for (name in SETS) compare(name)
