# Several classes by least squares (lik-squares.R, plan-squares.R) in place of probits, each against
# the rest: where classes hardly overlap rows far inside of them, which a probit forgets, hold the
# functions where they belong. A fit on points that all classes share and one on points of each are
# not to be compared by leave-one-out probabilities, as rows in a basis have a say in these: a fifth
# of the rows is held out, and both are asked for their labels.

# looked: where look_around() has come to; probabilities that are too sure as it is are of classes
# that overlap. as_squares: (learned) -> the same by least squares, or NULL where nothing else may
# be tried. list(tried), and if squares are better fit, learned and factor.
try_squares <- function(looked, make, as_squares, at) {
  squares <- if (looked$power >= 1) as_squares(looked$learned)
  if (is.null(squares)) return(looked["tried"])
  rows <- told_and_held(looked$learned$plan$problem)
  ask <- function(fit) held_scores(fit, looked$learned$plan$problem, rows$held)
  probit <- looked$learned
  probit$plan <- rougher_plan(with_share(probit$plan, rows$share), rows$told)
  probit$plan$sites <- NULL
  first <- make(probit, rows$told)
  wanted <- ask(first)
  tried <- rbind(looked$tried, tried_row(first, looked$factor, wanted, HELD_BACK))
  best <- NULL
  for (factor in c(1, policy$lengthscale_factors)) {
    one <- at_length(squares, at, factor)
    points <- shared_points(first$basis_rows_of, with_share(one$plan, rows$share))
    one$plan <- plan_squares(part_of_problem(one$plan$problem, rows$told), points)
    fit <- make(one, rows$told)
    found <- ask(fit)
    tried <- rbind(tried, tried_row(fit, factor * looked$factor, found, HELD_BACK))
    if (!is.null(best) && !is_gain(found$lpd - best$lpd, 0)) break
    best <- c(list(factor = factor), found)
  }
  if (!is_gain(best$lpd - wanted$lpd, policy$min_standard_errors)) return(list(tried = tried))
  c(fit_squares(looked, at_length(squares, at, best$factor), make), list(tried = tried),
    factor = best$factor * looked$factor)
}

# All rows, by least squares.
fit_squares <- function(looked, squares, make) {
  plan <- smaller_plan(looked$learned$plan, seq_len(nrow(looked$learned$plan$problem$x)))
  squares$plan <- plan_squares(squares$plan$problem,
                               shared_points(vectors_of_classes(plan, looked$learned$table$theta),
                                             looked$learned$plan))
  list(fit = make(squares, NULL), learned = squares)
}

# Splits some rows into those to learn from and those held out; share: of all rows. What is held out
# is a beginning, which has its share of every class, but for rows that are needed to tell inputs
# apart.
told_and_held <- function(problem) {
  n <- nrow(problem$x)
  order <- spread_rows(n, problem$strata)
  needed <- order %in% rows_that_vary(order, problem$x)
  others <- utils::head(order[!needed], max(0, min(n, policy$compare_rows) - sum(needed)))
  order <- c(others, order[needed])
  out <- seq_along(order) <= policy$holdout * length(order)
  list(told = sort(order[!out]), held = sort(order[out]), share = length(order) / n)
}

# What a fit of other rows says of the labels of these, by the power that suits it.
held_scores <- function(fit, problem, held) {
  latent <- engine_predict(fit, problem$x[held, , drop = FALSE])
  latent$offset <- problem$offset[held]
  power_for(log_scores(fit, latent), problem$rows[held])
}

# What was learned for probits, for least squares in their place. Labels are the function's unit.
with_squares <- function(learned, model) {
  learned <- under_model(learned, model)
  table <- learned$table
  learned$table$theta[table$base == "variance"] <- 0
  bias <- table$base == "bias"
  learned$table$theta[bias] <- model$table$theta[bias]
  learned$plan$sites <- NULL
  learned
}

# Where a margin might be tried, and there are several classes whose rows are all at hand. Copies of
# points are made for each class apart.
may_have_squares <- function(learned, setup) {
  problem <- learned$plan$problem
  sets_apart(problem) && is.null(setup$known) && is.null(setup$augment) &&
    may_have_other(learned, setup)
}
