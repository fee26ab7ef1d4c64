# Streams: hyperparameters are learned by full EP, or EP on the given basis, on the first rows. The
# rows themselves go through stream-rows.R.

#' @export
plan_for.method_online <- function(method, problem, basis) {
  if (own_kernels(problem$lik)) {
    stop_sparsegp("likelihood", paste("has shared = FALSE, and", method$label,
                                      "chooses points for all classes by one kernel"),
                  "Use shared = TRUE, method_ivm(), full EP")
  }
  problem$options <- method
  problem <- without_mean(problem)
  new_plan(c("plan_online", "plan_with_posterior"), problem,
           evidence = plan_sized_ep(method_ep(), problem, basis))
}
