# Ensembles of ensembles, and of fits on different scales of the response.

r_code_alone()

refused <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

delayedAssign("INTEGRATED", sparsegp(mpg ~ wt, mtcars, control = gp_control(integrate = "ccd")))
delayedAssign("AT_MODE", update(INTEGRATED, control = gp_control(integrate = "none")))
# the exponent of the scale is learned, so that each member has its own
delayedAssign("BOXCOX", sparsegp(dist ~ speed, cars,
                                 likelihood = lik_gaussian(transform = "boxcox"),
                                 control = gp_control(integrate = "ccd")))
SPEEDS <- data.frame(speed = c(4, 10, 25))

# ---- Ensembles as members ----

test_that("an average keeps the integration of its members, whichever comes first", {
  slow_tier()
  wide <- new_ensemble(list(INTEGRATED, AT_MODE), c(0.999, 0.001), fixed = TRUE)
  expect_true(has_members(as_member(wide, 1L)))
  expect_false(has_members(as_member(wide, 2L)))
  same <- function(what) {
    for (k in 1:2) {
      expect_equal(what(as_member(wide, k)), what(list(INTEGRATED, AT_MODE)[[k]]),
                   tolerance = 1e-12)
    }
  }
  same(loo_lpd)
  same(function(fit) predict(fit, mtcars[1:3, ], interval = "prediction", se.fit = TRUE))
  same(function(fit) predict(fit, mtcars[1:3, ], type = "link", covariance = TRUE))
  # draws of the first are of members of its own
  theta <- vapply(seq_len(count_members(INTEGRATED)), function(k) {
    as_member(as_member(wide, 1L), k)$hyper$theta[1L]
  }, 0)
  expect_gt(diff(range(theta)), 0.1)
})

test_that("the heaviest member of an average answers as it does alone", {
  slow_tier()
  both <- average(INTEGRATED, AT_MODE)
  table <- summary(both)
  expect_identical(rownames(table)[1L], "INTEGRATED")
  expect_identical(table$weight, c(1, 0)) # the price of three learned hyperparameters
  ask <- function(fit) predict(fit, mtcars[1:5, ], interval = "prediction", se.fit = TRUE)
  expect_equal(ask(both), ask(INTEGRATED), tolerance = 1e-6) # roots of distribution functions
  expect_equal(sum(loo_lpd(both)), attr(table, "lpd"), tolerance = 1e-10)
  expect_equal(loo_lpd(both), loo_lpd(INTEGRATED), tolerance = 1e-10)
})

test_that("averages of integrated fits are those of the answers, and survive a file", {
  slow_tier()
  other <- sparsegp(mpg ~ hp, mtcars, control = gp_control(integrate = "ccd"))
  both <- average(INTEGRATED, other)
  table <- summary(both)
  expect_gt(min(table$weight), 0.01)
  fits <- list(INTEGRATED = INTEGRATED, other = other)[rownames(table)]
  lpd <- vapply(fits, loo_lpd, numeric(32L))
  expect_equal(unname(loo_lpd(both)), unname(log(drop(exp(lpd) %*% table$weight))),
               tolerance = 1e-10)
  expect_equal(sum(loo_lpd(both)), attr(table, "lpd"), tolerance = 1e-10)
  each <- lapply(fits, predict, mtcars[1:3, ], se.fit = TRUE)
  mean <- table$weight[1L] * each[[1L]]$fit + table$weight[2L] * each[[2L]]$fit
  var <- Reduce(`+`, Map(function(one, w) w * (one$se.fit^2 + (one$fit - mean)^2), each,
                         table$weight))
  found <- predict(both, mtcars[1:3, ], se.fit = TRUE)
  expect_equal(found$fit, mean, tolerance = 1e-10)
  expect_equal(found$se.fit, sqrt(var), tolerance = 1e-10)
  file <- tempfile(fileext = ".rds")
  saveRDS(both, file)
  expect_identical(predict(readRDS(file), mtcars[1:3, ]), predict(both, mtcars[1:3, ]))
  # an average of averages
  nested <- new_ensemble(list(both, AT_MODE), c(1, 3), fixed = TRUE)
  expect_equal(predict(nested, mtcars[1:3, ]),
               found$fit / 4 + 3 / 4 * predict(AT_MODE, mtcars[1:3, ]), tolerance = 1e-10)
})

# ---- Scales of the response that differ ----

test_that("intervals of means of members on different scales are those of the roots", {
  slow_tier()
  skewed <- average(sparsegp(mpg ~ wt, mtcars, "student",
                             control = gp_control(integrate = "none")), INTEGRATED)
  logs <- new_ensemble(list(sparsegp(mpg ~ wt, mtcars, likelihood = lik_gaussian(transform = "log"),
                                     learn = FALSE),
                            sparsegp(mpg ~ hp, mtcars, learn = FALSE)), c(1, 1), fixed = TRUE)
  far <- new_ensemble(lapply(c(0, 30), function(shift) {
    sparsegp(cars["speed"], cars$dist, kernel = kernel_rbf(), mean = "average", learn = FALSE,
             offset = rep(shift, 50L))
  }), c(0.975, 0.025), fixed = TRUE)
  labels <- new_ensemble(lapply(c("probit", "logit"), function(likelihood) {
    sparsegp(am ~ wt, mtcars, likelihood, learn = FALSE)
  }), c(1, 2), fixed = TRUE)
  cases <- list(list(BOXCOX, SPEEDS), list(skewed, mtcars[c(1, 15, 20), ]),
                list(logs, mtcars[1:3, ]), list(far, SPEEDS), list(labels, mtcars[1:3, ]))
  types <- c("response", "median")
  for (k in seq_along(cases)) {
    case <- cases[[k]]
    latent <- new_latent(case[[1L]], case[[2L]])
    for (i in 1:2) {
      z <- c(-1.96, 0, 1.2)[(k + i) %% 3L + 1L] # each in its turn: roots of roots take long
      # both find roots to 1e-7 of a standard deviation or better
      expect_equal(unname(mixture_bound(case[[1L]], latent, types[i], z)),
                   unname(bound_by_roots(case[[1L]], latent, types[i], z)), tolerance = 1e-6)
    }
  }
})

test_that("bounds at the end of a scale are found without roots of roots", {
  slow_tier()
  # square roots of responses near 0, between which the mean hardly grows with the predictor
  d <- data.frame(x = c(0, 0.1, 0.2, 0.3, 0.5, 1, 2, 4, 8, 9),
                  y = c(1, 2, 9, 50, 90, 400, 5, 2, 600, 1))
  fit <- sparsegp(y ~ x, d, kernel = kernel_rbf(), likelihood = lik_gaussian(transform = "sqrt"),
                  learn = FALSE,
                  control = gp_control(integrate = "none"))
  noisy <- update(fit, likelihood = lik_gaussian(fixed(9), transform = "sqrt"))
  both <- new_ensemble(list(fit, noisy), c(2, 1), fixed = TRUE)
  latent <- new_latent(both, data.frame(x = c(0.05, 3, 6, 30)))
  home <- asNamespace("sparsegp")
  suppressMessages(trace("bound_by_roots", quote(stop("roots of roots")), where = home,
                         print = FALSE))
  on.exit(suppressMessages(untrace("bound_by_roots", where = home)))
  leaves <- leaves_of(both, latent)
  near <- 1e-4 * predict(both, data.frame(x = c(0.05, 3, 6, 30)), se.fit = TRUE)$se.fit
  below <- function(q) {
    mixed(lapply(leaves, function(one) {
      own <- normal_predictor(one$object, one$latent)
      z <- increasing_root(function(z) response_at(one$object, one$latent, z * own$sd) - q,
                           rep(-9, 4), rep(9, 4))
      stats::pnorm(z)
    }), shares_of(leaves))
  }
  for (z in c(-2.6, -1.96, 1)) {
    q <- mixture_bound(both, latent, "response", z)
    # the steps end within 1e-4 of a spread of the response, the farthest that a member may be
    expect_true(all(below(q - near) <= stats::pnorm(z) & stats::pnorm(z) <= below(q + near)))
  }
})

test_that("ends of intervals have their part of the draws on either side", {
  slow_tier()
  set.seed(1)
  f <- draws(BOXCOX, SPEEDS, 4000, type = "response")
  ends <- predict(BOXCOX, SPEEDS, interval = "confidence")
  # standard error of the simulated probability: 0.0025; 5 of them
  expect_lt(max(abs(rowMeans(f < ends[, "lwr"]) - 0.025)), 0.0125)
  expect_lt(max(abs(rowMeans(f > ends[, "upr"]) - 0.025)), 0.0125)
})

test_that("intervals of members on different scales do not take long", {
  slow_tier()
  new <- data.frame(speed = seq(4, 25, length.out = 30))
  predict(BOXCOX, new, interval = "confidence")
  seconds <- min(replicate(3L, sum(system.time(
    predict(BOXCOX, new, interval = "confidence")
  )[1:2])))
  expect_lt(seconds, 1) # 0.2; roots of roots took 13
})

test_that("draws of a mixture on different scales are of the response, and others at the mode", {
  slow_tier()
  set.seed(2)
  expect_silent(found <- draws(BOXCOX, SPEEDS, 3))
  set.seed(2)
  expect_identical(found, draws(BOXCOX, SPEEDS, 3, type = "response"))
  mode <- without_members(BOXCOX)
  for (type in c("link", "latent")) {
    expect_message(found <- predict(BOXCOX, SPEEDS, type = type, se.fit = TRUE), "at the mode")
    expect_identical(found, predict(mode, SPEEDS, type = type, se.fit = TRUE))
    set.seed(3)
    expect_message(found <- draws(BOXCOX, SPEEDS, 2, type = type), "at the mode")
    set.seed(3)
    expect_identical(found, draws(mode, SPEEDS, 2, type = type))
  }
  expect_message(found <- predict(BOXCOX, SPEEDS, type = "terms"), "at the mode")
  expect_identical(found, predict(mode, SPEEDS, type = "terms"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("terms", "effects")) {
    expect_message(drawn <- plot(BOXCOX, type, n = 11), "at the mode")
    expect_equal(nrow(drawn[[1L]]), 11L)
  }
})

test_that("averages on different scales draw responses, and refuse latent functions", {
  slow_tier()
  both <- new_ensemble(list(sparsegp(mpg ~ wt + hp + qsec, mtcars,
                                     likelihood = lik_gaussian(transform = "log"),
                                     learn = FALSE),
                            sparsegp(mpg ~ wt + hp + qsec, mtcars, learn = FALSE)), c(1, 1),
                       fixed = TRUE)
  expect_identical(dim(draws(both, mtcars[1:2, ], 5)), c(2L, 5L))
  refused(draws(both, mtcars[1:2, ], type = "latent"), "averaged fits have different scales")
  refused(predict(both, mtcars[1:2, ], type = "link"), "type = \"response\" or \"median\"")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(both, n = 5)) # not the effects, which are of latent functions
})
