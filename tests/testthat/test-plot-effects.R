# Partial dependence: what plot() draws is what predictions at all rows average to.

r_code_alone()

drawing <- function(code) {
  grDevices::pdf(NULL, 9, 7)
  on.exit(grDevices::dev.off())
  force(code)
}

effect_fit <- function(..., control = gp_control(coding = "contrasts")) {
  sparsegp(mpg ~ wt + hp + factor(cyl), mtcars, kernel = kernel_rbf(lengthscale = 2), learn = FALSE,
           likelihood = lik_gaussian(transform = "identity"),
           control = control, ...)
}

# The latent function's mean and covariance at rows of the data with some inputs replaced, averaged
# by the matrix `weights`, from predict() alone.
averaged <- function(fit, data, weights) {
  joint <- predict(fit, data, type = "latent", covariance = TRUE)
  list(mean = drop(weights %*% joint$fit), var = diag(weights %*% joint$covariance %*% t(weights)))
}

# A contrast for each place: the mean over the data with `set` there, less the mean over the data.
partial_by_hand <- function(fit, places, set) {
  stacked <- do.call(rbind, c(lapply(places, set), list(mtcars)))
  n <- nrow(mtcars)
  weights <- cbind(kronecker(diag(length(places)), t(rep(1 / n, n))),
                   matrix(-1 / n, length(places), n))
  averaged(fit, stacked, weights)
}

test_that("an effect is the average of predictions over the data, with the error of that average", {
  slow_tier()
  for (method in list(NULL, method_ep(12))) {
    fit <- effect_fit(method = method, control = gp_control(keep_x = TRUE, coding = "contrasts"))
    drawn <- drawing(plot(fit, "wt", "effects", n = 5))[["wt"]]
    by_hand <- partial_by_hand(fit, drawn$wt, function(wt) replace(mtcars, "wt", wt))
    # sums of 32 rows of numbers of size 10, in another order
    expect_equal(drawn$fit, by_hand$mean, tolerance = 1e-10)
    expect_equal((drawn$upr - drawn$fit) / qnorm(0.975), sqrt(by_hand$var), tolerance = 1e-7)
  }
})

test_that("variances of averages are those of each place, alike or not, stationary or not", {
  parts_of <- function(kernel) {
    fit_parts(sparsegp(mpg ~ wt + hp, mtcars, kernel = kernel, learn = FALSE))
  }
  all_parts <- parts_of(kernel_rbf(lengthscale = 2) + kernel_matern32() * kernel_rbf() +
                          kernel_linear())
  set.seed(4)
  others <- rnorm(5)
  alike <- cbind(rep(c(-1, 0, 2), each = 5), rep(others, 3))
  different <- alike
  different[7, 2] <- different[7, 2] + 1
  for (parts in list(all_parts[1:2], all_parts)) {
    kernel <- parts_kernel(parts)
    expect_identical(kernel$stationary, length(parts) == 2L)
    for (x in list(alike, different)) {
      by_hand <- vapply(0:2, function(place) {
        own <- x[5 * place + 1:5, ]
        mean(kernel$cross(own, own))
      }, 0)
      # the order of the sums is the same, but for differences of inputs, rounded once
      expect_equal(prior_of_averages(kernel, x, 5L), by_hand, tolerance = 1e-14)
    }
  }
  expect_true(lie_alike(alike, 5L))
  expect_false(lie_alike(different, 5L))
})

test_that("the effect of a factor has a row for each level, and replaces all of its columns", {
  fit <- effect_fit(control = gp_control(keep_x = TRUE, coding = "contrasts"))
  drawn <- drawing(plot(fit, "factor(cyl)", "effects"))[[1L]]
  by_hand <- partial_by_hand(fit, c(4, 6, 8), function(cyl) replace(mtcars, "cyl", cyl))
  expect_identical(as.character(drawn[[1L]]), c("4", "6", "8"))
  expect_equal(drawn$fit, by_hand$mean, tolerance = 1e-10)
})

test_that("three inputs and one latent function are drawn as effects, others as before", {
  slow_tier()
  fit <- effect_fit()
  expect_named(drawing(plot(fit)), c("wt", "hp", "factor(cyl)"), ignore.order = TRUE)
  expect_named(drawing(plot(fit, c("wt", "hp"))), c("wt", "hp", "fit", "se", "known"))
  two <- sparsegp(mpg ~ wt + hp, mtcars, kernel = kernel_rbf(), learn = FALSE)
  expect_identical(drawing(plot(two, n = 5)), drawing(plot(two, type = "fit", n = 5)))
  classes <- sparsegp(Species ~ ., iris[1:50 * 3, ], kernel = kernel_rbf(), learn = FALSE)
  expect_s3_class(drawing(plot(classes, n = 5)), "data.frame") # a map
  effects <- drawing(plot(classes, "effects", n = 3))
  expect_setequal(names(effects), names(iris)[1:4])
  expect_identical(nrow(effects[[1L]]), 9L) # of three classes
})

test_that("rows whose own curves differ from the average show an interaction, and others do not", {
  slow_tier()
  set.seed(1)
  d <- data.frame(a = runif(80), b = runif(80), c = runif(80))
  d$y <- sin(3 * d$a) + d$b
  gap <- function(fit) {
    drawn <- drawing(plot(fit, "a", "effects", n = 9))[["a"]]
    max(drawn$rows_upr - drawn$rows_lwr) / diff(range(drawn$fit))
  }
  additive <- kernel_rbf(vars = "a") + kernel_rbf(vars = c("b", "c"))
  # curves of an additive model are parallel but for rounding
  expect_lt(gap(sparsegp(y ~ a + b + c, d, kernel = additive, learn = FALSE)), 1e-8)
  d$y <- d$a * (d$b > 0.5)
  expect_gt(gap(sparsegp(y ~ a + b + c, d, kernel = kernel_rbf(), learn = FALSE)), 0.3)
})

test_that("ggplot2 draws the same effects", {
  slow_tier()
  skip_if_not_installed("ggplot2")
  fit <- effect_fit()
  expect_s3_class(ggplot2::autoplot(fit), "ggplot")
})

test_that("inputs that a fit has not are refused", {
  expect_error(drawing(plot(effect_fit(), "speed", "effects")), "which", class = "sparsegp_error")
  expect_error(drawing(plot(effect_fit(), c("wt", "wt"), "effects")), "which",
               class = "sparsegp_error")
})

test_that("panels that are asked for at once are those asked for one by one", {
  slow_tier()
  for (integrate in c("none", "ccd")) {
    fit <- sparsegp(mpg ~ wt + hp + factor(cyl), mtcars, kernel = kernel_rbf(ard = TRUE),
                    control = gp_control(integrate = integrate))
    together <- drawing(plot(fit, type = "effects", n = 5))
    for (input in names(together)) {
      # products of matrices of other sizes, of numbers of size 10
      expect_equal(drawing(plot(fit, input, "effects", n = 5))[[1L]], together[[input]],
                   tolerance = 1e-10, info = input)
    }
  }
})

test_that("no block of places is of two panels, and blocks are in the order of places", {
  for (points in c(1, EFFECT_NUMBERS / 2, Inf)) {
    blocks <- effect_blocks(12L, c(5L, 3L, 4L), 2L, points)
    expect_identical(unlist(blocks), 1:12)
    panel <- rep(1:3, c(5, 3, 4))
    expect_true(all(vapply(blocks, function(at) length(unique(panel[at])), 0L) == 1L))
  }
  expect_identical(effect_blocks(3L, NULL, 1L, 1), list(1:3))
})

test_that("averages over rows of the basis are those over any rows", {
  kernel <- parts_kernel(fit_parts(effect_fit()))
  set.seed(5)
  basis <- matrix(rnorm(28), 7)
  x <- matrix(rnorm(24), 6)
  for (rows in list(basis, basis[c(6, 2), ], basis[1:2, ] + 1e-9, matrix(rnorm(8), 2))) {
    average <- average_rows(kernel$cross(x, basis), 3L)
    by_hand <- c(mean(kernel$cross(x[1:3, ], rows)), mean(kernel$cross(x[4:6, ], rows)))
    # sums of some numbers up to 1, in another order
    expect_equal(averages_with(kernel, basis, rows)(x, average, 3L), by_hand, tolerance = 1e-14)
  }
})
