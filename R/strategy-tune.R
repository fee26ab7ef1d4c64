# Classes with a candidate learned: shorter length scales, a margin, least squares, all
# observations, a rougher kernel.

#' @export
tune.plan_classification <- function(plan, candidate) {
  if (is.null(candidate$record)) return(list(candidate = candidate, run = checked_run(candidate)))
  if (length(free_lengthscales(candidate$table)) == 0L) return(score_by_loo(candidate))
  found <- tune_on_subset(with_enough_points(candidate))
  squares <- try_least_squares(found)
  if (squares$taken) score_least_squares(found, squares) else score_all(found, squares$choices)
}

# Shorter length scales in turn, by half the points of some of the observations, for as long as one
# is better, and the one learned if no other was; then a margin, which makes probabilities surer,
# unless they are too sure without it. Returns the candidate of all observations and points, with
# `power`, the exponent that recalibrates its probabilities.
tune_on_subset <- function(candidate) {
  problem <- candidate$plan$problem
  rows <- sort(spread_problem(problem)[seq_len(compared_rows(problem))])
  small <- with_size(with_subset(candidate, rows), size_of(candidate) / 2)
  best <- race("length scale", shorter(small, policy$lengthscale_factors), score_by_loo,
               gain_in_lpd)
  if (best$candidate$factor == policy$lengthscale_factors[1L]) { # it has to gain its error
    best <- race("length scale", shorter(small, 1), score_by_loo, gain_in_lpd,
                 standard_errors(-1), best = best)
  }
  margin <- list(margin = function(best) if (best$power >= 1) with_margin(best$candidate))
  best <- race("likelihood", margin, score_by_loo, gain_in_lpd,
               standard_errors(policy$min_standard_errors), best = best,
               incumbent = candidate$model$lik$type)
  found <- as_found(candidate, best$candidate)
  if (is.null(found$plan$sites)) found <- with_sites(found, foreseen_sites(found, best))
  found$power <- best$power
  found$choices <- stacked_table(list(candidate$choices, best$choices))
  found
}

# Runs what was found with all observations and points.
score_all <- function(found, choices) {
  entries <- shorter(found, 1)
  entries[[1L]] <- function(best) found
  best <- race("all observations", entries, score_by_loo, gain_in_lpd)
  best$choices <- stacked_table(list(choices, best$choices))
  with_rougher(best)
}
