# Further cases of bench/regret.R: steps, spread that changes, inputs of which few matter, bounded
# responses, labels and counts, controls; series that come with R; the sets of the zoo. Returns all
# by regret_cases(). regret_cases.R says what a case is.

# ---- Steps, and errors whose spread changes ----

step_cases <- function() {
  rough <- list("rough" = list(kernel = kernel_matern12()))
  levels_of <- function(d) c(0, 3, 1, 4, 2, 5)[findInterval(d$x1, (1:5) / 6) + 1]
  case <- function(name, n, d, truth, quick = FALSE) {
    new_case("steps", name, n, drawn(uniform(d), truth, noisy(0.1)), rough, quick = quick)
  }
  list(case("one step", 60L, 1L, function(d) as.numeric(d$x1 > 0.55), quick = TRUE),
       case("six levels", 200L, 1L, levels_of),
       case("a corner of the square", 300L, 2L, function(d) 2 * (d$x1 > 0.4 & d$x2 > 0.3)),
       case("six levels, many", 1000L, 1L, levels_of))
}

spread_cases <- function() {
  own <- list("its likelihood" = list(likelihood = "heteroscedastic",
                                       control = gp_control(integrate = "none")))
  case <- function(name, n, sd) {
    new_case("heteroscedastic", name, n, drawn(uniform(), function(d) 2 * sin(6 * d$x1), sd), own)
  }
  list(case("grows with the input", 100L, function(f, d) f + (0.05 + d$x1) * rnorm(length(f))),
       case("quiet half, loud half", 300L,
            function(f, d) f + ifelse(d$x1 < 0.5, 0.05, 1) * rnorm(length(f))),
       case("bursts", 200L, function(f, d) f + exp(2 * sin(12 * d$x1) - 1.5) * rnorm(length(f))))
}

# ---- Few of many inputs matter ----

sparse_case <- function(p, n, truth = linear_three, sd = 0.3, quick = FALSE) {
  inputs <- function(n) {
    stats::setNames(data.frame(matrix(rnorm(n * p), n)), paste0("x", seq_len(p)))
  }
  own <- list("ARD from all off" = list(kernel = kernel_rbf(lengthscale = 3 * sqrt(p), ard = TRUE)),
              "the three" = list(kernel = kernel_rbf(vars = c("x1", "x2", "x3"), ard = TRUE)),
              "the three, linear" = list(kernel = kernel_linear(vars = c("x1", "x2", "x3"),
                                                                ard = TRUE)))
  new_case("three of many inputs", sprintf("%s, %d inputs", if (identical(truth, linear_three))
    "linear" else "curved", p), n, drawn(inputs, truth, noisy(sd)), own, quick = quick)
}

linear_three <- function(d) d$x1 - 2 * d$x2 + d$x3 / 2
curved_three <- function(d) 2 * sin(1.5 * d$x1) + d$x2 * d$x3

sparse_cases <- function() {
  c(Map(sparse_case, c(10, 30, 60, 100, 150, 200), 100L,
        quick = c(FALSE, TRUE, FALSE, FALSE, FALSE, FALSE)),
    Map(sparse_case, c(10, 20, 50), c(200L, 200L, 500L), list(curved_three)))
}

# ---- Proportions, zeros, and numbers that are positive ----

bounded_cases <- function() {
  bend <- function(d) 2 * sin(7 * d$x1)
  case <- function(name, n, respond, quick = FALSE) {
    new_case("bounded", name, n, drawn(uniform(2L), bend, respond), quick = quick)
  }
  share <- function(f, d) stats::plogis(f + rnorm(length(f), 0, 0.4))
  list(case("proportions", 100L, share),
       case("proportions near the ends", 200L, function(f, d) share(3 * f, d)),
       case("zeros among positive numbers", 150L,
            function(f, d) pmax(exp(f + rnorm(length(f), 0, 0.3)) - 0.4, 0), quick = TRUE),
       case("one zero among positive numbers", 150L,
            function(f, d) replace(exp(f + rnorm(length(f), 0, 0.3)), 7L, 0)),
       case("log-normal", 200L, function(f, d) exp(f + rnorm(length(f), 0, 0.5))),
       case("counts as numbers", 200L, function(f, d) 0 + rpois(length(f), exp(2 + f))))
}

# ---- Labels and counts ----

# Returns labels of the classes that have the largest of their latent values. f: a matrix
labels_by <- function(f) factor(letters[max.col(f, "first")], letters[seq_len(ncol(f))])

label_cases <- function() {
  own <- function(cycles) {
    list("true length" = list(kernel = rbf_of(1 / (2 * pi * cycles))),
         "true period" = list(kernel = kernel_rbf() + kernel_periodic(period = 1 / cycles)))
  }
  case <- function(name, n, cycles, respond, likelihood = NULL, quick = FALSE) {
    new_case("labels and counts", name, n, drawn(uniform(), wave(cycles), respond, unit_grid),
             own(cycles), likelihood, quick = quick)
  }
  two <- function(f, d) labels_by(cbind(0, 2 * f + rnorm(length(f), 0, 0.5)))
  three <- function(f, d) labels_by(cbind(2 * f, 2 * cos(50 * d$x1), 0) + rnorm(3 * length(f)) / 2)
  counts <- function(f, d) rpois(length(f), exp(1 + f))
  spread <- function(f, d) rnbinom(length(f), size = 2, mu = exp(2 + f))
  list(case("two labels, 5 cycles", 100L, 5, two), case("two labels, 20 cycles", 200L, 20, two,
                                                        quick = TRUE),
       case("two labels, 60 cycles", 500L, 60, two), case("two labels, 20 cycles", 2000L, 20, two),
       case("three labels, 8 cycles", 200L, 8, three),
       case("counts, 5 cycles", 60L, 5, counts, "poisson"),
       case("counts, 20 cycles", 240L, 20, counts, "poisson", quick = TRUE),
       case("overdispersed counts, 40 cycles", 400L, 40, spread, "negbin"))
}

# ---- What no default should lose at ----

control_cases <- function() {
  case <- function(name, n, d, truth, sd) {
    new_case("controls", name, n, drawn(uniform(d), truth, noisy(sd)))
  }
  list(case("a line", 50L, 1L, function(d) 2 * d$x1, 0.3),
       case("a smooth curve", 200L, 1L, function(d) sin(6 * d$x1), 0.3),
       case("noise alone", 100L, 2L, function(d) 0 * d$x1, 1),
       case("a smooth surface", 3000L, 3L, function(d) sin(4 * d$x1) * d$x2 + d$x3, 0.3))
}

# ---- Data that come with R, and the zoo ----

# Splits rows at random: a third is held out.
thirds_of <- function(rows) {
  set.seed(1)
  is_held <- seq_len(nrow(rows)) %in% sample.int(nrow(rows), nrow(rows) %/% 3L)
  list(train = rows[!is_held, , drop = FALSE], test = rows[is_held, , drop = FALSE])
}

real_cases <- function() {
  series <- c("nottem", "sunspot.year", "AirPassengers", "co2", "UKgas", "lynx", "ldeaths",
              "treering", "LakeHuron", "Nile")
  pairs <- list(Puromycin = rate ~ conc + state, mcycle = accel ~ times, cars = dist ~ speed,
                Theoph = conc ~ Time, pressure = pressure ~ temperature)
  of_r <- function(name, rows) {
    new_case("data of R", name, nrow(rows), NULL, make = function() thirds_of(rows),
             quick = name == "nottem")
  }
  c(lapply(series, function(name) {
    y <- getExportedValue("datasets", name)
    of_r(name, utils::head(data.frame(t = as.numeric(stats::time(y)), y = as.numeric(y)), 1200L))
  }), lapply(names(pairs), function(name) {
    package <- if (name == "mcycle") "MASS" else "datasets"
    frame <- stats::model.frame(pairs[[name]], getExportedValue(package, name))
    of_r(name, data.frame(y = frame[[1L]], frame[-1L]))
  }))
}

MOST_ZOO <- 1000L # training observations of a set, and half as many held out

# Returns a case for each set of the zoo whose package is installed, none without SPARSEGP_DATA.
zoo_cases <- function() {
  if (!nzchar(Sys.getenv("SPARSEGP_DATA"))) return(list())
  sets <- zoo_table()
  sets <- sets[vapply(sets$package, function(p) nzchar(system.file(package = p)), NA), ]
  lapply(split(sets, seq_len(nrow(sets))), function(set) {
    new_case("zoo", set$name, NA, NULL, make = function() {
      parts <- zoo_split(set, MOST_ZOO)
      lapply(list(train = parts$train, test = utils::head(parts$test, MOST_ZOO %/% 2L)), as_y,
             set$response)
    })
  })
}

as_y <- function(rows, response) {
  if (response != "y") rows[["y"]] <- NULL
  names(rows)[names(rows) == response] <- "y"
  rows
}

# ---- All ----

# Returns all cases, those of few observations first. zoo: those of the zoo, too?
regret_cases <- function(zoo = TRUE) {
  cases <- c(wave_cases(), series_cases(), calendar_cases(), fast_cases(), dose_cases(),
             outlier_cases(), scale_cases(), code_cases(), step_cases(), spread_cases(),
             sparse_cases(), bounded_cases(), label_cases(), control_cases(), real_cases())
  cases <- cases[order(vapply(cases, `[[`, 0, "n"))]
  cases <- c(cases, if (zoo) zoo_cases())
  names(cases) <- vapply(cases, function(case) {
    gsub("^_|_$", "", gsub("[^a-z0-9]+", "_", tolower(paste(case$group, case$name,
                                                            if (!is.na(case$n)) case$n))))
  }, "")
  cases
}
