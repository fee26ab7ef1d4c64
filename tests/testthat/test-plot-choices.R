# plot(type = "choices"): the candidates that were compared, as in a fit's data frame `choices`.

r_code_alone()

made_choices <- function() {
  data.frame(stage = rep(c("kernel", "inducing points"), c(3L, 2L)),
             candidate = c("rbf", "matern32", "linear", "150", "450"), rows = 500L,
             points = c(150L, 150L, 150L, 150L, 450L), score = c(-1.2, -1.1, -2, -1.1, NA),
             gain = NA_real_,
             se = c(0.1, 0.05, NA, 0.1, NA), taken = c(FALSE, TRUE, FALSE, TRUE, FALSE))
}

chosen_fit <- function(choices = made_choices()) {
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  fit$choices <- choices
  fit
}

test_that("candidates are drawn by stages: scores, bars of one standard error, what was taken", {
  fit <- chosen_fit()
  expect_identical(drawing(plot(fit, "choices")), fit$choices)
  charts <- choice_charts(fit, list(drawn = fit$choices), plot_style())
  expect_identical(vapply(charts, `[[`, "", "title"), c("kernel", "inducing points"))
  elements <- stats::setNames(charts[[1L]]$elements, c("bars", "others", "taken", "names"))
  expect_equal(elements$bars$data$x1 - elements$bars$data$x, c(0.2, 0.1))
  expect_equal(elements$taken$data$x, -1.1)
  expect_equal(sort(elements$others$data$x), c(-2, -1.2))
  expect_identical(elements$names$data$label, c("rbf", "matern32", "linear"))
  expect_identical(order(elements$names$data$y), 3:1) # the first candidate at the top
  # names have the left part, where no score is
  lim <- charts[[1L]]$xlim
  expect_gt(min(elements$bars$data$x, elements$others$data$x), lim[1L] + 0.3 * diff(lim))
  expect_identical(nrow(charts[[2L]]$elements[[4L]]$data), 2L) # also a candidate without a score
})

test_that("a stage that was repeated has a panel of its own, and long names have lines", {
  again <- made_choices()[c(1:5, 1:3), ]
  again$candidate[2L] <- "inputs share one scale (common units)"
  charts <- choice_charts(chosen_fit(), list(drawn = again), plot_style())
  expect_identical(vapply(charts, `[[`, "", "title"),
                   c("kernel", "inducing points", "kernel, round 2"))
  label <- charts[[1L]]$elements[[4L]]$data$label[2L]
  expect_identical(label, "inputs share one scale\n(common units)")
})

test_that("ggplot2 draws the same elements, a facet for each stage", {
  slow_tier()
  skip_if_not_installed("ggplot2")
  fit <- chosen_fit()
  drawn <- drawing({
    plot <- ggplot2::autoplot(fit, "choices")
    expect_silent(print(plot))
    ggplot2::ggplot_build(plot)
  })
  expect_identical(nrow(drawn$layout$layout), 2L)
  expect_length(drawn$data, 11L) # the key and the limits of each facet, too
  expect_equal(drawn$data[[3L]]$x, -1.1)
  expect_identical(unique(drawn$data[[3L]]$fill), BLUE)
})

test_that("a fit that chose nothing has no such picture", {
  for (choices in list(NULL, made_choices()[0L, ])) {
    expect_error(drawing(plot(chosen_fit(choices), "choices")), "chose among candidates",
                 class = "sparsegp_error")
  }
  expect_error(drawing(plot(chosen_fit(), "choices", newdata = cars)), "newdata",
               class = "sparsegp_error")
})

test_that("headings that do not fit end with dots", {
  words <- c("averaged over the", "other inputs")
  expect_identical(heading_lines(words, 2L), words)
  expect_identical(heading_lines(words, 1L), "averaged over ...")
  expect_identical(heading_lines(words, 0L), character())
  expect_identical(heading_lines("Temp", 0L), character())
  expect_identical(heading_lines(NULL, 0L), NULL)
  expect_identical(heading_lines(c("Temperature", "at 3"), 1L), "Temperature ...")
})
