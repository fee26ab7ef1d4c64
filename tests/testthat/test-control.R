# gp_control(): settings that do not say what the model is.

r_code_alone()

test_that("update() replaces arguments of gp_control() one by one", {
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE,
                  control = gp_control("quick", keep_x = TRUE, integrate = "none"))
  call <- update(fit, control = gp_control(keep_x = FALSE), evaluate = FALSE)$control
  expect_identical(eval(call), gp_control("quick", keep_x = FALSE, integrate = "none"))
  call <- update(fit, control = gp_control(effort = "normal", integrate = NULL), evaluate = FALSE)
  expect_identical(eval(call$control), gp_control(keep_x = TRUE))
  # one that is not written as a call replaces all, and NULL removes it
  mine <- gp_control(keep_x = TRUE)
  expect_identical(update(fit, control = mine, evaluate = FALSE)$control, quote(mine))
  expect_null(update(fit, control = NULL, evaluate = FALSE)$control)
})

test_that("fits like another take settings of their own", {
  memory_tier()
  on_points <- sparsegp(dist ~ speed, cars, basis = c(3, 12, 21),
                        control = gp_control(keep_x = TRUE))
  for (keep in c(TRUE, FALSE)) {
    like <- sparsegp(data = cars, control = gp_control(like = on_points, keep_x = keep))
    expect_identical(is.null(like[["x"]]), !keep)
  }
  expect_error(sparsegp(data = cars, control = gp_control(like = on_points, coding = "levels")),
               "`coding` comes from `like`", class = "sparsegp_error")
})

test_that("wrong settings are errors that name them", {
  refused <- function(call, words) expect_error(call, words, class = "sparsegp_error")
  refused(gp_control(effort = "much"), "effort")
  refused(gp_control(integrate = TRUE), "integrate")
  refused(gp_control(keep_x = NA), "keep_x")
  refused(gp_control(verbose = 2), "verbose")
  refused(gp_control(checkpoint = 1), "checkpoint")
  refused(gp_control(coding = "onehot"), "coding")
  refused(gp_control(like = 1), "like")
  refused(sparsegp(dist ~ speed, cars, control = list(effort = "quick")), "gp_control()")
  refused(sparsegp(dist ~ speed, cars, keep_X = TRUE), "keep_X")
  refused(sparsegp(dist ~ speed, cars, control = gp_control(keep_x = TRUE), nosuch = 1), "nosuch")
  refused(sparsegp(dist ~ speed, cars, control = gp_control(checkpoint = "f")), "checkpoint")
  expect_output(print(gp_control()), "effort = \"normal\"")
})

test_that("arguments of other places are refused with where they are", {
  memory_tier()
  refused <- function(call, words) expect_error(call, words, class = "sparsegp_error")
  for (name in setdiff(names(formals(gp_control)), "like")) { # which is short for likelihood
    given <- stats::setNames(list(NULL), name)
    refused(do.call(sparsegp, c(list(dist ~ speed, cars), given)),
            paste0("Unknown argument: `", name, "`.*gp_control\\(", name))
    refused(do.call(sparsegp, c(list(cars["speed"], cars$dist), given)),
            paste0("gp_control\\(", name))
  }
  refused(sparsegp(dist ~ speed, cars, transform = "log"), "lik_gaussian\\(transform = ")
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  refused(predict(fit, type = "quantile", probs = 0.2), "Unknown argument: `probs`")
  refused(predict(fit, type = "link", at = 0.2), "at")
})
