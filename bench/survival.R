# Default fits of times to an event beside survival::survreg() (Weibull, and the best of Weibull,
# log-logistic and log-normal by AIC), a Weibull regression whose coefficients are integrated out by
# MCMC, as a model of brms is, coxph() with linear terms and with penalised splines, and the
# Kaplan-Meier curve of all, on held-out observations of the data sets lung, veteran, pbc and gbsg
# of package survival. A third of the observations is held out, anew for each split.
#   IBS    integrated Brier score of the survival curve up to the 80 % quantile of the times, with
#          weights by the Kaplan-Meier curve of the censoring times (Graf et al. 1999); less is
#          better
#   C      concordance (Harrell) of the median times, or the linear predictors
#   se     standard error over the splits of the difference from the Gaussian process
# A peer that fails on a split is left out there; `failed` counts these.
#
# Usage: Rscript bench/survival.R [splits = 10] [names of data sets, default all]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})
library(survival)

SPLITS <- argument(1, 10)

# ---- Data ----

complete <- function(data) data[stats::complete.cases(data), ]

SETS <- list(
  lung = complete(transform(lung, event = status == 2, sex = factor(sex))[
    c("time", "event", "age", "sex", "ph.ecog", "ph.karno", "wt.loss")]),
  veteran = transform(veteran, event = status == 1, trt = factor(trt), prior = factor(prior))[
    c("time", "event", "trt", "celltype", "karno", "diagtime", "age", "prior")],
  pbc = complete(transform(pbc, event = status == 2, trt = factor(trt), stage = factor(stage))[
    c("time", "event", "trt", "age", "sex", "edema", "bili", "albumin", "copper", "protime",
      "stage")]),
  gbsg = transform(gbsg, time = rfstime, event = status == 1, meno = factor(meno),
                   grade = factor(grade), hormon = factor(hormon))[
    c("time", "event", "age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon")]
)

# ---- Models ----

# Each gives list(survival, value): a matrix of rows x times, and numbers that are larger where
# events are later.

by_gp <- function(train, test, times) {
  fit <- sparsegp(Surv(time, event) ~ ., train)
  list(survival = predict(fit, test, type = "survival", at = times),
       value = predict(fit, test, type = "median"))
}

of_survreg <- function(fit, test, times) {
  value <- predict(fit, test, type = "lp")
  above <- function(t) 1 - psurvreg(t, value, fit$scale, fit$dist)
  list(survival = vapply(times, above, value), value = value)
}

by_survreg <- function(train, test, times) {
  of_survreg(survreg(Surv(time, event) ~ ., train), test, times)
}

by_best_survreg <- function(train, test, times) {
  fits <- lapply(c("weibull", "loglogistic", "lognormal"), function(dist) {
    survreg(Surv(time, event) ~ ., train, dist = dist)
  })
  of_survreg(fits[[which.min(vapply(fits, AIC, 0))]], test, times)
}

# Weibull regression with priors N(0, 2.5^2) of standardised coefficients and N(0, 1) of the
# logarithm of the scale, by random-walk Metropolis steps of the shape of the likelihood.
by_bayes <- function(train, test, times) {
  STEPS <- 6000L
  inputs <- setdiff(names(train), c("time", "event"))
  columns <- stats::model.matrix(~ ., rbind(train, test)[inputs])[, -1L, drop = FALSE]
  own <- seq_len(nrow(train))
  kept <- apply(columns[own, , drop = FALSE], 2L, sd) > 0
  X <- cbind(1, scaled_by(columns[, kept, drop = FALSE], columns[own, kept, drop = FALSE]))
  start <- survreg(Surv(train$time, train$event) ~ X[own, -1L])
  log_posterior <- function(at) {
    b <- at[-length(at)]
    s <- at[length(at)]
    z <- (log(train$time) - X[own, ] %*% b) / exp(s)
    sum(train$event * (z - s) - exp(z)) - sum(b[-1L]^2) / (2 * 2.5^2) - s^2 / 2
  }
  steps <- 2.38 / sqrt(ncol(X) + 1) * t(chol(vcov(start)))
  at <- c(coef(start), log(start$scale))
  value <- log_posterior(at)
  above <- 0
  for (step in seq_len(STEPS)) {
    moved <- at + c(steps %*% stats::rnorm(length(at)))
    new <- log_posterior(moved)
    if (log(stats::runif(1L)) < new - value) {
      at <- moved
      value <- new
    }
    if (step <= STEPS / 6 || step %% 10L > 0L) next
    eta <- c(X[-own, ] %*% at[-length(at)])
    above <- above + exp(-exp(outer(-eta, log(times), "+") / exp(at[length(at)])))
  }
  above <- above / sum(seq_len(STEPS) > STEPS / 6 & seq_len(STEPS) %% 10L == 0L)
  list(survival = above, value = rowMeans(above))
}

of_coxph <- function(fit, test, times) {
  curves <- survfit(fit, test)
  above <- summary(curves, times = times, extend = TRUE)$surv
  list(survival = t(above), value = -predict(fit, test, type = "lp"))
}

by_coxph <- function(train, test, times) {
  of_coxph(coxph(Surv(time, event) ~ ., train, x = TRUE, model = TRUE), test, times)
}

# Penalised splines of four degrees of freedom of numbers with more than eight values.
by_splines <- function(train, test, times) {
  inputs <- setdiff(names(train), c("time", "event"))
  smooth <- vapply(train[inputs], function(x) is.numeric(x) && length(unique(x)) > 8L, NA)
  terms <- ifelse(smooth, paste0("pspline(", inputs, ")"), inputs)
  formula <- reformulate(terms, quote(Surv(time, event)))
  of_coxph(coxph(formula, train, x = TRUE, model = TRUE), test, times)
}

by_nothing <- function(train, test, times) {
  above <- summary(survfit(Surv(time, event) ~ 1, train), times = times, extend = TRUE)$surv
  list(survival = matrix(above, nrow(test), length(times), byrow = TRUE),
       value = rep(0, nrow(test)))
}

MODELS <- list("Gaussian process" = by_gp, "survreg, Weibull" = by_survreg,
               "survreg, best of three" = by_best_survreg, "Weibull by MCMC" = by_bayes,
               "coxph" = by_coxph,
               "coxph, splines" = by_splines, "Kaplan-Meier" = by_nothing)

# ---- Scores ----

# P(censored after t) just before t, by the curve of the censoring times of these rows.
censoring_curve <- function(rows) {
  fit <- survfit(Surv(time, !event) ~ 1, rows)
  function(t) stats::approx(c(0, fit$time), c(1, fit$surv), t, "constant", f = 0, rule = 2)$y
}

brier <- function(above, times, test, open) {
  scores <- vapply(seq_along(times), function(k) {
    t <- times[k]
    died <- test$event & test$time <= t
    weight <- ifelse(died, 1 / open(test$time * (1 - 1e-9)), (test$time > t) / open(t))
    mean(weight * ((test$time > t) - above[, k])^2)
  }, 0)
  mean(scores)
}

scored <- function(model, train, test, times, open) {
  seconds <- system.time(found <- tryCatch(suppressWarnings(model(train, test, times)),
                                           error = function(e) NULL))[["user.self"]]
  if (is.null(found)) return(c(IBS = NA, C = NA, seconds = seconds))
  later <- concordance(Surv(time, event) ~ value, cbind(test, value = found$value))$concordance
  c(IBS = brier(found$survival, times, test, open), C = later, seconds = seconds)
}

# ---- All splits of all sets ----

CAPTION <- "Held-out scores, means over splits"

chosen <- commandArgs(TRUE)[-1L]
for (set in if (length(chosen)) chosen else names(SETS)) {
  rows <- SETS[[set]]
  times <- seq(0, stats::quantile(rows$time, 0.8), length.out = 31L)[-1L]
  open <- censoring_curve(rows)
  set.seed(1)
  splits <- lapply(seq_len(SPLITS), function(i) sample(nrow(rows), nrow(rows) %/% 3L))
  each <- lapply(splits, function(out) {
    vapply(MODELS, scored, numeric(3L), rows[-out, ], rows[out, ], times, open)
  })
  all <- simplify2array(each)
  for (model in names(MODELS)) {
    error <- function(score) {
      behind <- all[score, model, ] - all[score, 1L, ]
      stats::sd(behind, na.rm = TRUE) / sqrt(sum(!is.na(behind)))
    }
    mean <- rowMeans(all[, model, , drop = FALSE], na.rm = TRUE, dims = 2L)[, 1L]
    bench_row(CAPTION, set = paste0(set, ", ", nrow(rows), " rows"), splits = SPLITS,
              model = model, failed = sum(is.na(all["IBS", model, ])), IBS = mean[["IBS"]],
              "se of IBS" = error("IBS"), C = mean[["C"]],
              "se of C" = error("C"), "CPU s" = mean[["seconds"]])
  }
  print(bench_found$tables[[CAPTION]], digits = 3L)
}
