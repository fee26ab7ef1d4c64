# Comparisons of candidates. race() is the loop that tries them and keeps the better one.

# Scores candidates in turn and keeps the best.
#   stage    what is chosen, for the record
#   entries  functions of the best score so far (NULL at first) that return the next candidate, or
#            NULL to pass it over; their names stand in the record
#   score    (candidate) -> list(candidate, value, rows, points, ...), see score_by_loo() and others
#   gain     (score, best) -> how much better it is, a number or one for each observation
#   margin   what the mean gain over the best has to exceed, see nats() and others
#   go_on    (taken, gain) -> is the next candidate tried?
#   best     the best score of an earlier stage; once another is tried it stands in the record as
#            `incumbent`
# Returns the best score; best$choices is the record: a data frame of stage, candidate, rows,
# points, score, gain, se (of the gain), needed and taken.
race <- function(stage, entries, score, gain, margin = nats(0),
                 go_on = function(taken, gain) taken, best = NULL, incumbent = NULL) {
  tried <- best$choices
  for (k in seq_along(entries)) {
    candidate <- entries[[k]](best)
    if (is.null(candidate)) next
    first <- if (!is.null(incumbent)) choice_row(stage, best, label = incumbent)
    incumbent <- NULL
    found <- score(candidate)
    gained <- if (is.null(best)) Inf else gain(found, best)
    needed <- if (is.null(best)) NA_real_ else margin(gained, best)
    taken <- is.null(best) || isTRUE(mean(gained) > needed)
    tried <- stacked_table(list(tried, first, choice_row(stage, found, gained, taken,
                                                         names(entries)[k], needed)))
    if (taken) best <- found
    if (!go_on(taken, mean(gained))) break
  }
  best$choices <- only_last_taken(tried)
  best
}

gain_of_evidence <- function(found, best) found$value - best$value

# ---- Margins ----

beats <- function(gained, margin, best) isTRUE(mean(gained) > margin(gained, best))

nats <- function(least) function(gained, best) least

standard_errors <- function(count) function(gained, best) count * standard_error(gained)

# A margin as a proportion of the best log loss (minus its value)
part_of_loss <- function(proportion) function(gained, best) -proportion * best$value

# ---- Scores of labels ----

# Runs a candidate on its observations: leave-one-out log probabilities of the labels, recalibrated.
score_by_loo <- function(candidate) {
  run <- checked_run(candidate)
  tempered_score(candidate, run, loo_label_scores(candidate, run), labels_of(candidate))
}

# Runs a candidate, and scores it by the labels of observations that it has not seen: those of a
# split (strategy-holdout.R).
score_by_holdout <- function(candidate, split) {
  run <- checked_run(candidate)
  problem <- candidate$plan$problem
  latent <- engine_latent(problem, candidate$table$theta, run, split$x)
  scores <- candidate_scores(candidate, latent$mean + c(split$offset), latent$var)
  tempered_score(candidate, run, scores, candidate$model$response$given[split$held])
}

tempered_score <- function(candidate, run, scores, y) {
  found <- best_temper(scores, y)
  points <- if (is.null(run$basis_rows_of)) run$basis_rows else run$basis_rows_of[[1L]]
  list(candidate = with_sites(candidate, run[c("tau", "nu")]), run = run, power = found$power,
       lpd = found$lpd, value = mean(found$lpd), rows = count_observations(candidate),
       points = length(points))
}

gain_in_lpd <- function(found, best) found$lpd - best$lpd

loo_label_scores <- function(candidate, run) {
  candidate_scores(candidate, run$cav_mean + candidate$plan$problem$offset, run$cav_var)
}

candidate_scores <- function(candidate, mean, var) {
  model <- list(likelihood = candidate$model$lik, response = candidate$model$response,
                hyper = candidate$table)
  label_scores(engine_lik_predict(model, mean, var,
                                  weights = candidate$model$response$weights)$mean)
}

checked_run <- function(candidate) {
  run <- run_plan(candidate$plan, candidate$table$theta)
  check_run(run, candidate$table)
  refuse_impossible(run, candidate$model$lik, count_observations(candidate))
  run
}

# ---- Temperature ----

# Returns the exponent of the odds that recalibrates probabilities, and the observations' log
# probabilities at it. Of all exponents whose mean is within min_standard_errors of the best it is
# the one nearest to 1: new observations are seldom easier than those used here.
best_temper <- function(scores, y) {
  scores <- below_largest(scores)
  following <- next_score(scores, y)
  lpd <- function(log_power, score = following) {
    power <- exp(log_power)
    power * score - log(rowSums(exp(power * scores)))
  }
  best <- stats::optimize(function(log_power) mean(lpd(log_power)), log(policy$temper_range),
                          maximum = TRUE)$maximum
  at_best <- lpd(best)
  worse <- function(share) {
    loss <- at_best - lpd(share * best)
    mean(loss) - policy$min_standard_errors * standard_error(loss)
  }
  # near the best the loss is quadratic in the distance and its standard error linear
  share <- if (worse(0) <= 0) 0 else if (worse(0.99) >= 0) 1
           else stats::uniroot(worse, c(0, 0.99), tol = 1e-3)$root
  list(power = exp(share * best), lpd = lpd(share * best, own_label(scores, y)))
}

# Returns the mean score of the label that the next observation like each has, by the rule of
# succession: of n of a label in a row it is the same with probability (n + 1) / (n + 2), or else
# any other (Platt 1999, section 2.2). Labels that are all predicted rightly do not call for an
# exponent without end.
next_score <- function(scores, y) {
  own <- own_label(scores, y)
  n <- tabulate(y, ncol(scores))[y]
  own - (own - (rowSums(scores) - own) / (ncol(scores) - 1)) / (n + 2)
}
