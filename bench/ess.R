# Annealed importance sampling (Neal 2001) and elliptical slice sampling (Murray, Adams and MacKay
# 2010) of latent Gaussian models, many chains side by side, in plain R. Sourced by other scripts.
#
# Both start from a Gaussian q: the prior times a share of a fit's sites to a power, normalised. The
# share is below 1, so that q is wider than what EP found; where q stands changes how long it takes,
# not what is found: the posterior is q times what is left of the likelihood, and a slice is taken
# on ellipses about q's mean.
#
# A model is list(K, n, precisions, shifts): the prior covariance of one latent function at all
# points, of which the first n see a response; for each function the sites' precisions, n x n, and
# shifts, n. Latent values are a list of matrices, one for each function, a column for each chain.

# q, its log integral, and the sites to that power: each = list(mean, root), covariance root root'.
gaussian_of_sites <- function(model, share) {
  at <- seq_len(model$n)
  K <- model$K[at, at]
  each <- Map(function(precision, shift) {
    A <- diag(model$n) + share * precision %*% K
    alpha <- solve(A, share * shift)
    covariance <- model$K - model$K[, at] %*% solve(A, share * precision %*% model$K[at, ])
    parts <- eigen((covariance + t(covariance)) / 2, symmetric = TRUE)
    list(mean = drop(model$K[, at] %*% alpha),
         root = t(t(parts$vectors) * sqrt(pmax(parts$values, 0))),
         log_integral = sum(share * shift * (K %*% alpha)) / 2 -
           as.numeric(determinant(A)$modulus) / 2)
  }, model$precisions, model$shifts)
  list(each = each, n = model$n, log_integral = sum(vapply(each, `[[`, 0, "log_integral")),
       precisions = lapply(model$precisions, `*`, share), shifts = lapply(model$shifts, `*`, share))
}

# Deviations from q's mean, a new one for each chain.
draw_deviations <- function(q, chains) {
  lapply(q$each, function(one) {
    one$root %*% matrix(rnorm(ncol(one$root) * chains), ncol = chains)
  })
}

# What is left of the likelihood beside q, as a logarithm; f: latent values at all points.
rest_of <- function(q, logs) {
  at <- seq_len(q$n)
  function(f) {
    f <- lapply(f, function(one) one[at, , drop = FALSE])
    sites <- Map(function(one, precision, shift) {
      colSums(one * (precision %*% one)) / 2 - colSums(one * shift)
    }, f, q$precisions, q$shifts)
    logs(f) + Reduce(`+`, sites)
  }
}

values_of <- function(q, deviations) Map(function(one, d) one$mean + d, q$each, deviations)

# A step of every chain: `power` of the rest is what is sampled beside q. state = list(deviations,
# rest).
slice_step <- function(state, q, rest, power) {
  chains <- length(state$rest)
  other <- draw_deviations(q, chains)
  level <- power * state$rest + log(runif(chains))
  angle <- runif(chains, 0, 2 * pi)
  low <- angle - 2 * pi
  high <- angle
  going <- seq_len(chains)
  while (length(going)) {
    turned <- Map(function(own, new) {
      t(t(own[, going, drop = FALSE]) * cos(angle[going]) +
          t(new[, going, drop = FALSE]) * sin(angle[going]))
    }, state$deviations, other)
    found <- rest(values_of(q, turned))
    good <- !is.na(found) & power * found > level[going]
    done <- going[good]
    state$rest[done] <- found[good]
    for (k in seq_along(turned)) other[[k]][, done] <- turned[[k]][, good]
    going <- going[!good]
    back <- angle[going] < 0
    low[going[back]] <- angle[going[back]]
    high[going[!back]] <- angle[going[!back]]
    angle[going] <- runif(length(going), low[going], high[going])
  }
  state$deviations <- other
  state
}

# Log evidence, with its Monte Carlo error, and chains that have come from q to the posterior, with
# their weights.
annealed_sampling <- function(q, logs, chains, temperatures) {
  rest <- rest_of(q, logs)
  deviations <- draw_deviations(q, chains)
  state <- list(deviations = deviations, rest = rest(values_of(q, deviations)))
  weights <- numeric(chains)
  for (k in seq_len(temperatures)) {
    weights <- weights + state$rest / temperatures
    state <- slice_step(state, q, rest, k / temperatures)
  }
  top <- max(weights)
  share <- exp(weights - top)
  list(log_evidence = q$log_integral + top + log(mean(share)),
       error = sd(share) / mean(share) / sqrt(chains), state = state, share = share)
}

# Means over each chain of the latent values at the points without a response, of their squares and
# of probabilities: rows x chains. Chains begin as often as they weigh.
slice_chains <- function(annealed, q, known, steps) {
  rest <- rest_of(q, known$logs)
  state <- annealed$state
  chains <- length(state$rest)
  begin <- sample.int(chains, chains, TRUE, annealed$share)
  state$rest <- state$rest[begin]
  state$deviations <- lapply(state$deviations, function(one) one[, begin, drop = FALSE])
  skipped <- steps %/% 6
  sums <- c(list(mean = 0, square = 0), if (!is.null(known$prob)) list(prob = 0))
  for (step in seq_len(steps)) {
    state <- slice_step(state, q, rest, 1)
    if (step <= skipped) next
    new <- lapply(values_of(q, state$deviations), function(one) one[-seq_len(q$n), , drop = FALSE])
    values <- do.call(rbind, new)
    sums$mean <- sums$mean + values
    sums$square <- sums$square + values^2
    if (!is.null(known$prob)) sums$prob <- sums$prob + known$prob(new)
  }
  lapply(sums, function(sum) sum / (steps - skipped))
}
