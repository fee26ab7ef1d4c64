# Skewed inputs on a log scale: scale = "log" (R/data-warp.R).

r_code_alone()

rmse <- function(p, truth) sqrt(mean((p - truth)^2))

skewed_rows <- function(n = 60L) {
  u <- (seq_len(n) * 0.618034) %% 1
  v <- (seq_len(n) * 0.414214) %% 1
  d <- data.frame(a = exp(2 * stats::qnorm(0.01 + 0.98 * u)), b = stats::qnorm(0.01 + 0.98 * v),
                  l = -exp(1.5 * stats::qnorm(0.01 + 0.98 * ((u + 3 * v) %% 1))),
                  s = as.double(seq_len(n) %% 9 == 0),
                  z = ifelse(v < 0.4, 0, (3 * (v - 0.4))^4))
  d$y <- log(d$a) + sin(d$b) + 0.3 * log1p(-d$l) + 0.3 * d$s + 0.01 * cos(37 * seq_len(n))
  d
}

log_fit <- function(d, ..., formula = y ~ ., kernel = kernel_rbf(ard = TRUE)) {
  sparsegp(formula, d, kernel = kernel, scale = "log", ...)
}

test_that("the map is as defined, increases, and the way back is exact to rounding", {
  for (side in c(1, -1)) {
    warp <- list(side = side, origin = 2.5, unit = 0.3)
    x <- matrix(c(-40, -1, 2.5 + c(-1e-9, 0, 1e-9), 3, 77, 1e6))
    z <- warp_inputs(x, warp)
    expect_equal(c(z), vapply(c(x), reference_warp, 0, side, 2.5, 0.3), tolerance = 1e-14)
    expect_true(all(diff(c(z)) > 0))
    expect_equal(unwarp_inputs(z, warp), x, tolerance = 1e-13)
    far <- warp_inputs(matrix(c(-1e308, 1e308)), warp)
    expect_true(all(is.finite(far)) && diff(c(far)) > 0)
    slope <- diff(c(warp_inputs(matrix(3 + c(-1e-5, 1e-5)), warp))) / 2e-5
    expect_equal(warp_slopes(matrix(c(2.6, 3, 9)), warp), slope, tolerance = 1e-8) # difference
  }
})

test_that("a fit is that of inputs that were transformed by hand", {
  slow_tier()
  d <- skewed_rows()
  fit <- log_fit(d)
  warp <- fit$scaling$warp
  expect_identical(warp$side, c(1, 0, -1, 0, 1))
  by_hand <- d
  inputs <- c("a", "b", "l", "s", "z")
  by_hand[inputs] <- warp_inputs(as.matrix(d[inputs]), warp)
  same <- sparsegp(y ~ ., by_hand, kernel = kernel_rbf(ard = TRUE), scale = TRUE)
  # the same numbers go through the same steps
  expect_equal(predict(fit, d, se.fit = TRUE), predict(same, by_hand, se.fit = TRUE),
               tolerance = 1e-10)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(same)), tolerance = 1e-10)
  expect_equal(coef(fit), coef(same), tolerance = 1e-10)
  classes <- log_fit(d, formula = (y > 0) ~ a + b + l)
  same <- sparsegp((d$y > 0) ~ a + b + l, by_hand, kernel = kernel_rbf(ard = TRUE), scale = TRUE)
  expect_equal(predict(classes, d, type = "prob"), predict(same, by_hand, type = "prob"),
               tolerance = 1e-10)
})

test_that("few doses that grow by factors are on a log scale, few that do not stay", {
  slow_tier()
  expect_identical(warp_of(rep(0:4, c(9, 4, 2, 1, 1)))$side, 0)
  saturated <- function(dose, half) 100 * dose / (half + dose)
  designs <- list(c(0, 1, 10, 100, 1000), c(0, 1, 10, 100), c(1, 10, 100, 1000), c(0, 1, 3, 10, 30),
                  c(0, 1e-9, 1e-8, 1e-7, 1e-6))
  for (doses in designs) {
    set.seed(1)
    half <- exp(mean(log(doses[doses > 0])))
    d <- data.frame(dose = rep(doses, each = 5L))
    d$y <- saturated(d$dose, half) + 5 * rnorm(nrow(d))
    new <- data.frame(dose = sqrt(doses[-1] * pmax(doses[-length(doses)], doses[2] / 4)))
    expect_lt(rmse(predict(sparsegp(y ~ dose, d), new), saturated(new$dose, half)), 5)
  }
})

test_that("a search on a log scale is not ended by its slope where the search before ended", {
  slow_tier()
  doses <- c(0, 10^seq(-9, -5, 0.5))
  truth <- function(dose) 5 + 90 * dose / (1e-7 + dose)
  for (seed in c(3, 11, 12)) {
    set.seed(seed)
    d <- data.frame(dose = rep(doses, each = 3L))
    d$y <- truth(d$dose) + 3 * rnorm(nrow(d))
    new <- data.frame(dose = 1.5 * doses)
    expect_lt(rmse(predict(sparsegp(y ~ dose, d), new), truth(new$dose)), 3) # before 13 to 15
  }
})

test_that("units and origin of a skewed input change nothing", {
  slow_tier()
  d <- skewed_rows()
  other <- transform(d, a = 1e6 * a - 3, l = 1e-5 * l + 2)
  # the search for the unit ends within 1e-4 of it, and moves predictions by less than its square
  mode <- gp_control(integrate = "none")
  expect_equal(predict(log_fit(d, control = mode), d),
               predict(log_fit(other, control = mode), other), tolerance = 1e-5)
  # the points of the integral over hyperparameters follow from the gradients that their search has
  # left, which are those of slightly different units
  expect_equal(predict(log_fit(d), d), predict(log_fit(other), other), tolerance = 1e-4)
})

test_that("inputs that are not skewed, vary in few values, or mean something else stay", {
  slow_tier()
  d <- skewed_rows()
  d$few <- rep(c(0, 0, 0, 0, 1, 9), 10L)
  d$constant <- 7
  d$time <- as.Date("2020-01-01") + round(d$a)
  d$kind <- factor(rep(c("p", "q", "r"), 20L))
  fit <- log_fit(d)
  expect_identical(warped_names(fit), c("a", "l", "z"))
  expect_null(sparsegp(y ~ b + s + few + kind, d, scale = "log")$scaling$warp)
  periodic <- log_fit(d, formula = y ~ a + l,
                      kernel = kernel_periodic(vars = "a") + kernel_rbf(vars = "l"))
  expect_identical(warped_names(periodic), "l")
  by_level <- log_fit(d, formula = y ~ a + kind,
                      kernel = kernel_rbf(vars = "a") * kernel_factor(vars = "kind"))
  expect_identical(warped_names(by_level), "a")
  field <- sparsegp(cbind(y, b) ~ a + l, d, kernel = kernel_divfree(), learn = FALSE, scale = "log")
  expect_null(field$scaling$warp)
  expect_null(sparsegp(y ~ a, d, scale = TRUE)$scaling$warp)
})

test_that("traces of a dose are not infinitely far from the others", {
  doses <- c(0, 0.5, 1, 2, 5, 10, 50, 100)
  gaps <- function(distance) {
    z <- log1p(distance / warp_unit(distance))
    max(diff(sort(z)[-1L])) / max(z)
  }
  expect_equal(warp_unit(rep(doses, each = 4L)), 0.25, tolerance = 1e-3)
  for (traces in list(1e-4, 1e-3, c(1e-6, 2e-6))) {
    distance <- rep(c(doses, traces), each = 4L)
    expect_lt(warp_unit(distance), 0.5)
    expect_lt(gaps(distance), 0.26) # the search ends within 0.01 of a logarithm
    expect_equal(warp_unit(1e9 * distance), 1e9 * warp_unit(distance), tolerance = 1e-3)
  }
  expect_equal(warp_unit(rep(10^(-4:3), 4L)), 5e-5, tolerance = 1e-3) # an even grid of logarithms
  slow_tier()
  set.seed(5)
  d <- data.frame(dose = rep(c(doses, 1e-4), each = 4L))
  curve <- function(dose) 10 + 40 * dose / (5 + dose)
  d$y <- curve(d$dose) + rnorm(36L, 0, 2)
  at <- data.frame(dose = c(0.1, 0.3, 0.7, 1.5, 3, 7, 20, 30, 70))
  error <- predict(sparsegp(y ~ dose, d), at) - curve(at$dose) # 5.8 with half of the least dose
  expect_lt(sqrt(mean(error^2)), 2)
})

test_that("outliers, spikes and values far outside leave everything finite", {
  slow_tier()
  d <- skewed_rows()
  d$a[3L] <- 1e300
  d$b[4L] <- -1e300
  fit <- log_fit(d)
  expect_identical(fit$scaling$warp$side[1:2], c(1, -1))
  scaled <- scaled_inputs(as.matrix(d[c("a", "b", "l", "s", "z")]), fit$scaling)
  expect_gt(length(unique(round(scaled[, 1L], 6L))), 50L) # the others are still told apart
  new <- data.frame(a = c(-1e9, 0, 1e308), b = 0, l = c(0, 1e5, -1e308), s = 0, z = c(-1, 0, 1e200))
  expect_true(all(is.finite(unlist(predict(fit, new, se.fit = TRUE)))))
  expect_true(all(is.finite(predict(log_fit(d[1:3, ], formula = y ~ a), d))))
})

test_that("saved fits, fits like it, updates and merges read the map", {
  slow_tier()
  d <- skewed_rows(90L)
  fit <- log_fit(d[1:60, ], basis = d[1:20, ], learn = FALSE)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), d), predict(fit, d))
  like <- sparsegp(control = gp_control(like = fit), data = d[61:90, ])
  expect_identical(like$scaling, fit$scaling)
  both <- merge(fit, like)
  expect_equal(predict(both, d), predict(update(fit, d[61:90, ]), d), tolerance = 1e-8)
  other <- sparsegp(y ~ ., d[1:60, ], basis = d[1:20, ], learn = FALSE, scale = TRUE)
  expect_error(merge(fit, other), "scaling", class = "sparsegp_error")
  bad_warps <- list(list(side = rep(2, 5)), list(unit = rep(-1, 5)),
                    list(origin = rep(NA_real_, 5)), list(unit = 1))
  for (bad in bad_warps) {
    broken <- fit
    broken$scaling$warp[names(bad)] <- bad
    expect_error(predict(broken, d), "scaling", class = "sparsegp_error")
  }
})

test_that("streams take the map of their pilot, and sources that of the rows in memory", {
  slow_tier()
  d <- skewed_rows(80L)
  stream <- log_fit(d, method = method_online(size = 20, pilot = 50), learn = FALSE)
  expect_identical(stream$scaling$warp[["unit"]], log_fit(d[1:50, ])$scaling$warp[["unit"]])
  expect_true(all(is.finite(predict(stream, d))))
  source <- row_source(function(i) if (i <= 4L) d[20 * i - 19:0, ], chunks = 4L)
  read <- log_fit(source, basis = d[1:20, ], learn = FALSE)
  whole <- log_fit(d, basis = d[1:20, ], learn = FALSE)
  expect_equal(predict(read, d), predict(whole, d), tolerance = 1e-8) # moments come in chunks
  some <- log_fit(source, basis = d[1:20, ], learn = learn_control(rows = 60))
  expect_identical(some$scaling$warp$side, whole$scaling$warp$side)
  expect_true(all(is.finite(predict(some, d))))
})

test_that("pictures, points and length scales are in units of the inputs", {
  slow_tier()
  d <- skewed_rows()
  fit <- log_fit(d, formula = y ~ a + b, basis = d[c(2, 9, 30, 41), ], learn = FALSE)
  expect_equal(unname(basis(fit)), unname(as.matrix(d[c(2, 9, 30, 41), c("a", "b")])),
               ignore_attr = TRUE, tolerance = 1e-12)
  drawn <- drawing(plot(fit, "a", n = 7))
  expect_gt(min(drawn$a), 0) # on a log axis there are margins on both sides
  expect_lt(min(drawn$a), min(d$a))
  expect_gt(max(drawn$a), max(d$a))
  expect_identical(min(drawing(plot(fit, c("a", "b"), n = 5))$a), min(d$a))
  at <- data.frame(a = drawn$a, b = stats::median(d$b))
  expect_equal(drawn$fit, unname(predict(fit, at)), tolerance = 1e-10)
  expect_output(print(summary(fit)), "skewed inputs on a log scale: a")
  shown <- summary(log_fit(d, formula = y ~ a + b))
  expect_output(print(shown), "at its median")
  # where the input is at its median, such a step is a length scale on the log scale, to first order
  own <- shown$fit
  step <- 1e-6 * shown$hyperparameters["lengthscale.a", "input_units"]
  at <- matrix(stats::median(d$a) + c(0, step), 2L, 2L)
  moved <- diff(scaled_inputs(at, own$scaling)[, 1L])
  expect_equal(moved / 1e-6, coef(own)[["lengthscale.a"]], tolerance = 1e-4)
})

test_that("the alternatives are offered where an input is skewed, and other words refused", {
  slow_tier()
  d <- skewed_rows()
  setup <- list(kernel = kernel_rbf(), scale = TRUE, streams = FALSE, control = NULL)
  offered <- function(columns) {
    chunk <- list(x = as.matrix(d[columns]), y = d$y, offset = numeric(60))
    input_scales(read_model(chunk, setup), chunk, setup)
  }
  expect_identical(lapply(offered(c("a", "b", "l")), `[[`, "setup"),
                   list(NULL, list(scale = "log")))
  expect_match(offered(c("a", "b", "l"))[[2L]]$label, "2 skewed inputs on a log scale")
  expect_identical(offered(c("b", "s")), list())
  for (bad in list("logarithm", c("log", "log"), NA, 1)) {
    refused(sparsegp(y ~ a, d, scale = bad), "scale")
  }
})

test_that("few doses far apart are on a log scale wherever it is better, and do not dip between", {
  slow_tier()
  doses <- c(0, 0.1, 0.3, 1, 3, 10, 30)
  between <- data.frame(dose = c(0.2, 0.6, 2, 5, 15, 20, 25))
  rising <- function(dose) exp(1 + 0.6 * log1p(dose))
  for (seed in c(1, 6, 7)) { # a gain of .2 to .6 nats
    set.seed(seed)
    d <- data.frame(dose = rep(doses, each = 3L))
    d$count <- rpois(21L, rising(d$dose))
    found <- predict(sparsegp(count ~ dose, d, "poisson"), between)
    # on the scale of the doses some are off by 8 to 20
    expect_lt(max(abs(found - rising(between$dose))), 5)
  }
})

test_that("doses just below the least one are near to it", {
  slow_tier()
  for (seed in 31:32) { # the unit is .01: by a line dose 0 is as far off as 10 000 is
    set.seed(seed)
    d <- data.frame(x = 10^runif(40, -1, 2))
    d$y <- 80 / (1 + d$x / 3) + 5 + 2 * rnorm(40)
    at <- predict(suppressWarnings(sparsegp(y ~ x, d)), data.frame(x = 0), interval = "confidence")
    expect_lt(abs(at[, "fit"] - 85), 12) # 21 and 2.6
    expect_lt(at[, "lwr"], 85)
    expect_gt(at[, "upr"], 85)
    expect_lt(at[, "upr"] - at[, "lwr"], 80) # 161
  }
})
