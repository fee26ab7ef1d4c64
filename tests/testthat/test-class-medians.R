# Medians of class probabilities: their speed comes of probabilities at known latent values, which
# need no integrals, and those of an ensemble are of the mixture.

r_code_alone()

rows_of_classes <- function(n) {
  d <- data.frame(a = cos(7 * seq_len(n)^2), b = cos(3 + 11 * seq_len(n)^2))
  score <- cbind(d$a, d$b, -d$a, -d$b) + 0.4 * sin(5 * outer(seq_len(n)^2, 1:4))
  cbind(d, class = factor(letters[max.col(score)]))
}

test_that("probabilities at known latent values are those of the integrals without variance", {
  d <- rows_of_classes(24L)
  f <- cbind(c(0, 3, -2, 30), c(1, 0, 0, -30), c(0.5, -3, 2, 0), c(0, 0, 5, 1))
  for (likelihood in list(lik_softmax(coupled = FALSE), lik_mprobit(coupled = FALSE))) {
    fit <- sparsegp(class ~ a + b, d, likelihood, learn = FALSE)
    known <- known_probabilities(fit, f, rep(0, 4L))
    integrated <- class_probabilities(fit, list(mean = f, var = 0 * f, offset = rep(0, 4L)))
    # of the integrals, whose variances have a floor
    expect_equal(known, integrated, tolerance = 1e-5, ignore_attr = TRUE, label = likelihood$type)
    expect_equal(rowSums(known), rep(1, 4L), tolerance = 1e-12)
  }
  softmax <- sparsegp(class ~ a + b, d, lik_softmax(coupled = FALSE), learn = FALSE)
  seen <- f + rep(latent_bias(softmax), each = 4L)
  expect_equal(known_probabilities(softmax, f, rep(0, 4L)), exp(seen) / rowSums(exp(seen)),
               tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("weighted quantiles are those of values repeated by their weights", {
  values <- cbind(c(5, 1, 4, 2), c(1, 2, 3, 9), c(-1, 0, 0, 1), c(7, 8, 6, 5))
  weights <- cbind(c(1, 3, 2, 1), c(2, 1, 1, 0)) / 8
  for (p in c(0.25, 0.3, 0.5, 0.95)) {
    plain <- function(column, weight) {
      quantile(rep(values[, column], 8 * weight), p, names = FALSE, type = 2)
    }
    expect_equal(weighted_quantiles(values, weights, p),
                 c(plain(1, weights[, 1]), plain(2, weights[, 2]), plain(3, weights[, 1]),
                   plain(4, weights[, 2])), tolerance = 1e-14)
  }
  expect_identical(weighted_quantiles(values[, 1:3], weights, c(1 - 1e-12, 0.5))[1:4],
                   c(5, 6, 1, weighted_quantiles(values[, 1:3], weights, 0.5)[1L]))
})

test_that("the median of a mixture has half of it below, and comes at once", {
  slow_tier()
  d <- rows_of_classes(40L)
  integrated <- sparsegp(class ~ a + b, d, lik_softmax(coupled = FALSE), kernel = "rbf",
                         control = gp_control(integrate = "ccd"))
  expect_gt(count_members(integrated), 2L)
  cpu <- sum(system.time(predict(integrated, d[1:2, ], type = "median"))[1:2])
  expect_lt(cpu, 2) # 0.15 s, and more when first called; by integrals it took 5
  coupled <- lapply(c(0.5, 3), function(lengthscale) {
    sparsegp(class ~ a + b, d, lik_softmax(coupled = TRUE), kernel_rbf(2, lengthscale),
             learn = FALSE, method = "ep")
  })
  averaged <- do.call(average, coupled)
  for (fit in list(integrated, averaged)) {
    median <- predict(fit, d[1:3, ], type = "median")
    set.seed(1)
    drawn <- draws(fit, d[1:3, ], 4000, "response")
    # the lattice is off by up to .01, and four standard errors of 4000 draws are .032
    for (class in 1:4) {
      expect_lt(max(abs(rowMeans(drawn[, , class] < median[, class]) - 0.5)), 0.042)
    }
  }
})
