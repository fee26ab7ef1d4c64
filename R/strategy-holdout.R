# Observations that are held out, by which candidates of different inducing points are compared:
# leave-one-out probabilities depend on which observations are in the basis.

# Splits some observations into those to learn from, `trained`, and those `held` out, of which x and
# offset are given, too; share: of all. What is held out is a beginning, which has its share of
# every class, but for observations that are needed to tell inputs apart.
split_holdout <- function(problem) {
  n <- nrow(problem$x)
  order <- spread_rows(n, problem$strata)
  needed <- order %in% rows_that_vary(order, problem$x)
  others <- utils::head(order[!needed], max(0, compared_rows(problem) - sum(needed)))
  order <- c(others, order[needed])
  out <- seq_along(order) <= policy$holdout * length(order)
  held <- sort(order[out])
  list(trained = sort(order[!out]), held = held, share = length(order) / n,
       x = problem$x[held, , drop = FALSE], offset = problem$offset[held])
}

# Returns the candidate on the observations to learn from, with their share of `points`.
trained_part <- function(candidate, split, points) {
  candidate <- with_size(with_subset(candidate, split$trained), split$share * points)
  with_sites(candidate, NULL)
}
