# Acquisition functions: scores by which next_rows(), next_points() and ask() choose. An entry of
# ACQUISITIONS is a list:
#   words      what it is, in print() and plots
#   scores     (lookahead, rows) -> a number for each of these rows
#   prepare    (lookahead, request) -> the lookahead with what the score needs. request: list(goal,
#              best, target), the last of design-target.R
#   per_cost   (values, cost) -> what is gained per unit of cost
#   refuse     (fit, costs) stops where the score is not for the fit, or not with costs
#   diminishes does a row's score never rise as others are taken, so that its last one bounds it?
#   peaked     may the best point of a box be a narrow peak beside the best predicted mean?
#   elsewhere  does it take a target?
#   gradient   (batch) -> NULL, or a function (batch, point, vars) that returns derivatives of the
#              score by variables of one point, a data frame of one row, beside a batch

acquisition <- function(words, scores, prepare = function(lookahead, request) lookahead,
                        per_cost = function(values, cost) values / cost,
                        refuse = function(fit, costs) NULL, diminishes = TRUE, peaked = FALSE,
                        elsewhere = FALSE, gradient = function(batch) NULL) {
  list(words = words, scores = scores, prepare = prepare, per_cost = per_cost, refuse = refuse,
       diminishes = diminishes, peaked = peaked, elsewhere = elsewhere, gradient = gradient)
}

with_information <- function(lookahead, request = NULL) {
  lookahead$model <- information_model(lookahead$fit)
  lookahead
}

ACQUISITIONS <- list(
  information = acquisition(
    "information on the latent function, in nats", prepare = with_information,
    scores = function(lookahead, rows) lookahead$model$information(latent_of(lookahead, rows))
  ),
  variance = acquisition(
    "variance of the latent function",
    scores = function(lookahead, rows) latent_variance(lookahead$fit, latent_of(lookahead, rows))
  ),
  entropy = acquisition(
    "entropy of the response, in nats", prepare = with_information,
    scores = function(lookahead, rows) {
      latent <- latent_of(lookahead, rows)
      lookahead$model$entropy(latent) + log_unit(lookahead$fit, latent)
    },
    refuse = function(fit, costs) {
      refuse_if(costs && codec_of(fit)$scaled, "cost",
                paste("cannot be combined with score = \"entropy\" of numbers, which",
                      "may be negative"), "Use score = \"information\"")
    }
  ),
  improvement = acquisition(
    "log expected improvement", peaked = TRUE,
    scores = function(lookahead, rows) {
      expected_improvement(lookahead$fit, latent_of(lookahead, rows), lookahead$aim)
    },
    prepare = function(lookahead, request) {
      sign <- goal_sign(request$goal)
      best <- if (is.null(request$best)) best_mean(lookahead$fit, sign)
              else check_number(request$best, "best")
      lookahead$aim <- list(sign = sign, best = best)
      lookahead
    },
    per_cost = function(values, cost) values - log(cost),
    refuse = function(fit, costs) {
      check_measured(codec_of(fit), "improvement", "fit", "Use score = \"information\"")
    }
  ),
  integrated = acquisition(
    "expected fall elsewhere", diminishes = FALSE, elsewhere = TRUE,
    scores = function(lookahead, rows) {
      lookahead$target$measure$fall(with_cross(lookahead), rows)
    },
    prepare = function(lookahead, request) with_target(with_information(lookahead), request$target),
    gradient = function(batch) batch$target$measure$gradient
  )
)

SCORES <- names(ACQUISITIONS)

check_score <- function(score, fit, costs = FALSE) {
  score <- check_choice(score, SCORES, "score")
  ACQUISITIONS[[score]]$refuse(fit, costs)
  score
}

goal_sign <- function(goal) if (check_choice(goal, c("min", "max"), "goal") == "min") -1 else 1

# Builds the lookahead that a score needs, before any label; given: rows, or NULL.
lookahead_for <- function(fit, given, score, goal, best, target = NULL) {
  request <- list(goal = goal, best = best, target = target)
  ACQUISITIONS[[score]]$prepare(new_lookahead(fit, given), request)
}

scores_of <- function(lookahead, score, rows) ACQUISITIONS[[score]]$scores(lookahead, rows)

# Returns variances in the user's units, summed over latent values.
latent_variance <- function(fit, latent) {
  sums <- colSums(block_diagonals(latent$var, n_outputs(fit)) * component_units(fit$response)^2)
  rowSums(matrix(sums, ncol = processes(fit)))
}

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
# A score that diminishes as other rows are taken bounds what it will be, so few need be computed
# anew (lazy evaluation). Of rows that are alike to 1e-10 the first is taken. cost: of each row, or
# NULL. first: every row's score for itself.
greedy_batch <- function(lookahead, score, k, open, cost) {
  if (is.null(cost)) cost <- rep(1, length(open))
  rate <- function(rows) {
    ACQUISITIONS[[score]]$per_cost(scores_of(lookahead, score, rows), cost[rows])
  }
  anew <- if (ACQUISITIONS[[score]]$diminishes) renewed else renewed_all
  values <- rep(NA_real_, length(open))
  values[open] <- rate(which(open))
  first <- values
  taken <- integer()
  gain <- numeric()
  for (j in seq_len(k)) {
    if (j > 1L) values <- anew(values, rate)
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

renewed_all <- function(values, rate) {
  left <- which(!is.na(values))
  replace(values, left, rate(left))
}
