# Posteriors of f, of one order or several.

best_of <- function(fits) fits[[which.max(vapply(fits, `[[`, 0, "log_evidence"))]]

# Fits orders 0, 1, 2, ... until three in a row have not raised the evidence.
search_order <- function(fit_order, most) {
  found <- list()
  for (k0 in 0:most) {
    found[[k0 + 1L]] <- fit_order(k0)
    if (k0 - best_of(found)$k0 >= 3L) break
  }
  found
}

# Returns the orders that are averaged: from `chosen` to twice that and one more.
averaged_orders <- function(chosen, waves) {
  MOST <- 6L
  largest <- max(2L * chosen + 1L, waves$widest)
  as.integer(unique(round(seq(chosen, largest, length.out = min(MOST, largest - chosen + 1L)))))
}

mean_square <- function(moments) mean(moments$mean^2 + diag(moments$cov))

# Returns one posterior for several orders, the last the largest, which contains the functions of
# the others: mean and covariance, at its basis, of their mixture, each f in units of the root of
# its integral of f^2. So the density is the mean of theirs, and their differences are in the error
# bars.
mean_of_fits <- function(fits, waves) {
  largest <- fits[[length(fits)]]
  each <- lapply(fits, function(fit) {
    W <- wave_weights(fit$k0, largest$basis, fit$basis, waves)
    size <- mean_square(fit)
    list(mean = drop(W %*% fit$mean) / sqrt(size), cov = W %*% fit$cov %*% t(W) / size)
  })
  means <- vapply(each, `[[`, numeric(length(largest$mean)), "mean")
  means <- t(t(means) * sign(colSums(means))) # f and -f are the same density
  within <- Reduce(`+`, lapply(each, `[[`, "cov")) / length(each)
  largest$mean <- rowMeans(means)
  largest$cov <- within + tcrossprod(means - largest$mean) / length(each)
  largest
}

# Fits one order from two starts, the prior at lambda = 0 and the root of a smoothed histogram, and
# keeps the fit of larger evidence: where f crosses zero is a choice that EP makes early and keeps.
density_fit <- function(k0, u, control, waves = WAVES$periodic) {
  p <- ncol(u)
  basis <- equispaced(k0, p, waves)
  model <- list(lik = lik_density(), spec = waves$kernel(k0, p), nkernel = waves$nkernel(p),
                response = list(unit = 1, processes = 1L, width = 1L))
  problem <- new_problem(model, waves$seen(u, k0), matrix(1, 1L, nrow(u)), numeric(nrow(u)),
                         method_ep(tol = 1e-9, sweeps = control$sweeps), waves$seen(basis, k0))
  root <- sqrt(nrow(u) * smoothed_histogram(u, k0, waves))
  sites <- list(tau = 2 / root^2, nu = 4 / root) # log f^2 to second order about the root
  c(list(k0 = k0, basis = basis), best_of(list(fit_lambda(problem, 0, NULL, control),
                                               fit_lambda(problem, 1, sites, control))))
}

# Finds the posterior of f by EP for each lambda, and lambda from the posterior, in turn (thesis
# 5.25, 5.30; 5.15 would have 2 N for N, which makes lambda larger, f smaller, and the density what
# it is). The new lambda is nearly linear in the old one, with a slope of 1/2, so secants need
# fewer runs of EP.
fit_lambda <- function(problem, lambda, sites, control) {
  n <- nrow(problem$x)
  trace <- from <- numeric()
  for (i in seq_len(control$iterations)) {
    run <- density_run(problem, lambda, 1 / (1 + lambda), sites)
    sites <- run[c("tau", "nu")]
    from[i] <- lambda
    lambda <- trace[i] <- n / run$size
    settled <- abs(lambda - from[i]) <= control$tol * lambda
    if (settled) break
    slope <- if (i > 1L) diff(trace[i - 1:0]) / diff(from[i - 1:0]) else 0
    if (slope > -0.5 && slope < 0.9) lambda <- (lambda - slope * from[i]) / (1 - slope)
    lambda <- max(lambda, 0)
  }
  run <- density_run(problem, lambda, 1 / (1 + lambda), sites)
  list(lambda = lambda, trace = trace, converged = settled,
       convergence = convergence_of(run, 0), mean = run$at_basis$mean, cov = run$at_basis$cov,
       log_evidence = shape_evidence(problem, lambda, run))
}

# Returns a pilot density at points of the unit interval, square or cube, as fine as the order
# allows. Smoothing goes along one input after another.
smoothed_histogram <- function(u, k0, waves) {
  bins <- 4L * (2L * k0 + 1L)
  apart <- abs(outer(seq_len(bins), seq_len(bins), "-")) / bins
  smoother <- stats::dnorm(waves$distance(apart), sd = 0.5 / (2 * k0 + 1))
  smoother <- smoother / rowSums(smoother)
  at <- pmin(floor(u * bins), bins - 1) + 1
  p <- ncol(u)
  smooth <- unclass(table(lapply(seq_len(p), function(j) factor(at[, j], seq_len(bins)))))
  for (j in seq_len(p)) {
    along <- array(smoother %*% matrix(smooth, bins), rep(bins, p))
    smooth <- aperm(along, c(seq_len(p)[-1L], 1L)) # the next input comes first
  }
  smooth[at] * bins^p / nrow(u)
}

# Runs EP at a prior mean of f; `at_basis`: moments of f at the basis, `size`: E of the integral of
# f^2.
density_run <- function(problem, lambda, prior_mean, sites) {
  problem$offset <- rep(prior_mean, nrow(problem$x))
  theta <- c(-log1p(lambda), numeric(problem$nkernel - 1L))
  run <- engine_run(problem, theta, sites, posterior = TRUE)
  refuse_if(run$status != 0L, "x", "led to numbers that are not finite", "Give a smaller `k0`")
  posterior <- list(basis = problem$basis, alpha = run$alpha, G = run$G, H = run$H)
  joint <- joint_latent(problem$spec, theta, posterior, problem$basis)
  run$at_basis <- list(mean = joint$mean + prior_mean, cov = joint$var)
  run$size <- mean_square(run$at_basis)
  run
}

# Returns log p(x) of the shape of f. With prior mean 0 size and shape of the d coefficients c are
# independent, and (1 + lambda) |c|^2 is chi-square:
#   E prod (f_i^2 / |c|^2) = E prod f_i^2 / E |c|^(2n),
# whatever lambda. Of the two mirror images EP stays with the one it comes from, unless there are so
# few points that it holds both.
shape_evidence <- function(problem, lambda, run) {
  n <- nrow(problem$x)
  d <- nrow(problem$basis)
  centred <- density_run(problem, lambda, 0, run[c("tau", "nu")])
  one_of_two <- 2 * sum(centred$at_basis$mean^2) > d * centred$size
  log_z <- centred$logz + if (one_of_two) log(2) else 0
  log_z - n * log(2 / (1 + lambda)) - lgamma(n + d / 2) + lgamma(d / 2)
}
