# Ensembles, and fits integrated over their hyperparameters.

r_code_alone()

refused <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

# ---- Designs and roots ----

# Nodes where normal densities were looked at, and points of the rule for q of them.
normal_points <- function(q) {
  side <- list(width = 1, knots = c(sqrt(2), 3), fall = c(1, 4.5))
  density <- axis_density(list(minus = side, plus = side))
  nodes <- c(-sqrt(2), -3, sqrt(2), 3)
  composite_points(rep(list(density), q), rep(list(nodes), q), rep(list(c(1, 1)), q))
}

test_that("composite points integrate polynomials of degree five under a normal density", {
  slow_tier()
  for (q in 1:5) {
    rule <- normal_points(q)
    moment <- function(...) sum(rule$weight * Reduce(`*`, list(...)))
    x <- lapply(seq_len(q), function(j) rule$x[, j])
    expect_true(all(rule$weight >= 0))
    expect_equal(sum(rule$weight), 1, tolerance = 1e-14)
    expect_identical(rule$x[1L, ], numeric(q))
    for (k in c(1, 3, 5)) expect_lt(max(abs(vapply(x, function(x) moment(x^k), 0))), 1e-12)
    # densities are on a grid of 0.02
    expect_equal(vapply(x, function(x) moment(x^2), 0), rep(1, q), tolerance = 1e-3)
    expect_equal(vapply(x, function(x) moment(x^4), 0), rep(3, q), tolerance = 1e-3)
    if (q <= 3L) expect_equal(moment(x[[1L]]^6), 15, tolerance = 2e-3)
    if (q == 1L) next
    for (j in 2:q) {
      expect_equal(moment(x[[1L]]^2, x[[j]]^2), 1, tolerance = 2e-3)
      expect_lt(abs(moment(x[[1L]], x[[j]])), 1e-12)
      expect_lt(abs(moment(x[[1L]]^2, x[[j]])), 1e-12)
    }
  }
  expect_identical(vapply(1:5, function(q) length(normal_points(q)$weight), 0L),
                   c(5L, 13L, 21L, 25L, 37L))
})

test_that("points of many axes integrate polynomials of degree three", {
  slow_tier()
  for (q in c(6, 8, 10, 12)) {
    rule <- normal_points(q)
    w <- rule$weight
    x <- rule$x
    expect_equal(sum(w), 1, tolerance = 1e-14)
    expect_equal(crossprod(x, w * x), diag(q), tolerance = 2e-3) # a grid of 0.02
    pairs <- x[, rep(seq_len(q), q), drop = FALSE] * x[, rep(seq_len(q), each = q), drop = FALSE]
    expect_lt(max(abs(crossprod(x, w * pairs))), 1e-10)
  }
  expect_identical(vapply(c(6, 8, 10), function(q) length(normal_points(q)$weight), 0L),
                   c(17L, 17L, 25L))
})

test_that("weights along an axis have the moments of its density, normal or not", {
  slow_tier()
  minus <- list(width = 0.8, knots = 0.8 * c(sqrt(2), 3), fall = c(1, 5.5))
  plus <- list(width = 1.3, knots = 1.3 * c(sqrt(2), 3), fall = c(1, 3.4))
  density <- axis_density(list(minus = minus, plus = plus))
  nodes <- c(-minus$knots, plus$knots)
  rule <- composite_points(list(density), list(nodes), list(c(0.8, 1.3)))
  excess <- function(side, t) {
    approx(c(0, side$knots), c(0, (side$knots / side$width)^2 / 2 - side$fall), t, rule = 2)$y
  }
  log_density <- function(x) {
    ifelse(x < 0, excess(minus, -x) - x^2 / (2 * 0.8^2), excess(plus, x) - x^2 / (2 * 1.3^2))
  }
  for (k in 1:4) {
    expect_equal(sum(rule$weight * rule$x[, 1L]^k), reference_moment(log_density, 10, k),
                 tolerance = 2e-3) # a grid of 0.02
  }
})

test_that("curvature by secants is that of least squares, and exact for a quadratic function", {
  set.seed(6)
  s <- matrix(rnorm(12), 3L)
  y <- matrix(rnorm(12), 3L)
  far <- pmax(colSums(s^2), colSums(s * y))
  w <- 1 / (1 + (far / 0.55^2)^2) / colSums(s^2)
  expect_equal(secant_equation(s, y)$H, reference_secant(s, y, w, RIDGE), tolerance = 1e-9)
  H <- crossprod(matrix(rnorm(9), 3L)) + diag(3)
  steps <- 0.2 * matrix(rnorm(30), 3L)
  found <- secant_curvature(list(s = steps, y = H %*% steps), rep(2, 3L))
  expect_equal(found$curvature, 4 * H, tolerance = 0.01) # the ridge draws to the round before
  # its sign is not LAPACK's, whose is that of rounding
  for (order in list(1:3, 3:1, c(2L, 3L, 1L))) {
    at <- list(s = steps[order, ], y = (H %*% steps)[order, ])
    unseen <- secant_curvature(at, rep(2, 3L))$unseen
    expect_gt(unseen[which.max(abs(unseen))], 0)
    expect_equal(unseen, found$unseen[order], tolerance = 1e-9) # solved in another order
  }
})

test_that("curvature by the search is that of differences of gradients", {
  slow_tier()
  set.seed(7)
  d <- data.frame(x = runif(40), z = runif(40))
  d$y <- sin(6 * d$x) + d$z + 0.2 * rnorm(40)
  d$b <- factor(d$y > median(d$y))
  for (response in c("y", "b")) {
    fit <- sparsegp(reformulate(c("x", "z"), response), d, kernel = kernel_rbf(ard = TRUE),
                    control = gp_control(integrate = "none"))
    searched <- learn_hyper(evidence(problem_of_fit(fit)), fit$hyper, learn_control(), SILENT)
    past <- searched$record$past
    expect_identical(past$rows, 40)
    expect_identical(ncol(past$par), searched$record$evaluations - searched$record$failures)
    spreads <- prior_spreads(fit$hyper)
    surface <- hyper_surface(fit)
    exact <- hyper_axes(curvature_at_mode(surface, NULL, spreads), spreads)
    found <- hyper_axes(curvature_at_mode(surface, past, spreads), spreads)
    # whitened by the one the other is the identity, but for the length of the steps, which are
    # tenths of a standard deviation
    inner <- solve(exact$A, found$A)
    expect_lt(max(abs(tcrossprod(inner) - diag(nrow(inner)))), 0.4)
  }
})

test_that("EP at other hyperparameters begins near its end", {
  slow_tier()
  set.seed(8)
  d <- data.frame(x = runif(60))
  d$b <- factor(sin(6 * d$x) + 0.5 * rnorm(60) > 0)
  fit <- sparsegp(b ~ x, d, control = gp_control(integrate = "none"))
  at <- fit$hyper$theta[fit$hyper$free]
  forecast <- site_forecast(fit, at)
  run_at <- function(step) { # to its very end, as distances from that are compared
    with_policy(learn_tolerance = 1e-9, code = hyper_surface(fit)$run(at + step))
  }
  steps <- list(c(0.2, 0, 0), c(0, 0.2, 0), c(0, 0, 0.2))
  for (step in steps[seq_along(at)]) forecast$note(at + step[seq_along(at)],
                                                   run_at(step[seq_along(at)]))
  step <- rep(0.15, length(at))
  end <- log(run_at(step)$tau)
  off <- function(sites) sqrt(mean((log(sites$tau) - end)^2))
  expect_lt(off(forecast$sites(at + step)), off(fit$sites) / 3)
})

test_that("Hadamard matrices are such, and corners have every three signs equally often", {
  slow_tier()
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
  slow_tier()
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
  slow_tier()
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
  for (case in list(list(y ~ x), list(e ~ x, lik_gaussian(transform = "log")),
                    list(n ~ x, "poisson"),
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
  slow_tier()
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
  slow_tier()
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
  plain <- function(kernel, integrate) {
    sparsegp(y ~ x, d, lik_gaussian(fixed(0.09)), kernel, structure = "fixed",
             control = gp_control(integrate = integrate))
  }
  learned <- plain(kernel_rbf(variance = fixed(0.5)), integrate = "none")
  table <- learned$hyper
  at <- table$free
  # the integral by a fine trapezoid rule over the logarithm of the length scale
  theta <- table$theta[at] + seq(-3, 3, by = 0.1)
  fits <- lapply(theta, function(log_scale) {
    sparsegp(y ~ x, d, lik_gaussian(0.09), kernel_rbf(0.5, exp(log_scale)), learn = FALSE,
             structure = "fixed")
  })
  prior <- vapply(theta, function(one) {
    hyper_log_prior(table, replace(table$theta, at, one))$value
  }, 0)
  mass <- vapply(fits, logLik, 0) + prior
  exact <- new_ensemble(fits, exp(mass - max(mass)))
  logz <- max(mass) + log(sum(exp(mass - max(mass))) * 0.1)
  new <- data.frame(x = c(0.1, 0.5, 1.3))
  reference <- predict(exact, new, se.fit = TRUE)
  for (rule in c("ccd", "grid")) {
    fit <- plain(kernel_rbf(variance = fixed(0.5)), integrate = rule)
    found <- predict(fit, new, se.fit = TRUE)
    # three points of a design know a variance to some percent
    expect_lt(max(abs(found$fit - reference$fit) / reference$se.fit), 0.06)
    expect_lt(max(abs(found$se.fit / reference$se.fit - 1)), 0.04)
    expect_equal(c(logLik(fit)), logz, tolerance = 0.02)
    if (rule == "grid") expect_equal(found$se.fit, reference$se.fit, tolerance = 0.01)
  }
})

test_that("default fits of few rows are integrated, say so, and are wider", {
  slow_tier()
  d <- few_rows()
  fit <- sparsegp(y ~ x, d)
  at_mode <- sparsegp(y ~ x, d, control = gp_control(integrate = "none"))
  expect_true(has_members(fit))
  expect_identical(coef(fit), coef(at_mode))
  expect_null(at_mode$ensemble)
  expect_output(print(summary(fit)),
                "hyperparameters integrated over 1[0-9] points [(]ccd[)]: intervals")
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
  slow_tier()
  d <- few_rows()
  d$e <- exp(d$y)
  own <- sparsegp(e ~ x, d, likelihood = lik_gaussian(transform = "log"))
  logs <- sparsegp(y ~ x, d)
  new <- data.frame(x = c(0.2, 1.1))
  expect_true(has_members(own))
  expect_equal(predict(own, new, type = "quantile"), exp(predict(logs, new, type = "quantile")),
               tolerance = 1e-6)
  expect_equal(c(logLik(own)), c(logLik(logs)) - sum(d$y), tolerance = 1e-6)
})

test_that("many rows that know the hyperparameters are not", {
  slow_tier()
  set.seed(4)
  d <- data.frame(x = runif(250, 0, 3))
  d$y <- sin(3 * d$x) + 0.1 * rnorm(250)
  expect_null(sparsegp(y ~ x, d)$ensemble)
})

test_that("an input that does not matter is bounded by its prior, and named", {
  slow_tier()
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
  slow_tier()
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
  slow_tier()
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
  refused(sparsegp(y ~ x, d, control = gp_control(like = on_basis)), "mixture of fits")
})

test_that("bridge sampling finds the integral of a density whose integral is known", {
  slow_tier()
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
  by_rule <- function(rule) {
    set.seed(7)
    sparsegp(y ~ x, d, "gaussian", kernel_rbf(), control = gp_control(integrate = rule))
  }
  fit <- by_rule("mcmc")
  expect_identical(fit, by_rule("mcmc"))
  new <- data.frame(x = seq(0, 1, by = 0.1))
  a <- predict(fit, new, se.fit = TRUE)
  design <- by_rule("ccd")
  b <- predict(design, new, se.fit = TRUE)
  # 200 draws that depend on each other
  expect_lt(max(abs(a$fit - b$fit) / a$se.fit), 0.2)
  expect_lt(max(abs(b$se.fit / a$se.fit - 1)), 0.15)
  # 100 draws of each density, and 15 points
  expect_lt(abs(logLik(fit) - logLik(design)), 0.3)
  expect_gt(abs(logLik(fit) - logLik(by_rule("none"))), 0.5)
})

test_that("integrated answers do not depend on the order of rows, columns and levels", {
  slow_tier()
  # the modes agree to 1e-10, EP's fixed points to its tolerance of 1e-8 of a step
  same <- function(a, b) expect_equal(a, b, tolerance = 1e-6, ignore_attr = TRUE)
  ard <- kernel_rbf(ard = TRUE)
  f <- sparsegp(mpg ~ ., mtcars[c(1, 3:6)], kernel = ard)
  g <- sparsegp(mpg ~ ., mtcars[32:1, c(1, 6:3)], kernel = ard)
  expect_false(is.null(f$ensemble))
  same(predict(f, mtcars), predict(g, mtcars)) # 0.2 miles a gallon apart by LAPACK's signs
  for (likelihood in c("squares", "flip")) {
    f <- sparsegp(factor(am) ~ wt + hp, mtcars, likelihood)
    g <- sparsegp(factor(-am) ~ wt + hp, mtcars[32:1, ], likelihood)
    same(predict(f, mtcars, type = "prob"), predict(g, mtcars, type = "prob")[, 2:1])
  }
})

test_that("axes have signs of their own", {
  set.seed(1)
  made <- crossprod(matrix(rnorm(16L), 4L)) + diag(4L)
  axes <- hyper_axes(made, rep(1, 4L))$A
  for (flip in list(c(2, 1, 4, 3), 4:1)) {
    permuted <- hyper_axes(made[flip, flip], rep(1, 4L))$A
    expect_equal(permuted, axes[flip, ], tolerance = 1e-12)
  }
  # mirrored where hyperparameters without a direction are
  mirror <- c(1, -1, 1, 1)
  positive <- mirror > 0
  expect_equal(hyper_axes(made * outer(mirror, mirror), rep(1, 4L), positive)$A,
               mirror * hyper_axes(made, rep(1, 4L), positive)$A, tolerance = 1e-12)
})
