# The structure of a model: what the user left open of coding, scale of the response, scale of the
# inputs and kernel. One race goes through the axes below, in their order, on a pilot sample: each
# axis offers alternatives to the best so far, simplest first, each searched from where that one
# ended, and judged by structure_value().
#
# An axis is
#   stage         what is chosen, for the record
#   alternatives  (model, chunk, setup, table) of the best so far -> a list of list(label, setup),
#                 the latter the fields of the setup that change. The first is the best so far, as
#                 it is. NULL or one: nothing to choose
#   least         (model, n, m) -> nats that an alternative has to gain on m of n observations
# strategy-axes.R has them. Factors of many levels have an axis of their own, the last one
# (strategy-levels.R).

# Returns list(model, setup) with the structure settled, the model that of all observations. If
# there was a choice also `from`, the free hyperparameters the search goes on from, the `record` of
# the search that found them, `choices`, a row for each candidate, and `rougher`, a candidate that
# leave-one-out is to judge, or NULL (strategy-roughness.R). Candidates are tried on some of the
# observations, but each is a model of all: an input that happens not to vary among these keeps
# its scale and its hyperparameter. Only the first candidate must not fail.
# axes: those of open_axes(), unless a test gives others
choose_structure <- function(chunk, setup, input_terms, axes = NULL) {
  asked <- setup
  setup <- with_known_structure(setup, colnames(chunk$x))
  setup <- with_mean_of_field(setup)
  given <- if (is.null(setup$kernel)) kernel_rbf() else setup$kernel
  open <- is.null(setup$kernel)
  setup$kernel <- with_open_degree(given, USUAL_DEGREE)
  n <- nrow(chunk$x)
  model <- read_model(chunk, setup, input_terms)
  if (open && is_series(setup, model, n)) {
    setup$kernel <- kernel_matern52()
    model <- with_kernel(model, chunk, setup)
  }
  refuse_uncoupled(model, chunk, setup)
  refuse_impossible_rows(model)
  functions <- choose_latent_functions(model, chunk, setup, asked)
  model <- functions$model
  setup <- functions$setup
  axes <- axes %||% open_axes(asked, model, n)
  compares <- length(axes) && any(model$table$free) && lik_traits(model$lik)$has_evidence
  if (!compares) return(list(model = model, setup = setup))
  if (has_open_degree(given)) { # the simplest is the first candidate
    setup$kernel <- with_open_degree(given, 1L)
    model <- with_kernel(model, chunk, setup)
  }
  pilot <- structure_pilot(setup, model, n)
  pilot$rows <- window_rows(problem_of(model, chunk), pilot$count) %||%
    pilot_rows(chunk, pilot$count)
  begin_stage("choosing kernel and scales")
  first <- learn_plain(model, list(chunk = chunk, setup = setup), pilot)
  first$choices <- functions$choices
  best <- race_along(axes, first, pilot, n)
  rougher <- if (pilot$of_classes) rougher_of_race(best)
  if (is.null(asked$kernel)) best <- with_effects_of_levels(best, pilot, n)
  candidate <- best$candidate
  list(model = candidate$model, setup = candidate$data$setup,
       from = candidate$table$theta[candidate$table$free], record = candidate$record,
       choices = best$choices, rougher = rougher)
}

# Returns the best score of a race along the axes for n observations, from a score of the first
# candidate; best$learned: the other candidates by their kernels, the last one of each.
race_along <- function(axes, best, pilot, n) {
  now <- list(best = best, learned = list(), changes = 0L)
  verdicts <- vector("list", length(axes))
  for (at in rep(seq_along(axes), 2L)) {
    verdict <- verdicts[[at]]
    offered <- if (is.null(verdict)) offered_on_axis(axes[[at]], now$best$candidate)
               else offered_again(axes[[at]], now, verdict)
    if (length(offered) < 2L) next
    now <- race_on_axis(axes[[at]], offered, now, pilot, n, again = !is.null(verdict))
    verdicts[[at]] <- now$verdict
  }
  now$best$learned <- now$learned
  now$best
}

# Returns the state of a race, list(best, learned, changes, verdict), after one of its axes, from
# that before it. offered: the first is the best so far
race_on_axis <- function(axis, offered, now, pilot, n, again) {
  stage <- axis$stage
  labels <- vapply(offered, `[[`, "", "label")
  values <- now$best$value
  score <- function(candidate) {
    found <- score_by_evidence(candidate, pilot)
    values <<- c(values, found$value)
    now$learned[[format(candidate$data$setup$kernel)]] <<- found$candidate
    found
  }
  entries <- entries_of(offered, pilot$rows)
  simpler <- vapply(offered, function(alternative) isTRUE(alternative$simpler), NA)
  least <- axis$least(now$best$candidate$model, n, pilot$count) +
    max(0, unlist(lapply(offered, `[[`, "price")))
  incumbent <- if (again || !stage %in% now$best$choices$stage) labels[1L]
  for (group in unname(split(seq_along(offered)[-1L], !simpler[-1L]))) {
    now$best <- race(stage, entries[group], score, function(found, best) found$value - best$value,
                     nats(if (simpler[group[1L]]) 0 else least),
                     go_on = function(taken, gain) TRUE, best = now$best, incumbent = incumbent)
    incumbent <- NULL
  }
  values <- stats::setNames(values, labels[c(1L, order(!simpler[-1L]) + 1L)])
  taken <- names(values)[match(now$best$value, values)]
  now$changes <- now$changes + (taken != labels[1L] && stage != "kernel")
  now$verdict <- list(offered = offered, taken = taken, value = now$best$value,
                      behind = now$best$value - values, changes = now$changes)
  now
}

# Returns entries of a race, by label.
entries_of <- function(offered, rows) {
  entries <- lapply(offered, function(alternative) {
    function(best) changed_candidate(best$candidate, alternative$setup, rows)
  })
  stats::setNames(entries, vapply(offered, `[[`, "", "label"))
}

# ---- Effects of levels ----

# Returns the score of the best candidate with effects of the levels of one factor after the other,
# each kept if it is better; of labels, or without such factors, `best` as it is.
with_effects_of_levels <- function(best, pilot, n) {
  model <- best$candidate$model
  many <- factors_of_many_levels(model, best$candidate$data$setup)
  if (length(many) == 0L || lik_codec(model$lik)$labelled) return(best)
  now <- best
  if (pilot$count < n) {
    pilot$rows <- rows_of_levels(best$candidate$data$chunk, many[1L], pilot$count)
    now <- score_by_evidence(changed_candidate(best$candidate, list(), pilot$rows), pilot)
    now$choices <- best$choices
  }
  entries <- lapply(many, function(name) {
    function(best) changed_candidate(best$candidate, effect_of_levels(best, name), pilot$rows)
  })
  found <- race("effects of levels", entries, function(candidate) score_effects(candidate, pilot),
                function(found, best) found$value - best$value,
                nats(worth_an_effect(best$candidate, n, pilot$count)),
                go_on = function(taken, gain) TRUE, best = now, incumbent = NO_EFFECTS)
  if (any(utils::tail(found$choices$taken, length(many)))) return(found)
  best$choices <- found$choices
  best
}

score_effects <- function(candidate, pilot) {
  c(score_by_evidence(candidate, pilot), label = effects_in_words(candidate$data$setup$kernel))
}

# ---- Candidates ----

# How many observations candidates are tried on, on how many inducing points, and how the first of
# them is learned: by full EP of few, or if classes are to be fitted by informative vectors
# (`of_classes`), these, of more. Also what a hyperparameter has to gain there, see
# structure_value(), and how searches end.
structure_pilot <- function(setup, model, n) {
  processes <- model$response$processes
  pilot <- if (is_markov_series(setup, model, n)) {
    series_pilot(setup, n)
  } else if (inherits(setup$method, "method_neighbours")) {
    neighbours_pilot(setup$method, model$lik, n)
  } else if (fits_classes(setup$method, model$lik, n, processes)) {
    c(class_pilot(n, model$lik, processes), of_classes = TRUE)
  } else {
    count <- min(n, rows_of_work(policy$structure_flops, model$lik, processes))
    list(count = count, points = count, plan = full_ep_plan, of_classes = FALSE)
  }
  price <- policy$overfit_nats + policy$parameter_nats * pilot$count / n
  c(pilot, list(price = price, control = pilot_control(setup$control)))
}

full_ep_plan <- function(problem) {
  problem$options <- method_ep()
  plan_ep(problem, list(rows = seq_len(nrow(problem$x))))
}

# Returns the score of the first candidate, learned from nothing.
learn_plain <- function(model, data, pilot) {
  problem <- problem_of(part_of_model(model, pilot$rows), chunk_rows(data$chunk, pilot$rows))
  learned <- learn(pilot$plan(problem), model$table, pilot$control, SILENT)
  candidate <- new_candidate(model, learned$table, learned$plan, data, learned$record)
  structure_score(candidate, pilot)
}

# Returns the candidate with its setup changed, on the plan's options and inducing points, so that
# candidates differ in nothing else. Hyperparameters that both have keep their values; `of_others`:
# is the kernel of other inputs?
changed_candidate <- function(candidate, change, rows) {
  data <- candidate$data
  data$setup[names(change)] <- change
  model <- candidate$model
  if (!all(names(change) %in% OF_KERNEL)) model <- with_response(model, data$chunk, data$setup)
  model <- with_kernel(model, data$chunk, data$setup)
  plan <- candidate$plan
  problem <- problem_of(part_of_model(model, rows), chunk_rows(data$chunk, rows))
  plan$problem <- as_planned(plan, problem)
  changed <- new_candidate(model, model$table, plan, data)
  changed$before <- candidate$table
  vars <- lapply(list(candidate$data$setup, data$setup), function(setup) {
    first_part(setup$kernel)$vars
  })
  changed$of_others <- !identical(vars[[1L]], vars[[2L]])
  changed
}

# Fields of a setup that leave the response as it was read
OF_KERNEL <- c("kernel", "scale", "prior")

# Gives `problem` the options and inducing points of `plan`.
as_planned <- function(plan, problem) {
  problem$options <- plan$problem$options
  if (!is.null(plan$problem$states)) problem$states <- markov_form(problem$spec)$states
  if (!is.null(plan$problem$neighbours)) problem$neighbours <- plan$problem$neighbours["k"]
  if (!is.null(plan$problem$basis)) problem$basis <- basis_of_rows(problem, plan$rows, plan$rows_of)
  problem
}

# ---- Scores ----

# Learns a changed candidate from where the one before ended. Where one hyperparameter has become
# several, which may be a trap (learn-evidence.R), or the kernel is of other inputs, other starts
# are looked at, or if they are tied that without the tie.
score_by_evidence <- function(candidate, pilot) {
  table <- candidate$table
  at <- rows_known(candidate$before, table)
  from <- carried_over(candidate$before, table, at)
  split <- anyDuplicated(stats::na.omit(at)) > 0L
  tied <- any(is_tied(table))
  learned <- tryCatch(learn_hyper(evidence(candidate$plan$problem), table, pilot$control, SILENT,
                                  from, fresh = split || candidate$of_others,
                                  untie = split && tied),
                      sparsegp_error = function(e) list(table = table))
  candidate[c("table", "record")] <- list(learned$table, learned$record)
  structure_score(candidate, pilot)
}

structure_score <- function(candidate, pilot) {
  failed <- is.null(candidate$record)
  list(candidate = candidate, value = if (failed) -Inf else structure_value(candidate, pilot),
       rows = problem_rows(candidate$plan$problem),
       points = if (failed) NA else length(candidate$plan$rows))
}

# Returns log evidence, in units of the response, plus log prior, without the constants of the
# priors' densities, which would be a price of having a parameter that goes with the width of its
# prior alone. The price has two parts. The best value of each is found by the same observations, by
# which the gain of the pilot is too large (overfit_nats). And the evidence would have to be
# integrated over it (parameter_nats, as on the average of a Laplace approximation): a loss that
# does not grow with the number of observations n as gains do, so that on a pilot of m of them it
# counts m / n. Tied length scales are one: the tie is the price of each.
structure_value <- function(candidate, pilot) {
  table <- candidate$table
  response <- part_of_model(candidate$model, pilot$rows)$response
  tied <- is_tied(table)
  max(candidate$record$objective) + log_jacobian(response) - hyper_log_constant(table) -
    pilot$price * (sum(table$free & !tied) + any(tied))
}

# Returns where each row of `table` is in the table `known`: by name, or else by what the name is
# based on, in the same part of a sum. The first part of a sum is what was known before there was
# one. NA: new, as is a period or a noise with another start, which has an optimum of its own.
rows_known <- function(known, table) {
  part <- function(table) ifelse(grepl("^k[0-9]+[.]", table$name), sub("[.].*", "", table$name), "")
  part_known <- part(known)
  grown <- !any(part_known == "k1") & part(table) == "k1"
  part_now <- ifelse(grown, "", part(table))
  name <- ifelse(grown, sub("^k1[.]", "", table$name), table$name)
  at <- match(name, known$name)
  at <- ifelse(is.na(at), match(paste(part_now, table$base), paste(part_known, known$base)), at)
  replace(at, table$base %in% c("period", "noise") & known$start[at] != table$start, NA)
}

# The free values of `table` as `known` has them, at its rows `at`.
carried_over <- function(known, table, at = rows_known(known, table)) {
  ifelse(is.na(at), table$theta, known$theta[at])[table$free]
}
