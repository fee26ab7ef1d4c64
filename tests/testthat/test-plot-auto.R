# autoplot(): what plot() draws, by ggplot2.

r_code_alone()

skip_if_not_installed("ggplot2")

# Builds and draws every layer, which is where ggplot2 finds what is wrong, without a word. It is
# what print() does, which does not return what it has built.
built <- function(plot) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_s3_class(plot, "ggplot")
  expect_silent({
    made <- ggplot2::ggplot_build(plot)
    grid::grid.draw(ggplot2::ggplot_gtable(made))
  })
  made
}

test_that("a curve of ggplot2 is that of plot()", {
  slow_tier()
  fit <- sparsegp(len ~ dose + supp, ToothGrowth, learn = FALSE)
  made <- built(ggplot2::autoplot(fit, n = 5))
  grDevices::pdf(NULL)
  drawn <- plot(fit, n = 5)
  grDevices::dev.off()
  lines <- Filter(function(layer) nrow(layer) == 5L && is.null(layer$fill), made$data)
  expect_equal(unlist(lapply(lines, `[[`, "y")), drawn$fit[order(drawn$supp, drawn$dose)])
  expect_error(ggplot2::autoplot(fit, "weight"), class = "sparsegp_error")
  expect_error(ggplot2::autoplot(fit, theme = 1), class = "sparsegp_error")
})

test_that("every type is drawn, of numbers, counts and classes", {
  slow_tier()
  days <- data.frame(day = as.Date("2020-01-01") + 1:30, y = sin(1:30))
  fits <- list(
    sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE,
             kernel = kernel_rbf(vars = "wt") + kernel_rbf(vars = c("wt", "hp"))),
    sparsegp(breaks ~ wool + tension, warpbreaks, "poisson", learn = FALSE),
    sparsegp(am ~ wt + hp, mtcars, "probit", learn = FALSE),
    sparsegp(Species ~ Sepal.Width + Petal.Width, iris[seq(1, 150, 4), ], learn = FALSE),
    sparsegp(y ~ day, days, learn = FALSE, kernel = kernel_rbf() + kernel_linear()),
    sparsegp(weight ~ Time + Chick, as.data.frame(ChickWeight)[1:120, ], learn = FALSE,
             kernel = kernel_rbf() + kernel_rbf() * kernel_factor("Chick", fixed(1)))
  )
  for (fit in fits) {
    built(ggplot2::autoplot(fit))
    built(ggplot2::autoplot(fit, 1))
    for (type in setdiff(plot_types(), "fit")) {
      plot <- tryCatch(ggplot2::autoplot(fit, type = type), sparsegp_error = function(e) NULL)
      if (inherits(plot, "ggplot")) built(plot) else lapply(plot, built)
    }
  }
  built(ggplot2::autoplot(fits[[1L]], se = "panel"))
  expect_length(ggplot2::autoplot(fits[[1L]], "terms"), 2L)
  cars <- transform(mtcars, gear = factor(gear), am = factor(am))
  map <- sparsegp(mpg ~ wt + hp + am, cars, learn = FALSE)
  for (se in c("contour", "panel")) {
    made <- built(ggplot2::autoplot(map, c("wt", "hp"), by = "am", se = se, n = 5))
    expect_identical(nrow(made$layout$layout), if (se == "panel") 4L else 2L)
  }
  classes <- sparsegp(gear ~ wt + hp + am, cars, learn = FALSE)
  for (which in list("wt", c("wt", "hp"))) {
    made <- built(ggplot2::autoplot(classes, which, by = "am", n = 5))
    expect_identical(nrow(made$layout$layout), 2L)
  }
})

test_that("maps of ggplot2 have the colours, symbols and labels of those of plot()", {
  slow_tier()
  cars <- transform(mtcars, kind = factor(am, labels = c("automatic", "manual")))
  fit <- sparsegp(kind ~ wt + hp, cars, "probit", learn = FALSE)
  made <- built(ggplot2::autoplot(fit, n = 21))
  fill <- made$plot$scales$get_scales("fill")
  expect_identical(toupper(fill$map(c(0.05, 0.95))), toupper(CLASS_RAMP[c(1L, 10L)]))
  of_rows <- function(layer) nrow(layer) == 32L && all(c("shape", "fill") %in% names(layer))
  points <- Filter(of_rows, made$data)
  drawn <- points[[length(points)]]
  at <- order(drawn$x, drawn$y)
  wanted <- cars[order(cars$wt, cars$hp), "kind"]
  expect_identical(drawn$fill[at], paste0(CLASS_COLOURS, "FF")[as.integer(wanted)])
  expect_identical(drawn$shape[at], c(21, 24)[as.integer(wanted)])
  # rows of a regression are filled by their response, contours of the error have labels
  fit <- sparsegp(mpg ~ wt + hp + qsec + drat, mtcars, learn = FALSE)
  made <- built(ggplot2::autoplot(fit, type = "fit", n = 21))
  points <- Find(function(layer) identical(unique(layer$shape), 21), made$data)
  expect_gt(length(unique(points$fill)), 3L)
  expect_true(any(vapply(made$data, function(layer) {
    "label" %in% names(layer) && all(layer$colour == ORANGE)
  }, NA)))
  expect_true(all(nchar(strsplit(made$plot$labels$caption, "\n")[[1L]]) <= 60L))
})

test_that("a map with areas far from data is drawn, and one that does not vary", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + hp, mtcars, method = method_ep(8), learn = FALSE)
  picture <- fit_picture(fit, list(level = 0.95, n = 21, style = plot_style()))
  expect_false(all(picture$drawn$known))
  made <- built(ggplot2::autoplot(fit, n = 21))
  expect_true(any(vapply(made$data, function(layer) identical(unique(layer$fill), MASK), NA)))
  d <- data.frame(x = 1:12, y = rep(1:4, 3L), z = 5 + 1e-15 * (1:12))
  flat <- suppressWarnings(sparsegp(z ~ x + y, d, learn = FALSE, scale = FALSE))
  built(ggplot2::autoplot(flat, n = 9))
})

test_that("axes of ggplot2 are logarithmic where those of plot() are", {
  slow_tier()
  d <- data.frame(dose = rep(c(1, 2, 5, 10, 50, 400), 3), g = rep(c("a", "b"), each = 9))
  d$y <- exp(log(d$dose) / 2 + rep(-1:1, 6) / 9 + 2 * (d$g == "a"))
  fit <- sparsegp(y ~ dose + g, d, lik_gaussian(transform = "log"), scale = "log", learn = FALSE)
  made <- built(ggplot2::autoplot(fit, n = 5))
  scales <- made$layout$panel_params[[1L]]
  expect_equal(scales$x.range, grDevices::extendrange(log10(c(1, 400)), f = 0.04),
               tolerance = 1e-10)
  expect_true(scales$y.range[2L] > log10(max(d$y)) && scales$y.range[1L] < log10(min(d$y)))
  linear <- built(ggplot2::autoplot(fit, n = 5, log = ""))$layout$panel_params[[1L]]
  expect_gt(linear$x.range[2L], 399)
  facets <- transform(d, h = rep(letters[1:5], length.out = 18))
  many <- sparsegp(y ~ dose + h, facets, learn = FALSE)
  expect_equal(built(ggplot2::autoplot(many, "dose", by = "h", n = 5, log = "x",
                                       xlim = c(2, 200)))$layout$panel_params[[1L]]$x.range,
               log10(c(2, 200)), tolerance = 1e-10)
  # without a place on the axis: rows at 0 are left out without a warning
  zero <- sparsegp(y ~ dose, rbind(d, data.frame(dose = 0, g = "a", y = 1)), learn = FALSE)
  built(ggplot2::autoplot(zero, n = 5, log = "x", xlim = c(1, 500)))
  refused(ggplot2::autoplot(zero, n = 5, log = "x"), "log")
  refused(ggplot2::autoplot(zero, log = "y"), "log")
})
