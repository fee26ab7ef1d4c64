# average(): stacking weights against plain R, and the answers of the mixture.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

by_kernel <- function(kernel, ...) {
  skip_if_not_installed("MASS")
  sparsegp(accel ~ times, MASS::mcycle, kernel = kernel, learn = FALSE, ...)
}
# noise that is too small for some observations and too large for others
delayedAssign("SMOOTH", by_kernel(kernel_rbf(2000, 0.5), likelihood = lik_gaussian(900)))
delayedAssign("ROUGH", by_kernel(kernel_matern12(2000, 1), likelihood = lik_gaussian(100)))
delayedAssign("BOTH", average(SMOOTH, ROUGH))

# The optimum by another way: logarithms of ratios of weights, by BFGS
reference_weights <- function(lpd) {
  weights <- function(a) exp(c(0, a)) / sum(exp(c(0, a)))
  loss <- function(a) -mean(log(exp(lpd) %*% weights(a)))
  found <- optim(numeric(ncol(lpd) - 1L), loss, method = "BFGS", control = list(reltol = 1e-14))
  weights(found$par)
}

test_that("weights maximise the log density of the mixture", {
  set.seed(2)
  lpd <- cbind(rnorm(200, -1, 0.6), rnorm(200, -1.1, 0.6), rnorm(200, -1.2, 0.9))
  w <- stacking_weights(lpd)
  other <- reference_weights(lpd)
  # the optimum is a parabola: 0.001 nats are 0.01 of a weight
  expect_lt(max(abs(w - other)), 0.02)
  value <- function(w) sum(log(exp(lpd) %*% w))
  expect_gt(value(w), value(other) - 1e-3)
  # two models, by a line search
  lpd <- cbind(loo_lpd(SMOOTH), loo_lpd(ROUGH))
  line <- optimize(function(w) mean(log(exp(lpd) %*% c(w, 1 - w))), 0:1, maximum = TRUE, tol = 1e-9)
  expect_lt(abs(stacking_weights(lpd)[1L] - line$maximum), 0.02)
  # models that predict nearly alike, where plain expectation maximisation takes 10^4 steps
  near <- rnorm(3000, -1) + matrix(rnorm(15000, 0, 0.05), 3000)
  p <- exp(near)
  gain <- colMeans(p / drop(p %*% stacking_weights(near)))
  expect_lt(3000 * (max(gain) - 1), 1e-3)
})

test_that("densities too small to be numbers have weights, too", {
  lpd <- cbind(c(-2000, -1000, -3), c(-2001, -999, -2))
  expect_equal(stacking_weights(lpd), stacking_weights(lpd + c(1990, 990, 0)), tolerance = 1e-12)
})

test_that("a learned hyperparameter costs its fit one nat", {
  slow_tier()
  one <- sparsegp(mpg ~ wt + hp + qsec, mtcars, kernel = kernel_rbf(), likelihood = "gaussian",
                  control = gp_control(integrate = "none"))
  many <- update(one, kernel = kernel_rbf(ard = TRUE))
  lpd <- cbind(loo_lpd(one), loo_lpd(many))
  priced <- stacking_weights(lpd - rep(c(3, 5) / 32, each = 32))
  table <- summary(average(one, many))
  expect_equal(table[c("one", "many"), "weight"], priced, tolerance = 1e-2)
  expect_identical(optimism(SMOOTH), 0) # nothing was learned
})

test_that("a wrong model gets a weight near 0, and is left out below 0.001", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = seq(0, 3, length.out = 80))
  d$y <- sin(2 * d$x) + 0.1 * rnorm(80)
  right <- sparsegp(y ~ x, d, learn = FALSE, lik_gaussian(0.01), kernel_rbf(1, 0.8))
  wrong <- sparsegp(y ~ x, d, learn = FALSE, lik_gaussian(4), kernel_rbf(0.01, 5))
  table <- summary(average(wrong, right))
  expect_identical(rownames(table), c("right", "wrong"))
  expect_lt(table["wrong", "weight"], 0.01)
  expect_equal(sum(table$weight), 1)
  other <- right
  other$cavity$lpd <- other$cavity$lpd - 1 # everywhere worse: weight 0
  expect_length(coef(average(right, other)), 1L)
})

test_that("a fit averaged with itself predicts as it does", {
  new <- data.frame(times = c(3, 20, 70))
  self <- average(SMOOTH, SMOOTH)
  for (ask in list(list(), list(interval = "prediction"), list(type = "link", se.fit = TRUE),
                   list(type = "quantile", at = 0.1))) {
    # roots of distribution functions are found to 1e-9 or so
    expect_equal(do.call(predict, c(list(self, new), ask)),
                 do.call(predict, c(list(SMOOTH, new), ask)), tolerance = 1e-6)
  }
  expect_equal(loo_lpd(self), loo_lpd(SMOOTH), tolerance = 1e-12)
  expect_equal(summary(self)$weight, c(0.5, 0.5))
})

test_that("answers are those of the mixture", {
  slow_tier()
  new <- data.frame(times = c(3, 20, 30.5))
  w <- summary(BOTH)[c("SMOOTH", "ROUGH"), "weight"]
  expect_gt(min(w), 0.01) # both are in it
  of <- function(fit) predict(fit, new, interval = "prediction", level = 0.5)
  mean <- cbind(of(SMOOTH)[, "fit"], of(ROUGH)[, "fit"])
  sd <- cbind(of(SMOOTH)[, "upr"], of(ROUGH)[, "upr"])
  sd <- (sd - mean) / qnorm(0.75)
  out <- predict(BOTH, new, interval = "prediction", level = 0.9)
  expect_equal(unname(out[, "fit"]), unname(drop(mean %*% w)), tolerance = 1e-10)
  # the content below each end, by the normals that are mixed
  below <- function(q) drop(pnorm((q - mean) / sd) %*% w)
  expect_equal(unname(below(out[, "lwr"])), rep(0.05, 3), tolerance = 1e-6)
  expect_equal(unname(below(out[, "upr"])), rep(0.95, 3), tolerance = 1e-6)
  lpd <- unname(cbind(loo_lpd(SMOOTH), loo_lpd(ROUGH)))
  expect_equal(unname(loo_lpd(BOTH)), log(drop(unname(exp(lpd)) %*% w)), tolerance = 1e-10)
  expect_equal(attr(summary(BOTH), "lpd"), sum(loo_lpd(BOTH)), tolerance = 1e-10)
  table <- compare(SMOOTH, ROUGH, BOTH)
  expect_identical(rownames(table)[1L], "BOTH")
  expect_true(is.na(table["BOTH", "log_evidence"]))
  expect_equal(attr(calibration(BOTH), "pit")$lower[1L],
               drop(pnorm((MASS::mcycle$accel[1L] - c(loo(SMOOTH)$mean[1L], loo(ROUGH)$mean[1L])) /
                            c(loo(SMOOTH)$sd[1L], loo(ROUGH)$sd[1L])) %*% w), tolerance = 1e-8)
})

test_that("fits may differ in inputs, likelihood and scale of the response", {
  slow_tier()
  fits <- list(sparsegp(mpg ~ wt, mtcars, likelihood = lik_gaussian(transform = "log"),
                        learn = FALSE),
               sparsegp(mpg ~ hp, mtcars, learn = FALSE),
               sparsegp(mpg ~ wt + hp, mtcars, "student", learn = FALSE))
  all <- do.call(average, fits)
  w <- summary(all)$weight
  expect_gt(sum(w > 0), 1L)
  in_order <- fits[as.integer(sub("fit ", "", rownames(summary(all))))]
  each <- vapply(in_order, predict, numeric(4), newdata = mtcars[5:8, ])
  expect_equal(unname(predict(all, mtcars[5:8, ])), unname(drop(each %*% w)), tolerance = 1e-8)
  expect_equal(nrow(attr(calibration(all, mtcars[5:8, ]), "pit")), 4L)
  refused(predict(all, mtcars[5:8, ], type = "link"), "type")
  refused(draws(all, mtcars[5:8, ], type = "latent"), "type")
  expect_identical(dim(draws(all, mtcars[5:8, ])), c(4L, 1L)) # of the response
  expect_identical(dim(draws(all, mtcars[5:8, ], 3, type = "response")), c(4L, 3L))
  labels <- average(sparsegp(am ~ wt, mtcars, "probit", learn = FALSE),
                    sparsegp(am ~ wt, mtcars, "logit", learn = FALSE))
  prob <- predict(labels, mtcars[1:3, ], type = "prob")
  expect_equal(unname(rowSums(prob)), rep(1, 3))
})

test_that("averages are plain data: saved, printed, drawn", {
  slow_tier()
  file <- tempfile()
  saveRDS(BOTH, file)
  again <- readRDS(file)
  new <- data.frame(times = c(3, 20))
  expect_identical(predict(again, new, interval = "prediction"),
                   predict(BOTH, new, interval = "prediction"))
  expect_output(print(BOTH), "Average of 2 .*SMOOTH.*of the average")
  expect_named(coef(BOTH), rownames(summary(BOTH)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(BOTH, n = 11)
  expect_identical(nrow(drawn), 11L)
  expect_silent(plot(BOTH, "loo"))
})

test_that("what cannot be averaged is refused, and what an average has not", {
  slow_tier()
  refused(average(SMOOTH, 1), "...")
  refused(average(SMOOTH, sparsegp(mpg ~ wt, mtcars, learn = FALSE)), "different rows or responses")
  skip_if_not_installed("MASS")
  spread <- sparsegp(accel ~ times, MASS::mcycle, lik_heteroscedastic(), learn = FALSE)
  refused(average(SMOOTH, spread), "numbers of latent functions")
  size <- data.frame(wt = mtcars$wt, y = cut(mtcars$mpg, 3, ordered_result = TRUE))
  classes <- lapply(list(lik_ordinal(), lik_softmax()), function(lik) {
    sparsegp(y ~ wt, size, lik, learn = FALSE)
  })
  refused(average(classes[[1]], classes[[2]]), "lik_softmax")
  counts <- sparsegp(carb ~ wt, mtcars, "poisson", learn = FALSE)
  refused(average(counts, sparsegp(carb ~ wt, mtcars, lik_gaussian(), learn = FALSE)),
          "probabilities")
  heavy <- sparsegp(carb ~ wt, mtcars, "poisson", offset = log(wt), learn = FALSE)
  refused(average(counts, heavy), "offsets")
  stream <- sparsegp(mpg ~ wt, mtcars, method = method_online(5, pilot = 20), learn = FALSE)
  refused(average(stream, stream), "keeps no rows")
  for (ask in list(vcov, logLik, confint, influence, importance, sites)) {
    refused(ask(BOTH), "average of fits")
  }
  refused(update(BOTH, . ~ .), "average of fits")
  refused(merge(BOTH, BOTH), "average of fits")
})
