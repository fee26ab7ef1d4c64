# Pictures that tell the truth with several inputs: what is drawn is what predict() says there.

r_code_alone()

ROUNDING <- 1e-10

teeth <- function(...) sparsegp(len ~ supp + dose, ToothGrowth, learn = FALSE, ...)

test_that("a factor has an axis of its own, with what predict() says at each level", {
  slow_tier()
  data <- transform(mtcars, cyl = factor(cyl))
  fit <- sparsegp(mpg ~ wt + cyl, data, learn = FALSE)
  drawn <- drawing(plot(fit, "cyl"))
  expect_identical(drawn$cyl, factor(c(4, 6, 8)))
  held <- data.frame(wt = median(data$wt), cyl = drawn$cyl)
  expect_equal(drawn$fit, unname(predict(fit, held)), tolerance = ROUNDING)
  expect_equal(drawing(plot(fit, 2))$fit, drawn$fit) # the number of one of its columns
  only <- sparsegp(am ~ cyl, data, "probit", learn = FALSE)
  expect_equal(drawing(plot(only))$fit, unname(predict(only, data.frame(cyl = c("4", "6", "8")))),
               tolerance = ROUNDING)
  wool <- sparsegp(breaks ~ wool + tension, warpbreaks, learn = FALSE)
  expect_named(drawing(plot(wool))[1:2], c("tension", "wool"))
  expect_named(drawing(plot(sparsegp(Species ~ b + Petal.Width, transform(
    iris, b = Sepal.Width > 3), learn = FALSE), "b"))[1:2], c("b", "class"))
})

test_that("by = gives a curve for every level; the only factor is taken without being asked", {
  fit <- teeth()
  drawn <- drawing(plot(fit, "dose", by = "supp", n = 5))
  expect_named(drawn, c("dose", "supp", "fit", "lwr", "upr", "new_lwr", "new_upr"))
  expect_equal(drawn$fit, unname(predict(fit, drawn)), tolerance = ROUNDING)
  expect_equal(drawing(plot(fit, n = 5)), drawn)
  expect_equal(drawing(plot(fit, c("supp", "dose"), n = 5)), drawn)
  expect_named(drawing(plot(fit, "dose", n = 3))[1:2], c("dose", "fit"))
  expect_error(drawing(plot(fit, "dose", by = "dose")), "Factors: supp", class = "sparsegp_error")
  expect_error(drawing(plot(fit, type = "trace", by = "supp")), class = "sparsegp_error")
})

test_that("the variable of poly() is an axis, where the data are to be found, in functions too", {
  slow_tier()
  made <- function() {
    mine <- mtcars
    degree <- 2
    sparsegp(mpg ~ poly(hp, degree) + wt, mine, subset = cyl > 4, learn = FALSE)
  }
  fit <- made()
  drawn <- drawing(plot(fit, "hp", n = 4))
  held <- data.frame(hp = drawn$hp, wt = median(mtcars$wt[mtcars$cyl > 4]))
  expect_equal(drawn$fit, unname(predict(fit, held)), tolerance = ROUNDING)
  fit$call$data <- quote(not_there)
  fit$terms <- structure(fit$terms, .Environment = globalenv())
  expect_error(drawing(plot(fit, "hp")), "poly.hp, degree.1", class = "sparsegp_error")
})

test_that("rows are moved onto the slice by what is left of them, or fade", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + hp + offset(qsec / 9), mtcars, learn = FALSE)
  along_wt <- function(fit) {
    rows_beside(fit, training_rows(fit), slice_view(fit, training_rows(fit), "wt"))
  }
  shown <- along_wt(fit)
  left <- mtcars$mpg - predict(fit)
  there <- data.frame(wt = mtcars$wt, hp = median(mtcars$hp), qsec = median(mtcars$qsec))
  expect_equal(shown$y, unname(predict(fit, there) + left), tolerance = ROUNDING)
  counts <- sparsegp(carb ~ wt + hp, mtcars, "poisson", learn = FALSE)
  shown <- along_wt(counts)
  expect_equal(shown$y, unname(mtcars$carb * predict(counts, there) / predict(counts)),
               tolerance = ROUNDING)
  gears <- sparsegp(am ~ wt + hp, mtcars, "probit", learn = FALSE)
  shown <- along_wt(gears)
  away <- (mtcars$hp - median(mtcars$hp)) / gears$scaling$sd[["hp"]]
  scale <- coef(gears)[["lengthscale"]]
  expect_equal(shown$near, exp(-away^2 / (2 * scale^2)), tolerance = 1e-10)
  expect_identical(shown$y, gears$y)
  one <- sparsegp(dist ~ speed, cars, learn = FALSE)
  expect_equal(rows_beside(one, training_rows(one), slice_view(one, training_rows(one), NULL))$y,
               cars$dist)
})

test_that("a map has the standard error, and is grey where data say nothing", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + hp, mtcars, kernel = kernel_rbf(lengthscale = 0.3), learn = FALSE)
  for (se in c("contour", "panel", "none")) {
    drawn <- drawing(plot(fit, n = 7, se = se))
    expect_equal(drawn$se, unname(predict(fit, drawn, se.fit = TRUE)$se.fit), tolerance = 1e-8)
  }
  prior <- coef(fit)[["variance"]]
  expect_identical(drawn$known, drawn$se^2 < 0.9 * prior)
  expect_true(any(drawn$known) && !all(drawn$known))
  expect_error(drawing(plot(fit, "wt", se = "panel")), "maps", class = "sparsegp_error")
  classes <- sparsegp(Species ~ Sepal.Width + Petal.Width, iris[seq(1, 150, 5), ], learn = FALSE)
  expect_error(drawing(plot(classes, se = "contour")), class = "sparsegp_error")
  drawing({
    plot(fit, asp = 0.01, legend = FALSE)
    inches <- par("pin") / c(diff(par("usr")[1:2]), diff(par("usr")[3:4]))
    expect_equal(inches[2L] / inches[1L], 0.01)
  })
})

test_that("pictures of terms are predict(type = \"terms\") with its band, in any shape", {
  slow_tier()
  few <- as.data.frame(ChickWeight)[1:60, ]
  kernel <- kernel_rbf(vars = "Time") + kernel_rbf(vars = "Time") * kernel_factor("Chick", fixed(1))
  fit <- sparsegp(weight ~ Time + Chick, few, kernel = kernel, learn = FALSE)
  drawn <- drawing(plot(fit, "terms", n = 4, level = 0.9))
  expect_named(drawn, c("rbf(Time)", "rbf(Time) * factor(Chick)"))
  both <- drawn[[2L]]
  terms <- predict(fit, both, type = "terms", se.fit = TRUE)
  expect_equal(both$fit, unname(terms$fit[, 2L]), tolerance = ROUNDING)
  expect_equal(both$upr, unname(terms$fit[, 2L] + qnorm(0.95) * terms$se.fit[, 2L]),
               tolerance = 1e-8)
  fit <- sparsegp(carb ~ wt + hp + qsec, mtcars, "poisson", learn = FALSE,
                  kernel = kernel_rbf(vars = c("wt", "hp")) + kernel_linear())
  drawn <- drawing(plot(fit, type = "terms", n = 3))
  map <- drawn[[1L]]
  expect_equal(map$fit, unname(predict(fit, cbind(map, qsec = 15), type = "terms")[, 1L]),
               tolerance = ROUNDING)
  expect_named(drawn[-1L], paste("linear(wt, hp, qsec) along", c("wt", "qsec", "hp")),
               ignore.order = TRUE)
  expect_named(drawing(plot(fit, "rbf(wt, hp)", "terms", n = 2)), "rbf(wt, hp)")
})

test_that("a term of many inputs is drawn along each, averaged over the rows", {
  slow_tier()
  set.seed(1)
  cars <- transform(mtcars, gear = factor(gear))
  fit <- sparsegp(mpg ~ wt + hp + I(hp^2) + gear, cars, learn = FALSE)
  drawn <- drawing(plot(fit, "terms", n = 3))
  expect_named(drawn, paste("effect of", c("wt", "hp", "gear")), ignore.order = TRUE)
  along <- function(input) { # hp^2 follows from hp
    vapply(drawn[[paste("effect of", input)]][[1L]], function(value) {
      mean(predict(fit, replace(cars, input, value), type = "terms")[, 1L])
    }, 0)
  }
  expect_equal(drawn[["effect of wt"]]$fit, along("wt"), tolerance = ROUNDING)
  expect_equal(drawn[["effect of hp"]]$fit, along("hp"), tolerance = ROUNDING)
  expect_identical(levels(drawn[["effect of gear"]]$gear), levels(cars$gear))
  many <- sparsegp(as.matrix(mtcars[-1]), mtcars$mpg, learn = FALSE)
  expect_length(drawing(plot(many, "terms", n = 2)), 9L) # of ten
  classes <- sparsegp(Species ~ ., iris[seq(1, 150, 10), ], "softmax", learn = FALSE)
  expect_length(drawing(plot(classes, "terms", n = 2)), 4L)
  expect_identical(nrow(drawing(plot(classes, "terms", n = 2))[[1L]]), 6L) # of three classes
})

test_that("a formula names axes, and other functions that draw fits are refused in words", {
  slow_tier()
  fit <- teeth()
  expect_identical(drawing(plot(fit, ~ dose, n = 3)), drawing(plot(fit, "dose", n = 3)))
  expect_identical(drawing(plot(fit, ~ dose + supp, n = 3)),
                   drawing(plot(fit, c("dose", "supp"), n = 3)))
  for (which in list(len ~ dose, ~ ., ~ weight, ~ 1)) {
    expect_error(drawing(plot(fit, which)), "which", class = "sparsegp_error")
  }
  expect_error(termplot(fit), "plot\\(model", class = "sparsegp_error")
  for (line in list(quote(abline(fit)), quote(abline(reg = fit)))) {
    expect_error(drawing({
      plot(0)
      eval(line)
    }), "lines\\(\\)", class = "sparsegp_error")
  }
})

test_that("axes of inputs that hardly differ have places that do", {
  slow_tier()
  for (x in list(c(0, 5e-324, 1e-323, 2e-323), 1e16 + c(0, 2, 4, 6), rep(1e17, 4))) {
    limits <- around(x)
    expect_gt(min(diff(seq(limits[1L], limits[2L], length.out = 201L))), 0)
    expect_true(limits[1L] <= min(x) && limits[2L] >= max(x))
  }
  d <- data.frame(a = rep(c(0, 5e-324, 1e-323, 2e-323), 5), b = sin(1:20), y = cos(1:20))
  fit <- sparsegp(y ~ a + b, d, learn = FALSE)
  expect_named(drawing(suppressWarnings(plot(fit, n = 5))), c("a", "b", "fit", "se", "known"))
})

test_that("maps, and curves of classes, by a factor are those at each of its levels", {
  slow_tier()
  cars <- transform(mtcars, am = factor(am), gear = factor(gear))
  fit <- sparsegp(mpg ~ wt + hp + am, cars, learn = FALSE)
  drawn <- drawing(plot(fit, c("wt", "hp"), by = "am", n = 4))
  expect_named(drawn, c("wt", "hp", "am", "fit", "se", "known"))
  expect_equal(drawn$fit, unname(predict(fit, drawn)), tolerance = ROUNDING)
  expect_identical(as.character(drawn$am), rep(c("0", "1"), each = 16))
  expect_identical(drawn$wt[1:16], drawn$wt[17:32]) # the same axes
  asked <- list(which = c("wt", "hp"), newdata = NULL, level = 0.95, n = 4, by = "am",
                se = "panel", style = plot_style())
  panels <- fit_picture(fit, asked)$panels
  expect_equal(panels[[2L]]$shown$y, mtcars$mpg[mtcars$am == 1])
  expect_identical(panels[[1L]]$surface$levels, panels[[2L]]$surface$levels)
  classes <- sparsegp(gear ~ wt + hp + am, cars, learn = FALSE)
  for (which in list("wt", c("wt", "hp"))) {
    drawn <- drawing(plot(classes, which, by = "am", n = 3))
    new <- data.frame(wt = median(cars$wt), hp = median(cars$hp), am = drawn$am)
    new[which] <- drawn[which]
    expect_equal(as.matrix(drawn[paste0("prob.", 3:5)]), predict(classes, new, type = "prob"),
                 tolerance = ROUNDING, ignore_attr = TRUE)
  }
  # a level of which there are no rows
  drawn <- drawing(plot(fit, c("wt", "hp"), by = "am", n = 3, newdata = cars[cars$am == 0, ]))
  expect_identical(nrow(drawn), 18L)
  refused <- function(...) expect_error(drawing(plot(...)), "by", class = "sparsegp_error")
  refused(sparsegp(mpg ~ wt + am + gear, cars, learn = FALSE), c("wt", "am"), by = "gear")
  many <- transform(mtcars, g = factor(rep_len(1:13, 32)))
  refused(sparsegp(mpg ~ wt + hp + g, many, learn = FALSE), c("wt", "hp"), by = "g")
})

test_that("terms of several classes are curves in one picture, and a map for each class", {
  slow_tier()
  few <- iris[seq(1, 150, 5), ]
  fit <- sparsegp(Species ~ Sepal.Width + Petal.Width + Petal.Length, few, learn = FALSE,
                  kernel = kernel_rbf(vars = "Sepal.Width") +
                    kernel_rbf(vars = c("Petal.Width", "Petal.Length")))
  drawn <- drawing(plot(fit, "terms", n = 3, level = 0.9))
  map <- "rbf(Petal.Width, Petal.Length)"
  expect_named(drawn, c("rbf(Sepal.Width)", paste0(map, ": ", levels(iris$Species))))
  curves <- drawn[[1L]]
  expect_named(curves, c("Sepal.Width", "Species", "fit", "lwr", "upr"))
  new <- function(at) cbind(at, as.list(few[1, setdiff(names(few), names(at))]))
  terms <- predict(fit, new(curves["Sepal.Width"]), type = "terms", se.fit = TRUE)
  own <- cbind(1:9, 1L, as.integer(curves$Species))
  expect_equal(curves$fit, terms$fit[own], tolerance = ROUNDING)
  expect_equal(curves$lwr, terms$fit[own] - qnorm(0.95) * terms$se.fit[own], tolerance = 1e-8)
  for (class in 1:3) {
    terms <- predict(fit, new(drawn[[1L + class]][1:2]), type = "terms")
    expect_equal(drawn[[1L + class]]$fit, unname(terms[, map, class]), tolerance = ROUNDING)
  }
})

test_that("working residuals are those of glm() where the fit is that of glm()", {
  slow_tier()
  # hardly any penalty: a steep prior on a line
  kernel <- kernel_linear(variance = fixed(1e4))
  fit <- sparsegp(carb ~ wt, mtcars, "poisson", kernel = kernel, learn = FALSE,
                  control = gp_control(prior = list(bias = prior_normal(0, 1e3))))
  model <- glm(carb ~ wt, poisson, mtcars)
  fit <- update(fit, learn = TRUE)
  root <- sqrt(fitted(model))
  wanted <- residuals(model, "working") * root / mean(root)
  # 0.05: the mean of a rate is above its rate at the mean, and the prior is no flat one
  expect_equal(working_residuals(fit, training_rows(fit)), unname(wanted), tolerance = 0.05)
})

test_that("a forecast goes on after the series, by its parts", {
  slow_tier()
  series <- data.frame(year = c(time(nottem))[1:60], degrees = c(nottem)[1:60])
  fit <- sparsegp(degrees ~ year, series, learn = FALSE,
                  kernel = kernel_rbf() + kernel_periodic(period = 1))
  drawn <- drawing(plot(fit, "forecast", n = 9, ahead = 24))
  expect_named(drawn, c("series", "rbf(year)", "periodic(year)"))
  expect_equal(max(drawn$series$year), max(series$year) + 2)
  expect_equal(drawn$series$fit, unname(predict(fit, drawn$series)), tolerance = ROUNDING)
  two <- drawing(plot(fit, list(both = 1:2, season = 2), "forecast", n = 9))
  expect_named(two, c("series", "both", "season"))
  wide <- sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)
  expect_error(drawing(plot(wide, "forecast")), "one input", class = "sparsegp_error")
  days <- data.frame(day = as.Date("2020-01-01") + 1:30, y = sin(1:30))
  walk <- sparsegp(y ~ day, days, kernel = kernel_matern12(), learn = FALSE)
  expect_silent(drawing(plot(walk, "forecast")))
})

test_that("a forecast by a kernel that has nothing to go on says so", {
  slow_tier()
  d <- data.frame(time = 1:30, y = (1:30) / 10 + sin(1:30))
  hint <- function(kernel) drawing(plot(sparsegp(y ~ time, d, kernel = kernel, learn = FALSE),
                                        "forecast", n = 5))
  expect_message(hint(kernel_rbf()), "returns to the mean.*kernel_linear")
  expect_message(hint(kernel_matern52() * kernel_rbf()), "returns to the mean")
  expect_silent(hint(kernel_rbf() + kernel_linear()))
  expect_silent(hint(kernel_rbf() * kernel_periodic(period = 6)))
})

test_that("leave-one-out pictures are those of the fit without each row", {
  slow_tier()
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  drawn <- drawing(plot(fit, type = "loo"))
  expect_equal(drawn$fit, (fit$cavity$mean) * fit$response$unit + fit$response$centre)
  expect_identical(drawn$inside, drawn$observed > drawn$lwr & drawn$observed < drawn$upr)
  gears <- sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)
  drawn <- drawing(plot(gears, type = "loo"))
  expect_equal(log(drawn$probability), unname(loo_lpd(gears)), tolerance = 1e-8)
})

test_that("residual panels are quantile residuals, which of four", {
  slow_tier()
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  drawn <- drawing(plot(fit, type = "residuals", which = c(2, 4)))
  expect_equal(drawn$residual, unname(residuals(fit, "quantile")))
  expect_equal(sum(drawn$leverage), 50 - df.residual(fit))
  expect_error(drawing(plot(fit, type = "residuals", which = 5)), class = "sparsegp_error")
  drawing({
    before <- par(c("mfrow", "mar"))
    plot(fit, type = "residuals")
    expect_equal(par(c("mfrow", "mar")), before)
    layout(matrix(1:4, 2))
    plot(fit, type = "residuals", which = 1:2) # goes on in the layout
    expect_equal(par("mfrow"), c(2, 2))
  })
})

test_that("the coverage of intervals is that of their two ends", {
  slow_tier()
  d <- data.frame(x = 1:30 / 10, y = sin(1:30), c = rep(c(0, 2, 5, 1, 9), 6))
  nominal <- c(0.2, 0.5, 0.9)
  for (fit in list(sparsegp(y ~ x, d, learn = FALSE), sparsegp(y ~ x, d, "student", learn = FALSE),
                   sparsegp(c ~ x, d, "poisson", learn = FALSE),
                   sparsegp(cbind(c, 9 - c) ~ x, d, "binomial", learn = FALSE))) {
    wanted <- vapply(nominal, function(level) mean(loo_frame(fit, level)$inside), 0)
    table <- calibration(fit, nominal = nominal)
    expect_equal(table$inside, wanted, label = format(fit$likelihood))
    # numbers do not jump
    if (!codec_of(fit)$jumps) expect_equal(table$observed, wanted)
  }
  # shares of new rows are of the trials that the rows have
  again <- calibration(fit, d, nominal = nominal)
  own <- predict(fit, d, type = "quantile", at = c(0.05, 0.95), weights = 9)
  inside <- d$c / 9 >= own[, 1L] & d$c / 9 <= own[, 2L]
  expect_equal(again$inside[3L], mean(inside))
})

test_that("pixels of a decision map have the colour of the most probable class", {
  z <- array(0, c(3, 3, 3))
  z[, , 1] <- matrix(3:1, 3, 3)
  z[, , 3] <- matrix(1:3, 3, 3)
  pixels <- class_pixels(z / 4, c(1L, 3L), c("#FF0000", "#00FF00", "#0000FF"))
  red <- grDevices::col2rgb(pixels)["red", ]
  blue <- grDevices::col2rgb(pixels)["blue", ]
  half <- ncol(pixels) %/% 2L
  expect_true(all(matrix(red > blue, nrow(pixels))[, seq_len(half)]))
  expect_true(all(matrix(red < blue, nrow(pixels))[, half + seq_len(half)]))
  expect_equal(pixel_values(diag(2))[1L, 1L], (1 - 0.5 / PIXELS)^2 + (0.5 / PIXELS)^2)
})
