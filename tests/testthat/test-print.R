r_code_alone()

toy <- function(n = 20L) {
  set.seed(15)
  d <- data.frame(x = rnorm(n, sd = 3), z = runif(n))
  d$y <- sin(d$x) + d$z + rnorm(n, sd = 0.2)
  d$class <- factor(ifelse(d$x + rnorm(n) > 0, "yes it is", "no"), c("no", "yes it is"))
  d
}

said <- function(x, ...) paste(capture.output(print(x, ...)), collapse = "\n")

# Standard deviation as the package divides by it: over n, not n - 1
spread <- function(x) sqrt(mean((x - mean(x))^2))

test_that("print() and summary() return their argument invisibly", {
  fit <- sparsegp(y ~ x, toy(), learn = FALSE)
  capture.output({
    expect_invisible(print(fit))
    expect_identical(print(fit), fit)
    summary <- summary(fit)
    expect_invisible(print(summary))
    expect_identical(print(summary), summary)
    for (value in list(kernel_rbf(), lik_probit(), method_ep(), learn_control(), prior_flat())) {
      expect_invisible(print(value))
      expect_identical(print(value), value)
    }
  })
})

test_that("a printed fit says what was fitted, to what, and how well", {
  fit <- sparsegp(y ~ x + z, toy(), learn = FALSE)
  text <- said(fit)
  expect_match(text, "regression")
  expect_match(text, "y ~ x + z", fixed = TRUE)
  expect_match(text, "20 rows, 2 inputs; gaussian likelihood; kernel rbf()", fixed = TRUE)
  expect_match(text, "mean: .* \\(SE ")
  expect_match(text, "standard deviation of the noise: ")
  expect_match(text, "leave-one-out R2 ")
  expect_no_match(text, "NOT converge")
  text <- said(sparsegp(class ~ x, toy(), learn = FALSE))
  expect_match(text, "classification")
  expect_match(text, "\"yes it is\" against \"no\"", fixed = TRUE)
})

test_that("noise without a standard deviation to speak of is shown by its scale", {
  slow_tier()
  fit <- function(df) {
    sparsegp(y ~ x, toy(), lik_student(scale = fixed(0.3), df = fixed(df)), learn = FALSE)
  }
  expect_match(said(fit(2.004)), "scale of the noise: 0.3, with 2.004 degrees of freedom")
  expect_match(said(fit(4)), "standard deviation of the noise: 0.4243")
})

test_that("summary() shows which scaling the inputs have", {
  slow_tier()
  d <- toy()
  shown <- function(words, ..., formula = y ~ x + z) {
    fit <- sparsegp(formula, d, ..., learn = FALSE)
    expect_match(said(summary(fit)), words, fixed = TRUE)
  }
  shown("each input scaled by its sd")
  shown("inputs share one scale (common units)", scale = "common")
  shown("inputs as given, not scaled", scale = FALSE)
  d$t <- seq_len(nrow(d))
  field <- kernel_helmholtz(vars = c("x", "z"))
  shown("x, z share one scale (common units), each other input scaled by its sd",
        kernel = field * kernel_rbf(fixed(1), vars = "t"), formula = cbind(y, t / 10) ~ x + z + t)
  # there is nothing to share
  expect_no_match(said(summary(sparsegp(y ~ x, d, learn = FALSE))), "scaled by|share")
})

test_that("the scaling that the evidence chose is shown", {
  slow_tier()
  # inputs that share a unit, of which one hardly varies
  at <- seq(-3, 3, length.out = 40)
  d <- data.frame(x = at, z = cos(17 * at) / 10)
  d$y <- sin(2 * d$x) + cos(29 * at) / 10
  fit <- sparsegp(y ~ x + z, d)
  expect_match(said(summary(fit)), "share one scale")
  expect_match(said(summary(update(fit, scale = TRUE))), "each input scaled by its sd")
})

test_that("print() and summary() report dropped rows, constant columns and failed convergence", {
  slow_tier()
  d <- toy()
  d$k <- 5
  d$z[1:2] <- NA
  fit <- sparsegp(y ~ x + z + k, d, learn = FALSE)
  expect_match(said(fit), "18 rows, 2 inputs (2 rows left out)", fixed = TRUE)
  expect_match(said(summary(fit)), "constant inputs kept out: k", fixed = TRUE)
  expect_match(said(summary(fit)), "rows with missing values left out: 2", fixed = TRUE)
  expect_warning(
    fit <- sparsegp(class ~ x, d, learn = FALSE, method = method_ep(sweeps = 1)), "converge"
  )
  expect_match(said(fit), "EP did NOT converge", fixed = TRUE)
  expect_match(said(summary(fit)), "EP did NOT converge", fixed = TRUE)
  expect_warning(fit <- sparsegp(y ~ x, d, learn = learn_control(inner = 1)), "converge")
  expect_match(said(fit), "learning did NOT converge", fixed = TRUE)
})

test_that("fits of matrices, sums and ARD are printed and summarised", {
  slow_tier()
  d <- toy()
  x <- as.matrix(d[c("x", "z")])
  kernels <- list(kernel_rbf(ard = TRUE), kernel_linear(ard = TRUE) + kernel_constant(),
                  kernel_rbf() * (kernel_rq() + kernel_periodic(vars = "z")))
  for (kernel in kernels) {
    for (y in list(d$y, d$class)) {
      fit <- sparsegp(unname(x), y, kernel = kernel_rbf(), learn = FALSE)
      expect_match(said(fit), "20 rows, 2 inputs")
      fit <- sparsegp(x, y, kernel = kernel, learn = FALSE)
      expect_match(said(fit), format(kernel), fixed = TRUE)
      expect_identical(rownames(summary(fit)$hyperparameters), names(coef(fit)))
      expect_match(said(summary(fit)), "leave-one-out")
    }
  }
})

test_that("digits are passed on", {
  slow_tier()
  fit <- sparsegp(y ~ x, toy(), lik_gaussian(1 / 3), learn = FALSE)
  expect_match(said(fit, digits = 3), "noise: 0[.]577\\b")
  expect_match(said(fit, digits = 8), "noise: 0[.]57735027\\b")
  expect_match(said(summary(fit), digits = 3), "0[.]333\\b")
  old <- options(digits = 22)
  on.exit(options(old))
  expect_output(print(fit), "leave-one-out")
  expect_output(print(summary(fit)), "Log evidence")
})

test_that("summary() says which hyperparameters were learned, and from where", {
  slow_tier()
  d <- toy()
  table <- summary(sparsegp(y ~ x, d, lik_gaussian(fixed(0.1))))$hyperparameters
  expect_identical(table$learned, c(TRUE, TRUE, FALSE))
  expect_equal(table["noise", "value"], 0.1, tolerance = 1e-14)
  fit <- sparsegp(y ~ x, d, learn = FALSE)
  table <- summary(fit)$hyperparameters
  expect_false(any(table$learned))
  expect_identical(table$value, unname(coef(fit)))
  expect_equal(table$start, table$value)
})

test_that("summary() gives length scales in input units, where they have one", {
  slow_tier()
  d <- toy()
  units <- function(kernel, formula = y ~ x + z, ...) {
    fit <- sparsegp(formula, d, kernel = kernel, learn = FALSE, ...)
    table <- summary(fit)$hyperparameters
    setNames(table$input_units, rownames(table))
  }
  expect_equal(units(kernel_rbf(lengthscale = 2), y ~ x)[["lengthscale"]], 2 * spread(d$x))
  ard <- units(kernel_matern32(ard = TRUE, lengthscale = c(2, 3)))
  expect_equal(ard[["lengthscale.x"]], 2 * spread(d$x))
  expect_equal(ard[["lengthscale.z"]], 3 * spread(d$z))
  expect_true(all(is.na(ard[c("variance", "noise")])))
  # one length scale for inputs of several units has none
  expect_true(all(is.na(units(kernel_rbf()))))
  parts <- units(kernel_rbf(ard = TRUE, lengthscale = 2) * kernel_linear())
  expect_equal(parts[["k1.lengthscale.x"]], 2 * spread(d$x))
  expect_match(said(summary(sparsegp(y ~ x + z, d, kernel = kernel_rbf(ard = TRUE)))),
               "not a measure of its importance")
})

test_that("a part that sees one input of several has its length scale in that input's units", {
  slow_tier()
  d <- toy()
  kernel <- kernel_rbf(lengthscale = 2, vars = "x") + kernel_rq(lengthscale = 3, vars = "z")
  table <- summary(sparsegp(y ~ x + z, d, kernel = kernel, learn = FALSE))$hyperparameters
  expect_equal(table["k1.lengthscale", "input_units"], 2 * spread(d$x))
  expect_equal(table["k2.lengthscale", "input_units"], 3 * spread(d$z))
})

test_that("length scales that are not lengths are not given input units", {
  slow_tier()
  # kernel_poly's divides a product of inputs, kernel_periodic's a sine
  d <- toy()
  for (kernel in list(kernel_poly(2), kernel_periodic())) {
    table <- summary(sparsegp(y ~ x, d, kernel = kernel, learn = FALSE))$hyperparameters
    expect_true(is.null(table$input_units) || is.na(table["lengthscale", "input_units"]))
  }
})

test_that("summary() of classes has a leave-one-out confusion table of all rows", {
  fit <- sparsegp(class ~ x, toy(), learn = FALSE)
  table <- summary(fit)$confusion
  expect_identical(dimnames(table), list(observed = c("no", "yes it is"),
                                         predicted = c("no", "yes it is")))
  expect_equal(sum(table), 20)
  expect_null(summary(sparsegp(y ~ x, toy(), learn = FALSE))$confusion)
  expect_equal(summary(fit)$mean_loo_lpd, mean(loo_lpd(fit)))
  expect_error(summary(fit, 3), class = "sparsegp_error")
})

test_that("kernels, likelihoods and priors print as they are written", {
  expect_output(print(kernel_rbf(1, fixed(2), ard = TRUE, vars = "age")),
                "<kernel> rbf(variance = 1, lengthscale = fixed(2), ard = TRUE, vars = age)",
                fixed = TRUE)
  kernel <- kernel_rbf() * (kernel_poly(3) + kernel_constant(2))
  expect_equal(format(kernel), "rbf() * (poly(degree = 3) + constant(variance = 2))")
  expect_output(print(lik_probit(fixed(0))), "<likelihood> probit(bias = fixed(0))", fixed = TRUE)
  expect_output(print(prior_gamma(2, 1)), "<prior> gamma(shape = 2, rate = 1)", fixed = TRUE)
  expect_output(print(prior_flat()), "<prior> flat()", fixed = TRUE)
  expect_output(print(method_ep()), "EP")
})

# Every kind of fit, with long names, many inputs and large numbers
many_fits <- function() {
  d <- toy(30L)
  d$a_very_long_name_of_an_input_of_this_test <- d$z
  d$count <- round(exp(d$y))
  d$three <- cut(d$x, 3L, c("a class with a long name", "another of them", "and the last of all"))
  d$rank <- factor(d$three, ordered = TRUE)
  d$time <- exp(d$y)
  d$hits <- as.integer(d$z > 0.5)
  wide <- as.data.frame(matrix(sin(seq_len(900L)), 30L))
  fit <- function(formula, ..., data = d) {
    suppressMessages(suppressWarnings(sparsegp(formula, data, ..., learn = FALSE)))
  }
  list(
    numbers = fit(y ~ x), huge = fit(I(1e100 * y) ~ x), classes = fit(class ~ x + z),
    missing = fit(replace(y, 1:3, NA) ~ x), averaged = fit(y ~ x, mean = "average"),
    named = fit(y ~ x + a_very_long_name_of_an_input_of_this_test +
                  I(a_very_long_name_of_an_input_of_this_test^2) * x),
    wide = fit(V1 ~ ., data = wide), matrix = sparsegp(as.matrix(wide), d$y, learn = FALSE),
    three = fit(three ~ x), apart = fit(three ~ x, likelihood = "probit"), rank = fit(rank ~ x),
    counts = fit(count ~ x, likelihood = "negbin"), zeros = fit(count ~ x, likelihood = "zinb"),
    trials = fit(cbind(hits, 9L) ~ x), times = fit(time ~ x, likelihood = "weibull"),
    scale = fit(time ~ x, likelihood = lik_gaussian(transform = "boxcox")),
    several = fit(cbind(y, x, a_very_long_name_of_an_input_of_this_test) ~ z),
    spread = fit(y ~ x, likelihood = "heteroscedastic"),
    basis = fit(y ~ x, method = method_ep(size = 5)), markov = fit(y ~ x, method = method_markov(),
                                                                 kernel = kernel_matern32()),
    stream = fit(y ~ x, method = method_online(size = 5, pilot = 10)),
    waiting = fit(y ~ x, method = method_online(size = 5, pilot = 100)),
    sum = fit(y ~ x + z, kernel = kernel_rbf(vars = "x") * kernel_rq(vars = "z") +
                kernel_periodic(vars = "x") + kernel_linear()),
    constant = fit(y ~ k, data = cbind(d, k = 1)),
    slow = fit(class ~ x, method = method_ep(sweeps = 1)),
    integrated = suppressMessages(sparsegp(y ~ x, d[1:9, ],
                                           control = gp_control(integrate = "laplace")))
  )
}

test_that("print() has at most eight lines of 80 characters, and no words of the algorithm", {
  slow_tier()
  fits <- many_fits()
  for (name in names(fits)) {
    lines <- capture.output(print(fits[[name]]))
    expect_lte(length(lines), 8L, label = name)
    expect_lte(max(nchar(lines, "width")), 80L, label = name)
    expect_match(lines[1L], "^Gaussian-process (regression|classification), ", label = name)
    expect_match(paste(lines, collapse = " "), "leave-one-out|log evidence", label = name)
    text <- said(summary(fits[[name]]))
    expect_no_match(text, "sweep|damp|sequential|site", label = name)
  }
})

test_that("summary() has standard errors in units of the input", {
  slow_tier()
  d <- toy()
  fit <- sparsegp(y ~ x, d, lik_gaussian(fixed(0.04)), kernel_rbf())
  table <- summary(fit)$hyperparameters
  error <- sqrt(diag(vcov(fit)))
  expect_identical(table[names(error), "std.error"], unname(error))
  expect_true(is.na(table["noise", "std.error"]))
  expect_equal(table["lengthscale", "input_error"], error[["lengthscale"]] * spread(d$x))
  # in another unit of the input the ones change with it
  d$x <- 100 * d$x
  metric <- summary(update(fit, data = d))$hyperparameters
  # two searches end within 1e-3 of each other
  expect_equal(metric["lengthscale", "input_error"], 100 * table["lengthscale", "input_error"],
               tolerance = 0.01)
  expect_match(said(summary(fit)), "lengthscale +[0-9.]+ +[0-9.]+ of the input")
  expect_match(said(summary(fit)), "noise +0.04 +fixed")
})

test_that("the record of choices has the gain that each candidate would have needed", {
  slow_tier()
  d <- toy(40L)
  fit <- sparsegp(y ~ x + z, d, control = gp_control(integrate = "none"))
  tried <- fit$choices[!is.na(fit$choices$gain) & fit$choices$stage == "kernel", ]
  expect_gt(nrow(tried), 1L)
  expect_false(anyNA(tried$needed))
  behind <- seq_len(nrow(tried)) > max(which(tried$taken), 0L) # the best that was taken
  expect_true(any(behind))
  expect_true(all(tried$gain[behind] <= tried$needed[behind]))
  expect_match(said(summary(fit, details = TRUE)), "gain .* needed")
  expect_no_match(said(summary(fit)), "needed")
})

test_that("standard errors that are not available take no column", {
  hyper <- data.frame(value = c(1.5, 2), std.error = NA_real_, learned = TRUE,
                      input_units = NA_real_, input_error = NA_real_,
                      row.names = c("variance", "bias"))
  lines <- function(hyper) capture.output(print_hyperparameters(hyper, 4L, c(FALSE, FALSE)))
  expect_identical(trimws(lines(hyper)[3L]), "estimate")
  hyper$learned[2L] <- FALSE
  expect_no_match(lines(hyper), "std.error|NA")
  expect_match(lines(hyper)[5L], "2 +fixed")
  hyper$std.error[1L] <- 0.3
  expect_match(lines(hyper)[3L], "std.error")
})
