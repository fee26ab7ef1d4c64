# What a hyperparameter has to gain: kernel_rbf() with one length scale and with one for each input
# on small parts of sets of numbers, and the rules that would have told which is better on the other
# observations: of as many, and of 2 to 13 times as many.
#
# Usage: SPARSEGP_ZOO=... SPARSEGP_DATA=... Rscript bench/structure_price.R FILE [n ...]; FILE keeps
# the fits; SPARSEGP_ZOO is a folder of sets that zoo_split() (bench/zoo_sets.R) has made.
library(sparsegp)

# Responses that are fitted in logs, as most would
LOGS <- c("AER/CPS1985", "carData/Salaries", "datasets/airquality", "Ecdat/Computers", "ISLR/Auto",
          "MASS/UScereal", "sp/meuse", "modeldata/stackoverflow", "mlbench/Ozone",
          "carData/Prestige")

matrix_set <- function(name, x, y) list(name = name, x = x, y = y)

# Skewed inputs are in logs, factors as a model matrix, without those of a hundred levels.
zoo_matrices <- function() {
  files <- list.files(Sys.getenv("SPARSEGP_ZOO"), "rds$", full.names = TRUE)
  sets <- Filter(function(set) set$kind == "number", lapply(files, readRDS))
  lapply(sets, function(set) {
    rows <- rbind(set$train, set$test)
    x <- rows[setdiff(names(rows), set$response)]
    x <- x[!vapply(x, function(v) is.factor(v) && nlevels(v) > 100L, NA)]
    x[] <- lapply(x, function(v) {
      if (!is.numeric(v) || any(v < 0) || mean(scale(v)^3) <= 2) return(v)
      log1p(v / stats::median(v[v > 0]))
    })
    y <- rows[[set$response]]
    matrix_set(set$name, stats::model.matrix(~ ., x)[, -1L],
               if (set$name %in% LOGS) log(y) else y)
  })
}

file_matrices <- function(most = 3000L) {
  lapply(c("pumadyn32nm", "protein", "keggundirected"), function(name) {
    rows <- utils::read.csv(gzfile(file.path(Sys.getenv("SPARSEGP_DATA"), name,
                                             paste0(name, ".csv.gz"))))
    set.seed(3)
    rows <- rows[sample(nrow(rows), most), ]
    matrix_set(name, as.matrix(rows[grep("^x", names(rows))]), rows$y)
  })
}

# Draws of Gaussian processes whose length scales are alike, few, or all different
made_matrices <- function(n = 1500L) {
  set.seed(5)
  draw <- function(name, lengths, rough = FALSE, noise = 0.3) {
    x <- matrix(stats::rnorm(n * length(lengths)), n,
                dimnames = list(NULL, paste0("x", seq_along(lengths))))
    d <- as.matrix(stats::dist(sweep(x, 2L, lengths, "/")))
    k <- if (rough) (1 + sqrt(3) * d) * exp(-sqrt(3) * d) else exp(-d^2 / 2)
    f <- drop(crossprod(chol(k + 1e-6 * diag(n)), stats::rnorm(n)))
    matrix_set(name, x, f + noise * stats::rnorm(n))
  }
  list(draw("iso5", rep(2, 5)), draw("iso20", rep(4.5, 20)),
       draw("sparse20", rep(c(1.5, 1e3), c(3, 17)), TRUE),
       draw("mix8", 2.8 * exp(0.7 * stats::rnorm(8)), TRUE, 0.5))
}

# ---- Fits ----

# Log evidence plus log prior less its constant, and the mean log density of the test rows.
scored <- function(x, y, test, ard) {
  fit <- suppressWarnings(sparsegp(x, y, kernel = kernel_rbf(ard = ard)))
  table <- fit$hyper[fit$hyper$free, ]
  far <- mapply(function(prior, value) {
    (log(value) - prior$par[["meanlog"]]) / prior$par[["sdlog"]]
  }, table$prior, coef(fit)[table$name])
  at <- predict(fit, test$x, type = "latent", se.fit = TRUE)
  sd <- sqrt(at$se.fit^2 + coef(fit)[["noise"]])
  c(worth = fit$log_evidence - sum(far^2) / 2,
    lpd = mean(stats::dnorm(test$y, at$fit, sd, log = TRUE)))
}

one_case <- function(set, n, seed) {
  set.seed(100 * seed + n)
  rows <- sample(nrow(set$x), n)
  out <- utils::head(setdiff(seq_len(nrow(set$x)), rows), 1500L)
  vary <- apply(set$x[rows, ], 2L, stats::sd) > 1e-9
  unit <- stats::sd(set$y[rows])
  part <- function(at) list(x = set$x[at, vary, drop = FALSE], y = set$y[at] / unit)
  train <- part(rows)
  each <- lapply(c(FALSE, TRUE), function(ard) scored(train$x, train$y, part(out), ard))
  gain <- each[[2L]] - each[[1L]]
  data.frame(set = set$name, n = n, more = sum(vary) - 1L, worth = gain[["worth"]],
             lpd = max(min(gain[["lpd"]], 1), -1)) # one bad row must not decide
}

# ---- Rules ----

# Every case judged on n observations, with the mean gain of the fits of n2 of the same set.
judged <- function(cases) {
  later <- stats::aggregate(lpd ~ set + n, cases, mean)
  both <- merge(cases, later, by = "set", suffixes = c("", "2"))
  both <- both[both$n2 >= both$n, ]
  both$gain <- ifelse(both$n2 == both$n, both$lpd, both$lpd2)
  both
}

sums <- function(both) {
  rules <- expand.grid(overfit = c(0, 0.25, 0.5, 0.75, 1), parameter = c(0, 0.5, 1, 1.25, 1.5))
  rules$taken <- rules$sum <- NA
  for (i in seq_len(nrow(rules))) {
    times <- both$n2 / both$n
    take <- (both$worth - rules$overfit[i] * both$more) * times - rules$parameter[i] * both$more > 1
    rules[i, c("sum", "taken")] <- c(sum(both$gain[take]), sum(take))
  }
  rules
}

asked <- commandArgs(TRUE)
sizes <- if (length(asked) > 1L) as.integer(asked[-1L]) else c(50L, 100L, 200L, 400L, 630L)
cases <- NULL
for (n in sizes) {
  for (set in c(zoo_matrices(), file_matrices(), made_matrices())) {
    if (nrow(set$x) < 1.25 * n + 20 || ncol(set$x) > 64L) next
    for (seed in seq_len(if (n > 200L) 1L else 2L)) cases <- rbind(cases, one_case(set, n, seed))
    saveRDS(cases, asked[1L])
  }
}
both <- judged(cases)
cat(nrow(cases), "cases,", nrow(both), "judged; best possible sum", sum(pmax(both$gain, 0)), "\n")
print(sums(both), digits = 3L)
