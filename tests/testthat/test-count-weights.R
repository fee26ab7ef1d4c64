# Weights of counts: how many observations a row stands for.

r_code_alone()

counted_rows <- function() {
  d <- data.frame(x = rep(1:15 / 2, each = 2), w = rep(c(1, 2, 3), 10))
  d$y <- round(exp(1 + sin(d$x)) + c(-1, 1, 0, 2, 0) / 2)
  d
}

WEIGHTED_COUNTS <- list(poisson = lik_poisson(fixed(0.2)),
                        negbin = lik_negbin(fixed(0.2), fixed(3)))

test_that("log p and its slopes are multiplied by the weight, and tails are not", {
  f <- c(-2, 0.3, 4)
  for (lik in WEIGHTED_COUNTS) {
    theta <- c(0.2, log(3))[seq_along(lik$params)]
    at <- function(y, w) .Call(sg_lik_eval, c_lik(lik$type, theta), theta, count_rows(y, w), f)
    tilt <- function(y, w) {
      .Call(sg_lik_tilt, c_lik(lik$type, theta), theta, count_rows(y, w), f, 0 * f + 1e-10,
            FALSE)
    }
    for (y in list(c(0, 0, 0), c(3, 1, 40))) {
      expect_equal(at(y, 2.5)$logp, 2.5 * at(y, 1)$logp, tolerance = 1e-13)
      # at a point the tilt's slope is that of log p, to the variance
      expect_equal(tilt(y, 2.5)$d1, 2.5 * tilt(y, 1)$d1, tolerance = 1e-6)
      old <- rbind(y, lfactorial(y), deparse.level = 0L) # data rows of earlier versions
      expect_identical(.Call(sg_lik_eval, c_lik(lik$type, theta), theta, old, f)$logp,
                       at(y, 1)$logp)
    }
  }
})

# Where the latent function is nearly known the only difference, that EP has one site for all
# copies, vanishes: near the mode both are the Laplace approximation.
test_that("a weight is as many observations", {
  memory_tier()
  d <- counted_rows()
  copies <- d[rep(seq_len(nrow(d)), d$w), ]
  new <- data.frame(x = c(1, 4, 9))
  for (lik in WEIGHTED_COUNTS) {
    fit <- function(...) {
      sparsegp(y ~ x, ..., likelihood = lik, kernel = kernel_rbf(1, 1), scale = FALSE,
               learn = FALSE)
    }
    weighted <- fit(d, weights = w)
    repeated <- fit(copies)
    expect_equal(as.double(nobs(weighted)), nrow(d))
    expect_equal(as.double(logLik(weighted)), as.double(logLik(repeated)), tolerance = 1e-4)
    expect_equal(predict(weighted, new), predict(repeated, new), tolerance = 1e-3)
    expect_equal(sum(hatvalues(weighted)), sum(hatvalues(repeated)), tolerance = 3e-3)
    # on a basis, with learning points, and taken later
    basis <- fit(d, weights = w, basis = data.frame(x = c(1, 3, 5, 7)))
    later <- update(fit(d[1:12, ], weights = w, basis = data.frame(x = c(1, 3, 5, 7))), d[13:30, ])
    expect_equal(predict(later, new), predict(basis, new), tolerance = 1e-2)
    expect_gt(max(abs(predict(fit(d), new) / predict(weighted, new) - 1)), 0.01)
  }
})

test_that("learned fits with weights are those of glm()", {
  slow_tier()
  d <- transform(counted_rows(), w = replace(w, 4:5, 0))
  wide <- kernel_linear(variance = fixed(100))
  fit <- sparsegp(y ~ x, d, "poisson", weights = w, kernel = wide, mean = "constant")
  known <- glm(y ~ x, poisson, d, weights = w)
  expect_equal(as.double(nobs(fit)), 28)
  expect_output(print(fit), "2 rows left out")
  # the posterior mean of exp() beside the maximum: a part of the standard error's square
  expect_equal(predict(fit, d[1:6, ]), predict(known, d[1:6, ], type = "response"),
               ignore_attr = TRUE, tolerance = 0.02)
  half <- sparsegp(y ~ x, transform(d, w = w / 2), "poisson", weights = w, kernel = wide,
                   mean = "constant")
  se <- function(fit) predict(fit, d[1:3, ], type = "link", se.fit = TRUE)$se.fit
  expect_equal(unname(se(half) / se(fit)), rep(sqrt(2), 3), tolerance = 0.02)
})

test_that("new counts have no weight", {
  memory_tier()
  d <- counted_rows()
  fit <- sparsegp(y ~ x, d, "poisson", weights = w, learn = FALSE)
  expect_silent(interval <- predict(fit, d, interval = "prediction"))
  expect_identical(predict(fit, interval = "prediction")[, "upr"], interval[, "upr"])
  set.seed(1)
  with_seed <- rowMeans(simulate(fit, 400))
  expect_equal(mean(with_seed / fitted(fit)), 1, tolerance = 0.05) # of 12000 counts
  refused(predict(fit, d, interval = "prediction", weights = 2), "weights")
  refused(sparsegp(y ~ x, d, "poisson", weights = w,
                   control = gp_control(augment = jitter_rows(0.1))), "augment")
})
