# Plots of several classes, and the curve of rejection. drawing() evaluates with a device open that
# keeps nothing.

r_code_alone()

drawing <- function(code) {
  grDevices::pdf(NULL, 7, 5)
  on.exit(grDevices::dev.off())
  force(code)
}

fit_iris <- function(formula = Species ~ Petal.Length + Sepal.Width, ...) {
  sparsegp(formula, iris, learn = FALSE, ...)
}

# `count` classes in as many clouds
clouds <- function(count, each = 8, names = seq_len(count)) {
  set.seed(count)
  code <- rep(seq_len(count), each = each)
  data.frame(a = 3 * (code %% 4) + rnorm(each * count), b = code + rnorm(each * count),
             class = factor(names[code], names))
}

loo_classes <- function(fit) most_probable(loo_probabilities(fit))

test_that("two inputs give a grid of what predict() gives, jointly and against the rest", {
  slow_tier()
  for (likelihood in c("mprobit", "probit")) {
    fit <- fit_iris(likelihood = likelihood)
    drawn <- drawing(plot(fit, n = 7))
    columns <- paste0("prob.", levels(iris$Species))
    expect_named(drawn, c("Petal.Length", "Sepal.Width", "class", columns))
    expect_equal(nrow(drawn), 49)
    prob <- unname(predict(fit, drawn, type = "prob"))
    expect_equal(unname(as.matrix(drawn[4:6])), prob, tolerance = 1e-10, ignore_attr = TRUE)
    expect_identical(drawn$class, unname(predict(fit, drawn, type = "class")))
  }
})

test_that("one input gives curves of all classes, and two classes may have a function each", {
  slow_tier()
  fit <- sparsegp(am ~ wt, mtcars, likelihood = "mprobit", learn = FALSE)
  drawn <- drawing(plot(fit, n = 9, xlim = c(1, 6)))
  expect_named(drawn, c("wt", "class", "prob.0", "prob.1"))
  expect_equal(range(drawn$wt), c(1, 6))
  expect_equal(drawn$prob.1, unname(predict(fit, drawn, type = "prob")[, 2]), tolerance = 1e-10)
  fit <- sparsegp(am ~ wt + hp, mtcars, likelihood = "mprobit", learn = FALSE)
  expect_named(drawing(plot(fit, n = 3)), c("wt", "hp", "class", "prob.0", "prob.1"))
})

test_that("of more inputs those that are no axes stay at their medians", {
  slow_tier()
  fit <- fit_iris(Species ~ .)
  drawn <- drawing(plot(fit, c("Petal.Width", "Sepal.Width"), n = 5))
  held <- data.frame(Sepal.Length = median(iris$Sepal.Length),
                     Petal.Length = median(iris$Petal.Length), drawn[1:2])
  prob <- predict(fit, held, type = "prob")
  expect_equal(drawn$prob.setosa, unname(prob[, "setosa"]), tolerance = 1e-10)
  expect_named(drawing(plot(fit, 2, n = 5))[1], "Sepal.Width")
})

test_that("2 to 12 classes, and names of any kind and length, are drawn without a word", {
  slow_tier()
  apart <- lik_mprobit(coupled = FALSE)
  for (count in of_tier(c(3, 2, 12), 1L)) {
    fit <- sparsegp(class ~ a + b, clouds(count), likelihood = apart, learn = FALSE)
    one <- sparsegp(class ~ b, clouds(count), likelihood = apart, learn = FALSE)
    drawing(for (type in c("fit", "reliability", "reject")) {
      expect_silent(plot(fit, type = type))
      expect_silent(plot(one, type = type))
    })
  }
  names <- paste(c("the first class, ", "naïve ", "", "class", "prob"), "of a long name")
  fit <- sparsegp(class ~ a + b, clouds(5, names = names), learn = FALSE)
  drawing({
    par(mfrow = c(2, 3), mar = c(3, 3, 2, 0))
    before <- par("mfrow", "mar", "cex", "xpd", "las", "lwd")
    expect_silent(plot(fit, n = 11))
    expect_silent(plot(fit, "a", type = "fit", cex = 0.5))
    expect_silent(plot(fit, type = "reject", xlim = c(0, 0.5), ylim = c(0, 1), las = 0))
    expect_silent(plot(fit, n = 11, pch = 1:5, col = rainbow(5), axes = FALSE, ann = FALSE))
    expect_silent(plot(fit, xlim = c(-1e6, 1e6), ylim = c(9, -9), n = 5))
    expect_identical(par("mfrow", "mar", "cex", "xpd", "las", "lwd"), before)
  })
})

test_that("a class that is nowhere the most probable one, and flat probabilities, are drawn", {
  slow_tier()
  d <- clouds(3)
  d$class[d$class == "2"][-1] <- "1"
  kernel <- kernel_rbf(fixed(1e-9))
  drawing({
    expect_silent(drawn <- plot(sparsegp(class ~ a + b, d, kernel = kernel, learn = FALSE), n = 9))
    expect_false("2" %in% drawn$class)
    expect_silent(plot(sparsegp(class ~ a, d, kernel = kernel, learn = FALSE), n = 9))
  })
})

test_that("colours and symbols tell all classes apart", {
  style <- plot_style()
  both <- paste(class_colours(style, count = 60), class_symbols(style, 60))
  expect_identical(anyDuplicated(both), 0L)
  expect_identical(anyDuplicated(CLASS_COLOURS), 0L)
  expect_identical(class_colours(style), grDevices::adjustcolor(c(BLUE, ORANGE)))
})

test_that("a node's lead is the largest probability less the second", {
  z <- array(c(0.5, 0.2, 0.3, 0.3, 0.2, 0.5), c(1, 2, 3))
  lead <- class_leads(z)
  expect_equal(c(lead$best), c(1, 3))
  expect_equal(c(lead$top), c(0.5, 0.5))
  expect_equal(lead$by[1, , ], rbind(c(0.2, -0.2, -0.3), c(-0.3, -0.2, 0.2)))
})

test_that("the curve of rejection starts at the leave-one-out error and only ever rejects more", {
  slow_tier()
  gears <- sparsegp(am ~ wt, mtcars, likelihood = "probit", learn = FALSE)
  for (fit in list(fit_iris(), fit_iris(likelihood = "probit"), gears)) {
    drawn <- drawing(plot(fit, type = "reject", level = 0.9))
    expect_equal(drawn$rejected[1], 0)
    expect_equal(drawn$accepted[1], fit$n)
    expect_equal(drawn$error[1], mean(loo_classes(fit) != fit$y))
    largest <- apply(loo_probabilities(fit), 1, max)
    expect_equal(drawn$expected[1], mean(1 - largest))
    expect_true(all(diff(drawn$threshold) > 0 & diff(drawn$rejected) > 0))
    expect_true(all(drawn$lwr <= drawn$error & drawn$error <= drawn$upr))
    expect_true(all(diff(drawn$expected) < 0))
    for (i in c(2, nrow(drawn) %/% 2, nrow(drawn))) {
      kept <- largest >= drawn$threshold[i]
      wrong <- loo_classes(fit)[kept] != fit$y[kept]
      expect_equal(drawn$accepted[i], sum(kept))
      expect_equal(drawn$error[i], mean(wrong))
      expect_equal(drawn$expected[i], mean(1 - largest[kept]))
      exact <- stats::binom.test(sum(wrong), sum(kept), conf.level = 0.9)$conf.int
      expect_equal(c(drawn$lwr[i], drawn$upr[i]), exact[1:2])
    }
  }
})

test_that("the curve of rejection for newdata is that of predict(reject = )", {
  slow_tier()
  odd <- seq(1, 150, 2)
  fit <- sparsegp(Species ~ Sepal.Length + Sepal.Width, iris[odd, ], learn = FALSE)
  new <- iris[-odd, ]
  drawn <- drawing(plot(fit, type = "reject", newdata = new))
  for (i in c(1, 10, nrow(drawn))) {
    class <- predict(fit, new, type = "class", reject = drawn$threshold[i])
    expect_equal(mean(is.na(class)), drawn$rejected[i])
    expect_equal(mean(class != new$Species, na.rm = TRUE), drawn$error[i])
  }
  few <- drawing(plot(fit, type = "reject", newdata = new, n = 5))
  expect_identical(nrow(few), 5L)
  expect_equal(few[c(1, 5), ], drawn[c(1, nrow(drawn)), ], ignore_attr = TRUE)
  expect_identical(nrow(drawing(plot(fit, type = "reject", newdata = new[1, ]))), 1L)
})

test_that("rejection is not for regressions", {
  slow_tier()
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  error <- expect_error(drawing(plot(fit, type = "reject")), "regression", class = "sparsegp_error")
  expect_identical(error$argument, "type")
  expect_error(drawing(plot(fit_iris(), "Petal.Length", type = "reject")), "is not used",
               class = "sparsegp_error")
})

test_that("reliability of several classes has every row and class once", {
  slow_tier()
  fit <- fit_iris()
  prob <- loo_probabilities(fit)
  for (n in list(NULL, 2, 10)) {
    drawn <- drawing(plot(fit, type = "reliability", n = n))
    expect_equal(sum(drawn$rows), 450)
    expect_equal(sum(drawn$rows * drawn$observed), 150)
    expect_equal(sum(drawn$rows * drawn$predicted), 150)
    expect_true(all(diff(c(-Inf, drawn$predicted)) > 0 & drawn$rows > 0))
    expect_true(all(drawn$lwr <= drawn$observed & drawn$observed <= drawn$upr))
    expect_lte(nrow(drawn), if (is.null(n)) 7 else n)
  }
  # bins are intervals of the sorted probabilities, of equal variance but for one event's 1/4 at
  # either end, and some more for ties
  prob <- sort(c(prob))
  variance <- diff(c(0, cumsum(prob * (1 - prob))[cumsum(drawn$rows)]))
  expect_equal(variance, rep(sum(prob * (1 - prob)) / 10, 10), tolerance = 0.3)
})

test_that("a stream of several classes is drawn with newdata", {
  slow_tier()
  set.seed(3)
  rows <- iris[sample(150), ]
  for (likelihood in c("mprobit", "probit")) {
    fit <- sparsegp(Species ~ Petal.Length + Sepal.Width, rows, likelihood = likelihood,
                    learn = FALSE, method = method_online(size = 20, pilot = 60))
    drawing({
      expect_error(plot(fit), class = "sparsegp_error")
      expect_error(plot(fit, type = "reject"), "newdata", class = "sparsegp_error")
      expect_silent(plot(fit, newdata = iris))
      expect_silent(plot(fit, "Petal.Length", newdata = iris))
      expect_silent(plot(fit, type = "reliability", newdata = iris))
      drawn <- plot(fit, type = "reject", newdata = iris)
    })
    expect_equal(drawn$error[1], mean(predict(fit, iris, type = "class") != iris$Species))
  }
})

test_that("predict(reject = ) leaves a row out where no class of three is probable enough", {
  slow_tier()
  fit <- fit_iris()
  prob <- predict(fit, iris, type = "prob")
  class <- predict(fit, iris, type = "class", reject = 0.9)
  expect_identical(unname(is.na(class)), unname(apply(prob, 1, max) < 0.9))
  expect_true(anyNA(class))
  expect_identical(levels(class), levels(iris$Species))
  sure <- !is.na(class)
  expect_identical(class[sure], predict(fit, iris, type = "class")[sure])
})

test_that("summary() of several classes prints each class's own error", {
  fit <- fit_iris(likelihood = "probit")
  confusion <- summary(fit)$confusion
  shown <- capture.output(print(summary(fit)))
  expect_match(shown, "^Leave-one-out log predictive density", all = FALSE)
  wrong <- round(100 * (1 - diag(confusion) / rowSums(confusion)), 1)
  for (level in levels(iris$Species)) {
    row <- grep(paste0("^ *", level, " .*%$"), shown, value = TRUE)
    expect_equal(as.numeric(sub(".* (.*)%$", "\\1", row)), wrong[[level]])
  }
})

test_that("the axis of ordered responses has their plain name, that of two classes a probability", {
  slow_tier()
  d <- transform(iris[seq(1, 150, 6), ], rank = factor(Species, ordered = TRUE))
  fit <- sparsegp(rank ~ Sepal.Width, d, learn = FALSE)
  expect_identical(loo_numbers_chart(fit, loo_frame(fit, 0.95), 0.95, plot_style())$y, "rank")
  expect_identical(response_label(sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)), "P(am = 1)")
})
