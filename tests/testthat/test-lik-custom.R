# lik_custom(): likelihoods written in R against their twins in C.

own_probit <- function(...) {
  lik_custom(function(y, f, theta) pnorm(y * (f + theta["bias"]), log.p = TRUE),
             theta = list(bias = fixed(0.3)), response = "label", ...)
}

own_student <- function(scale, ...) {
  lik_custom(function(y, f, theta) dt((y - f) / theta["scale"], 4, log = TRUE) -
               log(theta["scale"]), theta = list(scale = scale), ...)
}

waves <- function(n = 40L) {
  set.seed(2)
  x <- seq(0, 6, length.out = n)
  list(x = x, y = 100 + 30 * (sin(x) + 0.2 * rt(n, 4)),
       label = factor(ifelse(runif(n) < pnorm(2 * sin(x)), "b", "a")))
}

test_that("tilts of functions in R are those of their twins in C to 1e-7", {
  w <- waves()
  kernel <- kernel_rbf(variance = fixed(2), lengthscale = fixed(1))
  pairs <- list(
    list(sparsegp(w$x, w$label, likelihood = lik_probit(fixed(0.3)), kernel = kernel,
                  method = method_ep()),
         sparsegp(w$x, w$label, likelihood = own_probit(), kernel = kernel, method = method_ep())),
    list(sparsegp(w$x, w$y, likelihood = lik_student(fixed(6), transform = "identity"),
                  kernel = kernel, method = method_ep()),
         sparsegp(w$x, w$y, likelihood = own_student(fixed(6)), kernel = kernel,
                  method = method_ep()))
  )
  for (pair in pairs) {
    expect_equal(c(logLik(pair[[1L]])), c(logLik(pair[[2L]])), tolerance = 1e-7)
    expect_equal(predict(pair[[1L]], 1:5), predict(pair[[2L]], 1:5), tolerance = 1e-6)
  }
})

test_that("an error of the function is one about the likelihood", {
  expect_error(lik_custom(function(y, f, theta) stop("no way")), "no way",
               class = "sparsegp_error")
  expect_error(lik_custom(function(y, f, theta) 0), "vectorised", class = "sparsegp_error")
  expect_error(lik_custom(function(y, f, theta) dnorm(y, f, 1, log = TRUE) + 1), "adds up to 2.71",
               class = "sparsegp_error")
  wrong <- function(y, f, theta) cbind(0 * y)
  expect_error(own_student(2, gradient = wrong), "gradient", class = "sparsegp_error")
})
