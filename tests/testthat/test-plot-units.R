# Units and labels of variables on the axes of pictures.

r_code_alone()

# The charts that plot() draws: what base graphics and ggplot2 both make their axes of.
charts_of <- function(fit, ...) {
  asked <- match_plot_args(fit, list(level = 0.95, n = 5L, ...))
  asked$style <- plot_style()
  type <- offered_type(fit, asked$type, "x")
  type$charts(fit, type$picture(fit, asked), asked$style)
}

axes_of <- function(...) unlist(charts_of(...)[[1L]][c("x", "y")], use.names = FALSE)

cars_with <- function(dist, speed) {
  data <- cars[seq(1L, 50L, 3L), ]
  attributes(data$dist) <- dist
  attributes(data$speed) <- speed
  data
}

test_that("units and labels in attributes are on axes, with rows left out as well", {
  data <- cars_with(list(label = "Stopping distance", units = "ft"), list(units = "mph"))
  fit <- sparsegp(dist ~ speed, data, learn = FALSE)
  expect_identical(axes_of(fit), c("speed (mph)", "Stopping distance (ft)"))
  missing <- data
  missing$speed[3L] <- NA # for which na.omit() drops the attributes
  expect_identical(axes_of(sparsegp(dist ~ speed, missing, learn = FALSE)),
                   c("speed (mph)", "Stopping distance (ft)"))
  expect_identical(axes_of(sparsegp(log(dist) ~ poly(speed, 2), data, learn = FALSE)),
                   c("speed (mph)", "log(dist)"))
  long <- cars_with(list(label = strrep("a", 61), units = "ft"), list(label = NA, units = ""))
  expect_identical(axes_of(sparsegp(dist ~ speed, long, learn = FALSE)), c("speed", "dist (ft)"))
  none <- sparsegp(dist ~ speed, cars[1:9, ], learn = FALSE)
  expect_identical(axes_of(none), c("speed", "dist"))
})

test_that("maps, parts and all other types have them", {
  slow_tier()
  data <- transform(mtcars[1:20, ], wt = structure(wt, units = "1000 lb"),
                    hp = structure(hp, label = "Power"), mpg = structure(mpg, units = "mi/gal"))
  fit <- sparsegp(mpg ~ wt + hp, data, learn = FALSE,
                  kernel = kernel_rbf(vars = "wt") + kernel_rbf(vars = "hp"))
  expect_identical(axes_of(fit), c("wt (1000 lb)", "Power"))
  expect_identical(axes_of(fit, type = "terms")[1L], "wt (1000 lb)")
  expect_match(axes_of(fit, type = "loo"), "mpg (mi/gal)", fixed = TRUE, all = FALSE)
  two <- sparsegp(cbind(mpg, qsec) ~ wt, data, learn = FALSE)
  expect_identical(axes_of(two), c("wt (1000 lb)", "mpg (mi/gal), qsec"))
})

test_that("differences of time have their unit", {
  data <- data.frame(age = as.difftime(1:12, units = "weeks"), y = sin(1:12))
  expect_identical(axes_of(sparsegp(y ~ age, data, learn = FALSE)), c("age (weeks)", "y"))
})

test_that("columns of package units have theirs, also where it is not loaded", {
  slow_tier()
  # as units::set_units() stores them
  in_units <- function(x, above, below = character()) {
    unit <- structure(list(numerator = above, denominator = below), class = "symbolic_units")
    structure(x, units = unit, class = "units")
  }
  expect_identical(title_of(in_units(1, "m", c("s", "s")), "a"), "a (m/s^2)")
  expect_identical(title_of(in_units(1, c("kg", "m"), c("s", "K")), "a"), "a (kg m/(s K))")
  expect_identical(title_of(in_units(1, character(), "s"), "a"), "a (1/s)")
  expect_null(title_of(in_units(1, character()), "a")) # a pure number
  skip_if_not_installed("units")
  data <- transform(cars, speed = units::set_units(speed, "m/s"),
                    dist = units::set_units(dist, "m"))
  expect_identical(axes_of(sparsegp(dist ~ speed, data, learn = FALSE)),
                   c("speed (m/s)", "dist (m)"))
})

test_that("labelled columns of haven have theirs", {
  slow_tier()
  skip_if_not_installed("haven")
  data <- data.frame(
    age = haven::labelled(as.double(20:39), label = "Age of the mother"),
    weight = haven::labelled(sin(20:39), c(low = 0), label = "Weight at birth")
  )
  expect_identical(axes_of(sparsegp(weight ~ age, data, learn = FALSE)),
                   c("Age of the mother", "Weight at birth"))
})

test_that("ggplot2 has the same axes", {
  slow_tier()
  skip_if_not_installed("ggplot2")
  data <- cars_with(list(label = "Stopping distance", units = "ft"), list(units = "mph"))
  fit <- sparsegp(dist ~ speed, data, learn = FALSE)
  labels <- ggplot2::autoplot(fit, n = 5)$labels
  expect_identical(c(labels$x, labels$y), c("speed (mph)", "Stopping distance (ft)"))
})

test_that("ordered categories have colours from light to dark, in points, curves and maps", {
  slow_tier()
  # relative luminance of sRGB: ITU-R BT.709 weights of linear channels
  luminance <- function(colours) {
    rgb <- grDevices::col2rgb(colours) / 255
    linear <- ifelse(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4)
    drop(c(0.2126, 0.7152, 0.0722) %*% linear)
  }
  for (count in 2:9) {
    expect_true(all(diff(luminance(ordered_colours(count))) < 0))
    # on white: WCAG's contrast, (1.05) / (L + 0.05), of the lightest is above 2.4
    expect_gt(1.05 / (luminance(ordered_colours(count))[1L] + 0.05), 2.4)
  }
  data <- transform(mtcars, gear = factor(gear, ordered = TRUE))
  grades <- sparsegp(gear ~ wt + hp, data, learn = FALSE)
  expect_identical(palette_of(grades), ordered_colours(3L))
  key <- charts_of(grades)[[1L]]$key
  expect_identical(vapply(key[1:3], `[[`, "", "col"), ordered_colours(3L))
  by <- sparsegp(mpg ~ wt + gear, data, learn = FALSE)
  key <- charts_of(by)[[1L]]$key[-1L] # the name of the factor
  expect_identical(vapply(key[1:3], `[[`, "", "col"), ordered_colours(3L))
  plain <- sparsegp(mpg ~ wt + gear, transform(mtcars, gear = factor(gear)), learn = FALSE)
  key <- charts_of(plain)[[1L]]$key[-1L]
  expect_identical(vapply(key[1:3], `[[`, "", "col"), CLASS_COLOURS[1:3])
})
