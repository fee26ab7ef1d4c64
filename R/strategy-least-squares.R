# Least-squares classification (lik-squares.R) in place of one-vs-rest probits: if classes hardly
# overlap, observations far inside of a class, which a probit forgets, hold the functions where they
# belong. A fit on points that all classes share and one on points of each are not to be compared by
# leave-one-out probabilities, which depend on the basis: some observations are held out.

# Length scales are compared on half of the shared points, and the best one with all of them beside
# the probits.
#
# found: see tune_on_subset(). Returns list(taken, choices, and if taken the candidate).
try_least_squares <- function(found) {
  refused <- list(taken = FALSE, choices = found$choices)
  if (found$power < 1 || !may_be_least_squares(found)) return(refused)
  split <- split_holdout(found$plan$problem)
  by_holdout <- function(candidate) score_by_holdout(candidate, split)
  wanted <- by_holdout(trained_part(found, split, size_of(found)))
  squares <- with_least_squares(found)
  on_shared <- function(candidate, proportion) {
    candidate$plan <- plan_least_squares(candidate$plan$problem, shared_points(
      wanted$run$basis_rows_of, proportion * split$share * size_of(found)))
    candidate
  }
  part <- on_shared(with_subset(squares, split$trained), 1 / 2)
  best <- race("least squares", shorter(part, c(1, policy$lengthscale_factors)), by_holdout,
               gain_in_lpd)
  tried <- transform(best$choices, taken = FALSE)
  best <- by_holdout(on_shared(best$candidate, 1))
  gained <- gain_in_lpd(best, wanted)
  taken <- beats(gained, standard_errors(policy$min_standard_errors), wanted)
  compared <- list(
    choice_row("least squares", wanted, taken = !taken, label = PROBIT_BEFORE),
    tried, choice_row("least squares", best, gained, taken, names(shorter(best$candidate, 1)),
                      policy$min_standard_errors * standard_error(gained))
  )
  list(taken = taken, candidate = as_found(squares, best$candidate),
       choices = stacked_table(c(list(found$choices), compared)))
}

# All observations, by least squares on points that all classes share.
score_least_squares <- function(found, squares) {
  candidate <- squares$candidate
  plan <- with_size(found, size_of(found) / 2)$plan
  points <- shared_points(vectors_of_classes(plan, found$table$theta), size_of(found))
  candidate$plan <- plan_least_squares(candidate$plan$problem, points)
  best <- score_by_loo(candidate)
  best$choices <- squares$choices
  best
}

PROBIT_BEFORE <- "one-vs-rest probit" # its label in the record

# Turns a candidate that was learned for probits into one of least squares. Labels are the
# function's unit.
with_least_squares <- function(candidate) {
  candidate <- with_likelihood(candidate, lik_squares(noise = fixed(policy$label_noise)))
  table <- candidate$table
  table$theta[table$base == "variance"] <- 0
  bias <- table$base == "bias"
  table$theta[bias] <- candidate$model$table$theta[bias]
  candidate$table <- table
  with_sites(candidate, NULL)
}

# If a margin might be tried, and there are several classes whose rows are all in memory. Copies of
# points are made for each class.
may_be_least_squares <- function(candidate) {
  setup <- candidate$data$setup
  is_one_vs_rest(candidate$plan$problem) && is.null(setup$known) && is.null(setup$augment) &&
    may_change_likelihood(candidate)
}

# The points of all classes, those that each chose first before others, as many as take the work of
# one iteration over `wanted` points of each of most_classes, or of all if they are fewer.
shared_points <- function(rows_of, wanted) {
  turn <- order(unlist(lapply(rows_of, seq_along)))
  points <- unique(unlist(rows_of)[turn])
  classes <- min(length(rows_of), policy$most_classes)
  utils::head(points, round(sqrt(classes) * max(1, round(wanted))))
}
