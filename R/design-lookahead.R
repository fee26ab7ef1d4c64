# The posterior expected once some rows have labels, by which the rows of a batch avoid redundancy.
# A lookahead is
#   fit, x       scaled inputs of all rows, a point for each latent value
#   latent       their moments (design-information.R) as they are expected to be
#   model        the information model of labels, from its first use on
#   covariances  of each latent function with the points (posterior.R), from the first label on
#   downdate     of each a matrix D: its covariance with the rows is that of the fit less D D'
#   roots        of each label B with B B' its curvature, one for each latent function
#   aim          of score = "improvement": list(sign, best)

new_lookahead <- function(fit, given, aim = NULL) {
  list(fit = fit, x = given$x, latent = given$latent, aim = aim, model = NULL, covariances = NULL,
       downdate = rep(list(matrix(0, NROW(given$x), 0L)), processes(fit)), roots = list())
}

goal_sign <- function(goal) if (check_choice(goal, c("min", "max"), "goal") == "min") -1 else 1

# Builds the lookahead that a score needs, before any label; given: rows, or NULL.
lookahead_for <- function(fit, given, score, goal, best) {
  aim <- if (score == "improvement") {
    sign <- goal_sign(goal)
    best <- if (is.null(best)) best_mean(fit, sign) else check_number(best, "best")
    list(sign = sign, best = best)
  }
  lookahead <- new_lookahead(fit, given, aim)
  if (score %in% c("information", "entropy")) lookahead$model <- information_model(fit)
  lookahead
}

# Returns the lookahead once a row has its label, in O(n (d + w k)) for each latent function.
condition_on <- function(lookahead, row) {
  fit <- lookahead$fit
  if (is.null(lookahead$model)) lookahead$model <- information_model(fit)
  own <- some_latent(lookahead$latent, row, n_outputs(fit))
  aim <- lookahead$aim
  if (!is.null(aim)) { # as if the row had come out at its mean (kriging believer)
    lookahead$aim$best <- aim$sign * max(aim$sign * c(aim$best, improved_mean(fit, own)))
  }
  with_label(lookahead, row, lapply(lookahead$model$curvature(own), root_of))
}

with_label <- function(lookahead, row, roots) {
  fit <- lookahead$fit
  if (is.null(lookahead$covariances)) {
    lookahead$covariances <- lapply(seq_along(roots), function(class) {
      covariances_with(fit, lookahead$x, class)
    })
  }
  at <- stacked_rows(row, n_outputs(fit))
  for (class in seq_along(roots)) {
    before <- lookahead$downdate[[class]]
    now <- covariance_columns(lookahead$covariances[[class]], at) -
      tcrossprod(before, before[at, , drop = FALSE])
    new <- now %*% roots[[class]]
    lookahead$downdate[[class]] <- cbind(before, new)
    lookahead$latent$var <- downdated(lookahead$latent$var, new, class, n_outputs(fit))
  }
  lookahead$roots <- c(lookahead$roots, list(roots))
  lookahead
}

# Returns the lookahead at other points, given the labels of all rows of a batch.
beside <- function(batch, given) {
  own <- seq_along(batch$roots)
  var <- bind_rows(batch$latent$var, given$latent$var)
  joint <- new_lookahead(batch$fit, list(x = rbind(batch$x, given$x), latent = list(var = var)))
  for (row in own) joint <- with_label(joint, row, batch$roots[[row]])
  after <- new_lookahead(batch$fit, given, batch$aim)
  after$model <- batch$model
  others <- length(own) + seq_len(sum(given$complete))
  after$latent$var <- some_latent(joint$latent, others, n_outputs(batch$fit))$var
  after
}

# Subtracts the blocks of D D' from variances; of a variance a rounding unit stays.
downdated <- function(var, D, class, w) {
  at <- (class - 1L) * nrow(D) * w + seq_len(nrow(D) * w) # blocks of this latent function
  before <- matrix(var[at], w * w)
  after <- before - own_products(D, w)
  own <- seq(1L, w * w, w + 1L)
  after[own, ] <- pmax(after[own, ], .Machine$double.eps * before[own, ])
  var[at] <- after
  var
}

# ---- Acquisition functions ----

scores_of <- function(lookahead, score, rows) {
  fit <- lookahead$fit
  latent <- some_latent(lookahead$latent, rows, n_outputs(fit))
  switch(score,
         variance = latent_variance(fit, latent),
         improvement = expected_improvement(fit, latent, lookahead$aim),
         entropy = lookahead$model$entropy(latent) + log_unit(fit, latent),
         information = lookahead$model$information(latent))
}

# Returns variances in the user's units, summed over latent values.
latent_variance <- function(fit, latent) {
  w <- n_outputs(fit)
  own <- matrix(latent$var, w * w)[seq(1L, w * w, w + 1L), , drop = FALSE]
  sums <- colSums(own * component_units(fit$response)^2)
  rowSums(matrix(sums, ncol = processes(fit)))
}

# Returns the linear predictor, as users see it: its order is that of the mean response.
improved_mean <- function(fit, latent) to_link(fit, latent$mean, latent$offset)

# Returns log E max(sign (f - best), 0) for f ~ N(mean, sd^2).
expected_improvement <- function(fit, latent, aim) {
  sd <- sqrt(latent$var) * fit$response$unit
  gap <- aim$sign * (improved_mean(fit, latent) - aim$best)
  ifelse(sd > 0, log(sd) + log_excess(gap / sd), log(pmax(gap, 0)))
}

# Returns log(phi(z) + z Phi(z)). Below 0 the terms cancel: there it is log phi(z) and the logarithm
# of 1 - |z| R(|z|), R the Mills ratio, far below by its continued fraction 1 / (z^2 + 3 - 6 / ...).
log_excess <- function(z) {
  FAR <- -25
  phi <- stats::dnorm(z, log = TRUE)
  out <- phi - log(z^2 + 3 - 6 / (z^2 + 7 - 20 / (z^2 + 11)))
  near <- which(z > FAR & z <= 0)
  ratio <- exp(stats::pnorm(z[near], log.p = TRUE) - phi[near])
  out[near] <- phi[near] + log1p(z[near] * ratio)
  above <- which(z > 0)
  out[above] <- log(exp(phi[above]) + z[above] * stats::pnorm(z[above]))
  out
}

# Returns the best predicted mean of the rows that a fit has, else of its basis.
best_mean <- function(fit, sign) {
  latent <- if (has_rows(fit)) c(fit$latent, fit["offset"])
            else c(engine_predict(fit, fit$posterior$basis), offset = 0)
  sign * max(sign * improved_mean(fit, latent))
}

# ---- Greedy batches ----

# Takes the best of the rows `open` (a flag for each row), then the best given its label, and so on.
# Scores fall as other rows are taken, so a row's last one bounds it, and few need be computed
# anew (lazy evaluation). Of rows that are alike to 1e-10 the first is taken. cost: of each row, or
# NULL. first: every row's score for itself.
greedy_batch <- function(lookahead, score, k, open, cost) {
  if (is.null(cost)) cost <- rep(1, length(open))
  rate <- function(rows) {
    values <- scores_of(lookahead, score, rows)
    if (score == "improvement") values - log(cost[rows]) else values / cost[rows]
  }
  values <- rep(NA_real_, length(open))
  values[open] <- rate(which(open))
  first <- values
  taken <- integer()
  gain <- numeric()
  for (j in seq_len(k)) {
    if (j > 1L) values <- renewed(values, rate)
    taken[j] <- which(values >= nearly(max(values, na.rm = TRUE)))[1L]
    gain[j] <- values[taken[j]]
    values[taken[j]] <- NA
    if (j < k) lookahead <- condition_on(lookahead, taken[j])
  }
  list(rows = taken, gain = gain, first = first)
}

nearly <- function(best) if (is.finite(best)) best - 1e-10 * abs(best) else best

# Replaces bounds by values, from the largest on, until one is no less than all that are left.
renewed <- function(values, rate) {
  CHUNK <- 64L
  stale <- !is.na(values)
  repeat {
    fresh <- max(values[!stale], -Inf, na.rm = TRUE)
    left <- which(stale & values >= nearly(fresh))
    if (length(left) == 0L) return(values)
    some <- utils::head(left[order(-values[left])], CHUNK)
    values[some] <- rate(some)
    stale[some] <- FALSE
  }
}
