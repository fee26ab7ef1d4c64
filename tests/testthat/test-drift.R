# Streams whose function drifts: method_online(drift = ).

reached_elsewhere()

GRID <- seq(-2, 2, by = 0.5)

drift_data <- function(n = 150L) {
  at <- seq_len(n)
  d <- data.frame(a = GRID[1L + (5L * at + at %/% 7L) %% 9L], time = 7 * at + at %% 7)
  d$y <- sin(2 * d$a + at / 60) + 0.1 * cos(17 * at)
  d
}

drift_fit <- function(d, drift, formula = y ~ a, lik = lik_gaussian(0.05), basis = NULL, ...) {
  sparsegp(formula, d, lik, kernel = kernel_rbf(0.8, 0.9), learn = FALSE, basis = basis,
           method = method_online(drift = drift, pilot = 40, ...))
}

on_grid <- function() data.frame(a = GRID)

# K among scaled inputs and with those of `new`, in the fit's units.
drift_kernel <- function(fit, a, new) {
  K <- function(a, b) {
    kernel_matrix(fit$spec, kernel_theta(fit), scaled_inputs(cbind(a = a), fit$scaling),
                  scaled_inputs(cbind(a = b), fit$scaling))
  }
  list(own = K(a, a), with = K(a, new), prior = diag(K(new, new)))
}

# The exact Gaussian process of inputs and clocks, and the fit's answers. The stream differs by
# rounding alone, as its points are all inputs there are: what the basis leaves of the function at
# others is independent of it at all times.
expect_drifting <- function(fit, d, clock) {
  new <- c(-1.7, 0.2, 1.1)
  unit <- fit$response$unit
  K <- drift_kernel(fit, d$a, new)
  exact <- reference_drifting(K$own, clock, 2^(-1 / 64), (d$y - fit$response$centre) / unit,
                              coef(fit)[["noise"]] / unit^2, K$with, K$prior)
  found <- predict(fit, data.frame(a = new), type = "latent", se.fit = TRUE)
  expect_lt(max(abs(found$fit - exact$mean * unit - fit$response$centre)), 1e-10)
  expect_lt(max(abs(found$se.fit / unit - sqrt(exact$var))), 1e-10)
  expect_lt(abs(c(logLik(fit)) - (exact$logz - nrow(d) * log(unit))), 1e-8)
}

test_that("a stream that drifts is the exact process of inputs and times, in any chunks", {
  memory_tier()
  d <- drift_data()
  n <- nrow(d)
  for (half_life in c(32, 640)) { # more than one step a row, and rows that share one
    clock <- floor(64 * (seq_len(n) - 1) / half_life)
    expect_drifting(drift_fit(d, half_life, basis = on_grid()), d, clock)
    expect_drifting(drift_fit(d, half_life), d, clock) # the basis grows
  }
  clock <- floor(64 * d$time / 100)
  whole <- drift_fit(d, c(time = 100), basis = on_grid())
  expect_drifting(whole, d, clock)
  parts <- drift_fit(d[1:77, ], c(time = 100), basis = on_grid())
  parts <- update(update(parts, d[78, ]), d[79:n, ])
  expect_drifting(parts, d, clock)
  expect_equal(parts$state, whole$state, tolerance = 1e-9)
})

test_that("labels that drift are filtered as the plain recursion has them", {
  memory_tier()
  d <- drift_data(60L)
  d$label <- factor(d$y > 0.2)
  fit <- drift_fit(d, 20, label ~ a, lik_probit(bias = fixed(0.3)), on_grid())
  K <- drift_kernel(fit, GRID, GRID)$own
  clock <- floor(64 * (seq_len(60L) - 1) / 20)
  rho <- 2^(-c(0, diff(clock)) / 64)
  sign <- 2 * (d$label == "TRUE") - 1
  plain <- reference_drifting_filter(K, match(d$a, GRID), rho, function(i, mu, s2) {
    reference_tilt("probit", sign[i], mu, s2, list(bias = 0.3))
  })
  found <- predict(fit, on_grid(), type = "latent", se.fit = TRUE)
  expect_equal(unname(found$fit), plain$m, tolerance = 1e-8)
  expect_equal(unname(found$se.fit), sqrt(diag(plain$V)), tolerance = 1e-8)
  expect_equal(c(logLik(fit)), plain$logz, tolerance = 1e-8)
})

test_that("moments of each process move as those of the function do, sites of any sign", {
  memory_tier()
  d <- 4L
  set.seed(5)
  S <- lapply(1:2, function(c) {
    root <- qr.Q(qr(matrix(rnorm(d^2), d)))
    root %*% (c(-0.6, 0.1, 3, 1e4) * t(root))
  })
  t <- matrix(rnorm(2L * d), d)
  for (rho in c(1 - 1e-7, 0.9, 0.2, 0)) {
    moved <- drifted_sums(do.call(cbind, S), t, rho)
    for (c in 1:2) {
      V <- solve(diag(d) + S[[c]])
      at <- d * (c - 1L) + seq_len(d)
      after <- solve(diag(d) + moved$S[, at])
      expect_equal(after, rho^2 * V + (1 - rho^2) * diag(d), tolerance = 1e-8)
      expect_equal(drop(after %*% moved$t[, c]), drop(rho * V %*% t[, c]), tolerance = 1e-8)
    }
  }
})

test_that("classes drift, and an endless half-life is none", {
  memory_tier()
  d <- iris[1L + (37L * 0:149) %% 150L, ]
  fit <- function(drift) {
    sparsegp(Species ~ Petal.Length + Petal.Width, d, kernel = kernel_rbf(4, 1), learn = FALSE,
             method = method_online(30, drift = drift, pilot = 40))
  }
  expect_equal(fit(1e12)$state, fit(NULL)$state, tolerance = 1e-9)
  expect_gt(mean(predict(fit(300), d, type = "class") == d$Species), 0.9)
})

test_that("after a long time without observations the function is a draw from its prior again", {
  memory_tier()
  d <- drift_data()
  gone <- update(drift_fit(d, c(time = 100), basis = on_grid()), transform(d[1L, ], time = 1e7))
  far <- predict(gone, data.frame(a = -d$a[1L]), type = "latent", se.fit = TRUE)
  K <- drift_kernel(gone, d$a[1L], -d$a[1L])
  noise <- 0.05 / gone$response$unit^2
  expect_equal(unname(far$se.fit) / gone$response$unit,
               sqrt(K$prior - K$with[1L]^2 / (K$own[1L] + noise)), tolerance = 1e-7)
})

test_that("a function that moves is followed, and its half-life has the most evidence", {
  slow_tier()
  set.seed(2)
  n <- 1500L
  a <- sample(GRID, n, TRUE)
  K <- exp(-outer(GRID, GRID, "-")^2 / 2) + 1e-9 * diag(9)
  rho <- 2^(-1 / 100)
  f <- t(chol(K)) %*% rnorm(9)
  y <- vapply(seq_len(n), function(i) {
    f <<- rho * f + sqrt(1 - rho^2) * t(chol(K)) %*% rnorm(9)
    f[match(a[i], GRID)] + 0.1 * rnorm(1)
  }, 0)
  value <- function(...) {
    c(logLik(sparsegp(y ~ a, data.frame(a, y), lik_gaussian(0.01), kernel = kernel_rbf(1, 1),
                      scale = FALSE, learn = FALSE, basis = on_grid(), mean = "zero",
                      method = method_online(...))))
  }
  drifts <- vapply(c(25, 100, 400), function(half_life) value(drift = half_life), 0)
  forgets <- vapply(c(5, 10, 25, 50, 100), function(half_life) value(forget = half_life), 0)
  expect_identical(which.max(drifts), 2L)
  expect_gt(max(drifts), max(forgets) + 100)
  expect_gt(max(drifts), value() + 100)
})

test_that("a half-life that is none is refused", {
  memory_tier()
  d <- drift_data()
  refuse <- function(call, message) expect_error(call, message, class = "sparsegp_error")
  refuse(method_online(drift = 0), "`drift`")
  refuse(method_online(drift = c(1, 2)), "`drift`")
  refuse(method_online(drift = 10, forget = 10), "`drift` is given")
  refuse(drift_fit(d, c(nowhere = 3)), "lacks nowhere")
  refuse(drift_fit(d[rev(seq_len(nrow(d))), ], c(time = 3)), "go back")
  refuse(drift_fit(transform(d, time = replace(time, 3L, Inf)), c(time = 3)), "times")
  refuse(sparsegp(as.matrix(d["a"]), d$y, method = method_online(drift = c(time = 3))), "`drift`")
})
