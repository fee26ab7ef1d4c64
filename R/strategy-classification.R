# The default strategy for classes, two or one-vs-rest, if full EP of all observations exceeds the
# budget.
#
#   stage          observations      inducing points           criterion      stops
#   kernel         class_pilot_rows  class_pilot_points        log evidence   all tried
#   learning       the same, if the kernel was given           log evidence   converged
#   length scale   compare_rows      half of all               leave-one-out  a factor is worse
#   likelihood     compare_rows      half of all               leave-one-out
#   least squares  of compare_rows   shared by all classes     hold-out       a factor is worse
#   all            all               class_points_root sqrt n  leave-one-out  two length scales
#
# The evidence of a few points prefers longer length scales than many points want, and probabilities
# of one-vs-rest classes are too sure or not sure enough. A shorter length scale is expected, and
# only has to be better; a change of the likelihood has to gain min_standard_errors.

# Is this the strategy? If full EP would exceed the budget.
fits_classes <- function(method, lik, n, processes) {
  leaves_open(method) && lik_traits(lik)$tempered &&
    exceeds_full_ep_budget(method$effort, lik, n, processes)
}

# Informative vectors of each class among n observations. Effort multiplies the cost of an
# iteration, which goes with the square of their number.
class_points_wanted <- function(n, effort) {
  range <- policy$class_points
  points <- min(max(policy$class_points_root * sqrt(n), range[1L]), range[2L])
  round(min(sqrt(EFFORT[[effort]]) * points, n / 2))
}

plan_classification <- function(problem, effort) {
  n <- nrow(problem$x)
  problem$options <- method_ivm(class_points_wanted(n, effort), tol = policy$fit_tolerance,
                                pool = policy$held_numbers)
  problem$tie_break <- as.double(spread_problem(problem)) # reproducible without a seed
  new_plan("plan_classification", problem)
}

# ---- Learning ----

# Observations of the pilot, and its plan.
class_pilot <- function(n, lik, processes) {
  rows <- min(n, policy$class_pilot_rows)
  points <- points_of_work(policy$class_pilot_flops, rows, lik, processes)
  options <- method_ivm(round(min(points, policy$class_pilot_points, rows / 2)),
                        tol = policy$learn_tolerance)
  list(rows = rows, plan = function(problem) {
    problem$options <- options
    new_plan(c("plan_pilot", "plan_ivm", "plan_choosing"), problem)
  })
}

# Spread over all rows, which may be sorted by their labels.
pilot_third <- function(problem) {
  spread_problem(problem)[seq_len(round(nrow(problem$x) / 3))]
}

# From nothing the way is long, and begins with a third of the observations and points: an
# evaluation costs a 27th there.
#' @export
learn.plan_pilot <- function(plan, table, control, progress, from = NULL) {
  first <- NULL
  if (is.null(from)) {
    small <- plan
    small$problem <- part_of_problem(plan$problem, pilot_third(plan$problem))
    small$problem$options$size <- max(1, round(plan$problem$options$size / 3))
    class(small) <- setdiff(class(plan), "plan_pilot")
    first <- learn(small, table, control, progress)
    from <- first$table$theta[table$free]
  }
  learned <- NextMethod(from = from)
  learned$record$evaluations <- learned$record$evaluations + sum(first$record$evaluations)
  learned
}

# from: free values of a search on the pilot.
#' @export
learn.plan_classification <- function(plan, table, control, progress, from = NULL) {
  if (!is.null(from)) {
    table$theta[table$free] <- from
    return(list(plan = plan, table = table, record = NULL))
  }
  problem <- plan$problem
  pilot <- class_pilot(nrow(problem$x), problem$lik, problem$processes)
  rows <- spread_problem(problem)[seq_len(pilot$rows)]
  control$within <- policy$rough_search
  learned <- learn(pilot$plan(part_of_problem(problem, rows)), table, control, progress)
  c(list(plan = plan), learned[c("table", "record")])
}

# ---- Tuning ----

#' @export
tune.plan_classification <- function(plan, candidate) {
  if (is.null(candidate$record)) return(list(candidate = candidate, run = checked_run(candidate)))
  if (length(free_lengthscales(candidate$table)) == 0L) return(score_by_loo(candidate))
  found <- tune_on_subset(candidate)
  squares <- try_least_squares(found)
  if (squares$taken) score_least_squares(found, squares) else tune_on_all(found, squares$choices)
}

# Shorter length scales in turn, by half the points of some of the observations, for as long as one
# is better, and the one learned if no other was; then a margin, which makes probabilities surer,
# unless they are too sure without it. Returns the candidate of all observations and points, with
# `power`, the exponent that recalibrates its probabilities.
tune_on_subset <- function(candidate) {
  n <- count_observations(candidate)
  rows <- sort(spread_problem(candidate$plan$problem)[seq_len(min(n, policy$compare_rows))])
  small <- with_size(with_subset(candidate, rows), size_of(candidate) / 2)
  small <- with_tolerance(small, policy$compare_tolerance)
  best <- race("length scale", shorter(small, policy$lengthscale_factors), score_by_loo,
               gain_in_lpd)
  if (best$candidate$factor == policy$lengthscale_factors[1L]) { # it has to gain its error
    best <- race("length scale", shorter(small, 1), score_by_loo, gain_in_lpd,
                 standard_errors(-1), best = best)
  }
  margin <- list(margin = function(best) if (best$power >= 1) with_margin(best$candidate))
  best <- race("likelihood", margin, score_by_loo, gain_in_lpd,
               standard_errors(policy$min_standard_errors), best = best)
  candidate <- as_found(candidate, best$candidate)
  candidate$power <- best$power
  candidate$choices <- best$choices
  candidate
}

# Entries of a race: length scales times these factors, each from the sites of the best so far.
shorter <- function(candidate, factors) {
  entries <- lapply(factors, function(factor) {
    function(best) {
      with_sites(with_lengthscale(candidate, factor), best$candidate$plan$sites)
    }
  })
  stats::setNames(entries, paste("length scales x", signif(candidate$factor * factors, 3L)))
}

# Half the points bear longer length scales than all of them: the next shorter one is tried with
# all, and the better of the two is the fit.
tune_on_all <- function(found, choices) {
  factors <- policy$lengthscale_factors
  factors <- c(found$factor, factors[factors < found$factor][1L])
  entries <- shorter(found, factors[!is.na(factors)] / found$factor)
  entries[[1L]] <- function(best) found
  best <- race("all observations", entries, score_by_loo, gain_in_lpd, go_on = all_of_them)
  best$choices <- rbind(choices, best$choices)
  best
}

# ---- A margin ----

# What was learned for the probit, for a margin in its place: of width 4 it is about as steep. NULL
# if something was said of the likelihood, or of the variance of the one kernel.
with_margin <- function(candidate) {
  if (candidate$model$lik$type != "probit" || !may_change_likelihood(candidate)) return(NULL)
  candidate <- with_likelihood(candidate, lik_margin(width = fixed(policy$margin_width)))
  table <- candidate$table
  steeper <- policy$margin_width / 4
  variance <- table$base == "variance"
  bias <- table$base == "bias"
  table$theta[variance] <- table$theta[variance] + 2 * log(steeper)
  table$theta[bias] <- table$theta[bias] * steeper
  candidate$table <- table
  with_sites(candidate, list(tau = candidate$plan$sites$tau / steeper^2,
                             nu = candidate$plan$sites$nu / steeper))
}

may_change_likelihood <- function(candidate) {
  variance <- candidate$table$base == "variance"
  is.null(candidate$data$setup$likelihood) && sum(variance) == 1L && candidate$table$free[variance]
}

# ---- The fit ----

#' @export
among_copies.plan_classification <- function(plan, sites) {
  plan$problem$options$size <- round(policy$copy_points * plan$problem$options$size)
  plan$sites <- sites
  plan
}

#' @export
run_plan.plan_classification <- function(plan, theta) {
  if (plan$problem$processes == 1L) return(run_vectors(plan, theta))
  one_vs_rest(plan$problem, theta, function(theta, class) {
    run_vectors(plan_of_class(plan, class), theta)
  })
}

# EP starts from plan$sites, those of an earlier fit, or else from those of the vectors.
run_vectors <- function(plan, theta) {
  chosen <- chosen_vectors(plan, theta)
  chosen$problem$options$pool <- policy$held_numbers
  chosen$sites <- if (is.null(plan$sites)) chosen$included else plan$sites
  run_plan(chosen, theta)
}

# Informative vectors are looked for among a part of the candidates there would be without a limit:
# those left when the set is full.
chosen_vectors <- function(plan, theta) {
  problem <- plan$problem
  problem$options$pool <- min(policy$held_numbers, policy$candidate_rows * stub_count(problem))
  choose_basis(new_plan(c("plan_ivm", "plan_choosing"), problem), list(theta = theta),
               learning = FALSE)
}

# The rows that each class has for its vectors, in the order that they were chosen in.
vectors_of_classes <- function(plan, theta) {
  lapply(seq_len(plan$problem$processes), function(class) {
    own <- theta_of_class(plan$problem, theta, class)
    chosen_vectors(plan_of_class(plan, class), own)$rows
  })
}
