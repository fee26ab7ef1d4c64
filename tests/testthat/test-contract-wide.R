# What every likelihood promises whose rows see several values of a process at once, for every one
# that C reports. A new one is found here by itself; it needs its entry in REFERENCE_WIDE.

wide_names <- function() {
  types <- catalogue()$likelihoods
  names(types)[vapply(types, `[[`, 0L, "width") != 1L]
}

# n rows alike, at means and covariances in columns
wide_tilt <- function(type, theta, w, y, mu, S) {
  y <- matrix(y, length(y), ncol(mu))
  .Call(sg_lik_tilt, c_lik(type, theta, w, nrow(y)), theta, y, mu, S, FALSE)
}

# What a case's tilts are good to, where they are an approximation; else `exact`.
good_to <- function(type, exact) max(exact, REFERENCE_WIDE[[type]]$tolerance)

# One data row at three marginals; check() gets them in columns.
for_wide <- function(check) {
  for (type in wide_names()) {
    case <- REFERENCE_WIDE[[type]]
    for (w in of_tier(if (is.null(case$width)) 1:3 else case$width, 1L, memory = 2L)) {
      set.seed(32)
      mu <- matrix(rnorm(3L * w), w)
      S <- replicate(3L, crossprod(matrix(rnorm(w * (w + 2L)), ncol = w)) / (w + 2))
      for (way in names(case$theta(w))) {
        check(type, w, as.double(case$theta(w)[[way]]), as.double(case$row(w)), mu,
              matrix(S, w * w), paste(type, "of width", w, way))
      }
    }
  }
}

test_that("every likelihood of wide sites has its reference", {
  expect_setequal(names(REFERENCE_WIDE), wide_names())
})

test_that("tilts equal the reference integral", {
  for_wide(function(type, w, theta, y, mu, S, label) {
    found <- wide_tilt(type, theta, w, y, mu, S)
    for (k in 1:3) {
      wanted <- reference_wide_tilt(type, y, mu[, k], matrix(S[, k], w), theta)
      # 50 nodes in each dimension for factors as wide as the marginal
      expect_equal(found$logz[k], wanted$logz, tolerance = good_to(type, 1e-9), label = label)
      expect_equal(matrix(found$d1, w)[, k], wanted$d1, tolerance = good_to(type, 1e-8),
                   label = label)
      expect_equal(matrix(found$d2, w * w)[, k], c(wanted$d2),
                   tolerance = good_to(type, 1e-8), label = label)
    }
  })
})

test_that("d1, d2 and dpar are the derivatives of log Z", {
  memory_tier()
  for_wide(function(type, w, theta, y, mu, S, label) {
    mu <- mu[, 1L, drop = FALSE]
    S <- S[, 1L, drop = FALSE]
    at <- wide_tilt(type, theta, w, y, mu, S)
    gradient <- function(what) {
      function(m) wide_tilt(type, theta, w, y, matrix(m, w), S)[[what]]
    }
    # differences with steps of a hundredth, extrapolated, or a tenth of what has fewer digits
    step <- if (is.null(REFERENCE_WIDE[[type]]$tolerance)) 0.01 else 0.1
    expect_equal(c(at$d1), numeric_gradient(gradient("logz"), drop(mu), h = step),
                 tolerance = good_to(type, 1e-7), label = label)
    slope <- function(a) {
      numeric_gradient(function(m) c(gradient("d1")(m))[a], drop(mu), h = step)
    }
    bends <- unlist(lapply(seq_len(w), slope))
    expect_equal(c(at$d2), bends, tolerance = max(1e-7, REFERENCE_WIDE[[type]]$bends),
                 label = label)
    along <- function(theta) wide_tilt(type, theta, w, y, mu, S)$logz
    expect_equal(drop(at$dpar), numeric_gradient(along, theta, h = step),
                 tolerance = good_to(type, 1e-7), label = label)
  })
})

test_that("without a covariance tilts are log p, and predictions the moments", {
  memory_tier()
  for_wide(function(type, w, theta, y, mu, S, label) {
    case <- REFERENCE_WIDE[[type]]
    rows <- matrix(y, length(y), 3L)
    at <- .Call(sg_lik_eval, c_lik(type, theta, w, length(y)), theta, rows, mu)
    expect_equal(at$logp, case$logp(y, t(mu), theta), tolerance = 1e-9, label = label)
    expect_equal(wide_tilt(type, theta, w, y, mu, 0 * S)$logz, at$logp,
                 tolerance = good_to(type, 1e-12))
    new <- .Call(sg_lik_predict, c_lik(type, theta, w), theta, mu, 0 * S, FALSE)
    for (k in 1:3) {
      expect_equal(matrix(at$mean, w)[, k], case$mean(mu[, k], theta), tolerance = 1e-9)
      expect_equal(matrix(at$var, w * w)[, k], c(case$var(mu[, k], theta)), tolerance = 1e-9)
    }
    expect_equal(new[c("mean", "var")], at[c("mean", "var")], tolerance = good_to(type, 1e-12),
                 label = label)
  })
})

test_that("an exact site is that of every tilt, and C refuses what has no width", {
  memory_tier()
  for_wide(function(type, w, theta, y, mu, S, label) {
    site <- .Call(sg_lik_site, c_lik(type, theta, w, length(y)), theta, cbind(y))
    if (length(site$nu) == 0L) return()
    tilt <- wide_tilt(type, theta, w, y, mu, S)
    for (k in 1:3) {
      own <- .Call(sg_block, matrix(S[, k], w), matrix(matrix(tilt$d2, w * w)[, k], w),
                   matrix(tilt$d1, w)[, k], mu[, k])$site
      expect_equal(c(own$T), c(site$tau), tolerance = 1e-9, label = label)
      expect_equal(own$nu, c(site$nu), tolerance = 1e-9, label = label)
    }
  })
  none <- numeric()
  expect_error(.Call(sg_lik_site, c_lik("gaussian", 0, 2L), 0, none), "width")
  two <- lik_for_c(list(type = "mvnormal"), 2L, 2L)
  expect_error(.Call(sg_lik_site, two, numeric(6L), none), "width")
})

test_that("one response of full covariance is one of Gaussian noise", {
  memory_tier()
  set.seed(33)
  y <- rnorm(4L)
  mu <- rnorm(4L)
  s2 <- rexp(4L)
  tilt <- function(type, theta, rows) {
    .Call(sg_lik_tilt, c_lik(type, theta), theta, rows, mu, s2, FALSE)
  }
  expect_equal(tilt("mvnormal", 0.6, rbind(y)), tilt("gaussian", 0.6, rbind(y, 1)),
               tolerance = 1e-12)
})

test_that("a response that is not there is as if its component were none", {
  memory_tier()
  set.seed(34)
  S <- crossprod(matrix(rnorm(15L), 5L)) / 5
  mu <- cbind(c(0.2, -0.4, 0.1))
  theta <- c(0.3, -0.2, 0.1, 0.8, -0.5, 0.4)
  Sigma <- mvnormal_covariance(theta, 3L)
  tilt <- function(y) wide_tilt("mvnormal", theta, 3L, y, mu, cbind(c(S)))
  for (there in list(1L, c(1L, 3L), 2:3, integer())) {
    y <- replace(rep(NA_real_, 3L), there, c(0.5, -1)[seq_along(there)])
    found <- tilt(y)
    A <- (S + Sigma)[there, there, drop = FALSE]
    inverse <- if (length(there)) solve(A) else A
    away <- drop(inverse %*% (y[there] - mu[there]))
    logz <- -(length(there) * log(2 * pi) + log(det(A)) + sum((y[there] - mu[there]) * away)) / 2
    if (length(there) == 0L) logz <- 0
    expect_equal(found$logz, logz, tolerance = 1e-13)
    expect_equal(c(found$d1), replace(numeric(3L), there, away), tolerance = 1e-13)
    d2 <- replace(matrix(0, 3L, 3L), as.matrix(expand.grid(there, there)), -inverse)
    expect_equal(matrix(found$d2, 3L), d2, tolerance = 1e-13)
    along <- function(theta) wide_tilt("mvnormal", theta, 3L, y, mu, cbind(c(S)))$logz
    expect_equal(drop(found$dpar), numeric_gradient(along, theta), tolerance = 1e-9)
    site <- .Call(sg_lik_site, c_lik("mvnormal", theta, 3L), theta, cbind(y))
    own <- if (length(there)) solve(Sigma[there, there, drop = FALSE]) else A
    tau <- replace(matrix(0, 3L, 3L), as.matrix(expand.grid(there, there)), own)
    expect_equal(matrix(site$tau, 3L), tau, tolerance = 1e-13)
    expect_equal(c(site$nu), replace(numeric(3L), there, own %*% y[there]), tolerance = 1e-13)
  }
})
