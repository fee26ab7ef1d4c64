# What people type who come from elsewhere, and that is understood: families, names of kernels,
# offset as an argument, sparse matrices.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

test_that("likelihood takes families of glm() and their names", {
  slow_tier()
  named <- sparsegp(am ~ wt, mtcars, lik_logit(), learn = FALSE)
  for (given in list(binomial, binomial(), "binomial", "logit")) {
    expect_identical(sparsegp(am ~ wt, mtcars, given, learn = FALSE)$latent, named$latent)
    expect_identical(sparsegp(mtcars$wt, mtcars$am, given, learn = FALSE)$latent, named$latent)
  }
})

test_that("family is another name of likelihood", {
  slow_tier()
  named <- sparsegp(am ~ wt, mtcars, lik_logit(), learn = FALSE)
  fit <- sparsegp(am ~ wt, mtcars, family = binomial, learn = FALSE)
  expect_identical(fit$latent, named$latent)
  expect_identical(fit$call, quote(sparsegp(formula = am ~ wt, data = mtcars, learn = FALSE,
                                            likelihood = binomial))[c(1:3, 5L, 4L)])
  expect_identical(update(fit, . ~ . + hp)$likelihood, fit$likelihood)
  own <- function(family) sparsegp(am ~ wt, mtcars, family = family, learn = FALSE)
  expect_identical(own(binomial())$latent, named$latent)
  passed <- function(...) sparsegp(am ~ wt, mtcars, ..., learn = FALSE)
  expect_identical(passed(family = "binomial")$latent, named$latent)
  expect_identical(sparsegp(mtcars$wt, mtcars$am, family = binomial, learn = FALSE)$latent,
                   named$latent)
  piped <- mtcars |> sparsegp(am ~ wt, family = binomial, learn = FALSE)
  expect_identical(piped$latent, named$latent)
  refused(sparsegp(am ~ wt, mtcars, "probit", family = binomial), "beside `likelihood`")
})

test_that("the arguments that people use come first", {
  first <- c("likelihood", "kernel", "weights", "offset")
  expect_identical(names(formals(sparsegp.formula))[3:8], c(first, "subset", "na.action"))
  expect_identical(names(formals(sparsegp.default))[3:7], c(first, "na.action"))
  for (method in list(sparsegp.formula, sparsegp.default)) {
    expect_lte(length(setdiff(names(formals(method)), "...")), 15L)
  }
})

test_that("kernels go by name, and by the names of other packages", {
  slow_tier()
  fit <- function(kernel) sparsegp(mpg ~ wt, mtcars, kernel = kernel, learn = FALSE)$latent
  expect_identical(fit("matern52"), fit(kernel_matern52()))
  expect_identical(fit("rbfdot"), fit(kernel_rbf()))
  scalar <- c("rbf", "matern12", "matern32", "matern52", "rq", "linear", "poly", "constant",
              "factor", "periodic", "trig")
  for (name in scalar) expect_identical(as_kernel(name)$type, name)
  for (type in names(REGISTRY$kernels)) {
    for (name in REGISTRY$kernels[[type]]$aliases) expect_identical(as_kernel(name)$type, type)
  }
  refused(as_kernel("coregion"), "\"matern52\"")
  # those of other packages are in no list of C's
  expect_setequal(setdiff(names(REGISTRY$kernels), "extension"), catalogue()$kernels)
  refused(fit("nonsense"), "\"matern52\"")
  refused(fit(3), "a name such as")
})

test_that("an offset given apart is a term of the formula", {
  d <- transform(mtcars, known = 10 * am)
  inside <- sparsegp(mpg ~ wt + offset(known), d, learn = FALSE)
  apart <- sparsegp(mpg ~ wt, d, offset = known, learn = FALSE)
  expect_identical(apart$latent, inside$latent)
  expect_identical(predict(apart, d[1:3, ]), predict(inside, d[1:3, ]))
  expect_error(predict(apart, d[1:3, "wt", drop = FALSE]), "known", class = "sparsegp_error")
  expect_identical(update(apart, . ~ .)$latent, inside$latent) # not twice
})

test_that("a sparse matrix is taken, up to a size", {
  slow_tier()
  skip_if_not_installed("Matrix")
  x <- matrix(c(0, 0, 1, 2, 0, 3, 0, 0, 1, 5), 5L, dimnames = list(NULL, c("a", "b")))
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  expect_s4_class(sparse, "sparseMatrix")
  fit <- sparsegp(sparse, 1:5, learn = FALSE)
  expect_identical(fit$latent, sparsegp(x, 1:5, learn = FALSE)$latent)
  expect_identical(predict(fit, sparse), predict(fit, x))
  large <- Matrix::sparseMatrix(1, 1, x = 1, dims = c(2e5, 1e3))
  refused(sparsegp(large, numeric(2e5)), "sparse matrix.*1e8")
})
