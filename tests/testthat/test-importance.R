# Importance of inputs against fits without them.

r_code_alone()

plain <- function() sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)

test_that("importance of a matrix is of its columns, on a basis, too", {
  x <- as.matrix(mtcars[c("wt", "hp")])
  table <- importance(sparsegp(x, mtcars$mpg, learn = FALSE))
  by_formula <- importance(plain())
  expect_equal(table, by_formula, tolerance = 1e-8)
  expect_setequal(rownames(importance(sparsegp(x, mtcars$mpg, basis = 1:12, learn = FALSE))),
                  c("wt", "hp"))
})

test_that("importance is what leave-one-out predictions lose", {
  fit <- sparsegp(mpg ~ wt + hp + factor(cyl), mtcars, learn = FALSE,
                  kernel = kernel_rbf(ard = TRUE, lengthscale = c(1, 2, 4, 5)))
  table <- importance(fit)
  expect_setequal(rownames(table), c("wt", "hp", "factor(cyl)"))
  # held constant, an input is one that the kernel does not see; inputs scaled by hand
  x <- scale(model.matrix(fit)) * sqrt(32 / 31)
  without <- sparsegp(x[, -2L], mtcars$mpg, lik_gaussian(coef(fit)[["noise"]]), learn = FALSE,
                      kernel = kernel_rbf(coef(fit)[["variance"]], c(1, 4, 5), ard = TRUE),
                      scale = FALSE)
  lost <- unname(loo_lpd(fit) - loo_lpd(without))
  expect_equal(table["hp", "loss"], sum(lost), tolerance = 1e-6)
  expect_equal(table["hp", "se"], sqrt(32 * var(lost)), tolerance = 1e-6)
  expect_equal(table[c("wt", "hp", "factor(cyl)"), "relevance"], c(1, 1 / 2, 1 / 4))
  expect_true(all(is.na(importance(plain())$relevance)))
})

test_that("inputs of a source's rows have importance where its terms are variables", {
  chunk <- function(i) if (i <= 2L) mtcars[(i - 1L) * 16L + 1:16, ]
  by_source <- function(formula) {
    sparsegp(formula, row_source(chunk, hold = 0), kernel = kernel_rbf(ard = TRUE), basis = mtcars,
             method = method_ep(), learn = FALSE, scale = FALSE)
  }
  of_source <- importance(by_source(mpg ~ wt + hp))
  of_frame <- importance(sparsegp(mpg ~ wt + hp, mtcars, kernel = kernel_rbf(ard = TRUE),
                                  basis = mtcars, learn = FALSE, scale = FALSE))
  expect_equal(of_source, of_frame, tolerance = 1e-6) # sums of chunks in another order
  expect_error(importance(by_source(mpg ~ log(wt) + hp)), "rows that no longer exist",
               class = "sparsegp_error")
})
