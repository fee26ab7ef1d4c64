# What a factor is worth as one input: columns by contrasts beside levels that are compared, on the
# sets of the zoo's develop half that have factors of three or more levels.
#
# Usage: Rscript bench/factors.R FOLDER [NAME...]: FOLDER has the sets as bench/zoo_sets.R splits
# them, one .rds each. Per set: mean log predictive density of the test observations, RMSE or
# proportion of errors, proportion that intervals of 90 % hold, and CPU seconds of the fit; by the
# default strategy with coding = "contrasts" and "levels", and numbers with kernel_rbf(), one length
# scale or one for each input, of either coding. Predictions by levels include observations of
# levels that were not seen; sets have none.
library(sparsegp)

given <- commandArgs(TRUE)
files <- list.files(given[1L], "[.]rds$", full.names = TRUE)
files <- files[order(file.size(files))]
if (length(given) > 1L) files <- files[sub("[.]rds$", "", basename(files)) %in% given[-1L]]

# Returns the number of factors of three or more levels among the inputs, and most levels.
count_levels <- function(set) {
  inputs <- set$train[setdiff(names(set$train), set$response)]
  levels <- vapply(inputs, function(x) if (is.factor(x)) nlevels(x) else 0L, 0L)
  c(factors = sum(levels > 2L), most = max(0L, levels))
}

# Returns the log predictive density of each test observation, mean error and coverage.
judge <- function(fit, set) {
  y <- set$test[[set$response]]
  if (set$kind == "class") {
    prob <- predict(fit, set$test, type = "prob")
    if (is.null(dim(prob))) prob <- cbind(1 - prob, prob)
    at <- match(as.character(y), levels(set$train[[set$response]]))
    lpd <- log(pmax(prob[cbind(seq_along(y), at)], 1e-10))
    return(list(lpd = lpd, error = mean(max.col(prob) != at), holds = NA))
  }
  interval <- predict(fit, set$test, interval = "prediction", level = 0.9)
  half <- (interval[, "upr"] - interval[, "lwr"]) / 2 / stats::qnorm(0.95)
  list(lpd = stats::dnorm(y, interval[, "fit"], half, log = TRUE),
       error = sqrt(mean((y - interval[, "fit"])^2)),
       holds = mean(y >= interval[, "lwr"] & y <= interval[, "upr"]))
}

MODELS <- list(default = NULL, one = kernel_rbf(), ard = kernel_rbf(ard = TRUE))

# Returns list(lpd, row), or an error.
line <- function(set, model, coding) {
  took <- system.time(fit <- suppressWarnings(suppressMessages(
    sparsegp(set$formula, set$train, kernel = MODELS[[model]],
             control = gp_control(coding = coding))
  )))
  found <- suppressMessages(judge(fit, set))
  list(lpd = found$lpd, row = data.frame(
    set = set$name, rows = nrow(set$train), t(count_levels(set)), model, coding,
    lpd = mean(found$lpd), error = found$error, holds = found$holds,
    seconds = sum(took[1:2])
  ))
}

cat("| set | rows | factors, most levels | model | contrasts: log density, error, CPU s |",
    "levels: the same | difference (standard error) |\n|---|---|---|---|---|---|---|\n")
for (file in files) {
  set <- readRDS(file)
  if (count_levels(set)[["factors"]] == 0L) next
  for (model in if (set$kind == "class") "default" else names(MODELS)) {
    by <- lapply(c("contrasts", "levels"), function(coding) {
      tryCatch(line(set, model, coding), error = identity)
    })
    failed <- vapply(by, inherits, NA, "error")
    words <- vapply(by, function(one) {
      if (inherits(one, "error")) return("refused")
      sprintf("%.4f, %.4g, %.1f", one$row$lpd, one$row$error, one$row$seconds)
    }, "")
    gain <- if (!any(failed)) by[[2L]]$lpd - by[[1L]]$lpd
    cat("|", set$name, "|", nrow(set$train), "|", toString(count_levels(set)), "|", model, "|",
        words[1L], "|", words[2L], "|", if (length(gain)) {
          sprintf("%+.4f (%.4f)", mean(gain), stats::sd(gain) / sqrt(length(gain)))
        }, "|\n")
    flush(stdout())
  }
}
