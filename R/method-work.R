# Counts what EP costs, in multiplications and never in seconds: the same rows give the same fit on
# any machine.

# Factorisations for each evaluation of the evidence.
factorisations_per_evaluation <- function(lik, processes) {
  processes * if (lik_traits(lik)$exact) 1 else policy$ep_iterations
}

# As many rows as full EP can have for so much work.
rows_of_work <- function(work, lik, processes) {
  as.integer(round((work / factorisations_per_evaluation(lik, processes))^(1 / 3)))
}

# As many points as n rows can have.
points_of_work <- function(work, n, lik, processes) {
  sqrt(work / (n * factorisations_per_evaluation(lik, processes)))
}

# Returns whether full EP of n rows costs more than a default fit may.
exceeds_full_ep_budget <- function(effort, lik, n, processes) {
  n > rows_of_work(policy$full_ep_flops * EFFORT[[effort]], lik, processes)
}

# Returns whether full EP of n rows costs more than the method may take: a method that was given
# does what it is asked for.
exceeds_budget <- function(method, lik, n, processes) UseMethod("exceeds_budget")

#' @export
exceeds_budget.sparsegp_method <- function(method, lik, n, processes) FALSE

#' @export
exceeds_budget.method_default <- function(method, lik, n, processes) {
  exceeds_full_ep_budget(method$effort, lik, n, processes)
}

# Returns the work of full EP of coupled classes: factors of n C x n C, and tilts of C dimensions.
coupled_work <- function(n, classes, lik) {
  policy$ep_iterations * ((as.double(n) * classes)^3 + coupled_tilts(n, classes, lik))
}

# Returns the work of predicting as many rows as a default fit has to leave time for.
prediction_work <- function(classes, lik) coupled_tilts(policy$coupled_predictions, classes, lik)

coupled_tilts <- function(n, classes, lik) {
  tilt <- stats::setNames(policy$coupled_tilt, c("mprobit", "softmax"))
  as.double(n) * classes^2 * tilt[[lik$type]]
}
