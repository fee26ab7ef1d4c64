r_code_alone()

toy <- function(n = 20L) {
  set.seed(13)
  d <- data.frame(x = rnorm(n), z = runif(n), w = rep(c(1, 25), length.out = n))
  d$y <- sin(d$x) + d$z + rnorm(n, sd = 0.2) + 10
  d$class <- factor(ifelse(d$x + rnorm(n, sd = 0.7) > 0, "yes it is", "no"), c("no", "yes it is"))
  d
}

# Hyperparameters far enough from the data's for every kind of spread to show
regression <- function(d = toy(), by = NULL, ...) {
  sparsegp(y ~ x, d, lik_gaussian(0.3), kernel_rbf(1.2, 0.8), learn = FALSE, scale = FALSE,
           weights = by, ...)
}

classes <- function(d = toy(), ...) sparsegp(class ~ x + z, d, learn = FALSE, ...)

gap <- function(a, b) max(abs(unname(a) - unname(b)))

# How many standard errors the means of the columns' rows are away from `mean`
standard_errors <- function(draws, mean, sd) {
  max(abs(rowMeans(draws) - mean) / sd) * sqrt(ncol(draws))
}

# Types of everything in a list, attributes too, but for the environment of a formula's terms
types_in <- function(x) {
  inner <- attributes(x)
  inner$.Environment <- NULL
  parts <- c(if (is.list(x)) unclass(x), inner)
  unique(c(typeof(x), unlist(lapply(unname(parts), types_in))))
}

# ---- Numbers of the fit ----

test_that("coef() is on the natural scale, named as the help page says", {
  slow_tier()
  d <- toy()
  expect_equal(coef(regression()), c(variance = 1.2, lengthscale = 0.8, noise = 0.3),
               tolerance = 1e-14) # through a logarithm and back
  expect_named(coef(classes()), c("variance", "lengthscale", "bias"))
  kernel <- kernel_rbf(ard = TRUE) * kernel_linear(vars = "z") + kernel_constant() +
    kernel_periodic(vars = "x") + kernel_rq()
  fit <- sparsegp(y ~ x + z, d, kernel = kernel, learn = FALSE)
  expect_named(coef(fit), c(
    "k1.variance", "k1.lengthscale.x", "k1.lengthscale.z", "k2.variance", "k3.variance",
    "k4.variance", "k4.lengthscale", "k4.period", "k5.variance", "k5.lengthscale", "k5.shape",
    "noise"
  ))
  constant <- sparsegp(y ~ x + k + z, transform(d, k = 1), learn = FALSE,
                       kernel = kernel_rbf(ard = TRUE, lengthscale = c(2, 3, 4)))
  expect_equal(coef(constant)[c("lengthscale.x", "lengthscale.z")],
               c(lengthscale.x = 2, lengthscale.z = 4), tolerance = 1e-14)
})

test_that("a period is in units of its input, other hyperparameters of kernels in scaled units", {
  slow_tier()
  x <- seq(0, 20, length.out = 40)
  for (unit in c(1, 50)) {
    fit <- sparsegp(unit * x, sin(2 * pi * x / 5) + 0.1 * cos(7 * x),
                    kernel = kernel_periodic(period = 4.5 * unit))
    expect_equal(coef(fit)[["period"]], 5 * unit, tolerance = 0.02)
    given <- sparsegp(unit * x, sin(x), kernel = kernel_periodic(period = 3 * unit), learn = FALSE)
    expect_equal(coef(given)[["period"]], 3 * unit, tolerance = 1e-14)
  }
  scaled <- sparsegp(x, sin(x), kernel = kernel_rbf(1, 2), learn = FALSE)
  by_hand <- sparsegp(x, sin(x), kernel = kernel_rbf(1, 2 * scaled$scaling$sd[[1]]), learn = FALSE,
                      scale = FALSE)
  expect_lt(gap(fitted(scaled), fitted(by_hand)), 1e-10)
})

test_that("logLik() is an evidence: without degrees of freedom, and nothing to penalise or test", {
  slow_tier()
  d <- toy()
  learned <- sparsegp(y ~ x, d)
  expect_identical(as.numeric(logLik(learned)), learned$log_evidence)
  expect_identical(attr(logLik(learned), "df"), NA_integer_)
  expect_equal(nobs(learned), 20)
  expect_identical(attr(logLik(learned), "nobs"), nobs(learned))
  expect_error(AIC(learned), "parameter count.*logLik", class = "sparsegp_error")
  expect_error(BIC(learned), "parameter count.*logLik", class = "sparsegp_error")
  expect_true(is.na(AIC(logLik(learned))))
  skip_if_not_installed("lmtest")
  expect_error(lmtest::lrtest(learned, regression(d)), "parameter count",
               class = "sparsegp_error")
})

test_that("formula() and terms() are those of the call, and a matrix has none", {
  fit <- sparsegp(y ~ x + log(z), toy(), learn = FALSE)
  expect_equal(formula(fit), y ~ x + log(z), ignore_formula_env = TRUE)
  expect_s3_class(terms(fit), "terms")
  expect_error(formula(sparsegp(toy()$x, toy()$y, learn = FALSE)), class = "sparsegp_error")
})

# ---- Rows ----

test_that("residuals are response less mean, pearson ones in its standard deviations", {
  d <- toy()
  fit <- regression(d)
  answer <- predict(fit, se.fit = TRUE)
  expect_lt(gap(residuals(fit), d$y - fitted(fit)), 1e-12)
  expect_lt(gap(residuals(fit, "pearson"), residuals(fit) / sqrt(answer$se.fit^2 + 0.3)), 1e-10)
  expect_identical(residuals(fit), residuals(fit, "response"))
  expect_named(residuals(fit), rownames(d))
  fit <- classes(d)
  p <- fitted(fit)
  expect_lt(gap(residuals(fit), (d$class == "yes it is") - p), 1e-12)
  expect_lt(gap(residuals(fit, "pearson"), residuals(fit) / sqrt(p * (1 - p))), 1e-10)
  expect_error(residuals(fit, "deviance"), "`type`", class = "sparsegp_error")
})

test_that("pearson residuals of several classes have the spread of each class's share", {
  d <- toy()
  d$three <- cut(d$x, c(-Inf, -0.5, 0.5, Inf), c("low", "mid", "high"))
  fit <- sparsegp(three ~ x, d, learn = FALSE)
  p <- fitted(fit)
  expected <- (outer(as.character(d$three), colnames(p), `==`) - p) / sqrt(p * (1 - p))
  expect_lt(gap(residuals(fit, "pearson"), expected), 1e-10)
})

test_that("pearson residuals know that a weight divides the noise", {
  d <- toy()
  fit <- regression(d, d$w)
  spread <- sqrt(predict(fit, se.fit = TRUE)$se.fit^2 + 0.3 / d$w)
  expect_lt(gap(residuals(fit, "pearson"), residuals(fit) / spread), 1e-10)
})

test_that("sites of Gaussian rows are the data: precision weight / noise, mean the response", {
  d <- toy()
  at <- sites(regression(d, d$w))
  expect_named(at, c("row", "precision", "shift"))
  expect_equal(at$precision, d$w / 0.3, tolerance = 1e-12)
  expect_equal(at$shift / at$precision, d$y - weighted.mean(d$y, d$w), tolerance = 1e-10)
  expect_true(all(sites(classes())$precision > 0))
  holes <- transform(d, x = replace(x, 3, NA))
  expect_equal(sites(regression(holes))$row, rownames(d)[-3])
})

test_that("loo_lpd() of classes are log probabilities, near those of refits", {
  slow_tier()
  d <- toy()
  fit <- sparsegp(class ~ x, d, lik_probit(0.2), kernel_rbf(1, 1), learn = FALSE, scale = FALSE)
  refitted <- vapply(1:20, function(i) {
    rest <- update(fit, data = d[-i, ])
    log(predict(rest, d[i, ], type = "prob")[, as.character(d$class[i])])
  }, 0)
  # EP's cavity is not the refit's posterior; on these data they differ by about 0.02
  expect_lt(gap(loo_lpd(fit), refitted), 0.05)
  expect_true(all(loo_lpd(fit) < 0))
})

# ---- Random draws ----

test_that("simulate() is fixed by its seed and gives the generator back as it was", {
  fit <- regression()
  set.seed(99)
  before <- .Random.seed
  first <- simulate(fit, 3, seed = 4)
  expect_identical(.Random.seed, before)
  expect_identical(simulate(fit, 3, seed = 4), first)
  expect_named(first, c("sim_1", "sim_2", "sim_3"))
  expect_equal(nrow(first), 20)
  set.seed(4)
  expect_equal(simulate(fit, 3), first, ignore_attr = "seed")
  expect_false(identical(.Random.seed, before))
  set.seed(99)
  expect_identical(attr(simulate(fit), "seed"), before)
})

test_that("simulated responses have the mean and spread of predictions", {
  slow_tier()
  d <- toy()
  fit <- regression(d)
  simulated <- as.matrix(simulate(fit, 2000, seed = 1))
  answer <- predict(fit, se.fit = TRUE)
  spread <- sqrt(answer$se.fit^2 + 0.3)
  # 4.5 standard errors are passed once in 10^4 seeds; a standard deviation's error is 1.6 %
  expect_lt(standard_errors(simulated, answer$fit, spread), 4.5)
  expect_lt(gap(apply(simulated, 1, sd) / spread, 1), 0.08)
  new <- data.frame(x = c(-4, 0.2), z = 0.5)
  fit <- classes(d)
  simulated <- simulate(fit, 2000, seed = 1, newdata = new)
  expect_identical(levels(simulated$sim_7), c("no", "yes it is"))
  share <- rowMeans(vapply(simulated, function(column) column == "yes it is", c(TRUE, TRUE)))
  expect_lt(max(abs(share - predict(fit, new)) / sqrt(0.25 / 2000)), 4.5)
})

test_that("simulated responses have the offset, of training rows and of others", {
  slow_tier()
  d <- toy()
  fit <- sparsegp(y ~ x + offset(5 * z), d, lik_gaussian(0.3), kernel_rbf(1.2, 0.8), learn = FALSE,
                  scale = FALSE)
  for (new in list(d, d[3:5, ])) {
    answer <- predict(fit, new, se.fit = TRUE)
    simulated <- as.matrix(simulate(fit, 200, seed = 1, newdata = new))
    expect_lt(standard_errors(simulated, answer$fit, sqrt(answer$se.fit^2 + 0.3)), 4.5)
  }
  expect_equal(simulate(fit, 2, seed = 1)$sim_2, simulate(fit, 2, seed = 1, newdata = d)$sim_2,
               tolerance = 1e-6)
})

test_that("simulated classes are as frequent as predictions say", {
  slow_tier()
  d <- toy()
  d$three <- cut(d$x, c(-Inf, -0.5, 0.5, Inf), c("low", "mid", "high"))
  fit <- sparsegp(three ~ x, d, learn = FALSE)
  p <- predict(fit, d[1:4, ])
  simulated <- simulate(fit, 500, seed = 1, newdata = d[1:4, ])
  for (level in levels(d$three)) {
    share <- rowMeans(vapply(simulated, function(column) column == level, logical(4)))
    expect_lt(max(abs(share - p[, level])), 4.5 * 0.5 / sqrt(500))
  }
})

test_that("simulated responses of training rows have the noise of their weights", {
  slow_tier()
  d <- toy()
  fit <- regression(d, d$w)
  spread <- sqrt(predict(fit, se.fit = TRUE)$se.fit^2 + 0.3 / d$w)
  simulated <- as.matrix(simulate(fit, 1000, seed = 1))
  expect_lt(gap(apply(simulated, 1, sd) / spread, 1), 0.12) # five standard errors
})

test_that("draws() are jointly from the posterior of the latent function", {
  d <- toy()
  fit <- regression(d, mean = "average")
  new <- data.frame(x = c(-0.5, -0.3, 5))
  set.seed(2)
  drawn <- draws(fit, new, n = 4000)
  expect_equal(dim(drawn), c(3, 4000))
  kernel <- function(a, b) 1.2 * exp(-outer(a, b, "-")^2 / (2 * 0.8^2))
  C <- kernel(d$x, d$x) + diag(0.3, 20)
  cross <- kernel(d$x, new$x)
  mean <- mean(d$y) + drop(crossprod(cross, solve(C, d$y - mean(d$y))))
  cov <- kernel(new$x, new$x) - crossprod(cross, solve(C, cross))
  sd <- sqrt(diag(cov))
  expect_lt(standard_errors(drawn, mean, sd), 4.5)
  # a correlation's standard error is at most 1 / sqrt(4000)
  expect_lt(max(abs(cov(t(drawn)) - cov) / outer(sd, sd)), 5 * sqrt(2 / 4000))
})

test_that("draws() at rows that repeat are equal, and NA rows are NA", {
  fit <- classes()
  new <- data.frame(x = c(1, 1, NA, 1 + 1e-12), z = 0.5)
  set.seed(1)
  drawn <- draws(fit, new, n = 5)
  expect_true(all(is.na(drawn[3, ])))
  # the joint covariance is singular to 1e-15: 1e-7 in a standard deviation
  expect_lt(max(abs(drawn[c(2, 4), ] - rep(drawn[1, ], each = 2))), 1e-6)
  expect_equal(dim(draws(fit)), c(20, 1))
  holes <- transform(toy(), x = replace(x, 2, NA))
  excluded <- classes(holes, na.action = na.exclude)
  expect_equal(nrow(draws(excluded)), 20)
  expect_equal(nrow(simulate(excluded)), 20)
})

test_that("no rows give no draws", {
  fit <- regression()
  none <- toy()[0, ]
  expect_equal(dim(draws(fit, none, n = 3)), c(0, 3))
  expect_equal(dim(simulate(fit, 2, newdata = none)), c(0, 2))
  expect_equal(dim(simulate(classes(), 2, newdata = none)), c(0, 2))
})

test_that("wrong arguments of accessors are refused by name", {
  fit <- regression()
  d <- toy()
  expect_error(draws(fit, d, n = 0), "`n`", class = "sparsegp_error")
  expect_error(draws(fit, d["z"]), "`newdata`", class = "sparsegp_error")
  expect_error(draws(fit, d, 2, "latent", 3), "`vars`.*slope", class = "sparsegp_error")
  expect_error(simulate(fit, 0), "`nsim`", class = "sparsegp_error")
  expect_error(simulate(fit, 1, foo = 2), "foo", class = "sparsegp_error")
  expect_error(suppressWarnings(simulate(fit, 1, seed = "a")), "`seed`", class = "sparsegp_error")
  expect_error(loo_lpd(fit, 3), "unnamed", class = "sparsegp_error")
  expect_error(sites(fit, n = 3), "Unknown argument: `n`", class = "sparsegp_error")
})

# ---- What a fit holds ----

test_that("a fit is plain data: equal calls give identical fits, also when saved and read", {
  d <- toy()
  # by a matrix, since the environment of a formula is another one every time
  make <- function() sparsegp(as.matrix(d[c("x", "z")]), d$class, learn = FALSE)
  fit <- make()
  expect_true(identical(fit, make()))
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  expect_true(identical(readRDS(file), fit))
  expect_false(any(types_in(unclass(fit)) %in% c("externalptr", "weakref", "environment")))
})


test_that("a fit does not carry what lies around where it was made", {
  d <- toy()
  size <- function(x) length(serialize(x, NULL))
  inside <- function() {
    ballast <- rnorm(1e5)
    bias <- 0.1
    sparsegp(as.matrix(d["x"]), d$class, lik_probit(bias), kernel_rbf(exp(bias)), learn = FALSE,
             control = gp_control(prior = list(bias = prior_normal(bias, 2))))
  }
  outside <- sparsegp(as.matrix(d["x"]), d$class, lik_probit(0.1), learn = FALSE)
  expect_lt(size(inside()), size(outside) + 2000)
  # a formula carries its environment, here as in lm()
  by_formula <- function(d) {
    ballast <- rnorm(1e5)
    list(lm = lm(y ~ x, d), gp = sparsegp(y ~ x, d, learn = FALSE))
  }
  fits <- by_formula(d)
  expect_lt(size(fits$gp), size(fits$lm) + 30000)
  # beside the n x n factor: less than 2 kB for each of 20 rows
  expect_lt(size(outside), 8 * 20^2 + 20 * 2000)
})
