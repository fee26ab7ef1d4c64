# Streams: hyperparameters are learned by full EP, or EP on the given basis, on the first rows. The
# rows themselves go through stream-rows.R.

#' @export
plan_for.method_online <- function(method, problem, basis) {
  if (own_kernels(problem$lik)) {
    stop_shared_points(method, "Use shared = TRUE, method_ivm() or full EP")
  }
  problem$options <- method
  problem <- without_mean(problem)
  new_plan(c("plan_online", "plan_with_posterior"), problem,
           evidence = plan_sized_ep(method_ep(), problem, basis))
}
