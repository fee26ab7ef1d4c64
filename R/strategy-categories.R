# Ordered categories: one latent function for all of them, as lik_ordinal() has, or one for each, as
# the default of an unordered factor has. A race on a pilot sample, before the one for structure
# (strategy-structure.R): both models with the first kernel of that one, learned on informative
# vectors, as classes are, and judged by the leave-one-out log probability of the category. The
# ordinal model is the simpler one: the other has to gain min_standard_errors.
#
# setup$each_category: has each category a latent function, though no likelihood was given?

# Returns list(model, setup, choices): the better of the two models of all observations, with the
# record of the race; without a choice the model as it is. asked: the setup before it was completed
choose_latent_functions <- function(model, chunk, setup, asked) {
  ordinal <- list(model = model, setup = setup)
  if (!is_order_open(model, chunk, asked)) return(ordinal)
  setup$each_category <- TRUE
  of_each <- with_kernel(with_response(model, chunk, setup), chunk, setup)
  # on fewer rows nine categories do not show what they gain with all
  rows <- pilot_rows(chunk, min(nrow(chunk$x), 2L * policy$pilot_rows))
  begin_stage("choosing latent functions")
  each <- list(model = of_each, setup = setup, fields = setup["each_category"])
  entries <- list(function(best) ordinal, function(best) each)
  names(entries) <- c("one of all categories", "one of each category")
  race("latent functions", entries, function(known) score_categories(known, chunk, rows),
       gain_in_lpd, standard_errors(policy$min_standard_errors))
}

# Is the choice open? Not if something is given that makes a model of its own, such as a prior of
# cut points, which the other model lacks; of streams, whose rows take the time of each function;
# and of more categories than comparisons are made for.
is_order_open <- function(model, chunk, asked) {
  given <- asked[c("likelihood", "kernel", "structure", "basis", "mean", "augment")]
  model$lik$type == "ordinal" && all(lengths(given) == 0L) && leaves_open(asked$method) &&
    identical(asked$control$criterion, "evidence") &&
    !(asked$streams && is.null(asked$known)) && all(chunk$offset == 0) &&
    (asked$integrate %||% "none") == "none" &&
    all(model$table$part[hyper_with_priors(model$table, asked$prior)] == "kernel") &&
    length(model$response$levels) <= policy$most_classes
}

# Returns the score of a model on the pilot, in which one by which EP fails there has no number.
score_categories <- function(known, chunk, rows) {
  failed <- list(lpd = NA_real_, value = NA_real_, points = NA)
  found <- tryCatch(run_on_pilot(known, chunk, rows), sparsegp_error = function(e) failed)
  c(known, found, list(rows = length(rows)))
}

# Learns a model on a third of the pilot, which tells the two models apart as well as all of it, and
# runs it on half of its points; one-vs-rest categories are then recalibrated.
run_on_pilot <- function(known, chunk, rows) {
  model <- known$model
  problem <- problem_of(part_of_model(model, rows), chunk_rows(chunk, rows))
  plan <- class_pilot(length(rows), model$lik, model$response$processes)$plan(problem)
  table <- learn_third(plan, model$table, pilot_control(known$setup$control), SILENT)$table
  plan$problem$options$size <- max(1, round(plan$problem$options$size / 2))
  plan <- choose_basis(plan, table, learning = FALSE)
  candidate <- new_candidate(model, table, plan, list(chunk = chunk, setup = known$setup))
  candidate$rows <- rows
  lpd <- if (lik_traits(model$lik)$tempered) score_by_loo(candidate)$lpd
         else checked_run(candidate)$lpd
  list(lpd = lpd, value = mean(lpd), points = length(plan$rows))
}
