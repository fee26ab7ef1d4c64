# Likelihood constructors and the ways to name one. Their values are tested in
# test-contract-likelihoods.R.

r_code_alone()

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

x <- c(1, 2, 4, 3, 6, 5, 7, 8)
numbers <- c(1, 2, 1, 3, 2, 4, 3, 5)
classes <- factor(c("no", "no", "yes", "no", "yes", "yes", "no", "yes"))

chosen <- function(y, likelihood) {
  sparsegp(x, y, likelihood = likelihood, learn = FALSE)$likelihood$type
}

test_that("a likelihood prints itself on one line and returns itself unseen", {
  shows <- function(lik, line) {
    expect_invisible(expect_output(value <- print(lik)))
    expect_identical(capture.output(print(lik)), line)
    expect_identical(value, lik)
  }
  shows(lik_gaussian(), "<likelihood> gaussian()")
  shows(lik_probit(), "<likelihood> probit()")
  shows(lik_logit(0.123456), "<likelihood> logit(bias = 0.1235)")
  shows(lik_probit(bias = fixed(0)), "<likelihood> probit(bias = fixed(0))")
})

test_that("illegal hyperparameters are refused, naming the argument the user wrote", {
  for (bad in list(-1, 0, Inf, NA_real_, "a", numeric(), fixed(-1))) {
    refused(lik_gaussian(variance = bad), "variance")
  }
  for (bad in list(Inf, NaN, "a", TRUE, numeric())) {
    refused(lik_probit(bias = bad), "bias")
    refused(lik_logit(bias = bad), "bias")
  }
  expect_s3_class(lik_probit(bias = -3), "sparsegp_likelihood") # a bias may be negative
})

test_that("too many values are refused at the latest by the fit, and print until then", {
  refused(chosen(classes, lik_probit(bias = c(1, 2))), "bias")
  refused(chosen(numbers, lik_gaussian(variance = c(1, 2))), "variance")
  lik <- tryCatch(lik_gaussian(variance = c(1, 2)), sparsegp_error = function(e) NULL)
  if (!is.null(lik)) expect_output(print(lik), "1, 2")
})

test_that("values given are the starts, and fixed() ones are kept while learning", {
  start <- function(y, lik) tail(coef(sparsegp(x, y, likelihood = lik, learn = FALSE)), 1L)
  expect_equal(start(numbers, lik_gaussian(0.37)), c(noise = 0.37))
  expect_equal(start(classes, lik_probit(-0.4)), c(bias = -0.4))
  fit <- sparsegp(x, numbers, likelihood = lik_gaussian(fixed(0.37)))
  expect_equal(coef(fit)[["noise"]], 0.37, tolerance = 1e-14)
  fit <- sparsegp(x, classes, likelihood = lik_probit(fixed(0.8)))
  expect_equal(coef(fit)[["bias"]], 0.8, tolerance = 1e-14)
})

test_that("the bias starts where it alone gives the frequencies of the classes", {
  # 4 of 8, with half a row of each class added: P = 1/2
  expect_equal(coef(sparsegp(x, classes, learn = FALSE))[["bias"]], 0)
  rare <- factor(rep(c("no", "yes"), c(7L, 1L)))
  expect_equal(coef(sparsegp(x, rare, learn = FALSE))[["bias"]], qnorm(1.5 / 9))
  expect_equal(coef(sparsegp(x, rare, "logit", learn = FALSE))[["bias"]], qlogis(1.5 / 9))
})

test_that("no likelihood means Gaussian for numbers, probit for two classes, mprobit for more", {
  expect_identical(chosen(numbers, NULL), "gaussian")
  expect_identical(chosen(c(0, 1, 0, 1, 1, 0, 1, 0), NULL), "gaussian") # numbers are numbers
  expect_identical(chosen(classes, NULL), "probit")
  expect_identical(chosen(as.character(classes), NULL), "probit")
  expect_identical(chosen(classes == "yes", NULL), "probit")
  # coupled, of so few rows
  expect_identical(chosen(factor(letters[c(1:3, 1:3, 1:2)]), NULL), "coupled_mprobit")
})

test_that("a likelihood may be a name, a constructor, a value or a family", {
  for (likelihood in list("logit", lik_logit, lik_logit(), binomial, binomial(),
                          binomial("logit"))) {
    expect_identical(chosen(classes, likelihood), "logit")
  }
  expect_identical(chosen(classes, binomial("probit")), "probit")
  expect_identical(chosen(numbers, gaussian()), "gaussian")
  expect_identical(chosen(numbers, "gaussian"), "gaussian")
})

test_that("every name in the catalogue is a constructor", {
  for (name in likelihood_names()) {
    made <- if (name == "binomial") "logit" else name # as in glm(), where its response is labels
    expect_identical(as_likelihood(name)$type, made)
  }
})

test_that("hyperparameters have in R the names and the order that C gives them", {
  types <- catalogue()$likelihoods
  for (name in likelihood_names()) {
    expect_identical(names(traits_of(name)$about), if (length(types[[name]]$par)) types[[name]]$par,
                     label = name)
    expect_identical(names(get(paste0("lik_", name))()$params), names(traits_of(name)$about))
    expect_identical(traits_of(name)$response == "classes", types[[name]]$classes, label = name)
    fixed <- types[[name]]$npar
    if (fixed > 0L) expect_length(types[[name]]$par, fixed)
  }
})

test_that("what R offers is what C knows", {
  expect_identical(eval(formals(method_ivm)$select), catalogue()$selections)
  expect_setequal(eval(formals(method_online)$score), catalogue()$scores)
  expect_identical(catalogue()$statuses[["ok"]], 0L)
})

test_that("unknown likelihoods are refused", {
  for (bad in list("cauchy", "", NA_character_, c("probit", "logit"), 3, list(), Gamma(),
                   gaussian("log"), binomial("cloglog"), quasibinomial(), mean)) {
    refused(chosen(classes, bad), "likelihood")
  }
})

test_that("a likelihood refuses responses of the wrong kind", {
  refused(chosen(classes, "gaussian"), "y")
  refused(chosen(numbers, "probit"), "y")
  refused(chosen(rep("no", 8L), "probit"), "y")
  expect_identical(chosen(c(-1, 1, -1, 1, 1, -1, 1, -1), "probit"), "probit")
  expect_identical(chosen(c(0, 1, 0, 1, 1, 0, 1, 0), "logit"), "logit")
})

test_that("draws have the moments that C predicts", {
  memory_tier()
  set.seed(1)
  n <- 20000L
  f <- rep(c(-1, 0.5), each = n)
  for (lik in list(lik_gaussian(), lik_probit(), lik_logit())) {
    at <- if (!lik_codec(lik)$labelled) c(noise = 0.6) else c(bias = 0.3)
    theta <- ifelse(names(at) == "noise", log(at), at)
    y <- lik_traits(lik)$draw(f, at, 1)
    if (lik_traits(lik)$response == "labels") y <- (y + 1) / 2
    wanted <- .Call(sg_lik_eval, c_lik(lik, theta), theta, NULL, c(-1, 0.5))
    # 4.5 standard errors of a mean and, roughly, of a variance
    error <- 4.5 * sqrt(wanted$var / n)
    expect_true(all(abs(tapply(y, f, mean) - wanted$mean) < error), label = lik$type)
    expect_true(all(abs(tapply(y, f, var) - wanted$var) < 2 * error), label = lik$type)
  }
})
