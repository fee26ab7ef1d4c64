# Which modes of ambiguous fields are found, and their weights, against enumeration of all choices.

r_code_alone()

# Six locations with four measurements each: the wind, its opposite, and two perpendicular to it.
# shuffled: are parts in another order at every location? Returns the data and the wind.
four_ways <- function(seed, weights = c(0.36, 0.32, 0.17, 0.15), shuffled = FALSE) {
  set.seed(seed)
  d <- expand.grid(x = c(0, 1), y = c(0, 1, 2))
  root <- t(chol(wind_prior(d) + diag(1e-9, 12L)))
  wind <- matrix(1.5 * root %*% rnorm(12L) + 0.2 * rnorm(12L), ncol = 2L, byrow = TRUE,
                 dimnames = list(NULL, c("u", "v")))
  turned <- cbind(u = -wind[, 2L], v = wind[, 1L])
  parts <- list(wind, -wind, turned, -turned)[seq_along(weights)]
  J <- length(weights)
  order <- t(vapply(1:6, function(i) if (shuffled) sample(J) else seq_len(J), integer(J)))
  means <- lapply(seq_len(J), function(j) {
    at <- vapply(1:6, function(i) parts[[order[i, j]]][i, ], c(u = 0, v = 0))
    t(at)
  })
  d$z <- mixture(matrix(weights[order], 6L), means, 0.04)
  list(d = d, wind = c(t(wind)))
}

# The proportion of the posterior's mass that lies on the side of the wind, by enumeration and by
# the modes; are there modes on both sides; and is the fit on the heavier?
sides <- function(field) {
  fit <- wind_fit(field$d, starts = 4)
  exact <- each_choice(field$d$z, wind_prior(field$d))
  mass <- exp(exact$logz - log_sum(exact$logz))
  share <- sum(mass[colSums(exact$mean * field$wind) > 0])
  with <- vapply(seq_len(nrow(modes(fit))), function(mode) {
    sum(c(t(predict(fit, mode = mode))) * field$wind) > 0
  }, NA)
  c(both = any(with) && any(!with), heavier = with[1L] == (share > 0.5),
    error = abs(sum(modes(fit)$weight[with]) - share))
}

test_that("both of two opposite fields are found, and the fit is at the heavier", {
  slow_tier()
  for (shuffled in c(FALSE, TRUE)) {
    found <- vapply(1:12, function(seed) sides(four_ways(seed, shuffled = shuffled)),
                    c(both = 0, heavier = 0, error = 0))
    expect_identical(unname(rowSums(found)[1:2]), c(12, 12))
    # parts of light winds overlap, where EP is not exact: of one of these fields
    expect_lte(sum(found["error", ] > 0.05), 1L)
    expect_lt(max(found["error", ]), 0.2)
    expect_lt(stats::median(found["error", ]), 0.01)
  }
})

test_that("fields of equal weight have two modes of equal weight", {
  memory_tier()
  for (seed in of_tier(c(1, 3:5, 7), 2L)) {
    field <- four_ways(seed, c(0.5, 0.5), shuffled = seed > 3)
    fit <- wind_fit(field$d)
    # two mirror images are the same numbers but for rounding, to EP's tolerance
    expect_equal(modes(fit)$weight, c(0.5, 0.5), tolerance = 1e-6)
    expect_equal(predict(fit, mode = 1), -predict(fit, mode = 2), tolerance = 1e-4)
    expect_gt(max(abs(fitted(fit))), 0.5)
  }
})

test_that("hyperparameters are learned at a mode, and not between two", {
  slow_tier()
  set.seed(3)
  d <- expand.grid(x = 1:3, y = 1:3) / 2
  w <- cbind(u = 1 + 0.2 * d$y, v = cos(d$x) + 0.3 * d$y) + 0.1 * rnorm(18)
  d$z <- mixture(c(0.5, 0.5), list(w, -w), 0.05)
  fit <- sparsegp(z ~ x + y, d, kernel = kernel_helmholtz())
  expect_equal(modes(fit)$weight, c(0.5, 0.5), tolerance = 1e-6)
  expect_lt(sqrt(mean((abs(fitted(fit)) - abs(w))^2)), 0.2)
  # the field that is certain has the evidence of either mode, and two bits more
  certain <- d
  certain$z <- mixture(1, list(w), 0.05)
  alone <- sparsegp(z ~ x + y, certain, kernel = kernel_helmholtz())
  expect_equal(fit$log_evidence, alone$log_evidence + 9 * log(0.5), tolerance = 1e-3)
})

test_that("a mode between two others is none, and of two that overlap the better one stays", {
  at <- function(mean, var, logz) {
    list(mean = rep(mean, 2L), var = rep(c(var, 0, 0, var), 1L), logz = logz)
  }
  problem <- list(processes = 1L, width = 2L)
  means <- function(found) vapply(without_overlap(found, problem), function(m) m$mean[1L], 0)
  two <- list(at(1, 0.1, -2), at(-1, 0.1, -3))
  expect_identical(means(two), c(1, -1))
  expect_identical(means(c(list(at(0, 4, -1)), two)), c(1, -1))
  expect_identical(means(c(two, list(at(1.1, 0.1, -4)))), c(1, -1))
  expect_identical(means(list(at(0, 4, -1), at(1, 4, -2))), 0)
})
