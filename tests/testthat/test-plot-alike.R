# plot() and autoplot() draw one list of elements, in every type and of every kind of response.

r_code_alone()

skip_if_not_installed("ggplot2")

# Fits of every kind of response: functions, so that each is made when its turn comes.
ALIKE <- list(
  numbers = function() sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE,
                                kernel = kernel_rbf(vars = "wt") + kernel_rbf(vars = "hp")),
  inputs = function() sparsegp(mpg ~ wt + hp + qsec, mtcars, learn = FALSE),
  groups = function() sparsegp(len ~ dose + supp, ToothGrowth, learn = FALSE),
  basis = function() sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE, method = method_ep(8)),
  series = function() sparsegp(y ~ day, data.frame(day = as.Date("2020-01-01") + 1:30,
                                                   y = sin(1:30)),
                               learn = FALSE, kernel = kernel_rbf() + kernel_linear()),
  counts = function() sparsegp(breaks ~ wool + tension, warpbreaks, "poisson", learn = FALSE),
  trials = function() sparsegp(cbind(ncases, ncontrols) ~ agegp, esoph, learn = FALSE),
  labels = function() sparsegp(am ~ wt + hp, mtcars, "probit", learn = FALSE),
  classes = function() sparsegp(Species ~ Sepal.Width + Petal.Width, iris[1:37 * 4, ],
                                learn = FALSE),
  ordered = function() sparsegp(ordered(gear) ~ wt + hp, mtcars, learn = FALSE),
  times = function() {
    lung <- survival::lung[1:60, ]
    sparsegp(survival::Surv(time, status) ~ age, lung, "weibull", learn = FALSE)
  },
  outputs = function() sparsegp(cbind(mpg, qsec) ~ wt, mtcars, learn = FALSE),
  field = function() {
    d <- data.frame(a = rep(1:4, 4), b = rep(1:4, each = 4))
    d <- transform(d, u = sin(a), v = cos(b))
    sparsegp(cbind(u, v) ~ a + b, d, learn = FALSE)
  },
  stream = function() sparsegp(dist ~ speed, cars, method = method_online(10), learn = FALSE)
)

# Returns the charts of a type as plot() and as autoplot() have them, and the ggplots.
pictures_of <- function(fit, name) {
  asked <- list(which = NULL, type = name, newdata = NULL, level = 0.95, n = 7L, by = NULL,
                se = NULL, ahead = NULL)
  asked <- match_plot_args(fit, asked)
  asked$style <- plot_style()
  type <- tryCatch(offered_type(fit, name, "object"), sparsegp_error = function(e) NULL)
  if (is.null(type)) return(NULL)
  set.seed(1) # residuals of labels are randomised
  picture <- tryCatch(suppressMessages(type$picture(fit, asked)),
                      sparsegp_error = function(e) NULL)
  if (is.null(picture)) return(NULL)
  set.seed(1)
  made <- suppressMessages(ggplot2::autoplot(fit, type = name, n = 7))
  list(base = type$charts(fit, picture, asked$style),
       auto = type$charts(fit, picture, auto_style()),
       made = if (inherits(made, "ggplot")) list(made) else unname(made))
}

# Does a layer of ggplot2 have the data of an element, in as many of its columns as it keeps?
holds <- function(layer, data) {
  names <- intersect(names(data), names(layer$data))
  length(names) > 0L && nrow(layer$data) == nrow(data) &&
    isTRUE(all.equal(as.list(layer$data[names]), as.list(data[names]), check.attributes = FALSE))
}

# Expects that ggplots hold every element of the charts. Bands and contours have other scales where
# several charts share them; the tips of arrows are places; facets along factors are moved.
expect_held <- function(charts, made, info) {
  if (length(made) < length(charts)) charts <- apart_along_x(charts)
  layers <- unlist(lapply(made, `[[`, "layers"), recursive = FALSE)
  layers <- Filter(function(layer) is.data.frame(layer$data), layers)
  elements <- unlist(lapply(unname(charts), `[[`, "elements"), recursive = FALSE)
  for (element in elements) {
    data <- element$data
    if (nrow(data) < 2L || element$kind %in% c("bands", "contours")) next
    if (element$kind == "arrows") data <- data[stats::complete.cases(data), c("x", "y")]
    expect_true(any(vapply(layers, holds, NA, data)), info = paste(info, element$kind))
  }
}

# Draws a ggplot into nothing.
drawn_by_ggplot <- function(made) drawing(print(made))

test_that("plot() and autoplot() show the same elements in every type", {
  slow_tier()
  skip_if_not_installed("survival")
  for (kind in of_tier(names(ALIKE), 2L)) {
    fit <- suppressMessages(ALIKE[[kind]]())
    for (name in plot_types()) {
      seen <- pictures_of(fit, name)
      if (is.null(seen)) next
      info <- paste(kind, name)
      expect_identical(lapply(seen$auto, `[[`, "elements"), lapply(seen$base, `[[`, "elements"),
                       info = info)
      expect_held(seen$base, seen$made, info)
    }
  }
})

test_that("a ggplot has the limits that plot() has, and those that are asked for", {
  memory_tier()
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  limits <- function(...) {
    made <- ggplot2::autoplot(fit, ...)
    made$coordinates$limits
  }
  picture <- pictures_of(fit, "fit")
  expect_equal(limits()$y, as.double(picture$base[[1L]]$ylim))
  expect_equal(limits(type = "reliability", ylim = c(0, 0.5))$y, c(0, 0.5))
})

test_that("rows to ask for by ggplot2 have the elements of plot()", {
  slow_tier()
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  map <- sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)
  many <- sparsegp(mpg ~ wt + hp + qsec, mtcars, learn = FALSE)
  found <- list(line = next_rows(fit, data.frame(speed = c(4:25, 25)), k = 3),
                map = next_rows(map, mtcars[1:9, ], k = 2),
                scores = next_rows(many, mtcars[1:9, ], k = 2))
  for (name in names(found)) {
    charts <- next_picture(found[[name]], NULL, auto_style())$charts
    expect_true("discs" %in% vapply(charts[[1L]]$elements, `[[`, "", "kind"), info = name)
    expect_held(charts, list(ggplot2::autoplot(found[[name]])), name)
    expect_no_error(drawn_by_ggplot(ggplot2::autoplot(found[[name]])))
  }
  expect_error(ggplot2::autoplot(found$map, bins = 3), class = "sparsegp_error")
})

test_that("densities and calibrations by ggplot2 have the elements of plot()", {
  slow_tier()
  densities <- list(curve = gp_density(faithful$eruptions, k0 = 3),
                    map = gp_density(as.matrix(faithful[1:60, ]), k0 = 2))
  for (name in names(densities)) {
    chart <- density_chart(densities[[name]], 0.9, 9L, plot_style())$chart
    made <- ggplot2::autoplot(densities[[name]], level = 0.9, n = 9)
    expect_s3_class(made, "ggplot")
    expect_held(list(chart), list(made), name)
  }
  wide <- gp_density(as.matrix(iris[1:20, 1:3]), k0 = 1)
  expect_error(ggplot2::autoplot(wide), "`object`", class = "sparsegp_error")
  fits <- list(intervals = ALIKE$numbers(), probabilities = ALIKE$labels(),
               outputs = ALIKE$outputs())
  for (name in names(fits)) {
    found <- calibration(fits[[name]])
    charts <- calibration_charts(found, plot_style())
    expect_identical(lapply(calibration_charts(found, auto_style()), `[[`, "elements"),
                     lapply(charts, `[[`, "elements"), info = name)
    expect_held(charts, list(ggplot2::autoplot(found)), name)
    expect_no_error(drawn_by_ggplot(ggplot2::autoplot(found)))
  }
  expect_error(ggplot2::autoplot(found, bins = 3), class = "sparsegp_error")
})

test_that("facets of a ggplot stand in the order of plot()'s panels", {
  memory_tier()
  fit <- sparsegp(mpg ~ wt + hp + qsec, mtcars, learn = FALSE)
  names <- vapply(pictures_of(fit, "effects")$base, `[[`, "", "y")
  seen <- ggplot2::ggplot_build(ggplot2::autoplot(fit))$layout$layout$chart
  expect_identical(as.character(seen), unname(names))
})
