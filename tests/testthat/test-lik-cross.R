# How the classes of a row depend on each other: all second derivatives of log Z, and the weights
# that EP's coupled step makes of them (src/coupled.h).

cross_of <- function(type, y, mu, s2, bias = numeric(ncol(mu))) {
  .Call(sg_lik_cross, c_lik(type, bias), bias, rbind(as.double(y)), mu, s2)
}

# Rows at marginals as EP meets them: y is a class that may well win.
some_rows <- function(n, C, spread, seed) {
  set.seed(seed)
  mu <- matrix(rnorm(n * C, sd = spread), n)
  list(mu = mu, s2 = matrix(spread^2 * rexp(n * C), n),
       y = apply(mu + rnorm(n * C), 1L, which.max))
}

for_rows <- function(check) {
  for (type in c("mprobit", "softmax")) {
    for (C in of_tier(c(2L, 3L, 6L), 1L)) {
      for (spread in c(0.3, 2, 20)) check(type, C, some_rows(4L, C, spread, seed = C))
    }
  }
}

# W = -(I + H S)^{-1} H, by the eigenvalues of the symmetric S^1/2 H S^1/2
dense_weights <- function(H, s2) {
  own <- eigen(sqrt(s2) * t(sqrt(s2) * -H), symmetric = TRUE)
  share <- own$values / (1 - own$values)
  own$vectors %*% (share * t(own$vectors)) / outer(sqrt(s2), sqrt(s2))
}

test_that("cross is the derivative of d1 in every class's mean", {
  slow_tier()
  for_rows(function(type, C, at) {
    found <- cross_of(type, at$y, at$mu, at$s2)
    for (i in seq_along(at$y)) {
      d1 <- function(mu) {
        .Call(sg_lik_tilt, c_lik(type, numeric(C)), numeric(C), rbind(as.double(at$y[i])),
              rbind(mu), at$s2[i, , drop = FALSE], FALSE)$d1
      }
      # steps of a tenth to an eightieth of a noisy marginal's width; d1 has nine digits or more
      H <- vapply(seq_len(C), function(c) {
        along <- function(m, k) d1(replace(at$mu[i, ], c, m))[k]
        h <- 0.1 * sqrt(1 + at$s2[i, c])
        vapply(seq_len(C), function(k) numeric_gradient(function(m) along(m, k), at$mu[i, c], h),
               0)
      }, numeric(C))
      scale <- outer(sqrt(1 + at$s2[i, ]), sqrt(1 + at$s2[i, ]))
      expect_lt(max(abs(matrix(found$cross[, i], C) - H) * scale), 1e-7,
                label = paste(type, "of", C))
    }
  })
})

test_that("cross is the derivative of the reference's d1", {
  slow_tier()
  for (type in c("mprobit", "softmax")) {
    at <- some_rows(2L, 3L, 1.5, seed = 9)
    bias <- c(0.4, -0.2, 0.1)
    found <- cross_of(type, at$y, at$mu, at$s2, bias)
    for (i in 1:2) {
      d1 <- function(mu) reference_tilt(type, at$y[i], mu, at$s2[i, ], list(bias = bias))$d1
      H <- vapply(1:3, function(k) {
        numeric_gradient(function(mu) d1(mu)[k], at$mu[i, ], h = 0.1)
      }, numeric(3L))
      # differences of a quadrature with nine digits
      expect_equal(matrix(found$cross[, i], 3L), H, tolerance = 1e-6, label = type)
    }
  }
})

test_that("cross is a diagonal below zero and a covariance, and does not see a common shift", {
  slow_tier()
  for_rows(function(type, C, at) {
    found <- cross_of(type, at$y, at$mu, at$s2)
    d2 <- .Call(sg_lik_tilt, c_lik(type, numeric(C)), numeric(C), rbind(as.double(at$y)), at$mu,
                at$s2, FALSE)$d2
    for (i in seq_along(at$y)) {
      H <- matrix(found$cross[, i], C)
      expect_identical(diag(H), d2[i, ])
      expect_identical(H, t(H))
      expect_lt(max(abs(rowSums(H))), 1e-9 * max(abs(H)))
      expect_true(all(found$own[, i] <= 0))
      common <- eigen(H - diag(found$own[, i], C), symmetric = TRUE)$values
      expect_gt(min(common), -1e-9 * max(abs(H)))
      # where what they have in common is known, variances stay above 0
      expect_true(all(1 + found$own[, i] * at$s2[i, ] > 0))
    }
  })
})

test_that("processes that do not know of each other have their blocks down the diagonal", {
  y <- rbind(c(1, 3, 2))
  mu <- matrix(rnorm(9L), 3L)
  s2 <- matrix(rexp(9L), 3L)
  spec <- lik_for_c(list(type = "probit"), 3L)
  theta <- c(0.1, 0, -0.2)
  d2 <- .Call(sg_lik_tilt, spec, theta, y, mu, s2, FALSE)$d2
  cross <- .Call(sg_lik_cross, spec, theta, y, mu, s2)$cross
  for (i in 1:3) expect_identical(matrix(cross[, i], 3L), diag(d2[i, ]))
  wide <- c_lik("mvnormal", c(0, 0.5, 0), 2L)
  S <- cbind(c(1, 0.3, 0.3, 2))
  cross <- .Call(sg_lik_cross, wide, c(0, 0.5, 0), cbind(c(1, 2)), cbind(c(0, 0)), S)$cross
  tilt <- .Call(sg_lik_tilt, wide, c(0, 0.5, 0), cbind(c(1, 2)), cbind(c(0, 0)), S, FALSE)
  expect_identical(cross, tilt$d2)
})

test_that("weights of a row are the dense ones: to rounding for three classes, nearly for more", {
  for_rows(function(type, C, at) {
    found <- cross_of(type, at$y, at$mu, at$s2)
    for (i in seq_along(at$y)) {
      wanted <- dense_weights(matrix(found$cross[, i], C), at$s2[i, ])
      W <- matrix(found$W[, i], C)
      # 1e-8: where a class has all but lost, I + H S is singular to eight digits
      tolerance <- if (C <= 3L) 1e-8 else 2e-2
      expect_lt(norm(W - wanted) / norm(wanted), tolerance, label = paste(type, "of", C))
    }
  })
})

test_that("weights resist no common shift and are semidefinite, of many classes, too", {
  memory_tier()
  for (type in c("mprobit", "softmax")) {
    for (C in c(3L, 16L, 17L, 40L)) {
      at <- some_rows(2L, C, 3, seed = 5)
      W <- cross_of(type, at$y, at$mu, at$s2)$W
      for (i in 1:2) {
        own <- matrix(W[, i], C)
        expect_lt(max(abs(rowSums(own))), 1e-8 * norm(own), label = paste(type, "of", C))
        expect_gt(min(eigen(own, symmetric = TRUE)$values), -1e-8 * norm(own))
      }
    }
  }
})

test_that("a row that tells no classes apart has no weight", {
  lost <- cross_of("softmax", 1, rbind(c(1e8, 0, 0)), rbind(c(0, 0, 0)))
  expect_identical(c(lost$W), numeric(9L))
})
