# Fits of labels that are settled by what they say of rows they have not seen: length scales, as
# many points want shorter ones than the evidence of a few did, and a power of the odds, where
# probabilities are too sure or not sure enough. Both by leave-one-out probabilities; a change has
# to gain more than its standard error.

SHORTER_YET <- c(0.7, 0.5, 0.35, 0.25) # times the length scales learned

# make: (learned) -> fit; learned: what learn_settled() returns.
tuned_fit <- function(learned, make) {
  what <- if (!is.null(learned$record)) tunes(learned$plan)
  at <- which(learned$table$base == "lengthscale" & learned$table$free)
  looked <- if ("lengthscale" %in% what && length(at)) look_around(learned, make, at)
  if (!is.null(looked)) {
    learned$table$theta[at] <- learned$table$theta[at] + log(looked$factor)
  }
  fit <- make(learned)
  fit$tuning <- looked
  power <- if ("power" %in% what) best_power(fit)$power else 1
  if (power != 1) fit$power <- power
  fit
}

# Factors of the length scales in turn, with half the points, for as long as one is better.
look_around <- function(learned, make, at) {
  learned$plan <- halved(learned$plan)
  theta <- learned$table$theta
  tried <- NULL
  best <- NULL
  for (factor in c(1, SHORTER_YET)) {
    learned$table$theta[at] <- theta[at] + log(factor)
    found <- best_power(make(learned))
    tried <- rbind(tried, data.frame(factor = factor, power = found$power,
                                     loo_lpd = mean(found$lpd)))
    if (!is.null(best) && !is_gain(found$lpd - best)) break
    best <- found$lpd
    chosen <- factor
  }
  list(factor = chosen, tried = tried)
}

# Rows differ: more than one standard error of the mean.
is_gain <- function(differences) {
  mean(differences) > stats::sd(differences) / sqrt(length(differences))
}

POWERS <- c(0.25, 4)

# The power and the rows' leave-one-out log probabilities at it. Of all powers whose mean is within
# one standard error of the best it is the one nearest to 1: new rows are seldom easier than those
# at hand.
best_power <- function(fit) {
  scores <- log_scores(fit, loo_latent(fit))
  lpd <- function(log_power) label_lpd(powered(scores, exp(log_power)), fit$y)
  best <- stats::optimize(function(log_power) mean(lpd(log_power)), log(POWERS),
                          maximum = TRUE)$maximum
  at_best <- lpd(best)
  worse <- function(share) {
    loss <- at_best - lpd(share * best)
    mean(loss) - stats::sd(loss) / sqrt(length(loss))
  }
  # near the best the loss is quadratic in the distance and its standard error linear
  share <- if (worse(0) <= 0) 0 else if (worse(0.99) >= 0) 1
           else stats::uniroot(worse, c(0, 0.99), tol = 1e-3)$root
  list(power = exp(share * best), lpd = lpd(share * best))
}
