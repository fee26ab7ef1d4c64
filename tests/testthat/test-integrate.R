# Ensembles, and fits integrated over their hyperparameters.

r_code_alone()

refused <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

# ---- Designs and roots ----

test_that("composite designs integrate polynomials of degree three under a normal density", {
  for (p in 1:16) {
    design <- composite_design(p)
    w <- design$weight
    z <- design$z
    expect_equal(sum(w), 1, tolerance = 1e-14)
    expect_equal(crossprod(z, w * z), diag(p), tolerance = 1e-12) # E z z'
    # E z_i, E z_i z_j z_k; the points are mirror images of each other
    expect_equal(colSums(w * z), numeric(p), tolerance = 1e-13)
    pairs <- z[, rep(seq_len(p), p), drop = FALSE] * z[, rep(seq_len(p), each = p), drop = FALSE]
    expect_lt(max(abs(crossprod(z, w * pairs))), 1e-12)
  }
  expect_identical(vapply(c(3, 4, 5, 6, 10, 12), function(p) nrow(composite_design(p)$z), 0L),
                   c(15L, 17L, 27L, 17L, 25L, 25L))
})

test_that("Hadamard matrices are such, and corners have every three signs equally often", {
  for (n in c(4L, 8L, 12L, 16L, 20L, 24L, 28L, 32L, 40L)) {
    H <- hadamard_of(n)
    if (is.null(H)) next # 28 is neither doubled nor of a prime
    expect_equal(crossprod(H), n * diag(n))
    expect_true(all(abs(H) == 1))
  }
  for (p in 4:12) {
    corners <- cube_corners(p)
    counts <- apply(utils::combn(p, 3L), 2L, function(three) {
      tabulate(drop((corners[, three] > 0) %*% c(1, 2, 4)) + 1, 8L)
    })
    expect_true(all(counts == nrow(corners) / 8))
  }
})

test_that("grids integrate polynomials to the trapezoid rule's error", {
  design <- grid_design(2L)
  # the grid ends at 3 standard deviations: E z^2 lacks some 6 %, as far as a circle has it outside
  expect_equal(crossprod(design$z, design$weight * design$z), diag(2L), tolerance = 0.06)
  expect_identical(design$z[1L, ], c(0, 0))
})

test_that("roots are found, for ends that are roots and ends that are infinite, too", {
  at <- c(-3, 0, 1e6, 2)
  f <- function(x) (x - at)^3 + (x - at) * 1e-3
  expect_equal(increasing_root(f, at - c(1, 2, 1e7, 0), at + c(5, 1e-3, 1, 4)), at,
               tolerance = 1e-7)
  expect_identical(increasing_root(function(x) x, 1, 3), 1) # the root is not between
  expect_identical(increasing_root(function(x) x - 5, 1, 3), 3)
  steps <- function(x) ifelse(x < c(2, 7.5, 0), -1, 1)
  expect_identical(first_whole(steps, c(0, 0, 0), c(10, 20, 4), 1), c(2, 8, 0))
  expect_identical(first_whole(function(x) ifelse(x < 0.5, -1, 0), 0.25, 1, 0.25), 0.5)
})

test_that("a density along an axis is normal where its fall is, and has its quantiles", {
  side <- list(width = 1, knots = sqrt(2), fall = 1)
  density <- axis_density(list(minus = side, plus = side))
  z <- c(-2.5, -1, 0, 0.3, 2)
  expect_equal(place_on_axis(density, z), z, tolerance = 1e-3) # cells of 0.02
  expect_equal(density$mass, sqrt(2 * pi), tolerance = 1e-4)
  # a side that is twice as wide has two thirds of the mass
  wide <- list(width = 2, knots = 2 * sqrt(2), fall = 1)
  density <- axis_density(list(minus = side, plus = wide))
  expect_equal(place_on_axis(density, qnorm(1 / 3)), 0, tolerance = 2e-3)
  expect_equal(place_on_axis(density, qnorm(1 - pnorm(-1) * 4 / 3)), 2, tolerance = 2e-3)
  # one that rises instead of falling is a number, too
  rising <- list(width = 1, knots = sqrt(2), fall = -1e4)
  expect_true(all(is.finite(axis_density(list(minus = side, plus = rising))$log_density)))
})

# ---- Mixtures ----

# A mixture of two given fits, and fits that it is of.
two_fits <- function(formula, data, likelihood = NULL, ...) {
  one <- function(kernel) sparsegp(formula, data, likelihood, kernel, learn = FALSE, ...)
  fits <- list(one(kernel_rbf(0.6, 1)), one(kernel_rbf(2, 3)))
  list(fits = fits, mixture = new_ensemble(fits, c(2, 3)))
}

mixed_rows <- function() {
  set.seed(2)
  d <- data.frame(x = runif(40, 0, 4))
  d$n <- rpois(40, exp(1 + sin(2 * d$x)))
  d$y <- sin(d$x) + 0.2 * rnorm(40)
  d$e <- exp(d$y)
  d$b <- factor(ifelse(runif(40) < plogis(2 * sin(2 * d$x)), "a", "b"))
  d$c <- cut(d$x + rnorm(40), 3, labels = c("p", "q", "r"))
  d$o <- factor(d$c, ordered = TRUE)
  d
}

NEW <- data.frame(x = c(0.3, 2, 5, NA))

test_that("means, probabilities and variances of a mixture are averages", {
  d <- mixed_rows()
  both <- two_fits(y ~ x, d)
  expect_identical(both$mixture$ensemble$weights, c(0.4, 0.6))
  each <- lapply(both$fits, predict, NEW, se.fit = TRUE)
  found <- predict(both$mixture, NEW, se.fit = TRUE)
  mean <- 0.4 * each[[1L]]$fit + 0.6 * each[[2L]]$fit
  expect_equal(found$fit, mean, tolerance = 1e-13)
  var <- 0.4 * (each[[1L]]$se.fit^2 + (each[[1L]]$fit - mean)^2) +
    0.6 * (each[[2L]]$se.fit^2 + (each[[2L]]$fit - mean)^2)
  expect_equal(found$se.fit, sqrt(var), tolerance = 1e-13)
  joint <- predict(both$mixture, NEW, type = "link", covariance = TRUE)
  expect_equal(diag(joint$covariance), var, tolerance = 1e-8)
  for (response in c("b", "c", "o")) {
    both <- two_fits(reformulate("x", response), d)
    each <- lapply(both$fits, predict, NEW, type = "prob")
    expect_equal(predict(both$mixture, NEW, type = "prob"), 0.4 * each[[1L]] + 0.6 * each[[2L]],
                 tolerance = 1e-13)
  }
})

test_that("intervals of a mixture are by the members' distribution functions", {
  d <- mixed_rows()
  both <- two_fits(y ~ x, d)
  new <- NEW[1:3, , drop = FALSE]
  ends <- predict(both$mixture, new, interval = "prediction", level = 0.9)
  below <- Reduce(`+`, Map(function(fit, weight) {
    at <- predict(fit, new, se.fit = TRUE)
    weight * pnorm(ends[, -1L], at$fit, sqrt(at$se.fit^2 + sigma(fit)^2))
  }, both$fits, c(0.4, 0.6)))
  expect_equal(below, cbind(rep(0.05, 3L), 0.95), ignore_attr = TRUE, tolerance = 1e-9)
  ends <- predict(both$mixture, new, interval = "confidence", level = 0.9)
  below <- Reduce(`+`, Map(function(fit, weight) {
    at <- predict(fit, new, se.fit = TRUE)
    weight * pnorm(ends[, -1L], at$fit, at$se.fit)
  }, both$fits, c(0.4, 0.6)))
  expect_equal(below, cbind(rep(0.05, 3L), 0.95), ignore_attr = TRUE, tolerance = 1e-9)
})

test_that("quantiles of a mixture are those of its draws, whatever the response", {
  slow_tier()
  d <- mixed_rows()
  new <- NEW[1:3, , drop = FALSE]
  # standard errors of a simulated probability: 0.0024 of 4000 draws at 2.5 %; 5 of them
  near <- function(inside, expected) expect_lt(max(abs(inside - expected)), 0.0125)
  for (case in list(list(y ~ x), list(e ~ x, transform = "log"), list(n ~ x, "poisson"),
                    list(b ~ x, "probit"))) {
    mixture <- do.call(two_fits, c(case[1L], list(d), case[-1L]))$mixture
    set.seed(1)
    f <- draws(mixture, new, 4000, type = "response")
    expect_identical(dim(f), c(3L, 4000L))
    ends <- predict(mixture, new, interval = "confidence")
    near(rowMeans(f < ends[, "lwr"]), 0.025)
    near(rowMeans(f > ends[, "upr"]), 0.025)
    if ("probit" %in% unlist(case[-1L])) next
    y <- as.matrix(simulate(mixture, 4000, newdata = new))
    ends <- predict(mixture, new, interval = "prediction")
    if (!identical(case[-1L], list("poisson"))) {
      near(rowMeans(y < ends[, "lwr"]), 0.025)
      near(rowMeans(y > ends[, "upr"]), 0.025)
    } else { # whole numbers: the smallest with so much up to them
      expect_true(all(rowMeans(y <= ends[, "upr"]) > 0.975 - 0.0125,
                      rowMeans(y < ends[, "upr"]) < 0.975 + 0.0125))
    }
  }
})

test_that("a mixture of one member, or of equal ones, is that fit", {
  d <- mixed_rows()
  fit <- sparsegp(y ~ x, d, control = gp_control(integrate = "none"))
  same <- new_ensemble(list(fit, fit, fit), c(1, 1, 2))
  ends <- function(fit) predict(fit, NEW, interval = "prediction")
  expect_equal(ends(same), ends(fit))
  expect_equal(loo(same), loo(fit), tolerance = 1e-12)
  expect_equal(residuals(same, "quantile"), residuals(fit, "quantile"), tolerance = 1e-9)
  expect_identical(lengths(same$ensemble$members), c(0L, 0L, 0L))
  set.seed(1)
  one <- draws(new_ensemble(list(fit), 1), NEW, 3)
  expect_identical(dim(one), c(4L, 3L))
})

test_that("leave-one-out densities are those of mixtures weighted without the row", {
  set.seed(5)
  d <- data.frame(x = seq(0, 3, length.out = 8))
  d$y <- sin(2 * d$x) + 0.3 * rnorm(8)
  given <- function(d, scale) {
    sparsegp(d$x, d$y - mean(d$y), lik_gaussian(0.1), kernel_rbf(1, scale), learn = FALSE,
             scale = FALSE, structure = "fixed", mean = "zero")
  }
  scales <- c(0.3, 1, 2)
  fits <- lapply(scales, given, d = d)
  evidence <- vapply(fits, logLik, 0)
  mixture <- new_ensemble(fits, exp(evidence - max(evidence)))
  # by the definition: p(y) / p(y without row i), averaged over the members under their equal prior
  log_normal <- function(y, scale) {
    K <- exp(-outer(d$x, d$x, "-")^2 / (2 * scale^2)) + 0.1 * diag(8L)
    function(at) {
      R <- chol(K[at, at, drop = FALSE])
      -sum(backsolve(R, y[at], transpose = TRUE)^2) / 2 - sum(log(diag(R))) -
        length(at) / 2 * log(2 * pi)
    }
  }
  y <- d$y - mean(d$y)
  log_mean <- function(at) log(mean(exp(vapply(scales, function(s) log_normal(y, s)(at), 0))))
  expected <- vapply(1:8, function(i) log_mean(1:8) - log_mean(setdiff(1:8, i)), 0)
  expect_equal(unname(loo_lpd(mixture)), expected, tolerance = 1e-8)
  stacked <- new_ensemble(fits, c(1, 1, 2), fixed = TRUE)
  lpd <- vapply(fits, loo_lpd, numeric(8L))
  expect_equal(loo_lpd(stacked), log(drop(exp(lpd) %*% c(0.25, 0.25, 0.5))), tolerance = 1e-12)
})

# ---- Integrated fits ----

few_rows <- function(n = 15) {
  set.seed(1)
  d <- data.frame(x = runif(n))
  d$y <- sin(6 * d$x) + 0.3 * rnorm(n)
  d
}

test_that("rules agree with the integral over one hyperparameter", {
  slow_tier()
  d <- few_rows()
  plain <- function(kernel, ...) {
    sparsegp(y ~ x, d, lik_gaussian(fixed(0.09)), kernel, structure = "fixed", ...)
  }
  learned <- plain(kernel_rbf(variance = fixed(0.5)), integrate = "none")
  table <- learned$hyper
  at <- table$free
  # the integral by a fine trapezoid rule over the logarithm of the length scale
  theta <- table$theta[at] + seq(-3, 3, by = 0.05)
  fits <- lapply(theta, function(log_scale) {
    sparsegp(y ~ x, d, lik_gaussian(0.09), kernel_rbf(0.5, exp(log_scale)), learn = FALSE,
             structure = "fixed")
  })
  prior <- vapply(theta, function(one) {
    hyper_log_prior(table, replace(table$theta, at, one))$value
  }, 0)
  mass <- vapply(fits, logLik, 0) + prior
  exact <- new_ensemble(fits, exp(mass - max(mass)))
  logz <- max(mass) + log(sum(exp(mass - max(mass))) * 0.05)
  new <- data.frame(x = c(0.1, 0.5, 1.3))
  reference <- predict(exact, new, se.fit = TRUE)
  for (rule in c("ccd", "grid")) {
    fit <- plain(kernel_rbf(variance = fixed(0.5)), integrate = rule)
    found <- predict(fit, new, se.fit = TRUE)
    # three points of a design know a variance to some percent
    expect_lt(max(abs(found$fit - reference$fit) / reference$se.fit), 0.06)
    expect_lt(max(abs(found$se.fit / reference$se.fit - 1)), 0.04)
    expect_equal(c(logLik(fit)), logz, tolerance = 0.02)
  }
  grid <- predict(plain(kernel_rbf(variance = fixed(0.5)), integrate = "grid"), new, se.fit = TRUE)
  expect_equal(grid$se.fit, reference$se.fit, tolerance = 0.01)
})

test_that("default fits of few rows are integrated, say so, and are wider", {
  d <- few_rows()
  fit <- sparsegp(y ~ x, d)
  at_mode <- sparsegp(y ~ x, d, control = gp_control(integrate = "none"))
  expect_true(has_members(fit))
  expect_identical(coef(fit), coef(at_mode))
  expect_null(at_mode$ensemble)
  expect_output(print(fit), "hyperparameters integrated over 15 points [(]ccd[)]: intervals")
  width <- function(fit) diff(predict(fit, data.frame(x = 1.2), interval = "prediction")[2:3])
  expect_gt(width(fit), width(at_mode))
  expect_lt(logLik(fit), logLik(at_mode))
  expect_identical(sparsegp(y ~ x, d, method = method_ep())$ensemble, NULL)
  expect_identical(sparsegp(y ~ x, d, learn = FALSE)$ensemble, NULL)
  ends <- confint(fit)
  expect_true(all(ends[, 1L] < coef(fit) & coef(fit) < ends[, 2L]))
  expect_identical(rownames(ends), names(coef(fit)))
})

test_that("a fit on a log scale is that of the logarithms", {
  d <- few_rows()
  d$e <- exp(d$y)
  own <- sparsegp(e ~ x, d, transform = "log")
  logs <- sparsegp(y ~ x, d)
  new <- data.frame(x = c(0.2, 1.1))
  expect_true(has_members(own))
  expect_equal(predict(own, new, type = "quantile"), exp(predict(logs, new, type = "quantile")),
               tolerance = 1e-6)
  expect_equal(c(logLik(own)), c(logLik(logs)) - sum(d$y), tolerance = 1e-6)
})

test_that("many rows that know the hyperparameters are not", {
  set.seed(4)
  d <- data.frame(x = runif(250, 0, 3))
  d$y <- sin(3 * d$x) + 0.1 * rnorm(250)
  expect_null(sparsegp(y ~ x, d)$ensemble)
})

test_that("an input that does not matter is bounded by its prior, and named", {
  set.seed(3)
  d <- data.frame(x = runif(25), z = runif(25))
  d$y <- sin(6 * d$x) + 0.1 * rnorm(25)
  fit <- sparsegp(y ~ x + z, d, kernel = kernel_rbf(ard = TRUE),
                  control = gp_control(integrate = "ccd"))
  made <- fit$ensemble$made
  spread <- sqrt(rowSums(made$axes^2))
  expect_true(all(spread <= prior_spreads(fit$hyper) * (1 + 1e-8)))
  expect_true(all(is.finite(unlist(predict(fit, d, interval = "prediction")))))
})

test_that("an ensemble survives a file, and damage to it is found", {
  d <- few_rows()
  fit <- sparsegp(y ~ x, d)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  again <- readRDS(file)
  ends <- function(fit) predict(fit, d, interval = "prediction")
  expect_identical(ends(again), ends(fit))
  again$ensemble$weights[1L] <- 2
  refused(predict(again), "ensemble")
  again <- fit
  again$ensemble$members[[2L]]$theta <- again$ensemble$members[[2L]]$theta[-1L]
  refused(predict(again), "ensemble")
})

test_that("what cannot be integrated is refused with the remedy", {
  d <- few_rows()
  refused(sparsegp(y ~ x, d, control = gp_control(integrate = "exact")), "integrate")
  refused(sparsegp(y ~ x, d,
                   control = gp_control(integrate = "ccd"), learn = FALSE), "learn = TRUE")
  refused(sparsegp(y ~ x, d,
                   control = gp_control(integrate = "ccd"), method = method_online(10)), "stream")
  d$z <- runif(15)
  refused(sparsegp(y ~ x + z, d, kernel = kernel_rbf(ard = TRUE),
                   control = gp_control(integrate = "grid")), "three")
  on_basis <- sparsegp(y ~ x, d, method = method_ep(size = 6),
                       control = gp_control(integrate = "ccd"))
  expect_true(has_members(on_basis))
  refused(update(on_basis, d[1:2, ]), "mixture of fits")
  refused(merge(on_basis, on_basis), "mixture of fits")
  refused(sparsegp(y ~ x, d, like = on_basis), "mixture of fits")
})

test_that("bridge sampling finds the integral of a density whose integral is known", {
  set.seed(8)
  # independent: a skewed density, of the logarithm of a gamma variable, and a normal one
  shape <- 3
  draws <- cbind(log(rgamma(4000L, shape)), rnorm(4000L, 2, 0.5))
  density <- function(z) shape * z[1L] - exp(z[1L]) - (z[2L] - 2)^2 / (2 * 0.25)
  exact <- lgamma(shape) + log(2 * pi * 0.25) / 2
  # standard error of 2000 draws: about 0.01
  expect_equal(bridge_mass(density, draws, apply(draws, 1L, density)), exact, tolerance = 0.02)
  narrow <- function(z) if (abs(z) > 1) -Inf else 0 # some draws of q are impossible
  draws <- cbind(runif(4000L, -1, 1))
  expect_equal(bridge_mass(narrow, draws, numeric(4000L)), log(2), tolerance = 0.05)
})

test_that("MCMC is reproducible, and near to the design", {
  slow_tier()
  d <- few_rows()
  draw <- function() {
    set.seed(7)
    sparsegp(y ~ x, d, control = gp_control(integrate = "mcmc"))
  }
  fit <- draw()
  expect_identical(fit, draw())
  new <- data.frame(x = seq(0, 1, by = 0.1))
  a <- predict(fit, new, se.fit = TRUE)
  b <- predict(sparsegp(y ~ x, d), new, se.fit = TRUE)
  # 200 draws that depend on each other
  expect_lt(max(abs(a$fit - b$fit) / a$se.fit), 0.2)
  expect_lt(max(abs(b$se.fit / a$se.fit - 1)), 0.15)
  # 100 draws of each density, and 15 points
  at_mode <- sparsegp(y ~ x, d, control = gp_control(integrate = "none"))
  expect_lt(abs(logLik(fit) - logLik(sparsegp(y ~ x, d))), 0.3)
  expect_gt(abs(logLik(fit) - logLik(at_mode)), 0.5)
})
