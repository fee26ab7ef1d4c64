# Power EP and its limit, to the letter and slowly.

# The tilt of a likelihood to the power p at N(mu, s2): log Z = log E p(y|f)^p and its derivatives
# in mu, each divided by p; in the limit p = 0 those of E log p(y|f).
reference_power_tilt <- function(type, y, mu, s2, v, power) {
  lik <- REFERENCE_LIKELIHOODS[[type]]
  places <- lik$places(y, v)
  if (power > 0) {
    z <- reference_integral(function(f) power * lik$logp(y, f, v), mu, s2, places)
    return(lapply(z[c("logz", "d1", "d2")], `/`, power))
  }
  expect <- reference_integral(function(f) 0 * f, mu, s2, places)$expect
  l <- function(f) lik$logp(y, f, v)
  t <- function(f) (f - mu) / sqrt(s2)
  list(logz = expect(l), d1 = expect(function(f) l(f) * t(f)) / sqrt(s2),
       d2 = expect(function(f) l(f) * (t(f)^2 - 1)) / s2)
}

# Sequential power EP with explicit inverses (Minka 2004). tilt(i, mu, s2): as above, gamma added to
# s2 by the caller. The log evidence is
#   log int N(f; 0, K) prod t_i + sum (log Z_i - log int cavity_i t_i^p) / p,
# each of the integrals by its own closed form; in the limit the variational bound.
reference_power_ep <- function(K, tilt, power, offset = numeric(nrow(K)), share = 1, tol = 1e-11,
                               sweeps = 2000L) {
  n <- nrow(K)
  tau <- nu <- numeric(n)
  K_inverse <- solve(K)
  at_cavity <- function(i) {
    Sigma <- solve(K_inverse + diag(tau, n))
    mean <- drop(Sigma %*% nu)
    var <- 1 / (1 / Sigma[i, i] - power * tau[i])
    mu <- var * (mean[i] / Sigma[i, i] - power * nu[i])
    c(list(mu = mu, var = var), tilt(i, mu + offset[i], var))
  }
  for (sweep in seq_len(sweeps)) {
    before <- c(tau, nu)
    for (i in seq_len(n)) {
      z <- at_cavity(i)
      D <- 1 + power * z$var * z$d2
      tau[i] <- tau[i] + share * (-z$d2 / D - tau[i])
      nu[i] <- nu[i] + share * ((z$d1 - z$mu * z$d2) / D - nu[i])
    }
    if (max(abs(c(tau, nu) - before)) <= tol * max(abs(c(tau, nu)))) break
  }
  Sigma <- solve(K_inverse + diag(tau, n))
  mean <- drop(Sigma %*% nu)
  of_sites <- -as.numeric(determinant(diag(n) + K * rep(tau, each = n))$modulus) / 2 +
    sum(mean * nu) / 2
  of_row <- vapply(seq_len(n), function(i) {
    z <- at_cavity(i)
    if (power == 0) return(z$logz + tau[i] * (mean[i]^2 + Sigma[i, i]) / 2 - nu[i] * mean[i])
    # int N(f; mu, v) exp(p (nu f - tau f^2 / 2)) df
    v <- 1 / (1 / z$var + power * tau[i])
    m <- v * (z$mu / z$var + power * nu[i])
    z$logz - (log(v / z$var) / 2 + m^2 / (2 * v) - z$mu^2 / (2 * z$var)) / power
  }, 0)
  list(tau = tau, nu = nu, mean = mean, var = diag(Sigma), log_evidence = of_sites + sum(of_row))
}

# The largest variational bound over all normal distributions, by a general search: E log p less the
# Kullback-Leibler divergence from N(0, K), in the mean and a triangular root of the covariance.
reference_bound <- function(K, tilt, offset = numeric(nrow(K))) {
  n <- nrow(K)
  root <- t(chol(K))
  lower <- lower.tri(K, diag = TRUE)
  parts <- function(par) {
    L <- matrix(0, n, n)
    L[lower] <- par[-seq_len(n)]
    list(m = par[seq_len(n)], L = L) # in coordinates of the prior: f = root z, z ~ N(m, LL')
  }
  bound <- function(par) {
    q <- parts(par)
    mean <- drop(root %*% q$m) + offset
    var <- rowSums((root %*% q$L)^2)
    fit <- sum(vapply(seq_len(n), function(i) tilt(i, mean[i], var[i])$logz, 0))
    fit - (sum(q$L^2) + sum(q$m^2) - n) / 2 + sum(log(abs(diag(q$L))))
  }
  start <- c(numeric(n), diag(n)[lower])
  found <- stats::optim(start, bound, method = "BFGS",
                        control = list(fnscale = -1, reltol = 1e-12, maxit = 500L))
  q <- parts(found$par)
  list(mean = drop(root %*% q$m), var = rowSums((root %*% q$L)^2), log_evidence = found$value)
}
