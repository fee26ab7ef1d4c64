# Likelihoods at the R prompt, by every method: what fits, predictions, residuals and simulations
# mean for counts and other responses.

reached_elsewhere()

# One input, a smooth function of it, and responses drawn from the likelihood at `value`.
responses <- function(lik, value, n = 80, scale = 1, seed = 1) {
  set.seed(seed)
  x <- sort(runif(n, -3, 3))
  f <- scale * sin(1.5 * x)
  list(x = x, f = f, y = lik_traits(lik)$draw(f, value, 1))
}

METHODS <- function() {
  list(full = method_ep(), sparse = method_ep(size = 12), online = method_online(size = 12),
       ivm = method_ivm(size = 25), machine = method_ivm(size = 25, refine = "none"))
}

# Fits by every method find the function: correlation of the latent mean with the truth.
expect_found <- function(data, lik, kernel, at_least, methods = METHODS()) {
  for (name in of_tier(names(methods), 3L)) {
    fit <- sparsegp(data$x, data$y, lik, kernel, method = methods[[name]], learn = FALSE)
    latent <- predict(fit, data$x, type = "latent", se.fit = TRUE)
    expect_true(all(is.finite(unlist(latent))), label = name)
    expect_gt(cor(latent$fit, data$f), at_least, label = paste(lik$type, "by", name))
    expect_true(is.finite(logLik(fit)), label = name)
  }
  on_points <- sparsegp(data$x, data$y, lik, kernel, learn = FALSE, basis = seq(1, 80, by = 6))
  expect_gt(cor(fitted(on_points), data$f), at_least, label = paste(lik$type, "on a basis"))
}

refused <- function(code, argument) {
  error <- expect_error(code, class = "sparsegp_error")
  expect_identical(error$argument, argument)
}

# Coverage of prediction intervals at new rows, whose responses are drawn.
covered <- function(fit, data, value, level) {
  y <- lik_traits(fit$likelihood)$draw(data$f, value, 1)
  band <- predict(fit, data$x, interval = "prediction", level = level)
  mean(y >= band[, "lwr"] & y <= band[, "upr"])
}

# ---- Counts ----

test_that("counts are fitted by every method", {
  memory_tier()
  data <- responses(lik_poisson(), c(bias = 1.5))
  expect_found(data, lik_poisson(fixed(1.5)), kernel_rbf(1, 0.5), 0.85)
})

test_that("an exposure in the offset is accounted for", {
  memory_tier()
  data <- responses(lik_poisson(), c(bias = 1))
  exposure <- rep(c(1, 10), 40)
  y <- rpois(80, exposure * exp(data$f + 1))
  d <- data.frame(x = data$x, y, exposure)
  fit <- sparsegp(y ~ x + offset(log(exposure)), d, lik_poisson(),
                  control = gp_control(integrate = "none"))
  expect_lt(abs(coef(fit)[["bias"]] - 1), 0.7)
  once <- predict(fit, data.frame(x = 0.5, exposure = 1))
  expect_equal(predict(fit, data.frame(x = 0.5, exposure = 10)), 10 * once, tolerance = 1e-10)
  latent <- predict(fit, data.frame(x = 0.5, exposure = 1), "latent", se.fit = TRUE)
  expect_equal(once, exp(latent$fit + coef(fit)[["bias"]] + latent$se.fit^2 / 2),
               tolerance = 1e-10)
  expect_equal(sum(fitted(fit)), sum(y), tolerance = 0.1)
})

test_that("the family and the name of counts are understood", {
  data <- responses(lik_poisson(), c(bias = 1.5))
  fit <- sparsegp(data$x, data$y, poisson(), learn = FALSE)
  expect_identical(fit$likelihood$type, "poisson")
  expect_output(print(fit), "poisson likelihood")
  # the bias starts where it alone gives the counts' sum
  expect_equal(coef(fit)[["bias"]], log((sum(data$y) + 0.5) / 80))
})

test_that("what is no count is refused", {
  memory_tier()
  x <- 1:6
  refused(sparsegp(x, c(1, 2, -1, 0, 1, 2), "poisson"), "y")
  refused(sparsegp(x, c(1, 2, 0.5, 0, 1, 2), "poisson"), "y")
  refused(sparsegp(x, c(1, 2, Inf, 0, 1, 2), "poisson"), "y")
  refused(sparsegp(x, factor(c(1, 2, 1, 0, 1, 2)), "poisson"), "y")
  refused(sparsegp(x, c(1, 2, 3, 0, 1, 2), "poisson", weights = rep(-2, 6)), "weights")
  fit <- sparsegp(x, c(1, 2, 3, 0, 1, 2), "poisson", method = method_online(pilot = 3))
  refused(update(fit, 7, -1), "newdata")
  waits <- sparsegp(x, c(1, 2, 3, 0, 1, 2), "poisson", method = method_online(pilot = 30))
  refused(update(waits, 7, 0.5), "y")
})

test_that("predictive quantiles of counts are those of the mixture", {
  memory_tier()
  set.seed(3)
  for (case in list(c(-1, 0.5), c(2, 0.01), c(3, 1.2), c(8, 0.3), c(0, 0))) {
    y <- rpois(2e5, exp(rnorm(2e5, case[1L] + 0.4, case[2L])))
    for (p in c(0.025, 0.3, 0.5, 0.95)) {
      found <- response_quantile_at(lik_poisson(), 0.4, p, case[1L], case[2L]^2)
      # the smallest whole number that is reached: 4.5 standard errors of a share
      slack <- 4.5 * sqrt(p * (1 - p) / 2e5)
      expect_gte(mean(y <= found), p - slack)
      expect_lte(mean(y <= found - 1), p + slack)
    }
  }
})

test_that("intervals of counts cover, residuals have variance one, and simulations look alike", {
  slow_tier()
  data <- responses(lik_poisson(), c(bias = 1.5), n = 200, seed = 2)
  fit <- sparsegp(data$x, data$y, "poisson", structure = "fixed")
  set.seed(4)
  band <- predict(fit, data$x, interval = "prediction", level = 0.9)
  y <- replicate(20, lik_traits(fit$likelihood)$draw(data$f, c(bias = 1.5), 1))
  share <- mean(y >= band[, "lwr"] & y <= band[, "upr"])
  expect_gt(share, 0.87) # discrete: at least the level
  expect_lt(share, 0.97)
  expect_equal(residuals(fit), data$y - fitted(fit), ignore_attr = TRUE)
  expect_lt(abs(mean(residuals(fit, "pearson")^2) - 1), 0.35)
  again <- simulate(fit, 50, seed = 1)
  expect_true(all(unlist(again) >= 0 & unlist(again) == round(unlist(again))))
  expect_equal(mean(unlist(again)), mean(data$y), tolerance = 0.1)
  drawing <- predict(fit, c(-1, 0, NA), interval = "confidence")
  expect_identical(is.na(drawing[, "fit"]), c(`1` = FALSE, `2` = FALSE, `3` = TRUE))
  expect_true(all(drawing[1:2, "lwr"] < drawing[1:2, "upr"] & drawing[1:2, "lwr"] > 0))
})

# ---- Counts that vary more ----

test_that("overdispersed counts are fitted by every method", {
  memory_tier()
  data <- responses(lik_negbin(), c(bias = 1.5, size = 3))
  expect_found(data, lik_negbin(fixed(1.5), fixed(3)), kernel_rbf(1, 0.5), 0.7)
})

test_that("a gamma distribution of rates is learned, with an exposure in the offset", {
  slow_tier()
  set.seed(8)
  x <- sort(runif(160, -3, 3))
  d <- data.frame(x, exposure = rep(c(1, 10), 80))
  d$y <- rnbinom(160, 2, mu = d$exposure * exp(sin(1.5 * x) + 1))
  fit <- sparsegp(y ~ x + offset(log(exposure)), d, lik_negbin(), kernel_rbf())
  expect_true(fit$convergence$converged)
  expect_lt(abs(coef(fit)[["bias"]] - 1), 0.7)
  # the standard error of log(size) is near 0.14
  expect_lt(abs(log(coef(fit)[["size"]] / 2)), 0.4)
  # Poisson counts would be surprised, unless a rough function follows each of them
  poisson <- sparsegp(y ~ x + offset(log(exposure)), d, lik_poisson(), kernel_rbf())
  expect_gt(sum(loo_lpd(fit)), sum(loo_lpd(poisson)) + 20)
  once <- predict(fit, data.frame(x = 0.5, exposure = 1))
  expect_equal(predict(fit, data.frame(x = 0.5, exposure = 10)), 10 * once, tolerance = 1e-10)
  expect_lt(abs(mean(residuals(fit, "pearson")^2) - 1), 0.35)
})

test_that("log p of counts keeps its digits whatever the size, and tends to the Poisson's", {
  memory_tier()
  logp <- function(type, theta, y, f) {
    .Call(sg_lik_eval, c_lik(type, theta), theta, count_rows(y), f)$logp
  }
  grid <- expand.grid(y = c(0, 1, 7, 250, 1e5), f = c(-9, -1, 0, 2, 5, 11.5))
  poisson <- logp("poisson", 0.1, grid$y, grid$f)
  # the difference from a Poisson count is ((y - m)^2 - y) / (2 size), to first order
  apart <- ((grid$y - exp(grid$f + 0.1))^2 - grid$y) / 2
  # either is a sum of such terms, good to their last digits
  terms <- 1 + lfactorial(grid$y) + exp(grid$f + 0.1)
  for (size in c(1e14, 1e20, 1e100, 1e300)) {
    found <- logp("negbin", c(0.1, log(size)), grid$y, grid$f)
    expect_lt(max(abs(found - poisson - apart / size) / terms), 4e-15)
  }
  # and dnbinom() where its own digits are good
  for (size in c(1e-6, 0.03, 1, 15.9, 16.1, 400)) {
    near <- grid[grid$y < 1e3, ]
    wanted <- dnbinom(near$y, size, mu = exp(near$f + 0.1), log = TRUE)
    expect_equal(logp("negbin", c(0.1, log(size)), near$y, near$f), wanted, tolerance = 1e-12)
  }
})

test_that("predictive quantiles of overdispersed counts are those of the mixture", {
  memory_tier()
  set.seed(3)
  traits <- lik_traits(lik_negbin())
  for (case in list(c(-1, 0.5, 0.3), c(2, 0.01, 2), c(3, 1.2, 40), c(8, 0.3, 1e9), c(0, 0, 1))) {
    value <- c(bias = 0.4, size = case[3L])
    y <- traits$draw(rnorm(2e5, case[1L], case[2L]), value, 1)
    for (p in c(0.025, 0.3, 0.5, 0.95)) {
      found <- response_quantile_at(lik_negbin(), c(0.4, log(case[3L])), p, case[1L], case[2L]^2)
      # the smallest whole number that is reached: 4.5 standard errors of a share
      slack <- 4.5 * sqrt(p * (1 - p) / 2e5)
      expect_gte(mean(y <= found), p - slack)
      if (found > 0) expect_lte(mean(y <= found - 1), p + slack)
    }
  }
})

test_that("what is no overdispersed count is refused", {
  memory_tier()
  refused(sparsegp(1:6, c(1, 2, -1, 0, 1, 2), "negbin"), "y")
  refused(sparsegp(1:6, c(1, 2, 0.5, 0, 1, 2), "negbin"), "y")
  refused(sparsegp(1:6, c(1, 2, 3, 0, 1, 2), "zinb", weights = rep(2, 6)), "weights")
  for (bad in list(-1, 0, Inf, NA_real_, "a", c(1, 2), fixed(-1))) {
    refused(lik_negbin(size = bad), "size")
  }
})

# ---- Successes of trials ----

trials_data <- function(n = 80, seed = 5) {
  set.seed(seed)
  x <- sort(runif(n, -3, 3))
  f <- sin(1.5 * x)
  size <- rep(c(2, 10, 40, 1), length.out = n)
  won <- rbinom(n, size, plogis(f + 0.3))
  data.frame(x, f, size, won, lost = size - won, share = won / size)
}

test_that("trials are fitted by every method, in either form", {
  memory_tier()
  d <- trials_data()
  for (method in of_tier(METHODS(), 2L)) {
    fit <- sparsegp(cbind(won, lost) ~ x, d, lik_binomial(fixed(0.3)), kernel_rbf(1, 0.5),
                    method = method,
                    learn = FALSE)
    expect_gt(cor(predict(fit, d, type = "latent"), d$f), 0.85)
    same <- sparsegp(d$x, cbind(d$won, d$lost), lik_binomial(fixed(0.3)), kernel_rbf(1, 0.5),
                     method = method, learn = FALSE)
    expect_equal(unname(predict(same, d$x)), unname(predict(fit, d)), tolerance = 1e-12)
  }
})

test_that("trials are learned from, and are what residuals and simulations are of", {
  slow_tier()
  d <- trials_data()
  fit <- sparsegp(cbind(won, lost) ~ x, d, binomial())
  expect_identical(fit$likelihood$type, "binomial")
  shares <- sparsegp(share ~ x, d, lik_binomial(), weights = size)
  expect_equal(fitted(shares), fitted(fit), tolerance = 1e-10)
  expect_lt(mean(abs(fitted(fit) - plogis(d$f + 0.3))), 0.1)
  expect_equal(residuals(fit), d$share - fitted(fit), ignore_attr = TRUE)
  expect_lt(abs(mean(residuals(fit, "pearson")^2) - 1), 0.4)
  again <- simulate(fit, 40, seed = 1)
  expect_equal(mean(colMeans(again)), mean(d$share), tolerance = 0.15)
  expect_equal(c(as.matrix(again) * d$size), round(c(as.matrix(again) * d$size)))
})

test_that("pearson residuals know that trials divide the variance of a share", {
  d <- trials_data()[1:12, ]
  fit <- sparsegp(cbind(won, lost) ~ x, d, lik_binomial(0.2), kernel_rbf(1, 0.5), learn = FALSE)
  latent <- predict(fit, d, type = "latent", se.fit = TRUE)
  spread <- mapply(function(mean, sd, trials) {
    expect <- function(of) {
      stats::integrate(function(z) stats::dnorm(z) * of(stats::plogis(mean + sd * z + 0.2)), -9, 9,
                       rel.tol = 1e-10)$value
    }
    share <- expect(identity)
    sqrt(expect(function(p) p * (1 - p)) / trials + expect(function(p) (p - share)^2))
  }, latent$fit, latent$se.fit, d$size)
  expect_equal(residuals(fit, "pearson"), residuals(fit) / spread, tolerance = 1e-7,
               ignore_attr = TRUE)
})

test_that("one trial each is the logit model", {
  memory_tier()
  d <- trials_data()
  d$y <- factor(d$won > 0)
  two <- sparsegp(y ~ x, d, lik_logit(0.2), kernel_rbf(1, 0.5), learn = FALSE)
  one <- sparsegp(cbind(won > 0, won == 0) + 0 ~ x, d, lik_binomial(0.2), kernel_rbf(1, 0.5),
                  learn = FALSE)
  expect_equal(as.numeric(logLik(one)), as.numeric(logLik(two)), tolerance = 1e-8)
  expect_equal(fitted(one), fitted(two), tolerance = 1e-6)
})

test_that("a stream takes trials", {
  memory_tier()
  d <- trials_data()
  fit <- function(...) {
    sparsegp(cbind(won, lost) ~ x, ..., likelihood = lik_binomial(0.2), kernel = kernel_rbf(1, 0.5),
             method = method_online(size = 12, pilot = 30), learn = FALSE)
  }
  parts <- update(update(fit(d[1:20, ]), d[21:50, ]), d[51:80, ])
  expect_equal(predict(parts, d), predict(fit(d), d), tolerance = 1e-10)
  expect_true(all(is.finite(predict(parts, d, interval = "prediction"))))
})

test_that("trials that cannot be are refused", {
  d <- trials_data()
  refused(sparsegp(d$x, cbind(d$won, -d$lost), lik_binomial()), "y")
  refused(sparsegp(d$x, cbind(d$won + 0.5, d$lost), lik_binomial()), "y")
  refused(sparsegp(d$x, cbind(0 * d$won, 0), lik_binomial()), "y")
  refused(sparsegp(d$x, cbind(d$won, d$lost), lik_binomial(), weights = d$size), "weights")
  refused(sparsegp(d$x, cbind(d$won, d$lost), "poisson"), "y")
  refused(sparsegp(d$x, d$share, lik_binomial()), "y") # shares of how many?
  refused(sparsegp(d$x, d$won, lik_binomial(), weights = d$size), "y")
})

# ---- Numbers with outliers ----

test_that("Laplace noise is fitted by every method", {
  memory_tier()
  data <- responses(lik_laplace(), c(scale = 0.3))
  expect_found(data, lik_laplace(fixed(0.3)), kernel_rbf(1, 0.5), 0.85)
})

# Laplace quantiles against draws; and in units of the response.
expect_quantiles <- function(lik, theta) {
  set.seed(7)
  traits <- lik_traits(lik)
  for (sd in c(0, 0.1, 0.6, 5)) {
    y <- traits$draw(rnorm(2e5, 0.7, sd), natural_values(lik, theta), 1)
    for (p in c(0.025, 0.4, 0.9)) {
      found <- response_quantile_at(lik, theta, p, 0.7, sd^2)
      # 4.5 standard errors of a share
      expect_lt(abs(mean(y <= found) - p), 4.5 * sqrt(p * (1 - p) / 2e5))
    }
  }
}

expect_scales_along <- function(lik) {
  data <- responses(lik, c(scale = 0.3, df = 4), seed = 3)
  fit <- sparsegp(data$x, data$y, lik)
  far <- sparsegp(data$x, 1e6 * data$y - 1e7, lik)
  expect_equal(coef(far)[["scale"]], 1e6 * coef(fit)[["scale"]], tolerance = 1e-4)
  expect_equal(fitted(far), 1e6 * fitted(fit) - 1e7, tolerance = 1e-4)
  band <- predict(fit, c(0, 1), interval = "prediction")
  expect_equal(predict(far, c(0, 1), interval = "prediction"), 1e6 * band - 1e7, tolerance = 1e-4)
  expect_equal(as.numeric(logLik(far)), as.numeric(logLik(fit)) - 80 * log(1e6), tolerance = 1e-4)
  expect_lt(abs(mean(residuals(fit, "pearson")^2) - 1), 0.6)
  expect_equal(sd(unlist(simulate(fit, 50, seed = 1))), sd(data$y), tolerance = 0.3)
}

test_that("Laplace quantiles are those of the mixture, and all scales with the response", {
  slow_tier()
  expect_quantiles(lik_laplace(), log(0.4))
  expect_scales_along(lik_laplace())
  refused(lik_laplace(scale = -1), "scale")
})

test_that("Student-t noise is fitted by every method, gross outliers and all", {
  slow_tier()
  data <- responses(lik_student(), c(scale = 0.2, df = 4))
  data$y[c(7, 30, 61)] <- c(15, -20, 9)
  expect_found(data, lik_student(fixed(0.2), fixed(4)), kernel_rbf(1, 0.5), 0.85)
  fit <- sparsegp(data$x, data$y, lik_student())
  expect_true(fit$convergence$converged)
  expect_gte(fit$convergence$widening, 3)
  expect_true(all(sites(fit)$precision[c(7, 30, 61)] < 0))
  expect_identical(fit$convergence$flat, 0L)
  gaussian <- sparsegp(data$x, data$y, "gaussian")
  expect_lt(sqrt(mean((fitted(fit) - data$f)^2)), 0.8 * sqrt(mean((fitted(gaussian) - data$f)^2)))
})

# A fit knows its rows by whatever way one asks, although where some of them widen the posterior its
# factors have them in an order of their own.
expect_consistent <- function(fit, x, several = FALSE) {
  expect_gt(fit$convergence$widening, 0L)
  for (type in c("response", "latent")) {
    expect_equal(predict(fit, x, type = type), predict(fit, type = type), tolerance = 1e-8,
                 ignore_attr = TRUE)
  }
  latent <- predict(fit, x, type = "latent", se.fit = TRUE)
  unit <- fit$response$unit
  expect_equal(unname(latent$se.fit / unit), sqrt(unname(fit$latent$var)), tolerance = 1e-8)
  if (several) return()
  expect_equal(unname(apply(draws(fit, n = 4000), 1L, sd)), unname(latent$se.fit),
               tolerance = 0.1) # 1 % each, the largest of many
  expect_equal(kl(fit, fit), 0, tolerance = 1e-8)
}

test_that("a row that widens the posterior is where it was", {
  slow_tier()
  data <- responses(lik_student(), c(scale = 0.2, df = 4))
  data$y[c(7, 30, 61)] <- c(15, -20, 9)
  for (method in list(method_ep(), method_ivm(size = 40, refine = "active"))) {
    set.seed(4)
    fit <- sparsegp(data$x, data$y, lik_student(0.2), kernel_matern32(1, 0.5), method = method,
                    learn = FALSE)
    expect_consistent(fit, data$x)
  }
  full <- sparsegp(data$x, data$y, lik_student(0.2), kernel_matern32(1, 0.5), learn = FALSE)
  expect_gt(full$convergence$widening, 0L)
  joint <- predict(full, c(0.1, 0.7), type = "latent", se.fit = TRUE, covariance = TRUE)
  expect_equal(unname(diag(joint$covariance)), unname(joint$se.fit^2), tolerance = 1e-10)
  # on a basis of all rows it is the same posterior
  based <- sparsegp(data$x, data$y, lik_student(0.2), kernel_matern32(1, 0.5), learn = FALSE,
                    basis = seq_along(data$x))
  expect_equal(c(logLik(based)), c(logLik(full)), tolerance = 1e-8)
  expect_equal(predict(based, c(0.1, 0.7), type = "latent", se.fit = TRUE)$se.fit, joint$se.fit,
               tolerance = 1e-6)
  expect_identical(attr(basis(full), "rows"), seq_along(data$x))
  expect_equal(basis(full)[, 1L], data$x, ignore_attr = TRUE)
  expect_true(all(loo_lpd(full)[c(7, 30, 61)] < min(loo_lpd(full)[-c(7, 30, 61)])))
  set.seed(5)
  d <- iris[c(1:20, 51:70, 101:120), ]
  d$Species[c(3, 25, 50)] <- rev(levels(d$Species))
  classes <- sparsegp(Species ~ Petal.Length, d, lik_probit(flip = 0.05), learn = FALSE)
  expect_consistent(classes, d, several = TRUE)
})

test_that("Student-t quantiles are those of the mixture, and all scales with the response", {
  slow_tier()
  expect_quantiles(lik_student(), c(log(0.4), 0))
  expect_scales_along(lik_student())
  refused(lik_student(df = 2), "df")
  refused(lik_student(scale = 0), "scale")
  fit <- sparsegp(1:6, c(1, 2, 3, 1, 2, 9), lik_student(2, fixed(3.5)), learn = FALSE)
  expect_equal(coef(fit)[c("scale", "df")], c(scale = 2, df = 3.5))
})

# ---- Labels that may be wrong ----

test_that("wrong labels are fitted by every method", {
  memory_tier()
  data <- responses(lik_step(), c(noise = 0.05))
  expect_found(data, lik_step(fixed(0.05)), kernel_rbf(1, 0.5), 0.7)
  data <- responses(lik_flip(), c(bias = 0, flip = 0.05), scale = 3)
  expect_found(data, lik_probit(fixed(0), fixed(0.05)), kernel_rbf(9, 0.5), 0.7)
})

test_that("flip = 0 is the probit model, bit for bit", {
  expect_identical(lik_probit(0.3, flip = 0), lik_probit(0.3))
  expect_identical(lik_probit(flip = fixed(0)), lik_probit())
  expect_identical(lik_probit(flip = NULL), lik_flip())
  # and what tends to it tends to it
  rows <- rbind(c(1, -1, 1))
  tilt <- function(type, theta) {
    .Call(sg_lik_tilt, c_lik(type, theta), theta, rows, c(-2, 0.5, 30), c(0.1, 3, 2), FALSE)
  }
  found <- tilt("flip", c(0.3, -80)) # 1e-35
  wanted <- tilt("probit", 0.3)
  expect_equal(found[c("logz", "d1", "d2")], wanted[c("logz", "d1", "d2")], tolerance = 1e-14)
})

test_that("a wrong label deep in the other class does not bend the boundary", {
  slow_tier()
  set.seed(9)
  x <- runif(150, -3, 3)
  y <- ifelse(x > 0, 1, -1)
  wrong <- order(x)[seq(8, 143, by = 15)] # alone among right ones
  y[wrong] <- -y[wrong]
  fit <- sparsegp(x, y, lik_probit(flip = NULL))
  expect_true(fit$convergence$converged)
  expect_gt(coef(fit)[["flip"]], 0.02)
  expect_lt(coef(fit)[["flip"]], 0.15)
  p <- predict(fit, c(-2.5, -2, -1, 1, 2, 2.5))
  expect_true(all((p > 0.5) == rep(c(FALSE, TRUE), each = 3L)))
  expect_true(all(p > 0.01 & p < 0.99)) # a label may always be wrong
  # each of three classes against the rest has its own
  d <- iris[c(1:20, 51:70, 101:120), ]
  several <- sparsegp(Species ~ Petal.Length, d, lik_probit(flip = NULL), learn = FALSE)
  levels <- levels(d$Species)
  expect_identical(tail(names(coef(several)), 6L),
                   c(rbind(paste0("bias.", levels), paste0("flip.", levels))))
  expect_equal(unname(coef(several)[paste0("flip.", levels)]), rep(0.05, 3L))
})

test_that("impossible probabilities of a wrong label are refused", {
  memory_tier()
  for (bad in list(-0.1, 0.5, 1, NA_real_, "a", fixed(0.6))) {
    refused(lik_probit(flip = bad), "flip")
    refused(lik_step(bad), "noise")
  }
  refused(lik_step(0), "noise")
})

# ---- MacKay's approximation ----

test_that("MacKay's moments give nearly the fit of exact ones, by every method", {
  memory_tier()
  data <- responses(lik_logit(), c(bias = 0), scale = 3)
  expect_found(data, lik_logit(fixed(0), "mackay"), kernel_rbf(9, 0.5), 0.7)
  exact <- sparsegp(data$x, data$y, lik_logit(0), kernel_rbf(9, 0.5), learn = FALSE)
  quick <- sparsegp(data$x, data$y, lik_logit(0, "mackay"), kernel_rbf(9, 0.5), learn = FALSE)
  # the approximation errs by up to 0.02 in a probability
  expect_lt(max(abs(fitted(quick) - fitted(exact))), 0.05)
})

test_that("MacKay's moments have no evidence to learn from", {
  memory_tier()
  data <- responses(lik_logit(), c(bias = 0), scale = 3)
  refused(sparsegp(data$x, data$y, lik_logit(moments = "mackay")), "learn")
  refused(sparsegp(data$x, data$y, lik_mackay(), method = method_ivm(size = 9),
                   learn = learn_control("ivm")), "learn")
  refused(sparsegp(data$x, data$y, lik_mackay(), method = method_online(pilot = 40)), "learn")
  known <- kernel_rbf(fixed(9), fixed(0.5))
  fit <- sparsegp(data$x, data$y, lik_logit(fixed(0), "mackay"), known) # nothing to learn
  expect_true(fit$convergence$converged)
  refused(lik_logit(moments = "mean"), "moments")
  expect_identical(lik_logit(0.3, "mackay"), lik_mackay(0.3))
  expect_identical(lik_logit(0.3, "quadrature"), lik_logit(0.3))
})

test_that("the unit of positive responses changes nothing but their bias", {
  slow_tier()
  set.seed(1)
  d <- data.frame(a = runif(40L, 0, 3))
  d$y <- rgamma(40L, 5, 5 / exp(sin(2 * d$a)))
  in_unit <- function(by) sparsegp(I(by * y) ~ a, d, "gamma", kernel = kernel_rbf())
  small <- in_unit(1)
  large <- in_unit(1e6)
  # searches end within 1e-3 of a nat of the mode
  expect_equal(c(logLik(large)) + 40 * log(1e6), c(logLik(small)), tolerance = 1e-5)
  expect_equal(predict(large, d), 1e6 * predict(small, d), tolerance = 1e-4)
})
