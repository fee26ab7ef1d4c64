# Kernel constructors, their algebra, and how a kernel meets its inputs. Their values are tested in
# test-contract-kernels.R.

r_code_alone()

# An error of the package that names this argument.
refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

inputs_of <- function(...) {
  names <- c(...)
  list(names = names, terms = names, kept = rep(TRUE, length(names)))
}

# coef() of the kernel part, at its starts; two inputs, a and b
start_of <- function(kernel, ...) {
  x <- cbind(a = c(1, 2, 4, 3, 6, 5), b = c(2, 1, 3, 5, 4, 0))
  fit <- sparsegp(x, c(1, 2, 1, 3, 2, 4), kernel = kernel, learn = FALSE, ...)
  head(coef(fit), -1L)
}

test_that("a kernel prints itself on one line, as it would be written, and returns itself unseen", {
  shows <- function(kernel, line) {
    expect_output(expect_invisible(print(kernel)), line, fixed = TRUE)
    expect_identical(capture.output(print(kernel)), line)
    expect_identical(capture.output(value <- print(kernel)), line)
    expect_identical(value, kernel)
  }
  shows(kernel_rbf(), "<kernel> rbf()")
  shows(kernel_matern32(2, 0.12345678), "<kernel> matern32(variance = 2, lengthscale = 0.1235)")
  shows(kernel_rq(shape = fixed(3)), "<kernel> rq(shape = fixed(3))")
  shows(kernel_rbf(lengthscale = c(1, 2.5), ard = TRUE),
        "<kernel> rbf(lengthscale = c(1.0, 2.5), ard = TRUE)")
  shows(kernel_poly(3, lengthscale = 2), "<kernel> poly(degree = 3, lengthscale = 2)")
  shows(kernel_trig(3, variance = 2), "<kernel> trig(k0 = 3, variance = 2, period = fixed(1))")
  shows(kernel_periodic(period = fixed(12), vars = "month"),
        "<kernel> periodic(period = fixed(12), vars = month)")
})

test_that("composites print with the brackets they need", {
  a <- kernel_rbf()
  b <- kernel_linear()
  c <- kernel_constant()
  expect_identical(format(a + b * c), "rbf() + linear() * constant()")
  expect_identical(format((a + b) * c), "(rbf() + linear()) * constant()")
  expect_identical(format((a + b) * (b + c)), "(rbf() + linear()) * (linear() + constant())")
})

test_that("sums of sums and products of products are flat, and keep their order", {
  types <- function(kernel) vapply(kernel$parts, function(part) part$type, "")
  a <- kernel_rbf()
  b <- kernel_linear()
  c <- kernel_constant()
  for (kernel in list(a + b + c, a + (b + c), (a + b) + c)) {
    expect_identical(kernel$type, "sum")
    expect_identical(types(kernel), c("rbf", "linear", "constant"))
  }
  for (kernel in list(a * b * c, a * (b * c))) {
    expect_identical(kernel$type, "product")
    expect_identical(types(kernel), c("rbf", "linear", "constant"))
  }
  expect_identical(types((a + b) * c), c("sum", "constant"))
  expect_identical(types(a + b + (a + c)), c("rbf", "linear", "rbf", "constant"))
})

test_that("hyperparameters of parts are numbered k1., k2., ... in the order written", {
  expect_named(start_of(kernel_rbf()), c("variance", "lengthscale"))
  expect_named(start_of(kernel_rbf(ard = TRUE)), c("variance", "lengthscale.a", "lengthscale.b"))
  expect_named(start_of(kernel_linear(ard = TRUE) + kernel_rbf(vars = "b", ard = TRUE)),
               c("k1.variance.a", "k1.variance.b", "k2.variance", "k2.lengthscale.b"))
  kernel <- (kernel_rq() + kernel_poly()) * kernel_constant() + kernel_periodic(vars = "a")
  expect_named(start_of(kernel), c(
    "k1.variance", "k1.lengthscale", "k1.shape", "k2.variance", "k2.lengthscale", "k3.variance",
    "k4.variance", "k4.lengthscale", "k4.period"
  ))
})

test_that("values given are the starts, in the order of `vars`", {
  at <- start_of(kernel_rbf(2, c(3, 4), ard = TRUE, vars = c("b", "a")))
  expect_equal(at, c(variance = 2, lengthscale.b = 3, lengthscale.a = 4))
  expect_equal(start_of(kernel_rq(shape = 7))[["shape"]], 7)
  expect_equal(start_of(kernel_periodic(period = 2.5, vars = 1))[["period"]], 2.5)
  # one value serves all inputs
  expect_equal(unname(start_of(kernel_rbf(lengthscale = 3, ard = TRUE))[2:3]), c(3, 3))
})

test_that("fixed() keeps values while the others are learned", {
  set.seed(1)
  x <- cbind(a = rnorm(25L), b = rnorm(25L))
  y <- sin(x[, 1L]) + 0.1 * rnorm(25L)
  kernel <- kernel_rbf(variance = fixed(1.7), lengthscale = fixed(c(0.9, 3.1)), ard = TRUE) +
    kernel_linear(variance = 0.3)
  at <- coef(sparsegp(x, y, kernel = kernel))
  expect_equal(at[1:3], c(k1.variance = 1.7, k1.lengthscale.a = 0.9, k1.lengthscale.b = 3.1),
               tolerance = 1e-14)
  expect_false(isTRUE(all.equal(at[["k2.variance"]], 0.3)))
})

test_that("what is not a positive number is refused, naming the argument", {
  memory_tier()
  for (bad in list(-1, 0, Inf, NaN, NA_real_, "a", TRUE, numeric(), fixed(-1))) {
    refused(kernel_rbf(variance = bad), "variance")
    refused(kernel_matern12(lengthscale = bad), "lengthscale")
    refused(kernel_rq(shape = bad), "shape")
    refused(kernel_periodic(period = bad), "period")
  }
  for (bad in list("a", NA_real_, NULL, numeric(), Inf)) refused(fixed(bad), "value")
  for (bad in list(0, 1.5, "2", NA, c(1, 2))) refused(kernel_poly(bad), "degree")
  for (bad in list(-1, 1.5, "2", NA, c(1, 2))) refused(kernel_trig(bad), "k0")
  for (bad in list(NA, 1, "yes", c(TRUE, FALSE))) refused(kernel_rbf(ard = bad), "ard")
  for (bad in list(character(), TRUE, NA, c("a", "a"), c(1, 1), list("a"))) {
    refused(kernel_rbf(vars = bad), "vars")
  }
})

test_that("a wrong number of values is refused, naming the argument", {
  refused(start_of(kernel_rbf(lengthscale = c(1, 2))), "lengthscale")
  refused(start_of(kernel_rbf(lengthscale = c(1, 2, 3), ard = TRUE)), "lengthscale")
  refused(start_of(kernel_rbf(lengthscale = fixed(c(1, 2, 3)), ard = TRUE)), "lengthscale")
  refused(start_of(kernel_rbf(variance = c(1, 2), ard = TRUE)), "variance")
  refused(start_of(kernel_rbf(lengthscale = c(1, 2), ard = TRUE, vars = "a")), "lengthscale")
})

test_that("`vars` are names, numbers or formula variables, and unknown ones are refused", {
  refused(start_of(kernel_rbf(vars = "c")), "vars")
  refused(start_of(kernel_rbf(vars = 3)), "vars")
  refused(start_of(kernel_rbf(vars = 1.5)), "vars")
  refused(start_of(kernel_rbf() + kernel_linear(vars = c("a", "z"))), "vars")
  inputs <- list(names = c("x", "gB", "gC"), terms = c("x", "g", "g"), kept = rep(TRUE, 3L))
  expect_identical(resolve_kernel(kernel_rbf(vars = "g"), inputs)$vars, 1:2)
  expect_identical(resolve_kernel(kernel_rbf(vars = c("gC", "x")), inputs)$vars, c(2L, 0L))
  expect_identical(resolve_kernel(kernel_rbf(vars = 3), inputs)$vars, 2L)
})

test_that("constant inputs are left out of a kernel, with the values given for them", {
  inputs <- list(names = c("a", "b", "c"), terms = c("a", "b", "c"), kept = c(TRUE, FALSE, TRUE))
  kernel <- resolve_kernel(kernel_rbf(), inputs)
  expect_identical(kernel$vars, 0:1)
  expect_identical(kernel$input_names, c("a", "c"))
  x <- cbind(a = c(1, 2, 4, 3), b = 5, c = c(2, 1, 3, 5))
  fit <- sparsegp(x, c(1, 2, 1, 3), kernel = kernel_rbf(lengthscale = c(2, 3, 4), ard = TRUE),
                  learn = FALSE)
  expect_equal(coef(fit)[2:3], c(lengthscale.a = 2, lengthscale.c = 4))
  refused(resolve_kernel(kernel_rbf(vars = "b"), inputs), "kernel")
})

test_that("a periodic kernel wants exactly one input", {
  refused(start_of(kernel_periodic()), "kernel")
  refused(start_of(kernel_rbf() * kernel_periodic(vars = c("a", "b"))), "kernel")
  expect_named(start_of(kernel_periodic(vars = "b")), c("variance", "lengthscale", "period"))
  refused(start_of(kernel_trig(2)), "kernel")
  # five coefficients share the variance of the function
  expect_equal(5 * start_of(kernel_trig(2, vars = "b"))[["variance"]],
               start_of(kernel_rbf(vars = "b"))[["variance"]])
  one <- inputs_of("x")
  expect_identical(resolve_kernel(kernel_periodic(), one)$vars, 0L)
})

test_that("kernels combine with kernels by + and *, and nothing else", {
  k <- kernel_rbf()
  refused(k + 1, "+")
  refused(1 + k, "+")
  refused(k * 2, "*")
  refused(k * NULL, "*")
  refused(k + "linear", "+")
  refused(k - k, "-")
  refused(-k, "-")
  refused(+k, "+")
  refused(k == k, "==")
  refused(!k, "!")
})

test_that("a kernel may be given as its constructor or by name, and nothing else may", {
  expect_named(start_of(kernel_matern52), c("variance", "lengthscale"))
  refused(start_of("laplace"), "kernel")
  refused(start_of(3), "kernel")
  refused(start_of(mean), "kernel") # a function, but not a constructor
})
