# Quantiles of mixtures of normals, by C and by Newton steps in R, against their definition.

below_mixture <- function(q, mean, sd, shares) {
  rowSums(shares * stats::pnorm((q - mean) / sd))
}

test_that("quantiles of mixtures of normals in C are those of their distribution function", {
  set.seed(3)
  mean <- matrix(rnorm(200, sd = 3), 40)
  sd <- matrix(exp(rnorm(200)), 40)
  shares <- matrix(rgamma(200, 1), 40)
  shares <- shares / rowSums(shares)
  for (p in c(1e-12, 1e-3, 0.025, 0.5, 0.9, 0.975)) {
    q <- engine_mixed_quantile(mean, sd, shares, p)
    # Rounding of sums of five terms
    expect_equal(below_mixture(q, mean, sd, shares) / p, rep(1, 40), tolerance = 1e-11)
  }
  above <- -engine_mixed_quantile(-mean, sd, shares, 1e-12)
  expect_equal(engine_mixed_quantile(mean, sd, shares, 1 - 1e-12), above, tolerance = 1e-4)
  one <- engine_mixed_quantile(mean[, 1, drop = FALSE], sd[, 1, drop = FALSE], matrix(1), 0.3)
  expect_equal(one, mean[, 1] + qnorm(0.3) * sd[, 1], tolerance = 1e-14)
  shared <- engine_mixed_quantile(mean, sd, shares[1, , drop = FALSE], 0.3)
  expect_equal(shared, engine_mixed_quantile(mean, sd, shares[rep(1, 40), ], 0.3))
})

test_that("far and narrow members, of no spread at all, and large numbers have quantiles", {
  quantile_of <- function(mean, sd, shares, p) {
    engine_mixed_quantile(t(mean), t(sd), t(shares), p)
  }
  expect_equal(quantile_of(c(-1e6, 1e6), c(1, 1), c(0.5, 0.5), 0.25), -1e6, tolerance = 1e-12)
  expect_equal(quantile_of(c(0, 1), c(1e-9, 1e-9), c(0.3, 0.7), 0.65), 1, tolerance = 1e-12)
  expect_equal(quantile_of(c(0, 1), c(0, 0), c(0.3, 0.7), 0.2), 0, tolerance = 1e-12)
  expect_equal(quantile_of(c(0, 1), c(0, 0), c(0.3, 0.7), 0.4), 1, tolerance = 1e-12)
  expect_equal(quantile_of(c(1e300, 1e300), c(1e290, 1e290), c(0.5, 0.5), 0.5), 1e300)
  expect_identical(quantile_of(c(0, NaN), c(1, 1), c(0.5, 0.5), 0.5), NaN)
})

test_that("what is not a mixture stops in C", {
  good <- matrix(1, 2, 3)
  damaged <- function(code) expect_error(code, class = "error")
  damaged(engine_mixed_quantile(good, good[, 1:2], good, 0.5))
  damaged(engine_mixed_quantile(good, good, good[, 1:2], 0.5))
  damaged(engine_mixed_quantile(good, good, good[rep(1, 3), ], 0.5))
  damaged(engine_mixed_quantile(good, good, good, 2))
  damaged(engine_mixed_quantile(good, good, "a", 0.5))
})

test_that("intervals of integrated fits are where the members' distributions say", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = runif(25), w = rep(1:5, 5))
  d$y <- exp(2 + sin(5 * d$x) + 0.2 * rnorm(25))
  new <- data.frame(x = c(-0.5, 0.1, 0.5, 1.4), w = c(1, 2, 1, 1))
  for (transform in c("identity", "log", "sqrt", "boxcox", "asinh")) {
    fit <- sparsegp(y ~ x, d, lik_gaussian(transform = transform), weights = w,
                    control = gp_control(integrate = "ccd"))
    bounds <- predict(fit, new, interval = "prediction", level = 0.9, weights = ~ w)
    latent <- replace(new_latent(fit, new), "weights", list(new$w))
    for (side in 1:2) {
      tails <- response_tails(fit, bounds[, 1 + side], latent)
      inside <- bounds[, 1 + side] > 0 | transform %in% c("identity", "asinh") # not at its end
      expect_equal(tails$below[inside], rep(c(0.05, 0.95)[side], sum(inside)), tolerance = 1e-9,
                   info = transform)
    }
  }
})

test_that("bounds of means and links of integrated fits are where the members say", {
  slow_tier()
  set.seed(2)
  d <- data.frame(x = runif(25))
  d$y <- 2 + sin(5 * d$x) + 0.2 * rnorm(25)
  d$count <- rpois(25, exp(d$y))
  new <- data.frame(x = c(-0.5, 0.1, 1.4))
  control <- gp_control(integrate = "ccd")
  fits <- list(sparsegp(y ~ x, d, control = control),
               sparsegp(count ~ x, d, likelihood = "poisson", control = control))
  for (fit in fits) {
    bounds <- predict(fit, new, type = "link", interval = "confidence")
    latent <- new_latent(fit, new)
    leaves <- leaves_of(fit, latent)
    below <- function(q) {
      each <- over_leaves(leaves, function(object, latent) {
        own <- to_link(object, latent$mean, latent$offset)
        pnorm(q, own, sqrt(latent$var) * object$response$unit)
      })
      mixed(each, shares_of(leaves))
    }
    expect_equal(below(bounds[, "lwr"]), rep(0.025, 3), tolerance = 1e-9, ignore_attr = TRUE)
    expect_equal(below(bounds[, "upr"]), rep(0.975, 3), tolerance = 1e-9, ignore_attr = TRUE)
  }
  # The mean of numbers is their latent function.
  expect_equal(predict(fits[[1]], new, interval = "confidence"),
               predict(fits[[1]], new, type = "link", interval = "confidence"), tolerance = 1e-12)
})

# The distribution function of the mixture at q, by the dense sums of each member's
below_members <- function(fit, latent, q) {
  leaves <- leaves_of(fit, latent)
  each <- over_leaves(leaves, function(object, latent) {
    v <- as.list(lik_values(object))
    code <- codec_of(object)$codes(q, object$response)
    mapply(function(y, mean, var) {
      reference_cdf(object$likelihood$type, y, mean, var, v, 1, TRUE, v$scale %||% 0.1)
    }, code, seen_mean(object, latent), latent$var)
  })
  mixed(each, shares_of(leaves))
}

test_that("quantiles of mixtures of responses are those of the members' distribution functions", {
  set.seed(8)
  d <- data.frame(x = seq(0, 1, length.out = 30))
  d$y <- sin(5 * d$x) + 0.2 * rt(30, 3)
  d$n <- rpois(30, exp(d$y + 1))
  p <- c(1e-6, 0.025, 0.5, 0.51, 0.999)
  integrated <- function(...) sparsegp(..., control = gp_control(integrate = "ccd"))
  fits <- list(integrated(y ~ x, d, likelihood = lik_student(transform = "asinh")),
               integrated(n ~ x, d, likelihood = "poisson"))
  for (fit in fits) {
    latent <- latent_of_rows(fit, rows_latent(with_rows(fit)), c(2, 20))
    q <- response_quantiles(fit, latent, p)
    goal <- rep(p, each = 2L)
    below <- function(q) c(apply(q, 2L, function(q) below_members(fit, latent, q)))
    if (codec_of(fit)$jumps) {
      expect_true(all(below(q) >= goal & below(q - 1) < goal))
    } else {
      expect_equal(below(q) / goal, rep(1, 10L), tolerance = 1e-8) # dense sums are good to 1e-9
    }
    alone <- vapply(p, function(p) response_quantile(fit, p, latent), numeric(2L))
    expect_equal(q, alone, tolerance = 1e-9)
  }
})

test_that("mixtures of far members have quantiles in and between them", {
  set.seed(9)
  d <- data.frame(x = seq(0, 1, length.out = 30))
  d$y <- sin(5 * d$x) + 0.1 * rt(30, 3)
  near <- sparsegp(y ~ x, d, likelihood = "student", control = gp_control(integrate = "none"))
  d$y <- d$y + 1e4
  far <- sparsegp(y ~ x, d, likelihood = "student", control = gp_control(integrate = "none"))
  both <- new_ensemble(list(near, far), c(0.6, 0.4), fixed = TRUE)
  q <- predict(both, d[3, , drop = FALSE], type = "quantile", at = c(0.3, 0.59, 0.61, 0.8))
  of <- function(fit, p) predict(fit, d[3, , drop = FALSE], type = "quantile", at = p)
  # Between the two nearly nothing is added to either side, which has 1e-9 at most
  expect_equal(c(q[c(1L, 4L)]), c(of(near, 0.5), of(far, 0.5)), tolerance = 1e-6)
  expect_true(q[2L] < 100 && q[3L] > 9900)
})

# Out to where responses are no numbers any more
test_that("quantiles far out are in order, of heavy tails on a logarithmic scale, too", {
  slow_tier()
  set.seed(4)
  d <- data.frame(x = runif(60))
  mu <- exp(1 + sin(5 * d$x))
  d$y <- abs(mu + rexp(60) - rexp(60)) + 0.1
  d$share <- rbeta(60, 3, 2)
  p <- c(1e-300, 1e-100, 1e-17, 1e-16, 1e-12, 1e-6, 0.01, 0.5, 0.99, 1 - 10^-c(6, 12, 15.9))
  ccd <- gp_control(integrate = "ccd")
  fits <- list(sparsegp(y ~ x, d, likelihood = lik_laplace(transform = "log"), control = ccd),
               sparsegp(y ~ x, d, likelihood = lik_student(transform = "log"), control = ccd),
               sparsegp(share ~ x, d, likelihood = "beta", control = ccd))
  for (fit in fits) {
    q <- predict(fit, data.frame(x = c(0.1, 0.6, 3)), type = "quantile", at = p)
    expect_false(anyNA(q))
    expect_false(any(apply(q, 1L, is.unsorted)))
  }
})

test_that("a root is found between ends that are far apart, or infinite", {
  at <- c(1e-200, 3, 1e200, -1e5)
  # the bracket ends at 4 units of rounding
  expect_equal(increasing_root(function(x) sign(x - at), c(-Inf, 0, 0, -Inf), rep(Inf, 4L)) / at,
               rep(1, 4L), tolerance = 2e-15)
  expect_identical(increasing_root(function(x) 0 * x - 1, 1, Inf), Inf)
})
