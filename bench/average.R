# What averaging fits is worth: on sets of the zoo (zoo_sets.R) of at most 1000 observations, a few
# fits of each, the one with the best leave-one-out log density, their average with equal weights
# and with stacking weights (average()): mean log density of test observations. `no price`: stacking
# without the price of hyperparameters (?average).
#
#   SPARSEGP_DATA=... Rscript bench/average.R [most] [SET ...]    most: training observations, 660
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R")) source(file.path(dirname(self), name))
})
MOST <- argument(1, 660)
SETS <- commandArgs(TRUE)[-1L]
WIDEST <- 40L # inputs

# The default fit and four others, of numbers and of classes
CANDIDATES <- list(
  number = list(default = list(), "one length scale" = list(kernel = kernel_rbf()),
                rough = list(kernel = kernel_matern12()),
                ard = list(kernel = kernel_rbf(ard = TRUE)),
                "heavy tails" = list(likelihood = "student", kernel = kernel_rbf())),
  class = list(default = list(), "one length scale" = list(kernel = kernel_rbf()),
               rough = list(kernel = kernel_matern12()),
               ard = list(kernel = kernel_rbf(ard = TRUE)),
               linear = list(kernel = kernel_linear()))
)

candidate <- function(set, given) {
  environment(set$formula) <- globalenv()
  tryCatch(suppressMessages(suppressWarnings({
    do.call(sparsegp, c(list(set$formula, set$train), given))
  })), error = function(e) NULL)
}

# Log densities of test observations, by differences of the distribution function, or probabilities
test_density <- function(fit, set) {
  y <- set$test[[set$response]]
  if (set$kind == "class") return(own_log(predict(fit, set$test, type = "prob"), y))
  h <- 1e-4 * sd(y)
  below <- function(shift) {
    set$test[[set$response]] <- y + shift
    attr(calibration(fit, set$test, nominal = 0.5), "pit")$lower
  }
  log(pmax((below(h) - below(-h)) / (2 * h), 1e-9 / sd(y)))
}

mixed_density <- function(each, weights) {
  top <- apply(each, 1L, max)
  mean(top + log(exp(each - top) %*% weights))
}

weights_without_price <- function(fits) {
  sparsegp:::stacking_weights(vapply(fits, loo_lpd, numeric(nobs(fits[[1L]]))))
}

# Returns the average of a fit with what its race left, or the fit where it had none.
with_race <- function(fit) {
  tryCatch(suppressWarnings(average(fit)), sparsegp_error = function(e) {
    cat(conditionMessage(e), "\n")
    fit
  })
}

measure <- function(set) {
  took <- system.time(fits <- lapply(CANDIDATES[[set$kind]], function(given) candidate(set, given)))
  fits <- Filter(Negate(is.null), fits)
  seconds <- system.time(mixture <- do.call(average, fits))[["user.self"]]
  raced <- system.time(race <- with_race(fits$default))[["user.self"]]
  table <- summary(mixture)
  own <- vapply(fits, test_density, numeric(nrow(set$test)), set)
  own <- pmax(own, log(1e-9)) # a probability of 0
  weights <- table[colnames(own), "weight"]
  best <- rownames(table)[which.max(table$lpd)]
  row <- data.frame(set = set$name, n = nrow(set$train), test = nrow(set$test),
                    default = mean(own[, "default"]),
                    race = mean(pmax(test_density(race, set), log(1e-9))), best = best,
                    "best by loo" = mean(own[, best]),
                    equal = mixed_density(own, rep(1 / ncol(own), ncol(own))),
                    stacked = mixed_density(own, weights),
                    "no price" = mixed_density(own, weights_without_price(fits)),
                    "loo gain" = (attr(table, "lpd") - max(table$lpd)) / nrow(set$train),
                    "in it" = sum(weights > 0), seconds = sum(took[1:2]),
                    "seconds of race" = raced, half = set$half, check.names = FALSE)
  print(row, digits = 4L)
  row
}

sets <- zoo_table()
if (length(SETS)) sets <- sets[sets$name %in% SETS, ]
rows <- NULL
for (i in seq_len(nrow(sets))) {
  if (!requireNamespace(sets$package[i], quietly = TRUE)) next
  set <- c(zoo_split(sets[i, ], MOST), half = sets$half[i])
  small <- nrow(set$train) < MOST && ncol(set$train) <= WIDEST
  if (!small) next
  row <- tryCatch(measure(set), error = function(e) {
    cat(set$name, ": ", conditionMessage(e), "\n", sep = "")
    NULL
  })
  rows <- rbind(rows, row)
}
bench_table(rows, "Mean log density of test observations, in nats")
ahead <- with(rows, list("the default fit" = stacked - default,
                         "the best by leave-one-out" = stacked - `best by loo`,
                         "equal weights" = stacked - equal,
                          "stacking without the price" = stacked - `no price`))
gains_table <- function(ahead) {
  count <- function(is_so) vapply(ahead, function(gain) sum(is_so(gain)), 1L)
  data.frame(mean = vapply(ahead, mean, 0), median = vapply(ahead, stats::median, 0),
             se = vapply(ahead, function(gain) sd(gain) / sqrt(length(gain)), 0),
             better = count(function(gain) gain > 5e-4), worse = count(function(gain) gain < -5e-4),
             sets = lengths(ahead), row.names = NULL)
}
bench_table(cbind("stacked less" = names(ahead), gains_table(ahead)),
            "Gain of the stacked average, nats per test observation, over the sets")
gained <- rows$race - rows$default
bench_table(cbind(half = c("develop", "kept", "all"),
                  gains_table(list(gained[rows$half == "develop"], gained[rows$half == "kept"],
                                   gained))),
            "Gain of average() of the default fit alone, the same")
