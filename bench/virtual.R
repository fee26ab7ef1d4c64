# Virtual informative vectors on USPS (7291 training and 2007 test digits of 16 x 16 pixels): copies
# of the rows that carry a fit, moved by a pixel, join the rows (`augment`). Three parts:
#
#   default  sparsegp() without a method, without copies and with 4 or 8 of each informative vector:
#            errors of all ten classes and of each digit against the rest in per cent of the test
#            rows, mean log likelihood, CPU seconds; beside the IVM paper's table 4
#   paper    the paper's section 6.5 as far as it is told: each digit against the rest, an rbf
#            kernel and a linear term, hyperparameters learned by the IVM's criterion with 200 rows
#            (1000 are not needed for that), then the IVM proper (refine = "none") with 1000 rows,
#            without and with 4 copies of each; the digit by the largest probability
#   svm      digits 2, 5 and 8 against the rest by e1071's svm: gamma and cost are the best of
#            SVM_GRID in one fold, a fifth of the training rows; then the support vectors with 4 or
#            8 copies of each (virtual support vectors: Schoelkopf and Smola 2002, 11.3), gamma and
#            cost chosen anew in the same way. Needs e1071 (install.packages("e1071"))
#   folds    what the choices in ?copies were made by: every fifth training row is held out, and
#            `default` fitted to the others. No test row is looked at
#
# Usage: Rscript bench/virtual.R [parts, as default,paper,svm] [digits of paper and svm, as 2,5,8];
# the data folder is SPARSEGP_DATA.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
PARTS <- if (length(given)) strsplit(given[[1L]], ",")[[1L]] else c("default", "paper", "svm")
DIGITS <- if (length(given) > 1L) as.integer(strsplit(given[[2L]], ",")[[1L]])
PAPER <- c(0.648, 0.389, 0.967, 0.683, 1.06, 0.747, 0.523, 0.399, 0.638, 0.523, all = 3.30)
WAYS <- c("as they are" = 0, "4 copies" = 4, "8 copies" = 8)

shifted <- function(directions) if (directions > 0) shift_images(16, 16, directions = directions)

timed <- function(run) {
  took <- system.time(result <- run)
  list(result = result, seconds = took[["user.self"]])
}

# ---- Ten classes, nothing said but the copies ----

show_row <- function(what, each, all, log_lik = NA, seconds = NA) {
  cat(sprintf("%-14s", what), sprintf("%6.3f", each), sprintf("%7.2f %8.4f %7.0f\n", all, log_lik,
                                                              seconds))
}

header <- function() {
  cat(sprintf("%-14s", ""), sprintf("%6d", 0:9),
      sprintf("%7s %8s %7s\n", "all", "log lik", "CPU s"))
}

default_fits <- function(train, test) {
  header()
  show_row("paper", PAPER[1:10], PAPER[["all"]])
  y <- factor(train$digit)
  wanted <- factor(test$digit, levels(y))
  for (way in names(WAYS)) {
    fit <- timed(sparsegp(train$x, y, augment = shifted(WAYS[[way]])))
    link <- predict(fit$result, test$x, type = "link")
    each <- 100 * colMeans((link > 0) != outer(wanted, levels(y), "=="))
    scores <- class_scores(predict(fit$result, test$x, type = "prob"), wanted)
    show_row(way, each, scores[["error"]], scores[["log_lik"]], fit$seconds)
    print(fit$result)
  }
}

fold_fits <- function(train) {
  held <- seq_len(nrow(train$x)) %% 5 == 0
  some <- function(rows) list(x = train$x[rows, ], digit = train$digit[rows])
  default_fits(some(!held), some(held))
}

# ---- The paper's way ----

paper_fits <- function(train, test, digits) {
  prob <- lapply(c(0, 4), function(way) matrix(NA, nrow(test$x), 10L))
  for (digit in digits) {
    y <- train$digit == digit
    cat(sprintf("%d against the rest (paper with copies: %.3f):", digit, PAPER[[digit + 1L]]))
    kernel <- kernel_rbf() + kernel_linear(ard = FALSE)
    learned <- timed(suppressWarnings(
      sparsegp(train$x, y, lik_probit(), kernel, method_ivm(200, refine = "none"), scale = FALSE,
               learn = learn_control(criterion = "ivm", outer = 5))))
    for (k in 1:2) {
      fit <- timed(refit(learned$result, train$x, y, shifted(c(0, 4)[k])))
      prob[[k]][, digit + 1L] <- predict(fit$result, test$x, type = "response")
      cat(sprintf("  %d copies %.3f (%.0f s)", c(0L, 4L)[k],
                  100 * mean((prob[[k]][, digit + 1L] > 0.5) != (test$digit == digit)),
                  fit$seconds))
    }
    cat(sprintf("  learning %.0f s\n", learned$seconds))
  }
  if (!setequal(digits, 0:9)) return(invisible())
  for (k in 1:2) {
    cat(sprintf("all ten, %d copies: %.2f\n", c(0L, 4L)[k],
                100 * mean(max.col(prob[[k]], "first") - 1L != test$digit)))
  }
}

# 1000 rows, at the hyperparameters of a fit.
refit <- function(fit, x, y, augment) {
  value <- function(name) fixed(coef(fit)[[name]])
  kernel <- kernel_rbf(value("k1.variance"), value("k1.lengthscale")) +
    kernel_linear(value("k2.variance"), ard = FALSE)
  sparsegp(x, y, lik_probit(value("bias")), kernel, method_ivm(1000, refine = "none"),
           scale = FALSE, learn = FALSE, augment = augment)
}

# ---- Virtual support vectors ----

svm_fit <- function(x, y, at) {
  unit <- 1 / sum(apply(x, 2L, var))
  e1071::svm(x, y, scale = FALSE, gamma = at$gamma * unit, cost = at$cost)
}

# Support vectors of x, and copies of them.
virtual_rows <- function(x, y, at, directions) {
  model <- svm_fit(x, y, at)
  vectors <- x[model$index, ]
  list(x = rbind(vectors, do.call(rbind, shifted(directions)(vectors))),
       y = rep(y[model$index], directions + 1L))
}

virtual_svm <- function(x, y, at, directions) {
  if (directions == 0) return(svm_fit(x, y, at))
  rows <- virtual_rows(x, y, at, directions)
  svm_fit(rows$x, rows$y, at)
}

svm_fits <- function(train, test, digits) {
  if (!has_svm()) return(invisible())
  held <- seq_len(nrow(train$x)) %% 5 == 0
  wrong <- function(model, x, y) 100 * mean(predict(model, x) != y)
  for (digit in digits) {
    y <- factor(train$digit == digit)
    for (way in names(WAYS)) {
      took <- timed({
        errors <- vapply(seq_len(nrow(SVM_GRID)), function(g) {
          model <- virtual_svm(train$x[!held, ], y[!held], SVM_GRID[g, ], WAYS[[way]])
          wrong(model, train$x[held, ], y[held])
        }, 0)
        at <- SVM_GRID[which.min(errors), ]
        virtual_svm(train$x, y, at, WAYS[[way]])
      })
      cat(sprintf("%d against the rest, svm, %-12s %6.3f  gamma %g cost %g, %d vectors, %.0f s\n",
                  digit, way, wrong(took$result, test$x, factor(test$digit == digit)), at$gamma,
                  at$cost, took$result$tot.nSV, took$seconds))
    }
  }
}

cat(extSoftVersion()[["BLAS"]], "\n")
train <- read_usps("train")
if ("folds" %in% PARTS) fold_fits(train)
test <- read_usps("test")
if ("default" %in% PARTS) default_fits(train, test)
if ("paper" %in% PARTS) paper_fits(train, test, if (is.null(DIGITS)) 0:9 else DIGITS)
if ("svm" %in% PARTS) svm_fits(train, test, if (is.null(DIGITS)) c(2, 5, 8) else DIGITS)
