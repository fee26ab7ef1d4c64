# Streams and sweeps whose rows are w points seen at once: problems for C, and the algorithm in
# plain R.

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
  problem$options <- method
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

# The method's size is in points here, in locations for users.
wide_sparse <- function(case, method, sweeps, freeze = sweeps, basis = NULL) {
  case$problem$options <- method
  case$problem$options$size <- method$size / case$problem$width
  case$problem$basis <- basis
  engine_sparse(case$problem, case$theta, freeze = freeze, sweeps = sweeps)
}

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

# A row's tilt: of Gaussian noise, or of a mixture.
tilt_of_row <- function(case, i, mu, S) {
  row <- case$problem$rows[, i]
  if (case$problem$lik$type == "mixture") return(reference_mixture_tilt(row, mu, S))
  total <- S + noise_of(case)
  list(d1 = solve(total, row - mu), d2 = -solve(total),
       logz = reference_gaussian_evidence(total, row - mu, 0))
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
    z <- tilt_of_row(case, i, mu + case$problem$offset[tall], S)
    logz <- logz + z$logz
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
