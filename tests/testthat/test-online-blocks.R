# Streams whose rows are w points seen at once, in C against the block formulas and closed forms.
# The likelihood is Gaussian noise of a full covariance, so that dense regression has the exact
# answer. Kernels are matern32, whose matrices can be inverted to many digits.

# Rows of w values: tall x, the component being its last column; theta has the kernel's three and
# the noise's log variances and correlations.
wide_problem <- function(n, w = 2L, type = "matern32", seed = 1) {
  set.seed(seed)
  at <- sample(seq(-3, 3, length.out = n)) # spread: kernel matrices that can be inverted
  case <- pair_problem()
  component <- seq(0, 0.8, length.out = w)
  case$problem$x <- cbind(at = rep(at, each = w), component = rep(component, n))
  case$problem$spec$type <- type
  case$problem$width <- w
  case$problem$rows <- t(outer(at, component, function(a, b) sin(2 * a + b))) +
    0.3 * matrix(rnorm(n * w), w)
  case$problem$offset <- rep(seq(0.2, -0.1, length.out = w), n)
  noise <- if (w == 2L) c(log(0.16), log(0.11), 0.8)
           else c(log(0.16), log(0.11), log(0.13), 0.8, -0.5, 0.1)
  case$theta <- c(log(1.3), log(0.8), log(1.1), noise)
  case
}

wide_stream <- function(case, method, rows = seq_len(ncol(case$problem$rows)),
                        state = empty_state(2L), start = NULL) {
  problem <- case$problem
  w <- problem$width
  tall <- rep(w * (rows - 1L), each = w) + seq_len(w)
  problem$x <- problem$x[tall, , drop = FALSE]
  problem$offset <- problem$offset[tall]
  problem$rows <- problem$rows[, rows, drop = FALSE]
  problem$method <- method
  problem$frozen <- !is.null(start)
  problem$size <- if (is.null(start)) method$size else nrow(start)
  engine_online(problem, case$theta, state, start)
}

noise_of <- function(case) mvnormal_covariance(case$theta[-(1:3)], case$problem$width)

wide_kernel <- function(case, a, b) kernel_matrix(case$problem$spec, case$theta[1:3], a, b)

# Mean and joint covariance at x under a state
wide_posterior <- function(case, run, x) {
  k <- wide_kernel(case, x, t(run$points))
  list(mean = drop(k %*% run$alpha),
       cov = wide_kernel(case, x, x) - tcrossprod(k %*% run$G) + tcrossprod(k %*% run$H))
}

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

# ---- The algorithm in plain R ----

# The basis with the points of row `tall` that are novel, each given the basis and those of the row
# before it.
novel_points <- function(kernel, x, basis, tall, novelty) {
  for (a in tall) {
    k <- kernel(x[basis, , drop = FALSE], x[a, , drop = FALSE])
    prior <- drop(kernel(x[a, , drop = FALSE], x[a, , drop = FALSE]))
    K <- kernel(x[basis, , drop = FALSE], x[basis, , drop = FALSE])
    known <- if (length(basis)) drop(crossprod(k, solve(K, k))) else 0
    if (prior - known > novelty * prior) basis <- c(basis, a)
  }
  basis
}

# The posterior on the basis of g, from scratch: g has B, the points, and a list of sites
# (c, T, nu), each on c times the weights. E = C + Q and alpha are the thesis's.
from_sites <- function(kernel, x, g) {
  points <- x[g$B, , drop = FALSE]
  K <- kernel(points, points)
  S <- matrix(0, nrow(K), ncol(K))
  t <- numeric(nrow(K))
  for (site in Filter(Negate(is.null), g$sites)) {
    S <- S + t(site$c) %*% site$T %*% site$c
    t <- t + drop(t(site$c) %*% site$nu)
  }
  E <- if (nrow(K)) solve(K + S) else K
  list(K = K, Q = if (nrow(K)) solve(K) else K, E = E, alpha = drop(E %*% t))
}

# g with the basis B, whose first points are its own, and row i's site for the tilt z at N(mu, S).
# The points that join are a location, number g$last.
with_row <- function(kernel, x, g, B, i, tall, z, mu, S, projection) {
  more <- setdiff(B, g$B)
  old <- x[g$B, , drop = FALSE]
  if (length(more) && length(g$B)) {
    e <- solve(kernel(old, old), kernel(old, x[more, , drop = FALSE]))
    g$sites <- lapply(g$sites, function(site) {
      if (is.null(site)) site else utils::modifyList(site, list(c = cbind(site$c, site$c %*% e)))
    })
  } else if (length(more)) {
    stopifnot(all(vapply(g$sites, is.null, NA)))
  }
  g$last <- g$last + 1
  g$location <- c(g$location, rep(g$last, length(more)))
  g$B <- B
  points <- x[B, , drop = FALSE]
  k <- kernel(points, x[tall, , drop = FALSE])
  Kxx <- kernel(x[tall, , drop = FALSE], x[tall, , drop = FALSE])
  left <- if (length(B)) Kxx - crossprod(k, solve(kernel(points, points), k)) else Kxx
  G <- diag(length(tall)) + z$d2 %*% (if (projection == "kl") S else S - left)
  g$sites[[i]] <- list(c = t(k), T = -solve(G, z$d2), nu = drop(solve(G, z$d1 - z$d2 %*% mu)))
  g
}

# Scores of the locations of the points, in order.
wide_scores <- function(post, location, score) {
  P <- post$Q %*% solve(post$E, post$Q) - post$Q
  log_det <- function(A) as.numeric(determinant(as.matrix(A))$modulus)
  vapply(unique(location), function(own) {
    o <- which(location == own)
    a <- post$alpha[o]
    E <- post$E[o, o, drop = FALSE]
    Q <- post$Q[o, o, drop = FALSE]
    mean <- sum(a * solve(E, a))
    switch(score, mean = mean, error = sqrt(sum(solve(Q, a)^2)),
           kl = mean + log_det(E) - log_det(Q) + sum(diag(solve(Q, P[o, o, drop = FALSE]))))
  }, 0)
}

without_points <- function(g, o) {
  g$B <- g$B[-o]
  g$location <- g$location[-o]
  g$sites <- lapply(g$sites, function(site) {
    if (is.null(site)) site else utils::modifyList(site, list(c = site$c[, -o, drop = FALSE]))
  })
  g
}

# Who leaves next: a redundant point, or where there are too many the location of least score.
who_leaves <- function(kernel, x, g, method) {
  post <- from_sites(kernel, x, g)
  left <- 1 / (diag(post$Q) * diag(post$K))
  if (length(left) && min(left) < method$novelty) {
    return(list(points = which.min(left), redundant = TRUE))
  }
  if (length(g$B) <= method$size) return(NULL)
  least <- unique(g$location)[which.min(wide_scores(post, g$location, method$score))]
  list(points = which(g$location == least), redundant = FALSE)
}

# `sweeps` over all rows (thesis 3.6 and 4.6 in blocks); one is a stream. A location whose points
# are not all novel has fewer of them.
reference_wide <- function(case, method, sweeps = 1L) {
  w <- case$problem$width
  x <- case$problem$x
  kernel <- function(a, b) wide_kernel(case, a, b)
  n <- ncol(case$problem$rows)
  g <- list(B = integer(), location = numeric(), last = 0, sites = vector("list", n))
  logz <- exchanges <- 0
  for (i in rep(seq_len(n), sweeps)) {
    tall <- w * (i - 1L) + seq_len(w)
    g$sites[i] <- list(NULL)
    post <- from_sites(kernel, x, g)
    k <- kernel(x[g$B, , drop = FALSE], x[tall, , drop = FALSE])
    S <- kernel(x[tall, ], x[tall, ]) + t(k) %*% (post$E - post$Q) %*% k
    mu <- drop(t(k) %*% post$alpha)
    r <- case$problem$rows[, i] - case$problem$offset[tall] - mu
    z <- list(d1 = solve(S + noise_of(case), r), d2 = -solve(S + noise_of(case)))
    logz <- logz + reference_gaussian_evidence(S + noise_of(case), r, 0)
    seen_by <- function(B) with_row(kernel, x, g, B, i, tall, z, mu, S, method$projection)
    grown <- seen_by(novel_points(kernel, x, g$B, tall, method$novelty))
    gone <- who_leaves(kernel, x, grown, method)
    if (!is.null(gone) && !gone$redundant && min(gone$points) > length(g$B)) {
      g <- seen_by(g$B)
      next
    }
    g <- grown
    exchanges <- exchanges + !is.null(gone)
    while (!is.null(gone)) {
      g <- without_points(g, gone$points)
      gone <- who_leaves(kernel, x, g, method)
    }
  }
  c(g, from_sites(kernel, x, g), list(logz = logz, exchanges = exchanges))
}

expect_same_wide <- function(run, reference) {
  relative <- function(a, b) max(abs(a - b)) / max(abs(b))
  expect_identical(run$id, as.double(reference$B))
  # the reference inverts kernel matrices of condition number 1e4
  expect_lt(relative(drop(run$alpha), reference$alpha), 1e-9)
  expect_lt(relative(tcrossprod(run$H), reference$E), 1e-9)
  expect_lt(relative(tcrossprod(run$G), reference$Q), 1e-9)
}

test_that("a stream is the one of the block formulas: every score and projection, w = 2 and 3", {
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

# The method's size is in points here, in locations for users.
wide_sparse <- function(case, method, sweeps, freeze = sweeps, basis = NULL) {
  case$problem$method <- method
  case$problem$method$size <- method$size / case$problem$width
  case$problem$basis <- basis
  engine_sparse(case$problem, case$theta, freeze = freeze, sweeps = sweeps)
}

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
  case <- wide_problem(30L)
  run <- wide_sparse(case, method_ep(9, "moment", tol = 1e-9), 10L, 2L)
  expect_length(run$id, 8L)
  case$problem$basis <- case$problem$x[run$id, ]
  exact <- pair_reference(case)
  expect_lt(abs(run$trace["log_evidence", ncol(run$trace)] - exact$logz), 1e-10)
})
