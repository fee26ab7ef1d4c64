# EP on a frozen basis against closed forms, dense EP and full EP.

basis_data <- function(n = 50) {
  set.seed(5)
  x <- matrix(rnorm(2 * n), n, dimnames = list(NULL, c("a", "b")))
  f <- sin(2 * x[, 1]) + x[, 2]
  list(x = x, y = f + 0.3 * rnorm(n), class = factor(f + 0.5 * rnorm(n) > 0), new = x[1:7, ] + 0.4)
}

at_basis <- function(d, y, rows, likelihood, kernel, ...) {
  sparsegp(d$x, y, likelihood = likelihood, kernel = kernel, basis = rows, learn = FALSE,
           scale = FALSE, method = method_ep(tol = 1e-11), mean = "average", ...)
}

# K_nB K_B^-1 K_Bn + diag(gamma) between rows, and its cross covariance with new rows
fitc <- function(kernel_of, x, basis, new) {
  Q <- solve(kernel_of(basis, basis))
  low_rank <- function(a, b) kernel_of(a, basis) %*% Q %*% kernel_of(basis, b)
  gamma <- function(a) diag(kernel_of(a, a)) - diag(low_rank(a, a))
  list(K = low_rank(x, x) + diag(gamma(x)), cross = low_rank(new, x),
       new = diag(kernel_of(new, new)))
}

matern <- function(a, b) {
  K <- outer(seq_len(nrow(a)), seq_len(nrow(b)), Vectorize(function(i, j) {
    s <- sqrt(3) * sqrt(sum((a[i, ] - b[j, ])^2)) / 1.3
    2 * (1 + s) * exp(-s)
  }))
  unname(K)
}

test_that("with Gaussian noise EP on a basis is FITC regression: mean, variance and evidence", {
  d <- basis_data()
  rows <- c(3, 9, 14, 20, 33, 41)
  fit <- at_basis(d, d$y, rows, lik_gaussian(0.09), kernel_matern32(2, 1.3))
  dense <- fitc(matern, d$x, d$x[rows, ], d$new)
  C <- dense$K + diag(0.09, 50)
  centre <- mean(d$y)
  found <- predict(fit, d$new, se.fit = TRUE)
  expect_identical(fit$convergence$sweeps, 1L)
  expect_equal(unname(found$fit), drop(dense$cross %*% solve(C, d$y - centre)) + centre,
               tolerance = 1e-10)
  expect_equal(unname(found$se.fit^2),
               dense$new - rowSums((dense$cross %*% solve(C)) * dense$cross), tolerance = 1e-10)
  expect_equal(as.numeric(logLik(fit)), reference_gaussian_evidence(dense$K, d$y, 0.09, centre),
               tolerance = 1e-10)
})

test_that("for classes EP on a basis is dense EP with the FITC kernel matrix", {
  d <- basis_data()
  rows <- c(3, 9, 14, 20, 33, 41)
  for (lik in list(lik_probit(0.3), lik_logit(0.3))) {
    fit <- at_basis(d, d$class, rows, lik, kernel_matern32(2, 1.3))
    dense <- fitc(matern, d$x, d$x[rows, ], d$new)
    reference <- reference_ep(dense$K, function(i, mu, s2) {
      .Call(sg_lik_tilt, c_lik(lik, 0.3), 0.3, fit$data_rows[, i, drop = FALSE], mu, s2, FALSE)
    })
    # sequential and batch EP, both converged to 1e-11 or better
    expect_equal(as.numeric(logLik(fit)), reference$log_evidence, tolerance = 1e-9)
    expect_equal(fit$cavity$mean, reference$cav_mean, tolerance = 1e-8)
    expect_equal(fit$cavity$var, reference$cav_var, tolerance = 1e-8)
    found <- predict(fit, d$new, type = "latent", se.fit = TRUE)
    alpha <- solve(dense$K, reference$mean)
    expect_equal(unname(found$fit), drop(dense$cross %*% alpha), tolerance = 1e-8)
  }
})

test_that("a training row is predicted like any other row at its place", {
  # not with what its own response says of its residual: fitted() is predict() at the same inputs
  d <- basis_data()
  fit <- at_basis(d, d$class, c(3, 9, 14), lik_probit(0.3), kernel_matern32(2, 1.3))
  again <- predict(fit, d$x, type = "latent", se.fit = TRUE)
  expect_equal(unname(again$fit), fit$latent$mean, tolerance = 1e-10)
  expect_equal(unname(again$se.fit^2), fit$latent$var, tolerance = 1e-10)
})

test_that("with every row in the basis it is full EP", {
  memory_tier()
  d <- basis_data(30)
  for (y in list(d$y, d$class)) {
    full <- sparsegp(d$x, y, kernel = kernel_matern12(2, 1), learn = FALSE)
    sparse <- sparsegp(d$x, y, kernel = kernel_matern12(2, 1), learn = FALSE, basis = 30:1)
    # both stop at a residual of 1e-6
    expect_equal(logLik(sparse), logLik(full), tolerance = 1e-7)
    expect_equal(predict(sparse, d$new), predict(full, d$new), tolerance = 1e-5)
  }
})

test_that("a basis given as rows, as a matrix or as a data frame is the same basis", {
  memory_tier()
  d <- basis_data()
  frame <- data.frame(d$x, y = d$y)
  rows <- c(2, 8, 30)
  fit <- sparsegp(y ~ a + b, frame, basis = rows, learn = FALSE)
  points <- sparsegp(y ~ a + b, frame, basis = frame[rows, ], learn = FALSE)
  by_matrix <- sparsegp(d$x, d$y, basis = d$x[rows, ], learn = FALSE)
  expect_equal(fitted(points), fitted(fit), tolerance = 1e-12)
  expect_equal(unname(fitted(by_matrix)), unname(fitted(fit)), tolerance = 1e-12)
  expect_equal(basis(fit), structure(d$x[rows, ], rows = as.integer(rows),
                                     dimnames = list(as.character(rows), c("a", "b"))),
               tolerance = 1e-12)
  expect_null(attr(basis(points), "rows"))
})

test_that("points given twice count once, and near copies cost a jitter that is reported", {
  memory_tier()
  d <- basis_data()
  once <- sparsegp(d$x, d$y, basis = c(2, 8), learn = FALSE)
  twice <- sparsegp(d$x, d$y, basis = c(2, 8, 2), learn = FALSE)
  expect_identical(fitted(once), fitted(twice))
  expect_identical(once$jitter, 0)
  near <- sparsegp(d$x, d$y, basis = rbind(d$x[c(2, 8), ], d$x[2, ] + 1e-9), learn = FALSE)
  expect_gt(near$jitter, 0)
  expect_output(print(summary(near)), "jitter on the basis's kernel matrix")
  # the copy says nothing new; a share of 1e-12 of the diagonal at a condition number of 1e12
  expect_equal(fitted(near), fitted(once), tolerance = 1e-3)
})

test_that("a point at which the kernel is 0 carries nothing, and others are as without it", {
  x <- -5:5
  y <- sin(x) + x / 3
  for (kernel in list(kernel_linear(), kernel_linear() * kernel_rbf())) {
    on <- function(basis, ...) sparsegp(x, y, kernel = kernel, basis = basis, scale = FALSE, ...)
    for (zero in list(c(6L, 1L, 9L), c(1L, 6L, 9L))) {
      for (learn in c(FALSE, TRUE)) {
        expect_equal(logLik(on(zero, learn = learn)), logLik(on(c(1L, 9L), learn = learn)),
                     tolerance = 1e-6) # what a search leaves
      }
    }
  }
  more <- function(basis) predict(update(on(basis), data.frame(x = 7), y = 2), 9, se.fit = TRUE)
  on <- function(basis) sparsegp(x, y, kernel = kernel_linear(fixed(1)), basis = basis)
  expect_equal(more(c(1L, 6L)), more(1:2), tolerance = 1e-6)
})

test_that("learning on a basis raises the evidence and finds the noise", {
  slow_tier()
  d <- basis_data(200)
  start <- sparsegp(d$x, d$y, basis = 1:40, learn = FALSE)
  fit <- sparsegp(d$x, d$y, basis = 1:40)
  expect_true(fit$learning$converged)
  expect_gt(fit$log_evidence, start$log_evidence)
  expect_lt(abs(log(coef(fit)[["noise"]] / 0.09)), 0.5)
})

test_that("variances lie between zero and the prior's, also next to basis points", {
  d <- basis_data()
  fit <- sparsegp(d$x, d$class, basis = c(1, 5, 9), kernel = kernel_rbf(3, 1), learn = FALSE)
  new <- rbind(d$x, d$x[c(1, 5, 9), ] + 1e-8, 1e3 * d$x)
  sd <- predict(fit, new, type = "latent", se.fit = TRUE)$se.fit
  expect_true(all(sd >= 0 & sd <= sqrt(3) * (1 + 1e-12)))
})

# Their prior variance through the basis is 1e-174 to below 1e-308, and its square is 0.
test_that("rows far from every basis point do not keep EP from converging", {
  memory_tier()
  set.seed(1)
  x <- rnorm(60)
  rows <- data.frame(x = c(x, 0), y = factor(c(x + rnorm(60) > 0, TRUE)))
  evidence <- vapply(c(22, 25, 26.9, 28, 60), function(far) {
    rows$x[61L] <- far
    fit <- sparsegp(y ~ x, rows, "probit", kernel = kernel_rbf(1, 1), learn = FALSE, scale = FALSE,
                    basis = matrix(seq(-2, 2, by = 0.5)))
    expect_true(fit$convergence$converged)
    expect_lt(fit$convergence$sweeps, 20)
    as.numeric(logLik(fit))
  }, 0)
  # A site that is connected to nothing adds log(1/2), however far it is.
  expect_equal(evidence, rep(evidence[5L], 5L), tolerance = 1e-12)
})

test_that("more rows than full EP can hold are refused with the remedy", {
  slow_tier()
  x <- seq(0, 1, length.out = 5e5) # 2 TB a matrix
  expect_error(sparsegp(x, x, learn = FALSE, method = "ep"), "method_ivm", class = "sparsegp_error")
  x <- x[1:5e4 * 10]
  fit <- sparsegp(x, sin(9 * x), basis = seq(1, 5e4, by = 5e3), learn = FALSE)
  expect_length(fitted(fit), 5e4)
})

test_that("a basis that is none is refused by name", {
  slow_tier()
  d <- basis_data()
  for (bad in list(0, 51, 1.5, NA_real_, integer(), "a", d$x[1:3, 1, drop = FALSE],
                   d$x[0, ], d$x[1:2, ] * Inf, list(1))) {
    expect_error(sparsegp(d$x, d$y, basis = bad), "`basis`", class = "sparsegp_error")
  }
  frame <- data.frame(d$x, y = d$y)
  expect_error(sparsegp(y ~ a + b, frame, basis = frame["a"]), "`basis`", class = "sparsegp_error")
})

test_that("a fit on a basis says so, and asks for rows it has not kept", {
  d <- basis_data()
  fit <- sparsegp(cbind(d$x, c = d$y^2), d$class, basis = 1:9, learn = FALSE)
  expect_output(print(fit), "EP, 9 inducing points")
  unkept <- with_policy(kept_inputs = 100, code = {
    sparsegp(cbind(d$x, c = d$y^2), d$class, basis = 1:9, learn = FALSE)
  })
  expect_error(draws(unkept), "`newdata`", class = "sparsegp_error")
  kept <- sparsegp(d$x, d$class, basis = 1:9, learn = FALSE)
  expect_identical(dim(draws(kept, n = 2)), c(50L, 2L))
  expect_length(loo_lpd(fit), 50L)
  expect_true(all(sites(fit)$precision >= 0))
})

# Windows have 2048 rows: a whole one and a part. Rows seen anew are seen through the posterior of
# the sweep before, and the sums turned back: the same numbers, rounded otherwise (by 1e-15 or so
# times the condition of the basis, which is 1e4 here at most).
test_that("a pool too small for the rows changes memory, not numbers", {
  memory_tier()
  d <- basis_data(2500)
  fit <- function(pool) {
    sparsegp(d$x, d$class, likelihood = lik_probit(), kernel = kernel_matern32(ard = TRUE),
             basis = c(3, 9, 140, 1200, 1900, 2499), method = method_ep(pool = pool),
             learn = learn_control(inner = 3))
  }
  held <- suppressWarnings(fit(Inf))
  anew <- suppressWarnings(fit(1))
  expect_equal(anew$learning$gradient, held$learning$gradient, tolerance = 1e-10)
  expect_equal(anew$posterior, held$posterior, tolerance = 1e-10)
  expect_equal(as.numeric(logLik(anew)), as.numeric(logLik(held)), tolerance = 1e-10)
})

test_that("a small pool changes no numbers: shared and own bases, sites that widen, sharp ones", {
  memory_tier()
  d <- basis_data(1100)
  three <- cut(d$y, 3, labels = c("low", "mid", "high"))
  at <- c(3, 9, 140, 600, 801, 1099)
  cases <- list(list(d$class, lik_probit(), 0), list(d$class, lik_probit(), 3),
                list(d$y + rep(c(4, rep(0, 10)), 100), lik_student(df = 3, scale = 0.1), 0),
                list(three, lik_mprobit(shared = FALSE), 3), list(three, lik_mprobit(), 0),
                list(round(exp(12 + d$y)), lik_poisson(), 0))
  for (case in of_tier(cases, 2L)) {
    fit <- function(pool) {
      sparsegp(d$x, case[[1L]], case[[2L]], kernel = kernel_rbf(1, 1), basis = at, learn = FALSE,
               method = method_ep(pool = pool, mixing = case[[3L]], damping = 0.8))
    }
    held <- fit(Inf)
    anew <- fit(1)
    expect_equal(anew$latent, held$latent, tolerance = 1e-10)
    expect_equal(anew$state, held$state, tolerance = 1e-10)
    expect_equal(anew$posterior, held$posterior, tolerance = 1e-10)
    expect_lt(abs(as.numeric(logLik(anew) - logLik(held))) / 1100, 1e-10)
  }
})

test_that("EP of very unequal classes comes to rest: steps that overshoot or swing stay shorter", {
  memory_tier()
  # A few labels among many, inputs with heavy tails and a large variance: with shares of the step
  # that grow until they overshoot, the same sweeps came again for ever in 56 cases like these of
  # 216, and all 216 end now.
  set.seed(1)
  n <- 400
  x <- matrix(rt(2 * n, 2), n)
  farthest <- order(-x[, 1])
  cases <- list(
    list(labels = 1, variance = 600, lengthscale = 4, points = 40, mixing = 3),
    list(labels = 1, variance = 5000, lengthscale = 1, points = 40, mixing = 0),
    list(labels = 5, variance = 600, lengthscale = 4, points = 10, mixing = 0),
    list(labels = 5, variance = 5000, lengthscale = 10, points = 40, mixing = 0)
  )
  for (case in cases) {
    y <- factor(seq_len(n) %in% farthest[seq_len(case$labels)])
    fit <- sparsegp(x, y, lik_probit(bias = -4), kernel_rbf(case$variance, case$lengthscale),
                    basis = seq_len(case$points), learn = FALSE,
                    method = method_ep(mixing = case$mixing, tol = 1e-3))
    expect_true(fit$convergence$converged, label = toString(case))
  }
})
