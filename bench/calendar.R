# What a function of time alone is worth to the default fit of days beside other inputs
# (R/strategy-axes.R, with_time_alone()): fits with this axis and without it, of trains in Chicago
# (package modeldata) and of simulated days, held out at random or the last 60. A second table has
# functions of each level of a factor beside those of all, fitted by hand.
#
# Usage: Rscript bench/calendar.R [days] [levels] [peers]: the tables that are made, by default
# both; peers: is BART (package dbarts) compared, too?
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R")) source(file.path(dirname(self), name))
})

asked <- commandArgs(TRUE)
if (!any(c("days", "levels") %in% asked)) asked <- c("days", "levels", asked)

MOST_DAYS <- 1000L  # for training
MOST_TESTED <- 300L

# ---- Days: list(formula, train, test) ----

split_days <- function(d, last) {
  set.seed(1)
  order <- if (last) rev(seq_len(nrow(d))) else sample.int(nrow(d))
  tested <- seq_len(if (last) 60L else MOST_TESTED)
  list(formula = stats::reformulate(setdiff(names(d), "y"), "y"), test = d[order[tested], ],
       train = d[sort(order[-tested][seq_len(MOST_DAYS)]), ])
}

WEATHER <- c("temp", "humidity", "wind", "percip", "weather_snow", "weather_rain")

# days: rows of the set; inputs: besides the date
trains <- function(days, inputs, last = FALSE) {
  if (!requireNamespace("modeldata", quietly = TRUE)) return(NULL)
  d <- zoo_object("modeldata", "Chicago")[days, ]
  d$weekday <- factor(format(d$date, "%u"))
  split_days(data.frame(y = d$ridership, d[c("date", inputs)]), last)
}

# Counts or numbers of a shop: a level that is a trend, a wave, steps, a walk or an autoregression,
# a week, a year, weather that matters more at weekends, and a drop on 3 % of all days.
shop <- function(seed, level, counts = FALSE, last = FALSE) {
  set.seed(seed)
  n <- 2000L
  t <- seq_len(n)
  year <- 2 * pi * (t + 60) / 365.25
  temp <- 12 - 10 * cos(year) + c(stats::arima.sim(list(ar = 0.7), n, sd = 2.5))
  rain <- stats::rbinom(n, 1L, 0.3) * stats::rexp(n, 1 / 5)
  week <- c(0, 0.3, 0.4, 0.3, 0.5, -1, -1.6)[t %% 7 + 1]
  f <- switch(level, trend = 2 * t / n, wave = 1.5 * sin(2 * pi * t / n),
              steps = (t > 1200) - t / n, walk = cumsum(stats::rnorm(n, 0, 0.04)),
              autoregression = c(stats::arima.sim(list(ar = 0.9), n, sd = 0.25))) +
    week + 0.6 * sin(year) + 0.01 * temp - 0.04 * rain +
    (week < 0) * (0.03 * temp - 0.2 * (rain > 0))
  drop <- stats::rbinom(n, 1L, 0.03)
  y <- if (counts) stats::rnbinom(n, mu = exp(4 + 0.4 * f - drop), size = 30)
       else f + stats::rnorm(n, 0, 0.3) - drop * stats::runif(n, 1, 4)
  day <- as.Date("2012-03-01") + t - 1
  split_days(data.frame(y, day, temp, rain, wind = stats::rgamma(n, 4)), last)
}

# Days of three inputs that matter, whose level is an autoregression; two thirds are for training.
varying <- function(seed, n, ar, sd) {
  set.seed(seed)
  d <- data.frame(day = as.Date("2019-01-01") + seq_len(n), warmth = stats::rnorm(n),
                  rain = stats::rnorm(n), wind = stats::rnorm(n))
  d$y <- sin(2 * d$warmth) + d$rain^2 / 2 + c(stats::arima.sim(list(ar = ar), n, sd = sd)) +
    stats::rnorm(n, 0, 0.3)
  order <- sample.int(n)
  train <- seq_len(min(900L, round(2 / 3 * n)))
  list(formula = y ~ ., train = d[sort(order[train]), ],
       test = d[utils::head(order[-train], MOST_TESTED), ])
}

# The second half of the sets was looked at once, at the end.
DAYS <- list(
  "trains, weather" = function() trains(1:2000, WEATHER),
  "trains, weather, weekday" = function() trains(1:2000, c("weekday", WEATHER)),
  "trains, weather, last 60 days" = function() trains(1:2000, WEATHER, TRUE),
  "shop, trend" = function() shop(1, "trend"),
  "shop, wave" = function() shop(2, "wave"),
  "shop, walk" = function() shop(4, "walk"),
  "level, 250 days" = function() varying(1, 250L, 0.8, 0.6),
  "level, 300 days" = function() varying(22, 300L, 0.95, 0.3),
  "level, 400 days" = function() varying(23, 400L, 0.5, 0.6),
  "level, 2400 days" = function() varying(24, 2400L, 0.9, 0.5),
  "later trains, weather" = function() trains(3001:5000, WEATHER),
  "later trains, weather, weekday" = function() trains(3001:5000, c("weekday", WEATHER)),
  "later trains, last 60 days" = function() trains(3001:5000, WEATHER, TRUE),
  "shop, steps" = function() shop(13, "steps"),
  "shop, autoregression" = function() shop(11, "autoregression"),
  "shop, walk, again" = function() shop(14, "walk"),
  "shop, walk, last 60 days" = function() shop(14, "walk", last = TRUE)
)

# ---- Fits ----

Z <- c(-8:-3, seq(-2.5, 2.5, 0.25), 3:7) # of quantiles, each of which takes long for some noise

# Returns log densities and coverage of a fit's 90 % intervals, noise, kernel and CPU seconds.
fitted_set <- function(set, ...) {
  took <- system.time(fit <- suppressWarnings(suppressMessages(sparsegp(set$formula, set$train,
                                                                        ...))))
  y <- set$test[[all.vars(set$formula)[1L]]]
  at <- suppressMessages(predict(fit, set$test, type = "quantile", at = stats::pnorm(Z)))
  inside <- suppressMessages(predict(fit, set$test, interval = "prediction", level = 0.9))
  list(lpd = quantile_density(at, y, Z), noise = fit$likelihood$type, seconds = sum(took[1:2]),
       holds = mean(y >= inside[, "lwr"] & y <= inside[, "upr"]), fit = fit)
}

# Returns normal log densities of BART, which has the weekday and the day of the year as inputs,
# too, of the standard deviation that suits the test best; or NA.
bart_of <- function(set) {
  if (!"peers" %in% asked || !requireNamespace("dbarts", quietly = TRUE)) return(NA_real_)
  days <- names(set$train)[vapply(set$train, inherits, NA, "Date")]
  with_calendar <- function(d) {
    x <- as.POSIXlt(d[[days]])
    data.frame(d[setdiff(names(d), c("y", days))], day = as.double(d[[days]]), week = x$wday,
               year = x$yday)
  }
  set.seed(1)
  found <- dbarts::bart2(with_calendar(set$train), set$train$y, with_calendar(set$test),
                         verbose = FALSE, n.threads = 1L, n.chains = 1L, n.samples = 1000L)
  rest <- set$test$y - colMeans(found$yhat.test)
  stats::dnorm(rest, 0, sqrt(mean(rest^2)), log = TRUE)
}

compare_days <- function(name) {
  set <- DAYS[[name]]()
  if (is.null(set)) return(invisible())
  before <- with_internal("time_beside_others", function(...) NULL, fitted_set(set))
  now <- fitted_set(set)
  gain <- now$lpd - before$lpd
  bench_row("Default fits without and with a function of time alone: log density of test days",
            set = name, noise = now$noise,
            "time alone" = if (grepl("matern32(vars", format(now$fit$kernel), fixed = TRUE)) "yes"
                           else "no",
            without = mean(before$lpd), with = mean(now$lpd), gain = mean(gain),
            "standard error" = stats::sd(gain) / sqrt(length(gain)), BART = mean(bart_of(set)),
            "90 % holds" = paste(format(c(before$holds, now$holds), digits = 2L), collapse = ", "),
            "CPU s" = paste(round(c(before$seconds, now$seconds), 1L), collapse = ", "))
  print(utils::tail(bench_found$tables[[1L]], 1L), row.names = FALSE)
}

# ---- Levels ----

# A function of each of so many levels, of x1 alone: "lines" of other slopes, or "waves".
leveled <- function(seed, n, levels, kind) {
  set.seed(seed)
  d <- data.frame(x1 = stats::rnorm(n), x2 = stats::rnorm(n), x3 = stats::rnorm(n),
                  g = factor(sample.int(levels, n, TRUE, stats::rexp(levels) + 0.1)))
  slopes <- stats::rnorm(levels, 1, 0.7)[d$g]
  phases <- stats::runif(levels, 0, 2 * pi)[d$g]
  own <- if (kind == "lines") slopes * d$x1 else sin(1.5 * d$x1 + phases)
  d$y <- stats::rnorm(levels)[d$g] + own + sin(2 * d$x2) + stats::rnorm(n, 0, 0.6)
  split_levels(d, y ~ x1 + x2 + x3 + g)
}

split_levels <- function(d, formula) {
  d <- as.data.frame(d)[all.vars(formula)]
  set.seed(1)
  order <- sample.int(nrow(d))
  n <- round(2 / 3 * nrow(d))
  train <- droplevels(d[order[seq_len(n)], ])
  test <- d[utils::head(order[-seq_len(n)], 1000L), ]
  list(formula = formula, train = train, test = without_new_levels(test, train))
}

LEVELS <- list(
  "40 levels, lines" = list("g", function() leveled(1, 2250L, 40L, "lines")),
  "25 levels, waves" = list("g", function() leveled(3, 1350L, 25L, "waves")),
  "nlme/Oxboys" = list("Subject", function() {
    d <- as.data.frame(zoo_object("nlme", "Oxboys"))
    d$Subject <- factor(d$Subject, ordered = FALSE)
    split_levels(d, height ~ age + Subject)
  }),
  "MASS/nlschools" = list("class", function() {
    split_levels(zoo_object("MASS", "nlschools"), lang ~ IQ + SES + GS + class)
  }),
  "50 levels, lines" = list("g", function() leveled(12, 2100L, 50L, "lines")),
  "30 levels, waves" = list("g", function() leveled(13, 1800L, 30L, "waves"))
)

compare_levels <- function(name) {
  g <- LEVELS[[name]][[1L]]
  set <- LEVELS[[name]][[2L]]()
  x <- setdiff(all.vars(set$formula)[-1L], g)
  smooth <- kernel_rbf(ard = TRUE, vars = x)
  now <- fitted_set(set)
  own <- fitted_set(set, likelihood = now$fit$likelihood,
                    kernel = smooth + kernel_factor(g) +
                      kernel_rbf(ard = TRUE, vars = x) * kernel_factor(g, variance = fixed(1)))
  gain <- own$lpd - now$lpd
  bench_row("Default fits, and functions of each level by hand: log density of test observations",
            set = name, rows = nrow(set$train), default = mean(now$lpd), "by hand" = mean(own$lpd),
            gain = mean(gain), "standard error" = stats::sd(gain) / sqrt(length(gain)),
            evidence = own$fit$log_evidence - now$fit$log_evidence,
            "CPU s" = paste(round(c(now$seconds, own$seconds), 1L), collapse = ", "))
  print(utils::tail(bench_found$tables[[length(bench_found$tables)]], 1L), row.names = FALSE)
}

if ("days" %in% asked) for (name in names(DAYS)) compare_days(name)
if ("levels" %in% asked) for (name in names(LEVELS)) compare_levels(name)
