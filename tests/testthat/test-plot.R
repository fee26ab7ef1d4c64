# Evaluates `code` with a device open that keeps nothing.

r_code_alone()

fit_cars <- function(...) sparsegp(dist ~ speed, cars, learn = FALSE, ...)

fit_gears <- function(formula = am ~ wt, ...) {
  sparsegp(formula, mtcars, likelihood = "probit", learn = FALSE, ...)
}

# What a fit with rows beside its basis looks like to plot(): the posterior is the same.
as_if_sparse <- function(fit) {
  fit$basis_rows <- rev(fit$basis_rows)
  fit
}

# Slices and predict() do the same arithmetic, up to rounding of the inputs.
ROUNDING <- 1e-10

test_that("a regression curve is what predict() gives, its mean inside both bands", {
  fit <- fit_cars()
  drawn <- drawing(plot(fit, level = 0.9, n = 11))
  expect_named(drawn, c("speed", "fit", "lwr", "upr", "new_lwr", "new_upr"))
  expect_equal(nrow(drawn), 11)
  expect_true(min(drawn$speed) < min(cars$speed) && max(drawn$speed) > max(cars$speed))
  mean <- predict(fit, drawn["speed"], interval = "confidence", level = 0.9)
  new <- predict(fit, drawn["speed"], interval = "prediction", level = 0.9)
  expect_equal(drawn$fit, unname(mean[, "fit"]), tolerance = ROUNDING)
  expect_equal(drawn$upr, unname(mean[, "upr"]), tolerance = ROUNDING)
  expect_equal(drawn$new_lwr, unname(new[, "lwr"]), tolerance = ROUNDING)
  with(drawn, expect_true(all(new_lwr < lwr & lwr < fit & fit < upr & upr < new_upr)))
})

test_that("a probability curve is what predict() gives, in [0, 1] and inside its band", {
  for (likelihood in c("probit", "logit")) {
    fit <- sparsegp(am ~ wt, mtcars, likelihood = likelihood, learn = FALSE)
    drawn <- drawing(plot(fit, n = 15))
    expect_named(drawn, c("wt", "fit", "lwr", "upr"))
    expect_true(all(drawn$lwr >= 0 & drawn$upr <= 1))
    expect_true(all(drawn$fit > drawn$lwr & drawn$fit < drawn$upr))
    expect_equal(drawn$fit, unname(predict(fit, drawn["wt"])), tolerance = ROUNDING)
  }
})

test_that("two inputs give a grid of what predict() gives", {
  slow_tier()
  fit <- fit_gears(am ~ wt + hp)
  drawn <- drawing(plot(fit, n = 9))
  expect_named(drawn, c("wt", "hp", "fit", "se", "known"))
  expect_equal(nrow(drawn), 81)
  expect_true(all(drawn$fit >= 0 & drawn$fit <= 1))
  expect_equal(drawn$fit, unname(predict(fit, drawn)), tolerance = ROUNDING)
  fit <- sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)
  drawn <- drawing(plot(fit, n = 5, xlim = c(1, 7), ylim = c(0, 400)))
  expect_equal(c(range(drawn$wt), range(drawn$hp)), c(1, 7, 0, 400))
  expect_equal(drawn$fit, unname(predict(fit, drawn)), tolerance = ROUNDING)
})

test_that("inputs that are no axes stay at medians, factors at their most common level", {
  slow_tier()
  data <- transform(mtcars, cyl = factor(cyl), vs = vs == 1)
  held <- data.frame(cyl = factor(8, levels(data$cyl)), vs = FALSE)
  for (coding in c("contr.treatment", "contr.sum")) {
    old <- options(contrasts = c(coding, "contr.poly"))
    fit <- sparsegp(mpg ~ wt + cyl + hp + vs, data, learn = FALSE)
    options(old)
    drawn <- drawing(plot(fit, "wt", n = 7))
    same <- predict(fit, data.frame(wt = drawn$wt, hp = median(data$hp), held))
    expect_equal(drawn$fit, unname(same), tolerance = ROUNDING)
    expect_named(drawing(plot(fit, type = "fit", n = 3))[1:3], c("wt", "hp", "fit"))
  }
})

test_that("a factor's column can be asked for, beside its reference level", {
  slow_tier()
  data <- transform(mtcars, cyl = factor(cyl))
  fit <- sparsegp(mpg ~ wt + cyl, data, control = gp_control(coding = "contrasts"), learn = FALSE)
  drawn <- drawing(plot(fit, "cyl6", n = 2, xlim = c(0, 1)))
  same <- predict(fit, data.frame(wt = median(data$wt), cyl = factor(c(4, 6), c(4, 6, 8))))
  expect_equal(drawn$fit, unname(same), tolerance = ROUNDING)
})

test_that("columns that follow from the axes follow them", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt * hp + I(wt^2), mtcars, learn = FALSE)
  drawn <- drawing(plot(fit, n = 4))
  expect_named(drawn[1:3], c("wt", "hp", "fit"))
  expect_equal(drawn$fit, unname(predict(fit, drawn)), tolerance = ROUNDING)
})

test_that("names that need backticks are plain on axes, alone and in products and powers", {
  slow_tier()
  data <- stats::setNames(mtcars[c("mpg", "wt", "hp")], c("mpg", "w t", "h p"))
  data$`f g` <- factor(mtcars$gear)
  fit <- sparsegp(mpg ~ `w t` * `h p` + I(`w t`^2) + `f g`, data, learn = FALSE)
  drawn <- drawing(plot(fit, c("w t", "h p"), n = 3))
  expect_named(drawn[1:3], c("w t", "h p", "fit"))
  same <- predict(fit, cbind(drawn, `f g` = factor(3, 3:5)))
  expect_equal(drawn$fit, unname(same), tolerance = ROUNDING)
})

test_that("an offset stays at its median", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + offset(-hp / 50), mtcars, learn = FALSE)
  drawn <- drawing(plot(fit, n = 5))
  same <- predict(fit, data.frame(wt = drawn$wt, hp = median(mtcars$hp)))
  expect_equal(drawn$fit, unname(same), tolerance = ROUNDING)
})

test_that("the axes are those along which the function moves most, or those asked for", {
  slow_tier()
  x <- as.matrix(mtcars[c("wt", "hp", "qsec", "drat")])
  kernel <- kernel_rbf(lengthscale = c(3, 1, 9, 2), ard = TRUE)
  fit <- sparsegp(x, mtcars$mpg, kernel = kernel, learn = FALSE)
  expect_named(drawing(plot(fit, type = "fit", n = 2))[1:3], c("wt", "hp", "fit"))
  fit <- sparsegp(x, mtcars$mpg, learn = FALSE)
  expect_named(drawing(plot(fit, type = "fit", n = 2))[1:3], c("wt", "hp", "fit"))
  expect_named(drawing(plot(fit, c(4, 1), n = 2))[1:3], c("drat", "wt", "fit"))
})

test_that("a constant input is left out, and asking for it is an error", {
  slow_tier()
  fit <- sparsegp(cbind(a = 1, b = cars$speed), cars$dist, learn = FALSE)
  expect_named(drawing(plot(fit))[1], "b")
  expect_error(drawing(plot(fit, "a")), "constant", class = "sparsegp_error")
})

test_that("rows, ranges and medians come from newdata when it is given", {
  fit <- fit_cars()
  drawn <- drawing(plot(fit, newdata = data.frame(speed = c(30, NA, 40), dist = c(1, 2, 3))))
  expect_true(min(drawn$speed) > 29 && max(drawn$speed) < 41)
  fit <- sparsegp(cars$speed, cars$dist, learn = FALSE)
  drawn <- drawing(plot(fit, newdata = list(x = c(30, 40), y = 1:2)))
  expect_true(min(drawn$x1) > 29)
})

test_that("sparse fits of one and two inputs are drawn with their basis", {
  slow_tier()
  fit <- as_if_sparse(fit_cars())
  expect_s3_class(drawing(plot(fit)), "data.frame")
  fit <- as_if_sparse(fit_gears(am ~ wt + hp))
  expect_s3_class(drawing(plot(fit)), "data.frame")
})

test_that("a fit that keeps no rows asks for newdata, and is drawn with it", {
  slow_tier()
  half <- sparsegp(dist ~ speed, cars[1:25, ], basis = cars[c(3, 12, 21), ],
                   control = gp_control(keep_x = FALSE))
  fit <- update(half, cars[26:50, ])
  expect_error(drawing(plot(fit)), class = "sparsegp_error")
  expect_error(drawing(plot(fit, type = "reliability")), class = "sparsegp_error")
  expect_s3_class(drawing(plot(fit, newdata = cars)), "data.frame")
  expect_equal(nrow(drawing(plot(fit, newdata = cars, type = "reliability"))), 99)
})

test_that("the trace has a row per sweep and ends at the fit's log evidence", {
  slow_tier()
  fit <- fit_gears(am ~ wt + hp)
  drawn <- drawing(plot(fit, type = "trace"))
  expect_equal(drawn$sweep, seq_len(fit$convergence$sweeps))
  # the last sweep moves the evidence by the square of the tolerance 1e-6 only
  expect_equal(drawn$log_evidence[nrow(drawn)], fit$log_evidence, tolerance = 1e-8)
  expect_lte(drawn$change[nrow(drawn)], fit$options$tol)
})

test_that("the trace of a single sweep is drawn, in the response's units", {
  slow_tier()
  fit <- fit_cars()
  drawn <- drawing(plot(fit, type = "trace"))
  expect_equal(drawn$sweep, 1)
  expect_equal(drawn$log_evidence, fit$log_evidence)
  fit$convergence$trace$change <- 0
  expect_equal(drawing(plot(fit, type = "trace"))$change, 0)
})

test_that("reliability bins hold every row once, with the observed frequency in its interval", {
  fit <- fit_gears(am ~ wt + hp)
  for (n in list(NULL, 2, 4)) {
    drawn <- drawing(plot(fit, type = "reliability", n = n))
    expect_equal(sum(drawn$rows), nrow(mtcars))
    expect_true(all(drawn$rows > 0 & diff(c(-Inf, drawn$predicted)) > 0))
    expect_true(all(0 <= drawn$lwr & drawn$lwr <= drawn$observed))
    expect_true(all(drawn$observed <= drawn$upr & drawn$upr <= 1))
    expect_equal(sum(drawn$rows * drawn$observed), sum(mtcars$am))
  }
})

test_that("reliability intervals are those of binom.test()", {
  slow_tier()
  drawn <- drawing(plot(fit_gears(), type = "reliability", n = 4, level = 0.9))
  hits <- round(drawn$rows * drawn$observed)
  for (i in seq_len(nrow(drawn))) {
    exact <- stats::binom.test(hits[i], drawn$rows[i], conf.level = 0.9)$conf.int
    expect_equal(c(drawn$lwr[i], drawn$upr[i]), exact[1:2])
  }
})

test_that("reliability for newdata uses predicted probabilities, ties in one bin", {
  slow_tier()
  fit <- fit_gears()
  new <- mtcars[rep(c(3, 17), c(30, 50)), ]
  drawn <- drawing(plot(fit, type = "reliability", newdata = new))
  expect_equal(drawn$rows, c(50, 30))
  expect_equal(drawn$predicted, unname(predict(fit, mtcars[c(17, 3), ])))
  expect_equal(drawn$observed, c(0, 1))
  one <- drawing(plot(fit, type = "reliability", newdata = mtcars[3, ]))
  expect_equal(one$rows, 1)
})

test_that("coverage is that of refitting without each row, for Gaussian noise with weights", {
  slow_tier()
  weights <- rep(c(1, 4), 25)
  fit <- sparsegp(dist ~ speed, cars, weights = weights, learn = FALSE, scale = FALSE)
  drawn <- drawing(plot(fit, type = "reliability", n = 9))
  expect_equal(drawn$nominal, (1:9) / 10)
  expect_true(all(drawn$lwr <= drawn$nominal & drawn$nominal <= drawn$upr))
  # the removed constant and the unit of the response come from all rows, as in the cavities
  value <- coef(fit)
  covariance <- value[["variance"]] *
    exp(-outer(cars$speed, cars$speed, "-")^2 / (2 * value[["lengthscale"]]^2))
  y <- cars$dist - weighted.mean(cars$dist, weights)
  noisy <- covariance + diag(value[["noise"]] / weights)
  inside <- vapply(seq_along(y), function(i) {
    gain <- solve(noisy[-i, -i], covariance[-i, i])
    sd <- sqrt(noisy[i, i] - sum(gain * covariance[-i, i]))
    abs(2 * pnorm(y[i], sum(gain * y[-i]), sd) - 1)
  }, 0)
  expect_equal(drawn$observed, vapply((1:9) / 10, function(p) mean(inside <= p), 0))
})

test_that("par() is as it was, and panels follow a caller's layout", {
  slow_tier()
  drawing({
    par(mfrow = c(2, 2), mar = c(4, 4, 2, 1))
    before <- par(no.readonly = TRUE)
    plot(fit_cars())
    plot(fit_gears(am ~ wt + hp), main = "Gears")
    plot(fit_gears(), type = "trace")
    expect_equal(par("mfg"), c(2, 1, 2, 2))
    plot(fit_gears(), type = "reliability")
    after <- par(no.readonly = TRUE)
    # what every new panel sets: its place and its coordinates
    moves <- c("usr", "xaxp", "yaxp", "mfg", "fig", "plt", "fin", "pin")
    kept <- setdiff(names(before), moves)
    expect_equal(after[kept], before[kept])
  })
})

test_that("a caller can add to a panel in the data's coordinates", {
  slow_tier()
  drawing({
    plot(fit_cars(), xlim = c(0, 50), ylim = c(-100, 200))
    expect_equal(par("usr"), c(0, 50, -100, 200))
  })
})

test_that("plots draw with every title and symbol argument, and in narrow panels", {
  slow_tier()
  fit <- fit_gears(am ~ wt + hp)
  drawing({
    expect_silent(plot(fit, xlab = "a", ylab = "b", main = "c", sub = "d", pch = 1:2, cex = 2,
                       col = c("red", "blue"), las = 0, bty = "n", lwd = 1))
    expect_silent(plot(fit, axes = FALSE, ann = FALSE))
    expect_silent(plot(fit, main = NULL, xlim = NULL))
    par(mfrow = c(3, 5), mar = c(2, 2, 0, 0))
    expect_silent(plot(fit))
    expect_silent(plot(fit, "wt", type = "fit"))
    expect_silent(plot(fit_cars(), xlim = c(40, 0)))
  })
})

test_that("extreme units and flat surfaces are drawn without a word", {
  slow_tier()
  drawing({
    expect_silent(plot(sparsegp(cars$speed * 1e-150, cars$dist * 1e100, learn = FALSE)))
    expect_warning(flat <- sparsegp(cbind(a = 1:6, b = c(2, 1, 4, 3, 6, 5)), rep(5, 6),
                                    learn = FALSE), "does not vary", class = "sparsegp_warning")
    expect_silent(plot(flat))
    expect_silent(plot(flat, type = "reliability"))
  })
})

test_that("bad arguments are errors of class sparsegp_error", {
  slow_tier()
  fit <- fit_gears(am ~ wt + hp)
  matrix_fit <- sparsegp(cars$speed, cars$dist, learn = FALSE)
  bad <- function(...) expect_error(drawing(plot(fit, ...)), class = "sparsegp_error")
  bad("weight")
  bad(3)
  bad(0)
  bad(c("wt", "wt"))
  bad(c("wt", "hp", "am"))
  bad(NA)
  bad("wt", type = "trace")
  bad(type = "link")
  bad(level = 1)
  bad(n = 1)
  bad(log = "x")
  bad("wt", "fit", NULL, 0.95, 50, "unnamed")
  bad(xlim = c(1, 1))
  bad(ylim = "a")
  bad(newdata = mtcars, type = "trace")
  bad(newdata = mtcars["wt"])
  bad(newdata = mtcars[c("am", "wt")])
  bad(newdata = as.matrix(mtcars))
  bad(newdata = transform(mtcars, am = "yes"))
  bad(newdata = transform(mtcars, wt = NA_real_), type = "reliability")
  bad(newdata = transform(mtcars, wt = Inf))
  bad_matrix <- function(newdata) {
    expect_error(drawing(plot(matrix_fit, newdata = newdata)), class = "sparsegp_error")
  }
  bad_matrix(cars)
  bad_matrix(list(x = 1:3))
  bad_matrix(list(x = 1:3, y = 1:2))
  bad_matrix(list(x = 1:3, y = c("a", "b", "c")))
})

test_that("an unknown input is named, with those that exist", {
  expect_error(drawing(plot(fit_gears(am ~ wt + hp), "weight")), "weight.*wt, hp")
})

test_that("levels are found by their coding, whatever the contrasts, and through rounding", {
  slow_tier()
  for (count in c(2L, 5L, 60L)) {
    codings <- list(contr.treatment(count), contr.sum(count), contr.helmert(count),
                    contr.poly(count), diag(count))
    for (coding in codings) {
      coding <- as.matrix(coding)
      colnames(coding) <- paste0("f", seq_len(ncol(coding)))
      at <- c(rep(seq_len(count), 3L), 1L)
      x <- cbind(other = 1, coding[at, , drop = FALSE] * (1 + 1e-12))
      expect_identical(nearest_level(coding, x), at)
    }
  }
})

test_that("of factors alone those are drawn of which a picture can show every level", {
  slow_tier()
  axes <- lapply(c(a = 1900, b = 6, c = 850, d = 2, e = 3), function(n) list(levels = 1:n))
  expect_identical(factors_to_draw(axes), c("b", "d"))
  expect_identical(factors_to_draw(axes[c("a", "c")]), "c")
  set.seed(1)
  d <- data.frame(y = rnorm(600), s = factor(rep(1:300, 2)), g = factor(rep(1:2, 300)))
  fit <- sparsegp(y ~ ., d, learn = FALSE)
  drawn <- drawing(plot(fit))
  expect_identical(names(drawn)[1], "g")
})

test_that("every type of picture has its section in the help page, and no section lacks a type", {
  page <- paste(readLines(file.path(source_folder("man"), "plot.sparsegp.Rd")), collapse = " ")
  found <- regmatches(page, gregexpr("section\\{Type \"[a-z]+\"", page))[[1L]]
  expect_setequal(gsub(".*\"([a-z]+)\"", "\\1", found), plot_types())
})

test_that("arguments without meaning for a type are refused by what the type takes", {
  slow_tier()
  fit <- fit_cars()
  values <- list(which = 1, newdata = cars, by = "a", se = "none", ahead = 1)
  for (type in plot_types()) {
    for (name in setdiff(names(values), registered("plots", type)$takes)) {
      expect_error(drawing(do.call(plot, c(list(fit, type = type), values[name]))),
                   paste0("`", name, "` is not used"), class = "sparsegp_error")
    }
  }
})

test_that("curves of more groups than a key has room for have names, as many as can be read", {
  slow_tier()
  drawn <- data.frame(x = rep(0:1, each = 30), g = factor(rep(1:30, 2)), fit = c(1:30, 30:1))
  found <- group_names(structure(list(), class = "axis_number"), drawn)$data
  expect_true(all(found$x == 1))
  expect_equal(found$y, 31 - as.integer(found$label)) # each at the end of its own curve
  expect_setequal(range(found$y), c(1, 30))
  expect_gt(min(diff(sort(found$y))), 29 / 20) # 20 lines of letters in a panel
  expect_gt(nrow(found), 10)
})
