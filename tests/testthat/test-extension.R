# Likelihoods and kernels of other packages: what can be tested without one. tools/extension tests
# the example package.

error_of <- function(expr) conditionMessage(expect_error(expr, class = "sparsegp_error"))

test_that("packages that are not there, and names that they have not registered, are named", {
  for (make in list(kernel_extension, lik_extension)) {
    expect_match(error_of(make("noSuchPackage", "rq")), "noSuchPackage.*cannot be loaded")
    expect_match(error_of(make("stats", "rq")), "`name`.*has not registered")
    expect_match(error_of(make(1, "rq")), "`package`")
    expect_match(error_of(make("stats", "")), "`name`")
  }
})

test_that("a fit whose package is missing says which one, and one that was changed is refused", {
  fit <- sparsegp(dist ~ speed, cars, kernel = kernel_rbf(), learn = FALSE)
  fit$kernel$type <- fit$spec$type <- "extension"
  fit$kernel$extension <- fit$spec$extension <- c(package = "noSuchPackage", name = "rq")
  fit$spec$shaped <- FALSE
  expect_match(error_of(predict(fit, cars)), "noSuchPackage.*cannot be loaded")
  fit$spec$extension <- 1
  expect_match(error_of(predict(fit, cars)), "damaged")
})

test_that("the header is installed with the package", {
  expect_true(nzchar(system.file("include", "sparsegp.h", package = "sparsegp")) ||
                file.exists(file.path(source_folder("inst"), "include", "sparsegp.h")))
})
