# The sparse online algorithm in C against the thesis's formulas and closed forms.

online_data <- function(n = 300) {
  set.seed(3)
  x <- matrix(rnorm(2 * n), n)
  f <- sin(2 * x[, 1]) + x[, 2]
  list(x = x, numbers = f + 0.3 * rnorm(n), classes = sign(f + 0.5 * rnorm(n)))
}

rbf <- function(variance, ell) {
  function(a, b) {
    d2 <- outer(rowSums(a^2), rowSums(b^2), "+") - 2 * a %*% t(b)
    variance * exp(-pmax(d2, 0) / (2 * ell^2))
  }
}

# A stream straight through the engine: kernel rbf(2, 0.8), probit bias 0.2 or noise 0.09.
stream <- function(d, lik, method, rows = seq_len(nrow(d$x)), state = empty_state(2L),
                   start = NULL) {
  theta <- c(log(c(2, 0.8)), if (lik == "probit") 0.2 else log(0.09))
  y <- if (lik == "probit") rbind(d$classes) else rbind(d$numbers, 1)
  problem <- list(
    x = d$x[rows, , drop = FALSE], nkernel = 2L, processes = 1L, options = method,
    rows = y[, rows, drop = FALSE],
    spec = list(type = "rbf", vars = 0:1, levels = c(0, 0), ard = FALSE, degree = 0L,
                parts = list()),
    lik = list(type = lik), offset = numeric(length(rows)), frozen = !is.null(start),
    size = if (is.null(start)) method$size else nrow(start)
  )
  engine_online(problem, theta, state, start)
}

reference_stream <- function(d, lik, method, frozen = NULL) {
  y <- if (lik == "probit") rbind(d$classes) else rbind(d$numbers, 1)
  theta <- if (lik == "probit") 0.2 else log(0.09)
  tilt <- function(i, mu, s2) {
    .Call(sg_lik_tilt, c_lik(lik, theta), theta, y[, i, drop = FALSE], mu, s2, FALSE)
  }
  reference_online(rbf(2, 0.8), d$x, tilt, method$size, method$projection, method$score,
                   method$novelty, frozen)
}

expect_same_state <- function(run, reference) {
  relative <- function(a, b) max(abs(a - b)) / max(abs(b))
  expect_identical(run$id, as.double(reference$B))
  # the reference's Q is inverted step by step: about 1e-12 at a condition number of 1e4
  expect_lt(relative(drop(run$alpha), reference$alpha), 1e-9)
  expect_lt(relative(tcrossprod(run$H), reference$C + reference$Q), 1e-9)
  expect_lt(relative(tcrossprod(run$G), reference$Q), 1e-9)
  S <- crossprod(reference$c, reference$tau * reference$c)
  expect_lt(relative(crossprod(run$R, run$S %*% run$R), S), 1e-9)
  expect_lt(relative(crossprod(run$R, run$t), crossprod(reference$c, reference$nu)), 1e-9)
  expect_equal(run$count[7L], reference$logz, tolerance = 1e-10)
}

test_that("a stream is the thesis's: every score, projection and likelihood, 300 rows", {
  slow_tier()
  d <- online_data()
  for (lik in c("probit", "gaussian")) for (projection in c("kl", "moment")) {
    for (score in c("mean", "kl", "error")) {
      method <- method_online(size = 20, projection = projection, score = score)
      run <- stream(d, lik, method)
      expect_same_state(run, reference_stream(d, lik, method))
      expect_gt(run$count[4L], 15) # exchanges happened
    }
    method <- method_online(size = 15, projection = projection)
    run <- stream(d, lik, method, start = d$x[1:15, ])
    expect_same_state(run, reference_stream(d, lik, method, frozen = 1:15))
  }
})

test_that("one row is the thesis's, and 500 rows keep up with the state from scratch", {
  memory_tier()
  d <- online_data(500)
  method <- method_online(size = 30)
  expect_same_state(stream(d, "probit", method, 1L), reference_stream(
    list(x = d$x[1L, , drop = FALSE], classes = d$classes[1L]), "probit", method
  ))
  run <- stream(d, "probit", method)
  K <- rbf(2, 0.8)(t(run$points), t(run$points))
  S <- crossprod(run$R, run$S %*% run$R)
  E <- solve(K + S)
  expect_equal(crossprod(run$R), K, tolerance = 1e-12)
  # by solve() at a condition number of about 1e5
  expect_equal(tcrossprod(run$H), E, tolerance = 1e-9)
  expect_equal(drop(run$alpha), drop(E %*% crossprod(run$R, run$t)), tolerance = 1e-9)
})

test_that("chunks of any size give the same state", {
  memory_tier()
  d <- online_data(400)
  for (lik in c("probit", "gaussian")) {
    method <- method_online(size = 25)
    whole <- stream(d, lik, method)
    for (size in c(1, 7, 150)) {
      run <- list()
      state <- empty_state(2L)
      for (rows in split(1:400, ceiling(1:400 / size))) {
        run <- stream(d, lik, method, rows, state)
        state <- run[STATE]
      }
      expect_identical(run$id, whole$id)
      expect_equal(run$count[-8L], whole$count[-8L], tolerance = 1e-10)
      # rebuilt from sums at other rows: rounding, 1e-12 at this conditioning
      expect_equal(run[c("R", "S", "t", "alpha", "H", "trace")],
                   whole[c("R", "S", "t", "alpha", "H", "trace")], tolerance = 1e-10)
    }
  }
})

test_that("on a predefined basis kl is the projected process, moment is FITC", {
  d <- online_data(120)
  kernel <- rbf(2, 0.8)
  B <- d$x[1:10, ]
  new <- d$x[1:9, ] + 0.3
  Q <- solve(kernel(B, B))
  low_rank <- function(a, b) kernel(a, B) %*% Q %*% kernel(B, b)
  gamma <- function(a) diag(kernel(a, a)) - diag(low_rank(a, a))
  for (projection in c("kl", "moment")) {
    run <- stream(d, "gaussian", method_online(projection = projection), start = B)
    noise <- 0.09 + if (projection == "moment") gamma(d$x) else 0
    C <- low_rank(d$x, d$x) + diag(noise, 120)
    cross <- low_rank(new, d$x)
    k <- kernel(new, B)
    var <- 2 - rowSums((k %*% run$G)^2) + rowSums((k %*% run$H)^2)
    expect_equal(drop(k %*% run$alpha), drop(cross %*% solve(C, d$numbers)), tolerance = 1e-10)
    expect_equal(var, gamma(new) + diag(low_rank(new, new)) - rowSums((cross %*% solve(C)) * cross),
                 tolerance = 1e-10)
    if (projection == "moment") {
      expect_equal(run$count[7L], reference_gaussian_evidence(C, d$numbers, 0), tolerance = 1e-10)
    }
  }
})

test_that("points of a predefined basis that say nothing new are left out", {
  d <- online_data(50)
  run <- stream(d, "gaussian", method_online(), start = d$x[c(1, 2, 1, 3, 2), ])
  expect_identical(run$id, c(1, 2, 4))
})

test_that("one step's divergences are those of the process", {
  d <- online_data(60)
  method <- method_online(size = 60)
  run <- stream(d, "probit", method, 1:59)
  after <- stream(d, "probit", method, 60L, run[STATE])
  kernel <- rbf(2, 0.8)
  points <- d$x[1:60, ]
  K <- kernel(points, points)
  posterior <- function(run) {
    k <- kernel(points, t(run$points))
    list(mean = drop(k %*% run$alpha), cov = K - tcrossprod(k %*% run$G) + tcrossprod(k %*% run$H))
  }
  divergence <- function(f, g) {
    shift <- g$mean - f$mean
    ratio <- solve(g$cov, f$cov)
    (sum(shift * solve(g$cov, shift)) + sum(diag(ratio)) - 60 -
       as.numeric(determinant(ratio)$modulus)) / 2
  }
  trace <- after$trace[, ncol(after$trace)]
  expect_identical(trace[1L], 60)
  # covariances of condition number 1e6 inverted
  expect_equal(trace[4L], divergence(posterior(after), posterior(run)), tolerance = 1e-6)
  expect_equal(trace[5L], divergence(posterior(run), posterior(after)), tolerance = 1e-6)
})

test_that("informative order takes the row of largest gain first", {
  memory_tier()
  d <- online_data(40)
  method <- method_online(size = 40, order = "informative")
  run <- stream(d, "probit", method)
  # the gain of a first row depends on its label's and bias's sign alone: the rarer label first
  gain <- vapply(1:40, function(i) {
    stream(d, "probit", method, i)$trace[4L, 1L]
  }, 0)
  expect_gt(gain[run$id[1L]], max(gain) - 1e-12)
  second <- vapply(setdiff(1:40, run$id[1L]), function(i) {
    first <- stream(d, "probit", method, as.integer(run$id[1L]))
    stream(d, "probit", method, i, first[STATE])$trace[4L, 2L]
  }, 0)
  expect_identical(setdiff(1:40, run$id[1L])[which.max(second)], as.integer(run$id[2L]))
  expect_identical(run$count[6L], 40)
})

test_that("a kernel of finite dimension fills up and the basis stops growing", {
  memory_tier()
  set.seed(1)
  x <- runif(200, -1, 1)
  y <- sin(3 * x) + 0.1 * rnorm(200)
  for (degree in 1:5) {
    fit <- sparsegp(x, y, kernel = kernel_poly(degree), method = method_online(), learn = FALSE)
    expect_lte(nrow(basis(fit)), degree + 1)
    full <- sparsegp(x, y, kernel = kernel_poly(degree), learn = FALSE)
    # the last directions below the novelty of 1e-6 are missing
    expect_equal(predict(fit, x[1:20]), unname(predict(full, x[1:20])), tolerance = 1e-3,
                 ignore_attr = TRUE)
  }
})

test_that("rows in sorted order do not make the basis singular", {
  memory_tier()
  set.seed(1)
  x <- sort(runif(2000, -10, 10))
  y <- sin(x) / x + 0.1 * rnorm(2000)
  for (method in list(method_online(size = 50, pilot = 2000), method_ep(size = 50))) {
    fit <- sparsegp(x, y, kernel = kernel_rbf(1, 1), likelihood = lik_gaussian(0.01), scale = FALSE,
                    learn = FALSE, method = method)
    # twice the error of random order; a singular basis gave 40 and more
    expect_lt(sqrt(mean((predict(fit, x) - sin(x) / x)^2)), 0.03)
    K <- class_kernel(fit, fit$posterior$basis, fit$posterior$basis, 1L)
    expect_gt(min(1 / (diag(solve(K)) * diag(K))), 0.9e-6) # what the others leave of each
  }
})

test_that("rows far from the basis, without prior variance, or repeated are legal", {
  fit <- sparsegp(c(0, 0, 0, 1, 1e3, -1e3), c(0, 1, 0, 1, 2, 3), kernel = kernel_linear(),
                  method = method_online(), learn = FALSE, scale = FALSE)
  expect_true(all(is.finite(predict(fit, c(0, 5)))))
  fit <- sparsegp(rep(1:2, 50), rep(c(TRUE, FALSE), 50), method = method_online(), learn = FALSE)
  expect_identical(nrow(basis(fit)), 2L)
})

# Three classes against the rest on a common basis, straight through the engine.
three_classes <- function(d, size, rows) {
  class <- cut(d$numbers, c(-Inf, -0.7, 0.7, Inf), labels = FALSE)
  problem <- list(
    x = d$x[rows, , drop = FALSE], nkernel = 2L, processes = 3L,
    options = method_online(size = size), rows = rbind(as.double(class[rows])),
    spec = list(type = "rbf", vars = 0:1, levels = c(0, 0), ard = FALSE, degree = 0L,
                parts = list()),
    lik = list(type = "probit"), offset = numeric(length(rows)), frozen = FALSE, size = size
  )
  engine_online(problem, c(log(c(2, 0.8)), -0.5, 0, 0.3), empty_state(2L, 3L))
}

test_that("classes share a basis, and the point of least largest score leaves it", {
  memory_tier()
  d <- online_data(30)
  all <- three_classes(d, 30L, 1:16) # every row is novel: none is left out
  expect_identical(all$id, as.double(1:16))
  largest <- Reduce(pmax, lapply(1:3, function(c) {
    E <- tcrossprod(all$H[, (c - 1) * 16 + 1:16])
    all$alpha[, c]^2 / diag(E)
  }))
  some <- three_classes(d, 15L, 1:16)
  expect_identical(setdiff(1:16, some$id), which.min(largest))
  # and each class's posterior is the one from its own sums
  d <- online_data(200)
  run <- three_classes(d, 20L, 1:200)
  expect_gt(run$count[4L], 5) # exchanges
  K <- rbf(2, 0.8)(t(run$points), t(run$points))
  for (c in 1:3) {
    at <- (c - 1) * 20 + 1:20
    E <- solve(K + crossprod(run$R, run$S[, at] %*% run$R))
    expect_equal(tcrossprod(run$H[, at]), E, tolerance = 1e-9) # solve(), condition number 1e4
    expect_equal(run$alpha[, c], drop(E %*% crossprod(run$R, run$t[, c])), tolerance = 1e-9)
  }
})

test_that("on a predefined basis every class is its own binary stream", {
  memory_tier()
  d <- online_data(100)
  class <- factor(cut(d$numbers, c(-Inf, -0.7, 0.7, Inf), labels = c("a", "b", "c")))
  fit <- sparsegp(d$x, class, basis = 1:12, likelihood = lik_probit(0.2), kernel = kernel_rbf(2, 1),
                  method = method_online(), learn = FALSE)
  own <- lapply(levels(class), function(level) {
    sparsegp(d$x, class == level, basis = 1:12, likelihood = lik_probit(0.2),
             kernel = kernel_rbf(2, 1), method = method_online(), learn = FALSE)
  })
  prob <- sapply(own, predict, d$x)
  expect_equal(predict(fit, d$x, type = "prob"), by_odds(prob), tolerance = 1e-12,
               ignore_attr = TRUE)
  expect_equal(unname(predict(fit, d$x, type = "latent")),
               unname(sapply(own, predict, d$x, type = "latent")), tolerance = 1e-12)
  expect_equal(fit$log_evidence, sum(sapply(own, `[[`, "log_evidence")), tolerance = 1e-12)
})
