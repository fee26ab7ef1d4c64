# The kernel, and how inputs are scaled, if the user left them open: chosen by the log evidence and
# log prior of some of the observations. Candidates are tried in the order of simplicity, each
# searched from where the best before it ended.

# Returns list(model, setup) with kernel and scaling settled, the model that of all observations. If
# there was a choice also `from`, the free hyperparameters the search goes on from, the `record` of
# the search that found them, and `choices`, see race().
choose_kernel_and_scaling <- function(chunk, setup, input_terms) {
  open <- is.null(setup$kernel)
  open_scale <- open && is.null(setup$scale)
  if (open) setup$kernel <- kernel_rbf()
  if (is.null(setup$scale)) setup$scale <- TRUE
  model <- read_model(chunk, setup, input_terms)
  if (!open || !can_compare_kernels(model, setup)) return(list(model = model, setup = setup))
  best <- race_kernels(chunk, model, setup, open_scale)
  setup[c("kernel", "scale")] <- best$candidate[c("kernel", "scale")]
  list(model = best$candidate$model, setup = setup, from = best$from, record = best$record,
       choices = best$choices)
}

# Kernels are compared by the evidence alone, if there is something to learn.
can_compare_kernels <- function(model, setup) {
  !is.null(setup$control) && setup$control$criterion == "evidence" && any(model$table$free) &&
    lik_traits(model$lik)$has_evidence
}

# Candidates are tried on some of the observations, but each is a model of all: an input that
# happens not to vary among these keeps its scale and its hyperparameter.
race_kernels <- function(chunk, model, setup, open_scale) {
  pilot <- kernel_pilot(setup$method, model, nrow(chunk$x))
  rows <- sort(spread_rows(nrow(chunk$x), strata_of(chunk$y), chunk$x)[seq_len(pilot$rows)])
  begin_structure(setup$method, model, pilot$rows, nrow(chunk$x))
  some <- chunk_rows(chunk, rows)
  candidate <- function(kernel, scale, best) {
    setup[c("kernel", "scale")] <- list(kernel, scale)
    of_all <- with_kernel(model, chunk, setup)
    list(kernel = kernel, scale = scale, model = of_all, known = best$candidate,
         problem = problem_of(part_of_model(of_all, rows), some))
  }
  setup$control[c("within", "outer")] <- list(policy$rough_search, 1L)
  race("kernel", kernel_entries(candidate, model, setup$scale, open_scale),
       function(candidate) score_by_evidence(candidate, pilot$plan, setup$control),
       function(found, best) found$value - best$value,
       list(nats(0), nats(policy$min_shared_scale_gain), nats(policy$min_kernel_gain),
            nats(policy$min_kernel_gain), nats(policy$min_kernel_gain)), all_of_them)
}

kernel_entries <- function(candidate, model, scale, open_scale) {
  scaling <- scaling_of(model$moments, TRUE)
  inputs <- sum(scaling$kept)
  ard <- inputs > 1L && inputs <= policy$max_ard_inputs && model$response$processes == 1L
  like_best <- function(kernel) {
    function(best) candidate(kernel(ard = best$candidate$kernel$ard), best$candidate$scale, best)
  }
  list(
    function(best) candidate(kernel_rbf(), scale, best),
    function(best) {
      if (open_scale && can_share_scale(scaling)) candidate(kernel_rbf(), "common", best)
    },
    function(best) if (ard) candidate(kernel_rbf(ard = TRUE), best$candidate$scale, best),
    like_best(kernel_matern52), like_best(kernel_matern32)
  )
}

# How many observations candidates are tried on, and by which plan: full EP of few, or if classes
# are to be fitted by informative vectors, these, of more.
kernel_pilot <- function(method, model, n) {
  if (fits_classes(method, model$lik, n, model$response$processes)) {
    return(class_pilot(n, model$lik, model$response$processes))
  }
  list(rows = min(n, rows_of_work(policy$structure_flops, model$lik, model$response$processes)),
       plan = function(problem) {
         plan_of(method_ep(), problem, list(rows = seq_len(nrow(problem$x))))
       })
}

# The log posterior at the hyperparameters that a search finds. Only the first candidate must not
# fail; later ones are compared on the inducing points of the best so far.
score_by_evidence <- function(candidate, plan, control) {
  found <- if (is.null(candidate$known)) searched(candidate, plan, control)
           else tryCatch(searched_again(candidate, control), sparsegp_error = function(e) NULL)
  candidate["known"] <- list(NULL)
  candidate[c("plan", "table")] <- found[c("plan", "table")]
  list(candidate = candidate, label = kernel_label(candidate), rows = nrow(candidate$problem$x),
       points = points_of_plan(found$plan), record = found$record,
       from = found$table$theta[found$table$free],
       value = if (is.null(found)) -Inf else max(found$record$objective))
}

kernel_label <- function(candidate) {
  scale <- if (isFALSE(candidate$scale)) ", inputs not scaled"
           else if (identical(candidate$scale, "common")) ", one scale for all inputs"
  paste0(format(candidate$kernel), scale)
}

points_of_plan <- function(plan) {
  if (is.null(plan)) return(NA)
  if (is.null(plan$problem$basis)) nrow(plan$problem$x) else length(plan$rows)
}

searched <- function(candidate, plan, control) {
  learn(plan(candidate$problem), candidate$model$table, control, SILENT)
}

searched_again <- function(candidate, control) {
  known <- candidate$known
  table <- candidate$model$table
  found <- learn_hyper(evidence(as_planned(known$plan, candidate$problem)), table, control, SILENT,
                       carried_over(known$table, table),
                       fresh = !identical(known$table$name, table$name))
  c(list(plan = known$plan), found[c("table", "record")])
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
