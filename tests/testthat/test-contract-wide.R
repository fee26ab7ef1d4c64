# What every likelihood promises whose rows see several values of a process at once, for every one
# that C reports. A new one is found here by itself; it needs its entry in REFERENCE_WIDE.

wide_names <- function() {
  types <- catalogue()$likelihoods
  names(types)[vapply(types, `[[`, 0L, "width") != 1L]
}

# n rows alike, at means and covariances in columns
wide_tilt <- function(type, theta, w, y, mu, S) {
  y <- matrix(y, length(y), ncol(mu))
  .Call(sg_lik_tilt, c_lik(type, theta, w), theta, y, mu, S, FALSE)
}

# One data row at three marginals; check() gets them in columns.
for_wide <- function(check) {
  for (type in wide_names()) {
    for (w in 1:3) {
      set.seed(32)
      case <- REFERENCE_WIDE[[type]]
      mu <- matrix(rnorm(3L * w), w)
      S <- replicate(3L, crossprod(matrix(rnorm(w * (w + 2L)), ncol = w)) / (w + 2))
      check(type, w, as.double(case$theta(w)), as.double(case$row(w)), mu, matrix(S, w * w),
            paste(type, "of width", w))
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
      expect_equal(found$logz[k], wanted$logz, tolerance = 1e-9, label = label)
      expect_equal(matrix(found$d1, w)[, k], wanted$d1, tolerance = 1e-8, label = label)
      expect_equal(matrix(found$d2, w * w)[, k], c(wanted$d2), tolerance = 1e-8, label = label)
    }
  })
})

test_that("d1, d2 and dpar are the derivatives of log Z", {
  for_wide(function(type, w, theta, y, mu, S, label) {
    mu <- mu[, 1L, drop = FALSE]
    S <- S[, 1L, drop = FALSE]
    at <- wide_tilt(type, theta, w, y, mu, S)
    gradient <- function(what) {
      function(m) wide_tilt(type, theta, w, y, matrix(m, w), S)[[what]]
    }
    # differences with steps of a hundredth, extrapolated
    expect_equal(c(at$d1), numeric_gradient(gradient("logz"), drop(mu), h = 0.01),
                 tolerance = 1e-7, label = label)
    slope <- function(a) {
      numeric_gradient(function(m) c(gradient("d1")(m))[a], drop(mu), h = 0.01)
    }
    expect_equal(c(at$d2), unlist(lapply(seq_len(w), slope)), tolerance = 1e-7, label = label)
    along <- function(theta) wide_tilt(type, theta, w, y, mu, S)$logz
    expect_equal(drop(at$dpar), numeric_gradient(along, theta, h = 0.01), tolerance = 1e-7,
                 label = label)
  })
})

test_that("without a covariance tilts are log p, and predictions the moments", {
  for_wide(function(type, w, theta, y, mu, S, label) {
    case <- REFERENCE_WIDE[[type]]
    rows <- matrix(y, w, 3L)
    at <- .Call(sg_lik_eval, c_lik(type, theta, w), theta, rows, mu)
    expect_equal(at$logp, case$logp(y, t(mu), theta), tolerance = 1e-12, label = label)
    expect_equal(wide_tilt(type, theta, w, y, mu, 0 * S)$logz, at$logp, tolerance = 1e-12)
    new <- .Call(sg_lik_predict, c_lik(type, theta, w), theta, mu, 0 * S, FALSE)
    for (k in 1:3) {
      expect_equal(matrix(at$mean, w)[, k], case$mean(mu[, k], theta), tolerance = 1e-12)
      expect_equal(matrix(at$var, w * w)[, k], c(case$var(mu[, k], theta)), tolerance = 1e-12)
    }
    expect_equal(new[c("mean", "var")], at[c("mean", "var")], tolerance = 1e-12, label = label)
  })
})

test_that("an exact site is that of every tilt, and C refuses what has no width", {
  for_wide(function(type, w, theta, y, mu, S, label) {
    site <- .Call(sg_lik_site, c_lik(type, theta, w), theta, cbind(y))
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
  set.seed(33)
  y <- rnorm(4L)
  mu <- rnorm(4L)
  s2 <- rexp(4L)
  tilt <- function(type, theta, rows) {
    .Call(sg_lik_tilt, c_lik(type, theta), theta, rows, mu, s2, FALSE)
  }
  # theta: the logarithm of a variance, and of a standard deviation
  one <- tilt("gaussian", 0.6, rbind(y, 1))
  wide <- tilt("mvnormal", 0.3, rbind(y))
  one$dpar <- 2 * one$dpar
  expect_equal(wide, one, tolerance = 1e-12)
})
