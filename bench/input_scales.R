# Skewed inputs as they are and on a log scale, scale = "log": for every set of the zoo's develop
# half (bench/zoo_sets.R) that has a skewed input, the log predictive density of the test rows and
# the log evidence of default fits, both a row, and whether the evidence chooses rightly.
# Usage: SPARSEGP_DATA=... Rscript bench/input_scales.R [ROWS = 800]
source("bench/common.R")
source("bench/zoo_sets.R")

rows <- argument(1, 800)
inform <- function(...) cat(..., "\n", file = stderr())

# Sets as zoo_split() has them; SPARSEGP_ZOO: a folder where they are as .rds files.
develop_sets <- function(most) {
  folder <- Sys.getenv("SPARSEGP_ZOO")
  if (nzchar(folder)) return(lapply(list.files(folder, full.names = TRUE), readRDS))
  table <- zoo_table()
  table <- table[table$half == "develop", ]
  lapply(split(table, seq_len(nrow(table))), zoo_split, most)
}

density_of_rows <- function(fit, set) {
  y <- set$test[[set$response]]
  if (set$kind == "number") {
    new <- predict(fit, set$test, se.fit = TRUE)
    return(dnorm(y, new$fit, sqrt(new$se.fit^2 + sigma(fit)^2), log = TRUE))
  }
  prob <- predict(fit, set$test, type = "prob")
  if (!is.matrix(prob)) prob <- cbind(1 - prob, prob, deparse.level = 0L)
  log(prob[cbind(seq_along(y), as.integer(y))])
}

compare_scales <- function(set) {
  set$train <- droplevels(utils::head(set$train, rows))
  set$test <- without_new_levels(set$test, set$train)
  both <- lapply(list(plain = TRUE, log = "log"), function(scale) {
    cpu <- system.time(fit <- suppressWarnings(suppressMessages(
      sparsegp(set$formula, set$train, scale = scale)
    )))
    list(fit = fit, cpu = sum(cpu[c(1L, 2L, 4L, 5L)]))
  })
  skewed <- sum(both$log$fit$scaling$warp$side != 0)
  if (skewed == 0L) return(NULL)
  lpd <- lapply(both, function(one) density_of_rows(one$fit, set))
  gain <- lpd$log - lpd$plain
  evidence <- both$log$fit$log_evidence - both$plain$fit$log_evidence
  n <- nrow(set$train)
  data.frame(set = set$name, kind = set$kind, rows = n, skewed, plain = mean(lpd$plain),
             log = mean(lpd$log), gain = mean(gain), se = sd(gain) / sqrt(length(gain)),
             `evidence, nats` = evidence, `evidence a row` = evidence / n,
             right = evidence * mean(gain) > 0, `CPU s, plain` = both$plain$cpu,
             `CPU s, log` = both$log$cpu, check.names = FALSE)
}

found <- do.call(rbind, lapply(develop_sets(rows), function(set) {
  inform(set$name)
  tryCatch(compare_scales(set), sparsegp_error = function(e) {
    inform(conditionMessage(e))
    NULL
  })
}))
bench_table(found, "Skewed inputs on a log scale beside inputs as they are")

chosen <- function(least) {
  taken <- found$`evidence, nats` > least
  data.frame(`nats needed` = least, taken = sum(taken), `sum of gains` = sum(found$gain[taken]),
             better = sum(found$gain[taken] > 0),
             `worse by two standard errors` = sum((found$gain < -2 * found$se)[taken]),
             check.names = FALSE)
}
bench_table(do.call(rbind, lapply(c(-Inf, 0, 1, 3, 5), chosen)),
            "Sum over the sets where the evidence chooses")
write_tables()
