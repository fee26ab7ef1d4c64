r_code_alone()

toy <- function(n = 12L) {
  set.seed(16)
  d <- data.frame(x = rnorm(n), z = runif(n), g = factor(rep(c("a", "b", "c"), length.out = n)))
  d$y <- sin(d$x) + rnorm(n, sd = 0.2)
  d$two <- factor(rep(c("no", "yes"), length.out = n))
  d
}

# ---- The messages ----

test_that("an error names its argument, says what is wrong, then what to do", {
  error <- tryCatch(stop_sparsegp("x", "is wrong", "Mend it"), error = identity)
  expect_s3_class(error, c("sparsegp_error", "error", "condition"), exact = TRUE)
  expect_identical(conditionMessage(error), "`x` is wrong.\nMend it.")
  expect_identical(error$argument, "x")
  expect_identical(error$remedy, "Mend it")
  expect_null(conditionCall(error))
  expect_error(stop_sparsegp("x", "is wrong"), "^`x` is wrong[.]$")
  expect_warning(warn_sparsegp("a", 1), "a1", class = "sparsegp_warning")
})

test_that("what C has no numbers or no memory for is told by what a user can change", {
  no_memory <- simpleError("cannot allocate vector of size 74.5 Gb")
  expect_match(refused(explain_memory(no_memory, 1e5), "x"), "224 GiB")
  expect_error(explain_memory(simpleError("something else"), 10), "^something else$")
  table <- sparsegp(1:5, c(1, 3, 2, 5, 4), learn = FALSE)$hyper
  expect_identical(check_run(list(status = 0L, logz = -1), table)$logz, -1)
  codes <- catalogue()$statuses
  bad <- list("impossible to factor" = codes[["not_pd"]], "not finite" = codes[["not_finite"]])
  for (what in names(bad)) {
    run <- list(status = bad[[what]], logz = NaN)
    expect_match(refused(check_run(run, table), "kernel"), paste0(what, ".*lengthscale = "))
  }
})

test_that("the small checks let pass what is legal and nothing else", {
  expect_identical(check_number(2L, "a", 0), 2)
  expect_identical(check_number(0, "a", 0, 1, open = FALSE), 0)
  for (bad in list(0, NA_real_, NaN, Inf, "1", c(1, 2), NULL, numeric(), TRUE, 1i, list(1))) {
    refused(check_number(bad, "a", 0), "a")
  }
  expect_identical(check_count(3, "a"), 3L)
  expect_identical(check_count(0, "a", 0L), 0L)
  for (bad in list(0, 1.5, NA, Inf, 2^31, "3", 1:2, NULL)) refused(check_count(bad, "a"), "a")
  expect_true(check_flag(TRUE, "a"))
  for (bad in list(NA, 1, "TRUE", c(TRUE, FALSE), NULL)) refused(check_flag(bad, "a"), "a")
  choices <- c("one", "two")
  expect_identical(check_choice(choices, choices, "a"), "one")
  expect_identical(check_choice("tw", choices, "a"), "two")
  for (bad in list("three", NA_character_, 1, NULL, c("two", "one"), "")) {
    expect_match(refused(check_choice(bad, choices, "a"), "a"), "\"one\", \"two\"", fixed = TRUE)
  }
  expect_null(check_no_dots())
  expect_match(refused(check_no_dots(foo = 1, 2)), "`foo`, an unnamed argument")
})

test_that("numbers per row are one per row, finite, and positive where they must be", {
  expect_identical(check_per_row(NULL, 2, "a", 0), c(0, 0))
  expect_identical(check_per_row(1:2, 2, "a", 0), c(1, 2))
  expect_identical(check_per_row(c(1, NA), 2, "a", 0), c(1, NA))
  for (bad in list(1, 1:3, c("1", "2"), c(1, Inf))) refused(check_per_row(bad, 2, "a", 0), "a")
  for (bad in list(c(1, 0), c(1, -1), c(Inf, 1))) {
    refused(check_per_row(bad, 2, "a", 1, positive = TRUE), "a")
  }
})

test_that("inputs become a double matrix with column names", {
  expect_identical(check_inputs(1:3), matrix(c(1, 2, 3), dimnames = list(NULL, "x1")))
  expect_identical(colnames(check_inputs(matrix(0, 1, 3))), c("x1", "x2", "x3"))
  nameless <- cbind(a = 1:4, 2, x3 = 3, 5)
  expect_identical(colnames(check_inputs(nameless)), c("a", "x2", "x3", "x4"))
  y <- c(1, 3, 2, 4)
  fit <- sparsegp(nameless, y, learn = FALSE)
  expect_equal(unname(predict(fit, nameless)), fitted(fit), ignore_attr = TRUE, tolerance = 1e-10)
  expect_identical(check_inputs(data.frame(a = 1L, b = TRUE)), cbind(a = 1, b = 1))
  expect_identical(check_inputs(c(TRUE, NA)), matrix(c(1, NA), dimnames = list(NULL, "x1")))
  for (bad in list("a", NULL, list(1), 1i, as.Date("2020-01-01"), data.frame(a = "b"), mean,
                   matrix("a"), matrix(0, 2, 0), array(0, c(2, 2, 2)))) {
    refused(check_inputs(bad), "x")
  }
})

# ---- What users type ----

test_that("bad inputs and responses are refused by name", {
  refused(sparsegp(c(1, Inf, 3), 1:3), "x")
  refused(sparsegp(1:3, c(1, Inf, 3)), "y")
  refused(sparsegp(y ~ log(x - x), toy()))
  refused(sparsegp(log(z - z) ~ x, toy()), "y")
  refused(sparsegp(1:3, 1:4), "y")
  refused(sparsegp(1:3), "y")
  refused(sparsegp(1:3, NULL), "y")
  refused(sparsegp(1:3, as.list(1:3)), "y")
  refused(sparsegp(1:3, cbind(1:3, 1:3) / 2, "student"), "y")
  refused(sparsegp(1:3, data.frame(a = 1:3, b = 1:3, c = 1)), "y")
  refused(sparsegp(1:3, 1:3 + 1i), "y")
  refused(sparsegp(1:3, as.Date("2020-01-01") + 0:2), "y")
  refused(sparsegp(as.Date("2020-01-01") + 0:2, 1:3), "x")
  refused(sparsegp(as.list(1:3), 1:3), "x")
  refused(sparsegp(NULL, 1:3), "x")
  refused(sparsegp(matrix("a", 3, 2), 1:3), "x")
  expect_match(refused(sparsegp(toy()[c("x", "g")], 1:12), "x"), "formula")
  refused(sparsegp(matrix(0, 3, 0), 1:3), "x")
  refused(sparsegp("y ~ x", toy()))
  refused(sparsegp(y ~ l, transform(toy(), l = I(as.list(1:12)))))
})

test_that("no rows, or none that are complete, are refused", {
  d <- toy()
  d$none <- NA_real_
  d$nothing <- NA
  refused(sparsegp(numeric(), numeric()))
  refused(sparsegp(matrix(0, 0, 2), numeric()))
  refused(sparsegp(y ~ x, d[0, ]), "data")
  refused(sparsegp(y ~ x, d, subset = x > 99), "data")
  refused(sparsegp(y ~ x + none, d), "data")
  refused(sparsegp(y ~ x + nothing, d), "data")
  refused(sparsegp(none ~ x, d), "data")
  refused(sparsegp(d$none, d$y), "x")
  refused(sparsegp(d$x, d$none))
})

test_that("classes that are not two, and a likelihood that does not fit, are refused", {
  d <- toy()
  expect_match(refused(sparsegp(two ~ x, d[d$two == "no", ]), "y"), "only one class, no")
  refused(sparsegp(1:3, rep(TRUE, 3)), "y")
  refused(sparsegp(1:3, rep(1, 3), "probit"), "y")
  refused(sparsegp(y ~ x, d, "probit"), "y")
  refused(sparsegp(1:4, c(1, 2, 1, 2), "logit"), "y")
  refused(sparsegp(two ~ x, d, "gaussian"), "y")
  expect_match(refused(sparsegp(two ~ x, d, lik_binomial()), "y"), "\"logit\"", fixed = TRUE)
  refused(sparsegp(two ~ x, d, Gamma()), "likelihood")
  refused(sparsegp(two ~ x, d, 3), "likelihood")
  refused(sparsegp(two ~ x, d, c("probit", "logit")), "likelihood")
  refused(sparsegp(two ~ x, d, mean), "likelihood")
})

test_that("bad formulas and variables are refused", {
  d <- toy()
  refused(sparsegp(~x, d), "formula")
  refused(sparsegp(y ~ 1, d), "formula")
  refused(sparsegp(y ~ offset(x), d), "formula")
  expect_match(refused(sparsegp(y ~ nowhere, d)), "nowhere")
  expect_match(refused(sparsegp(y ~ x, d, subset = nowhere)), "nowhere")
  refused(sparsegp(y ~ x, as.matrix(d[c("x", "y")])))
  refused(sparsegp(y ~ x, d, weights = 1:3), "weights")
  refused(sparsegp(y ~ x, d, weights = g), "weights")
  refused(sparsegp(y ~ x, d, weights = -z), "weights")
  refused(sparsegp(d$x, d$y, weights = 2), "weights")
  refused(sparsegp(d$x, d$y, offset = "a"), "offset")
  refused(sparsegp(d$x, d$y, offset = c(Inf, 1:11)), "offset")
  refused(sparsegp(d$x, d$y, na.action = "nowhere"), "na.action")
  refused(sparsegp(d$x, d$y, na.action = 3), "na.action")
})

test_that("wrong values of the other arguments are refused by name", {
  slow_tier()
  d <- toy()
  fit <- function(...) sparsegp(y ~ x + z, d, ...)
  expect_match(refused(fit(lengthscale = 1)), "lengthscale")
  expect_match(refused(sparsegp(d$x, d$y, subset = 1:3)), "subset")
  for (kernel in list("laplace", 3, NA, mean)) refused(fit(kernel = kernel), "kernel")
  for (method in list("laplace", 3, NA, mean)) refused(fit(method = method), "method")
  for (learn in list("yes", NA, 1, list(inner = 3))) refused(fit(learn = learn), "learn")
  for (flag in list("a", NA, 2, NULL)) refused(gp_control(verbose = flag), "verbose")
  for (scale in list("a", NA, 2, c(TRUE, FALSE))) refused(fit(scale = scale), "scale")
  for (effort in list("none", NA, 2, NULL)) refused(gp_control(effort = effort), "effort")
  refused(gp_control(keep_x = 3), "keep_x")
  refused(fit(control = gp_control(prior = prior_flat())), "prior")
  refused(fit(control = gp_control(prior = list(prior_flat()))), "prior")
  expect_match(refused(fit(control = gp_control(prior = list(sigma = prior_flat()))), "prior"),
               "variance, lengthscale, noise")
  refused(fit(control = gp_control(prior = list(noise = 3))))
  refused(fit(kernel = kernel_rbf(vars = "nowhere")), "vars")
  refused(fit(kernel = kernel_rbf(vars = 3)), "vars")
  refused(fit(kernel = kernel_periodic()), "kernel")
  refused(fit(kernel = kernel_rbf(lengthscale = 1:3, ard = TRUE)), "lengthscale")
  refused(fit(kernel = kernel_rbf(lengthscale = 1:2)), "lengthscale")
  refused(fit(kernel = kernel_poly(3000)), "kernel")
})

test_that("an empty list of priors is no prior", {
  slow_tier()
  d <- toy()
  expect_identical(coef(sparsegp(y ~ x, d, control = gp_control(prior = list()))),
                   coef(sparsegp(y ~ x, d)))
})

test_that("constructors refuse by name what they cannot take", {
  refused(kernel_rbf(variance = -1), "variance")
  refused(kernel_rbf(lengthscale = 0), "lengthscale")
  refused(kernel_rbf("a"), "variance")
  refused(kernel_rbf(NA), "variance")
  refused(kernel_rq(shape = Inf), "shape")
  refused(kernel_periodic(period = fixed(-1)), "period")
  refused(kernel_rbf(ard = NA), "ard")
  for (bad in list(character(), c(1, 1), NA, TRUE, list("a"))) {
    refused(kernel_rbf(vars = bad), "vars")
  }
  for (degree in list(0, 1.5, "a", NA)) refused(kernel_poly(degree), "degree")
  refused(kernel_rbf() - kernel_rbf())
  refused(kernel_rbf() * 2)
  refused(2 + kernel_rbf())
  refused(-kernel_rbf())
  for (value in list(NA, "a", Inf, NULL)) refused(fixed(value), "value")
  refused(lik_probit(bias = "a"), "bias")
  refused(lik_probit(bias = NA), "bias")
  refused(method_ep(sweeps = 0), "sweeps")
  refused(method_ep(damping = 0), "damping")
  refused(method_ep(damping = 2), "damping")
  refused(method_ep(tol = 0), "tol")
  refused(learn_control(inner = 0), "inner")
  refused(learn_control(restarts = -1), "restarts")
  refused(prior_gamma(-1, 1), "shape")
  refused(prior_gamma(1, 0), "rate")
  refused(prior_normal("a", 1), "mean")
  refused(prior_normal(0, 0), "sd")
  refused(prior_lognormal(0, -1), "sdlog")
  refused(prior_logcauchy(0, 0), "scale")
  refused(prior_logcauchy("a", 1), "location")
})

test_that("the noise of lik_gaussian() is refused by the name of its argument", {
  refused(lik_gaussian(variance = -1), "variance")
  refused(lik_gaussian(variance = fixed(0)), "variance")
  refused(lik_gaussian(variance = "a"), "variance")
  refused(sparsegp(toy()$x, toy()$y, lik_gaussian(c(1, 2))), "variance")
})

test_that("hyperparameters no computer can hold are refused in words", {
  slow_tier()
  d <- toy()
  fit <- function(variance, lengthscale, noise) {
    sparsegp(d$x, d$y, lik_gaussian(noise), kernel_rbf(variance, lengthscale), learn = FALSE)
  }
  expect_match(refused(fit(1e300, 1, 1e-300), "kernel"), "variance = 1e+300", fixed = TRUE)
  refused(fit(1e300, 1e300, 1), "kernel")
  expect_true(all(is.finite(fitted(fit(1e-300, 1e-300, 1e-300)))))
  expect_true(all(is.finite(fitted(fit(1e300, 1, 1e300)))))
  # either it works or it is refused, but no memory is asked for in advance
  most <- .Machine$integer.max
  answer <- tryCatch(fitted(sparsegp(d$x, d$two, method = method_ep(most), learn = FALSE)),
                     sparsegp_error = function(e) 0)
  expect_true(all(is.finite(answer)))
})
