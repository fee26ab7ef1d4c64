# The default strategy for classes, two or one-vs-rest, if full EP of all observations exceeds the
# budget.
#
#   stage          observations      inducing points           criterion      stops
#   kernel         class_pilot_rows  class_pilot_points        log evidence   all tried
#   learning       the same, if the kernel was given           log evidence   converged
#   points         of compare_rows   a third, all              hold-out
#   length scale   compare_rows      half of all               leave-one-out  a factor is worse
#   likelihood     compare_rows      half of all               leave-one-out
#   least squares  of compare_rows   shared by all classes     hold-out       a factor is worse
#   all            all               class_points_root sqrt n
#   roughness      all               the same                  leave-one-out
#
# Numbers of points are compared if there are more observations than compare_rows. A class of fewer
# than a quarter of the observations has fewer points, and so has one of which the next point says
# little (vectors_of_labels()).
#
# The evidence of a few points prefers longer length scales than many points want, and probabilities
# of one-vs-rest classes are too sure or not sure enough. A shorter length scale is expected, and
# only has to be better; a change of the likelihood or the kernel has to gain min_standard_errors.
# A rougher kernel is compared if there are no more observations than compare_rows.

# Is this the strategy? If full EP would exceed the budget.
fits_classes <- function(method, lik, n, processes) {
  lik_traits(lik)$tempered && exceeds_budget(method, lik, n, processes)
}

# Informative vectors of each class among n observations. Effort multiplies the cost of an
# iteration, which goes with the square of their number. Where they are as many as the observations
# the fit is full EP's, so that nothing jumps where full EP begins to exceed its budget.
class_points_wanted <- function(n, effort) {
  range <- policy$class_points
  points <- min(max(policy$class_points_root * sqrt(n), range[1L]), range[2L])
  round(min(sqrt(EFFORT[[effort]]) * points, n))
}

# Returns how many observations of a problem candidates are compared on: fewer of many classes, so
# that these take as long as most_classes.
compared_rows <- function(problem) {
  most <- round(policy$compare_rows * min(1, policy$most_classes / problem$processes))
  min(nrow(problem$x), most)
}

plan_classification <- function(problem, effort) {
  n <- nrow(problem$x)
  problem$options <- method_ivm(class_points_wanted(n, effort), tol = policy$fit_tolerance,
                                pool = policy$held_numbers)
  problem$tie_break <- as.double(spread_problem(problem)) # reproducible without a seed
  new_plan("plan_classification", problem)
}

# ---- Learning ----

# How many observations the pilot has, and how many informative vectors; and its plan.
class_pilot <- function(n, lik, processes) {
  count <- min(n, policy$class_pilot_rows)
  points <- points_of_work(policy$class_pilot_flops, count, lik, processes)
  points <- round(min(points, policy$class_pilot_points, count / 2))
  options <- method_ivm(points, tol = policy$learn_tolerance)
  list(count = count, points = points, plan = function(problem) {
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
    first <- learn_third(plan, table, control, progress)
    from <- first$table$theta[table$free]
  }
  learned <- NextMethod(from = from)
  learned$record <- with_spent(learned$record, first$record)
  learned
}

learn_third <- function(plan, table, control, progress) {
  plan$problem <- part_of_problem(plan$problem, pilot_third(plan$problem))
  plan$problem$options$size <- max(1, round(plan$problem$options$size / 3))
  class(plan) <- setdiff(class(plan), "plan_pilot")
  learn(plan, table, control, progress)
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
  rows <- window_rows(problem, pilot$count) %||% spread_problem(problem)[seq_len(pilot$count)]
  control$within <- policy$search_tolerance
  learned <- learn(pilot$plan(part_of_problem(problem, rows)), table, control, progress)
  c(list(plan = plan), learned[c("table", "record")])
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
  one_vs_rest(plan$problem, theta, function(theta, class) {
    run_vectors(plan_of_class(plan, class), theta)
  })
}

# EP starts from plan$sites, those of an earlier fit, or else from those of the vectors.
run_vectors <- function(plan, theta) {
  plan$problem$options <- vectors_of_labels(plan$problem)
  chosen <- chosen_vectors(plan, theta)
  chosen$problem$options$pool <- policy$held_numbers
  chosen$sites <- if (is.null(plan$sites)) chosen$included else plan$sites
  run_plan(chosen, theta)
}

# Returns the options by which the points of two labels are chosen. A function that tells a rare
# label from all others is as complex as the observations of that label are many: the number of its
# points goes with the square root of the label's proportion, so that all classes together take the
# time of ten, however many they are.
vectors_of_labels <- function(problem) {
  options <- problem$options
  proportion <- mean(problem$rows > 0)
  rare <- min(proportion, 1 - proportion) / policy$rare_label[1L]
  share <- max(policy$rare_label[2L], sqrt(min(1, rare)))
  options$size <- max(1, round(share * options$size))
  options
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
