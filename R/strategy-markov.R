# Series: one numeric input and more observations than full EP takes. A default fit is by Markov EP
# there (plan-markov.R), whose posterior is full EP's, and so is the race for structure, whose
# candidates then are Markov processes, Matern 5/2 first.

# Is the model of a setup fitted by Markov EP, if its kernel lets it be? n: observations. Streams
# and sources go on from inducing points, and so do copies and points that a user gave.
is_series <- function(setup, model, n) {
  if (inherits(setup$method, "method_markov")) return(TRUE)
  may_be_series(setup, model) &&
    exceeds_full_ep_budget(setup$method$effort, model$lik, n, model$response$processes)
}

may_be_series <- function(setup, model) {
  passing <- isTRUE(setup$streams) || isTRUE(setup$provisional)
  if (!leaves_open(setup$method) || passing) return(FALSE)
  response <- model$response
  open <- is.null(setup$known) && is.null(setup$augment) && is.null(setup$basis)
  open && sum(model$scaling$kept) == 1L && all(model$scaling$levels == 0) &&
    !model$scaling$alike && response$width == 1L && !is_modal(model$lik) &&
    !is_coupled(model$lik, response$processes)
}

# Are these numbers or counts whose one input is time, so that a forecast is likely to be wanted? No
# inducing points stand between its rows and a rough function.
is_forecast <- function(model, chunk, setup) {
  of_time <- inherits(setup$method, "method_markov") || may_be_series(setup, model)
  of_time && !lik_codec(model$lik)$labelled &&
    isTRUE(time_input(model, chunk, setup)$timed)
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

# Returns the plan of a model's problem: a series is fitted by Markov EP, others by their
# method.
plan_of_model <- function(model, setup, problem, basis) {
  if (!leaves_open(setup$method) || !is_markov_series(setup, model, nrow(problem$x))) {
    return(plan_for(setup$method, problem, basis))
  }
  plan <- plan_for(series_method(setup$method), problem, basis)
  structure(plan, class = c("plan_series", class(plan)))
}

# Learns on all rows: after the race for structure on many of them a step that gains little is the
# last one.
#' @export
learn.plan_series <- function(plan, table, control, progress, from = NULL) {
  if (!is.null(from)) control$within <- policy$search_tolerance
  NextMethod()
}
