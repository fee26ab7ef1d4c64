# Candidates for the structure of a model, and their scores: each is learned on a pilot sample, from
# where the best one so far ended, and judged by structure_value().

# ---- Candidates ----

# How many observations candidates are tried on, on how many inducing points, and how the first of
# them is learned: by full EP of few, or if classes are to be fitted by informative vectors
# (`of_classes`), these, of more. Also what a hyperparameter has to gain there, see
# structure_value(), and how searches end. width: of how many latent values an observation takes
# work
structure_pilot <- function(setup, model, n, width = 1L) {
  processes <- model$response$processes
  pilot <- if (is_markov_series(setup, model, n)) {
    series_pilot(setup, n)
  } else if (inherits(setup$method, "method_neighbours")) {
    neighbours_pilot(setup$method, model$lik, n)
  } else if (fits_classes(setup$method, model$lik, n, processes)) {
    c(class_pilot(n, model$lik, processes), of_classes = TRUE)
  } else {
    count <- min(n, rows_of_work(policy$structure_flops, model$lik, processes) %/% width)
    list(count = count, points = count, plan = full_ep_plan, of_classes = FALSE)
  }
  c(pilot, list(price = price_of_hyper(pilot$count, n), control = pilot_control(setup$control)))
}

# Returns what a hyperparameter has to gain on m of n observations, see structure_value().
price_of_hyper <- function(m, n) policy$overfit_nats + policy$parameter_nats * m / n

# Returns the rows of a pilot: those of a series, also in time beside other inputs, windows of
# neighbours where a sample of all would not see a function, or else such a sample.
rows_of_pilot <- function(model, chunk, pilot) {
  time <- if (isTRUE(pilot$series)) model$scaling$kept else pilot$time
  if (!is.null(time)) return(rows_of_series(chunk$x[, time], pilot$count))
  window_rows(problem_of(model, chunk), pilot$count) %||% pilot_rows(chunk, pilot$count)
}

full_ep_plan <- function(problem) {
  problem$options <- method_ep()
  plan_ep(problem, list(rows = seq_len(nrow(problem$x))))
}

# Returns the score of the first candidate, learned from nothing.
learn_plain <- function(model, data, pilot) {
  problem <- problem_of(part_of_model(model, pilot$rows), chunk_rows(data$chunk, pilot$rows))
  plan <- pilot$plan(problem)
  refuse_forbidden(plan)
  learned <- learn(plan, model$table, pilot$control, SILENT)
  candidate <- new_candidate(model, learned$table, learned$plan, data, learned$record)
  structure_score(candidate, pilot)
}

# Returns the candidate with its setup changed, on the plan's options and inducing points, so that
# candidates differ in nothing else. Hyperparameters that both have keep their values; `of_others`:
# is the kernel of other inputs, or the noise of another kind or near none?
changed_candidate <- function(candidate, change, rows) {
  data <- candidate$data
  data$setup[names(change)] <- change
  model <- candidate$model
  if (!all(names(change) %in% OF_KERNEL)) {
    data$chunk <- chunk_for(data$chunk, data$setup)
    model <- with_response(model, data$chunk, data$setup)
  }
  model <- with_kernel(model, data$chunk, data$setup)
  plan <- candidate$plan
  problem <- problem_of(part_of_model(model, rows), chunk_rows(data$chunk, rows))
  plan$problem <- as_planned(plan, problem)
  same <- lik_codec(model$lik)$labelled && model$lik$type == candidate$model$lik$type &&
    !is_modal(model$lik)
  if (!same) plan["sites"] <- list(NULL)
  changed <- new_candidate(model, model$table, plan, data)
  changed$before <- candidate$table
  vars <- lapply(list(candidate$data$setup, data$setup), function(setup) {
    first_part(setup$kernel)$vars
  })
  changed$other_inputs <- !identical(vars[[1L]], vars[[2L]])
  changed$rescaled <- "scale" %in% names(change)
  changed$of_others <- changed$other_inputs ||
    model$lik$type != candidate$model$lik$type ||
    isTRUE(data$setup$noiseless) != isTRUE(candidate$data$setup$noiseless)
  changed
}

# Returns a chunk as the likelihood of the setup reads it: rows with one known mean may have two
# functions.
chunk_for <- function(chunk, setup) {
  if (is.matrix(chunk$offset)) chunk
  else lik_codec(model_likelihood(setup, chunk$y))$gather(chunk)
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

# Learns a changed candidate from where the one before ended. Other starts are looked at, too, where
# one hyperparameter has become several, which may be a trap (learn-search.R), where the kernel is
# of other inputs (`anew`), where the noise is of another kind or near none, and where a rhythm is
# new in a long series: the function before followed each cycle, and would go on as noise does. If
# length scales are tied, that is done without the tie. least: the value that is of interest; a
# search that cannot reach it ends early, unless its length scales or its noise are others, or, if
# that is cheap, the scale of its inputs, so that it is too far from its optimum to be judged by its
# slope. EP of labels begins with the sites of the candidate before, which are near, and its fixed
# point does not depend on the start.
score_by_evidence <- function(candidate, pilot, least = NULL) {
  table <- candidate$table
  at <- rows_known(candidate$before, table)
  from <- carried_over(candidate$before, table, at)
  split <- anyDuplicated(stats::na.omit(at)) > 0L
  rhythm <- !is.null(candidate$plan$problem$states) && any(table$base == "period" & is.na(at))
  tied <- any(is_tied(table))
  control <- pilot$control
  fresh <- split || rhythm || candidate$of_others
  anew <- split || candidate$other_inputs
  far <- anew || is_noise_far(candidate)
  if (!is.null(least) && !far) control$wanted <- least - beside_objective(candidate, pilot)
  learned <- tryCatch({
    refuse_forbidden(candidate$plan) # the final fit would be refused
    aim <- evidence(candidate$plan$problem, candidate$plan$sites)
    if (aim$cheap && candidate$rescaled) control$wanted <- NULL
    learn_hyper(aim, table, control, SILENT, from, fresh, anew, untie = split && tied)
  }, sparsegp_error = function(e) list(table = table, reason = reason_of(e)))
  candidate[c("table", "record")] <- list(learned$table, learned$record)
  if (!is.null(candidate$plan$sites)) candidate$plan["sites"] <- list(learned$sites)
  failed <- is.null(learned$record) || is_noisy_again(candidate)
  c(structure_score(candidate, pilot, failed), list(reason = learned$reason))
}

# Returns the rows of the noise in the tables of a candidate and of the one before it, list(now,
# before), if the search for it begins nearer to none than that before did; else NULL.
nearer_noises <- function(candidate) {
  now <- candidate$table[candidate$table$base == "noise", ]
  before <- candidate$before[candidate$before$base == "noise", ]
  one <- nrow(now) == 1L && nrow(before) == 1L
  if (one && before$start > now$start) list(now = now, before = before)
}

# Does it begin above the noise that was found before? Then its optimum is farther off than a search
# that cannot win is judged by.
is_noise_far <- function(candidate) {
  noise <- nearer_noises(candidate)
  !is.null(noise) && noise$before$theta < noise$now$start
}

# Has a search for noise near none ended nearer to the noise of the candidate before it? Then it has
# found nothing else.
is_noisy_again <- function(candidate) {
  noise <- nearer_noises(candidate)
  !is.null(noise) && noise$before$theta > noise$now$start &&
    noise$now$theta > (noise$now$start + noise$before$theta) / 2
}

structure_score <- function(candidate, pilot, failed = FALSE) {
  list(candidate = candidate, fields = candidate$fields,
       value = if (failed) -Inf else structure_value(candidate, pilot),
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
  max(candidate$record$objective) + beside_objective(candidate, pilot)
}

# Returns what that is less the objective of a search.
beside_objective <- function(candidate, pilot) {
  table <- candidate$table
  response <- part_of_model(candidate$model, pilot$rows)$response
  tied <- is_tied(table)
  log_jacobian(response) - hyper_log_constant(table) -
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
