# Problems: what the calls of C read.

# Everything C needs but hyperparameters:
#   x          n x p double matrix of kept, scaled inputs
#   spec       the kernel for C; nkernel: how many hyperparameters are its; lik
#   rows, offset   q x n; n
#   processes  independent latent functions; quantities of latent values are n x processes
#   width      latent values of one of them that a row's likelihood sees at once
#   method     the settings that the calls read; a plan puts them in
#   basis      d x p double matrix of scaled inputs, a list of them, one for each latent function,
#              or NULL: every row is in the basis
#   base       states of rows read before, whose sites stand, one for each basis; or NULL
#   states     of a Markov process, where EP is by its filter (plan-markov.R); or NULL
#   neighbours of each row, where EP is by these (plan-neighbours.R); or NULL
#   mean       a linear mean that EP of all rows integrates out (kernel-mean.R), or NULL
#   power      of the likelihood, where a run of EP raises it to one (engine-power.R)
#   scale      of a response whose scale has a parameter (engine-scale.R), or NULL
# and what some calls need besides. theta is the full vector of hyperparameters on C's scale, kernel
# first.
#
# Every problem is built here: model is list(lik, spec, nkernel, response, mean) of a model or of a
# fit (model_of_fit()), response with unit, processes and width. points: scaled inputs, stacked
# where rows have several components; offset: in the response's unit, a number for each row or a
# column for each component.
new_problem <- function(model, points, rows, offset, options = NULL, basis = NULL, ...) {
  response <- model$response
  list(x = points, spec = model$spec, nkernel = model$nkernel, lik = model$lik, rows = rows,
       offset = stacked_values(offset / response$unit), processes = response$processes,
       width = response$width, options = options, basis = basis, mean = model$mean,
       scale = if (is_open(response)) {
         c(response[c("codec", "centre", "unit", "reference")], list(record = response$scale))
       }, ...)
}

# The same problem of some of its rows.
part_of_problem <- function(problem, rows) {
  points <- stacked_rows(rows, problem_width(problem))
  problem$x <- problem$x[points, , drop = FALSE]
  problem$rows <- problem$rows[, rows, drop = FALSE]
  problem$offset <- problem$offset[points]
  problem$strata <- problem$strata[rows]
  problem$tie_break <- NULL # is of all rows
  problem
}

# Returns the rows of a problem in an evenly spread order, see spread_rows().
spread_problem <- function(problem) {
  spread_rows(problem_rows(problem), problem$strata,
              row_inputs(problem$x, problem_width(problem)))
}

# Returns the rows of a problem in an order whose first rows are windows of neighbouring ones, see
# window_order(), or NULL where the function varies slowly enough for spread_problem(), or rows have
# no neighbours.
windowed_problem <- function(problem, count) {
  sampled <- nrow(problem$x) > count
  if (sampled && have_neighbours(problem)) window_order(problem$x, problem$rows[1L, ], count)
}

# Is the distance between its rows one of few numbers, and the response one of a number each?
have_neighbours <- function(problem) {
  count_latent_values(problem) == 1L && count_inputs(problem) <= policy$neighbour_inputs &&
    !reads_any_levels(problem$spec)
}

# Returns so many of its rows that are windows of neighbouring ones, in their order, or NULL.
window_rows <- function(problem, count) {
  order <- windowed_problem(problem, count)
  if (!is.null(order)) sort(utils::head(order, count))
}

reads_any_levels <- function(spec) {
  any(spec$levels > 0) || any(vapply(spec$parts, reads_any_levels, NA))
}

lik_in_c <- function(problem) {
  lik_for_c(problem$lik, problem$processes, problem_width(problem), NROW(problem$rows),
            problem$power %||% 1)
}

# Latent values of a row that its site sees at once; x then has so many rows for each.
problem_width <- function(problem) problem$width %||% 1L

# Returns how many latent values an observation of a problem has, or of a response.
count_latent_values <- function(problem) problem$processes * problem_width(problem)

problem_rows <- function(problem) nrow(problem$x) %/% problem_width(problem)

# A size in points of C's, of which a row has as many as it has components.
points_of <- function(size, problem) {
  as.integer(round(min(as.double(size) * problem_width(problem), nrow(problem$x))))
}

# Sites of no precision: blocks tau and values nu.
no_sites <- function(problem) {
  values <- as.double(nrow(problem$x)) * problem$processes
  list(tau = numeric(values * problem_width(problem)), nu = numeric(values))
}

lik_of_fit <- function(fit) lik_for_c(fit$likelihood, processes(fit), n_outputs(fit))

# Returns the likelihood's theta without the parameter of the response's scale, which C has not.
lik_theta_for_c <- function(problem, theta) {
  own <- theta[-seq_len(problem$nkernel)]
  if (is.null(scale_parameter(problem$lik))) own else own[-length(own)]
}

# Points of the basis, given or to be chosen; or all rows.
points_of_call <- function(problem) {
  if (!is.null(problem$states)) return(problem$states)
  if (!is.null(problem$neighbours)) return(problem$neighbours$k)
  bases <- if (is.list(problem$basis)) problem$basis else list(problem$basis)
  if (!is.null(problem$basis)) return(max(vapply(bases, NROW, 0L)))
  min(nrow(problem$x), problem$options$size)
}
