# The informative vector machine against a dense reference, and as a method.

ivm_sets <- function() {
  set.seed(6)
  x <- matrix(rnorm(240), 120)
  f <- sin(2 * x[, 1]) + x[, 2]
  list(list(x = x, y = f + 0.5 * rnorm(120) > 0, lik = lik_probit(0.2)),
       list(x = x, y = f + 0.5 * rnorm(120) > 0, lik = lik_logit(-0.3)),
       list(x = x, y = f + 0.3 * rnorm(120), lik = lik_gaussian(0.09)))
}

ivm_fit <- function(set, ...) {
  sparsegp(set$x, set$y, likelihood = set$lik, kernel = kernel_rbf(2, 0.8), scale = FALSE,
           learn = FALSE, method = method_ivm(...), offset = 0.1 * set$x[, 1])
}

test_that("without refinement it is the paper's, for every likelihood and both criteria", {
  for (set in of_tier(ivm_sets(), 1L, memory = 2L)) for (select in c("information", "entropy")) {
    fit <- ivm_fit(set, 40, select, "none")
    K <- class_kernel(fit, set$x, set$x, 1L)
    theta <- lik_theta(fit)
    lik <- c_lik(set$lik, theta)
    tilt <- function(i, mu, s2) {
      .Call(sg_lik_tilt, lik, theta, fit$data_rows[, i, drop = FALSE],
            mu + fit$offset[i] / fit$response$unit, s2, FALSE)
    }
    reference <- reference_ivm(K, tilt, 40, select)
    selection <- fit$convergence$selection
    expect_identical(selection$trace$row, reference$rows)
    expect_identical(attr(basis(fit), "rows"), reference$rows)
    # recursions of 40 steps against the dense covariance
    expect_equal(selection$trace$gain, reference$gain, tolerance = 1e-9)
    expect_equal(fit$sites$tau[reference$rows], reference$tau, tolerance = 1e-9)
    expect_equal(fit$sites$nu[reference$rows], reference$nu, tolerance = 1e-9)
    expect_equal(fit$latent$mean, reference$mean, tolerance = 1e-8)
    expect_equal(fit$latent$var, reference$var, tolerance = 1e-8)
    shift <- -120 * log(fit$response$unit)
    expect_equal(selection$trace$log_evidence, reference$evidence + shift, tolerance = 1e-9)
    expect_identical(selection$stopped, "size")
    again <- predict(fit, set$x, offset = fit$offset, type = "latent")
    expect_equal(unname(again), unname(predict(fit, type = "latent")), tolerance = 1e-8)
  }
})

test_that("kernel columns that wait, move and are given up are the right ones", {
  memory_tier()
  # all rows of the set, so that no place is left for columns in the end; candidates that shrink, of
  # a kernel whose parts are prepared each by itself
  set <- ivm_sets()[[1L]]
  fit_of <- function(size, ...) {
    sparsegp(set$x, set$y, likelihood = set$lik, learn = FALSE, scale = FALSE,
             kernel = kernel_rbf(2, 0.8) + kernel_linear(0.1) * kernel_constant(2),
             method = method_ivm(size, refine = "none", ...))
  }
  fit <- fit_of(120)
  K <- class_kernel(fit, set$x, set$x, 1L)
  theta <- lik_theta(fit)
  lik <- c_lik(set$lik, theta)
  tilt <- function(i, mu, s2) {
    .Call(sg_lik_tilt, lik, theta, fit$data_rows[, i, drop = FALSE], mu, s2, FALSE)
  }
  reference <- reference_ivm(K, tilt, 120, "information")
  expect_identical(fit$convergence$selection$trace$row, reference$rows)
  expect_equal(fit$latent$var, reference$var, tolerance = 1e-7) # recursions of 120 steps
  set.seed(1)
  pooled <- fit_of(60, pool = 60 * 70, block = 7, exchange = 3)
  rows <- attr(basis(pooled), "rows")
  C <- K[rows, rows] + diag(1 / pooled$sites$tau[rows])
  shift <- pooled$sites$nu[rows] / pooled$sites$tau[rows]
  expect_equal(pooled$latent$mean, drop(K[, rows] %*% solve(C, shift)), tolerance = 1e-8)
})

test_that("the first inclusion of a stationary kernel is all ties, and the earliest row's", {
  set <- ivm_sets()[[1L]]
  fit <- sparsegp(set$x, set$y, likelihood = lik_probit(0), kernel = kernel_rbf(2, 1),
                  learn = FALSE, method = method_ivm(3))
  expect_identical(attr(basis(fit), "rows")[1L], 1L)
})

test_that("leave-one-out densities are those of cavities", {
  set <- ivm_sets()[[3L]]
  fit <- ivm_fit(set, 120, refine = "none") # all rows: exact regression
  full <- sparsegp(set$x, set$y, likelihood = set$lik, kernel = kernel_rbf(2, 0.8), scale = FALSE,
                   learn = FALSE, offset = 0.1 * set$x[, 1], mean = "average")
  # 120 rank-one steps
  expect_equal(loo_lpd(fit), loo_lpd(full), tolerance = 1e-7)
  expect_equal(logLik(fit), logLik(full), tolerance = 1e-9)
})

test_that("refined on the basis it is batch EP on the rows chosen", {
  for (set in ivm_sets()) {
    fit <- ivm_fit(set, 25)
    given <- sparsegp(set$x, set$y, likelihood = set$lik, kernel = kernel_rbf(2, 0.8),
                      scale = FALSE, learn = FALSE, basis = attr(basis(fit), "rows"),
                      offset = 0.1 * set$x[, 1])
    expect_equal(fit$log_evidence, given$log_evidence, tolerance = 1e-10)
    expect_equal(predict(fit), predict(given), tolerance = 1e-8)
  }
})

test_that("a pool shrinks the candidates and still chooses distinct, informative rows", {
  memory_tier()
  set <- ivm_sets()[[1L]]
  set.seed(1)
  fit <- ivm_fit(set, 60, pool = 60 * 70, block = 10)
  set.seed(1)
  expect_identical(ivm_fit(set, 60, pool = 60 * 70, block = 10)$posterior, fit$posterior)
  rows <- attr(basis(fit), "rows")
  expect_identical(anyDuplicated(rows), 0L)
  expect_identical(rows[1:10], attr(basis(ivm_fit(set, 60)), "rows")[1:10]) # all still there
  tight <- ivm_fit(set, 30, pool = 30, block = 5)
  expect_lte(nrow(basis(tight)), 30L)
  set.seed(3)
  at_random <- ivm_fit(set, 30, "random")
  set.seed(4)
  expect_false(identical(attr(basis(ivm_fit(set, 30, "random")), "rows"),
                         attr(basis(at_random), "rows")))
})

test_that("selection stops when the gain is small, or no row can be included", {
  set <- ivm_sets()[[1L]]
  fit <- ivm_fit(set, 100, min_gain = 0.3)
  gain <- fit$convergence$selection$trace$gain
  expect_identical(fit$convergence$selection$stopped, "min_gain")
  expect_true(length(gain) < 100 && all(gain >= 0.3))
  expect_warning(
    one <- sparsegp(rep(0, 30), rnorm(30), kernel = kernel_linear(), learn = FALSE, scale = FALSE,
                    method = method_ivm(5, refine = "none")), "No input varies"
  )
  expect_identical(nrow(basis(one)), 0L)
  expect_identical(one$convergence$selection$stopped, "no row left")
})

test_that("hyperparameters are learned on what is selected", {
  slow_tier()
  skip_if_not_installed("MASS")
  set.seed(1)
  d <- MASS::crabs[sample(200L), ]
  fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, method = "ivm")
  full <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, control = gp_control(integrate = "none"))
  expect_equal(fit$log_evidence, full$log_evidence, tolerance = 0.01)
  own <- sparsegp(sex ~ FL + RW + CL + CW + BD, d, method = method_ivm(40, refine = "none"))
  expect_true(all(is.finite(loo_lpd(own))))
  expect_output(print(summary(fit, details = TRUE)), "100 points selected; stopped by size")
  for (bad in list(0, 1.5, NA, "a", Inf)) {
    expect_error(method_ivm(size = bad), "`size`", class = "sparsegp_error")
    expect_error(method_ivm(block = bad), "`block`", class = "sparsegp_error")
  }
  expect_error(method_ivm(keep = 2), "`keep`", class = "sparsegp_error")
  expect_error(method_ivm(select = "best"), "`select`", class = "sparsegp_error")
  expect_error(method_ivm(min_gain = -1), "`min_gain`", class = "sparsegp_error")
  expect_error(method_ivm(pool = 0), "`pool`", class = "sparsegp_error")
})

test_that("a row that is taken out again leaves the posterior of the others", {
  memory_tier()
  # the exchange's entropy is that of dense covariances: moves are those of a greedy reference
  set <- ivm_sets()[[1L]]
  entropy <- function(fit) {
    rows <- attr(basis(fit), "rows")
    K <- class_kernel(fit, fit$posterior$basis, fit$posterior$basis, 1L)
    tau <- fit$sites$tau[rows]
    -as.numeric(determinant(diag(length(rows)) + sqrt(tau) * K * rep(sqrt(tau), each = length(tau)),
                            logarithm = TRUE)$modulus) / 2
  }
  for (select in c("information", "random")) {
    set.seed(4)
    before <- ivm_fit(set, 20, select, "none")
    last <- entropy(before)
    for (moves in 1:3) {
      set.seed(4)
      fit <- ivm_fit(set, 20, select, "none", exchange = moves)
      made <- fit$convergence$selection$exchanged
      if (made < moves) break
      expect_lt(entropy(fit), last)
      last <- entropy(fit)
    }
    if (select == "random") expect_gt(made, 1L)
  }
  # it ends where none lowers the entropy
  set.seed(4)
  expect_lt(ivm_fit(set, 20, "random", "none", exchange = 500)$convergence$selection$exchanged, 500)
  # and the state after moves is that of its sites, from scratch
  set.seed(4)
  fit <- ivm_fit(set, 20, "random", "none", exchange = 10)
  rows <- attr(basis(fit), "rows")
  expect_identical(anyDuplicated(rows), 0L)
  k <- class_kernel(fit, set$x, set$x[rows, ], 1L)
  C <- class_kernel(fit, set$x[rows, ], set$x[rows, ], 1L) + diag(1 / fit$sites$tau[rows])
  shift <- fit$sites$nu[rows] / fit$sites$tau[rows]
  expect_equal(fit$latent$mean, drop(k %*% solve(C, shift)), tolerance = 1e-9)
  expect_equal(fit$latent$var, 2 - rowSums((k %*% solve(C)) * k), tolerance = 1e-9)
})

test_that("an exchange is the best the dense reference finds for the least row", {
  memory_tier()
  set <- ivm_sets()[[1L]]
  set.seed(4)
  before <- ivm_fit(set, 15, "random", "none")
  set.seed(4)
  after <- ivm_fit(set, 15, "random", "none", exchange = 1)
  rows <- attr(basis(before), "rows")
  K <- class_kernel(before, set$x, set$x, 1L)
  posterior <- function(rows, tau, nu) {
    A <- K - K[, rows] %*% solve(K[rows, rows] + diag(1 / tau), K[rows, ])
    list(var = diag(A), mean = drop(K[, rows] %*% solve(K[rows, rows] + diag(1 / tau), nu / tau)))
  }
  tau <- before$sites$tau[rows]
  nu <- before$sites$nu[rows]
  B <- diag(15) + sqrt(tau) * K[rows, rows] * rep(sqrt(tau), each = 15)
  least <- which.max(diag(solve(B))) # -log of it is what the row is worth
  without <- posterior(rows[-least], tau[-least], nu[-least])
  gain <- vapply(seq_along(set$y), function(i) {
    z <- .Call(sg_lik_tilt, c_lik(set$lik, lik_theta(before)), lik_theta(before),
               before$data_rows[, i, drop = FALSE], without$mean[i] + before$offset[i],
               without$var[i], FALSE)
    -log1p(without$var[i] * z$d2) / 2
  }, 0)
  gain[rows[-least]] <- -Inf
  expect_identical(setdiff(attr(basis(after), "rows"), rows), setdiff(which.max(gain), rows))
  expect_identical(setdiff(rows, attr(basis(after), "rows")), setdiff(rows[least], which.max(gain)))
})

test_that("sites refined on the active set are full EP's on these rows", {
  memory_tier()
  for (set in ivm_sets()[1:2]) {
    fit <- ivm_fit(set, 30, refine = "active")
    rows <- attr(basis(fit), "rows")
    few <- sparsegp(set$x[rows, ], set$y[rows], likelihood = set$lik, kernel = kernel_rbf(2, 0.8),
                    scale = FALSE, learn = FALSE, offset = 0.1 * set$x[rows, 1])
    # both to 1e-6 of a cavity's standard deviation, from other starts
    expect_equal(predict(fit, set$x, type = "latent"), predict(few, set$x, type = "latent"),
                 tolerance = 1e-5)
    rest <- sum(loo_lpd(fit)[-rows])
    expect_equal(fit$log_evidence, few$log_evidence + rest, tolerance = 1e-6)
    expect_gt(fit$convergence$sweeps, 1L)
  }
})

test_that("a sharp site's cavity keeps its digits, and a row without one ends the run", {
  memory_tier()
  set.seed(1)
  x <- runif(40, -3, 3)
  y <- sin(2 * x) + 0.1 * rnorm(40)
  kernel <- kernel_matern12(variance = 2, lengthscale = 0.3)
  # leave-one-out variances of regression on the active rows: of 1 - tau var eight or four digits
  # would be left
  for (noise in c(1e-8, 1e-12)) {
    fit <- sparsegp(x, y, lik_gaussian(noise), kernel, method = method_ivm(10, refine = "none"),
                    learn = FALSE)
    unit <- fit$response$unit^2
    points <- fit$posterior$basis
    K <- class_kernel(fit, points, points, 1L) + noise / unit * diag(10)
    expect_equal(fit$cavity$var[attr(basis(fit), "rows")], 1 / diag(solve(K)) - noise / unit,
                 tolerance = 1e-9)
  }
  none <- list(mean = 0, var = 1)
  lost <- cavities_of_all(list(), numeric(), tau = 1, nu = 0, g = 0, none, 0)
  expect_identical(lost$status, catalogue()$statuses[["not_finite"]])
})

test_that("a total is shared by the classes that gain from it, and size is the most of each", {
  slow_tier()
  fit <- function(lik = lik_mprobit(0, coupled = FALSE), kernel = kernel_rbf(3, 2), ...) {
    sparsegp(Species ~ ., iris, lik, kernel, learn = FALSE, method = method_ivm(...))
  }
  of_class <- function(fit) c(table(factor(fit$convergence$selection$trace$class, 1:3)))
  shared <- fit(size = 40, total = 45)
  expect_identical(sum(of_class(shared)), 45L)
  expect_lt(of_class(shared)[[1L]], 10L) # setosa is told at once
  expect_identical(shared$convergence$selection$stopped, "size")
  # the first inclusions are those without a total, and what a total leaves free changes nothing
  free <- fit(size = 40)
  same <- shared$convergence$selection$trace
  expect_equal(same, free$convergence$selection$trace[seq_len(45L), ])
  expect_identical(predict(fit(size = 10, total = 30)), predict(fit(size = 10)))
  # sets that no observation joined
  for (refine in c("basis", "none")) {
    one <- fit(size = 5, total = 1, refine = refine)
    expect_identical(sum(of_class(one)), 1L)
    expect_true(all(is.finite(predict(one, type = "prob"))))
  }
  expect_error(fit(lik_probit(0), total = 20), "has a total", class = "sparsegp_error")
  expect_error(sparsegp(dist ~ speed, cars, method = method_ivm(5, total = 5)), "has a total",
               class = "sparsegp_error")
  expect_error(method_ivm(total = 0), "`total`", class = "sparsegp_error")
})
