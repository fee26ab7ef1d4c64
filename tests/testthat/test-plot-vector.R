# Pictures of several components: what is drawn is what predict() gives, and par() stays.

r_code_alone()

swirl <- function(n = 30L) {
  set.seed(1)
  d <- data.frame(x = runif(n, 0, 3), y = runif(n, 0, 3), t = runif(n))
  transform(d, u = sin(y) + 0.1 * rnorm(n), v = cos(x) + t)
}

swirl_fit <- function(formula = cbind(u, v) ~ x + y, ...) {
  sparsegp(formula, swirl(), learn = FALSE, ...)
}

test_that("over two inputs arrows are predictions, ellipses their covariances", {
  slow_tier()
  fit <- swirl_fit(kernel = kernel_helmholtz())
  drawn <- drawing({
    before <- par()
    drawn <- plot(fit, n = 7, level = 0.9)
    after <- par()
    drawn
  })
  expect_named(drawn, c("x", "y", "u", "v", "sd.u", "sd.v", "covariance"))
  expect_identical(nrow(drawn), 49L)
  wanted <- predict(fit, drawn[1:2], se.fit = TRUE)
  # slices and predict() do the same arithmetic, up to rounding of the inputs
  expect_equal(unname(as.matrix(drawn[3:4])), unname(wanted$fit), tolerance = 1e-10)
  expect_equal(unname(as.matrix(drawn[5:6])), unname(wanted$se.fit), tolerance = 1e-10)
  expect_equal(drawn$covariance, unname(wanted$covariance[1L, 2L, ]), tolerance = 1e-8)
  kept <- c("mar", "mfrow", "cex", "pty", "xpd")
  expect_identical(before[kept], after[kept])
})

test_that("along one input every component has a curve", {
  slow_tier()
  three <- swirl_fit(cbind(u, v, w = u + v) ~ x, method = method_ep(10))
  drawn <- drawing(plot(three, n = 11))
  expect_named(drawn, c("x", paste(c("fit", "lwr", "upr"), rep(c("u", "v", "w"), each = 3L),
                                   sep = ".")))
  band <- predict(three, drawn["x"], interval = "confidence")
  expect_equal(drawn$upr.w, unname(band[, "upr", "w"]), tolerance = 1e-10)
  held <- swirl_fit(cbind(u, v) ~ x + y + t,
                    kernel = kernel_helmholtz(vars = c("x", "y")) * kernel_rbf(vars = "t"))
  drawn <- drawing(plot(held, "t", n = 5))
  middle <- swirl()[c("x", "y")]
  at <- data.frame(x = median(middle$x), y = median(middle$y), t = drawn$t)
  expect_equal(drawn$fit.u, unname(predict(held, at)[, "u"]), tolerance = 1e-10)
})

test_that("bases, missing components, streams, offsets and new rows have their picture", {
  slow_tier()
  d <- swirl()
  d$u[1:3] <- NA
  fits <- list(
    sparsegp(cbind(u, v) ~ x + y, d, method = method_ep(6), learn = FALSE),
    sparsegp(cbind(u, v) ~ x + y + offset(cbind(t, 0 * t)), d, learn = FALSE),
    sparsegp(as.matrix(d[1:2]), as.matrix(d[4:5]), learn = FALSE)
  )
  for (fit in fits) expect_identical(nrow(drawing(plot(fit, n = 5))), 25L)
  stream <- sparsegp(cbind(u, v) ~ x + y, d, method = method_online(6, pilot = 20), learn = FALSE)
  expect_identical(nrow(drawing(plot(stream, newdata = d, n = 4))), 16L)
  expect_error(drawing(plot(stream)), "newdata", class = "sparsegp_error")
  expect_s3_class(drawing(plot(fits[[1L]], "trace")), "data.frame")
})

test_that("what there is no picture of is refused", {
  refused <- function(code, argument) {
    expect_identical(tryCatch(code, sparsegp_error = function(e) e$argument), argument)
  }
  fit <- swirl_fit()
  refused(plot(fit, se = "panel"), "se")
  refused(plot(fit, type = "residuals"), "x")
  refused(plot(swirl_fit(cbind(u, v, t) ~ x + y)), "which")
})

test_that("components are drawn over a factor, level by level", {
  slow_tier()
  set.seed(1)
  d <- data.frame(g = factor(rep(c("u", "v", "w"), 10)), h = factor(rep(1:2, 15)), a = rnorm(30))
  d$p <- as.integer(d$g) + rnorm(30) / 9
  d$q <- as.integer(d$h) + rnorm(30) / 9
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  one <- sparsegp(cbind(p, q) ~ g, d, learn = FALSE)
  drawn <- plot(one)
  expect_identical(nrow(drawn), 3L)
  expect_equal(drawn$fit.p, unname(predict(one, data.frame(g = c("u", "v", "w")))[, "p"]),
               tolerance = 1e-12)
  two <- sparsegp(cbind(p, q) ~ g + h, d, learn = FALSE)
  expect_identical(names(plot(two))[1L], "g")
  expect_identical(names(plot(two, "h"))[1L], "h")
  expect_error(plot(sparsegp(cbind(p, q) ~ g + a, d, learn = FALSE), c("a", "g")),
               class = "sparsegp_error")
})
