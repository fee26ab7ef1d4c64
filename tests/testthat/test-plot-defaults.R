# What plot() chooses by itself: axes, levels of nested factors, bands, symbols of censored times.

r_code_alone()

shown_by <- function(...) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(...)
}

# The chart as it is described, before it is drawn
chart_of <- function(fit, which, by = NULL) {
  asked <- list(style = plot_style(), n = 9L, level = 0.9)
  rows <- training_rows(fit)
  view <- slice_view(fit, rows, which, by)
  shown <- rows_beside(fit, rows, view)
  picture <- list(view = view, shown = shown, level = 0.9)
  picture$drawn <- curve_frame(fit, view, shown, asked)
  regression_chart(fit, picture, asked$style)
}

kinds_in <- function(chart) vapply(chart$elements, `[[`, "", "kind")

test_that("the two inputs along which the function moves most are the axes", {
  slow_tier()
  d <- data.frame(a = sin(1:60), b = cos(3 * 1:60), c = sin(5 * 1:60), d = cos(7 * 1:60))
  d$y <- 3 * d$d + 2 * sin(2 * d$b) + 0.1 * d$a
  for (response in c("y", "I(y > 0)", "cut(y, 3)", "round(exp(y))")) {
    fit <- sparsegp(stats::reformulate(c("a", "b", "c", "d"), response), d,
                    kernel = kernel_rbf(ard = TRUE, lengthscale = c(5, 1, 9, 1.5)), learn = FALSE)
    expect_setequal(names(shown_by(fit, n = 5))[1:2], c("b", "d"))
  }
  # an isotropic kernel has no length scales that would tell
  same <- sparsegp(y ~ a + b + c + d, d, kernel = kernel_rbf(lengthscale = 2), learn = FALSE)
  expect_setequal(names(shown_by(same, n = 5))[1:2], c("b", "d"))
  # no more than two numbers stay as they are
  expect_setequal(names(shown_by(update(same, y ~ a + c), n = 5))[1:2], c("a", "c"))
})

test_that("factors within which `by` or the axis is nested have the level of each group", {
  slow_tier()
  fit <- sparsegp(uptake ~ conc + Type + Treatment + Plant, CO2, kernel = kernel_rbf(),
                  control = gp_control(coding = "levels"), learn = FALSE)
  own <- CO2[!duplicated(CO2$Plant), ]
  for (drawn in list(shown_by(fit, "conc", by = "Plant", n = 4), shown_by(fit, "Plant"))) {
    at <- own[match(drawn$Plant, own$Plant), ]
    at$conc <- drawn$conc %||% stats::median(CO2$conc)
    expect_equal(drawn$fit, unname(predict(fit, at)), tolerance = 1e-10)
  }
  expect_match(chart_of(fit, "conc", "Plant")$title, "Type as in each Plant")
  # a factor that is crossed with `by` stays at one level
  drawn <- shown_by(fit, "conc", by = "Type", n = 4)
  crossed <- slice_view(fit, training_rows(fit), "conc", "Type")
  expect_identical(vapply(crossed$nested, function(one) one$held$name, ""), "Plant")
  expect_match(crossed$caption, "Treatment at nonchilled")
})

test_that("more than three bands are left out, and colours have the name of their factor", {
  slow_tier()
  d <- data.frame(x = rep(1:12, 5) / 3, g = factor(rep(1:5, each = 12)))
  d$y <- sin(d$x) + as.integer(d$g)
  for (count in c(3L, 4L)) {
    some <- droplevels(d[as.integer(d$g) <= count, ])
    fit <- sparsegp(y ~ x + g, some, kernel = kernel_rbf(), learn = FALSE,
                    control = gp_control(coding = "levels"))
    chart <- chart_of(fit, "x", "g")
    expect_identical("band" %in% kinds_in(chart), count <= 3L)
    expect_identical(chart$key[[1L]]$label, "g:")
    labels <- vapply(Filter(Negate(is.null), chart$key), `[[`, "", "label")
    expect_identical("90% for the mean" %in% labels, count <= 3L)
    expect_true("bars" %in% kinds_in(chart_of(fit, "g")))
  }
})

test_that("censored times have open symbols beside a curve of medians", {
  slow_tier()
  skip_if_not_installed("survival")
  d <- data.frame(x = 1:40 / 10)
  d$time <- exp(1 + d$x / 3 + sin(13 * 1:40))
  d$status <- as.integer(cos(7 * 1:40) > -0.5)
  fit <- sparsegp(survival::Surv(time, status) ~ x, d, learn = FALSE, kernel = kernel_rbf())
  drawn <- shown_by(fit, "x", n = 5)
  expect_equal(drawn$fit, unname(predict(fit, drawn, type = "median")), tolerance = 1e-10)
  chart <- chart_of(fit, "x")
  points <- chart$elements[kinds_in(chart) == "points"]
  expect_identical(vapply(points, function(one) nrow(one$data), 0L),
                   c(sum(d$status == 1), sum(d$status == 0)))
  expect_identical(unique(points[[2L]]$look$pch), 24L)
  expect_identical(chart$y, "time")
  expect_true("censored" %in% vapply(chart$key, `[[`, "", "label"))
  # of events alone there is nothing to open
  expect_length(chart_of(update(fit, survival::Surv(time) ~ .), "x")$key, 3L)
})

test_that("of equally common levels the one with the median response is typical", {
  y <- c(5, 1, 3, 5, 1, 3)
  expect_identical(common_level(rep(1:3, 2), 3L, y, first = FALSE), 3L)
  expect_identical(common_level(rep(1:3, 2), 3L, y), 1L) # few levels have a reference
  expect_identical(common_level(c(1, 2, 2), 3L, 1:3, first = FALSE), 2L)
  expect_identical(common_level(rep(1:2, 2), 2L, NULL, first = FALSE), 1L)
})

test_that("`by` takes a number of few values, and a picture for each level has one key", {
  fit <- sparsegp(mpg ~ wt + am + hp, mtcars, structure = "fixed", learn = FALSE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(fit, "wt", by = "am")
  expect_identical(levels(drawn$am), c("0", "1"))
  at <- data.frame(wt = drawn$wt[1:3], am = 0, hp = median(mtcars$hp))
  expect_equal(drawn$fit[1:3], unname(predict(fit, at)), tolerance = 1e-8)
  asked <- list(newdata = NULL, which = c("wt", "hp"), by = "am", n = 5L, level = 0.9, se = NULL,
                style = sparsegp:::plot_style())
  picture <- sparsegp:::fit_picture(fit, asked)
  charts <- sparsegp:::with_keys_once(sparsegp:::fit_charts(fit, picture, asked$style))
  expect_identical(vapply(charts, function(chart) chart$strip$level, ""), c("0", "1"))
  expect_identical(lengths(lapply(charts, `[[`, "key")) > 0L, c(TRUE, FALSE))
  expect_true(charts[[1L]]$strip$wide)
  expect_error(plot(fit, "wt", by = "hp"), "numbers of at most 8 values", class = "sparsegp_error")
})
