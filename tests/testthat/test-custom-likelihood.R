# Likelihoods that are R functions: equal to their twins in C where they say the same.

own_student <- function(...) {
  lik_custom(function(y, f, theta) {
    dt((y - f) / theta[["scale"]], 4, log = TRUE) - log(theta[["scale"]])
  }, theta = c(scale = 0.2), label = "own", ...)
}

own_probit <- function(...) {
  lik_custom(function(y, f, theta) pnorm(y * (f + theta[["bias"]]), log.p = TRUE),
             theta = c(bias = 0), response = "label", ...)
}

own_poisson <- function(...) {
  lik_custom(function(y, f, theta) dpois(y, exp(f + theta[["bias"]]), log = TRUE),
             theta = c(bias = 0), response = "count", ...)
}

own_data <- function(n = 40) {
  set.seed(4)
  d <- data.frame(x = sort(runif(n, 0, 3)))
  d$y <- sin(2 * d$x) + 0.2 * rt(n, 4)
  d$label <- factor(d$y + 0.3 * rnorm(n) > 0)
  d$count <- rpois(n, exp(1 + sin(2 * d$x)))
  d
}

custom_error <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

# C's quadrature is good to 1e-10, ours to the square of 3e-7.
test_that("tilts are those of C, far from the responses and near, for wide marginals and narrow", {
  grid <- expand.grid(y = c(-3, 0.1, 40), mean = c(-30, -1, 0, 5), var = c(1e-6, 0.04, 1, 100))
  twin <- .Call(sg_lik_tilt, lik_for_c(list(type = "student"), 1L), log(c(0.2, 4 - 2)),
                rbind(grid$y), grid$mean, grid$var, FALSE)
  own <- own_student()
  found <- .Call(sg_lik_tilt, lik_for_c(own, 1L), log(0.2), rbind(grid$y, 1), grid$mean, grid$var,
                 FALSE)
  sd <- sqrt(grid$var)
  expect_lt(max(abs(found$logz - twin$logz)), 1e-8)
  expect_lt(max(abs(found$d1 - twin$d1) * sd), 1e-7)
  expect_lt(max(abs(found$d2 - twin$d2) * grid$var), 1e-6)
  expect_lt(max(abs(c(found$dpar) - twin$dpar[1L, ])), 1e-6) # central differences in theta
})

# At fixed hyperparameters evidences agree to 1e-7; learned ones to where the search ends.
test_that("learned fits of labels, counts and numbers are those of the twins in C", {
  slow_tier()
  d <- own_data()
  kernel <- kernel_rbf()
  pairs <- list(
    list(sparsegp(label ~ x, d, own_probit(), kernel = kernel,
                  control = gp_control(integrate = "none")),
         sparsegp(label ~ x, d, "probit", kernel = kernel,
                  control = gp_control(integrate = "none",
                                       prior = list(bias = prior_normal(0, 1))))),
    list(sparsegp(count ~ x, d, own_poisson(), kernel = kernel,
                  control = gp_control(integrate = "none")),
         sparsegp(count ~ x, d, "poisson", kernel = kernel,
                  control = gp_control(integrate = "none",
                                       prior = list(bias = prior_normal(0, 1)))))
  )
  for (pair in pairs) {
    expect_equal(as.numeric(logLik(pair[[1L]])), as.numeric(logLik(pair[[2L]])), tolerance = 1e-6)
    expect_equal(unname(coef(pair[[1L]])), unname(coef(pair[[2L]])), tolerance = 1e-4)
    expect_equal(predict(pair[[1L]], d[1:5, ]), predict(pair[[2L]], d[1:5, ]), tolerance = 1e-5)
    expect_equal(residuals(pair[[1L]], "pearson"), residuals(pair[[2L]], "pearson"),
                 tolerance = 1e-5)
  }
  counts <- pairs[[2L]]
  expect_equal(predict(counts[[1L]], d, interval = "prediction"),
               predict(counts[[2L]], d, interval = "prediction"), tolerance = 1e-5)
})

# The same hyperparameters: 1e-6 of the response's spread, of root finding to 1e-7.
test_that("every method takes them, and quantiles are those of C", {
  slow_tier()
  d <- own_data(60)
  d$y <- d$y / sd(d$y) # units are C's, but for the constant
  for (method in list(method_ep(), method_ep(size = 12), method_online(12), method_ivm(12))) {
    own <- sparsegp(y ~ x, d, own_student(), kernel = kernel_rbf(1, 1), method = method,
                    learn = FALSE)
    expect_true(is.finite(logLik(own)) || inherits(method, "method_online"))
    answer <- predict(own, d[1:4, ], interval = "prediction", level = 0.9)
    expect_true(all(answer[, "lwr"] < answer[, "fit"] & answer[, "fit"] < answer[, "upr"]))
    # what C's Student has at the same latent moments
    latent <- predict(own, d[1:4, ], type = "latent", se.fit = TRUE)
    wanted <- .Call(sg_lik_quantile, lik_for_c(list(type = "student"), 1L), log(c(0.2, 2)),
                    rbind(rep(0, 4)), latent$fit, latent$se.fit^2, 0.95)
    expect_equal(unname(answer[, "upr"]), c(wanted), tolerance = 1e-5)
  }
})

test_that("fits are updated, saved, read by chunks, drawn from and left one out", {
  slow_tier()
  d <- own_data(60)
  fit <- sparsegp(y ~ x, d[1:40, ], own_student(), kernel = kernel_rbf(1, 1), basis = d[1:8 * 5, ],
                  learn = FALSE)
  more <- update(fit, d[41:60, ])
  file <- tempfile()
  saveRDS(more, file)
  expect_identical(predict(readRDS(file), d[1:3, ]), predict(more, d[1:3, ]))
  read <- row_source(function(i) d[20 * (i - 1) + 1:20, ], chunks = 3)
  chunked <- sparsegp(y ~ x, read, own_student(), kernel = kernel_rbf(1, 1), basis = d[1:8 * 5, ],
                      learn = FALSE)
  whole <- sparsegp(y ~ x, d, own_student(), kernel = kernel_rbf(1, 1), basis = d[1:8 * 5, ],
                    learn = FALSE)
  # EP is at rest to 1e-6 of a standard deviation in both
  expect_equal(predict(chunked, d[1:5, ]), predict(whole, d[1:5, ]), tolerance = 1e-5)
  expect_true(all(is.finite(loo(whole)$lpd)))
  set.seed(1)
  drawn <- unlist(simulate(whole, 20))
  expect_equal(mean(drawn), mean(predict(whole, d)), tolerance = 0.2) # 1200 draws
})

test_that("positive numbers and shares have moments and intervals in their range", {
  slow_tier()
  d <- own_data(30)
  d$time <- exp(d$y)
  d$share <- plogis(d$y)
  gamma <- lik_custom(function(y, f, theta) {
    dgamma(y, theta[["shape"]], theta[["shape"]] / exp(f), log = TRUE)
  }, theta = list(shape = fixed(5)), response = "positive")
  fit <- sparsegp(time ~ x, d, gamma, kernel = kernel_rbf(1, 1), learn = FALSE)
  answer <- predict(fit, d[1:3, ], interval = "prediction")
  expect_true(all(answer > 0))
  f <- matrix(c(-1, 0, 1))
  # mean exp(f) and variance exp(2 f) / shape of a gamma variable, of which a rule of 240 points for
  # any density is good to 1e-6, 1e-5 in squares
  moments <- moments_given(list(custom = gamma$custom, value = c(shape = 5)), list(f))
  expect_equal(c(moments$mean), c(exp(f)), tolerance = 1e-6)
  expect_equal(c(moments$var), c(exp(2 * f) / 5), tolerance = 3e-5)
  beta <- lik_custom(function(y, f, theta) {
    dbeta(y, 8 * plogis(f), 8 * plogis(-f), log = TRUE)
  }, response = "share")
  fit <- sparsegp(share ~ x, d, beta, kernel = kernel_rbf(1, 1), learn = FALSE)
  answer <- predict(fit, d[1:3, ], interval = "prediction")
  expect_true(all(answer > 0 & answer < 1))
})

test_that("gradients by hand are used, and wrong ones are found", {
  slow_tier()
  d <- own_data(20)
  slope <- function(by) function(y, f, theta) {
    s <- theta[["scale"]]
    z <- (y - f) / s
    list(by * (-1 / s + 5 * z^2 / (s * (4 + z^2))))
  }
  by_hand <- sparsegp(y ~ x, d, own_student(gradient = slope(1)), kernel = "rbf",
                      control = gp_control(integrate = "none"))
  plain <- sparsegp(y ~ x, d, own_student(), kernel = "rbf",
                    control = gp_control(integrate = "none"))
  expect_equal(logLik(by_hand), logLik(plain), tolerance = 1e-6)
  custom_error(sparsegp(y ~ x, d, own_student(gradient = slope(2))), "finite differences in scale")
})

test_that("what is wrong with the functions is said in words", {
  memory_tier()
  d <- own_data(20)
  fit <- function(fun, ...) sparsegp(y ~ x, d, lik_custom(fun, ...), learn = FALSE)
  custom_error(lik_custom("dnorm"), "log_density.*not a function")
  custom_error(lik_custom(function(y, f, theta) 0, label = "two words"), "one word")
  custom_error(lik_custom(function(y, f) 0), "too few arguments")
  custom_error(lik_custom(dnorm, theta = c(1, 2)), "`theta` must be numbers with names")
  custom_error(lik_custom(function(y, f, theta) 0, theta = c(a = 1), range = list(b = c(0, 1))),
               "names of `theta`")
  custom_error(lik_custom(function(y, f, theta) 0, mean = function(f, theta) f), "belong together")
  custom_error(fit(function(y, f, theta) stop("no such thing")), "stops: no such thing")
  custom_error(fit(function(y, f, theta) 1), "returns 1 values of class numeric")
  custom_error(fit(function(y, f, theta) NaN * f), "returns NaN")
  expect_warning(fit(function(y, f, theta) dnorm(y, f, log = TRUE) + 1), "integrates to 2.718")
  custom_error(fit(function(y, f, theta) ifelse(y == d$y[7], -Inf, dnorm(y, f, log = TRUE))),
               "a density of 0 for 1 observation.*complete row 7")
  spread <- function(y, f, theta) ifelse(f$f2 < 9, -Inf, dnorm(y, f$f1, log = TRUE))
  custom_error(fit(spread, width = 2), "a density of 0 for 20 observations")
  # a failed update leaves the fit as it was
  good <- sparsegp(y ~ x, d, own_student(), kernel = kernel_rbf(1, 1), basis = d[1:8, ],
                   learn = FALSE)
  custom_error(update(good, data.frame(x = 1, y = Inf)), "finite")
  expect_true(is.finite(predict(good, d[1, ])))
})

test_that("a density that is 0 except far from 0 is looked for", {
  d <- own_data(10)
  near <- function(y, f, theta) ifelse(abs(f - 20) < 1, dnorm(y, f - 20, log = TRUE), -Inf)
  model <- list(lik = lik_custom(near), rows = rbind(d$y, 1),
                table = list(theta = numeric(), part = character()))
  expect_no_error(refuse_impossible_rows(model))
  model$lik <- lik_custom(function(y, f, theta) 0 * f - Inf, check = FALSE)
  expect_no_error(refuse_impossible_rows(model))
  # where there is none, EP is told so
  none <- .Call(sg_lik_tilt, lik_for_c(model$lik, 1L), numeric(), rbind(d$y, 1), numeric(10),
                rep(1, 10), FALSE)
  expect_identical(c(none$logz), rep(-Inf, 10))
  expect_true(all(is.nan(c(none$d1, none$d2))))
})

test_that("a density without a finite integral has latent answers and no responses", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = seq(0, 1, length.out = 24))
  d$y <- pmax(sin(7 * d$x) + 0.2 * rnorm(24), -0.5)
  detected <- lik_custom(function(y, f, theta) {
    ifelse(y <= -0.5, pnorm(-0.5, f, theta[["sd"]], log.p = TRUE),
           dnorm(y, f, theta[["sd"]], log = TRUE))
  }, theta = c(sd = 0.3), check = FALSE)
  fit <- sparsegp(y ~ x, d, likelihood = detected)
  # such intervals were 42 times as wide, by moments of responses that there are not
  expect_lt(max(0, fit$ensemble$made$widening), 0.3)
  expect_all_finite <- function(x) expect_true(all(is.finite(x)))
  expect_all_finite(predict(fit, d, type = "latent", interval = "confidence"))
  expect_all_finite(draws(fit, d[1:3, ], 2, "latent"))
  expect_all_finite(loo(fit)$lpd)
  expect_true(all(is.na(loo(fit)$mean)))
  expect_output(print(summary(fit)), "log predictive density")
  expect_output(print(loo(fit)), "log predictive density")
  for (ask in list(predict, fitted, residuals, calibration, simulate, plot)) {
    expect_error(ask(fit), "does not integrate", class = "sparsegp_error")
  }
  expect_warning(update(fit, likelihood = lik_custom(detected$custom$fun, c(sd = 0.3))),
                 "integrates to Inf")
})
