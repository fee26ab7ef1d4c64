# Package vetiver itself is not needed: its generics only dispatch to these methods.

r_code_alone()

test_that("a prototype has the variables of the inputs, of their classes and without rows", {
  data <- transform(mtcars, cyl = factor(cyl), am = am == 1)
  fit <- sparsegp(mpg ~ log(wt) + cyl + am, data, structure = "fixed", learn = FALSE)
  shown <- vetiver_ptype.sparsegp(fit)
  expect_identical(dim(shown), c(0L, 3L))
  expect_identical(lapply(shown, class), lapply(data[c("wt", "cyl", "am")], class))
  expect_identical(levels(shown$cyl), levels(data$cyl))
  matrix <- sparsegp(as.matrix(mtcars[c("wt", "hp")]), mtcars$mpg, structure = "fixed",
                     learn = FALSE)
  expect_identical(lapply(vetiver_ptype.sparsegp(matrix), class),
                   list(wt = "numeric", hp = "numeric"))
})

test_that("a prepared fit is smaller and predicts the same, and a handler answers so", {
  fit <- sparsegp(mpg ~ wt + hp, mtcars, structure = "fixed", learn = FALSE)
  stripped <- vetiver_prepare_model.sparsegp(fit)
  expect_null(stripped$frame)
  new <- mtcars[1:3, c("wt", "hp")]
  expect_identical(predict(stripped, new), predict(fit, new))
  answer <- handler_predict.sparsegp(list(model = stripped), type = "median")
  expect_identical(answer(list(body = new)), list(.pred = predict(fit, new, type = "median")))
  data <- transform(mtcars, cyl = factor(cyl))
  fit <- sparsegp(mpg ~ wt + cyl, data, structure = "fixed", learn = FALSE)
  answer <- handler_predict.sparsegp(list(model = fit))(list(body = data.frame(wt = 3L, cyl = "6")))
  expect_equal(answer$.pred, predict(fit, data.frame(wt = 3, cyl = factor(6))), tolerance = 1e-14)
  expect_match(vetiver_create_description.sparsegp(fit), "Gaussian-process model \\(gaussian")
})

test_that("rows that predict() refuses are answered with status 400 and the message", {
  fit <- sparsegp(mpg ~ wt + hp, mtcars, structure = "fixed", learn = FALSE)
  answer <- handler_predict.sparsegp(list(model = fit))
  bad <- list(body = data.frame(wt = "heavy", hp = 100))
  response <- new.env() # plumber gives the response of a request, which has reference semantics
  expect_match(answer(bad, response)$error, "wt of class character")
  expect_identical(response$status, 400L)
  expect_match(answer(list(body = data.frame(wt = 3)), response)$error, "lacks hp")
  expect_error(answer(bad), class = "sparsegp_error")
})
