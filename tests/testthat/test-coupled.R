# Classes that are coupled in the posterior: tilts against plain nested EP and against integrals,
# EP's fixed point and evidence against dense algebra, and what fits answer.

c_coupled <- function(type, w) lik_for_c(list(type = paste0("coupled_", type)), 1L, w)

coupled_tilt <- function(type, y, mu, S, theta = 0 * mu) {
  z <- .Call(sg_lik_tilt, c_coupled(type, length(mu)), theta, rbind(as.double(y)), mu, c(S), FALSE)
  list(logz = z$logz, d1 = c(z$d1), d2 = matrix(z$d2, length(mu)), dpar = c(z$dpar))
}

marginal_of_classes <- function(w, size = 1) {
  A <- matrix(rnorm(w * w), w)
  list(mu = rnorm(w) * sqrt(1 + size), S = size * crossprod(A) / w + 0.1 * diag(w))
}

three_classes <- function(n = 24L, classes = 3L) {
  set.seed(4)
  x <- cbind(a = runif(n, -2, 2), b = runif(n, -2, 2))
  f <- vapply(seq_len(classes), function(k) 2 * sin(x[, 1L] + k) + cos(2 * x[, 2L] * k), x[, 1L])
  data.frame(x, y = factor(letters[max.col(f + rnorm(length(f)))], letters[seq_len(classes)]))
}

coupled_fit <- function(d = three_classes(), type = "mprobit", ...) {
  lik <- get(paste0("lik_", type))(bias = c(0.2, -0.1, 0), coupled = TRUE)
  sparsegp(y ~ a + b, d, likelihood = lik, scale = FALSE, learn = FALSE,
           kernel = kernel_rbf(variance = 4, lengthscale = 0.8), ...)
}

tight_coupled <- method_ep(tol = 1e-8, sweeps = 300)

# 1e-4: every other node of the integral over the winner's value, and the grid of the reference.
test_that("tilts equal those of plain nested EP", {
  slow_tier()
  set.seed(1)
  for (type in c("mprobit", "softmax")) {
    for (w in of_tier(2:4, 2L)) {
      at <- marginal_of_classes(w, 2)
      theta <- rnorm(w) / 2
      found <- coupled_tilt(type, w, at$mu, at$S, theta)
      wanted <- reference_wide_tilt(paste0("coupled_", type), w, at$mu, at$S, theta)
      for (field in c("logz", "d1", "d2")) {
        expect_equal(found[[field]], wanted[[field]], tolerance = 1e-4, label = paste(type, w))
      }
    }
  }
})

# Where noise is nothing beside the latent values, probabilities do not depend on their scale; 1e-3
# is what unit noise still is at 1e6. What EP inside the tilt leaves of their sum is within 0.05.
test_that("tilts have no largest variance", {
  set.seed(5)
  for (type in c("mprobit", "softmax")) {
    at <- marginal_of_classes(3L)
    scaled <- function(y, s) coupled_tilt(type, y, sqrt(s) * at$mu, s * at$S)$logz
    small <- vapply(1:3, scaled, 0, s = 1e6)
    expect_equal(sum(exp(small)), 1, tolerance = 0.05)
    for (s in c(1e8, 1e10, 1e12)) {
      expect_equal(vapply(1:3, scaled, 0, s = s), small, tolerance = 1e-2)
    }
  }
})

# Independent classes of one variance: the inner EP is exact, and the factorised tilt is, too.
test_that("tilts of independent classes of one variance are those of the factorised likelihood", {
  memory_tier()
  set.seed(2)
  for (type in c("mprobit", "softmax")) {
    for (w in c(2L, 3L, 8L)) {
      mu <- rnorm(w) * 2
      found <- coupled_tilt(type, 1, mu, 3 * diag(w))
      apart <- .Call(sg_lik_tilt, c_lik(type, mu), 0 * mu, rbind(1), t(mu), t(0 * mu + 3), FALSE)
      expect_equal(found$logz, apart$logz, tolerance = 1e-4)
      expect_equal(found$d1, c(apart$d1), tolerance = 1e-3)
      expect_equal(diag(found$d2), c(apart$d2), tolerance = 1e-3)
      # what all classes have in common says nothing
      common <- coupled_tilt(type, 1, mu + 5, 3 * diag(w) + 40)
      expect_equal(common[c("logz", "d1", "d2")], found[c("logz", "d1", "d2")], tolerance = 1e-5)
    }
  }
})

# Three classes: Gauss-Hermite quadrature in the two differences, of full covariance. 0.005: what EP
# in two dimensions is good to.
test_that("log Z and its derivatives are those of the integral", {
  memory_tier()
  set.seed(3)
  rule <- normal_rule(60L)
  z <- as.matrix(expand.grid(rule$x, rule$x))
  weight <- c(rule$w %o% rule$w)
  for (size in c(0.5, 3)) {
    at <- marginal_of_classes(3L, size)
    D <- cbind(1, -diag(2L)) # the first class less the others
    f <- sweep(z %*% chol(D %*% at$S %*% t(D)), 2L, drop(D %*% at$mu), `+`)
    p <- weight / (1 + rowSums(exp(-f)))
    found <- coupled_tilt("softmax", 1, at$mu, at$S)
    expect_equal(found$logz, log(sum(p)), tolerance = 0.005)
    V <- D %*% at$S %*% t(D)
    mean <- drop(D %*% (at$mu + at$S %*% found$d1))
    cov <- D %*% (at$S + at$S %*% found$d2 %*% at$S) %*% t(D)
    truth <- colSums(p * f) / sum(p)
    expect_lt(max(abs(mean - truth) / sqrt(diag(V))), 0.005)
    expect_equal(diag(cov), colSums(p * f^2) / sum(p) - truth^2, tolerance = 0.01)
  }
})

# EP's evidence and its gradient are made of these: d1 is the slope in mu, and (d2 + d1 d1') / 2
# that in S, also of the approximation. 1e-4: differences of a rule of some 25 nodes.
test_that("d1 and d2 are the derivatives of log Z in the mean and in the covariance", {
  memory_tier()
  set.seed(5)
  for (type in c("mprobit", "softmax")) {
    at <- marginal_of_classes(4L, 3)
    found <- coupled_tilt(type, 2, at$mu, at$S)
    logz <- function(mu = at$mu, S = at$S, theta = 0 * mu) coupled_tilt(type, 2, mu, S, theta)$logz
    slope <- numeric_gradient(function(mu) logz(mu), at$mu, h = 0.02)
    expect_equal(found$d1, slope, tolerance = 1e-4)
    expect_equal(found$dpar, slope, tolerance = 1e-4)
    way <- crossprod(matrix(rnorm(16L), 4L))
    along <- numeric_gradient(function(step) logz(S = at$S + step * way), 0, h = 0.02)
    expect_equal(sum(way * (found$d2 + found$d1 %o% found$d1)) / 2, along, tolerance = 1e-4)
    expect_lt(max(eigen(found$d2, TRUE)$values), 0)
  }
})

test_that("tilts and predictions are numbers wherever the classes are, and NaN stays NaN", {
  memory_tier()
  for (type in c("mprobit", "softmax")) {
    for (far in c(0, 8, 40)) {
      for (size in c(0, 1e-8, 1, 1e4)) {
        for (y in c(1, 3)) {
          z <- coupled_tilt(type, y, c(far, 0, -far), size * diag(3L))
          expect_true(all(is.finite(unlist(z))), label = paste(type, far, size, y))
          expect_lte(z$logz, 0)
        }
        p <- .Call(sg_lik_predict, c_coupled(type, 3L), numeric(3L), c(far, 0, -far),
                   c(size * diag(3L)), FALSE)
        expect_equal(sum(p$mean), 1)
        expect_equal(sum(abs(matrix(p$var, 3L) %*% rep(1, 3L))), 0)
      }
    }
    expect_true(all(is.nan(unlist(coupled_tilt(type, 1, c(NaN, 0, 1), diag(3L))))))
    expect_true(is.nan(coupled_tilt(type, 1, c(0, 0, 1), NaN * diag(3L))$logz))
  }
})

test_that("without variance tilts are log p", {
  f <- c(0.4, -1, 0.7)
  for (type in c("mprobit", "softmax")) {
    lik <- c_coupled(type, 3L)
    at <- .Call(sg_lik_eval, lik, numeric(3L), rbind(2), f)
    apart <- .Call(sg_lik_eval, c_lik(type, f), numeric(3L), rbind(2), t(f))
    expect_equal(at$logp, apart$logp, tolerance = 1e-12)
    expect_equal(c(at$mean), c(apart$mean), tolerance = 1e-12)
    expect_equal(coupled_tilt(type, 2, f, 0 * diag(3L))$logz, at$logp, tolerance = 1e-5)
  }
})

test_that("EP ends where every site is that of its tilt, with the evidence of dense algebra", {
  slow_tier()
  d <- three_classes()
  fit <- coupled_fit(d, method = tight_coupled)
  n <- nrow(d)
  K <- kronecker(reference_kernel(resolve_kernel(kernel_rbf(), list(
    names = c("a", "b"), terms = c("a", "b"), kept = c(TRUE, TRUE)
  )), log(c(4, 0.8)), as.matrix(d[1:2])), diag(3L))
  precision <- matrix(0, 3L * n, 3L * n)
  logz <- 0
  for (i in seq_len(n)) {
    at <- 3L * (i - 1L) + 1:3
    mu <- fit$cavity$mean[at]
    S <- matrix(fit$cavity$var[9L * (i - 1L) + 1:9], 3L)
    tilt <- reference_wide_tilt("coupled_mprobit", as.integer(d$y)[i], mu, S, c(0.2, -0.1, 0))
    G <- diag(3L) + tilt$d2 %*% S
    site <- -solve(G, tilt$d2)
    expect_equal(matrix(fit$sites$tau[9L * (i - 1L) + 1:9], 3L), site, tolerance = 1e-3)
    expect_equal(fit$sites$nu[at], drop(solve(G, tilt$d1 - tilt$d2 %*% mu)), tolerance = 1e-3)
    precision[at, at] <- matrix(fit$sites$tau[9L * (i - 1L) + 1:9], 3L)
    alpha <- fit$sites$nu[at] - drop(precision[at, at] %*% fit$latent$mean[at])
    shrunk <- diag(3L) + S %*% precision[at, at]
    logz <- logz + tilt$logz + (log(det(shrunk)) - sum(mu * alpha)) / 2
  }
  A <- diag(3L * n) + K %*% precision
  expect_equal(fit$latent$mean, drop(solve(A, K %*% fit$sites$nu)), tolerance = 1e-7)
  # 24 tilts, each to some 1e-6
  expect_equal(fit$log_evidence, logz - as.numeric(determinant(A)$modulus) / 2, tolerance = 1e-4)
})

# 2e-3: log Z has six digits, of which differences leave three or four.
test_that("the gradient of the evidence is that of differences", {
  slow_tier()
  for (type in c("mprobit", "softmax")) {
    fit <- coupled_fit(three_classes(14L), type, method = tight_coupled)
    problem <- problem_of_fit(fit)
    theta <- fit$hyper$theta
    run <- engine_run(problem, theta, gradient = TRUE)
    slope <- numeric_gradient(function(theta) engine_run(problem, theta)$logz, theta, h = 0.05,
                              levels = 2L)
    expect_lt(max(abs(run$gradient - slope)), 2e-3 * max(1, abs(slope)))
  }
})

test_that("a fit answers as those of other classes do", {
  slow_tier()
  d <- three_classes(40L)
  d$y[7L] <- "a"
  fit <- coupled_fit(d)
  apart <- coupled_fit(d)$likelihood
  expect_match(format(apart), "mprobit(.*coupled = TRUE)")
  new <- data.frame(a = c(-1, NA, 1), b = c(0, 0, 1))
  prob <- predict(fit, new, type = "prob")
  expect_equal(colnames(prob), c("a", "b", "c"))
  expect_equal(unname(rowSums(prob)), c(1, NA, 1))
  expect_equal(predict(fit, new), prob)
  link <- predict(fit, new, type = "link", se.fit = TRUE)
  expect_equal(dim(link$se.fit), c(3L, 3L))
  expect_equal(link$fit - predict(fit, new, type = "latent"),
               matrix(c(0.2, -0.1, 0), 3L, 3L, TRUE) + 0 * link$fit, ignore_attr = TRUE)
  expect_s3_class(predict(fit, new, type = "class"), "factor")
  expect_equal(coef(fit)[["bias.b"]], -0.1)
  expect_output(print(fit), "3 classes, coupled: a, b, c")
  table <- loo(fit)
  expect_equal(table$lpd, log(table$prob))
  expect_equal(dim(residuals(fit)), c(40L, 3L))
  expect_equal(dim(sites(fit)), c(40L, 1L + 6L + 3L))
  expect_s3_class(importance(fit), "data.frame")
  terms <- predict(fit, new, type = "terms", se.fit = TRUE)
  latent <- predict(fit, new, type = "link")
  sums <- terms$fit[, 1L, ] + rep(attr(terms$fit, "constant"), each = 3L)
  expect_equal(unname(sums), unname(latent))
  picked <- next_rows(fit, d, k = 2)
  expect_length(picked, 2L)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("fit", "reject", "loo", "reliability")) expect_error(plot(fit, type), NA)
})

# 4 standard errors of 4000 draws
test_that("draws have the moments and probabilities of predictions", {
  slow_tier()
  fit <- coupled_fit(three_classes(40L))
  new <- data.frame(a = c(-1, 1), b = 0:1)
  set.seed(1)
  drawn <- draws(fit, new, n = 4000L, type = "link")
  expect_equal(dim(drawn), c(2L, 4000L, 3L))
  known <- predict(fit, new, type = "link", se.fit = TRUE)
  expect_lt(max(abs(apply(drawn, c(1L, 3L), mean) - known$fit) / known$se.fit), 4 / sqrt(4000))
  prob <- apply(draws(fit, new, n = 4000L, type = "response"), c(1L, 3L), mean)
  expect_lt(max(abs(prob - predict(fit, new))), 4 * 0.5 / sqrt(4000))
  labels <- simulate(fit, 500L, seed = 1, newdata = new)
  share <- mean(unlist(labels[1L, ]) == "a")
  expect_lt(abs(share - predict(fit, new)[1L, "a"]), 4 * 0.5 / sqrt(500))
})

test_that("what is coupled is what was asked for, or is cheap", {
  slow_tier()
  d <- three_classes(40L)
  type <- function(lik, ...) {
    suppressWarnings(sparsegp(y ~ a + b, d, likelihood = lik, ...))$likelihood$type
  }
  kernel <- kernel_rbf(variance = 4, lengthscale = 0.8)
  expect_equal(type(lik_mprobit(coupled = FALSE), kernel = kernel, learn = FALSE), "mprobit")
  expect_equal(type(lik_mprobit(), kernel = kernel, learn = FALSE), "coupled_mprobit")
  expect_equal(type(lik_softmax(), kernel = kernel, learn = FALSE), "coupled_softmax")
  expect_equal(type(lik_mprobit(), method = method_ep(size = 10), learn = FALSE), "mprobit")
  expect_equal(type(lik_mprobit(shared = FALSE), kernel = kernel, learn = FALSE), "mprobit")
  learned <- sparsegp(y ~ a + b, d, likelihood = lik_mprobit(), kernel = kernel_rbf())
  expect_equal(learned$likelihood$type, "coupled_mprobit")
  expect_lt(max(abs(learned$learning$gradient)), 0.5) # its own evidence has been searched
  again <- sparsegp(y ~ a + b, d, likelihood = learned$likelihood, kernel = kernel, learn = FALSE)
  expect_equal(again$likelihood$type, "coupled_mprobit")
})

test_that("what cannot be coupled is refused, with the remedy", {
  d <- three_classes(40L)
  fit <- function(lik = lik_mprobit(coupled = TRUE), ...) sparsegp(y ~ a + b, d, lik, ...)
  expect_error(lik_mprobit(shared = FALSE, coupled = TRUE), "shared = TRUE",
               class = "sparsegp_error")
  expect_error(lik_softmax(coupled = NA), class = "sparsegp_error")
  expect_error(fit(method = method_ep(size = 10), learn = FALSE), "coupled = FALSE",
               class = "sparsegp_error")
  expect_error(fit(method = method_online(), learn = FALSE), "coupled = FALSE",
               class = "sparsegp_error")
  many <- data.frame(x = 1:27 / 9, y = factor(rep(letters[1:9], 3L)))
  expect_error(sparsegp(y ~ x, many, lik_mprobit(coupled = TRUE), learn = FALSE), "8 classes",
               class = "sparsegp_error")
  expect_equal(sparsegp(y ~ x, many, lik_mprobit(), learn = FALSE)$likelihood$type, "mprobit")
})

test_that("a saved fit is read again, and a changed one is refused", {
  fit <- coupled_fit(three_classes(20L))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  new <- data.frame(a = 0, b = 0)
  expect_equal(predict(readRDS(file), new), predict(fit, new))
  fit$response$width <- 2L
  expect_error(predict(fit, new), class = "sparsegp_error")
})
