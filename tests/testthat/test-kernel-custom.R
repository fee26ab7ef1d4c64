# Kernels that are R functions, against their built-in twins.

squares <- function(x, z) {
  pmax(outer(rowSums(x^2), rowSums(z^2), "+") - 2 * tcrossprod(x, z), 0)
}

r_rbf <- function(x, z, theta) exp(-squares(x, z) / (2 * theta[["lengthscale"]]^2))

r_slope <- function(x, z, theta) {
  list(r_rbf(x, z, theta) * squares(x, z) / theta[["lengthscale"]]^3)
}

custom_rbf <- function(...) kernel_custom(r_rbf, c(lengthscale = 1), ...)

rows <- local({
  set.seed(1)
  d <- data.frame(a = rnorm(60L), b = rnorm(60L))
  d$y <- sin(2 * d$a) + d$b + rnorm(60L, sd = 0.1)
  d$label <- factor(d$y > 0)
  d
})

error_of <- function(expr) conditionMessage(expect_error(expr, class = "sparsegp_error"))

test_that("a fit at given hyperparameters is that of the built-in twin, by every method", {
  slow_tier()
  methods <- list(method_ep(), method_ep(size = 15), method_ivm(size = 15),
                  method_online(size = 15))
  for (method in methods) {
    for (formula in c(y ~ a + b, label ~ a + b)) {
      fit_by <- function(kernel) {
        sparsegp(formula, rows, kernel = kernel, method = method, learn = FALSE)
      }
      by_c <- fit_by(kernel_rbf(lengthscale = 1))
      by_r <- fit_by(custom_rbf())
      # the same formula: rounding of kernel matrices, through factors of condition 1e4 and less
      expect_equal(logLik(by_r)[1L], logLik(by_c)[1L], tolerance = 1e-10)
      expect_equal(predict(by_r, rows, type = "latent", se.fit = TRUE)$se.fit,
                   predict(by_c, rows, type = "latent", se.fit = TRUE)$se.fit, tolerance = 1e-8)
    }
  }
})

test_that("learning ends at the twin's hyperparameters, with a gradient or without", {
  memory_tier()
  prior <- list(lengthscale = prior_lognormal(0, 1))
  learned <- function(kernel) coef(sparsegp(y ~ a + b, rows, kernel = kernel,
                                            control = gp_control(prior = prior)))
  by_c <- learned(kernel_rbf(lengthscale = 1))
  # searches stop at slopes of 1e-5
  expect_equal(learned(custom_rbf()), by_c, tolerance = 1e-5)
  expect_equal(learned(custom_rbf(grad = r_slope)), by_c, tolerance = 1e-5)
})

test_that("numeric derivatives are those of `grad`, in every range", {
  x <- as.matrix(rows[1:9, c("a", "b")])
  z <- as.matrix(rows[10:14, c("a", "b")])
  one <- c(lengthscale = 1)
  fun <- function(x, z, theta) {
    (theta[["r"]] + 2) * tcrossprod(x, z) + exp(theta[["s"]]) + theta[["t"]]^3 * r_rbf(x, z, one)
  }
  grad <- function(x, z, theta) {
    list(tcrossprod(x, z), matrix(exp(theta[["s"]]), nrow(x), nrow(z)),
         3 * theta[["t"]]^2 * r_rbf(x, z, one))
  }
  kernel <- kernel_custom(fun, c(r = 0.3, s = -0.5, t = 1.5), grad = grad,
                          range = list(r = c(-1, 1), s = c(-Inf, Inf)))
  theta <- c(0.2, -0.5, log(1.5))
  Kbar <- matrix(rnorm(45L), 9L)
  given <- evaluate_kernel(kernel$custom, "adjoint", theta, x, z, Kbar)
  kernel$custom["grad"] <- list(NULL)
  # central differences with steps of 1e-5
  expect_equal(given, evaluate_kernel(kernel$custom, "adjoint", theta, x, z, Kbar),
               tolerance = 1e-8)
})

test_that("sums, products, `vars`, bounds, terms, printing and plots know it", {
  memory_tier()
  kernel <- custom_rbf(vars = "a", label = "mine") * kernel_rbf(vars = "b", variance = fixed(1)) +
    kernel_linear()
  expect_match(format(kernel), "mine(lengthscale = 1, vars = a) * rbf(", fixed = TRUE)
  fit <- sparsegp(y ~ a + b, rows, kernel = kernel, learn = FALSE)
  twin <- kernel_rbf(lengthscale = 1, vars = "a") *
    kernel_rbf(vars = "b", variance = fixed(1)) + kernel_linear()
  by_c <- sparsegp(y ~ a + b, rows, kernel = twin, learn = FALSE)
  expect_named(coef(fit), names(coef(by_c)))
  expect_equal(predict(fit, rows), predict(by_c, rows), tolerance = 1e-10)
  expect_equal(predict(fit, rows, type = "terms"), predict(by_c, rows, type = "terms"),
               tolerance = 1e-8, ignore_attr = TRUE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_no_error(plot(fit))
  expect_output(print(fit), "mine(", fixed = TRUE)
})

test_that("a saved fit has its function", {
  fit <- sparsegp(y ~ a + b, rows, kernel = custom_rbf(), learn = FALSE)
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), rows), predict(fit, rows))
  fit$kernel$custom$fun <- "no function"
  expect_error(predict(fit, rows), class = "sparsegp_error")
})

test_that("hyperparameters have the kernel's priors, and the user's before them", {
  memory_tier()
  kernel <- custom_rbf(prior = list(lengthscale = prior_gamma(2, 3)))
  prior_in <- function(...) {
    fit <- sparsegp(y ~ a, rows, kernel = kernel, learn = FALSE, ...)
    fit$hyper$prior[[match("lengthscale", fit$hyper$name)]]$family
  }
  expect_identical(prior_in(), "gamma")
  expect_identical(prior_in(control = gp_control(prior = list(lengthscale = prior_flat()))), "flat")
})

test_that("fixed hyperparameters stay", {
  kernel <- kernel_custom(r_rbf, list(lengthscale = fixed(0.7)))
  expect_identical(coef(sparsegp(y ~ a, rows, kernel = kernel))[["lengthscale"]], 0.7)
})

test_that("what is no covariance is an error that says why", {
  memory_tier()
  refused <- function(fun, ...) {
    error_of(sparsegp(y ~ a, rows, kernel = kernel_custom(fun, ...), learn = FALSE))
  }
  expect_match(refused(function(x, z, theta) stop("as I like")), "as I like")
  expect_match(refused(function(x, z, theta) 1), "returned 1 for")
  expect_match(refused(function(x, z, theta) "a"), "an object of class")
  expect_match(refused(function(x, z, theta) outer(x[, 1L], z[, 1L], "-")), "not symmetric")
  expect_match(refused(function(x, z, theta) abs(outer(x[, 1L], z[, 1L], "-"))),
               "not positive semidefinite")
  expect_match(refused(function(x, z, theta) tcrossprod(scale(x), scale(z))), "other points")
  expect_match(refused(function(x, z, theta) tcrossprod(x, z) / 0), "not finite")
  expect_match(refused(r_rbf, c(lengthscale = 1), grad = function(x, z, theta) {
    list(r_rbf(x, z, theta))
  }), "`grad` that is not the derivative in lengthscale")
  expect_match(refused(r_rbf, c(lengthscale = 1), diag = function(x, theta) x[, 1L]),
               "`diag` that is not the diagonal")
})

test_that("bad arguments are named", {
  memory_tier()
  expect_match(error_of(kernel_custom(1)), "`fun` is not a function")
  expect_match(error_of(kernel_custom(function(x) x)), "too few arguments")
  expect_match(error_of(kernel_custom(r_rbf, 1)), "`theta` must be numbers with names")
  expect_match(error_of(kernel_custom(r_rbf, c(variance = 1))), "has a variance")
  expect_match(error_of(kernel_custom(r_rbf, c(a = 1), range = list(b = 1:2))), "`range`")
  expect_match(error_of(kernel_custom(r_rbf, c(a = 1), range = list(a = 2:1))), "not an interval")
  expect_match(error_of(kernel_custom(r_rbf, c(a = -1))), "`a` must be positive")
  expect_match(error_of(kernel_custom(r_rbf, c(a = 1), prior = list(a = 1))), "`prior`")
  expect_match(error_of(kernel_custom(r_rbf, label = "two words")), "`label`")
  expect_match(error_of(as_kernel("custom")), "`kernel`")
})

test_that("values that are not finite turn the search back", {
  memory_tier()
  limited <- function(x, z, theta) r_rbf(x, z, theta) * if (theta[[1L]] > 1.2) NaN else 1
  for (method in list(method_ep(), method_ep(size = 15))) {
    fit <- sparsegp(y ~ a, rows, kernel = kernel_custom(limited, c(lengthscale = 1)),
                    method = method)
    expect_lt(coef(fit)[["lengthscale"]], 1.2)
  }
})
