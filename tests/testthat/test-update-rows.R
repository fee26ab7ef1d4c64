# Fits on a basis as sums of their rows' sites: more rows, fits like another, fits merged.

reached_elsewhere()

state_data <- function(n = 90L, p = 3L) {
  at <- seq_len(n)
  x <- sapply(seq_len(p), function(j) round(sin((2 + j) * at + j), 6))
  colnames(x) <- letters[seq_len(p)]
  f <- sin(2 * x[, 1L]) + x[, 2L]
  d <- data.frame(x, g = factor(c("u", "v", "w")[at %% 3L + 1L]))
  d$y <- f + round(0.3 * cos(17 * at), 6) + 0.2 * (d$g == "v")
  d$class <- factor(ifelse(f + cos(11 * at) > 0, "yes", "no"))
  d$count <- as.double(floor(exp(f / 2 + 0.5)))
  d
}

# Hyperparameters given, a fixed point to 1e-11; the unit of the first rows is that of all fits.
state_fit <- function(formula, d, likelihood = NULL, keep_x = FALSE, ...) {
  sparsegp(formula, d, likelihood = likelihood, kernel = kernel_rbf(1.5, 1), learn = FALSE,
           basis = d[1:12, ], method = method_ep(tol = 1e-11, sweeps = 1000),
           control = gp_control(keep_x = keep_x), ...)
}

expect_same_posterior <- function(f, g, new, tolerance) {
  one <- predict(f, new, type = "latent", se.fit = TRUE)
  two <- predict(g, new, type = "latent", se.fit = TRUE)
  expect_lt(max(abs(one$fit - two$fit)), tolerance)
  expect_lt(max(abs(one$se.fit - two$se.fit)), tolerance)
}

test_that("two fits of half the rows each, like one another, merge to the fit of all rows", {
  memory_tier()
  d <- state_data()
  first <- state_fit(y ~ a + b + c + g, d[1:45, ], lik_gaussian(0.1))
  second <- sparsegp(control = gp_control(like = first), data = d[46:90, ])
  both <- merge(first, second)
  # like = gives all rows to a third fit with the same scaling, constant and basis
  all <- sparsegp(control = gp_control(like = first), data = d)
  expect_identical(nobs(both), 90L)
  # Gaussian sites do not depend on one another: rounding
  expect_same_posterior(both, all, d[c(3, 50, 88), ], 1e-10)
  expect_lt(abs(as.numeric(logLik(both)) - as.numeric(logLik(all))), 1e-10 * 90)
  expect_same_posterior(merge(second, first), all, d[c(3, 50, 88), ], 1e-10)
})

test_that("like = gives the fit itself for its own rows", {
  memory_tier()
  d <- state_data()
  for (formula in list(y ~ a + g, class ~ a + b, count ~ b)) {
    lik <- if (formula[[2L]] == "count") "poisson"
    fit <- state_fit(formula, d, lik)
    again <- sparsegp(control = gp_control(like = fit), data = d)
    expect_same_posterior(fit, again, d[1:5, ], 1e-9)
    expect_equal(as.numeric(logLik(again)), as.numeric(logLik(fit)), tolerance = 1e-9)
    expect_equal(fitted(again), fitted(fit), tolerance = 1e-9)
    expect_equal(loo_lpd(again), loo_lpd(fit), tolerance = 1e-8)
    expect_equal(coef(again), coef(fit), tolerance = 1e-15)
  }
})

test_that("with Gaussian noise rows by update() are those of one fit, kept inputs or not", {
  memory_tier()
  d <- state_data()
  for (keep in c(FALSE, TRUE)) {
    fit <- state_fit(y ~ a + b + c, d[1:40, ], lik_gaussian(0.1), keep_x = keep)
    grown <- update(update(fit, d[41:41, ]), d[42:90, ])
    all <- sparsegp(control = gp_control(like = fit), data = d)
    expect_identical(nobs(grown), 90L)
    expect_same_posterior(grown, all, d[c(2, 60, 90), ], 1e-10)
    expect_lt(abs(as.numeric(logLik(grown)) - as.numeric(logLik(all))), 1e-10 * 90)
    # the old fit is as it was
    expect_identical(nobs(fit), 40L)
  }
})

test_that("where inputs are kept EP goes on with all rows, whatever the likelihood", {
  memory_tier()
  d <- state_data()
  for (formula in list(class ~ a + b, count ~ a + b)) {
    lik <- if (formula[[2L]] == "count") "poisson"
    fit <- state_fit(formula, d[1:50, ], lik, keep_x = TRUE)
    all <- sparsegp(control = gp_control(like = fit), data = d)
    grown <- update(fit, d[51:90, ])
    # fixed points to 1e-11 in cavity standard deviations
    expect_same_posterior(grown, all, d[c(2, 60, 90), ], 1e-8)
    expect_equal(as.numeric(logLik(grown)), as.numeric(logLik(all)), tolerance = 1e-9)
    expect_equal(unname(fitted(grown)), unname(fitted(all)), tolerance = 1e-8)
    expect_length(residuals(grown), 90L)
    expect_identical(nrow(sites(grown)), 90L)
    merged <- merge(fit, sparsegp(data = d[51:90, ],
                                  control = gp_control(keep_x = TRUE, like = fit)))
    expect_same_posterior(merged, all, d[c(2, 60, 90), ], 1e-8)
  }
})

# Plain EP of probit rows on the fit's basis, row after row, with N(a, M) of the fit as the prior of
# z. Sums of the new sites, and their evidence.
reference_grown <- function(fit, d) {
  state <- fit$state[[1L]]
  x <- scaled_inputs(stats::model.matrix(~ a + b + c, d)[, -1L], fit$scaling)
  B <- fit$posterior$basis
  V <- t(backsolve(state$R, t(kernel_matrix(fit$spec, kernel_theta(fit), x, B)), transpose = TRUE))
  gamma <- diag(kernel_matrix(fit$spec, kernel_theta(fit), x, x)) - rowSums(V^2)
  y <- ifelse(d$class == "yes", 1, -1)
  bias <- coef(fit)[["bias"]]
  tau <- nu <- numeric(nrow(V))
  prior <- diag(nrow(B)) + state$S
  for (sweep in 1:300) for (i in seq_along(y)) {
    M <- solve(prior + crossprod(V[-i, ], tau[-i] * V[-i, ]))
    m <- drop(V[i, ] %*% M %*% (state$t + crossprod(V[-i, ], nu[-i])))
    s <- drop(V[i, ] %*% M %*% V[i, ])
    total <- 1 + s + gamma[i]
    z <- y[i] * (m + bias) / sqrt(total)
    h <- dnorm(z) / pnorm(z)
    d1 <- y[i] * h / sqrt(total)
    d2 <- -h * (h + z) / total
    tau[i] <- -d2 / (1 + s * d2)
    nu[i] <- (d1 - m * d2) / (1 + s * d2)
  }
  # log of the integral of p(y | z) N(z; a, M): the tilts, each over what its site had there
  A <- prior + crossprod(V, tau * V)
  t <- drop(state$t + crossprod(V, nu))
  Sigma <- solve(A)
  logz <- sapply(seq_along(y), function(i) {
    s <- drop(V[i, ] %*% Sigma %*% V[i, ])
    m <- drop(V[i, ] %*% Sigma %*% t)
    g <- 1 - tau[i] * s
    cav_var <- s / g
    cav_mean <- (m - s * nu[i]) / g
    site <- -log1p(tau[i] * cav_var) / 2 -
      (tau[i] * cav_mean^2 - 2 * cav_mean * nu[i] - nu[i]^2 * cav_var) /
        (2 * (1 + tau[i] * cav_var))
    pnorm(y[i] * (cav_mean + bias) / sqrt(1 + cav_var + gamma[i]), log.p = TRUE) - site
  })
  mass <- function(A, t) sum(t * solve(A, t)) / 2 - as.numeric(determinant(A)$modulus) / 2
  list(S = crossprod(V, tau * V), t = crossprod(V, nu),
       logz = sum(logz) + mass(A, t) - mass(prior, drop(state$t)))
}

test_that("where inputs are not kept the sites of the rows before stand", {
  memory_tier()
  d <- state_data()
  fit <- state_fit(class ~ a + b + c, d[1:50, ])
  grown <- update(fit, d[51:90, ])
  # EP of the new rows with the posterior of the old ones for a prior, in whitened coordinates
  new <- sparsegp(control = gp_control(like = fit), data = d[51:90, ])
  prior <- fit$state[[1L]]
  expect_gt(max(abs(grown$state[[1L]]$t - prior$t - new$state[[1L]]$t)), 1e-4) # not the same sites
  reference <- reference_grown(fit, d[51:90, ])
  expect_lt(max(abs(grown$state[[1L]]$S - prior$S - reference$S)), 1e-7)
  expect_lt(max(abs(grown$state[[1L]]$t - prior$t - reference$t)), 1e-7)
  expect_equal(as.numeric(logLik(grown) - logLik(fit)), reference$logz, tolerance = 1e-8)
  for (ask in list(fitted, residuals, sites, loo_lpd)) {
    expect_error(ask(grown), "inputs of all rows", class = "sparsegp_error")
  }
  expect_silent(capture.output(print(grown), print(summary(grown))))
})

test_that("several classes, each with a basis of its own or not, take rows and merge", {
  memory_tier()
  x <- cbind(a = sin(1:60), b = cos(3 * (1:60)), c = sin(5 * (1:60)))
  y <- factor(c("r", "s", "t")[(1:60) %% 3L + 1L])
  for (method in list(method_ivm(8, tol = 1e-11), method_ep(size = 8, tol = 1e-11))) {
    fit <- sparsegp(x[1:40, ], y[1:40], "mprobit", method = method, learn = FALSE)
    all <- sparsegp(control = gp_control(like = fit), x = x, y = y)
    expect_identical(nobs(all), 60L)
    kept <- sparsegp(x = x[1:40, ], y = y[1:40], control = gp_control(keep_x = TRUE, like = fit))
    expect_same_posterior(update(kept, x[41:60, ], y[41:60]), all, x[1:4, ], 1e-7)
    expect_s3_class(update(fit, x[41:60, ], y[41:60]), "sparsegp")
  }
})

test_that("what cannot take rows or be merged says so", {
  memory_tier()
  d <- state_data()
  full <- sparsegp(y ~ a, d[1:20, ], learn = FALSE)
  fit <- state_fit(y ~ a + b, d[1:30, ])
  refused(update(full, d[21:30, ]), "formula.")
  refused(sparsegp(control = gp_control(like = full), data = d), "like")
  refused(sparsegp(control = gp_control(like = 1), data = d), "like")
  refused(sparsegp(control = gp_control(like = fit), data = d, kernel = kernel_linear()), "kernel")
  refused(sparsegp(class ~ a, d, control = gp_control(like = fit)), "formula")
  refused(sparsegp(control = gp_control(like = fit), data = d[0, ]), "data")
  refused(sparsegp(control = gp_control(like = fit), data = d[c("a", "y")]), "data")
  refused(merge(fit, full), "y")
  refused(merge(full, fit), "x")
  refused(merge(fit, 1), "y")
  refused(merge(fit, state_fit(y ~ a + b, d[31:60, ])), "y") # another constant was removed
  other <- sparsegp(y ~ a + b, d[1:30, ], lik_gaussian(0.7), kernel = kernel_rbf(1.5, 1),
                    learn = FALSE, basis = d[3:9, ], method = method_ep())
  refused(merge(fit, other), "y")
  stream <- sparsegp(y ~ a + b, d, method = method_online(size = 5, pilot = 20), learn = FALSE)
  refused(merge(stream, stream), "x")
  bad <- d[31:33, ]
  bad$a[2L] <- Inf
  refused(update(fit, bad))
  expect_identical(nobs(fit), 30L)
})

test_that("sparse EP whose projections are KL-optimal has no sums of moment sites", {
  d <- state_data()
  fit <- sparsegp(y ~ a + b, d, method = method_ep(size = 10, projection = "kl"), learn = FALSE)
  refused(update(fit, d[1:5, ]), "formula.")
})
