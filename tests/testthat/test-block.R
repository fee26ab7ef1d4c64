# Algebra of w x w blocks (src/block.c), seen through an entry for tests, against plain R.

block <- function(S, B, a, m) .Call(sg_block, S, B, as.double(a), as.double(m))

# A covariance in units of its own: of the given rank, or of full rank and a condition of some
# hundred
random_covariance <- function(w, rank = w + 4L, units = rep(1, w)) {
  L <- matrix(rnorm(w * rank), w) * units
  L %*% t(L)
}

random_symmetric <- function(w, size = 1) {
  A <- matrix(rnorm(w * w), w)
  (A + t(A)) * size
}

# What a cavity N(m, S) and a tilt can be: d2 between the two bounds that a site has, in the frame
# that S whitens: its eigenvalues lie in (-1, most).
random_tilt <- function(w, most = 0.8) {
  L <- t(chol(random_covariance(w)))
  U <- qr.Q(qr(matrix(rnorm(w * w), w)))
  d2 <- solve(t(L), U %*% diag(runif(w, -0.99, most), w) %*% t(U)) %*% solve(L)
  list(S = L %*% t(L), d1 = rnorm(w), d2 = (d2 + t(d2)) / 2, mu = rnorm(w))
}

each_width <- function(check) {
  set.seed(31)
  for (w in of_tier(1:8, 3L, memory = 8L)) for (i in of_tier(1:5, 1L)) check(w)
}

# Rounding of a few products and inverses of matrices whose condition is some hundred, and in
# I + d2 S a hundred times that
TINY <- 1e-9

test_that("a root gives back its covariance, singular or not, in any units", {
  memory_tier()
  each_width(function(w) {
    for (rank in 0:w) {
      S <- random_covariance(w, rank)
      L <- block(S, S, numeric(w), numeric(w))$root
      expect_equal(L %*% t(L), S, tolerance = TINY)
      expect_identical(sum(colSums(abs(L)) > 0), rank)
    }
    units <- 10^runif(w, -8, 8)
    S <- random_covariance(w, units = units)
    L <- block(S, S, numeric(w), numeric(w))$root
    expect_equal(L %*% t(L) / outer(units, units), S / outer(units, units), tolerance = TINY)
  })
})

test_that("eigenvalues and eigenvectors are R's, and small ones keep their digits", {
  each_width(function(w) {
    A <- random_symmetric(w)
    found <- block(diag(w), A, numeric(w), numeric(w))
    expect_equal(found$values, rev(eigen(A, symmetric = TRUE)$values), tolerance = TINY)
    expect_equal(crossprod(found$vectors), diag(w), tolerance = TINY)
    expect_equal(found$vectors %*% diag(found$values, w) %*% t(found$vectors), A, tolerance = TINY)
  })
  # the small one is 1 - 1e-16 / 1e16: R's has an error of 1e-16 times the large one
  graded <- matrix(c(1e16, 1, 1, 1), 2L)
  expect_equal(block(diag(2), graded, numeric(2), numeric(2))$values, c(1, 1e16),
               tolerance = 1e-15)
})

test_that("the site of a tilt, taken to the marginal, gives the tilted moments", {
  each_width(function(w) {
    tilt <- random_tilt(w)
    site <- block(tilt$S, tilt$d2, tilt$d1, tilt$mu)$site
    D <- diag(w) + tilt$d2 %*% tilt$S
    expect_equal(site$T, -solve(D, tilt$d2), tolerance = TINY)
    expect_equal(site$nu, drop(solve(D, tilt$d1 - tilt$d2 %*% tilt$mu)), tolerance = TINY)
    cov <- solve(solve(tilt$S) + site$T)
    expect_equal(cov, tilt$S + tilt$S %*% tilt$d2 %*% tilt$S, tolerance = 1e-8) # two more inverses
    mean <- cov %*% (solve(tilt$S, tilt$mu) + site$nu)
    expect_equal(drop(mean), drop(tilt$mu + tilt$S %*% tilt$d1), tolerance = 1e-8)
  })
})

test_that("a cavity undoes its site", {
  each_width(function(w) {
    tilt <- random_tilt(w)
    site <- block(tilt$S, tilt$d2, tilt$d1, tilt$mu)$site
    cov <- tilt$S + tilt$S %*% tilt$d2 %*% tilt$S
    mean <- drop(tilt$mu + tilt$S %*% tilt$d1)
    found <- block((cov + t(cov)) / 2, site$T, site$nu, mean)$cavity
    # 1 - 0.99: two digits of what was taken away
    expect_equal(found$cov, tilt$S, tolerance = 1e-7)
    expect_equal(found$mean, tilt$mu, tolerance = 1e-7)
    G <- diag(w) - cov %*% site$T
    expect_equal(found$log_det, determinant(G)$modulus[[1L]], tolerance = 1e-7)
  })
})

test_that("there is no site and no cavity beyond the bound, though a determinant be positive", {
  each_width(function(w) {
    if (w < 2L) return()
    S <- random_covariance(w)
    L <- t(chol(S))
    U <- qr.Q(qr(matrix(rnorm(w * w), w)))
    # two eigenvalues of I + d2 S below 0: their product is not
    d2 <- solve(t(L), U %*% diag(c(-1.5, -2, numeric(w - 2L)), w) %*% t(U)) %*% solve(L)
    d2 <- (d2 + t(d2)) / 2
    expect_gt(det(diag(w) + d2 %*% S), 0)
    expect_null(block(S, d2, numeric(w), numeric(w))$site)
    expect_null(block(S, -d2, numeric(w), numeric(w))$cavity)
    expect_null(block(S, d2 * NaN, numeric(w), numeric(w))$site)
    expect_null(block(S * NaN, S, numeric(w), numeric(w))$cavity)
    expect_null(block(S, S, rep(NaN, w), numeric(w))$site)
  })
})

test_that("a singular covariance has sites and cavities as a nearly singular one has", {
  each_width(function(w) {
    if (w < 2L) return()
    S <- random_covariance(w, w - 1L)
    d2 <- -solve(S + random_covariance(w))
    d2 <- (d2 + t(d2)) / 2
    d1 <- rnorm(w)
    mu <- rnorm(w)
    at <- block(S, d2, d1, mu)
    near <- block(S + 1e-10 * diag(w), d2, d1, mu)
    # 1e-10 of a variance, times the condition of I + d2 S
    expect_equal(at$site, near$site, tolerance = 1e-5)
    site <- at$site
    marginal <- S + S %*% d2 %*% S
    back <- block((marginal + t(marginal)) / 2, site$T, site$nu, drop(mu + S %*% d1))$cavity
    expect_equal(back$cov, S, tolerance = 1e-5)
    expect_equal(back$mean, mu, tolerance = 1e-5)
  })
})

test_that("narrowing puts eigenvalues above zero to zero and leaves the others", {
  each_width(function(w) {
    tilt <- random_tilt(w, most = 3)
    L <- t(chol(tilt$S))
    narrow <- block(tilt$S, tilt$d2, tilt$d1, tilt$mu)$narrow
    before <- eigen(t(L) %*% tilt$d2 %*% L, symmetric = TRUE)
    after <- before$vectors %*% diag(pmin(before$values, 0), w) %*% t(before$vectors)
    expect_equal(t(L) %*% narrow %*% L, after, tolerance = TINY)
    # of a singular covariance: in the directions that it has
    S <- random_covariance(w, max(w - 1L, 1L))
    root <- block(S, S, tilt$d1, tilt$mu)$root
    found <- t(root) %*% block(S, tilt$d2, tilt$d1, tilt$mu)$narrow %*% root
    wanted <- pmin(eigen(t(root) %*% tilt$d2 %*% root, symmetric = TRUE)$values, 0)
    expect_equal(eigen((found + t(found)) / 2, symmetric = TRUE)$values, sort(wanted, TRUE),
                 tolerance = 1e-8)
  })
})

test_that("the KL divergences of a step are those of two normal distributions", {
  divergence <- function(m1, S1, m2, S2) { # KL(N(m1, S1) || N(m2, S2))
    ratio <- solve(S2, S1)
    away <- m2 - m1
    (sum(diag(ratio)) - log(det(ratio)) - length(m1) + sum(away * solve(S2, away))) / 2
  }
  each_width(function(w) {
    tilt <- random_tilt(w)
    after <- list(mean = drop(tilt$mu + tilt$S %*% tilt$d1),
                  cov = tilt$S + tilt$S %*% tilt$d2 %*% tilt$S)
    wanted <- c(divergence(after$mean, after$cov, tilt$mu, tilt$S),
                divergence(tilt$mu, tilt$S, after$mean, after$cov))
    # the second divides by 1 - 0.99
    expect_equal(block(tilt$S, tilt$d2, tilt$d1, tilt$mu)$kl, wanted, tolerance = 1e-7)
  })
})

test_that("clipping, softening and norms are what they say", {
  each_width(function(w) {
    P <- random_symmetric(w)
    own <- eigen(P, symmetric = TRUE)
    S <- random_covariance(w)
    nu <- rnorm(w)
    m <- rnorm(w)
    found <- block(S, P, nu, m)
    clipped <- own$vectors %*% diag(pmax(own$values, 0), w) %*% t(own$vectors)
    expect_equal(found$clip, clipped, tolerance = TINY)
    precision <- crossprod(P)
    soft <- block(S, precision, nu, m)$soften
    expect_equal(soft$T, solve(diag(w) + precision %*% S, precision), tolerance = 1e-8)
    expect_equal(soft$nu, drop(solve(diag(w) + precision %*% S, nu - precision %*% m)),
                 tolerance = 1e-8)
    expect_equal(found$norm, sqrt(sum(nu * S %*% nu)), tolerance = TINY)
    L <- t(chol(S))
    expect_equal(found$size, sqrt(sum((t(L) %*% P %*% L)^2)), tolerance = TINY)
  })
})
