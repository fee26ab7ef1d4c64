# Fits by nearest neighbours (method_neighbours()): orders, neighbours and densities against brute
# force, and fits against full EP.

# Places in the unit square and a response that varies over them.
map_rows <- function(n = 150, noise = 0.2) {
  set.seed(1)
  X <- cbind(lon = stats::runif(n), lat = stats::runif(n))
  list(x = X, y = sin(6 * X[, 1]) * cos(5 * X[, 2]) + noise * stats::rnorm(n))
}

point_sets <- function() {
  set.seed(2)
  list(
    square = matrix(stats::runif(300), 150), five = matrix(stats::runif(500), 100),
    line = cbind(stats::runif(100), 0), grid = as.matrix(expand.grid(1:9, 1:9)) + 0,
    clusters = rbind(matrix(stats::rnorm(60) / 1e6, 30), matrix(stats::rnorm(60) + 50, 30)),
    copies = rbind(matrix(stats::runif(40), 20), matrix(0.5, 12, 2)), two = diag(2)
  )
}

test_that("the order is maximin, and neighbours are the nearest before each row", {
  memory_tier()
  for (name in names(point_sets())) {
    X <- point_sets()[[name]]
    D <- as.matrix(stats::dist(X))
    found <- neighbours_before(X, 6L, seq_len(nrow(X)))
    expect_identical(sort(found$order), seq_len(nrow(X)), label = name)
    away <- function(order) {
      vapply(seq_along(order)[-1L], function(q) min(D[order[q], order[seq_len(q - 1L)]]), 0)
    }
    expect_equal(away(found$order), away(reference_maximin(X)), tolerance = 1e-12, label = name)
    wanted <- reference_before(X, found$order, 6L)
    own <- lapply(seq_len(nrow(X)), function(i) found$near[found$near[, i] > 0L, i])
    expect_identical(lengths(own), lengths(wanted))
    far <- function(near) lapply(seq_along(near), function(i) unname(D[i, near[[i]]]))
    expect_equal(far(own), far(wanted), tolerance = 1e-9)
  }
})

test_that("the nearest rows of a point are those of brute force", {
  X <- point_sets()$five
  at <- matrix(stats::runif(50), 10)
  D <- as.matrix(stats::dist(rbind(at, X)))[1:10, -(1:10)]
  expect_identical(neighbours_of(X, 1:100, at, 4L), unname(apply(D, 1L, order)[1:4, ]))
  expect_identical(neighbours_of(X, 1:100, at, 120L)[101:120, 1L], integer(20))
})

test_that("nearest rows at the levels of the order are those of brute force, each once", {
  memory_tier()
  for (name in c("square", "five", "clusters", "copies")) {
    X <- point_sets()[[name]]
    n <- nrow(X)
    at <- X[1:8, ] + 0.013
    order <- neighbours_before(X, 0L, seq_len(n))$order
    prefix <- c(n, 20L, 5L)
    found <- .Call(sg_neighbours_at_levels, unname(X), order, unname(at), 6L, prefix)
    for (i in 1:8) {
      d <- colSums((t(X) - at[i, ])^2)
      wanted <- lapply(prefix, function(p) {
        own <- sort(order[seq_len(p)])
        own[base::order(d[own])]
      })
      own <- found[found[, i] > 0L, i]
      expect_identical(anyDuplicated(own), 0L)
      expect_setequal(own, unlist(lapply(wanted, utils::head, 6L)))
    }
  }
})

# The kernel Matern 3/2 of two inputs as C takes it.
spec_matern32 <- function() {
  spec_for_c(resolve_kernel(kernel_matern32(), list(names = c("a", "b"), kept = c(TRUE, TRUE))))
}

test_that("rows of a point are chosen by the variance that they leave, for slopes by both", {
  set.seed(11)
  spec <- spec_matern32()
  theta <- log(c(1.3, 0.4))
  X <- rbind(matrix(stats::runif(50), 25), matrix(stats::rnorm(30) / 100, 15))
  at <- matrix(stats::runif(20), 10)
  noise <- stats::rexp(40) / 50
  near <- vapply(1:10, function(i) sample(40L, 30L), integer(30))
  near[3, ] <- 0L
  found <- chosen_rows(spec, theta, list(x = X, noise = noise), at, near, 7L)
  for (i in 1:10) {
    own <- near[near[, i] > 0L, i]
    K <- reference_matern32(rbind(X[own, ], at[i, ]), rbind(X[own, ], at[i, ]), 1.3, 0.4) +
      diag(c(noise[own], 0))
    expect_identical(found[, i], own[reference_informative(K, 7L)])
  }
  # with slopes the variances that are left of both are small: a value at a row is known by it
  v <- matrix(c(1, 0), 10, 2, byrow = TRUE)
  rows <- list(x = X, noise = rep(1e-9, 40))
  sloped <- chosen_rows(spec, theta, rows, X[1:10, ], near[-3, ], 7L, v)
  plain <- chosen_rows(spec, theta, rows, X[1:10, ], near[-3, ], 7L)
  left <- function(near) {
    neighbour_weights(spec, theta, X, rows$noise, X[1:10, ], near, v)$root[4L, ]
  }
  expect_lt(mean(log(left(sloped))), mean(log(left(plain))))
  # all of no more candidates than are asked for
  expect_identical(chosen_rows(spec, theta, rows, at, near[1:5, ], 5L)[1:4, ], near[c(1:2, 4:5), ])
})

test_that("the density is that of its definition, with the gradient of its differences", {
  rows <- map_rows(60)
  K <- reference_matern32(rows$x, rows$x, 1.3, 0.4)
  spec <- spec_for_c(resolve_kernel(kernel_matern32(), list(names = c("a", "b"),
                                                            kept = c(TRUE, TRUE))))
  phi <- cbind(1, rows$x[, 1]) * 10
  known <- c(neighbours_before(rows$x, 7L, rows$y), k = 7L)
  N <- lapply(seq_len(60), function(i) known$near[known$near[, i] > 0L, i])
  of <- function(theta, phi = NULL, gradient = FALSE) {
    given <- list(x = rows$x, noise = rep(exp(theta[3L]), 60), z = rows$y, phi = phi, k = 7L)
    density_by_neighbours(spec, theta[1:2], given, known, gradient)
  }
  theta <- log(c(1.3, 0.4, 0.1))
  expect_equal(of(theta)$logz, reference_density(K + diag(0.1, 60), rows$y, N), tolerance = 1e-12)
  # the factor's precision matrix, and the coefficients of a mean by their marginal density
  W <- vapply(seq_len(60), function(i) {
    C <- K + diag(0.1, 60)
    b <- if (length(N[[i]])) solve(C[N[[i]], N[[i]]], C[N[[i]], i]) else numeric()
    row <- replace(numeric(60), i, 1)
    row[N[[i]]] <- -b
    row / sqrt(C[i, i] - sum(b * C[N[[i]], i]))
  }, numeric(60))
  C <- solve(tcrossprod(W)) + tcrossprod(phi)
  expect_equal(of(theta, phi)$logz, -sum(log(diag(chol(C)))) - 30 * log(2 * pi) -
                 sum(rows$y * solve(C, rows$y)) / 2, tolerance = 1e-9)
  for (phi in list(NULL, phi)) {
    differences <- vapply(1:3, function(p) {
      e <- replace(numeric(3), p, 1e-5)
      (of(theta + e, phi)$logz - of(theta - e, phi)$logz) / 2e-5
    }, 0)
    expect_equal(of(theta, phi, TRUE)$gradient, differences, tolerance = 1e-7)
  }
})

fit_map <- function(rows, ..., kernel = kernel_matern32(lengthscale = 0.5), learn = FALSE) {
  sparsegp(rows$x, rows$y, kernel = kernel, ..., learn = learn)
}

# numbers: policy$known_factor
same_as_full <- function(numbers) with_policy(known_factor = numbers, code = {
  rows <- map_rows(80)
  new <- rbind(cbind(lon = stats::runif(4), lat = stats::runif(4)), rows$x[1:2, ])
  kernels <- list(kernel_matern32(lengthscale = 0.5),
                  kernel_matern52(lengthscale = c(0.5, 0.8), ard = TRUE) + kernel_linear())
  for (kernel in kernels) for (mean in list("zero", ~ lon)) {
    both <- lapply(list(method_ep(), method_neighbours(k = 79)), function(method) {
      fit_map(rows, kernel = kernel, mean = mean, method = method,
              weights = rep(c(1, 2), 40), offset = rows$x[, 1])
    })
    same <- function(f, tolerance = 1e-8) {
      seen <- lapply(both, function(fit) {
        set.seed(3)
        f(fit)
      })
      expect_equal(seen[[2]], seen[[1]], tolerance = tolerance)
    }
    at <- rep(0.5, 6)
    same(logLik)
    runs <- lapply(both, function(fit) {
      engine_run(problem_of_fit(fit), fit$hyper$theta, gradient = TRUE)
    })
    for (field in c("logz", "gradient", "mean", "var", "cav_mean", "cav_var", "lpd")) {
      expect_equal(runs[[2]][[field]], runs[[1]][[field]], tolerance = 1e-8, label = field)
    }
    same(function(fit) predict(fit, new, offset = at, interval = "prediction",
                               weights = rep(1, 6)))
    same(function(fit) predict(fit, new, offset = at, type = "link", se.fit = TRUE,
                               covariance = TRUE))
    same(function(fit) suppressWarnings(draws(fit, new, 4)), 1e-6) # roots of a covariance
    same(function(fit) slopes(fit, new))
    same(function(fit) slopes(fit, new, average = TRUE))
    same(function(fit) loo(fit)$pointwise)
    same(residuals)
    same(function(fit) suppressWarnings(c(unclass(next_rows(fit, new, 2)))), 1e-6)
  }
})

test_that("of all neighbours everything is that of full EP", {
  slow_tier()
  same_as_full(1.25e7) # a sparse factor of latent values
})

test_that("so it is where rows are given responses", {
  slow_tier()
  same_as_full(1)
})

test_that("more neighbours come nearer to full EP", {
  slow_tier()
  rows <- map_rows(400)
  full <- fit_map(rows, method = method_ep(), mean = "zero")
  new <- cbind(lon = stats::runif(50), lat = stats::runif(50))
  wanted <- predict(full, new, se.fit = TRUE)
  off <- vapply(c(5, 10, 20, 40), function(k) {
    fit <- fit_map(rows, method = method_neighbours(k = k), mean = "zero")
    p <- predict(fit, new, se.fit = TRUE)
    c(abs(logLik(fit) - logLik(full)), sqrt(mean((p$fit - wanted$fit)^2 / wanted$se.fit^2)))
  }, numeric(2))
  expect_true(all(apply(off, 1L, diff) < 0))
  expect_lt(off[1L, 3L], 0.5) # nats, of 20 neighbours; 400 rows
  expect_lt(off[2L, 3L], 0.05) # standard errors
  # where their factor would be too large, rows are given responses: these average less of the noise
  wide <- with_policy(known_factor = 1, code = {
    fit_map(rows, method = method_neighbours(k = 20), mean = "zero")
  })
  expect_false(wide$posterior$neighbours$latent)
  p <- predict(wide, new, se.fit = TRUE)
  expect_lt(sqrt(mean((p$fit - wanted$fit)^2 / wanted$se.fit^2)), 0.35)
  expect_equal(predict(wide, rows$x), fitted(wide), tolerance = 1e-7)
})

test_that("noise that is next to nothing has no sparse factor", {
  rows <- map_rows(60, 0)
  made <- function(noise) {
    fit_map(rows, likelihood = lik_gaussian(variance = fixed(noise)), mean = "zero",
            method = method_neighbours(k = 8))$posterior$neighbours$latent
  }
  expect_true(made(1e-3))
  expect_false(made(1e-9))
})

test_that("the order of rows does not matter, and copies and near copies have a posterior", {
  memory_tier()
  rows <- map_rows(120)
  rows$x[11:20, ] <- rows$x[1:10, ] # the same places, and some within 1e-9
  rows$x[21:30, ] <- rows$x[1:10, ] + 1e-9
  made <- function(rows, k = 15) fit_map(rows, method = method_neighbours(k = k))
  fit <- made(rows)
  turned <- sample(120)
  other <- made(list(x = rows$x[turned, ], y = rows$y[turned]))
  expect_equal(c(logLik(other)), c(logLik(fit)), tolerance = 1e-12)
  expect_equal(predict(other, rows$x), predict(fit, rows$x), tolerance = 1e-10)
  full <- fit_map(rows, method = method_ep())
  # a node keeps 1e-7 of its variance
  expect_equal(c(logLik(made(rows, 119))), c(logLik(full)), tolerance = 1e-6)
  twice <- rows$x[rep(1:3, 2), ] # joint moments of copies
  joint <- function(fit) predict(fit, twice, type = "link", se.fit = TRUE, covariance = TRUE)
  expect_equal(joint(made(rows, 119)), joint(full), tolerance = 1e-6) # jitter 1e-12
})

test_that("neighbours are near in length scales: 1 to 1000, a line, an input that is not read", {
  memory_tier()
  rows <- map_rows(200)
  stretched <- cbind(lon = rows$x[, 1] * 1000, lat = rows$x[, 2])
  at <- function(x, ...) {
    fit_map(list(x = x, y = rows$y), scale = FALSE, method = method_neighbours(k = 10), ...)
  }
  one <- at(rows$x, kernel = kernel_matern32(lengthscale = c(0.5, 0.5), ard = TRUE))
  far <- at(stretched, kernel = kernel_matern32(lengthscale = c(500, 0.5), ard = TRUE))
  expect_equal(c(logLik(far)), c(logLik(one)), tolerance = 1e-9)
  unread <- cbind(rows$x, other = stats::rnorm(200))
  not <- at(unread, kernel = kernel_matern32(vars = 1:2, lengthscale = c(0.5, 0.5), ard = TRUE))
  expect_equal(c(logLik(not)), c(logLik(one)), tolerance = 1e-9)
  line <- list(x = cbind(t = rows$x[, 1]), y = rows$y)
  both <- lapply(list(method_ep(), method_neighbours(k = 12)), function(method) {
    fit_map(line, method = method, kernel = kernel_matern12(lengthscale = 0.5))
  })
  expect_equal(fitted(both[[2]]), fitted(both[[1]]), tolerance = 3e-2) # noise is averaged less
})

test_that("EP is the same where one length scale is a thousand times the other, and near full EP", {
  memory_tier()
  rows <- map_rows(150)
  set.seed(9)
  y <- stats::rpois(150, exp(rows$y))
  new <- cbind(lon = stats::runif(20), lat = stats::runif(20))
  at <- function(width, method) {
    x <- cbind(lon = rows$x[, 1] * width, lat = rows$x[, 2])
    fit_map(list(x = x, y = y), likelihood = "poisson", scale = FALSE, method = method,
            kernel = kernel_matern32(lengthscale = c(0.5 * width, 0.5), ard = TRUE))
  }
  link <- function(fit, width) {
    predict(fit, cbind(lon = new[, 1] * width, lat = new[, 2]), type = "link", se.fit = TRUE)
  }
  one <- at(1, method_neighbours(k = 10))
  far <- at(1000, method_neighbours(k = 10))
  expect_equal(c(logLik(far)), c(logLik(one)), tolerance = 1e-9)
  expect_equal(link(far, 1000), link(one, 1), tolerance = 1e-7)
  # a function that is rough in one direction alone: a thousand times as long a scale in the other
  rough <- lapply(list(method_ep(), method_neighbours(k = 20)), function(method) {
    fit_map(list(x = rows$x, y = y), likelihood = "poisson", scale = FALSE, method = method,
            kernel = kernel_matern32(lengthscale = c(0.2, 200), ard = TRUE))
  })
  p <- lapply(rough, link, 1)
  expect_equal(c(logLik(rough[[2]])), c(logLik(rough[[1]])), tolerance = 0.5 / 200) # nats
  expect_lt(max(abs(p[[2]]$fit - p[[1]]$fit) / p[[1]]$se.fit), 0.1)
  expect_equal(p[[2]]$se.fit, p[[1]]$se.fit, tolerance = 0.03)
})

test_that("learning ends where full EP's does, and rows can be added and fits saved", {
  slow_tier()
  rows <- map_rows(90)
  fits <- lapply(list(method_ep(), method_neighbours(k = 89)), function(method) {
    fit_map(rows, kernel = kernel_matern32(), method = method, learn = TRUE)
  })
  expect_equal(coef(fits[[2]]), coef(fits[[1]]), tolerance = 1e-3) # of two searches
  expect_output(print(fits[[2]]), "regression, 89 nearest neighbours")
  fit <- fits[[2]]
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), rows$x), predict(fit, rows$x))
  damaged <- fit
  damaged$posterior$neighbours$tau <- damaged$posterior$neighbours$tau[-1]
  expect_error(predict(damaged, rows$x), class = "sparsegp_error")
  few <- fit_map(list(x = rows$x[1:60, ], y = rows$y[1:60]), scale = FALSE, mean = "zero",
                 method = method_neighbours(k = 89))
  more <- update(few, rows$x[61:90, ], y = rows$y[61:90])
  expect_identical(nobs(more), 90L)
  again <- engine_run(problem_of_fit(more), more$hyper$theta)
  expect_equal(more$latent$mean, again$mean, tolerance = 1e-10)
})

# A rough map: Matern 1/2 of range 0.1, each value drawn given the 15 nearest before it.
rough_map <- function(n) {
  set.seed(7)
  X <- cbind(lon = stats::runif(n), lat = stats::runif(n))
  near <- neighbours_before(X, 15L, seq_len(n))
  spec <- spec_for_c(resolve_kernel(kernel_matern12(), list(names = colnames(X),
                                                            kept = c(TRUE, TRUE))))
  own <- neighbour_weights(spec, log(c(1, 0.1)), X, NULL, X, matrix(0L, 0L, n), before = near$near)
  root <- matrix(drop(own$root) * stats::rnorm(n))
  list(x = X, f = drop(solver_of_points(own$weights, near, 1L)(root)))
}

test_that("of many rows some teach the length scales, and kernels are compared by neighbours", {
  slow_tier()
  map <- rough_map(1800)
  fit <- with_policy(neighbour_rows = 900, code = {
    sparsegp(map$x, map$f + 0.3 * stats::rnorm(1800), method = method_neighbours(k = 12))
  })
  expect_match(format(fit$kernel), "matern12")
  expect_equal(log(coef(fit)[["noise"]]), log(0.09), tolerance = 0.25) # relatively: 0.05 to 0.16
  p <- predict(fit, map$x, interval = "confidence", level = 0.9)
  inside <- mean(p[, 2] < map$f & map$f < p[, 3])
  expect_gt(inside, 0.85)
  expect_lt(inside, 0.95)
})

test_that("what neighbours do not take is refused in words", {
  memory_tier()
  rows <- map_rows(40)
  fails <- function(pattern, ..., x = rows$x, y = rows$y, k = 5) {
    expect_error(sparsegp(x, y, ..., learn = FALSE, method = method_neighbours(k = k)), pattern,
                 class = "sparsegp_error")
  }
  fails("periodic", kernel = kernel_matern32() + kernel_periodic(vars = 1))
  fails("different inputs", kernel = kernel_rbf(vars = 1) + kernel_rbf(vars = 2))
  fails("no stationary part", kernel = kernel_linear())
  fails("6 inputs", kernel = kernel_rbf(), x = matrix(stats::rnorm(240), 40,
                                                      dimnames = list(NULL, letters[1:6])))
  fails("inducing points", kernel = kernel_rbf(), basis = 1:3)
  fails("factor", kernel = kernel_rbf(),
        x = data.frame(lon = rows$x[, 1], g = gl(4, 10)))
  fails("latent function", kernel = kernel_rbf(), y = gl(4, 10))
  fails("augment", kernel = kernel_rbf(), augment = jitter_rows(2))
  expect_error(method_neighbours(k = 0), "k", class = "sparsegp_error")
  many <- list(x = matrix(0, 1e6, 1L), options = list(k = 500))
  expect_error(plan_neighbours(many), "500 neighbours of 1000000", class = "sparsegp_error")
  X <- matrix(stats::runif(1e4), 2000)
  found <- neighbours_before(X, 20L, seq_len(2000))
  numbers <- factor_numbers(found$order, found$near, 5L)
  expect_null(refuse_large_factor(numbers, found$near))
  many <- c(found$order, 2001:32000) # which 2000 rows stand for
  numbers <- factor_numbers(many, found$near, 100L)
  expect_error(refuse_large_factor(numbers, found$near), "20 neighbours of 2000.*factor of",
               class = "sparsegp_error")
  fit <- fit_map(rows, method = method_neighbours(k = 5))
  expect_error(draws(fit, cbind(lon = 1:2001, lat = 0)), "2000", class = "sparsegp_error")
  expect_error(kl(fit, fit), "method_neighbours", class = "sparsegp_error")
})

test_that("the usual number of neighbours is larger for EP in three inputs", {
  memory_tier()
  rows <- map_rows(60)
  set.seed(3)
  three <- cbind(rows$x, up = stats::runif(60))
  labels <- factor(rows$y > 0)
  expect_null(method_neighbours()$k)
  neighbours <- function(x, y, method = method_neighbours(), kernel = kernel_matern32()) {
    sparsegp(x, y, kernel = kernel, method = method, learn = FALSE)$options$k
  }
  expect_identical(neighbours(rows$x, labels), 20L)
  expect_identical(neighbours(three, labels), 40L)
  expect_identical(neighbours(three, labels, kernel = kernel_matern32(vars = 1:2)), 20L)
  expect_identical(neighbours(three, rows$y), 20L)
  expect_identical(neighbours(three, labels, method_neighbours(5)), 5L)
})

test_that("a kernel or scale that neighbours do not take loses the race, with its reason", {
  slow_tier()
  set.seed(1)
  d <- data.frame(x = seq(0, 20, length.out = 200))
  d$wave <- sin(2 * pi * d$x / 1.5) + 0.2 * rnorm(200)
  d$heavy <- replace(sinh(3 * d$wave), 5, 4000)
  for (y in c("wave", "heavy")) {
    fit <- suppressWarnings(sparsegp(stats::reformulate("x", y), d, method = method_neighbours()))
    lost <- fit$choices$candidate[is.na(fit$choices$score)]
    expect_match(lost, "which defines no nearest rows|method_neighbours\\(\\) learns none")
    expect_gt(length(lost), 0L)
  }
})

test_that("EP of other likelihoods is full EP's with all neighbours, copies among the rows", {
  slow_tier()
  rows <- map_rows(70)
  rows$x[5:7, ] <- rows$x[8:10, ]
  f <- rows$y
  set.seed(5)
  responses <- list(poisson = stats::rpois(70, exp(f)), student = f + 0.1 * stats::rt(70, 2),
                    probit = factor(f + stats::rnorm(70) > 0),
                    negbin = stats::rnbinom(70, size = 2, mu = exp(f)),
                    gamma = stats::rgamma(70, 2) * exp(f))
  new <- rbind(cbind(lon = stats::runif(4), lat = stats::runif(4)), rows$x[7:8, ])
  for (lik in of_tier(names(responses), 2)) {
    methods <- list(method_ep(tol = 1e-10), method_neighbours(k = 69, tol = 1e-10))
    both <- lapply(methods, function(method) {
      fit_map(list(x = rows$x, y = responses[[lik]]), likelihood = lik, method = method)
    })
    same <- function(f, tolerance = 1e-8) {
      expect_equal(f(both[[2]]), f(both[[1]]), tolerance = tolerance, label = lik)
    }
    runs <- lapply(both, function(fit) {
      engine_run(problem_of_fit(fit), fit$hyper$theta, gradient = TRUE)
    })
    for (field in c("logz", "gradient", "mean", "var", "cav_mean", "cav_var", "lpd", "tau")) {
      expect_equal(runs[[2]][[field]], runs[[1]][[field]], tolerance = 1e-8,
                   label = paste(lik, field))
    }
    same(function(fit) predict(fit, new, type = "link", se.fit = TRUE, covariance = TRUE))
    same(function(fit) predict(fit, new))
    same(function(fit) slopes(fit, new))
    same(function(fit) slopes(fit, new, average = TRUE))
    same(function(fit) loo(fit)$pointwise)
  }
})

test_that("the sparse factor's solutions, inverse and gradient are those of dense algebra", {
  rows <- map_rows(60)
  spec <- spec_for_c(resolve_kernel(kernel_matern32(), list(names = c("a", "b"),
                                                            kept = c(TRUE, TRUE))))
  near <- neighbours_before(rows$x, 6L, seq_len(60))$near
  prior <- neighbour_precision(spec, log(c(1.3, 0.4)), rows$x, near)
  tau <- stats::rexp(60) - 0.05 # some are negative
  A <- as.matrix(prior$precision) + diag(tau)
  make <- factor_maker(prior$precision)
  make(numeric(60))
  factor <- make(tau)
  expect_equal(prior$log_d, -c(determinant(as.matrix(prior$precision))$modulus), tolerance = 1e-9)
  weights <- matrix(stats::rnorm(5 * 8), 5)
  at <- vapply(1:4, function(k) sample(60L, 5L), integer(5))
  at[2, 3] <- 0L
  weights[2, 5:6] <- 0
  dense <- vapply(1:4, function(k) {
    B <- matrix(0, 60, 2)
    B[at[at[, k] > 0, k], ] <- weights[at[, k] > 0, 2 * k - 1:0]
    c(crossprod(B, solve(A, B)))
  }, numeric(4))
  expect_equal(factor_squares(factor, at, weights, 2L), dense, tolerance = 1e-9)
  both <- at[, rep(1:4, each = 2)]
  B <- matrix(0, 60, 8)
  for (k in 1:8) B[both[both[, k] > 0, k], k] <- weights[both[, k] > 0, k]
  expect_equal(factor_products(factor, both, weights), crossprod(B, solve(A, B)), tolerance = 1e-9)
  expect_null(make(-1e3 * tau))
  # the gradient of EP with few neighbours, by differences at the fixed point
  fit <- fit_map(list(x = rows$x, y = stats::rpois(60, exp(rows$y))), likelihood = "poisson",
                 method = method_neighbours(k = 6, tol = 1e-12))
  problem <- with_neighbours(problem_of_fit(fit), fit$hyper$theta)
  problem$options$tol <- 1e-12
  theta <- fit$hyper$theta
  differences <- vapply(seq_along(theta), function(p) {
    e <- replace(0 * theta, p, 1e-4)
    (engine_run(problem, theta + e)$logz - engine_run(problem, theta - e)$logz) / 2e-4
  }, 0)
  expect_equal(engine_run(problem, theta, gradient = TRUE)$gradient, differences, tolerance = 1e-6)
})

test_that("joint moments are those of dense algebra, of slopes too, and of copies", {
  memory_tier()
  rows <- map_rows(400)
  set.seed(6)
  fit <- fit_map(list(x = rows$x, y = stats::rpois(400, exp(rows$y))), likelihood = "poisson",
                 scale = FALSE, method = method_neighbours(k = 6))
  new <- rbind(cbind(lon = stats::runif(30), lat = stats::runif(30)), rows$x[c(1:3, 3), ])
  problem <- problem_of_fit(fit)
  theta <- fit$hyper$theta[seq_len(problem$nkernel)]
  known <- latent_posterior(problem$spec, theta, fit$posterior)
  S <- as.matrix(Matrix::solve(known$factor, diag(400)))
  before <- neighbours_before(in_lengthscales(problem$spec, theta, new), 6L, 1:34)$near
  for (v in list(NULL, matrix(c(1, 0), 34, 2, byrow = TRUE))) {
    w <- 1L + !is.null(v)
    given <- given_points(problem$spec, theta, known, 6L, new, v, before)
    W <- matrix(0, 34 * w, 400) # of nodes
    B <- diag(34 * w) # of points before each
    R <- 0 * B
    for (i in 1:34) for (a in seq_len(w)) {
      own <- w * (i - 1) + a
      W[own, given$near[, i]] <- given$weights[seq_len(nrow(given$near)), own]
      from <- before[before[, i] > 0, i]
      at <- c(t(outer(w * (from - 1), seq_len(w), `+`)))
      B[own, at] <- -given$weights[nrow(given$near) + seq_along(at), own]
      R[own, w * (i - 1) + seq_len(w)] <- given$root[w * (a - 1) + seq_len(w), i]
    }
    first <- order(rep(seq_len(w), 34))
    joint <- function() {
      neighbour_moments(problem$spec, theta, fit$posterior, new, v, joint = TRUE)
    }
    found <- joint()
    covariance <- solve(B, tcrossprod(R) + W %*% S %*% t(W)) %*% solve(t(B))
    expect_equal(found$var, covariance[first, first], tolerance = 1e-8)
    expect_equal(found$mean, solve(B, W %*% known$z)[first], tolerance = 1e-8)
    expect_identical(found$var, t(found$var))
  }
  expect_error(with_policy(held_numbers = 10, code = joint()), "joint covariance takes",
               class = "sparsegp_error")
})

test_that("labels and counts by 20 neighbours are near full EP, and are learned", {
  slow_tier()
  rows <- map_rows(500)
  set.seed(6)
  y <- factor(stats::rnorm(500) < 2 * rows$y)
  new <- cbind(lon = stats::runif(50), lat = stats::runif(50))
  both <- lapply(list(method_ep(), method_neighbours()), function(method) {
    fit_map(list(x = rows$x, y = y), likelihood = "probit", method = method)
  })
  p <- lapply(both, predict, new, type = "prob")
  expect_lt(sqrt(mean((p[[1]] - p[[2]])^2)), 0.01)
  expect_equal(c(logLik(both[[2]])), c(logLik(both[[1]])), tolerance = 0.5 / 250) # nats
  few <- list(x = rows$x[1:150, ], y = stats::rpois(150, exp(rows$y[1:150])))
  fits <- lapply(list(method_ep(), method_neighbours()), function(method) {
    fit_map(few, likelihood = "poisson", kernel = kernel_matern32(), method = method, learn = TRUE)
  })
  expect_equal(log(coef(fits[[2]])), log(coef(fits[[1]])), tolerance = 0.2)
  file <- tempfile()
  saveRDS(fits[[2]], file)
  expect_identical(predict(readRDS(file), new), predict(fits[[2]], new))
  more <- update(fits[[2]], rows$x[151:160, ], y = stats::rpois(10, exp(rows$y[151:160])))
  expect_identical(nobs(more), 160L)
})

# Places of 300 rows in classes whose nearest rows say little: twins, and clusters.
crowded_maps <- function() {
  set.seed(12)
  unit <- function(n) matrix(stats::runif(2 * n), n)
  around <- function(centres, sd) centres + sd * matrix(stats::rnorm(600), 300)
  twins <- function(apart) {
    half <- unit(150)
    rbind(half, half + apart * matrix(stats::rnorm(300), 150))
  }
  c(lapply(c(`1e-9` = 1e-9, `1e-7` = 1e-7, `1e-5` = 1e-5, `1e-3` = 1e-3), twins),
    list(copies = twins(0), clusters = around(unit(15)[rep(1:15, 20), ], 0.01),
         tight = around(unit(15)[rep(1:15, 20), ], 0.001),
         few = around(unit(16)[c(rep(1, 240), rep(2:16, each = 4)), ], 0.02)))
}

test_that("between clusters, and beside twins, predictions are near full EP's", {
  slow_tier()
  maps <- crowded_maps()
  new <- cbind(lon = stats::runif(60), lat = stats::runif(60))
  for (name in of_tier(names(maps), 3)) {
    x <- maps[[name]]
    colnames(x) <- c("lon", "lat")
    f <- 2 * sin(6 * x[, 1]) * cos(5 * x[, 2])
    responses <- list(probit = factor(stats::rnorm(300) < f), poisson = stats::rpois(300, exp(f)))
    # counts or labels, in turn
    for (lik in names(responses)[1L + match(name, names(maps)) %% 2L]) {
      both <- lapply(list(method_ep(), method_neighbours()), function(method) {
        fit_map(list(x = x, y = responses[[lik]]), kernel = kernel_matern32(lengthscale = 0.3),
                scale = FALSE, likelihood = lik, method = method)
      })
      p <- lapply(both, predict, new, type = "link", se.fit = TRUE)
      label <- paste(name, lik)
      # were up to 3 standard errors, and for twins at 1e-7 more, where the nearest rows were given
      expect_lt(max(abs(p[[2]]$fit - p[[1]]$fit) / p[[1]]$se.fit), 0.1, label = label)
      expect_equal(p[[2]]$se.fit, p[[1]]$se.fit, tolerance = 0.02, label = label)
      expect_equal(c(logLik(both[[2]])), c(logLik(both[[1]])), tolerance = 2e-3, label = label)
      turned <- sample(300)
      other <- fit_map(list(x = x[turned, ], y = responses[[lik]][turned]), scale = FALSE,
                       kernel = kernel_matern32(lengthscale = 0.3), likelihood = lik,
                       method = method_neighbours())
      expect_equal(predict(other, new), predict(both[[2]], new), tolerance = 1e-6, label = label)
    }
    y <- f + 0.2 * stats::rnorm(300)
    both <- lapply(list(method_ep(), method_neighbours()), function(method) {
      fit_map(list(x = x, y = y), kernel = kernel_matern32(lengthscale = 0.3), scale = FALSE,
              method = method, mean = "zero")
    })
    p <- lapply(both, predict, new, se.fit = TRUE)
    off <- abs(p[[2]]$fit - p[[1]]$fit) / p[[1]]$se.fit
    expect_lt(max(off), 0.25, label = name)
    expect_lt(sqrt(mean(off^2)), 0.05, label = name) # was 0.3 where responses were given
    expect_equal(p[[2]]$se.fit, p[[1]]$se.fit, tolerance = 0.02, label = name)
    expect_equal(predict(both[[2]], x), fitted(both[[2]]), tolerance = 1e-5, label = name)
  }
})

# Default fits of few rows, as those of many.
of_many <- function(code) {
  with_policy(neighbours_from = 600, neighbour_rows = 300, neighbour_sites = 250,
              full_ep_flops = 3e7, structure_flops = 3e6, fit_flops = 3e8,
              code = suppressWarnings(code))
}

test_that("a rough map is fitted by neighbours by default, a smooth one by inducing points", {
  slow_tier()
  n <- 700
  map <- rough_map(n)
  X <- map$x
  y <- map$f + 0.2 * stats::rnorm(n)
  made <- function(...) of_many(sparsegp(..., learn = learn_control(inner = 5)))
  rough <- made(X, y)
  expect_output(print(rough), "regression, 20 nearest neighbours")
  expect_output(print(summary(rough, details = TRUE)), "better by 0.* log density per observation")
  expect_identical(rough$choices$candidate[nrow(rough$choices)], "nearest neighbours")
  expect_identical(nobs(update(rough, X[1:3, ] + 0.01, y = y[1:3])), 703L)
  file <- tempfile()
  saveRDS(rough, file)
  expect_identical(predict(readRDS(file), X[1:9, ]), predict(rough, X[1:9, ]))
  given <- made(X, y, kernel = kernel_matern32())
  expect_true(is_neighbour_fit(given))
  expect_false("kernel of neighbours" %in% given$choices$stage)
  smooth <- sin(3 * X[, 1]) + cos(2 * X[, 2]) + stats::rnorm(n)
  expect_false(is_neighbour_fit(made(X, smooth, kernel = kernel_rbf())))
  expect_false(is_neighbour_fit(made(X, y, kernel = kernel_rbf(), basis = 1:50)))
})

test_that("so are counts and labels, in two inputs", {
  slow_tier()
  n <- 700
  map <- rough_map(n)
  made <- function(y, likelihood) {
    of_many(sparsegp(map$x, y, likelihood, kernel = kernel_matern12(),
                     learn = learn_control(inner = 5)))
  }
  counts <- stats::rpois(n, exp(1 + map$f))
  fits <- list(poisson = made(counts, "poisson"),
               probit = made(factor(stats::rnorm(n) < 3 * map$f), "probit"))
  for (fit in fits) {
    expect_true(is_neighbour_fit(fit))
    expect_equal(fit$options$k, policy$latent_neighbours)
    expect_identical(utils::tail(fit$choices$candidate, 1L), "nearest neighbours")
    f <- predict(fit, map$x, type = "link")
    expect_gt(stats::cor(f, map$f), 0.75)
  }
  small <- NULL
  suppressWarnings(expect_warning( # and no error of `k`
    small <- with_policy(neighbours_from = 600, neighbour_sites = 250, full_ep_flops = 3e7,
                         structure_flops = 3e6, fit_flops = 3e8, held_numbers = 2e4, code = {
      sparsegp(map$x, counts, "poisson", kernel = kernel_matern12(),
               learn = learn_control(inner = 3))
    }), "Nearest neighbours were not compared.*k", class = "sparsegp_warning"))
  expect_false(is_neighbour_fit(small))
  why <- small$choices[small$choices$stage == "neighbours", ]
  expect_match(why$candidate, "nearest neighbours: .*neighbours of .*GB")
  expect_true(is.na(why$score) && !why$taken)
  three <- list(x = cbind(map$x, stats::runif(n)), lik = lik_poisson())
  expect_false(has_few_inputs(three))
})

test_that("a rougher kernel of labels is taken by the log evidence of all of them", {
  slow_tier()
  n <- 700
  map <- rough_map(n)
  set.seed(6) # of these 250 labels prefer Matern 5/2
  labels <- factor(stats::rnorm(n) < 3 * map$f)
  fit <- of_many(sparsegp(map$x, labels, "probit", learn = learn_control(inner = 5)))
  few <- fit$choices[fit$choices$stage == "kernel of neighbours" & fit$choices$taken, ]
  all <- fit$choices[fit$choices$stage == "roughness of neighbours", ]
  expect_identical(all$candidate[1L], few$candidate)
  expect_true(all(all$rows == n))
  expect_identical(which(all$taken), which.max(all$score))
  expect_gt(which(all$taken), 1L)
  expect_identical(format(fit$kernel), all$candidate[all$taken])
  expect_output(print(summary(fit, details = TRUE)), "roughness of neighbours: .* log evidence;")
})

test_that("of a sum or its rough part alone, the log evidence of all observations takes one", {
  slow_tier()
  n <- 700
  map <- rough_map(n)
  set.seed(4)
  y <- 2 * sin(4 * map$x[, 1]) + map$f / 2 + 0.1 * stats::rnorm(n)
  fit <- of_many(with_policy(reopened_within = 1e3, min_gain = 0.002, code = {
    sparsegp(map$x, y, learn = learn_control(inner = 5))
  }))
  few <- fit$choices[fit$choices$stage == "kernel of neighbours", ]
  all <- fit$choices[fit$choices$stage == "roughness of neighbours", ]
  expect_match(few$candidate[few$taken], "+", fixed = TRUE)
  expect_identical(all$candidate[1L], few$candidate[few$taken])
  expect_match(all$candidate[-1L], "^matern12\\((ard = TRUE)?\\)$")
  expect_true(all(all$rows == n))
  expect_identical(which(all$taken), which.max(all$score))
  expect_identical(format(fit$kernel), all$candidate[all$taken])
})

test_that("neighbours that cannot be run lose", {
  fit <- fit_map(map_rows(40), method = method_neighbours(k = 5))
  plan <- plan_neighbours(replace(problem_of_fit(fit), "options", list(method_neighbours(k = 5))))
  table <- replace(fit$hyper, "theta", list(replace(fit$hyper$theta, 1L, NaN)))
  expect_warning(
    found <- score_neighbours(list(plan = plan, table = table, model = list(lik = fit$likelihood))),
    "Nearest neighbours were not compared", class = "sparsegp_warning"
  )
  expect_identical(found$value, NA)
  expect_match(choice_row("neighbours", found, label = "nearest neighbours")$candidate,
               "^nearest neighbours: [^\n]+$")
  expect_identical(gain_of_neighbours(found, NULL), NA)
})

test_that("kernels are compared by the log evidence of the same rows", {
  slow_tier()
  map <- rough_map(400)
  fit <- with_policy(neighbour_sites = 150, code = suppressWarnings(
    sparsegp(map$x, stats::rpois(400, exp(map$f)), "poisson", method = method_neighbours(k = 5),
             learn = learn_control(inner = 4))
  ))
  expect_identical(unique(fit$choices$rows), 150L)
  expect_lt(diff(range(fit$choices$score)), 50) # nats; of 400 rows log evidence is lower by 250
})

test_that("EP by neighbours starts from the fixed point of the nearest few", {
  slow_tier()
  rows <- map_rows(FEW_NODES + 100L)
  y <- stats::rpois(length(rows$y), exp(rows$y))
  fit <- fit_map(list(x = rows$x, y = y), likelihood = "poisson",
                 method = method_neighbours(k = 8, tol = 1e-12))
  problem <- with_neighbours(problem_of_fit(fit), fit$hyper$theta)
  run <- engine_run(problem, fit$hyper$theta)
  from <- engine_run(problem, fit$hyper$theta, sites = no_sites(problem))
  expect_equal(run$logz, from$logz, tolerance = 1e-10) # of two ways to one fixed point
  expect_equal(run$mean, from$mean, tolerance = 1e-8)
  expect_lt(run$sweeps, from$sweeps)
})

test_that("Newton's method finds a minimum with few evaluations, and keeps away from failures", {
  H <- matrix(c(40, 15, 15, 30), 2)
  made <- function(most = Inf) {
    count <- 0L
    fails <- function(par) par[1L] > most
    list(value = function(par) {
      count <<- count + 1L
      if (fails(par)) IMPOSSIBLE else sum(par * (H %*% par)) / 2 + sum(par^4)
    }, gradient = function(par) if (fails(par)) 0 * par else drop(H %*% par) + 4 * par^3,
    count = function() count)
  }
  box <- list(value = c(0, 0), reach = c(10, 10), lower = c(-10, -10))
  plain <- made()
  found <- newton_search(plain, c(-0.9, 0.7), 1.5 * H, box) # a pilot's curvature is not that of all
  expect_lt(max(abs(found)), 0.1)
  expect_lte(plain$count(), policy$newton_rounds)
  expect_null(newton_search(made(-1), c(-0.9, 0.7), H, box))
  near <- newton_search(plain, c(-0.9, 0.7), 1.5 * H, box, gain = 1e3, evaluated = TRUE)
  expect_identical(near, c(-0.9, 0.7)) # a step that is not evaluated does not count
  wall <- made(-0.2) # the minimum is behind it: only evaluated points count
  at <- newton_search(wall, c(-0.9, 0.7), H, box)
  expect_lte(at[1L], -0.2)
  expect_lt(wall$value(at), wall$value(c(-0.9, 0.7)))
  narrow <- newton_search(made(), c(-0.9, 0.7), H, list(value = c(-1, 1), reach = c(0.5, 0.5),
                                                              lower = c(-1.5, 0.5)))
  expect_true(all(narrow <= c(-0.5, 1.5) & narrow >= c(-1.5, 0.5)))
})

test_that("hyperparameters learned from some labels are corrected by the evidence of all", {
  slow_tier()
  map <- rough_map(900)
  set.seed(8)
  y <- factor(2 * map$f + stats::rnorm(900) > 0)
  made <- function(sites) {
    with_policy(neighbour_sites = sites, code = suppressWarnings(
      sparsegp(map$x, y, "probit", kernel = kernel_matern12(), method = method_neighbours(k = 6))
    ))
  }
  all <- made(900)
  some <- made(150)
  # by so much the evidence of 150 rows alone is lower: some 8 nats
  expect_lt(c(logLik(all)) - c(logLik(some)), 0.5)
  run <- engine_run(with_neighbours(problem_of_fit(some), some$hyper$theta), some$hyper$theta,
                    gradient = TRUE)
  expect_lt(max(abs(run$gradient)), 5) # nats an e-fold, of 900 rows
})

test_that("of counts at places that nearly coincide EP converges, and its gradient is exact", {
  memory_tier()
  rows <- map_rows(60)
  for (apart in c(1e-5, 1e-9)) {
    x <- rbind(rows$x, rows$x[1:30, ] + apart)
    set.seed(4)
    fit <- fit_map(list(x = x, y = stats::rpois(90, exp(rows$y[c(1:60, 1:30)]))),
                   likelihood = "poisson", method = method_neighbours(k = 6))
    theta <- fit$hyper$theta
    problem <- with_neighbours(problem_of_fit(fit), theta)
    run <- engine_run(problem, theta, gradient = TRUE)
    expect_lt(run$sweeps, 30L) # of 200, which it took
    differences <- vapply(seq_along(theta), function(p) {
      e <- replace(0 * theta, p, 1e-3)
      (engine_run(problem, theta + e)$logz - engine_run(problem, theta - e)$logz) / 2e-3
    }, 0)
    # by rounding of d, which is 1e-7 of the variance: the gradient was twice as large
    expect_equal(run$gradient, differences, tolerance = 1e-3)
  }
})
