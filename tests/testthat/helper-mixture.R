# Rows of which one of several parts is meant, in plain R: dense matrices, explicit inverses.

# c, h and P of each part of a data row as C has it.
parts_of_row <- function(row, w) {
  lapply(split(row, rep(seq_len(length(row) / (1 + w + w * (w + 1) / 2)),
                        each = 1 + w + w * (w + 1) / 2)), function(part) {
    P <- matrix(0, w, w)
    P[lower.tri(P, diag = TRUE)] <- part[-seq_len(1 + w)]
    list(c = part[1L], h = part[1 + seq_len(w)], P = P + t(P) - diag(diag(P), w))
  })
}

# The thesis's F.2-F.9, by inverses of P and S: the parts must not be flat.
reference_mixture_tilt <- function(row, mu, S) {
  w <- length(mu)
  each <- lapply(parts_of_row(row, w), function(part) {
    A <- solve(part$P)
    m <- drop(A %*% part$h)
    V <- solve(A + S)
    const <- part$c + sum(part$h * m) / 2 + w / 2 * log(2 * pi) - log(det(part$P)) / 2
    list(logz = const - (w * log(2 * pi) - log(det(V)) + sum((m - mu) * (V %*% (m - mu)))) / 2,
         q = drop(V %*% (m - mu)), R = -V)
  })
  logs <- vapply(each, `[[`, 0, "logz")
  r <- exp(logs - max(logs))
  logz <- max(logs) + log(sum(r))
  r <- r / sum(r)
  d1 <- drop(vapply(each, `[[`, mu, "q") %*% r)
  d2 <- Reduce(`+`, Map(function(one, r) r * (one$R + tcrossprod(one$q - d1)), each, r))
  list(logz = logz, d1 = d1, d2 = d2, r = r)
}

# Locations that all agree in two ways, and the measurements there.
ambiguous <- function(n = 6L, size = 1.6, variance = 0.04) {
  d <- expand.grid(x = c(0, 1), y = c(0, 1, 2))[seq_len(n), ]
  wind <- size * rbind(c(0.9, 0.5), c(0.7, 0.8), c(0.2, 0.9), c(-0.1, 1), c(-0.6, 0.7),
                       c(-0.8, 0.2))[seq_len(n), ]
  colnames(wind) <- c("u", "v")
  weight <- c(0.55, 0.45, 0.55, 0.55, 0.45, 0.55)[seq_len(n)]
  d$z <- mixture(cbind(weight, 1 - weight), list(wind, -wind), variance)
  d
}

WIND <- kernel_helmholtz(kernel_rbf(0.8, 2.5), kernel_rbf(0.2, 2))

wind_fit <- function(d, ..., kernel = WIND, starts = 2) {
  sparsegp(z ~ x + y, d, kernel = kernel, scale = FALSE, learn = FALSE,
           method = method_ep(tol = 1e-12, starts = starts), ...)
}

# log evidence of every choice of one part in each row, and the posterior mean given it; prior K of
# all values
each_choice <- function(z, K) {
  n <- nrow(z)
  choices <- as.matrix(expand.grid(rep(list(seq_len(mixture_parts(z))), n)))
  one <- function(choice) {
    part <- lapply(choice, function(j) mixture_part(z, j))
    weight <- vapply(seq_len(n), function(i) part[[i]]$weight[i], 0)
    mean <- unlist(lapply(seq_len(n), function(i) part[[i]]$mean[i, ]))
    noise <- diag(rep(vapply(seq_len(n), function(i) part[[i]]$covariance[i, 1L], 0), each = 2L))
    list(logz = sum(log(weight)) + reference_gaussian_evidence(K + noise, mean, 0),
         mean = drop(K %*% solve(K + noise, mean)))
  }
  each <- apply(choices, 1L, one)
  list(logz = vapply(each, `[[`, 0, "logz"), mean = vapply(each, `[[`, numeric(2L * n), "mean"))
}

log_sum <- function(x) max(x) + log(sum(exp(x - max(x))))

wind_prior <- function(d, kernel = WIND, theta = log(c(0.8, 2.5, 0.2, 2))) {
  x <- tall(as.matrix(d[c("x", "y")]), 1:2)
  reference_kernel(resolved_field(kernel), theta, x, x)
}
