# Densities as squares of Gaussian processes.

r_code_alone()

two_bumps <- function(n = 300, seed = 1) {
  set.seed(seed)
  x <- ifelse(runif(n) < 0.5, rnorm(n, 0.3, 0.06), rnorm(n, 0.7, 0.1))
  x[x > 0 & x < 1]
}

two_bumps_density <- function(x) 0.5 * dnorm(x, 0.3, 0.06) + 0.5 * dnorm(x, 0.7, 0.1)

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

# Midpoints of n cells of [from, to], at which trigonometric polynomials have exact means
midpoints <- function(n, from = 0, to = 1) from + (to - from) * (seq_len(n) - 0.5) / n

test_that("the density integrates to one and is nowhere negative", {
  memory_tier()
  for (k0 in 0:6) {
    fit <- gp_density(two_bumps(), k0, range = c(-0.5, 1.2))
    at <- midpoints(1000, -0.5, 1.2)
    density <- predict(fit, at)
    expect_lt(abs(1.7 * mean(density) - 1), 1e-10)
    expect_true(all(density >= 0))
    expect_identical(nrow(fit$basis), 2L * k0 + 1L)
  }
  plane <- gp_density(faithful, 2)
  grid <- expand.grid(lapply(as.data.frame(plane$range), function(r) midpoints(40, r[1L], r[2L])))
  expect_lt(abs(mean(predict(plane, grid)) * prod(apply(plane$range, 2L, diff)) - 1), 1e-10)
  expect_identical(nrow(plane$basis), 25L)
})

test_that("points without structure have a density without structure", {
  memory_tier()
  set.seed(2)
  fit <- gp_density(runif(200, 3, 7), 0:3, range = c(3, 7))
  expect_identical(fit$k0, 0L)
  expect_equal(predict(fit, c(3, 4.4, 7)), rep(0.25, 3L), tolerance = 1e-12)
  # of a density without a parameter the evidence is what it is; EP's error
  expect_equal(max(fit$evidence$log_evidence), -200 * log(4), tolerance = 1e-6)
  expect_lt(predict(fit, 5, se.fit = TRUE)$se.fit, 1e-3) # right to first order
})

# EP with dense matrices in turn with lambda by thesis 5.30: with K_lambda = K_0 / (1 + lambda), its
# idempotence gives the integrals of k_i k_j, and a prior mean m of f adds m^2 + 2 m int k'alpha.
dense_density <- function(u, k0, rounds) {
  kernel <- resolve_kernel(kernel_trig(k0), list(names = "u", terms = "u", kept = TRUE))
  K0 <- reference_kernel(kernel, c(0, 0), cbind(u))
  tilt <- function(i, mu, s2) {
    list(logz = log(mu^2 + s2), d1 = 2 * mu / (mu^2 + s2),
         d2 = 2 * (s2 - mu^2) / (mu^2 + s2)^2)
  }
  lambda <- 0
  for (round in seq_len(rounds)) {
    K <- K0 / (1 + lambda)
    m <- 1 / (1 + lambda)
    ep <- reference_ep(K, tilt, rep(m, length(u)))
    Sigma <- solve(solve(K) + diag(ep$tau))
    alpha <- solve(K, ep$mean)
    C <- solve(K, t(solve(K, Sigma - K)))
    size <- (2 * k0 + 1 + sum(K * (tcrossprod(alpha) + C))) / (1 + lambda)
    size <- size + m^2 + 2 * m * sum(alpha) / (1 + lambda)
    lambda <- length(u) / size
  }
  list(lambda = lambda, mean = ep$mean + m, var = ep$var)
}

test_that("dense matrices and the thesis's formula for lambda give the same posterior", {
  memory_tier()
  u <- c(0.05, 0.21, 0.3, 0.38, 0.5, 0.64, 0.77, 0.9)
  reference <- dense_density(u, 5, rounds = 30L)
  waves <- WAVES$periodic
  problem <- list(x = cbind(u), spec = waves$kernel(5L, 1L), nkernel = 2L, processes = 1L,
                  lik = lik_density(), rows = matrix(1, 1L, 8L), basis = equispaced(5L, 1L, waves),
                  options = method_ep(tol = 1e-11))
  fit <- fit_lambda(problem, 0, NULL, list(iterations = 100L, tol = 1e-10))
  expect_true(fit$converged)
  # 30 rounds that halve the error, and matrices of condition number 1e3
  expect_equal(fit$lambda, reference$lambda, tolerance = 1e-7)
  # f is what interpolates its values at the basis
  W <- .Call(sg_kernel_cross, problem$spec, c(0, 0), problem$x, problem$basis) / 11
  expect_equal(drop(W %*% fit$mean), reference$mean, tolerance = 1e-7)
  expect_equal(rowSums(W %*% fit$cov * W), reference$var, tolerance = 1e-7)
})

test_that("the evidence is the mean of the density over all directions of the coefficients", {
  memory_tier()
  settle <- function(u, k0) {
    density_fit(k0, cbind(u), list(iterations = 100L, tol = 1e-8, sweeps = 200L))$log_evidence
  }
  expect_equal(settle(0.3, 2L), 0, tolerance = 1e-10) # one point: EP is exact
  for (k0 in 1:3) {
    d <- 2 * k0 + 1
    K <- .Call(sg_kernel_cross, WAVES$periodic$kernel(k0, 1L), c(0, 0), cbind(0.2), cbind(0.55))
    # E (a's)^2 (b's)^2 = (|a|^2 |b|^2 + 2 (a'b)^2) / (d (d + 2)) on the sphere; EP's error
    expect_lt(abs(settle(c(0.2, 0.55), k0) - log((d^2 + 2 * K^2) / (d * (d + 2)))), 0.1)
  }
})

test_that("two bumps are found, better than by a kernel estimate, and intervals hold them", {
  slow_tier()
  at <- midpoints(400)
  truth <- two_bumps_density(at)
  error <- function(density) sqrt(mean((density - truth)^2))
  for (seed in 1:3) {
    x <- two_bumps(500, seed)
    fit <- gp_density(x, range = c(0, 1))
    kde <- stats::density(x)
    expect_true(fit$chosen %in% 3:6)
    tried <- fit$evidence[fit$evidence$k0 <= fit$chosen + 3L, ]
    expect_identical(fit$chosen, tried$k0[which.max(tried$log_evidence)])
    expect_identical(fit$k0, 2L * fit$chosen + 1L)
    expect_identical(c(logLik(fit)), fit$evidence$log_evidence[nrow(fit$evidence)])
    expect_lt(error(predict(fit, at)), error(approx(kde$x, kde$y, at, rule = 2)$y))
  }
  # of an order that holds the truth
  band <- predict(gp_density(x, 6, range = c(0, 1)), at, interval = "confidence")
  expect_gt(mean(truth >= band[, "lwr"] & truth <= band[, "upr"]), 0.8)
})

test_that("without an order the density is the mean of those of several", {
  memory_tier()
  x <- two_bumps(150)
  fit <- gp_density(x, range = c(0, 1))
  orders <- unique(round(seq(fit$chosen, 2 * fit$chosen + 1, length.out = min(6, fit$chosen + 2))))
  at <- midpoints(20)
  each <- vapply(orders, function(k0) predict(gp_density(x, k0, c(0, 1)), at), at)
  expect_equal(predict(fit, at), rowMeans(each), tolerance = 1e-8)
  expect_equal(mean(predict(fit, midpoints(400))), 1, tolerance = 1e-10)
  expect_true(all(orders %in% fit$evidence$k0))
})

test_that("intervals of the order taken hold densities that are not normal", {
  slow_tier()
  cases <- list(
    normal = list(draw = rnorm, density = dnorm, quantile = qnorm),
    uniform = list(draw = runif, density = dunif, quantile = qunif),
    exponential = list(draw = rexp, density = dexp, quantile = qexp),
    t3 = list(draw = function(n) rt(n, 3), density = function(x) dt(x, 3),
              quantile = function(p) qt(p, 3))
  )
  for (name in names(cases)) {
    case <- cases[[name]]
    at <- do.call(seq, c(as.list(case$quantile(c(0.02, 0.98))), length.out = 60))
    truth <- case$density(at)
    held <- vapply(1:4, function(seed) {
      set.seed(seed)
      fit <- suppressMessages(gp_density(case$draw(200)))
      band <- predict(fit, at, interval = "confidence")
      mean(truth >= band[, "lwr"] & truth <= band[, "upr"])
    }, 0)
    # .92 to .96 in ten data sets each; .64 to .80 by the order of largest evidence
    expect_gt(mean(held), 0.9, label = paste("coverage of", name))
  }
})

test_that("cosines of a support are orthogonal at their basis, and level at its ends", {
  for (k0 in c(0L, 3L, 10L)) {
    at <- WAVES$level$seen(equispaced(k0, 1L, WAVES$level), k0)
    # discrete cosine transform: integrals of products are means over the basis
    expect_equal(crossprod(at), diag(k0 + 1) * (k0 + 1), tolerance = 1e-12)
  }
  near <- WAVES$level$seen(cbind(c(0, 1e-6, 1 - 1e-6, 1)), 4L)
  expect_lt(max(abs(near[2:3, ] - near[c(1L, 4L), ])), 1e-9)
})

test_that("on half a line order 0 is the exponential density, whichever way and in any unit", {
  memory_tier()
  set.seed(6)
  x <- rexp(150, 2)
  fit <- gp_density(x, 0, support = c(0, Inf))
  at <- c(0, 0.1, 1, 20)
  expect_equal(predict(fit, at), dexp(at, 1 / mean(x)), tolerance = 1e-10)
  # EP's error
  expect_equal(c(logLik(fit)), sum(dexp(x, 1 / mean(x), log = TRUE)), tolerance = 1e-5)
  expect_identical(predict(fit, -1e-9), 0)
  up <- gp_density(x, 1:3, support = c(0, Inf))
  down <- gp_density(5 - 10 * x, 1:3, support = c(-Inf, 5))
  expect_equal(10 * predict(down, 5 - 10 * at), predict(up, at), tolerance = 1e-10)
  expect_equal(c(logLik(down)), c(logLik(up)) - 150 * log(10), tolerance = 1e-8)
  whole <- integrate(function(x) predict(up, x), 0, Inf, rel.tol = 1e-9)
  expect_equal(whole$value, 1, tolerance = 1e-8)
  expect_output(print(down), "points below 5")
  drawn <- simulate(up, 3, seed = 2)
  expect_gt(min(drawn), 0)
  # of 450 points, by four standard errors
  found <- summary(up)$moments
  expect_lt(abs(mean(unlist(drawn)) - found$mean), 4 * found$sd / sqrt(450))
  expect_lt(abs(found$mean - mean(x)), sd(x) / sqrt(150))
})

test_that("a density that jumps at the end of its support is nearer than a kernel estimate", {
  slow_tier()
  cases <- list(
    uniform = list(draw = runif, density = dunif, quantile = qunif, support = c(0, 1)),
    exponential = list(draw = rexp, density = dexp, quantile = qexp, support = c(0, Inf)),
    gamma = list(draw = function(n) rgamma(n, 2), density = function(x) dgamma(x, 2),
                 quantile = function(p) qgamma(p, 2), support = c(0, Inf))
  )
  for (name in names(cases)) {
    case <- cases[[name]]
    at <- do.call(seq, c(as.list(case$quantile(c(0.02, 0.98))), length.out = 60))
    truth <- case$density(at)
    error <- function(density) sqrt(mean((density - truth)^2))
    found <- vapply(1:10, function(seed) {
      set.seed(seed)
      x <- case$draw(200)
      band <- predict(gp_density(x, support = case$support), at, interval = "confidence")
      kde <- stats::density(x, bw = "SJ", n = 2048)
      c(held = mean(truth >= band[, "lwr"] & truth <= band[, "upr"]), own = error(band[, "fit"]),
        kernel = error(approx(kde$x, kde$y, at, rule = 2)$y))
    }, numeric(3))
    # of twenty data sets each the help page has the means
    expect_gt(mean(found["held", ]), 0.9, label = paste("coverage of", name))
    expect_lte(mean(found["own", ]), mean(found["kernel", ]), label = paste("error of", name))
  }
})

test_that("points that crowd at an end are told of, once it may be one", {
  memory_tier()
  set.seed(7)
  x <- rexp(200)
  expect_message(gp_density(x, 2), "close to 0.0.*support = c\\(0, Inf\\)")
  expect_message(gp_density(runif(200), 2), "close to 0.0[0-9]* and (0.99|1)")
  expect_message(gp_density(-x, 2), "close to -0.0")
  expect_silent(gp_density(x, 2, support = c(0, Inf)))
  expect_silent(gp_density(x, 2, range = c(-1, 9)))
  expect_silent(gp_density(rnorm(200), 2))
  expect_silent(gp_density(x[1:50], 2))
  expect_silent(gp_density(rep(1, 200), 2)) # nothing but an end
})

test_that("error bars are those of the ratio", {
  memory_tier()
  fit <- gp_density(two_bumps(), 4, range = c(0, 1))
  at <- c(0.1, 0.3, 0.45, 0.7)
  found <- predict(fit, at, se.fit = TRUE)
  band <- predict(fit, at, interval = "confidence", level = 0.9)
  set.seed(3)
  f <- t(chol(fit$cov)) %*% matrix(rnorm(9 * 20000), 9) + fit$mean
  W <- .Call(sg_kernel_cross, WAVES$periodic$kernel(4L, 1L), c(0, 0), cbind(at), fit$basis) / 9
  ratio <- t((W %*% f)^2) / colMeans(f^2)
  # to first order in what is not known of the integral; half a per cent from the draws
  expect_equal(found$fit, colMeans(ratio), tolerance = 0.02)
  expect_equal(found$se.fit, apply(ratio, 2L, sd), tolerance = 0.05)
  expect_equal(unname(band[, "lwr"]), unname(apply(ratio, 2L, quantile, 0.05)), tolerance = 0.05)
  expect_equal(unname(band[, "upr"]), unname(apply(ratio, 2L, quantile, 0.95)), tolerance = 0.05)
})

test_that("units do not matter, and the fit is plain data", {
  memory_tier()
  x <- two_bumps(120)
  fit <- gp_density(x, 3, range = c(0, 1))
  far <- gp_density(1e4 * x - 7e4, 3, range = c(-7e4, -6e4))
  expect_equal(1e4 * predict(far, 1e4 * c(0.2, 0.5) - 7e4), predict(fit, c(0.2, 0.5)),
               tolerance = 1e-8)
  expect_equal(as.numeric(logLik(far)), as.numeric(logLik(fit)) - length(x) * log(1e4),
               tolerance = 1e-8)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), c(0.2, 0.5)), predict(fit, c(0.2, 0.5)))
  expect_identical(nobs(fit), length(x))
})

test_that("predictions keep their rows", {
  memory_tier()
  fit <- gp_density(two_bumps(100), 2, range = c(0, 1))
  found <- predict(fit, c(0.2, NA, 1.4, -3))
  expect_identical(is.na(found), c(FALSE, TRUE, FALSE, FALSE))
  expect_identical(found[3:4], c(0, 0))
  band <- predict(fit, c(0.2, NA, 1.4), interval = "confidence")
  expect_identical(dim(band), c(3L, 3L))
  expect_true(band[1L, "lwr"] < band[1L, "fit"] && band[1L, "fit"] < band[1L, "upr"])
  both <- predict(fit, c(0.2, NA, 1.4), se.fit = TRUE, interval = "confidence")
  expect_identical(both, list(fit = band, se.fit = predict(fit, c(0.2, NA, 1.4), TRUE)$se.fit))
  expect_length(predict(fit), 100L)
  expect_length(predict(fit, numeric()), 0L)
  # a missing value is no point
  expect_equal(predict(gp_density(c(NA, two_bumps(100)), 2, range = c(0, 1)), 0.3),
               predict(fit, 0.3))
})

test_that("columns are told by their names", {
  both <- cbind(a = two_bumps(60), b = two_bumps(60)^2)
  fit <- gp_density(both, 1)
  expect_identical(predict(fit, data.frame(both[1:5, 2:1])), predict(fit, both[1:5, ]))
  refused(predict(fit, data.frame(a = 1, c = 2)), "newdata")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_named(plot(gp_density(cbind(a = both[, 1L], both[, 2L]), 1), n = 3), c("a", "x2", "fit"))
})

test_that("few, equal and very many points end", {
  slow_tier()
  expect_true(all(is.finite(predict(gp_density(3), c(2, 3, 4)))))
  expect_true(all(is.finite(predict(gp_density(rep(2, 20), 3), c(1, 2, 3)))))
  expect_true(gp_density(c(1, 1e10), 1)$convergence$converged)
  fit <- gp_density(two_bumps(if (whole_suite()) 8000 else 4000), 5, range = c(0, 1))
  at <- midpoints(100)
  expect_lt(sqrt(mean((predict(fit, at) - two_bumps_density(at))^2)), 0.1)
})

test_that("what cannot be is refused", {
  memory_tier()
  x <- two_bumps(50)
  refused(gp_density(character(3)), "x")
  refused(gp_density(numeric()), "x")
  refused(gp_density(), "x")
  for (bad in list(c(-1, 1) * 1.7e308, c(1, 2) * 1e-320, cbind(x, x) * 1e200)) {
    refused(gp_density(bad), "x")
  }
  refused(gp_density(x, range = c(-1, 1) * 1.7e308), "range")
  refused(gp_density(c(x, Inf)), "x")
  refused(gp_density(matrix(x[1:48], ncol = 4)), "x")
  for (bad in list(-1, 1.5, "a", NA, numeric(), 1000)) refused(gp_density(x, bad), "k0")
  for (bad in list(c(1, 0), 3, "a", c(0, NA), c(0.4, 1))) {
    refused(gp_density(x, range = bad), "range")
  }
  refused(gp_density(x, iterations = 0), "iterations")
  refused(gp_density(x, tol = 0), "tol")
  refused(gp_density(x, sweeps = 0), "sweeps")
  refused(gp_density(x, orders = 2), "...")
  for (bad in list(1, "a", c(1, 0), c(NA, 1), c(-Inf, Inf), c(0.5, Inf))) {
    refused(gp_density(x, support = bad), "support")
  }
  refused(gp_density(cbind(x, x), support = c(0, 1)), "support")
  refused(gp_density(x, range = c(0, 1), support = c(0, 1)), "range")
  refused(gp_density(c(0, 0), support = c(0, Inf)), "x")
  for (bad in list("norm", list(), list("normal"), list("norm", 0), list("norm", mu = 0),
                   list("norm", sd = "1"), list("norm", sd = -1), list("exp", x = 1),
                   list("beta", shape1 = 1), list("unif", max = 0.1))) {
    refused(gp_density(x, base = bad), "base")
  }
  refused(gp_density(x, base = list("unif"), range = c(0, 1)), "base")
  refused(gp_density(cbind(x, x), base = list("unif")), "base")
  fit <- gp_density(x, 1)
  refused(predict(fit, cbind(1, 2)), "newdata")
  refused(predict(fit, 0.3, se.fit = NA), "se.fit")
  refused(predict(fit, 0.3, interval = "prediction"), "interval")
  refused(predict(fit, 0.3, level = 1), "level")
  refused(plot(fit, n = 1), "n")
  refused(plot(fit, colour = 2), "...")
  expect_warning(gp_density(x, 1, iterations = 2), "lambda did not converge",
                 class = "sparsegp_warning")
})

test_that("a density prints itself and draws itself", {
  memory_tier()
  fit <- gp_density(two_bumps(100), 0:2, range = c(0, 1))
  expect_output(expect_invisible(print(fit)), "Density of 100 points on \\[0, 1\\]")
  expect_output(print(fit), "Orders tried: 0, 1, 2")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(fit, n = 50)
  expect_named(drawn, c("x", "fit", "lwr", "upr"))
  expect_identical(nrow(drawn), 50L)
  drawn <- plot(gp_density(faithful, 1), n = 20, main = "Old Faithful")
  expect_named(drawn, c("eruptions", "waiting", "fit"))
})

test_that("quantiles of the square of a normal variable are those of its chi-squared one", {
  mean <- c(-2, 0.1, 1.5)
  for (sd in c(0.3, 1, 2)) {
    for (p in c(0.05, 0.5, 0.9)) {
      found <- response_quantile_at(lik_density(), numeric(), p, mean, rep(sd^2, 3L))
      expect_equal(found, sd^2 * qchisq(p, 1, (mean / sd)^2), tolerance = 1e-7)
    }
  }
})

test_that("a density has a name on its axis, a summary, simulated points and an update", {
  memory_tier()
  fit <- gp_density(faithful$eruptions, k0 = 2)
  expect_identical(density_names(fit), "faithful$eruptions")
  expect_identical(density_names(gp_density(faithful[1L], k0 = 2)), "eruptions")
  found <- summary(fit)
  expect_output(print(found), "Moments.*faithful\\$eruptions.*Log evidence by order")
  at <- integrate(function(x) x * predict(fit, x), fit$range[1L], fit$range[2L])$value
  expect_equal(found$moments$mean, at, tolerance = 1e-5) # the grid's
  drawn <- simulate(fit, 2, seed = 1)
  expect_identical(dim(drawn), c(272L, 2L))
  expect_identical(drawn, simulate(fit, 2, seed = 1))
  # four standard errors of a mean of 544 points
  expect_lt(abs(mean(unlist(drawn)) - at), 4 * found$moments$sd / sqrt(544))
  expect_identical(update(fit, k0 = 3)$k0, 3L)
  two <- gp_density(faithful, k0 = 1)
  expect_identical(dim(simulate(two, seed = 1)$sim_1), c(272L, 2L))
  expect_identical(rownames(summary(two)$moments), names(faithful))
})

test_that("lik_density() asks for an offset, whatever the method, and is not integrated", {
  memory_tier()
  d <- data.frame(x = seq(-2, 2, length.out = 25), seen = 1, z = 0.3)
  for (method in list(NULL, method_ep(), method_ep(5), method_ivm(5), method_online(5))) {
    expect_error(sparsegp(seen ~ x, d, lik_density(), method = method), "prior mean of 0",
                 class = "sparsegp_error")
  }
  expect_error(sparsegp(seen ~ x, d, lik_density()), "Give an offset", class = "sparsegp_error")
  # by a kernel that is given the evidence has a maximum only where its size is fixed
  fit <- sparsegp(seen ~ x + offset(z), d, lik_density(), kernel_rbf(fixed(1)))
  expect_null(fit$ensemble)
  expect_error(sparsegp(seen ~ x + offset(z), d, lik_density(), kernel_rbf(fixed(1)),
                        control = gp_control(integrate = "ccd")),
               "lik_density()", fixed = TRUE, class = "sparsegp_error")
})

test_that("a base density is what order 0 is, and half a line is one by the exponential", {
  memory_tier()
  set.seed(6)
  x <- rnorm(80, 2, 3)
  base <- list("norm", mean = 2, sd = 3)
  plain <- gp_density(x, 0, base = base)
  at <- c(-40, -1, 2, 9)
  expect_equal(predict(plain, at), dnorm(at, 2, 3), tolerance = 1e-10)
  expect_equal(c(logLik(plain)), sum(dnorm(x, 2, 3, log = TRUE)), tolerance = 1e-5)
  expect_output(print(plain), "with base norm(mean = 2, sd = 3)", fixed = TRUE)
  fit <- gp_density(x, 4, base = base)
  expect_equal(stats::integrate(function(at) predict(fit, at), -60, 60)$value, 1, tolerance = 1e-5)
  expect_lt(c(logLik(fit)), c(logLik(plain))) # nothing departs from it
  # the map of half a line is the distribution function of an exponential variable
  x <- rexp(60, 0.2)
  one <- gp_density(x, 3, support = c(0, Inf))
  other <- gp_density(x, 3, base = list("exp", rate = 1 / mean(x)))
  expect_equal(predict(other, x), predict(one, x), tolerance = 1e-8)
  expect_equal(c(logLik(other)), c(logLik(one)), tolerance = 1e-8)
  # draws, moments and a copy from a file
  expect_equal(summary(fit)$moments$mean, mean(simulate(fit, 40, seed = 1)[[1L]]), tolerance = 0.5)
  expect_true(all(simulate(other, seed = 1)[[1L]] > 0))
  expect_identical(check_density(unserialize(serialize(other, NULL))), other)
  other$base <- list("system")
  expect_error(predict(other, 1), "base", class = "sparsegp_error")
})

test_that("a density of three inputs is one, and near the product that it is", {
  slow_tier()
  set.seed(3)
  x <- cbind(a = rbeta(300, 3, 4), b = rbeta(300, 4, 3), c = runif(300))
  fit <- gp_density(x, 1, range = rbind(rep(0, 3), rep(1, 3)))
  expect_identical(nrow(fit$basis), 27L)
  side <- midpoints(8)
  at <- as.matrix(expand.grid(a = side, b = side, c = side))
  found <- predict(fit, at)
  expect_equal(mean(found), 1, tolerance = 1e-8) # an exact rule for these waves
  truth <- dbeta(at[, 1L], 3, 4) * dbeta(at[, 2L], 4, 3)
  expect_lt(sqrt(mean((found - truth)^2)), 0.6)
  expect_gt(cor(found, truth), 0.93)
  # of inputs in another order the density is the same
  turned <- gp_density(x[, c("c", "a", "b")], 1, range = rbind(rep(0, 3), rep(1, 3)))
  expect_equal(predict(turned, data.frame(at)), found, tolerance = 1e-6)
  expect_identical(dim(simulate(fit, seed = 1)[[1L]]), c(300L, 3L))
  expect_equal(summary(fit)$moments$mean, colMeans(x), tolerance = 0.05, ignore_attr = TRUE)
  refused(plot(fit), "x")
  refused(gp_density(x, 5), "k0")
})
