# What kind of kernel, and how inputs are scaled, where the user left it open: decided by the log
# evidence plus log prior of some rows. Candidates are tried in the order of simplicity, each
# searched from where the best before it ended, and a later one has to be better by WORTH_A_KERNEL.

WORTH_A_KERNEL <- 1 # nat

WORTH_A_UNIT <- 3 # nats; a scale that inputs share depends on their units

STRUCTURE_WORK <- 2.5e8 # of one evaluation: 630 rows with Gaussian noise

MOST_ARD <- 64L # inputs; with more of them a search for a length scale each finds too little

# The model of all rows and the setup with kernel and scale settled. Where there was a choice also
# `from`, the free hyperparameters the search goes on from, `record`, of the search that found them,
# and `tried`, see try_structures().
settle_model <- function(chunk, setup, input_terms) {
  open <- is.null(setup$kernel)
  open_scale <- open && is.null(setup$scale)
  if (open) setup$kernel <- kernel_rbf()
  if (is.null(setup$scale)) setup$scale <- TRUE
  model <- read_model(chunk, setup, input_terms)
  settled <- list(model = model, setup = setup)
  if (!open || !learns_structure(model, setup)) return(settled)
  found <- try_structures(chunk, model, setup, open_scale)
  settled$setup[c("kernel", "scale")] <- found$best[c("kernel", "scale")]
  settled$model <- found$best$model
  settled$from <- found$best$par
  settled$record <- found$best$record
  settled$tried <- found$tried
  settled
}

# By the evidence alone, and only where there is something to learn.
learns_structure <- function(model, setup) {
  !is.null(setup$control) && setup$control$criterion == "evidence" && any(model$table$free) &&
    lik_traits(model$lik)$has_evidence
}

# list(best, tried). best: kernel, scale, the model of all rows, the learned table, `par`, its free
# values, and `value`, minus the log evidence and log prior. tried: a data frame of kernel, scale,
# log_posterior (NA where no search could be made) and evaluations, with the number of rows as an
# attribute.
#
# Candidates are tried on some of the rows, but each is a model of all: an input that happens not to
# vary among these keeps its scale and its hyperparameter.
try_structures <- function(chunk, model, setup, open_scale) {
  pilot <- structure_pilot(setup$method, model, nrow(chunk$x))
  rows <- sort(spread_rows(nrow(chunk$x), strata_of(chunk$y), chunk$x)[seq_len(pilot$rows)])
  begin_structure(setup$method, model, pilot$rows, nrow(chunk$x))
  search <- new_structure_search(model, chunk, rows, pilot$plan, setup)
  scaling <- scaling_of(model$moments, TRUE)
  inputs <- sum(scaling$kept)
  search$try(kernel_rbf(), setup$scale)
  if (open_scale && can_share_scale(scaling)) search$try(kernel_rbf(), "common", WORTH_A_UNIT)
  ard <- inputs > 1L && inputs <= MOST_ARD && model$response$processes == 1L
  if (ard) search$try(kernel_rbf(ard = TRUE), search$best()$scale)
  for (kernel in list(kernel_matern52, kernel_matern32)) {
    search$try(kernel(ard = search$best()$kernel$ard), search$best()$scale)
  }
  list(best = search$best(), tried = structure(search$tried(), rows = length(rows)))
}

# How many rows candidates are tried on, and by which plan: full EP of few, or where classes are to
# be fitted by informative vectors, these, of more.
structure_pilot <- function(method, model, n) {
  if (fits_labels(method, model$lik, n, model$response$processes)) {
    return(labels_pilot(n, model$lik, model$response$processes))
  }
  list(rows = min(n, rows_of_work(STRUCTURE_WORK, model$lik, model$response$processes)),
       plan = function(problem) {
         plan_of(method_ep(), problem, list(rows = seq_len(nrow(problem$x))))
       })
}

# try(kernel, scale, worth) tries a candidate on some rows of the model; best() and tried() say what
# came of all so far. Only the first must not fail.
new_structure_search <- function(model, chunk, rows, plan, setup) {
  best <- NULL
  tried <- NULL
  setup$control$within <- WORTH_A_KERNEL / 10
  setup$control$outer <- 1L
  some <- chunk_rows(chunk, rows)
  try_one <- function(kernel, scale, worth = WORTH_A_KERNEL) {
    setup[c("kernel", "scale")] <- list(kernel, scale)
    of_all <- with_kernel(model, chunk, setup)
    problem <- problem_of(part_of_model(of_all, rows), some)
    found <- if (is.null(best)) searched_structure(problem, of_all$table, plan, setup$control)
             else tryCatch(searched_structure(problem, of_all$table, plan, setup$control, best),
                           sparsegp_error = function(e) list(value = Inf, evaluations = NA))
    tried <<- rbind(tried, data.frame(
      kernel = format(kernel), scale = format(scale), evaluations = found$evaluations,
      log_posterior = if (is.finite(found$value)) -found$value else NA
    ))
    if (is.null(best) || found$value < best$value - worth) {
      best <<- c(found, list(kernel = kernel, scale = scale, model = of_all))
    }
  }
  list(try = try_one, best = function() best, tried = function() tried)
}

# A candidate's search. known: the best candidate, on whose basis it is tried, if there is one.
searched_structure <- function(problem, table, plan, control, known = NULL) {
  if (is.null(known)) {
    learned <- by_evidence(plan(problem), table, control, SILENT)
  } else {
    learned <- learn_hyper(evidence(as_planned(known$plan, problem)), table, control, SILENT,
                           carried_over(known$table, table),
                           fresh = !identical(known$table$name, table$name))
    learned$plan <- known$plan
  }
  list(plan = learned$plan, table = learned$table, par = learned$table$theta[table$free],
       value = -max(learned$record$objective), evaluations = learned$record$evaluations,
       record = learned$record)
}

# Other inputs, or seen by another kernel, by the plan's method and on the rows of its basis.
as_planned <- function(plan, problem) {
  problem$method <- plan$problem$method
  if (!is.null(plan$problem$basis)) problem$basis <- basis_of_rows(problem, plan$rows, plan$rows_of)
  problem
}

# The free values of `table` as `known` has them: by name, or else by what the name is based on.
carried_over <- function(known, table) {
  at <- match(table$name, known$name)
  at <- ifelse(is.na(at), match(table$base, known$base), at)
  ifelse(is.na(at), table$theta, known$theta[at])[table$free]
}
