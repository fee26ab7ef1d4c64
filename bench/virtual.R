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
#            SVM_GRID in one fold, a fifth of the training rows; then the support vectors of that
#            machine with 4 or 8 copies of each (virtual support vectors: Schoelkopf and Smola
#            2002, 11.3), gamma and cost chosen anew in the same way. The machine whose vectors are
#            copied is that without copies, not one for each gamma and cost: the widest gamma makes
#            nearly every row a support vector. Needs e1071 (install.packages("e1071"))
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
DEFAULT_TABLE <- "sparsegp() by default: errors in % of each digit against the rest, and of all ten"
PAPER_TABLE <- "The IVM paper's method, each digit against the rest: errors in %"
SVM_TABLE <- "svm without and with virtual support vectors, each digit against the rest"
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
  bench_row(DEFAULT_TABLE, copies = what, t(setNames(each, 0:9)), all = all,
            "log likelihood" = log_lik, "CPU seconds" = seconds)
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
    fit <- timed(sparsegp(train$x, y, control = gp_control(augment = shifted(WAYS[[way]]))))
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
    kernel <- kernel_rbf() + kernel_linear(ard = FALSE)
    learned <- timed(suppressWarnings(
      sparsegp(train$x, y, lik_probit(), kernel, method = method_ivm(200, refine = "none"),
               scale = FALSE,
               learn = learn_control(criterion = "ivm", outer = 5))))
    fits <- lapply(c(0, 4), function(way) timed(refit(learned$result, train$x, y, shifted(way))))
    error <- numeric(2L)
    for (k in 1:2) {
      p <- predict(fits[[k]]$result, test$x, type = "response")
      prob[[k]][, digit + 1L] <- p
      error[k] <- 100 * mean((p > 0.5) != (test$digit == digit))
    }
    show_paper(digit, error, c(learned$seconds, fits[[1L]]$seconds, fits[[2L]]$seconds))
  }
  if (!setequal(digits, 0:9)) return(invisible())
  show_paper("all", vapply(prob, function(p) 100 * mean(max.col(p, "first") - 1L != test$digit), 0))
}

show_paper <- function(digit, error, seconds = rep(NA_real_, 3L)) {
  paper <- PAPER[[if (digit == "all") "all" else digit + 1L]]
  cat(sprintf("%3s  none %.3f, 4 copies %.3f, paper %.3f  (%.0f s to learn, %.0f, %.0f)\n", digit,
              error[1L], error[2L], paper, seconds[1L], seconds[2L], seconds[3L]))
  bench_row(PAPER_TABLE, digit = as.character(digit), "no copies" = error[1L],
            "4 copies" = error[2L], "paper, with copies" = paper,
            "CPU seconds to learn" = seconds[1L], "fit without" = seconds[2L],
            "fit with" = seconds[3L])
}

# 1000 rows, at the hyperparameters of a fit.
refit <- function(fit, x, y, augment) {
  value <- function(name) fixed(coef(fit)[[name]])
  kernel <- kernel_rbf(value("k1.variance"), value("k1.lengthscale")) +
    kernel_linear(value("k2.variance"), ard = FALSE)
  sparsegp(x, y, lik_probit(value("bias")), kernel, method = method_ivm(1000, refine = "none"),
           scale = FALSE, learn = FALSE, control = gp_control(augment = augment))
}

# ---- Virtual support vectors ----

svm_fit <- function(rows, at, unit) {
  e1071::svm(rows$x, rows$y, scale = FALSE, gamma = at$gamma * unit, cost = at$cost,
             cachesize = 200)
}

svm_error <- function(model, rows) 100 * mean(predict(model, rows$x) != rows$y)

# The support vectors of a machine among its rows, and copies of them.
virtual_rows <- function(model, rows, directions) {
  vectors <- rows$x[model$index, ]
  list(x = rbind(vectors, do.call(rbind, shifted(directions)(vectors))),
       y = rep(rows$y[model$index], directions + 1L))
}

# The row of SVM_GRID that errs least on the rows held out.
best_of_grid <- function(rows, held, unit) {
  errors <- vapply(seq_len(nrow(SVM_GRID)),
                   function(g) svm_error(svm_fit(rows, SVM_GRID[g, ], unit), held), 0)
  SVM_GRID[which.min(errors), ]
}

svm_fits <- function(train, test, digits) {
  if (!has_svm()) return(invisible())
  unit <- 1 / sum(apply(train$x, 2L, var))
  fifth <- seq_len(nrow(train$x)) %% 5 == 0
  for (digit in digits) {
    of <- function(set, rows = TRUE) list(x = set$x[rows, ], y = factor(set$digit[rows] == digit))
    tuning <- of(train, !fifth)
    all <- of(train)
    plain <- list()
    for (way in names(WAYS)) {
      copies <- WAYS[[way]]
      took <- timed({
        some <- if (copies > 0) virtual_rows(plain$tuning, tuning, copies) else tuning
        at <- best_of_grid(some, of(train, fifth), unit)
        svm_fit(if (copies > 0) virtual_rows(plain$all, all, copies) else all, at, unit)
      })
      if (copies == 0) plain <- list(tuning = svm_fit(tuning, at, unit), all = took$result)
      error <- svm_error(took$result, of(test))
      cat(sprintf("%d against the rest, svm, %-12s %6.3f  gamma %g cost %g, %d vectors, %.0f s\n",
                  digit, way, error, at$gamma, at$cost, took$result$tot.nSV, took$seconds))
      bench_row(SVM_TABLE, digit = digit, copies = copies, "error, %" = error, gamma = at$gamma,
                cost = at$cost, "support vectors" = took$result$tot.nSV,
                "CPU seconds" = took$seconds)
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
