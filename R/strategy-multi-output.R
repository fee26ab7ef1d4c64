# The default strategy for several latent functions, components or classes of one model: full EP, or
# sparse EP on as many inducing points as a sweep of about n^2 allows, whose hyperparameters are
# learned on some of the observations.

# options: method_ep(), of which the size is open.
plan_multi_output <- function(options, problem, basis) {
  size <- if (is.null(basis$x)) multi_output_points(options$effort, problem)
  options["size"] <- list(if (is.null(size)) Inf else size)
  plan <- plan_sized_ep(options, problem, basis)
  if (!is.null(size)) class(plan) <- c("plan_multi_output", class(plan))
  plan
}

# An evaluation sweeps over all observations; some thousands say as much of hyperparameters.
#' @export
learn.plan_multi_output <- function(plan, table, control, progress, from = NULL) {
  count <- 2L * policy$pilot_rows
  if (problem_rows(plan$problem) <= count) return(NextMethod())
  part <- plan
  part$problem <- part_of_problem(plan$problem, spread_problem(plan$problem)[seq_len(count)])
  learned <- learn(part, table, control, progress, from)
  learned$plan <- choose_basis(plan, learned$table, learning = TRUE)
  learned
}

# NULL if full EP is affordable.
multi_output_points <- function(effort, problem) {
  values <- count_latent_values(problem)
  if (!exceeds_full_ep_budget(effort, problem$lik, problem_rows(problem), values)) return(NULL)
  points <- as.integer(round(policy$multi_output_root * sqrt(nrow(problem$x))))
  max(1L, min(policy$multi_output_points, points) %/% problem_width(problem))
}
