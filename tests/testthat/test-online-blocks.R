# Streams whose rows are w points seen at once, in C against the block formulas and closed forms.
# The likelihood is Gaussian noise of a full covariance, so that dense regression has the exact
# answer. Kernels are matern32, whose matrices can be inverted to many digits.

# Regression with the prior covariance `total` less noise at the rows, `cross` between new and rows
regression <- function(case, rows_cov, cross, new_cov) {
  y <- c(case$problem$rows) - case$problem$offset
  total <- rows_cov + kronecker(diag(ncol(case$problem$rows)), noise_of(case))
  list(mean = drop(cross %*% solve(total, y)), cov = new_cov - cross %*% solve(total, t(cross)),
       logz = reference_gaussian_evidence(total, y, 0))
}

expect_same_posterior <- function(found, exact) {
  # rounding at a condition number of 1e4
  expect_lt(max(abs(found$mean - exact$mean)), 1e-10)
  expect_lt(max(abs(found$cov - exact$cov)), 1e-10)
}

test_that("a stream with room for every point is exact regression: pairs, triples, evidence", {
  for (w in 2:3) for (projection in c("kl", "moment")) {
    case <- wide_problem(12L, w)
    x <- case$problem$x
    run <- wide_stream(case, method_online(size = 12 * w, projection = projection))
    expect_identical(run$id, as.double(seq_len(12 * w)))
    new <- rbind(x, cbind(c(-1.1, 0.3, 2.5), c(0, 0.8, 0.4)))
    exact <- regression(case, wide_kernel(case, x, x), wide_kernel(case, new, x),
                        wide_kernel(case, new, new))
    expect_same_posterior(wide_posterior(case, run, new), exact)
    expect_lt(abs(run$count[7L] - exact$logz), 1e-10)
  }
})

test_that("on a predefined basis kl is the projected process, moment is block FITC", {
  memory_tier()
  for (w in 2:3) {
    case <- wide_problem(15L, w)
    x <- case$problem$x
    points <- x[seq_len(5 * w - 1L), ] # of the last location not all
    new <- cbind(c(-1.1, 0.3, 2.5), c(0, 0.8, 0.4))
    low_rank <- function(a, b) {
      wide_kernel(case, a, points) %*%
        solve(wide_kernel(case, points, points), wide_kernel(case, points, b))
    }
    row <- (seq_len(nrow(x)) + w - 1L) %/% w
    left <- (wide_kernel(case, x, x) - low_rank(x, x)) * outer(row, row, "==")
    for (projection in c("kl", "moment")) {
      run <- wide_stream(case, method_online(projection = projection), start = points)
      seen <- low_rank(x, x) + if (projection == "moment") left else 0
      exact <- regression(case, seen, low_rank(new, x), wide_kernel(case, new, new))
      expect_same_posterior(wide_posterior(case, run, new), exact)
      if (projection == "moment") expect_lt(abs(run$count[7L] - exact$logz), 1e-10)
    }
  }
})

test_that("a stream is the one of the block formulas: every score and projection, w = 2 and 3", {
  slow_tier()
  scores <- of_tier(c("mean", "kl", "error"), 1L)
  for (w in 2:3) for (projection in c("kl", "moment")) for (score in scores) {
    case <- wide_problem(50L, w)
    method <- method_online(size = 6 * w + 1, projection = projection, score = score)
    reference <- reference_wide(case, method)
    expect_gte(reference$exchanges, 4)
    run <- wide_stream(case, method)
    expect_same_wide(run, reference)
    expect_equal(run$count[7L], reference$logz, tolerance = 1e-10)
  }
})

test_that("where components determine each other one point of a row joins, and nothing is lost", {
  memory_tier()
  case <- wide_problem(20L)
  case$problem$x[, 2L] <- 0
  x <- case$problem$x
  run <- wide_stream(case, method_online(size = 40))
  expect_identical(run$id, as.double(2 * (1:20) - 1))
  exact <- regression(case, wide_kernel(case, x, x), wide_kernel(case, x, x),
                      wide_kernel(case, x, x))
  expect_same_posterior(wide_posterior(case, run, x), exact)
  expect_lt(abs(run$count[7L] - exact$logz), 1e-10)
  # a novelty at which some rows bring one point and some two
  case <- wide_problem(40L)
  case$problem$x[, 2L] <- case$problem$x[, 2L] / 8
  for (projection in c("kl", "moment")) {
    method <- method_online(size = 9, projection = projection, novelty = 0.015, score = "kl")
    reference <- reference_wide(case, method)
    expect_setequal(table(reference$location), 1:2)
    expect_same_wide(wide_stream(case, method), reference)
  }
})

test_that("points that others make redundant leave their location, which is scored without them", {
  memory_tier()
  # three components, the middle one nearly determined by the others
  for (setting in list(list(0.02, 2, "mean"), list(0.02, 2, "kl"), list(0.07, 1, "kl"),
                       list(0.07, 3, "mean"))) {
    case <- wide_problem(30L, 3L, seed = 2)
    case$problem$x[, 2L] <- case$problem$x[, 2L] / setting[[2L]]
    method <- method_online(size = 8, novelty = setting[[1L]], score = setting[[3L]])
    run <- wide_stream(case, method)
    expect_same_wide(run, reference_wide(case, method))
    expect_gt(run$count[4L], 5) # exchanges
  }
})

test_that("chunks of any size give the same state", {
  memory_tier()
  case <- wide_problem(120L)
  method <- method_online(size = 15, score = "kl")
  whole <- wide_stream(case, method)
  for (size in c(1, 7, 50)) {
    run <- list()
    state <- empty_state(2L)
    for (rows in split(1:120, ceiling(1:120 / size))) {
      run <- wide_stream(case, method, rows, state)
      state <- run[STATE]
    }
    expect_identical(run$id, whole$id)
    expect_equal(run$count[-8L], whole$count[-8L], tolerance = 1e-10)
    # rebuilt from sums at other rows: rounding
    expect_equal(run[c("R", "S", "t", "alpha", "H", "trace")],
                 whole[c("R", "S", "t", "alpha", "H", "trace")], tolerance = 1e-10)
  }
})

# KL(f || g) of Gaussians
divergence <- function(f, g) {
  shift <- g$mean - f$mean
  ratio <- solve(g$cov, f$cov)
  (sum(shift * solve(g$cov, shift)) + sum(diag(ratio)) - length(shift) -
     as.numeric(determinant(ratio)$modulus)) / 2
}

test_that("the location that leaves costs least KL of all, and leaving is conditioning", {
  memory_tier()
  case <- wide_problem(9L)
  w <- 2L
  x <- case$problem$x
  full <- wide_stream(case, method_online(size = 18))
  less <- wide_stream(case, method_online(size = 17, score = "kl"))
  K <- wide_kernel(case, x, x)
  E <- tcrossprod(full$H)
  before <- list(mean = drop(K %*% full$alpha), cov = K %*% E %*% K)
  without <- function(location) {
    o <- w * (location - 1L) + 1:2
    gone <- E[, o] %*% solve(E[o, o])
    list(mean = drop(K %*% (full$alpha - gone %*% full$alpha[o])),
         # what the others carry, and the prior given them
         cov = K %*% (E - gone %*% E[o, ]) %*% K + solve_zero(K, o))
  }
  solve_zero <- function(K, o) {
    out <- 0 * K
    out[o, o] <- K[o, o] - K[o, -o] %*% solve(K[-o, -o], K[-o, o])
    out
  }
  cost <- vapply(1:9, function(location) divergence(without(location), before), 0)
  post <- list(alpha = drop(full$alpha), E = E, Q = solve(K))
  # covariances of condition number 1e5 inverted
  expect_equal(wide_scores(post, rep(1:9, each = 2L), "kl"), 2 * cost, tolerance = 1e-7)
  left <- setdiff(1:9, unique(ceiling(less$id / 2)))
  expect_identical(left, which.min(cost))
  at <- wide_posterior(case, less, x)
  expect_lt(max(abs(at$mean - without(left)$mean)), 1e-10)
  expect_lt(max(abs(at$cov - without(left)$cov)), 1e-10)
})

test_that("one step's divergences are those of the process", {
  case <- wide_problem(20L)
  method <- method_online(size = 40)
  run <- wide_stream(case, method, 1:19)
  after <- wide_stream(case, method, 20L, run[STATE])
  f <- wide_posterior(case, after, case$problem$x)
  g <- wide_posterior(case, run, case$problem$x)
  trace <- after$trace[, ncol(after$trace)]
  expect_identical(trace[1L], 20)
  # covariances of condition number 1e5 inverted
  expect_equal(trace[4L], divergence(f, g), tolerance = 1e-7)
  expect_equal(trace[5L], divergence(g, f), tolerance = 1e-7)
})

test_that("in informative order every row counts once, and the largest gain comes first", {
  memory_tier()
  case <- wide_problem(12L)
  run <- wide_stream(case, method_online(size = 24, order = "informative"))
  expect_setequal(run$id, 1:24)
  gain <- vapply(1:12, function(i) {
    wide_stream(case, method_online(size = 24), i)$trace[4L, 1L]
  }, 0)
  expect_identical(run$id[1:2], 2 * which.max(gain) - c(1, 0))
  x <- case$problem$x
  exact <- regression(case, wide_kernel(case, x, x), wide_kernel(case, x, x),
                      wide_kernel(case, x, x))
  expect_same_posterior(wide_posterior(case, run, x), exact)
})

# ---- Sparse EP ----

blocks_on_diagonal <- function(A, w) {
  row <- (seq_len(nrow(A)) + w - 1L) %/% w
  unlist(lapply(unique(row), function(i) A[row == i, row == i]))
}

# Marginals of all rows without their own response, under the prior covariance `prior`
cavities_of <- function(case, prior) {
  w <- case$problem$width
  y <- c(case$problem$rows) - case$problem$offset
  total <- prior + kronecker(diag(ncol(case$problem$rows)), noise_of(case))
  each <- lapply(seq_len(ncol(case$problem$rows)), function(i) {
    o <- w * (i - 1L) + seq_len(w)
    gain <- prior[o, -o] %*% solve(total[-o, -o])
    list(mean = drop(gain %*% y[-o]), cov = prior[o, o] - gain %*% prior[-o, o])
  })
  list(mean = unlist(lapply(each, `[[`, "mean")), cov = unlist(lapply(each, `[[`, "cov")))
}

test_that("sequential EP on a predefined basis is block FITC: evidence, sites, cavities", {
  memory_tier()
  for (w in 2:3) {
    case <- wide_problem(15L, w)
    x <- case$problem$x
    basis <- x[seq_len(4 * w), ] + 0.1
    carried <- wide_kernel(case, x, basis) %*%
      solve(wide_kernel(case, basis, basis), wide_kernel(case, basis, x))
    row <- (seq_len(nrow(x)) + w - 1L) %/% w
    left <- (wide_kernel(case, x, x) - carried) * outer(row, row, "==")
    run <- wide_sparse(case, method_ep(projection = "moment", tol = 1e-9), 5L, 1L, basis)
    exact <- regression(case, carried + left, carried, carried)
    logz <- run$trace["log_evidence", ]
    # exact sites after one sweep: what is left is rounding
    expect_lt(max(abs(logz - exact$logz)), 1e-10)
    expect_lte(run$trace[["change", 2L]], 1e-9)
    site <- solve(left + kronecker(diag(15L), noise_of(case)))
    expect_lt(max(abs(run$tau - blocks_on_diagonal(site, w))), 1e-10)
    cavity <- cavities_of(case, carried + left)
    expect_lt(max(abs(run$cav_mean - cavity$mean)), 1e-10)
    expect_lt(max(abs(run$cav_var - cavity$cov)), 1e-10)
    k <- wide_kernel(case, x, basis)
    expect_lt(max(abs(k %*% run$alpha - exact$mean)), 1e-10)
  }
})

test_that("with room for every point sparse EP is exact, and kl on a basis is the projection", {
  memory_tier()
  case <- wide_problem(10L)
  x <- case$problem$x
  K <- wide_kernel(case, x, x)
  exact <- regression(case, K, K, K)
  for (projection in c("kl", "moment")) {
    run <- wide_sparse(case, method_ep(20, projection, tol = 1e-9), 3L)
    expect_setequal(run$id, 1:20)
    expect_lt(max(abs(run$trace["log_evidence", ] - exact$logz)), 1e-10)
    expect_lt(max(abs(K[, run$id] %*% run$alpha - exact$mean)), 1e-10)
  }
  basis <- x[1:7, ]
  k <- wide_kernel(case, x, basis)
  carried <- k %*% solve(wide_kernel(case, basis, basis), t(k))
  run <- wide_sparse(case, method_ep(projection = "kl", tol = 1e-9), 3L, 1L, basis)
  expect_lt(max(abs(k %*% run$alpha - regression(case, carried, carried, K)$mean)), 1e-10)
})

test_that("sweeps with exchange are those of the block formulas, whatever the score", {
  slow_tier()
  late <- 0 # exchanges of rows whose old sites were taken out
  for (w in 2:3) for (projection in c("kl", "moment")) for (score in c("mean", "kl", "error")) {
    case <- wide_problem(25L, w)
    method <- method_ep(4 * w + 1, projection, freeze = Inf, score = score, tol = 1e-300)
    reference <- reference_wide(case, method, 3L)
    run <- wide_sparse(case, method, 3L)
    late <- late + sum(run$trace["exchanged", -1L])
    expect_same_wide(run, reference)
    sites <- reference$sites
    expect_lt(max(abs(run$tau - unlist(lapply(sites, `[[`, "T")))), 1e-9)
    expect_lt(max(abs(run$nu - unlist(lapply(sites, `[[`, "nu")))), 1e-9)
  }
  expect_gt(late, 10)
  # many exchanges in late sweeps
  case <- wide_problem(40L, 3L, seed = 3)
  method <- method_ep(18, "moment", freeze = Inf, novelty = 0.1, score = "kl", tol = 1e-300)
  run <- wide_sparse(case, method, 3L)
  expect_gt(sum(run$trace["exchanged", -1L]), 5)
  expect_same_wide(run, reference_wide(case, method, 3L))
})

test_that("off-diagonal entries below 0 are no widening sites", {
  case <- wide_problem(10L)
  run <- wide_sparse(case, method_ep(20, tol = 1e-300, sweeps = 2), 2L)
  expect_lt(min(run$tau), 0)
  expect_false(run$narrow)
})

test_that("a basis that exchanges have chosen and that is kept ends in block FITC on it", {
  memory_tier()
  case <- wide_problem(30L)
  run <- wide_sparse(case, method_ep(9, "moment", tol = 1e-9), 10L, 2L)
  expect_length(run$id, 8L)
  case$problem$basis <- case$problem$x[run$id, ]
  exact <- pair_reference(case)
  expect_lt(abs(run$trace["log_evidence", ncol(run$trace)] - exact$logz), 1e-10)
})
