# One case of bench/regret.R in a process of its own, which bench/regret.R starts: the default fit
# and the hand fits, one after the other.
#
#   Rscript bench/regret_case.R CASE FILE SECONDS [FIT ...]
#
# FILE takes list(name, group, n, kind, fits, done); done is FALSE if only some FITs were asked for.
# `fits` has for each of them list(evidence, density, error, seconds, learned, label), or
# list(failed): the log evidence at the mode of the hyperparameters, the log density of each
# observation held out, the root mean squared error or the proportion of wrong labels, CPU seconds
# of the fit, the number of hyperparameters, and kernel and scale in words. A hand fit ends after so
# many CPU SECONDS, its scores included, a default one after ten times as many. What FILE has is not
# made again; a fit that ended the process is there as one without an answer.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R", "regret_cases.R", "regret_more.R", "regret_hand.R")) {
    source(file.path(dirname(self), name))
  }
})

# Of more observations the evidence is that of a basis, and densities alone count.
COMPARED <- c(number = 1500L, count = 750L, label = 750L)
SHORT <- 1          # a default fit that takes less CPU seconds is timed three times
FAR <- 1e-9         # tail probabilities below this have few digits in a difference
DEVIATES <- c(-30, -20, -14, -10, seq(-8, 7.5, 0.5)) # of the quantiles there
LEAST <- 1e-12      # a probability that is lower counts as this
LOWEST <- -1000     # so does a log density

# ---- What a fit predicts of the observations held out ----

quietly <- function(code) suppressMessages(suppressWarnings(code))

scores_of <- function(fit, kind, test) {
  y <- test$y
  if (kind == "label") {
    prob <- predict(fit, test, type = "prob")
    if (!is.matrix(prob)) prob <- stats::setNames(data.frame(1 - prob, prob), levels(y))
    prob <- as.matrix(prob)[, levels(y), drop = FALSE]
    return(list(density = own_log(pmax(prob, LEAST), y),
                error = mean(max.col(prob, "first") != as.integer(y))))
  }
  density <- if (kind == "count") {
    pit <- pit_of(fit, test, 0)
    log(pmax(pit$upper - pit$lower, LEAST))
  } else density_of(fit, test)
  list(density = density, error = sqrt(mean((predict(fit, test) - y)^2)))
}

# Probabilities of smaller responses than y + step, and of no larger ones. calibration() finds them
# at once, where quantiles of a mixture are a search each.
pit_of <- function(fit, test, step) {
  test$y <- test$y + step
  attr(calibration(fit, test, nominal = 0.5), "pit")
}

# Log densities of numbers: the slope of the distribution function, and far out, where its digits do
# not suffice, that of its quantiles. Of counts the probability of each.
density_of <- function(fit, test) {
  if (inherits(sparsegp:::lik_codec(fit$likelihood), "response_counts")) {
    at <- pit_of(fit, test, 0)
    return(pmax(log(pmax(at$upper - at$lower, 0)), LOWEST))
  }
  quarters <- predict(fit, test, interval = "prediction", level = 0.5)
  step <- 1e-3 * (quarters[, "upr"] - quarters[, "lwr"])
  below <- pit_of(fit, test, -step)$lower
  above <- pit_of(fit, test, step)$lower
  density <- log(pmax(above - below, 0) / (2 * step))
  far <- which(below < FAR | above > 1 - FAR | !is.finite(density))
  if (length(far)) {
    quantiles <- predict(fit, test[far, , drop = FALSE], type = "quantile", at = pnorm(DEVIATES))
    density[far] <- quantile_density(quantiles, test$y[far], DEVIATES)
  }
  pmax(density, LOWEST)
}

# ---- One fit ----

# The evidence of a fit that is integrated over its hyperparameters contains their priors. So it is
# that of the same call at the mode. Those of several classes may be of different models, and where
# EP did not converge there is none.
evidence_of <- function(fit, make, kind, y) {
  if (length(y) > COMPARED[[kind]] || nlevels(y) > 2L) return(NA)
  if (length(fit$ensemble)) fit <- make(gp_control(integrate = "none"))
  if (!isTRUE(fit$convergence$converged)) return(NA)
  tryCatch(as.numeric(stats::logLik(fit)), sparsegp_error = function(e) NA)
}

kernel_in_words <- function(fit) {
  scale <- fit$likelihood$transform$name
  paste0(format(fit$kernel), if (length(scale) && scale != "identity") paste(" of", scale))
}

# Returns the scores of a call. kind: "number", "count" or "label"
fit_of_call <- function(call, case, data, kind) {
  formula <- stats::as.formula("y ~ .", globalenv())
  make <- function(control = gp_control()) {
    usual <- list(likelihood = case$likelihood, control = control)
    given <- c(call, usual[setdiff(names(usual), names(call))])
    quietly(do.call(sparsegp, c(list(formula, data$train), given)))
  }
  took <- function() system.time(fit <<- make())
  fit <- NULL
  seconds <- sum(took()[1:2])
  if (length(call) == 0L && seconds < SHORT) {
    seconds <- stats::median(c(seconds, sum(took()[1:2]), sum(took()[1:2])))
  }
  c(quietly(scores_of(fit, kind, data$test)),
    list(evidence = quietly(evidence_of(fit, make, kind, data$train$y)),
         seconds = seconds, learned = length(stats::coef(fit)), label = kernel_in_words(fit)))
}

limited <- function(code, seconds) {
  setTimeLimit(cpu = seconds, transient = TRUE)
  on.exit(setTimeLimit())
  tryCatch(code, error = function(e) list(failed = conditionMessage(e)))
}

# ---- All fits of the case ----

run_case <- function(name, file, seconds, only) {
  case <- regret_cases()[[name]]
  data <- case$make()
  kind <- facts_of(case, data$train)$kind
  record <- if (file.exists(file)) readRDS(file)
            else list(name = case$name, group = case$group, n = nrow(data$train), kind = kind,
                      fits = list())
  calls <- calls_of(case, data$train)
  if (length(only)) calls <- calls[intersect(names(calls), only)]
  for (fit in setdiff(names(calls), names(record$fits))) {
    record$fits[[fit]] <- list(failed = "ended the process")
    saveRDS(record, file)
    limit <- if (fit == "default") 10 * seconds else seconds
    record$fits[[fit]] <- limited(fit_of_call(calls[[fit]], case, data, kind), limit)
    saveRDS(record, file)
  }
  record$done <- length(only) == 0L
  saveRDS(record, file)
}

asked <- commandArgs(TRUE)
run_case(asked[[1L]], asked[[2L]], as.numeric(asked[[3L]]), asked[-(1:3)])
