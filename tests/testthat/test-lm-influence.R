# Leverage, standardised residuals and Cook's distances against models written out and made again.

r_code_alone()

refused <- function(expr, pattern) {
  expect_error(expr, pattern, class = "sparsegp_error")
}

# Everything about a Gaussian fit in its own units, with all matrices formed; rows: which are used.
# Centre, unit and hyperparameters are those of the fit.
dense_model <- function(fit) {
  x <- scaled_inputs(model.matrix(fit), fit$scaling)
  K <- kernel_matrix(fit$spec, kernel_theta(fit), x, x)
  noise <- lik_values(fit)[["noise"]] / fit$weights
  y <- (fit$y - fit$response$centre) / fit$response$unit
  mean_of <- function(y, rows = seq_along(y)) {
    drop(K[, rows] %*% solve(K[rows, rows] + diag(noise[rows], length(rows)), y[rows]))
  }
  list(K = K, noise = noise, y = y, mean_of = mean_of,
       cov = K - K %*% solve(K + diag(noise), K))
}

weighted_cars <- function() {
  d <- data.frame(mtcars[seq(1, 32, 2), c("mpg", "wt", "hp")], w = rep(c(1, 3), 8))
  # a rough kernel: with smooth ones the posterior covariance of all rows has no inverse
  sparsegp(mpg ~ wt + hp, d, weights = w, kernel = kernel_matern12(), learn = FALSE,
           mean = "average")
}

test_that("hat values are slopes of fitted means in the responses", {
  fit <- weighted_cars()
  model <- dense_model(fit)
  slope <- vapply(seq_along(model$y), function(i) {
    # the means are linear in the responses: a step of 1 is exact
    model$mean_of(replace(model$y, i, model$y[i] + 1))[i] - model$mean_of(model$y)[i]
  }, 0)
  # rounding of two solves of 16 rows
  expect_equal(hatvalues(fit), setNames(slope, fit$row_names), tolerance = 1e-9)
  expect_equal(sum(hatvalues(fit)), nobs(fit) - df.residual(fit), tolerance = 1e-12)
})

test_that("hat values of a fit on a basis are slopes of its own fitted means", {
  fit <- sparsegp(mpg ~ wt + hp, mtcars, basis = seq(1, 32, 4), learn = FALSE)
  problem <- problem_of_fit(fit)
  means <- function(rows) {
    engine_run(replace(problem, "rows", list(rows)), fit$hyper$theta, posterior = TRUE)$mean
  }
  for (i in c(1L, 8L, 17L, 32L)) { # on the basis and off it
    moved <- problem$rows
    moved[1L, i] <- moved[1L, i] + 1
    expect_equal(means(moved)[i] - means(problem$rows)[i], hatvalues(fit)[[i]], tolerance = 1e-8)
  }
})

test_that("standardised residuals have the variance that the model gives to residuals", {
  fit <- weighted_cars()
  model <- dense_model(fit)
  marginal <- model$K + diag(model$noise)
  off <- diag(length(model$y)) - model$K %*% solve(marginal) # makes residuals of responses
  sd <- sqrt(diag(off %*% marginal %*% t(off)))
  wanted <- drop(off %*% model$y) / sd
  expect_equal(unname(rstandard(fit)), wanted, tolerance = 1e-9)
  # with the noise held, the residual without the row's own response is the same number
  expect_equal(rstudent(fit), rstandard(fit), tolerance = 1e-9)
  expect_equal(rstudent(fit), residuals(fit, "quantile"), tolerance = 1e-6)
})

test_that("Cook's distances are those of fits without the row", {
  fit <- weighted_cars()
  model <- dense_model(fit)
  all <- seq_along(model$y)
  change <- vapply(all, function(i) model$mean_of(model$y) - model$mean_of(model$y, all[-i]),
                   numeric(length(all)))
  wanted <- colSums(change * solve(model$cov, change)) / sum(hatvalues(fit))
  # the inverse of the posterior covariance loses some digits
  expect_equal(unname(cooks.distance(fit)), wanted, tolerance = 1e-7)
  found <- influence(fit)
  expect_named(found, c("hat", "dffit", "wt.res"))
  expect_equal(unname(found$dffit), diag(change) * fit$response$unit, tolerance = 1e-8)
  expect_identical(found$wt.res, residuals(fit))
})

test_that("a linear kernel leads to the numbers of lm()", {
  d <- data.frame(x = mtcars$wt, y = mtcars$mpg)
  line <- lm(y ~ x, d)
  s2 <- summary(line)$sigma^2
  # a prior so wide that it says nothing, and the noise that lm() finds
  fit <- sparsegp(y ~ x, d, lik_gaussian(fixed(s2)),
                  kernel = kernel_linear(fixed(1e8)) + kernel_constant(fixed(1e8)), learn = FALSE)
  # 1e-4: what a wide but proper prior differs by
  expect_equal(hatvalues(fit), hatvalues(line), tolerance = 1e-4)
  expect_equal(rstandard(fit), rstandard(line), tolerance = 1e-4)
  expect_equal(cooks.distance(fit), cooks.distance(line), tolerance = 1e-4)
})

test_that("of other likelihoods residuals and distances are those of the sites' responses", {
  slow_tier()
  for (lik in c("probit", "poisson")) {
    fit <- sparsegp(if (lik == "probit") am ~ wt else carb ~ wt, mtcars[1:12, ], lik,
                    kernel = kernel_matern12(), learn = FALSE)
    x <- scaled_inputs(model.matrix(fit), fit$scaling)
    K <- kernel_matrix(fit$spec, kernel_theta(fit), x, x)
    tau <- c(fit$sites$tau)
    y <- c(fit$sites$nu) / tau
    H <- K %*% solve(K + diag(1 / tau))
    h <- diag(H)
    # EP's own tolerance is 1e-6 or less
    wrong <- drop(y - H %*% y)
    expect_equal(unname(rstandard(fit)), wrong * sqrt(tau / (1 - h)), tolerance = 1e-4)
    cook <- rstandard(fit)^2 * h / (1 - h) / sum(hatvalues(fit))
    expect_equal(cooks.distance(fit), cook, tolerance = 1e-4)
  }
  # a row far off has a site of negative precision under long tails, and the leverage of its place
  far <- sparsegp(mpg ~ wt, transform(mtcars, mpg = replace(mpg, 3, 200)), "student", learn = FALSE)
  near <- sparsegp(mpg ~ wt, mtcars, "student", learn = FALSE)
  expect_lt(far$sites$tau[3L], 0)
  expect_true(all(hatvalues(far) > 0 & hatvalues(far) < 1))
  expect_true(is.na(rstandard(far)[[3]]))
  expect_true(is.finite(cooks.distance(far)[[3]]) && is.finite(rstudent(far)[[3]]))
})

test_that("leverage has the information that a response is expected to give", {
  slow_tier()
  d <- transform(mtcars, share = (carb - 0.5) / 9, high = carb / 8)
  f <- c(-0.7, 0.2)
  information <- function(formula, lik) {
    fit <- sparsegp(formula, d, lik, learn = FALSE)
    utils::head(fisher_information(fit, rep_len(f, nrow(d))), 2L) # one of each row
  }
  # Fisher's, in closed form; differences of means over 1e-4 are good to 1e-6
  expect_equal(information(carb ~ wt, lik_poisson(bias = fixed(0))), exp(f), tolerance = 1e-6)
  expect_equal(information(carb ~ wt, lik_negbin(size = fixed(3), bias = fixed(0))),
               3 * exp(f) / (3 + exp(f)),
               tolerance = 1e-6)
  expect_equal(information(mpg ~ wt, lik_gamma(shape = fixed(5))), c(5, 5), tolerance = 1e-6)
  expect_equal(information(am ~ wt, lik_logit(bias = fixed(0))), plogis(f) * plogis(-f),
               tolerance = 1e-6)
  expect_equal(information(am ~ wt, lik_probit(bias = fixed(0))),
               dnorm(f)^2 / (pnorm(f) * pnorm(-f)), tolerance = 1e-6)
  trials <- sparsegp(cbind(carb, 9 - carb) ~ wt, d[1:2, ], lik_binomial(bias = fixed(0)),
                     learn = FALSE)
  expect_equal(fisher_information(trials, f), 9 * plogis(f) * plogis(-f), tolerance = 1e-6)
  # of errors by 1001 quantiles, which miss half a per cent of the tails
  student <- sparsegp(mpg ~ wt, d, lik_student(scale = fixed(2), df = fixed(4)), learn = FALSE)
  expect_equal(fisher_information(student, f)[1L], 5 / 7 / (2 / student$response$unit)^2,
               tolerance = 5e-3)
})

test_that("leverage does not depend on the row's own response", {
  slow_tier()
  d <- data.frame(x = c(1:5, 100, 7:12)) # without neighbours, whose sites would follow it
  y <- c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)
  held <- kernel_rbf(fixed(1), fixed(0.1))
  hat <- function(lik, own) {
    d$y <- replace(y, 6, own)
    hatvalues(sparsegp(y ~ x, d, lik, held, learn = FALSE))[[6]]
  }
  for (lik in list(lik_negbin(bias = fixed(1), size = fixed(2)), lik_poisson(bias = fixed(1)),
                   lik_gamma(bias = fixed(1), shape = fixed(2)))) {
    expect_equal(hat(lik, 2), hat(lik, 20), tolerance = 1e-6, label = lik$type)
  }
})

test_that("rows left out are NA, and what has several latent values in a row is refused", {
  slow_tier()
  fit <- sparsegp(Ozone ~ Wind, airquality, na.action = na.exclude, learn = FALSE)
  for (measure in list(hatvalues, rstandard, rstudent, cooks.distance)) {
    expect_identical(is.na(measure(fit)), setNames(is.na(airquality$Ozone), rownames(airquality)))
  }
  flowers <- sparsegp(Species ~ Petal.Width, iris[seq(1, 150, 10), ], learn = FALSE)
  fields <- sparsegp(cbind(mpg, hp) ~ wt, mtcars, learn = FALSE)
  stream <- sparsegp(mpg ~ wt, mtcars, method = method_online(8, pilot = 10), learn = FALSE)
  for (measure in list(hatvalues, rstandard, rstudent, cooks.distance, influence)) {
    refused(measure(flowers), "classes")
    refused(measure(fields), "several components")
    refused(measure(stream), "stream")
    expect_identical(measure(fit, nosuch = 1), measure(fit))
  }
})

# ---- Quantiles of new responses ----

test_that("quantiles are the ends of prediction intervals, for every response that has them", {
  slow_tier()
  d <- data.frame(x = seq(0, 3, length.out = 24))
  d$n <- sin(d$x) + 0.1 * cos(40 * d$x)
  d$c <- round(exp(d$n + 1))
  d$o <- cut(d$n, 4, ordered_result = TRUE)
  new <- data.frame(x = c(0.5, NA, 5))
  fits <- list(
    sparsegp(n ~ x, d, learn = FALSE), sparsegp(n ~ x, d, "student", learn = FALSE),
    sparsegp(n ~ x, d, "laplace", learn = FALSE), sparsegp(c ~ x, d, "poisson", learn = FALSE),
    sparsegp(c ~ x, d, "negbin", learn = FALSE), sparsegp(o ~ x, d, learn = FALSE),
    sparsegp(n ~ x, d, lik_heteroscedastic(), learn = FALSE),
    sparsegp(cbind(c, 9 - pmin(c, 9)) ~ x, d, "binomial", learn = FALSE)
  )
  for (fit in fits) {
    label <- format(fit$likelihood)
    ask <- function(...) suppressWarnings(predict(fit, new, ...)) # of weights of new shares
    found <- ask(type = "quantile", at = c(0.1, 0.9))
    band <- ask(interval = "prediction", level = 0.8)
    expect_identical(dimnames(found), list(c("1", "2", "3"), c("10%", "90%")), label = label)
    expect_equal(unname(found), unname(band[, c("lwr", "upr")]), tolerance = 1e-12, label = label)
  }
  expect_identical(colnames(predict(fits[[1L]], new, type = "quantile", at = c(0.001, 1 / 3))),
                   c("0.1%", "33.33333%"))
  expect_identical(dim(predict(fits[[1L]], new[0L, , drop = FALSE], type = "quantile")), c(0L, 3L))
  expect_identical(dim(predict(fits[[4L]], type = "quantile", at = 0.5)), c(24L, 1L))
})

test_that("quantiles of components are in an array, and labels have none", {
  fit <- sparsegp(cbind(mpg, hp) ~ wt, mtcars, learn = FALSE)
  found <- predict(fit, mtcars[1:2, ], type = "quantile", at = c(0.05, 0.95))
  band <- predict(fit, mtcars[1:2, ], interval = "prediction", level = 0.9)
  expect_identical(dimnames(found), list(rownames(mtcars)[1:2], c("5%", "95%"), c("mpg", "hp")))
  expect_equal(unname(found), unname(band[, c("lwr", "upr"), ]), tolerance = 1e-12)
  labels <- sparsegp(am ~ wt, mtcars, "probit", learn = FALSE)
  refused(predict(labels, type = "quantile"), "not defined for a two-class response")
  numbers <- sparsegp(mpg ~ wt, mtcars, learn = FALSE)
  for (probs in list(0, 1, NA, "a", numeric(), c(0.5, 2))) {
    refused(predict(numbers, type = "quantile", at = probs), "at")
  }
  refused(predict(numbers, type = "quantile", se.fit = TRUE), "se.fit")
  refused(predict(numbers, type = "quantile", interval = "confidence"), "interval")
  refused(predict(numbers, type = "quantile", covariance = TRUE), "covariance")
})

test_that("a summary has coefficients with errors, and R2", {
  slow_tier()
  fit <- sparsegp(dist ~ speed, cars)
  found <- coef(summary(fit))
  expect_identical(dimnames(found), list(names(coef(fit)), c("Estimate", "Std. Error")))
  expect_equal(found[, "Std. Error"], sqrt(diag(vcov(fit))))
  expect_identical(summary(fit)$r.squared, summary(fit)$loo_r2)
  held <- coef(summary(sparsegp(dist ~ speed, cars, learn = FALSE)))
  expect_true(all(is.na(held[, "Std. Error"])) && !anyNA(held[, "Estimate"]))
})

test_that("excess zeros and proportions give the information of their densities", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = seq(0, 1, length.out = 60))
  d$y <- rpois(60, exp(1 + d$x)) * rep(c(1, 1, 0), 20)
  f <- seq(-1, 3, length.out = 60)
  part <- function(f) exp(f) # Poisson, in log rates
  none <- exp(-exp(f))
  zip <- sparsegp(y ~ x, d, lik_zip(bias = fixed(0), zero = fixed(0.3)), learn = FALSE)
  # zeros: p' squared over p; other counts: (1 - zero) times what is left of the Poisson's
  slope <- -0.7 * none * exp(f)
  right <- slope^2 / (0.3 + 0.7 * none) + 0.7 * (part(f) - none * exp(2 * f))
  expect_equal(fisher_information(zip, f), right, tolerance = 0.02)
  hurdle <- sparsegp(y ~ x, d, lik_zip(bias = fixed(0), zero = fixed(0.3), hurdle = TRUE),
                     learn = FALSE)
  mean <- exp(f) / (1 - none) # of counts above 0, whose variance is the information
  right <- 0.7 * (mean + mean * exp(f) - mean^2)
  expect_equal(fisher_information(hurdle, f), right, tolerance = 0.02)
  d$p <- 0.2 + 0.5 * d$x
  beta <- sparsegp(p ~ x, d, lik_beta(precision = fixed(3), bias = fixed(0)), learn = FALSE)
  mu <- plogis(f)
  right <- (3 * mu * (1 - mu))^2 * (trigamma(3 * mu) + trigamma(3 * (1 - mu)))
  expect_equal(fisher_information(beta, f), right, tolerance = 0.05)
})
