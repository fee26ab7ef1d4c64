# The kernel, and how inputs are scaled, if the user left them open: chosen by the log evidence and
# log prior of some of the observations. Candidates are tried in the order of simplicity, each
# searched from where the best before it ended.

# Returns list(model, setup) with kernel and scaling settled, the model that of all observations. If
# there was a choice also `from`, the free hyperparameters the search goes on from, the `record` of
# the search that found them, and `choices`, a row for each candidate. These are tried on some of
# the observations, but each is a model of all: an input that happens not to vary among these keeps
# its scale and its hyperparameter. Only the first candidate must not fail; later ones are compared
# on the inducing points of the best so far.
choose_kernel_and_scaling <- function(chunk, setup, input_terms) {
  given <- setup[c("kernel", "scale")]
  if (is.null(given$kernel)) setup$kernel <- kernel_rbf()
  if (is.null(given$scale)) setup$scale <- TRUE
  model <- read_model(chunk, setup, input_terms)
  compares <- is.null(given$kernel) && identical(setup$control$criterion, "evidence") &&
    any(model$table$free) && lik_traits(model$lik)$has_evidence
  if (!compares) return(list(model = model, setup = setup))
  pilot <- kernel_pilot(setup$method, model, nrow(chunk$x))
  rows <- sort(spread_rows(nrow(chunk$x), strata_of(chunk$y), chunk$x)[seq_len(pilot$rows)])
  begin_stage(structure_work(setup$method, model, pilot$rows, nrow(chunk$x)))
  some <- chunk_rows(chunk, rows)
  control <- utils::modifyList(setup$control, list(within = policy$search_tolerance, outer = 1L))
  best <- list(setup = setup)
  for (candidate in kernel_candidates(model, is.null(given$scale), pilot$rows)) {
    setup$scale <- if (is.null(candidate$scale)) best$setup$scale else candidate$scale
    setup$kernel <- candidate$kernel(ard = candidate$ard || best$setup$kernel$ard)
    setup["prior"] <- best$setup["prior"]
    if (candidate$tied) setup <- with_tied_lengthscales(setup, best$table)
    found <- list(setup = setup, model = with_kernel(model, chunk, setup))
    problem <- problem_of(part_of_model(found$model, rows), some)
    found$rows <- nrow(problem$x)
    learned <- if (is.null(best$model)) pilot$learn(problem, found$model$table, control)
               else learn_after(best, evidence(as_planned(best$plan, problem)), found$model$table,
                                control)
    found$plan <- if (is.null(best$plan)) learned$plan else best$plan
    found[c("table", "record")] <- learned[c("table", "record")]
    best <- better_kernel(found, best, candidate$least)
  }
  list(model = best$model, setup = best$setup, from = best$table$theta[best$table$free],
       record = best$record, choices = only_last_taken(best$choices))
}

# Learns a later candidate from where the best before it ended. NULL: it failed.
learn_after <- function(best, aim, table, control) {
  other <- !identical(best$table$name, table$name)
  tied <- any(is_tied(table))
  tryCatch(learn_hyper(aim, table, control, SILENT, carried_over(best$table, table),
                       fresh = other && !tied, untie = other && tied),
           sparsegp_error = function(e) NULL)
}

# Simplest first. least: log evidence that a candidate has to gain; ard: FALSE: as the best has it;
# tied: are its length scales tied to the common one of the best (strategy-relevance.R)? rows: of
# the pilot.
kernel_candidates <- function(model, open_scale, rows) {
  scaling <- scaling_of(model$moments, TRUE)
  candidate <- function(kernel, least, ard = FALSE, scale = NULL, tied = FALSE) {
    list(kernel = kernel, least = least, ard = ard, scale = scale, tied = tied)
  }
  least <- if (has_labels(model)) 0 else policy$min_shared_scale_gain
  c(list(candidate(kernel_rbf, 0)),
    if (open_scale && can_share_scale(scaling)) {
      list(candidate(kernel_rbf, least, scale = "common"))
    },
    if (sum(scaling$kept) > 1L) relevance_candidate(model, sum(scaling$kept), rows, candidate),
    list(candidate(kernel_matern52, policy$min_evidence_gain),
         candidate(kernel_matern32, policy$min_evidence_gain)))
}

# How many observations candidates are tried on, and how the first of them is learned: by full EP of
# few, or if classes are to be fitted by informative vectors, these, of more.
kernel_pilot <- function(method, model, n) {
  processes <- model$response$processes
  if (fits_classes(method, model$lik, n, processes)) {
    pilot <- class_pilot(n, model$lik, processes)
    return(list(rows = pilot$rows, learn = function(problem, table, control) {
      learn(pilot$plan(problem), table, control, SILENT)
    }))
  }
  rows <- min(n, rows_of_work(policy$structure_flops, model$lik, processes))
  list(rows = rows, learn = function(problem, table, control) {
    problem$options <- method_ep()
    plan <- plan_ep(problem, list(rows = seq_len(nrow(problem$x))))
    c(list(plan = plan), learn_hyper(evidence(plan$problem), table, control, SILENT))
  })
}

# Returns the better of the candidate found and the best so far, with the record of both.
better_kernel <- function(found, best, least) {
  scale <- found$setup$scale
  words <- c(format(found$setup$kernel), if (isFALSE(scale)) "inputs not scaled",
             if (identical(scale, "common")) "one scale for all inputs")
  found$value <- if (is.null(found$record)) -Inf
                 else max(found$record$objective) - tied_constant(found$table)
  gained <- if (is.null(best$model)) Inf else found$value - best$value
  taken <- is.null(best$model) || isTRUE(gained > least)
  score <- list(value = found$value, label = paste(words, collapse = ", "), rows = found$rows,
                points = if (is.null(found$record)) NA else length(found$plan$rows))
  choices <- rbind(best$choices, choice_row("kernel", score, gained, taken))
  best <- if (taken) found else best
  best$choices <- choices
  best
}

# Gives `problem` the options and inducing points of `plan`, so that candidates differ only in
# kernel and scaling.
as_planned <- function(plan, problem) {
  problem$options <- plan$problem$options
  if (!is.null(plan$problem$basis)) problem$basis <- basis_of_rows(problem, plan$rows, plan$rows_of)
  problem
}

# The free values of `table` as `known` has them: by name, or else by what the name is based on.
carried_over <- function(known, table) {
  at <- match(table$name, known$name)
  at <- ifelse(is.na(at), match(table$base, known$base), at)
  ifelse(is.na(at), table$theta, known$theta[at])[table$free]
}
