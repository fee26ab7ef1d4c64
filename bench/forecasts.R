# Forecasts of short series by the default call, beside those of stats::ar() and the last value: are
# trends continued, do intervals hold, and are values between the observations predicted as well?
# Real series: those of package datasets, and of folders of .rda files such as data/ of the packages
# fma, expsmooth, AER and astsa; simulated ones beside them. Of each the last 100 observations.
# CPU seconds of one process.
#
#   Rscript bench/forecasts.R [quick] [FOLDER ...]
# quick: simulated series alone, one of each kind.
source("bench/common.R")
arguments <- commandArgs(TRUE)
quick <- "quick" %in% arguments
folders <- setdiff(arguments, "quick")

# ---- Series ----

# Returns a list of data frames of the univariate series in `x`: at most three columns of several.
series_of <- function(x, name) {
  if (!is.ts(x) || !is.numeric(x)) return(list())
  time <- as.numeric(stats::time(x))
  x <- as.matrix(x)
  columns <- seq_len(min(3L, ncol(x)))
  each <- lapply(columns, function(j) data.frame(time, y = as.numeric(x[, j])))
  names(each) <- if (length(columns) > 1L) paste0(name, ".", columns) else name
  each <- lapply(each, stats::na.omit)
  Filter(function(d) nrow(d) >= 40L && length(unique(d$y)) >= 8L, each)
}

real_series <- function(folders) {
  own <- lapply(ls("package:datasets"), function(name) series_of(get(name), name))
  others <- lapply(list.files(folders, "[.]rda$", full.names = TRUE), function(file) {
    room <- new.env()
    load(file, room)
    do.call(c, lapply(ls(room), function(name) series_of(get(name, room), name)))
  })
  all <- do.call(c, c(own, do.call(c, list(others))))
  all[!duplicated(lapply(all, function(d) signif(sort(d$y), 6L)[1:25]))]
}

KINDS <- c("autoregression 0.5", "autoregression 0.9", "trend and autoregression", "random walk",
           "random walk with drift", "trend and season", "season", "logistic growth", "step",
           "noise", "square", "growth")

simulated <- function(kind, seed, n = 130L) {
  set.seed(seed)
  t <- seq_len(n)
  ar <- function(p, sd) as.numeric(stats::arima.sim(list(ar = p), n, sd = sd))
  season <- 2 * sin(2 * pi * t / 12)
  y <- switch(match(kind, KINDS), ar(0.5, 1), ar(0.9, 1), 0.05 * t + ar(0.7, 1),
              cumsum(rnorm(n)), cumsum(0.2 + rnorm(n)), 0.04 * t + season + rnorm(n, sd = 0.7),
              season + ar(0.6, 0.6), 20 / (1 + exp((70 - t) / 15)) + rnorm(n, sd = 0.6),
              4 * (t > 60) + rnorm(n), rnorm(n), (t / 40)^2 + ar(0.5, 0.4),
              exp(t / 40 + 0.1 * rnorm(n)))
  data.frame(time = t, y = y)
}

all_series <- function() {
  seeds <- if (quick) 1L else 1:4
  made <- unlist(lapply(KINDS, function(kind) {
    stats::setNames(lapply(seeds, function(seed) simulated(kind, seed)),
                    paste(kind, seeds, sep = "; "))
  }), recursive = FALSE)
  real <- if (!quick) real_series(folders)
  lapply(c(real, made), utils::tail, 100L)
}

# ---- Scores ----

# Errors in units of the mean change from one observation to the next.
scores <- function(q, y) {
  near <- seq_len(max(1L, length(y) %/% 4L))
  error <- (q[, 2L] - y)^2
  inside <- q[, 1L] <= y & y <= q[, 3L]
  c(short = sqrt(mean(error[near])), long = sqrt(mean(error)), `inside, short` = mean(inside[near]),
    inside = mean(inside))
}

by_default <- function(known, new) {
  time <- system.time(fit <- suppressWarnings(sparsegp(y ~ time, known)))
  q <- predict(fit, new, type = "quantile", at = c(0.05, 0.5, 0.95))
  c(scores(q, new$y), seconds = sum(time[1:2]), trend = grepl("linear", format(fit$kernel)))
}

by_ar <- function(known, new) {
  p <- predict(stats::ar(known$y), n.ahead = nrow(new))
  scores(cbind(p$pred - 1.645 * p$se, p$pred, p$pred + 1.645 * p$se), new$y)
}

last_value <- function(known, new) {
  scores(matrix(utils::tail(known$y, 1L), nrow(new), 3L), new$y)
}

# Forecasts of the fifth of the series behind `part` of it; of "between" a fifth at random places.
one_series <- function(name, d, part) {
  set.seed(1)
  n <- nrow(d)
  last <- floor(0.2 * n)
  at <- if (part == "between") sort(sample(2:(n - 1L), last)) else floor(part * n) + seq_len(last)
  known <- d[if (part == "between") -at else seq_len(at[1L] - 1L), ]
  if (length(unique(known$y)) < 5L) return(NULL)
  ours <- by_default(known, d[at, ])
  theirs <- if (part != "between") c(ar = by_ar(known, d[at, ])[1:4],
                                     last = last_value(known, d[at, ])[1:2])
  data.frame(series = name, part = part, as.list(c(ours, theirs)), check.names = FALSE)
}

series <- all_series()
found <- list()
for (part in c(0.6, 0.8, "between")) {
  for (name in names(series)) {
    at <- if (part == "between") part else as.numeric(part)
    row <- tryCatch(one_series(name, series[[name]], at), error = function(e) NULL)
    found[[part]] <- rbind(found[[part]], row)
    if (nzchar(Sys.getenv("SAVE"))) saveRDS(found, Sys.getenv("SAVE"))
  }
}

# ---- Tables ----

# Geometric means of errors, relative to those of the last value, ratios kept within e^2.
relative <- function(ours, theirs) exp(mean(pmin(pmax(log(ours / theirs), -2), 2), na.rm = TRUE))

row_of <- function(ahead) {
  data.frame(series = length(unique(ahead$series)), fits = nrow(ahead),
             `with trend` = mean(ahead$trend),
             short = relative(ahead$short, ahead$last.short),
             long = relative(ahead$long, ahead$last.long),
             `ar(), short` = relative(ahead$ar.short, ahead$last.short),
             `ar(), long` = relative(ahead$ar.long, ahead$last.long),
             `inside, short` = mean(ahead[["inside, short"]]), inside = mean(ahead$inside),
             `inside, ar()` = mean(ahead$ar.inside), seconds = sum(ahead$seconds),
             check.names = FALSE)
}

ahead <- rbind(found[["0.6"]], found[["0.8"]])
kind <- ifelse(grepl(";", ahead$series), sub("; .*", "", ahead$series), "real series")
by_kind <- do.call(rbind, lapply(split(ahead, kind), row_of))
bench_table(rbind(by_kind, all = row_of(ahead)),
            "Forecasts: RMSE relative to the last value; intervals of 90 %")
between <- found$between
bench_table(data.frame(fits = nrow(between), RMSE = exp(mean(log(between$long))),
                       inside = mean(between$inside), seconds = sum(between$seconds)),
            "Between the observations: geometric mean of the RMSE; intervals of 90 %")
