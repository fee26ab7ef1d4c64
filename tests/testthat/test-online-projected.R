# Streams on a predefined basis: C takes their rows by blocks (src/row_block.h), and these are the
# numbers of one row after the other, which src/row_step.h computes from the thesis's formulas.

points_data <- function(n) {
  set.seed(5)
  x <- matrix(rnorm(2 * n), n)
  f <- sin(2 * x[, 1]) + x[, 2]
  count <- as.double(rpois(n, exp(f / 2)))
  list(x = x, f = f, gaussian = rbind(f + 0.3 * rnorm(n), 1), probit = rbind(sign(f + rnorm(n))),
       poisson = rbind(count, lfactorial(count)), student = rbind(f + 0.3 * rt(n, 2)))
}

THETAS <- list(gaussian = log(0.09), probit = 0.2, poisson = 0.1, student = log(c(0.3, 2)))

# Rows of a stream on the first `size` of them, through the engine: kernel rbf(2, 0.8).
points_problem <- function(d, lik, size = 12L, method = method_online(), rows = seq_along(d$f)) {
  problem <- list(
    x = d$x[rows, , drop = FALSE], nkernel = 2L, processes = 1L, options = method,
    rows = d[[lik]][, rows, drop = FALSE],
    spec = list(type = "rbf", vars = 0:1, levels = c(0, 0), ard = FALSE, degree = 0L,
                parts = list()),
    lik = list(type = lik), offset = 0.1 * cos(rows), frozen = TRUE, size = size
  )
  list(problem = problem, theta = c(log(c(2, 0.8)), THETAS[[lik]]),
       start = d$x[seq_len(size), , drop = FALSE])
}

run_points <- function(case, by_row = FALSE, state = empty_state(2L), start = case$start) {
  engine_online(case$problem, case$theta, state, start, by_row = by_row)
}

# All that a stream keeps of its past, but for when it was last rebuilt from its sums: relatively to
# the largest number of each part. Both orders of summation round to 1e-16 a number, M and V of
# them are conditioned like I + S and K_B, which is 1e4 here: 1e-12, and room for other libraries.
expect_same_stream <- function(run, twin, tolerance = 1e-10) {
  for (part in c("R", "S", "t", "alpha", "G", "H", "trace")) {
    expect_identical(dim(run[[part]]), dim(twin[[part]]))
    expect_lt(max(abs(run[[part]] - twin[[part]])), tolerance * max(abs(twin[[part]])),
              label = part)
  }
  expect_identical(run$count[c(1:6, 9:10)], twin$count[c(1:6, 9:10)])
  expect_equal(run$count[7L], twin$count[7L], tolerance = tolerance)
  expect_identical(run$status, twin$status)
}

test_that("blocks are the rows one by one: likelihoods, projections, numbers of rows", {
  memory_tier()
  d <- points_data(300)
  for (lik in names(THETAS)) for (projection in c("kl", "moment")) {
    case <- points_problem(d, lik, method = method_online(projection = projection))
    run <- run_points(case)
    expect_same_stream(run, run_points(case, by_row = TRUE))
    expect_identical(run$count[6L], 300)
  }
  for (n in c(1L, 15L, 16L, 17L, 128L, 129L)) { # a block, parts of it, and one more
    case <- points_problem(d, "probit", rows = seq_len(n))
    expect_same_stream(run_points(case), run_points(case, by_row = TRUE))
  }
  for (size in c(1L, 40L)) { # fewer points than rows of a part, and more
    case <- points_problem(d, "student", size)
    expect_same_stream(run_points(case), run_points(case, by_row = TRUE))
  }
})

test_that("sites that widen the posterior are subtracted, and so they are by rows", {
  memory_tier()
  d <- points_data(300)
  d$student[1L, seq(30, 300, by = 9)] <- 12 # outliers, that a Student likelihood gives up
  case <- points_problem(d, "student")
  run <- run_points(case)
  expect_same_stream(run, run_points(case, by_row = TRUE))
  # each site in turn: the change of the precision is negative somewhere
  S <- lapply(c(29, 30), function(n) {
    run_points(points_problem(d, "student", rows = seq_len(n)))$S
  })
  expect_lt(min(eigen(S[[2L]] - S[[1L]], TRUE)$values), -1e-6)
})

test_that("numbers of a Gaussian stream are those of all rows at once", {
  d <- points_data(300)
  case <- points_problem(d, "gaussian", 12L)
  run <- run_points(case)
  kernel <- function(a, b) {
    d2 <- outer(rowSums(a^2), rowSums(b^2), "+") - 2 * a %*% t(b)
    2 * exp(-pmax(d2, 0) / (2 * 0.8^2))
  }
  V <- t(backsolve(run$R, kernel(case$start, d$x), transpose = TRUE))
  y <- d$gaussian[1L, ] - case$problem$offset
  expect_equal(run$S, crossprod(V) / 0.09, tolerance = 1e-11)
  expect_equal(drop(run$t), drop(crossprod(V, y)) / 0.09, tolerance = 1e-11)
  # log evidence row by row: the prediction of each from the sums of those before it
  logz <- 0
  for (i in seq_along(y)) {
    before <- V[seq_len(i - 1L), , drop = FALSE]
    M <- solve(diag(12) + crossprod(before) / 0.09)
    mean <- sum(V[i, ] * (M %*% crossprod(before, y[seq_len(i - 1L)]))) / 0.09
    var <- 2 - sum(V[i, ]^2) + sum(V[i, ] * (M %*% V[i, ]))
    logz <- logz + dnorm(y[i], mean, sqrt(var + 0.09), log = TRUE)
  }
  expect_equal(run$count[7L], logz, tolerance = 1e-11)
})

test_that("chunks of any size give the same stream", {
  memory_tier()
  d <- points_data(300)
  whole <- run_points(points_problem(d, "probit"))
  for (size in c(1L, 7L, 150L)) {
    run <- list()
    state <- empty_state(2L)
    start <- d$x[1:12, ]
    for (rows in split(1:300, ceiling(1:300 / size))) {
      run <- run_points(points_problem(d, "probit", rows = rows), state = state, start = start)
      state <- run[STATE]
      start <- NULL
    }
    expect_same_stream(run, whole)
  }
})

test_that("a row without a site is left out, whichever place of its block it has", {
  memory_tier()
  d <- points_data(150)
  for (lik in c("gaussian", "probit")) {
    case <- points_problem(d, lik)
    bad <- c(1L, 16L, 40L, 150L)
    case$problem$offset[bad] <- NaN
    run <- run_points(case)
    expect_identical(run$count[5L], 4)
    expect_same_stream(run, run_points(case, by_row = TRUE))
    left <- points_problem(d, lik, rows = setdiff(1:150, bad))
    left <- run_points(left)
    expect_equal(run[c("S", "t", "alpha")], left[c("S", "t", "alpha")], tolerance = 1e-10)
  }
})

test_that("classes on one basis, each with its own posterior, are those by rows", {
  memory_tier()
  d <- points_data(200)
  case <- points_problem(d, "probit")
  case$problem$rows <- rbind(as.double(cut(d$f, c(-Inf, -0.7, 0.7, Inf), labels = FALSE)))
  case$problem$processes <- 3L
  case$theta <- c(log(c(2, 0.8)), -0.5, 0, 0.3)
  runs <- lapply(c(FALSE, TRUE), function(by_row) {
    run_points(case, by_row, empty_state(2L, 3L))
  })
  expect_identical(dim(runs[[1L]]$t), c(12L, 3L))
  expect_same_stream(runs[[1L]], runs[[2L]])
})

test_that("rows of several points, seen at once, are those by rows", {
  memory_tier()
  for (w in 2:3) for (projection in c("kl", "moment")) {
    case <- wide_problem(60L, w)
    case$problem <- c(case$problem, list(options = method_online(projection = projection),
                                         frozen = TRUE, size = 4L * w + 1L))
    case$start <- case$problem$x[seq_len(4L * w + 1L), ]
    expect_same_stream(run_points(case), run_points(case, by_row = TRUE))
  }
})

test_that("a stream with a likelihood from R is the one with the same likelihood in C", {
  memory_tier()
  set.seed(2)
  d <- data.frame(x = runif(200, -2, 2))
  d$y <- sin(d$x) + 0.3 * rnorm(200)
  d$y <- d$y - mean(d$y[1:50]) # the one in C is centred by its pilot
  own <- lik_custom(function(y, f, theta) dnorm(y, f, 0.3, log = TRUE))
  fit <- function(likelihood) {
    sparsegp(y ~ x, d, likelihood, kernel = kernel_rbf(1, 1), scale = FALSE, learn = FALSE,
             basis = data.frame(x = seq(-2, 2, by = 0.5)), method = method_online(pilot = 50))
  }
  new <- data.frame(x = c(-1.3, 0.2, 1.9))
  # the quadrature of the one in R
  expect_equal(predict(fit(own), new), predict(fit(lik_gaussian(0.09)), new), tolerance = 1e-6)
})
