# What people who come from lm(), glm(), gam(), brm() and lme4 type first.

r_code_alone()

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
  slow_tier()
  d <- ncases()
  named <- sparsegp(cbind(s, f) ~ x, d, lik_binomial(), learn = FALSE)
  expect_identical(sparsegp(cbind(s, f) ~ x, d, learn = FALSE)$latent, named$latent)
  expect_identical(sparsegp(d$x, cbind(d$s, d$f), learn = FALSE)$latent, named$latent)
  stream <- sparsegp(cbind(s, f) ~ x, d[0, ], method = method_online(5, pilot = 5), learn = FALSE)
  stream <- update(stream, d)
  expect_identical(stream$likelihood$type, "binomial")
  # numbers that are no counts are components, and so are counts if the likelihood says so
  for (fit in list(sparsegp(cbind(s + 0.5, f) ~ x, d, learn = FALSE),
                   sparsegp(cbind(s, f) ~ x, d, lik_gaussian(), learn = FALSE))) {
    expect_identical(fit$likelihood$type, "mvnormal")
  }
  refused(sparsegp(cbind(s + 0.5, f) ~ x, d, lik_student()), "`y` must be one vector.*binomial")
  refused(sparsegp(cbind(s, f) ~ x, d, lik_probit(), learn = FALSE), "lik_binomial")
})

test_that("binomial with shares and trials as weights is glm()'s idiom, and fits the same", {
  slow_tier()
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
  slow_tier()
  k <- transform(mtcars, k = 1)
  expect_warning(fit <- sparsegp(mpg ~ k, k, learn = FALSE), "No input varies (k)", fixed = TRUE,
                 class = "sparsegp_warning")
  expect_output(print(fit), "no input varies")
  expect_warning(sparsegp(rep(2, 5), 1:5, learn = FALSE), "No input varies",
                 class = "sparsegp_warning")
  expect_silent(sparsegp(2, 1, learn = FALSE)) # one row has nothing to vary against
  expect_silent(sparsegp(mpg ~ k + wt, k, learn = FALSE))
})

test_that("bars that are no group terms and smooth terms of other packages are refused by name", {
  refused(sparsegp(mpg ~ wt | cyl, mtcars), "wt | cyl.*y ~ x \\+ \\(1 \\| g\\).*I\\(a \\| b\\)")
  refused(sparsegp(mpg ~ wt * (1 | cyl), mtcars), "1 | cyl")
  refused(sparsegp(mpg ~ wt + (1 | log(cyl)), mtcars), "not supported.*\\(1 \\| a/b\\)")
  refused(sparsegp(mpg ~ wt + (wt:hp | cyl), mtcars), "not supported")
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
  slow_tier()
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

test_that("basis = 10 is not taken for row 10", {
  slow_tier()
  refused(sparsegp(mpg ~ wt, mtcars, basis = 10), "method_ep\\(size = 10\\).*matrix of one row")
  one <- sparsegp(mpg ~ wt, mtcars, basis = data.frame(wt = 3), learn = FALSE)
  expect_identical(nrow(basis(one)), 1L)
})

test_that("axes of dates and times have dates and times", {
  slow_tier()
  says_2021 <- function(fit, ...) {
    file <- tempfile()
    grDevices::pdf(file, compress = FALSE) # words are in it as (words)
    tryCatch(plot(fit, ...), finally = grDevices::dev.off())
    any(grepl("(2021", readLines(file, warn = FALSE), fixed = TRUE, useBytes = TRUE))
  }
  d <- data.frame(day = as.Date("2020-01-01") + 30 * (1:32), y = mtcars$mpg,
                  wt = mtcars$wt, up = mtcars$am == 1)
  d$time <- as.POSIXct(d$day, tz = "UTC") + 3600
  expect_true(says_2021(sparsegp(y ~ day, d, learn = FALSE)))
  expect_true(says_2021(sparsegp(y ~ time, d, learn = FALSE)))
  expect_true(says_2021(sparsegp(up ~ day, d, learn = FALSE)))
  expect_true(says_2021(sparsegp(y ~ day + wt, d, learn = FALSE), n = 5))
  stream <- sparsegp(y ~ day, d, method = method_online(10, pilot = 20), learn = FALSE)
  expect_true(says_2021(stream, newdata = d))
  expect_false(says_2021(sparsegp(y ~ wt, d, learn = FALSE)))
  expect_false(says_2021(sparsegp(y ~ day, d, learn = FALSE),
                         xlim = as.Date(c("2020-02-01", "2020-06-01"))))
  clock <- d$time[0L]
  expect_identical(on_clock(clock, as.double(d$time)), d$time)
})

test_that("xlim restricts the rows that ylim is chosen by", {
  slow_tier()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  d <- data.frame(x = 1:20, y = c(rep(c(0, 1), 9), 500, 600))
  plot(sparsegp(y ~ x, d, lik_gaussian(1), kernel_rbf(1, 0.1), learn = FALSE), xlim = c(1, 10))
  expect_lt(par("usr")[4L], 400)
})

test_that("pictures of shares name them, show their trials and have no band of one trial", {
  slow_tier()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  d <- ncases()
  fit <- sparsegp(cbind(s, f) ~ x, d, learn = FALSE)
  expect_identical(response_label(fit), "proportion of s")
  expect_named(plot(fit), c("x", "fit", "lwr", "upr"))
  rows <- training_rows(fit)
  expect_gt(diff(range(trial_sizes(fit, rows$weights))), 0.2)
  expect_identical(new_rows(fit, d)[c("y", "weights")], rows[c("y", "weights")])
  expect_silent(plot(fit, newdata = d))
  # where all are of as many, a new response is, too
  same <- plot(sparsegp(cbind(s, f) ~ x, transform(d, s = pmin(s, 3), f = 4 - pmin(s, 3)),
                        learn = FALSE))
  expect_named(same, c("x", "fit", "lwr", "upr", "new_lwr", "new_upr"))
  expect_true(all((4 * same$new_upr) %% 1 == 0))
})

test_that("small things are said in words", {
  slow_tier()
  refused(sparsegp(mpg ~ wt + hp, mtcars, kernel = kernel_rbf(lengthscale = c(1, 2))), "ard = TRUE")
  refused(sparsegp(mpg ~ wt + hp, mtcars, kernel = kernel_rbf(variance = c(1, 2))), "one value")
  d <- transform(mtcars, v = wt)
  refused(sparsegp(mpg ~ wt, d, lik_gaussian(variance = v)), "data\\$column")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  expect_match(lone_words(fit$convergence$trace[-1L]), ": log evidence -[0-9.]+, change ")
  expect_silent(plot(fit, type = "trace"))
  expect_identical(lone_words(data.frame(change = 1:2)), "")
})

# Blocks of README.md that show output are run: numbers agree with what they print, to a few units
# in the third digit (another BLAS).
test_that("the code of the README prints what it shows", {
  slow_tier()
  skip_if_not_installed("MASS")
  skip_if_not_installed("survival")
  readme <- readLines(file.path(dirname(source_folder("R")), "README.md"))
  block <- cumsum(startsWith(readme, "```"))
  blocks <- Filter(function(lines) any(startsWith(lines, "#> ")),
                   split(readme, ifelse(block %% 2L == 1L, block, 0L))[-1L])
  expect_gte(length(blocks), 4L)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  numbers <- function(text) {
    as.numeric(unlist(regmatches(text, gregexpr("[0-9]+([.][0-9]+)?", text))))
  }
  for (lines in blocks) {
    shown <- startsWith(lines, "#>")
    code <- parse(text = lines[!shown & !startsWith(lines, "```")])
    place <- new.env(parent = globalenv())
    printed <- unlist(lapply(code, function(call) {
      capture.output({
        answer <- withVisible(suppressMessages(eval(call, place)))
        if (answer$visible) print(answer$value)
      })
    }))
    expect_equal(numbers(printed), numbers(lines[shown]), tolerance = 0.005, info = lines[2L])
  }
})

test_that("weights of two classes are trials, as the error says", {
  expect_error(sparsegp(am ~ wt, mtcars, "probit", weights = carb), "\"binomial\"",
               class = "sparsegp_error")
  counts <- mtcars$carb
  repeated <- sparsegp(am ~ wt, mtcars[rep(1:32, counts), ], "logit", learn = FALSE)
  trials <- sparsegp(am ~ wt, mtcars, "binomial", weights = carb, learn = FALSE)
  new <- data.frame(wt = 2:4)
  # sites of several trials are one normal factor
  expect_equal(predict(trials, new), predict(repeated, new), tolerance = 0.005,
               ignore_attr = TRUE)
})

test_that("a function that is not attached is named with its package", {
  place <- new.env(parent = baseenv())
  formula <- stats::as.formula("Surv(time, status) ~ age", place)
  skip_if_not_installed("survival")
  expect_error(sparsegp(formula, survival::lung), "library(survival)", fixed = TRUE)
})

test_that("the README installs the package with its vignettes first", {
  readme <- readLines(file.path(dirname(source_folder("R")), "README.md"))
  installs <- grep("R CMD INSTALL|install[.]packages", readme, value = TRUE)
  expect_match(installs[1L], "R CMD build . && R CMD INSTALL", fixed = TRUE)
  expect_no_match(installs[1L], "--no-build-vignettes")
})

test_that("pictures and predictions of softmax with seven classes come at once", {
  slow_tier()
  set.seed(1)
  d <- data.frame(a = rnorm(42), b = rnorm(42), y = factor(rep(1:7, 6)))
  fit <- sparsegp(y ~ a + b, d, lik_softmax(), learn = FALSE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  # 0.4 s, and 24 of them once; a machine may be slow
  expect_lt(system.time(plot(fit))[["user.self"]], 4)
})

test_that("lik_step() after any number of sweeps is a fit, which says that EP has not converged", {
  slow_tier()
  set.seed(1)
  x <- round(rnorm(60), 1)
  overlapping <- list(x = x, y = as.double(x + rnorm(60) > 0))
  separable <- list(x = 1:40 / 10, y = as.double(1:40 > 20))
  fit <- function(d, method) {
    sparsegp(d$x, d$y, lik_step(fixed(0.05)), kernel_rbf(1, 0.5), learn = FALSE, method = method)
  }
  for (d in list(overlapping, separable)) {
    for (sweeps in c(1, 3, 10)) {
      # the thesis's sparse EP, and full EP
      for (method in list(method_ep(15, "kl", freeze = Inf, sweeps = sweeps),
                          method_ep(sweeps = sweeps))) {
        found <- withCallingHandlers(fit(d, method), warning = function(w) {
          expect_match(conditionMessage(w), "did not converge.*method_ep\\(sweeps =\\)")
          invokeRestart("muffleWarning")
        })
        p <- predict(found, d$x, type = "prob")
        expect_true(all(p >= 0 & p <= 1))
        expect_identical(found$convergence$converged,
                         found$convergence$change <= found$convergence$tol)
        expect_lt(as.double(logLik(found)), 0)
      }
    }
  }
  # labels that do not contradict each other have a fixed point
  expect_true(fit(separable, method_ep())$convergence$converged)
})

test_that("lik_step() is no error where EP has an evidence that labels cannot have", {
  slow_tier()
  set.seed(1)
  x <- rnorm(200)
  d <- list(x = round(x, 1), y = as.double(x + rnorm(200) > 0))
  # where EP stands after 200 sweeps without a fixed point is up to rounding, and so to the BLAS
  found <- suppressWarnings(sparsegp(d$x, d$y, lik_step(fixed(0.05)), learn = FALSE))
  expect_lt(found$log_evidence, 0)
  expect_true(!is.null(found$convergence$fallback) || found$convergence$change < 0.01)
  expect_error(refuse_impossible(list(logz = 3, change = 1), lik_step(fixed(0.05)), 200),
               "no fixed point.*lik_flip", class = "sparsegp_error")
  expect_silent(refuse_impossible(list(logz = -3, change = 1), lik_step(fixed(0.05)), 200))
  # ten labels at one input, five of each kind, lead nowhere, but to nothing impossible
  expect_warning(
    expect_warning(fit <- sparsegp(rep(0, 10), rep(0:1, 5), lik_step(fixed(0.05)), learn = FALSE),
                   "no fixed point.*lik_flip"),
    "No input varies"
  )
  expect_lt(as.double(logLik(fit)), 0)
})

test_that("lik_step(fixed(0)) is the limit of small noise, the noiseless step", {
  slow_tier()
  x <- seq(-2, 2, length.out = 30)
  fit <- function(likelihood, ...) {
    sparsegp(x, x > 0.3, likelihood, kernel_rbf(1, 0.5), learn = FALSE, ...)
  }
  for (method in list(method_ep(), method_ep(12), method_ivm(12), method_online(12))) {
    without <- fit(lik_step(fixed(0)), method = method)
    with <- fit(lik_step(fixed(1e-12)), method = method)
    # noise of 1e-12 moves probabilities by as much, over a dozen sites that share it
    expect_equal(predict(without, x, type = "prob"), predict(with, x, type = "prob"),
                 tolerance = 1e-9)
    expect_equal(as.double(logLik(without)), as.double(logLik(with)), tolerance = 1e-9)
  }
  expect_identical(coef(without)[["noise"]], 0)
  learned <- sparsegp(x, x > 0.3, lik_step(fixed(0)))
  expect_true(all(is.finite(coef(learned))))
  # a flip that is fixed at 0 is the probit
  expect_equal(logLik(fit(lik_flip(flip = fixed(0)))), logLik(fit(lik_probit())), tolerance = 1e-12)
  refused(lik_step(0), "fixed\\(0\\)")
})

test_that("an evidence of labels or counts above 0 is impossible, and no number to learn from", {
  expect_true(is_impossible(lik_probit(), 1, 10))
  expect_true(is_impossible(lik_poisson(), 1, 10))
  expect_false(is_impossible(lik_probit(), 1e-9, 10))
  expect_false(is_impossible(lik_gaussian(), 100, 10))
})
