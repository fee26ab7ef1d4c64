# The simulated situations of bench/regret.R, some series that come with R, and the sets of the zoo
# (zoo_sets.R), of which at most 1500 rows.
#
# A case is list(name, group, n, make, likelihood, own, quick): make() returns list(train, test),
# data frames of the response `y` and inputs; likelihood: what sparsegp() is given, NULL for the
# default; own: a named list of hand fits of this case alone, each the further arguments of
# sparsegp() that somebody would give who knows how the data were made; quick: is the case among
# those of the quick form?

new_case <- function(group, name, n, draw, own = list(), likelihood = NULL, quick = FALSE,
                     make = NULL) {
  seed <- sum(utf8ToInt(name) * seq_len(nchar(name)))
  simulate <- function() {
    set.seed(seed)
    list(train = draw(n), test = attr(draw, "test")(TESTS))
  }
  list(name = name, group = group, n = n, make = if (is.null(make)) simulate else make,
       likelihood = likelihood, own = own, quick = quick)
}

TESTS <- 150L # observations that are held out

# Returns draw(n) of a case. inputs(n): a data frame; truth(d): the function; respond(f, d):
# responses. on_grid(n), if given, are the training inputs. spoil(y): the training responses, with
# outliers; those held out have none.
drawn <- function(inputs, truth, respond = noisy(0.2), on_grid = inputs, spoil = identity) {
  at <- function(d) cbind(d, y = respond(truth(d), d))
  structure(function(n) {
    d <- at(on_grid(n))
    d$y <- spoil(d$y)
    d
  }, test = function(n) at(inputs(n)))
}

noisy <- function(sd) function(f, d) f + rnorm(length(f), 0, sd)
exactly <- function(f, d) f
uniform <- function(d = 1L) {
  function(n) stats::setNames(data.frame(matrix(runif(n * d), n)), paste0("x", seq_len(d)))
}
unit_grid <- function(n) data.frame(x1 = seq(0, 1, length.out = n))

# A start of the length scale in standard deviations of inputs that are uniform on [0, 1]
rbf_of <- function(length) kernel_rbf(lengthscale = length * sqrt(12))

# ---- Series of many cycles ----

wave <- function(cycles) function(d) sin(2 * pi * cycles * d$x1)

wave_case <- function(cycles, n, sd = 0.2, ..., regular = TRUE, quick = FALSE) {
  new_case("many cycles", sprintf("%d cycles%s", cycles, if (regular) "" else ", random times"), n,
           drawn(uniform(), wave(cycles), noisy(sd), if (regular) unit_grid else uniform()),
           list("true length" = list(kernel = rbf_of(1 / (2 * pi * cycles)))), ..., quick = quick)
}

# Length scales that suit `cycles`, with a rhythm of that period beside them
series_case <- function(name, n, truth, cycles, respond = noisy(0.2), quick = FALSE, ...) {
  own <- list("true length" = list(kernel = rbf_of(1 / (2 * pi * cycles))),
              "true period" = list(kernel = kernel_rbf() + kernel_periodic(period = 1 / cycles)))
  new_case("many cycles", name, n, drawn(uniform(), truth, respond, unit_grid), own,
           quick = quick, ...)
}

wave_cases <- function() {
  c(Map(wave_case, c(5, 10, 5, 20, 20, 50, 100, 50, 200), c(50, 50, 300, 100, 300, 300, 500, 1000,
                                                            1000),
        quick = c(FALSE, FALSE, FALSE, TRUE, FALSE, TRUE, FALSE, FALSE, FALSE)),
    list(wave_case(40, 200, regular = FALSE), wave_case(30, 720, 1), wave_case(60, 3000),
         wave_case(500, 3000), wave_case(200, 10000L), wave_case(500, 100000L)))
}

series_cases <- function() {
  list(
    series_case("cycles that swell", 240L, function(d) (0.3 + d$x1) * wave(30)(d), 30),
    series_case("trend and 25 cycles", 300L, function(d) 8 * d$x1^2 + wave(25)(d), 25),
    series_case("growing cycles, positive", 240L, function(d) 2 * d$x1 + 0.3 * wave(20)(d), 20,
                function(f, d) exp(f + rnorm(length(f), 0, 0.05))),
    series_case("cycles that shorten", 400L, function(d) sin(10 * pi * (d$x1 + 7 * d$x1^2)), 60),
    series_case("saw, 15 teeth", 300L, function(d) (15 * d$x1) %% 1, 15, noisy(0.05)),
    series_case("cycles of two lengths", 300L, function(d) wave(3)(d) + 0.7 * wave(45)(d), 45)
  )
}

# ---- Rhythms of the calendar ----

days_of <- function(n) data.frame(day = as.Date("2020-01-01") + seq_len(n) - 1L)

# Returns make(): a grid of times, of which two thirds are for training. times(n): n of them.
on_calendar <- function(n, times, truth, sd) {
  function() {
    set.seed(n)
    d <- times(n)
    d$y <- truth(seq_len(n)) + rnorm(n, 0, sd)
    is_held <- seq_len(n) %in% sample.int(n, n %/% 3L)
    list(train = d[!is_held, , drop = FALSE], test = d[is_held, , drop = FALSE])
  }
}

turn <- function(i, period, phase = 0) sin(2 * pi * i / period + phase)

calendar_cases <- function() {
  hours_of <- function(n) {
    data.frame(hour = as.POSIXct("2021-03-01", tz = "UTC") + 3600 * (seq_len(n) - 1))
  }
  year_of <- function(by) function(n) data.frame(year = 2000 + (seq_len(n) - 1) / by)
  case <- function(name, n, times, truth, sd, kernel, quick = FALSE) {
    new_case("rhythms", name, n, NULL, list("true period" = list(kernel = kernel)), quick = quick,
             make = on_calendar(n, times, truth, sd))
  }
  week <- function(i) c(0, 0.3, 0.1, 0.4, 0.9, 2.2, 1.8)[i %% 7 + 1]
  list(
    case("days, week and year", 700L, days_of, function(i) week(i) + 1.5 * turn(i, 365.25), 0.5,
         kernel_rbf() + kernel_periodic(period = 7)),
    case("days, a week", 120L, days_of, week, 0.5, kernel_rbf() + kernel_periodic(period = 7),
         quick = TRUE),
    case("hours, day and week", 900L, hours_of,
         function(i) 2 * turn(i, 24) + turn(i, 12, 1) + turn(i, 168), 0.7,
         kernel_rbf() + kernel_periodic(period = 86400) + kernel_periodic(period = 604800)),
    case("months, a year", 144L, year_of(12), function(i) 0.02 * i + turn(i, 12) + turn(i, 4) / 2,
         0.3, kernel_rbf() + kernel_periodic(period = 1)),
    case("quarters, a year", 48L, year_of(4),
         function(i) 0.1 * i + 2 * c(1, 0, -1, 0.5)[i %% 4 + 1], 0.4,
         kernel_rbf() + kernel_periodic(period = 1))
  )
}

# ---- Functions that vary fast along several inputs ----

fast_cases <- function() {
  case <- function(name, n, d, truth, length, quick = FALSE) {
    new_case("fast in several inputs", name, n, drawn(uniform(d), truth),
             list("true length" = list(kernel = rbf_of(length)), "true lengths" =
                    list(kernel = kernel_rbf(lengthscale = length * sqrt(12), ard = TRUE))),
             quick = quick)
  }
  list(case("both of two", 400L, 2L, function(d) sin(25 * d$x1) + cos(20 * d$x2), 0.05, TRUE),
       case("one of two", 300L, 2L, function(d) sin(40 * d$x1) + d$x2^2, 0.03),
       case("one of three", 500L, 3L, function(d) sin(30 * d$x1) * (1 + d$x2), 0.04),
       case("both of two, many", 3000L, 2L, function(d) sin(50 * d$x1) * cos(50 * d$x2), 0.02))
}

# ---- Designs of doses ----

dose_case <- function(name, doses, truth, respond = noisy(2), spoil = identity) {
  inputs <- function(n) data.frame(dose = exp(runif(n, log(max(doses) / 1000), log(max(doses)))))
  new_case("doses", name, length(doses),
           drawn(inputs, truth, respond, function(n) data.frame(dose = doses), spoil),
           list("short, as it is" = list(kernel = kernel_rbf(lengthscale = 0.1), scale = TRUE)),
           quick = name == "a control and six")
}

dose_cases <- function() {
  rise <- function(half) function(d) 10 + 40 * d$dose / (half + d$dose)
  hill <- function(d) 5 + 60 / (1 + (20 / d$dose)^3)
  grow <- function(f, d) f * exp(rnorm(length(f), 0, 0.1))
  passes <- function(d) 50 * (exp(-0.1 * d$dose) - exp(-d$dose))
  list(dose_case("a control and six", rep(c(0, 1, 2, 5, 10, 50, 100), each = 4), rise(5)),
       dose_case("many controls", c(rep(0, 20), rep(c(1, 3, 10, 30, 100), each = 3)), rise(5)),
       dose_case("doubling", rep(c(0, 2^(0:7)), each = 3), hill),
       dose_case("doubling, errors in per cent", rep(2^(0:7), each = 3), rise(10), grow),
       dose_case("concentration in time", rep(c(0, .25, .5, 1, 2, 4, 8, 12, 24, 48), 3), passes))
}

# ---- Outliers, also codes such as -99 ----

outlier_case <- function(name, n, d, truth, at, sd = 0.1, quick = FALSE) {
  spoil <- function(y) replace(y, seq_along(at) * (length(y) %/% 5L), at)
  new_case("outliers", name, n, drawn(uniform(d), truth, noisy(sd), spoil = spoil), quick = quick)
}

outlier_cases <- function() {
  bend <- function(d) sin(8 * d$x1)
  several <- function(d) sin(5 * d$x1) + 2 * d$x2 * d$x3
  list(outlier_case("one -99", 40L, 1L, bend, -99, quick = TRUE),
       outlier_case("one of eight deviations", 40L, 1L, bend, 6),
       outlier_case("three, both sides", 60L, 1L, bend, c(8, -9, 12)),
       outlier_case("one 999 among positive", 80L, 1L, function(d) 10 + 3 * bend(d), 999),
       outlier_case("two, three inputs", 150L, 3L, several, c(15, -12)),
       outlier_case("three among 300", 300L, 1L, bend, c(10, 10, -10)),
       outlier_case("one beside a line", 30L, 1L, function(d) 3 * d$x1, 20))
}

# ---- Sums of two scales ----

scale_cases <- function() {
  own <- function(long, short) {
    list("two kernels" = list(kernel = kernel_rbf(lengthscale = long * sqrt(12)) +
                                kernel_rbf(lengthscale = short * sqrt(12))))
  }
  case <- function(name, n, d, truth, long, short, sd = 0.1, quick = FALSE) {
    new_case("two scales", name, n, drawn(uniform(d), truth, noisy(sd)), own(long, short),
             quick = quick)
  }
  waves <- function(d) 3 * sin(5 * d$x1) + 0.8 * sin(90 * d$x1)
  list(case("wave on a wave", 150L, 1L, waves, 0.3, 0.012, quick = TRUE),
       case("wave on a wave", 1000L, 1L, waves, 0.3, 0.012, 0.5),
       case("ripples on a plane", 400L, 2L, function(d) 5 * d$x1 + 0.5 * sin(40 * d$x2), 1, 0.03),
       case("hill with a spike", 200L, 1L,
            function(d) 3 * sin(4 * d$x1) + 4 * exp(-(d$x1 - 0.6)^2 / 2e-4), 0.3, 0.01))
}

# ---- Deterministic codes ----

code_case <- function(name, n, d, truth, quick = FALSE) {
  own <- list("Matern, ARD" = list(kernel = kernel_matern52(ard = TRUE)))
  new_case("deterministic", name, n, drawn(uniform(d), truth, exactly), own, quick = quick)
}

code_cases <- function() {
  branin <- function(d) {
    a <- 15 * d$x1 - 5
    b <- 15 * d$x2
    (b - 5.1 / (4 * pi^2) * a^2 + 5 / pi * a - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10
  }
  borehole <- function(d) {
    ratio <- log((100 + 49900 * d$x2) / (0.05 + 0.1 * d$x1))
    2 * pi * (63070 + 52530 * d$x3) * (170 + 240 * d$x4) /
      (ratio * (1 + 2 * (1120 + 560 * d$x5) * 8e4 / (ratio * 0.01 * 1e4) + 0.8)) / 1e3
  }
  friedman <- function(d) {
    10 * sin(pi * d$x1 * d$x2) + 20 * (d$x3 - 0.5)^2 + 10 * d$x4 + 5 * d$x5
  }
  steep <- function(d) (0.2 + d$x1)^2 * (3 + sin(6 * d$x2)) + 0.1 * d$x3
  list(code_case("seven points of a sine", 7L, 1L, function(d) sin(6 * d$x1)),
       code_case("Branin", 20L, 2L, branin, quick = TRUE), code_case("Branin", 60L, 2L, branin),
       code_case("Friedman 1", 100L, 5L, friedman), code_case("borehole", 80L, 5L, borehole),
       code_case("positive, one input in front", 50L, 4L, steep),
       code_case("many waves", 150L, 1L, wave(20)))
}
