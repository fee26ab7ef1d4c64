r_code_alone()

waves <- function(n, seed = 7) {
  set.seed(seed)
  d <- data.frame(x = runif(n, -2, 2))
  d$y <- 5 + 3 * sin(2 * d$x) + 0.5 * rnorm(n)
  d$count <- rpois(n, exp(1 + d$x / 2))
  d
}

calibrated <- function(fit, newdata, level = 0.9, ...) {
  predict(fit, newdata, interval = "jackknife+", level = level, ...)
}

# A fit with everything given; its leave-one-out fits are then this of fewer rows.
given_fit <- function(d, ...) {
  sparsegp(y ~ x, d, kernel = kernel_rbf(7, 0.9), likelihood = lik_gaussian(variance = 0.3),
           learn = FALSE, mean = "zero", scale = FALSE, ...)
}

# The interval by its definition, from a fit without each row.
by_refits <- function(d, new, level, ...) {
  moments <- function(fit, rows) {
    p <- predict(fit, rows, interval = "prediction", level = 0.5)
    list(mean = p[, "fit"], sd = (p[, "upr"] - p[, "fit"]) / qnorm(0.75))
  }
  reached <- lapply(seq_len(nrow(d)), function(i) {
    fit <- given_fit(d[-i, ], ...)
    own <- moments(fit, d[i, ])
    there <- moments(fit, new)
    reach <- abs(d$y[i] - own$mean) / own$sd * there$sd
    list(low = there$mean - reach, high = there$mean + reach)
  })
  rank <- floor((1 - level) * (nrow(d) + 1))
  side <- function(name) matrix(unlist(lapply(reached, `[[`, name)), nrow(new))
  cbind(lwr = apply(side("low"), 1, function(v) sort(v)[rank]),
        upr = apply(side("high"), 1, function(v) sort(v, decreasing = TRUE)[rank]))
}

test_that("intervals are those of fits without each row, by full EP and on a basis", {
  memory_tier()
  d <- waves(24)
  new <- data.frame(x = c(-3, 0.1, 1, 6))
  # Rounding of matrices of 24 rows
  bounds <- c("lwr", "upr")
  expect_equal(calibrated(given_fit(d), new)[, bounds], by_refits(d, new, 0.9), tolerance = 1e-8,
               ignore_attr = TRUE)
  basis <- data.frame(x = c(-1.5, -0.5, 0.5, 1.5))
  expect_equal(calibrated(given_fit(d, basis = basis), new)[, bounds],
               by_refits(d, new, 0.9, basis = basis), tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("a Markov posterior gives the intervals of full EP", {
  slow_tier()
  d <- waves(30)
  new <- data.frame(x = c(-1, 0, 3))
  fits <- lapply(list(method_markov(), method_ep()), function(method) {
    sparsegp(y ~ x, d, kernel = kernel_matern32(5, 1), learn = FALSE, method = method)
  })
  # The same posterior by other arithmetic
  expect_equal(calibrated(fits[[1]], new), calibrated(fits[[2]], new), tolerance = 1e-6)
})

test_that("an integrated fit, weights, offsets and missing rows have intervals", {
  slow_tier()
  d <- waves(30)
  d$w <- rep(1:3, 10)
  new <- data.frame(x = c(-1, NA, 0.5, 9), w = 1)
  integrated <- sparsegp(y ~ x, d, control = gp_control(integrate = "ccd"))
  expect_false(is.null(integrated$ensemble))
  bounds <- calibrated(integrated, new)
  expect_identical(dimnames(bounds), list(as.character(1:4), c("fit", "lwr", "upr")))
  expect_true(all(is.na(bounds[2, ])))
  expect_identical(bounds[, "fit"], predict(integrated, new))
  expect_true(all(bounds[-2, "lwr"] < bounds[-2, "fit"] & bounds[-2, "fit"] < bounds[-2, "upr"]))
  whole <- calibrated(integrated, new[rep(c(1, 3), 400), ])
  expect_equal(whole[1:2, ], bounds[c(1, 3), ], tolerance = 1e-12, ignore_attr = TRUE)
  expect_named(calibrated(integrated, new, se.fit = TRUE), c("fit", "se.fit"))
  weighted <- sparsegp(y ~ x, d, weights = w, learn = FALSE)
  width <- function(w) {
    bounds <- calibrated(weighted, new[1, ], weights = w)
    unname(bounds[, "upr"] - bounds[, "lwr"])
  }
  expect_lt(width(4), width(1)) # a mean of four responses has less noise
  shifted <- sparsegp(y ~ x + offset(100 * x), transform(d, y = y + 100 * x), learn = FALSE)
  plain <- sparsegp(y ~ x, d, learn = FALSE)
  expect_equal(calibrated(shifted, new) - 100 * new$x, calibrated(plain, new), tolerance = 1e-6)
})

test_that("methods that keep rows have intervals, and no rows none", {
  slow_tier()
  d <- waves(40)
  new <- data.frame(x = c(-1, 0, 1))
  whole <- calibrated(sparsegp(y ~ x, d, learn = FALSE), new)
  for (method in list(method_ep(8), method_ep(8, projection = "kl"), method_ivm(8),
                      method_ep(power = 0.5))) {
    # Eight points carry a sine of some three periods to a few hundredths
    expect_equal(calibrated(sparsegp(y ~ x, d, learn = FALSE, method = method), new), whole,
                 tolerance = 0.05)
  }
  some <- sparsegp(y ~ x, d, learn = FALSE, method = method_ivm(12, refine = "none"))
  expect_true(all(is.finite(calibrated(some, new))))
  expect_identical(dim(calibrated(some, new[0, , drop = FALSE])), c(0L, 3L))
  expect_identical(dim(calibrated(some, new[1, , drop = FALSE])), c(1L, 3L))
  kept <- sparsegp(y ~ x, transform(d, y = replace(y, 3, NA)), na.action = na.exclude,
                   learn = FALSE)
  own <- predict(kept, interval = "jackknife+", level = 0.9)
  expect_identical(which(is.na(own[, "lwr"])), c("3" = 3L))
  more <- update(sparsegp(y ~ x, d[-1, ], learn = FALSE, method = method_ep(8)), d[1, ])
  expect_equal(calibrated(more, new), whole, tolerance = 0.05)
})

test_that("coverage holds where the model's own noise is held far too small", {
  slow_tier()
  held <- vapply(1:5, function(seed) {
    d <- waves(60, seed)
    new <- waves(400, 100 + seed)
    wrong <- sparsegp(y ~ x, d, likelihood = lik_gaussian(variance = fixed(0.02)),
                      kernel = kernel_rbf())
    own <- predict(wrong, new, interval = "prediction", level = 0.9)
    both <- list(own, calibrated(wrong, new))
    vapply(both, function(b) mean(new$y >= b[, "lwr"] & new$y <= b[, "upr"]), 0)
  }, numeric(2))
  # The mean of five runs of 60 rows has a standard error of about .015
  expect_lt(mean(held[1, ]), 0.82)
  expect_gt(mean(held[2, ]), 0.85)
})

test_that("ends are responses: whole counts, proportions of trials, within the scale's domain", {
  slow_tier()
  d <- waves(40)
  new <- data.frame(x = seq(-4, 4, length.out = 9))
  counts <- calibrated(sparsegp(count ~ x, d, likelihood = "poisson"), new)
  ends <- counts[, c("lwr", "upr")]
  expect_identical(ends, round(ends))
  expect_true(all(ends[, 1] >= 0 & ends[, 1] <= ends[, 2]))
  d$trials <- 8
  d$proportion <- rbinom(40, 8, plogis(d$x)) / 8
  shares <- sparsegp(proportion ~ x, d, weights = trials, likelihood = "binomial")
  ends <- calibrated(shares, new, weights = 4)[, c("lwr", "upr")]
  expect_equal(4 * ends, round(4 * ends), tolerance = 1e-12)
  expect_true(all(ends >= 0 & ends <= 1 & ends[, 1] <= ends[, 2]))
  d$positive <- exp(d$y / 3)
  for (fit in list(sparsegp(positive ~ x, d, lik_gaussian(transform = "sqrt"), learn = FALSE),
                   sparsegp(positive ~ x, d, likelihood = "gamma", learn = FALSE))) {
    bounds <- calibrated(fit, new)
    expect_true(all(bounds[, "lwr"] >= 0 & bounds[, "lwr"] < bounds[, "upr"]))
  }
  d$inside <- plogis(d$y - 5)
  bounds <- calibrated(sparsegp(inside ~ x, d, likelihood = "beta", learn = FALSE), new)
  expect_true(all(bounds >= 0 & bounds <= 1))
})

test_that("counts in an interval without a whole number are the nearest", {
  expect_identical(whole_ends(list(c(0.2, -3, 1.2), c(0.4, -2, 3.1)), 1),
                   list(c(0, 0, 2), c(0, 0, 3)))
  expect_equal(whole_ends(list(0.26, 0.3), 0.25), list(0.25, 0.25))
})

test_that("a level that needs more rows has no ends, with a warning", {
  slow_tier()
  d <- waves(18)
  fit <- given_fit(d)
  expect_warning(bounds <- calibrated(fit, d[1:2, ], level = 0.95), "at least 19 rows")
  expect_identical(unname(bounds[, c("lwr", "upr")]), matrix(c(-Inf, -Inf, Inf, Inf), 2))
  expect_silent(calibrated(given_fit(waves(19)), d[1:2, ], level = 0.95))
})

test_that("what has no such intervals is an error in words", {
  slow_tier()
  d <- waves(20)
  fit <- given_fit(d)
  refused <- function(code, pattern) {
    expect_error(code, paste0("`interval` .*", pattern), class = "sparsegp_error")
  }
  refused(predict(fit, d, type = "link", interval = "jackknife+"), "not defined for type")
  refused(predict(fit, d, interval = "split"), "choices")
  two <- sparsegp(y ~ x, d, likelihood = lik_heteroscedastic(), learn = FALSE)
  refused(calibrated(two, d), "mean and spread")
  components <- sparsegp(cbind(y, count) ~ x, d, learn = FALSE)
  refused(calibrated(components, d), "components")
  ordered <- sparsegp(factor(pmin(count, 3), ordered = TRUE) ~ x, d, likelihood = "ordinal",
                      learn = FALSE)
  refused(calibrated(ordered, d), "ordered")
  times <- sparsegp(survival::Surv(exp(y), count > 0) ~ x, d, learn = FALSE)
  refused(calibrated(times, d), "times")
  on_log <- sparsegp(y ~ x, d, lik_gaussian(transform = "log"), learn = FALSE)
  without <- sparsegp(y ~ x + count, d, method = method_ep(6), learn = FALSE,
                      control = gp_control(keep_x = FALSE))
  refused(calibrated(without, d), "inputs")
  averaged <- new_ensemble(list(fit, on_log), c(0.5, 0.5), fixed = TRUE)
  refused(calibrated(averaged, d), "averages")
})
