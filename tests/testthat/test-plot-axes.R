# Logarithmic axes, and levels of several factors.

r_code_alone()

drawn_on <- function(expr) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  force(expr)
  list(log = graphics::par("xlog"), usr = graphics::par("usr"))
}

test_that("a curve along a positive number has a logarithmic axis", {
  memory_tier()
  d <- data.frame(dose = rep(c(1, 2, 5, 10, 50, 100), 3))
  d$y <- 40 * d$dose / (5 + d$dose) + rep(-1:1, 6)
  fit <- sparsegp(y ~ dose, d, learn = FALSE)
  page <- drawn_on(drawn <- plot(fit, log = "x", n = 7))
  expect_true(page$log)
  expect_equal(page$usr[1:2], log10(range(drawn$dose)), tolerance = 1e-10)
  steps <- diff(log(drawn$dose))
  expect_equal(steps, rep(steps[1L], 6), tolerance = 1e-10)
  expect_equal(drawn$fit, unname(predict(fit, drawn["dose"])), tolerance = 1e-10)
  page <- drawn_on(drawn <- plot(fit, log = "x", xlim = c(0.1, 10), n = 3))
  expect_equal(drawn$dose, c(0.1, 1, 10), tolerance = 1e-10)
  expect_false(drawn_on(plot(fit, log = "", n = 3))$log)
  for (log in list("y", "xy", 1, NA, c("x", "x"))) {
    expect_error(drawn_on(plot(fit, log = log)), "must be \"x\"", class = "sparsegp_error")
  }
  labels <- sparsegp(y > 20 ~ dose, d, learn = FALSE)
  expect_true(drawn_on(plot(labels, log = "x", n = 3))$log)
})

test_that("a control of dose 0 needs limits, and rows beyond them are left out silently", {
  d <- data.frame(dose = rep(c(0, 1, 5, 50), 3), y = 1:12)
  fit <- sparsegp(y ~ dose, d, learn = FALSE)
  expect_error(drawn_on(plot(fit, log = "x")), "dose has others", class = "sparsegp_error")
  expect_silent(page <- drawn_on(plot(fit, log = "x", xlim = c(0.5, 60), n = 3)))
  expect_true(page$log)
  refused(drawn_on(plot(fit, type = "residuals", log = "x")), "log")
  maps <- sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)
  refused(drawn_on(plot(maps, log = "x")), "log")
  expect_true(drawn_on(plot(maps, "hp", log = "x", n = 3))$log)
  groups <- sparsegp(len ~ factor(dose), ToothGrowth, learn = FALSE)
  refused(drawn_on(plot(groups, log = "x")), "log")
})

test_that("combinations of several factors have a curve each", {
  memory_tier()
  d <- transform(mtcars, am = factor(am), gear = factor(gear), vs = factor(vs))
  fit <- sparsegp(mpg ~ wt + am + vs + hp, d, learn = FALSE)
  drawn_on(drawn <- plot(fit, "wt", by = c("am", "vs"), n = 3))
  expect_identical(names(drawn)[2L], "am, vs")
  expect_identical(levels(drawn[[2L]]), c("0, 0", "1, 0", "0, 1", "1, 1"))
  at <- data.frame(wt = drawn$wt, hp = median(d$hp),
                   am = sub(",.*", "", drawn[[2L]]), vs = sub(".*, ", "", drawn[[2L]]))
  expect_equal(drawn$fit, unname(predict(fit, at)), tolerance = 1e-8)
  coded <- sparsegp(mpg ~ wt + am + gear, d, learn = FALSE,
                    control = gp_control(coding = "contrasts"))
  drawn_on(drawn <- plot(coded, "wt", by = c("gear", "am"), n = 2))
  at <- data.frame(wt = drawn$wt, gear = sub(",.*", "", drawn[[2L]]),
                   am = sub(".*, ", "", drawn[[2L]]))
  expect_equal(drawn$fit, unname(predict(coded, at)), tolerance = 1e-8)
  refused(drawn_on(plot(fit, "wt", by = c("am", "am"))), "by")
  refused(drawn_on(plot(fit, "wt", by = c("am", "hp"))), "by")
  refused(drawn_on(plot(fit, "wt", by = character())), "by")
})
