# The picture of slopes: what is drawn is what slopes() says.

r_code_alone()

drawn_slopes_of <- function(...) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(..., type = "slope")
}

test_that("what is drawn along an input is what slopes() has there", {
  fit <- sparsegp(mpg ~ poly(wt, 2) + hp, mtcars, kernel = kernel_rbf(lengthscale = 2),
                  learn = FALSE)
  drawn <- drawn_slopes_of(fit, n = 5)
  expect_setequal(names(drawn), c("wt", "hp"))
  at <- data.frame(wt = drawn$wt$wt, hp = median(mtcars$hp))
  found <- slopes(fit, at, "wt")
  # derivatives of poly() are differences
  expect_equal(drawn$wt$fit, found$estimate, tolerance = 1e-6)
  expect_equal(drawn$wt$lwr, found$conf.low, tolerance = 1e-6)
  expect_equal(drawn$wt$upr, found$conf.high, tolerance = 1e-6)
})

test_that("levels of a factor and classes have a curve each", {
  slow_tier()
  fit <- sparsegp(len ~ dose + supp, ToothGrowth, kernel = kernel_rbf(), learn = FALSE)
  drawn <- drawn_slopes_of(fit, by = "supp", n = 4)[[1L]]
  expect_identical(levels(drawn$supp), c("OJ", "VC"))
  found <- slopes(fit, data.frame(dose = drawn$dose, supp = drawn$supp), "dose")
  expect_equal(drawn$fit, found$estimate, tolerance = 1e-10)
  classes <- sparsegp(Species ~ Petal.Length, iris[1:50 * 3, ], kernel = kernel_rbf(),
                      learn = FALSE)
  drawn <- drawn_slopes_of(classes, n = 3)[[1L]]
  found <- slopes(classes, data.frame(Petal.Length = drawn$Petal.Length[1:3]))
  expect_equal(drawn$fit, found$estimate, tolerance = 1e-6)
})

test_that("pictures that there are not are refused in words, and ggplot2 draws the others", {
  fit <- sparsegp(len ~ supp, ToothGrowth, kernel = kernel_rbf(), learn = FALSE)
  expect_error(drawn_slopes_of(fit), "inputs that are numbers", class = "sparsegp_error")
  fit <- sparsegp(len ~ dose + supp, ToothGrowth, kernel = kernel_rbf(), learn = FALSE)
  expect_error(drawn_slopes_of(fit, "supp"), "factors", class = "sparsegp_error")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(fit, type = "slope"), "ggplot")
})
