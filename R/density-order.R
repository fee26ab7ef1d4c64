# A density of one order, or several.

# ---- One order ----

search_order <- function(u, most, waves, control) {
  found <- list()
  reached <- numeric()
  for (k0 in 0:most) {
    found[[k0 + 1L]] <- density_fit(k0, u, control, waves)
    reached[k0 + 1L] <- found[[k0 + 1L]]$log_evidence
    if (k0 - (which.max(reached) - 1L) >= 3L) break
  }
  found
}

# Fits of some orders from `chosen` to twice that and one more (5 at least of cosines),
# which are not among those found, and the mean of them all.
wider_fits <- function(found, chosen, u, waves, control) {
  MOST <- 6L # orders that are averaged
  # half as many cosines as there are periodic functions of the same order
  largest <- max(2L * chosen + 1L, if (waves == "level") 5L)
  wanted <- unique(round(seq(chosen, largest, length.out = min(MOST, largest - chosen + 1L))))
  orders <- vapply(found, `[[`, 0L, "k0")
  new <- lapply(as.integer(setdiff(wanted, orders)), density_fit, u = u, control = control,
                waves = waves)
  all <- c(found[orders %in% wanted], new)
  list(new = new, mean = mean_of_fits(all[order(vapply(all, `[[`, 0L, "k0"))]))
}

# One posterior for several orders, the last the largest, in which the functions of the others are
# contained: mean and covariance, at its basis, of their mixture, each f in units of the root of
# its integral of f^2. So the density is the mean of theirs, and how they differ is in the error
# bars.
mean_of_fits <- function(fits) {
  largest <- fits[[length(fits)]]
  each <- lapply(fits, function(fit) {
    W <- trig_weights(fit$k0, largest$basis, fit$basis, fit$waves)
    size <- mean(fit$mean^2 + diag(fit$cov))
    list(mean = drop(W %*% fit$mean) / sqrt(size), cov = W %*% fit$cov %*% t(W) / size)
  })
  means <- vapply(each, `[[`, numeric(length(largest$mean)), "mean")
  means <- t(t(means) * sign(colSums(means))) # f and -f are the same density
  within <- Reduce(`+`, lapply(each, `[[`, "cov")) / length(each)
  largest$mean <- rowMeans(means)
  largest$cov <- within + tcrossprod(means - largest$mean) / length(each)
  largest
}

# What makes values of f at points u of its values at the basis.
trig_weights <- function(k0, u, basis, waves) {
  p <- ncol(u)
  seen <- function(u) density_inputs(k0, u, waves)
  kernel_matrix(density_kernel(k0, p, waves), density_theta(0, p, waves), seen(u),
                seen(basis)) / nrow(basis)
}

# What the kernel sees of points u: themselves, or of one input the cosines whose products it is.
density_inputs <- function(k0, u, waves) {
  if (waves == "periodic") return(u)
  cbind(rep(1, nrow(u)), sqrt(2) * cos(pi * outer(u[, 1L], seq_len(k0))), deparse.level = 0L)
}

# The prior at lambda on p inputs of the unit interval: K_0 / (1 + lambda).
density_kernel <- function(k0, p, waves = "periodic") {
  if (waves == "level") {
    return(spec_for_c(list(type = "linear", vars = 0:k0, ard = FALSE, degree = 0L,
                           parts = list())))
  }
  leaf <- function(j) {
    list(type = "trig", vars = j - 1L, ard = FALSE, degree = k0, parts = list())
  }
  if (p == 1L) return(spec_for_c(leaf(1L)))
  spec_for_c(list(type = "product", vars = integer(), ard = FALSE, degree = 0L,
                  parts = list(leaf(1L), leaf(2L))))
}

density_theta <- function(lambda, p, waves = "periodic") {
  c(-log1p(lambda), numeric(if (waves == "periodic") 2L * p - 1L else 0L))
}

# Rows of the equispaced grid that spans the prior's functions.
equispaced <- function(k0, p, waves = "periodic") {
  count <- if (waves == "periodic") 2L * k0 + 1L else k0 + 1L
  at <- (seq_len(count) - 0.5) / count
  unname(as.matrix(expand.grid(rep(list(at), p), KEEP.OUT.ATTRS = FALSE)))
}

# Where f crosses zero is a choice that EP makes early and keeps: of two starts, from the prior at
# lambda = 0 and from the root of a smoothed histogram, the fit of larger evidence.
density_fit <- function(k0, u, control, waves = "periodic") {
  p <- ncol(u)
  basis <- equispaced(k0, p, waves)
  model <- list(lik = lik_density(), spec = density_kernel(k0, p, waves),
                nkernel = length(density_theta(0, p, waves)),
                response = list(unit = 1, processes = 1L, width = 1L))
  problem <- new_problem(model, density_inputs(k0, u, waves), matrix(1, 1L, nrow(u)),
                         numeric(nrow(u)), method_ep(tol = 1e-9, sweeps = control$sweeps),
                         density_inputs(k0, basis, waves))
  root <- sqrt(nrow(u) * smoothed_histogram(u, k0, waves))
  sites <- list(tau = 2 / root^2, nu = 4 / root) # log f^2 to second order about the root
  found <- list(density_settle(problem, 0, NULL, control),
                density_settle(problem, 1, sites, control))
  best <- found[[which.max(vapply(found, `[[`, 0, "log_evidence"))]]
  c(list(k0 = k0, waves = waves, basis = basis), best)
}

# Posterior of f by EP for each lambda, and lambda from the posterior, in turn (thesis 5.25, 5.30;
# 5.15 would have 2 N for N, which makes lambda larger, f smaller, and the density what it is).
# What comes of lambda is nearly linear in it, with a slope of 1/2: secants take the shorter way.
density_settle <- function(problem, lambda, sites, control) {
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

# A pilot density at the points of the unit square, periodic, as fine as the order allows.
smoothed_histogram <- function(u, k0, waves) {
  bins <- 4L * (2L * k0 + 1L)
  apart <- abs(outer(seq_len(bins), seq_len(bins), "-")) / bins
  if (waves == "periodic") apart <- pmin(apart, 1 - apart)
  smoother <- stats::dnorm(apart, sd = 0.5 / (2 * k0 + 1))
  smoother <- smoother / rowSums(smoother)
  at <- pmin(floor(u * bins), bins - 1) + 1
  counts <- unclass(table(lapply(seq_len(ncol(u)), function(j) factor(at[, j], seq_len(bins)))))
  smooth <- smoother %*% (if (ncol(u) == 1L) c(counts) else counts %*% t(smoother))
  smooth[at] * bins^ncol(u) / nrow(u)
}

# EP at a prior mean of f; `at_basis`: moments of f at the basis, `size`: E of the integral of f^2.
density_run <- function(problem, lambda, prior_mean, sites) {
  problem$offset <- rep(prior_mean, nrow(problem$x))
  theta <- c(-log1p(lambda), numeric(problem$nkernel - 1L))
  run <- engine_run(problem, theta, sites, posterior = TRUE)
  if (run$status != 0L) {
    stop_sparsegp("x", "led to numbers that are not finite", "Give a smaller `k0`")
  }
  posterior <- list(basis = problem$basis, alpha = run$alpha, G = run$G, H = run$H)
  joint <- joint_latent(problem$spec, theta, posterior, problem$basis)
  run$at_basis <- list(mean = joint$mean + prior_mean, cov = joint$var)
  run$size <- mean(run$at_basis$mean^2 + diag(run$at_basis$cov))
  run
}

# log p(x) of the shape of f. With prior mean 0 size and shape of the d coefficients c are
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
