# gp_control(): settings that do not say what the model is.

test_that("arguments of earlier versions do what gp_control() does, with one message", {
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
