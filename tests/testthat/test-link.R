# Latent values with and without the bias, medians, weights of new responses, covariances.

r_code_alone()

counts <- function() sparsegp(carb ~ wt, mtcars, "poisson", learn = FALSE)
new <- data.frame(wt = c(2.5, NA, 5))

test_that("type = \"link\" is what the inverse link is for", {
  fit <- counts()
  link <- predict(fit, new, type = "link", se.fit = TRUE)
  latent <- predict(fit, new, type = "latent", se.fit = TRUE)
  expect_equal(link$fit, latent$fit + coef(fit)[["bias"]], tolerance = 1e-14)
  expect_identical(link$se.fit, latent$se.fit)
  # the mean of a lognormal rate
  expect_equal(predict(fit, new), exp(link$fit + link$se.fit^2 / 2), tolerance = 1e-12)
  expect_equal(predict(fit, new, type = "link", interval = "confidence")[, "lwr"],
               link$fit - qnorm(0.975) * link$se.fit, tolerance = 1e-14)
  classes <- sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)
  link <- predict(classes, new, type = "link", se.fit = TRUE)
  expect_equal(predict(classes, new), pnorm(link$fit / sqrt(1 + link$se.fit^2)), tolerance = 1e-12)
  plain <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  expect_identical(predict(plain, new, type = "link"), predict(plain, new))
  several <- sparsegp(Species ~ Petal.Width, iris[c(1:5, 51:55, 101:103), ], learn = FALSE)
  at <- data.frame(Petal.Width = 1:2)
  # a bias for each class; as with lm(), no more
  expect_equal(predict(several, at, type = "link") - predict(several, at, type = "latent"),
               matrix(several$hyper$theta[several$hyper$base == "bias"], 2L, 3L, byrow = TRUE),
               ignore_attr = TRUE, tolerance = 1e-14)
})

test_that("draws on the scale of the link and of the response agree with predictions", {
  slow_tier()
  fit <- counts()
  seeded <- function(type) {
    set.seed(3)
    draws(fit, new, 5, type)
  }
  expect_equal(seeded("link"), seeded("latent") + coef(fit)[["bias"]], tolerance = 1e-14)
  expect_equal(seeded("response"), exp(seeded("link")), tolerance = 1e-12)
  set.seed(3)
  many <- draws(fit, new[1L, , drop = FALSE], 4000, "response")
  mean <- predict(fit, new[1L, , drop = FALSE], se.fit = TRUE)
  expect_lt(abs(mean(many) - mean$fit), 4 * mean$se.fit / sqrt(4000)) # four standard errors
  several <- sparsegp(Species ~ Petal.Width, iris[c(1:5, 51:55, 101:103), ], learn = FALSE)
  drawn <- draws(several, data.frame(Petal.Width = 1:2), 3, "response")
  expect_identical(dim(drawn), c(2L, 3L, 3L))
  expect_equal(apply(drawn, 1:2, sum), matrix(1, 2L, 3L), ignore_attr = TRUE, tolerance = 1e-9)
})

test_that("the median of a count far from the data is no larger than its mean by a long tail", {
  slow_tier()
  fit <- sparsegp(c(1:5, 5), c(0, 2, 1, 30, 60, 40), "poisson", kernel_rbf(4, 0.5), learn = FALSE)
  link <- predict(fit, 30, type = "link", se.fit = TRUE)
  expect_equal(predict(fit, 30, type = "median"), exp(link$fit), tolerance = 1e-12)
  expect_gt(predict(fit, 30), 5 * predict(fit, 30, type = "median"))
  both <- predict(fit, 30, type = "median", interval = "confidence")
  expect_equal(both[, "fit"], predict(fit, 30, type = "median"), ignore_attr = TRUE)
  classes <- sparsegp(am ~ wt, mtcars, "logit", learn = FALSE)
  expect_equal(predict(classes, new, type = "median"),
               plogis(predict(classes, new, type = "link")), tolerance = 1e-12)
  expect_error(predict(classes, new, type = "median", se.fit = TRUE), "interval",
               class = "sparsegp_error")
})

test_that("medians of several classes are those of simulated probabilities, each by itself", {
  slow_tier()
  rows <- data.frame(x = seq(0, 3, length.out = 24), class = rep(c("a", "b", "c"), each = 8))
  at <- data.frame(x = c(0.2, 1, 1.2, 2.4, 5))
  for (likelihood in c("probit", "mprobit", "softmax", "squares")) {
    fit <- sparsegp(class ~ x, rows, likelihood, learn = FALSE)
    fit$power <- if (likelihood == "probit") 1.3 # recalibrated, as draws are
    median <- predict(fit, at, type = "median")
    expect_identical(dimnames(median), list(as.character(1:5), c("a", "b", "c")))
    set.seed(3)
    drawn <- draws(fit, at, 4000, "response")
    for (class in 1:3) {
      below <- rowMeans(drawn[, , class] < median[, class])
      # the lattice is off by up to .01, and four standard errors of 4000 draws are .032
      expect_lt(max(abs(below - 0.5)), 0.042, label = likelihood)
    }
    expect_identical(median, predict(fit, at, type = "median"))
  }
  # far from the data nothing is known, and medians are below the means
  expect_lt(sum(median[5, ]), 0.5)
  expect_identical(dim(predict(fit, at[0L, , drop = FALSE], type = "median")), c(0L, 3L))
  # among other rows a row's moments are rounded differently
  expect_equal(predict(fit, data.frame(x = c(1, NA)), type = "median")[, "a"],
               c(`1` = median[[2L, "a"]], `2` = NA), tolerance = 1e-12)
})

test_that("medians of many rows are taken in blocks, with the rows' own offsets", {
  slow_tier()
  x <- seq(0, 3, length.out = 400)
  part <- seq(1, 400, by = 20)
  own <- function(x) sin(9 * x)
  class <- cut(x + own(x) / 5, c(-1, 0.9, 2, 5), labels = c("a", "b", "c"))
  fit <- sparsegp(cbind(x)[part, , drop = FALSE], class[part], "probit", learn = FALSE,
                  offset = own(x[part]))
  all <- predict(fit, cbind(x), type = "median", offset = own(x))
  some <- c(3L, 163L, 164L, 400L)
  expect_identical(all[some, ], predict(fit, cbind(x)[some, , drop = FALSE], type = "median",
                                        offset = own(x[some])), ignore_attr = TRUE)
  expect_gt(max(abs(all - predict(fit, cbind(x), type = "median"))), 0.01)
})

test_that("types other packages have are known, by their own names", {
  fit <- sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)
  for (type in c("probs", "probability", "posterior")) {
    expect_identical(predict(fit, new, type = type), predict(fit, new, type = "prob"))
  }
  expect_identical(predict(fit, new, type = "raw"), predict(fit, new))
  expect_error(predict(fit, new, type = "nonsense"), "\"link\"", class = "sparsegp_error")
})

test_that("prediction intervals are of the weight of the new rows", {
  slow_tier()
  d <- transform(mtcars, w = rep(c(1, 4), 16))
  fit <- sparsegp(mpg ~ wt, d, weights = w, learn = FALSE)
  half <- function(...) {
    interval <- predict(fit, data.frame(wt = c(3, 4), w = c(4, 1)), interval = "prediction", ...)
    unname(interval[, "upr"] - interval[, "fit"]) / qnorm(0.975)
  }
  se <- predict(fit, data.frame(wt = c(3, 4)), se.fit = TRUE)$se.fit
  noise <- coef(fit)[["noise"]]
  expect_equal(half(weights = c(4, 1)), unname(sqrt(se^2 + noise / c(4, 1))), tolerance = 1e-12)
  expect_identical(half(weights = ~ w), half(weights = c(4, 1)))
  expect_warning(one <- half(), "give `weights`", class = "sparsegp_warning")
  expect_identical(one, half(weights = 1))
  # the rows of the fit have theirs
  own <- predict(fit, interval = "prediction")
  expect_equal(own, predict(fit, d, interval = "prediction", weights = d$w), tolerance = 1e-8)
  trials <- sparsegp(cbind(ncases, ncontrols) ~ agegp, esoph, learn = FALSE)
  many <- predict(trials, esoph[1:2, ], interval = "prediction", weights = 100)
  expect_true(all((100 * many[, "upr"]) %% 1 < 1e-9) && all(many[, "upr"] < 1))
  expect_error(predict(fit, weights = 2), "prediction intervals", class = "sparsegp_error")
  expect_error(predict(counts(), new, interval = "prediction", weights = 2), "takes weights",
               class = "sparsegp_error")
  expect_error(half(weights = ~ nowhere), "not in newdata", class = "sparsegp_error")
  expect_error(half(weights = -1), "positive", class = "sparsegp_error")
})

test_that("the joint covariance is that of draws, with the standard errors on its diagonal", {
  slow_tier()
  fit <- sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE, mean = "average")
  at <- data.frame(wt = c(2, NA, 3, 4), hp = 100, row.names = c("a", "b", "c", "d"))
  both <- predict(fit, at, se.fit = TRUE, covariance = TRUE)
  expect_named(both, c("fit", "se.fit", "covariance"))
  expect_equal(sqrt(diag(both$covariance)), both$se.fit, tolerance = 1e-8)
  expect_identical(dimnames(both$covariance), rep(list(rownames(at)), 2L))
  expect_true(all(is.na(both$covariance["b", ])) && all(is.na(both$covariance[, "b"])))
  # by hand: k(x, x) - k(x, X) (K + noise)^-1 k(X, x)
  scale_of <- function(x) sweep(sweep(x, 2L, colMeans(mtcars[c("wt", "hp")])), 2L,
                                apply(mtcars[c("wt", "hp")], 2L, sd) * sqrt(31 / 32), "/")
  X <- as.matrix(scale_of(mtcars[c("wt", "hp")]))
  x <- as.matrix(scale_of(at[c(1, 3, 4), ]))
  k <- function(a, b) {
    d2 <- outer(rowSums(a^2), rowSums(b^2), "+") - 2 * tcrossprod(a, b)
    coef(fit)[["variance"]] * exp(-d2 / (2 * coef(fit)[["lengthscale"]]^2))
  }
  by_hand <- k(x, x) - k(x, X) %*% solve(k(X, X) + coef(fit)[["noise"]] * diag(32), k(X, x))
  expect_equal(both$covariance[-2L, -2L], by_hand, ignore_attr = TRUE, tolerance = 1e-7)
  expect_identical(dim(predict(fit, covariance = TRUE)$covariance), c(32L, 32L))
  expect_error(predict(counts(), new, covariance = TRUE), "link", class = "sparsegp_error")
  expect_identical(dim(predict(counts(), new, "link", covariance = TRUE)$covariance), c(3L, 3L))
})

test_that("counts with an offset that are treated as numeric give a message", {
  d <- data.frame(x = 1:12, y = c(0, 2, 1, 3, 2, 5, 4, 6, 5, 9, 8, 12), hours = 1:12)
  expect_message(fit <- sparsegp(y ~ x + offset(log(hours)), d, learn = FALSE), "counts.*poisson")
  expect_identical(fit$likelihood$type, "gaussian")
  expect_no_message(sparsegp(y ~ x + offset(log(hours)), d, lik_gaussian(), learn = FALSE))
  expect_no_message(sparsegp(y ~ x, d, learn = FALSE))
  expect_no_message(sparsegp(y / 2 ~ x + offset(log(hours)), d, learn = FALSE))
})

test_that("a response of 0 and 1 that is treated as numeric gives a message", {
  expect_message(fit <- sparsegp(am ~ wt, mtcars, learn = FALSE), "only 0 and 1.*probit")
  expect_identical(fit$likelihood$type, "gaussian")
  expect_no_message(sparsegp(am ~ wt, mtcars, lik_gaussian(), learn = FALSE))
  expect_no_message(sparsegp(factor(am) ~ wt, mtcars, learn = FALSE))
})
