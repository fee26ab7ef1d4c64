# gp_control(): settings that do not say what the model is.

test_that("arguments of earlier versions do what gp_control() does, with one message", {
  memory_tier()
  registry <- asNamespace("sparsegp")$REGISTRY
  old <- registry$told
  on.exit(registry$told <- old)
  registry$told <- NULL
  now <- sparsegp(dist ~ speed, cars, control = gp_control(integrate = "ccd"))
  expect_message(before <- sparsegp(dist ~ speed, cars, integrate = "ccd"),
                 "control = gp_control\\(integrate = ...\\)")
  expect_identical(predict(before), predict(now))
  expect_silent(sparsegp(dist ~ speed, cars, integrate = "none"))
  # update() replaces one setting and keeps the others
  mode <- update(now, integrate = "none")
  expect_identical(predict(mode),
                   predict(sparsegp(dist ~ speed, cars, control = gp_control(integrate = "none"))))
  # matrices, sources and fits like another take them, too
  x <- as.matrix(cars["speed"])
  expect_identical(predict(sparsegp(x, cars$dist, "gaussian", "rbf", integrate = "none"), x),
                   predict(sparsegp(x, cars$dist, "gaussian", "rbf",
                                    control = gp_control(integrate = "none")), x))
  on_points <- sparsegp(dist ~ speed, cars, basis = c(3, 12, 21),
                        control = gp_control(keep_x = TRUE))
  for (keep in c(TRUE, FALSE)) {
    like <- sparsegp(like = on_points, data = cars, control = gp_control(keep_x = keep))
    expect_identical(is.null(like[["x"]]), !keep)
    expect_identical(sparsegp(like = on_points, data = cars, keep_x = keep)[["x"]], like[["x"]])
  }
})

test_that("wrong settings are errors that name them", {
  refused <- function(call, words) expect_error(call, words, class = "sparsegp_error")
  refused(gp_control(effort = "much"), "effort")
  refused(gp_control(integrate = TRUE), "integrate")
  refused(gp_control(keep_x = NA), "keep_x")
  refused(gp_control(verbose = 2), "verbose")
  refused(gp_control(checkpoint = 1), "checkpoint")
  refused(sparsegp(dist ~ speed, cars, control = list(effort = "quick")), "gp_control()")
  refused(sparsegp(dist ~ speed, cars, keep_X = TRUE), "keep_X")
  refused(sparsegp(dist ~ speed, cars, keep_x = TRUE, nosuch = 1), "nosuch")
  refused(sparsegp(dist ~ speed, cars, control = gp_control(checkpoint = "f")), "checkpoint")
  expect_output(print(gp_control()), "effort = \"normal\"")
})

test_that("probs, times and horizon of predict() are `at`, with one message", {
  registry <- asNamespace("sparsegp")$REGISTRY
  old <- registry$told
  on.exit(registry$told <- old)
  registry$told <- NULL
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  expect_message(before <- predict(fit, type = "quantile", probs = 0.2), "Write at = ...: probs is")
  expect_identical(before, predict(fit, type = "quantile", at = 0.2))
  expect_silent(predict(fit, type = "quantile", probs = 0.2))
  refused(predict(fit, type = "quantile", times = 0.2), "...")
  refused(predict(fit, type = "link", at = 0.2), "at")
  d <- data.frame(x = 1:9 / 9, t = c(3, 1, 4, 1, 5, 9, 2, 6, 5))
  fit <- sparsegp(t ~ x, d, lik_weibull(fixed(0.5)), learn = FALSE)
  expect_identical(predict(fit, type = "survival", times = c(2, 4)),
                   predict(fit, type = "survival", at = c(2, 4)))
  expect_identical(predict(fit, type = "rmst", horizon = 4), predict(fit, type = "rmst", at = 4))
})
