# What people who come from lm(), glm(), gam(), brm() and lme4 type first.

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

ncases <- function() {
  set.seed(4)
  d <- data.frame(x = seq(-2, 2, length.out = 14), n = rep(c(4, 9), 7))
  d$s <- rbinom(14, d$n, plogis(d$x))
  d$f <- d$n - d$s
  d
}

test_that("cbind(successes, failures) is recognised without a likelihood", {
  d <- ncases()
  named <- sparsegp(cbind(s, f) ~ x, d, lik_binomial(), learn = FALSE)
  expect_identical(sparsegp(cbind(s, f) ~ x, d, learn = FALSE)$latent, named$latent)
  expect_identical(sparsegp(d$x, cbind(d$s, d$f), learn = FALSE)$latent, named$latent)
  stream <- sparsegp(cbind(s, f) ~ x, d[0, ], method = method_online(5, pilot = 5), learn = FALSE)
  stream <- update(stream, d)
  expect_identical(stream$likelihood$type, "binomial")
  # numbers that are no counts are still two responses
  refused(sparsegp(cbind(s + 0.5, f) ~ x, d, learn = FALSE), "`y` must be one vector.*lik_binomial")
  refused(sparsegp(cbind(s, f) ~ x, d, lik_probit(), learn = FALSE), "lik_binomial")
})

test_that("binomial with shares and trials as weights is glm()'s idiom, and fits the same", {
  d <- transform(ncases(), share = s / n)
  named <- sparsegp(share ~ x, d, lik_binomial(), weights = n, learn = FALSE)
  expect_identical(sparsegp(share ~ x, d, binomial, weights = n, learn = FALSE)$latent,
                   named$latent)
  expect_identical(sparsegp(d$x, d$share, binomial, weights = d$n, learn = FALSE)$latent,
                   named$latent)
  # without weights numbers are labels, as before
  expect_identical(sparsegp(am ~ wt, mtcars, binomial, learn = FALSE)$likelihood$type, "logit")
})

test_that("an input that does not vary, alone, is told of", {
  k <- transform(mtcars, k = 1)
  expect_warning(fit <- sparsegp(mpg ~ k, k, learn = FALSE), "No input varies (k)", fixed = TRUE,
                 class = "sparsegp_warning")
  expect_output(print(fit), "no input varies")
  expect_warning(sparsegp(rep(2, 5), 1:5, learn = FALSE), "No input varies",
                 class = "sparsegp_warning")
  expect_silent(sparsegp(2, 1, learn = FALSE)) # one row has nothing to vary against
  expect_silent(sparsegp(mpg ~ k + wt, k, learn = FALSE))
})

test_that("groups behind a bar and smooth terms of other packages are refused by name", {
  refused(sparsegp(mpg ~ wt | cyl, mtcars), "wt | cyl.*y ~ x \\+ g.*I\\(a \\| b\\)")
  refused(sparsegp(mpg ~ wt + (1 | cyl), mtcars), "1 | cyl")
  refused(sparsegp(weight ~ Time + (Time || Chick), ChickWeight), "Time || Chick")
  refused(sparsegp(mpg ~ s(wt), mtcars), "smooth term s\\(wt\\)")
  refused(sparsegp(mpg ~ cyl * te(wt, hp), mtcars), "smooth term te\\(wt, hp\\)")
  # what is meant as a column is one
  either <- sparsegp(mpg ~ wt + I(vs == 1 | am == 1), mtcars, learn = FALSE)
  expect_length(either$scaling$names, 2L)
  s <- function(x) x^2
  expect_identical(sparsegp(mpg ~ s(wt), mtcars, learn = FALSE)$scaling$names, "s(wt)")
})

test_that("se.fit and an interval together are a list, as predict.lm() gives it", {
  fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  new <- data.frame(wt = c(2, NA, 3))
  both <- predict(fit, new, se.fit = TRUE, interval = "confidence")
  expect_named(both, c("fit", "se.fit"))
  expect_identical(both$fit, predict(fit, new, interval = "confidence"))
  expect_identical(both$se.fit, predict(fit, new, se.fit = TRUE)$se.fit)
})

test_that("geom_smooth(method = sparsegp) draws the curve and its band", {
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::ggplot(mtcars, ggplot2::aes(wt, mpg)) +
    ggplot2::geom_smooth(method = sparsegp, formula = y ~ x)
  drawn <- ggplot2::layer_data(picture)
  fit <- sparsegp(mpg ~ wt, mtcars)
  expected <- predict(fit, data.frame(wt = drawn$x), interval = "confidence")
  # weights of 1 and names apart it is the same fit
  expect_equal(unname(as.matrix(drawn[c("y", "ymin", "ymax")])), unname(expected),
               tolerance = 1e-10)
})
