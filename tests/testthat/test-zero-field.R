# Vector fields without a mean, against dense Gaussian algebra written here: K is made of 2 x 2
# blocks, a location after the other, of second derivatives of exp(-s / 2), s = |x - z|^2 / l^2,
# with e = (x - z) / l: of a potential exp(-s / 2) (I - e e'), of a stream function
# exp(-s / 2) (e e' + (1 - s) I).

dense_field_kernel <- function(X, Z, stream, potential) {
  K <- matrix(0, 2L * nrow(X), 2L * nrow(Z))
  for (i in seq_len(nrow(X))) for (j in seq_len(nrow(Z))) {
    block <- function(own, turned) {
      e <- (X[i, ] - Z[j, ]) / own[2L]
      s <- sum(e^2)
      inner <- if (turned) (1 - s) * diag(2L) + e %*% t(e) else diag(2L) - e %*% t(e)
      own[1L] * exp(-s / 2) * inner
    }
    K[2L * i - 1:0, 2L * j - 1:0] <- block(stream, TRUE) + block(potential, FALSE)
  }
  K
}

drifters <- function() {
  set.seed(9)
  d <- data.frame(x = runif(20, 0, 3), y = runif(20, 0, 3))
  d$u <- 2 + sin(d$y) + 0.2 * rnorm(20) # far from a mean of 0
  d$v <- cos(d$x) + 0.2 * rnorm(20)
  d
}

test_that("mean = \"zero\" of a field is the Gaussian process without a mean", {
  d <- drifters()
  stream <- c(0.8, 1.5)
  potential <- c(0.3, 2)
  kernel <- kernel_helmholtz(kernel_rbf(0.8, 1.5), kernel_rbf(0.3, 2))
  new <- data.frame(x = c(1, 2.5, 40), y = c(1, 0.2, 40))
  X <- as.matrix(d[c("x", "y")])
  Z <- as.matrix(new)
  N <- matrix(c(0.05, 0.02, 0.02, 0.08), 2L)
  noise <- lik_gaussian(diag(N), "full", N[1L, 2L] / sqrt(prod(diag(N))))
  total <- dense_field_kernel(X, X, stream, potential) + kronecker(diag(20L), N)
  y <- c(t(as.matrix(d[c("u", "v")])))
  across <- dense_field_kernel(Z, X, stream, potential)
  mean <- matrix(across %*% solve(total, y), ncol = 2L, byrow = TRUE)
  var <- dense_field_kernel(Z, Z, stream, potential) - across %*% solve(total, t(across))
  evidence <- -sum(y * solve(total, y)) / 2 - c(determinant(total)$modulus) / 2 -
    length(y) / 2 * log(2 * pi)
  fit <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel, likelihood = noise, scale = FALSE,
                  learn = FALSE, mean = "zero")
  found <- predict(fit, new, se.fit = TRUE)
  # both are exact, to rounding and EP's tolerance of 1e-8
  expect_equal(unname(found$fit), unname(mean), tolerance = 1e-7)
  expect_equal(c(t(unname(found$se.fit))), sqrt(diag(var)), tolerance = 1e-7)
  expect_equal(c(logLik(fit)), evidence, tolerance = 1e-9)
  expect_equal(unname(found$fit[3L, ]), c(0, 0), tolerance = 1e-8) # far away: no mean
})
