# The scale of a response: every set of numbers of the zoo's develop half (zoo_sets.R) whose
# responses are positive, fitted by default on each scale. Per row: log evidence, mean leave-one-out
# and mean test log predictive density, all with the Jacobian, in the response's own units; RMSE;
# proportion of test rows in 90 % intervals; CPU seconds.
#   Rscript bench/response_scales.R FOLDER [SET ...]   FOLDER: of sets, one .rds file each

library(sparsegp)

SCALES_TRIED <- c("identity", "sqrt", "log", "boxcox")

# Log density of test responses under predictions on the fitted scale: normal, as the noise is.
test_lpd <- function(fit, test, y) {
  link <- predict(fit, test, type = "link", se.fit = TRUE)
  sd <- sqrt(link$se.fit^2 + sigma(fit)^2)
  value <- fit$response$scale
  name <- fit$likelihood$transform$name
  m <- value[["middle"]] %||% 1
  lambda <- switch(name, identity = 1, sqrt = 0.5, log = 0, boxcox = value[["value"]])
  z <- switch(name, identity = y, sqrt = sqrt(y), log = log(y),
              boxcox = expm1(lambda * log(y / m)) / lambda)
  slope <- switch(name, identity = 0 * y, sqrt = -log(2) - log(y) / 2, log = -log(y),
                  boxcox = (lambda - 1) * log(y / m) - log(m))
  mean(stats::dnorm(z, link$fit, sd, log = TRUE) + slope)
}

`%||%` <- function(a, b) if (is.null(a)) b else a

measure <- function(set, scale) {
  before <- sum(proc.time()[c(1, 2)])
  fit <- suppressWarnings(sparsegp(set$formula, set$train,
                                   likelihood = lik_gaussian(transform = scale)))
  seconds <- sum(proc.time()[c(1, 2)]) - before
  test <- set$test
  y <- eval(set$formula[[2L]], test)
  band <- predict(fit, test, interval = "prediction", level = 0.9)
  data.frame(set = set$name, n = nobs(fit), scale = scale,
             lambda = if (scale == "boxcox") coef(fit)[["lambda"]] else NA,
             evidence = c(logLik(fit)) / nobs(fit), loo = mean(loo_lpd(fit)),
             test = test_lpd(fit, test, y), rmse = sqrt(mean((y - band[, "fit"])^2)),
             cover = mean(y >= band[, "lwr"] & y <= band[, "upr"]), seconds = seconds)
}

arguments <- commandArgs(TRUE)
for (file in sort(list.files(arguments[1L], "[.]rds$", full.names = TRUE))) {
  set <- readRDS(file)
  if (set$kind != "number") next
  if (length(arguments) > 1L && !set$name %in% arguments[-1L]) next
  all <- c(eval(set$formula[[2L]], set$train), eval(set$formula[[2L]], set$test))
  if (any(all <= 0)) next
  for (scale in SCALES_TRIED) {
    row <- tryCatch(measure(set, scale), error = function(e) {
      message(set$name, ", ", scale, ": ", conditionMessage(e))
      NULL
    })
    if (is.null(row)) next
    cells <- c(row$set, row$n, row$scale,
               formatC(unlist(row[c("lambda", "evidence", "loo", "test")]), 3, format = "f"),
               formatC(row$rmse, 4, format = "g"), formatC(row$cover, 3, format = "f"),
               formatC(row$seconds, 1, format = "f"))
    cat("| ", paste(sub("NA", "", cells), collapse = " | "), " |\n", sep = "")
  }
}
