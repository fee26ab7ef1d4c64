# The generics that lm() has methods for, too.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

plain <- function() sparsegp(mpg ~ wt + hp, mtcars, learn = FALSE)
classes <- function() sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)

test_that("every likelihood has a family, whose link leads back to the likelihood", {
  expect_setequal(names(FAMILIES), names(catalogue()$likelihoods))
  fit <- classes()
  expect_identical(family(fit)$family, "binomial")
  at <- predict(fit, type = "link")
  expect_equal(family(fit)$linkinv(at), predict(fit, type = "median"), tolerance = 1e-12)
  counts <- sparsegp(carb ~ wt, mtcars, poisson, learn = FALSE)
  expect_equal(family(counts)$linkinv(predict(counts, type = "link")),
               predict(counts, type = "median"), tolerance = 1e-12)
  for (type in TO_FAMILY) {
    lik <- get(paste0("lik_", type))()
    lik <- likelihood_of_family(structure(as.list(setNames(FAMILIES[[type]], c("family", "link"))),
                                          class = "family"))
    expect_identical(lik$type, type)
  }
  expect_identical(family(plain())$linkfun(3), 3)
})

test_that("terms() are the formula's; step() and drop1() are refused in words", {
  fit <- plain()
  expect_identical(attr(terms(fit), "term.labels"), c("wt", "hp"))
  refused(terms(sparsegp(mtcars$wt, mtcars$mpg, learn = FALSE)), "no terms")
  refused(step(fit, trace = 0), "compare\\(\\)")
  refused(drop1(fit), "drop1")
  refused(add1(fit, ~ . + cyl), "add1")
})

test_that("fits of several responses have what there is of them, or say that it is not", {
  d <- data.frame(x = 1:9 / 9, u = sin(1:9), v = cos(1:9))
  fit <- sparsegp(cbind(u, v) ~ x, d, learn = FALSE)
  expect_identical(family(fit)$family, "gaussian")
  refused(importance(fit), "several components")
  skip_if_not_installed("generics")
  refused(generics::augment(fit), "several components")
  expect_identical(nrow(generics::glance(fit)), 1L)
})

test_that("model.frame() and model.matrix() work where formula and data were arguments", {
  inside <- function(form, d) sparsegp(form, d, control = gp_control(coding = "contrasts"),
                                       learn = FALSE)
  fit <- inside(mpg ~ log(wt) + factor(cyl), mtcars)
  linear <- lm(mpg ~ log(wt) + factor(cyl), mtcars)
  expect_equal(model.frame(fit), model.frame(linear), ignore_attr = TRUE)
  # the same columns but the intercept
  expect_equal(model.matrix(fit), model.matrix(linear)[, -1L],
               ignore_attr = c("assign", "contrasts"))
  expect_equal(model.matrix(fit, mtcars[3:4, ]), model.matrix(fit)[3:4, ])
  # a fit on a basis finds its rows where the formula was written, or says that it does not
  sparse <- sparsegp(mpg ~ wt + hp + qsec, mtcars, basis = 1:5, learn = FALSE)
  expect_equal(model.matrix(sparse), as.matrix(mtcars[c("wt", "hp", "qsec")]))
  gone <- (function(form, rows) sparsegp(form, rows, basis = 1:5, learn = FALSE))(
    mpg ~ wt + hp + qsec, mtcars)
  refused(model.frame(gone), "not where its formula was written")
  plain <- sparsegp(cbind(a = mtcars$wt, b = 2, c = mtcars$hp), mtcars$mpg, learn = FALSE)
  # back from standard deviations, to rounding
  expect_equal(model.matrix(plain), cbind(a = mtcars$wt, b = 2, c = mtcars$hp), tolerance = 1e-14,
               ignore_attr = TRUE)
  refused(model.frame(plain), "matrix")
})

test_that("sigma, df.residual, labels and variable.names are there, and a deviance is not", {
  fit <- sparsegp(mpg ~ wt + factor(cyl), mtcars, control = gp_control(coding = "contrasts"),
                  learn = FALSE,
                  mean = "average")
  expect_equal(sigma(fit), sqrt(coef(fit)[["noise"]]), tolerance = 1e-14)
  expect_identical(labels(fit), c("wt", "factor(cyl)"))
  expect_identical(variable.names(fit), c("wt", "factor(cyl)6", "factor(cyl)8"))
  # by hand, the trace of K (K + noise I)^{-1}
  x <- scale(model.matrix(fit)) * sqrt(32 / 31)
  K <- coef(fit)[["variance"]] * exp(-as.matrix(dist(x))^2 / (2 * coef(fit)[["lengthscale"]]^2))
  hat <- K %*% solve(K + coef(fit)[["noise"]] * diag(32))
  expect_equal(df.residual(fit), 32 - sum(diag(hat)), tolerance = 1e-8)
  refused(deviance(fit), "no deviance")
  refused(sigma(sparsegp(carb ~ wt, mtcars, poisson, learn = FALSE)), "poisson")
  heavy <- sparsegp(mpg ~ wt, mtcars, lik_student(2, fixed(5)), learn = FALSE)
  expect_equal(sigma(heavy), 2 * sqrt(5 / 3), tolerance = 1e-10)
  refused(df.residual(sparsegp(Species ~ Sepal.Length, iris[c(1:5, 51:55, 101:105), ],
                               learn = FALSE)), "each class")
})
