# residuals(type = "quantile"): standard normal under the true model, for every likelihood of one
# latent function.

# n responses from the model with these hyperparameters, and the fit that knows them.
true_fit <- function(type, n, seed, method = method_ep()) {
  lik <- get(paste0("lik_", type))()
  values <- natural_values(lik, rep(-0.4, length(lik$params)))
  lik$params <- lapply(as.list(values), fixed)
  traits <- lik_traits(lik)
  set.seed(seed)
  x <- runif(n, -4, 4)
  K <- exp(-outer(x, x, "-")^2 / (2 * 0.7^2))
  f <- drop(crossprod(chol(K + diag(1e-8, n)), rnorm(n)))
  weights <- if (isTRUE(traits$weighted)) rep_len(c(1, 4, 9), n)
  y <- traits$draw(f, values, if (is.null(weights)) 1 else weights)
  if (lik_codec(lik)$missing) y[y == 0] <- NA
  sparsegp(x, y, lik, kernel_rbf(1, 0.7), method = method, learn = FALSE, scale = FALSE,
           weights = weights)
}

# those with a response that has an order
single <- function() {
  Filter(function(type) {
    one_function <- c("numbers", "spreads", "counts", "trials", "labels", "some_labels", "ordered")
    traits_of(type)$response %in% one_function
  }, likelihood_names())
}

test_that("quantile residuals of the true model are standard normal", {
  slow_tier()
  for (type in single()) {
    fit <- true_fit(type, 250, seed = 3)
    set.seed(5)
    r <- residuals(fit, "quantile")
    r <- r[!is.na(r)]
    # one in a thousand by chance, and there are a dozen
    expect_gt(stats::ks.test(r, "pnorm")$p.value, 1e-3, label = type)
    expect_lt(abs(sd(r) - 1), 0.2, label = type)
  }
})

test_that("those of a wrong model are not", {
  memory_tier()
  # Gaussian for counts of few
  set.seed(3)
  x <- runif(250, -4, 4)
  fit <- sparsegp(x, rpois(250, 1), lik_gaussian(), learn = FALSE)
  expect_lt(stats::ks.test(residuals(fit, "quantile"), "pnorm")$p.value, 1e-3)
})

test_that("they are as random as the responses, and set.seed() governs that", {
  slow_tier()
  for (type in single()) {
    fit <- true_fit(type, 60, seed = 3)
    jumps <- inherits(codec_of(fit), c("response_counts", "response_factor"))
    set.seed(1)
    first <- residuals(fit, "quantile")
    before <- .Random.seed
    second <- residuals(fit, "quantile")
    expect_identical(!identical(first, second), jumps, label = type)
    expect_identical(!identical(.Random.seed, before), jumps, label = type)
    set.seed(1)
    expect_identical(residuals(fit, "quantile"), first, label = type)
  }
})

test_that("of Gaussian noise they are the leave-one-out residuals in standard deviations", {
  memory_tier()
  d <- cars
  d$w <- rep(c(0.5, 2), 25)
  fit <- sparsegp(dist ~ speed, d, weights = w, mean = "average",
                  likelihood = lik_gaussian(transform = "identity"))
  x <- fit$posterior$basis
  unit <- fit$response$unit
  precision <- solve(class_kernel(fit, x, x, 1L) + diag(coef(fit)[["noise"]] / unit^2 / d$w))
  wanted <- drop(precision %*% (d$dist - fit$response$centre)) / unit / sqrt(diag(precision))
  expect_equal(residuals(fit, "quantile"), wanted, tolerance = 1e-7, ignore_attr = TRUE)
})

test_that("far outliers have large residuals, not infinite ones", {
  memory_tier()
  x <- 1:30
  y <- sin(x)
  y[7] <- 1e4
  y[20] <- -1e6
  r <- residuals(sparsegp(x, y, lik_gaussian(fixed(0.01)), kernel_rbf(1, 1), learn = FALSE),
                 "quantile")
  expect_true(all(is.finite(r)) && all(abs(r) < 38))
  expect_gt(r[7L], 30)
  expect_lt(r[20L], -30)
})

test_that("they lie within the jump of each response", {
  memory_tier()
  fit <- true_fit("ordinal", 80, seed = 1)
  p <- loo_probabilities(fit)
  upper <- t(apply(p, 1L, cumsum))
  at <- cbind(1:80, as.integer(fit$y))
  u <- pnorm(residuals(fit, "quantile"))
  expect_true(all(u <= upper[at] + 1e-12 & u >= upper[at] - p[at] - 1e-12))
  fit <- true_fit("poisson", 80, seed = 1)
  # by simulation from the cavities: 4.5 standard errors of a share
  set.seed(2)
  u <- pnorm(residuals(fit, "quantile"))
  for (i in c(2, 40, 71)) {
    f <- rnorm(1e5, fit$cavity$mean[i], sqrt(fit$cavity$var[i]))
    y <- rpois(1e5, exp(f + coef(fit)[["bias"]]))
    expect_gt(u[i], mean(y < fit$y[i]) - 0.0075)
    expect_lt(u[i], mean(y <= fit$y[i]) + 0.0075)
  }
})

test_that("within a jump they are as far up as was drawn, from either tail", {
  low <- list(below = 0.1, above = 0.7, jumps = TRUE)
  high <- list(below = 0.7, above = 0.1, jumps = TRUE)
  expect_equal(tail_quantiles(low, c(0, 0.25, 1)), qnorm(c(0.1, 0.15, 0.3)), tolerance = 1e-12)
  expect_equal(tail_quantiles(high, c(0, 0.75, 1)), -qnorm(c(0.3, 0.15, 0.1)), tolerance = 1e-12)
})

test_that("classes without an order have none, and na.exclude puts rows back", {
  error <- expect_error(residuals(sparsegp(Species ~ Petal.Width, iris[seq(1, 150, 5), ],
                                           learn = FALSE), "quantile"), class = "sparsegp_error")
  expect_identical(error$argument, "type")
  d <- cars
  d$speed[4] <- NA
  r <- residuals(sparsegp(dist ~ speed, d, na.action = na.exclude, learn = FALSE), "quantile")
  expect_identical(names(r), rownames(cars))
  expect_identical(which(is.na(r)), c(`4` = 4L))
})
