# Series: one numeric input and more observations than full EP takes. A default fit is by Markov EP
# there (plan-markov.R), whose posterior is full EP's, and so is the race for structure, whose
# candidates then are Markov processes, Matern 5/2 first.

# Is the model of a setup fitted by Markov EP, if its kernel lets it be? n: observations. Streams
# and sources go on from inducing points, and so do copies and points that a user gave.
is_series <- function(setup, model, n) {
  if (inherits(setup$method, "method_markov")) return(TRUE)
  passing <- isTRUE(setup$streams) || isTRUE(setup$provisional)
  if (!leaves_open(setup$method) || passing) return(FALSE)
  response <- model$response
  open <- is.null(setup$known) && is.null(setup$augment) && is.null(setup$basis)
  open && sum(model$scaling$kept) == 1L && all(model$scaling$levels == 0) &&
    count_latent_values(response) == 1L && !is_modal(model$lik) && !model$scaling$alike &&
    exceeds_full_ep_budget(setup$method$effort, model$lik, n, response$processes)
}

# Is a series' kernel that of a Markov process, so that it is fitted by Markov EP?
is_markov_series <- function(setup, model, n) {
  is_series(setup, model, n) && markov_form(model$spec)$states %in% seq_len(MOST_STATES)
}

# The pilot on which candidates are tried, without its price (structure_pilot()).
series_pilot <- function(setup, n) {
  count <- min(n, policy$series_rows)
  options <- series_method(setup$method)
  list(count = count, points = count, of_classes = FALSE, series = TRUE, plan = function(problem) {
    problem$options <- options
    plan_markov(problem)
  })
}

# The method of a series: as given, or as it is by itself.
series_method <- function(method) if (leaves_open(method)) method_markov() else method

# Returns the plan of a model's problem: a series is fitted by Markov EP, others as their method
# says.
plan_of_model <- function(model, setup, problem, basis) {
  if (!leaves_open(setup$method) || !is_markov_series(setup, model, nrow(problem$x))) {
    return(plan_for(setup$method, problem, basis))
  }
  plan_for(series_method(setup$method), problem, basis)
}

# Of a search that begins: length scales down to a few gaps between times are looked at, one
# evaluation each, as a function of many cycles is noise to a long one.
#' @export
learn.plan_markov <- function(plan, table, control, progress, from = NULL) {
  if (is.null(from)) from <- best_series_start(plan, table)
  learn.plan(plan, table, control, progress, from)
}

# Returns the best of some starts as free values; NULL: the table's starts are looked at as usual.
best_series_start <- function(plan, table) {
  scan <- (table$scan & table$base == "lengthscale")[table$free]
  times <- sort(unique(plan$problem$x[, 1L]))
  if (!any(scan) || length(times) < 2L) return(NULL)
  start <- table$start[table$free]
  least <- policy$series_gaps * stats::median(diff(times))
  count <- ceiling(log(max(exp(start[scan])) / least) / log(1 / policy$series_step))
  count <- min(max(count, 0), policy$series_starts)
  factors <- c(1 / policy$series_step, 1, policy$series_step^seq_len(count))
  starts <- lapply(factors, function(factor) start + ifelse(scan, log(factor), 0))
  objective <- make_objective(evidence_criterion(plan$problem), table, SILENT)
  starts[[which.min(vapply(starts, objective$value, 0))]]
}
