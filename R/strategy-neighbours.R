# Maps: fits by nearest neighbours (plan-neighbours.R).

# The pilot on which structures are compared for them, without its price (structure_pilot()).
neighbours_pilot <- function(method, n) {
  count <- min(n, policy$neighbour_rows)
  list(count = count, points = count, of_classes = FALSE, k = method$k, plan = function(problem) {
    problem$options <- method
    plan_neighbours(problem)
  })
}
