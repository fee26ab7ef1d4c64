# Curves of one input, from data sets that come with R: the log evidence plus log prior that a
# default fit ends at, beside the best of the same model searched from ten random starts besides.
# "lacks" is what the default is short of; more than 0.1 nats is marked.
#
#   Rscript bench/one_input.R
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

series <- function(y) data.frame(x = as.numeric(stats::time(y)), y = as.numeric(y))
pair <- function(data, x, y) {
  stats::na.omit(data.frame(x = as.numeric(data[[x]]), y = as.numeric(data[[y]])))
}

CURVES <- list(
  cars = pair(cars, "speed", "dist"), women = pair(women, "height", "weight"),
  pressure = pair(pressure, "temperature", "pressure"),
  faithful = pair(faithful, "eruptions", "waiting"),
  mpg_hp = pair(mtcars, "hp", "mpg"), mpg_wt = pair(mtcars, "wt", "mpg"),
  mpg_disp = pair(mtcars, "disp", "mpg"), qsec_hp = pair(mtcars, "hp", "qsec"),
  trees_girth = pair(trees, "Girth", "Volume"), trees_height = pair(trees, "Height", "Volume"),
  orange = pair(Orange, "age", "circumference"), loblolly = pair(Loblolly, "age", "height"),
  iris_petal = pair(iris, "Petal.Length", "Petal.Width"),
  iris_sepal = pair(iris, "Sepal.Length", "Sepal.Width"),
  ozone_temp = pair(airquality, "Temp", "Ozone"), ozone_wind = pair(airquality, "Wind", "Ozone"),
  ozone_day = pair(transform(airquality, day = seq_along(Day)), "day", "Ozone"),
  swiss = pair(swiss, "Education", "Fertility"), longley = pair(longley, "Year", "Employed"),
  stackloss = pair(stackloss, "Water.Temp", "stack.loss"),
  attitude = pair(attitude, "complaints", "rating"), rock = pair(rock, "peri", "perm"),
  quakes = pair(quakes[1:400, ], "depth", "mag"), theoph = pair(Theoph, "Time", "conc"),
  puromycin = pair(Puromycin, "conc", "rate"), dnase = pair(DNase, "conc", "density"),
  chick = pair(ChickWeight[1:200, ], "Time", "weight"),
  lake_huron = series(LakeHuron), nile = series(Nile), lynx = series(lynx),
  sunspots = series(sunspot.year), treering = series(window(treering, 1500)),
  discoveries = series(discoveries), uspop = series(uspop), airmiles = series(airmiles),
  nhtemp = series(nhtemp)
)

# the largest log evidence plus log prior of the searches that a fit was made of
reached <- function(fit) max(fit$learning$objective)

row <- function(name) {
  d <- CURVES[[name]]
  took <- system.time(fit <- sparsegp(y ~ x, d))[["user.self"]]
  kernel <- fit$kernel
  set.seed(1)
  often <- suppressWarnings(sparsegp(y ~ x, d, kernel = kernel, method = method_ep(),
                                     learn = learn_control(restarts = 10)))
  lacks <- max(reached(often), reached(fit)) - reached(fit)
  cat(sprintf("%-13s %4d rows %6.2f s  %-11s reached %9.2f  lacks %7.3f%s\n", name, nrow(d), took,
              format(kernel), reached(fit), lacks, if (lacks > 0.1) "  *" else ""))
  lacks
}

lacks <- vapply(names(CURVES), row, 0)
cat(sum(lacks <= 0.1), "of", length(lacks), "within 0.1 nats\n")
bench_row("Log evidence of the default search against ten random restarts", curves = length(lacks),
          "within 0.1 nats" = sum(lacks <= 0.1), "largest lack" = max(lacks))
