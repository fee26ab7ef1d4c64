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
# there was a choice also `chunk`, the rows as the model reads them, `from`, the free
# hyperparameters the search goes on from, the `record` of the search that found them, `choices`, a
# row for each candidate, `rougher`, a candidate that leave-one-out is to judge, or NULL
# (strategy-roughness.R), and `before_noise`, a function that returns the same without the noise
# that was chosen last, or NULL. Candidates are tried on some of the observations, but each is a
# model of all: an input that happens not to vary among these keeps its scale and its
# hyperparameter. Only the first candidate must not fail.
# axes: those of open_axes(), unless a test gives others
choose_structure <- function(chunk, setup, input_terms, axes = NULL) {
  asked <- setup
  if (is_known_structure(asked$structure)) {
    setup <- with_known_structure(setup, colnames(chunk$x))
    chunk <- chunk_for(chunk, setup)
  }
  if (has_open_mean(setup)) setup$mean <- "zero"
  given <- setup$kernel %||% kernel_for(kernel_rbf(), setup$likelihood)
  open <- is.null(setup$kernel)
  degree_open <- !open && has_open_degree(given)
  setup$kernel <- if (degree_open) with_open_degree(given, USUAL_DEGREE) else given
  n <- nrow(chunk$x)
  model <- read_model(chunk, setup, input_terms)
  if (open && model$response$width == 1L && is_series(setup, model, n)) {
    setup$kernel <- kernel_matern52()
    model <- with_kernel(model, chunk, setup)
  }
  refuse_uncoupled(model, chunk, setup)
  refuse_impossible_rows(model)
  functions <- choose_latent_functions(model, chunk, setup, asked)
  model <- functions$model
  setup <- functions$setup
  axes <- axes %||% open_axes(asked, model, n, is_forecast(model, chunk, setup))
  compares <- length(axes) && any(model$table$free) && lik_traits(model$lik)$has_evidence
  if (!compares) return(list(model = model, setup = setup, chunk = chunk))
  if (degree_open) { # the simplest is the first candidate
    setup$kernel <- with_open_degree(given, 1L)
    model <- with_kernel(model, chunk, setup)
  }
  pilot <- structure_pilot(setup, model, n, if (open) model$response$width else 1L)
  if (!pilot$of_classes) pilot$time <- time_beside_others(model, chunk, setup)
  pilot$rows <- rows_of_pilot(model, chunk, pilot)
  begin_stage("choosing kernel and scales")
  first <- learn_plain(model, list(chunk = chunk, setup = setup), pilot)
  first$choices <- functions$choices
  best <- race_along(axes, first, pilot, n)
  rougher <- if (pilot$of_classes) rougher_of_race(best)
  if (!is.null(asked$kernel)) return(settled_structure(best, rougher))
  if (is.null(asked$likelihood)) best <- with_best_noise(best, pilot, n)
  finish <- function(best) settled_structure(with_effects_of_levels(best, pilot, n), rougher)
  before <- best$before_noise
  best$before_noise <- NULL
  c(finish(best), before_noise = if (!is.null(before)) function() finish(before))
}

# Returns what choose_structure() does, of the best score of its race.
settled_structure <- function(best, rougher) {
  candidate <- best$candidate
  list(model = candidate$model, setup = candidate$data$setup, chunk = candidate$data$chunk,
       from = candidate$table$theta[candidate$table$free], record = candidate$record,
       choices = best$choices, rougher = rougher)
}

# ---- Effects of levels ----

# Returns the score of the best candidate with effects of the levels of one factor after the other,
# each kept if it is better; of labels, or without such factors, `best` as it is.
with_effects_of_levels <- function(best, pilot, n) {
  model <- best$candidate$model
  many <- factors_of_many_levels(model, best$candidate$data$setup)
  if (length(many) == 0L || lik_codec(model$lik)$labelled || model$response$width > 1L) return(best)
  now <- best
  now$fields <- NULL
  if (pilot$count < n) {
    pilot$rows <- rows_of_levels(best$candidate$data$chunk, many[1L], pilot$count)
    now <- score_by_evidence(changed_candidate(best$candidate, list(), pilot$rows), pilot)
    now$choices <- best$choices
  }
  entries <- lapply(many, function(name) {
    function(best) changed_candidate(best$candidate, effect_of_levels(best, name), pilot$rows)
  })
  found <- race("effects of levels", entries, function(candidate) score_effects(candidate, pilot),
                gain_of_evidence,
                nats(worth_an_effect(best$candidate, n, pilot$count)),
                go_on = function(taken, gain) TRUE, best = now, incumbent = NO_EFFECTS)
  if (any(utils::tail(found$choices$taken, length(many)))) return(found)
  best$choices <- found$choices
  best
}

score_effects <- function(candidate, pilot) {
  effects <- factors_with_effects(candidate$data$setup$kernel)
  found <- score_by_evidence(candidate, pilot)
  found[c("label", "fields")] <- list(toString(effects), list(effects = effects))
  found
}

# ---- A structure that is known ----

# Returns a structure that another fit's race compared, to be made again without one. It is in the
# place of sparsegp(structure = ). tie: the logarithm of the common length scale to which those of
# labels are tied, or NULL
new_known_structure <- function(fields, tie = NULL) {
  structure(list(fields = fields, tie = tie), class = "sparsegp_structure")
}

is_known_structure <- function(structure) inherits(structure, "sparsegp_structure")

# Returns the setup with the fields of a known structure: some of the setup's own, and those of the
# likelihood, `error` of log times, `transform` and `noise`, and of the kernel, the `effects` of
# factors. inputs: their names
with_known_structure <- function(setup, inputs = NULL) {
  known <- setup$structure
  fields <- known$fields
  open <- is.null(setup$kernel)
  own <- setdiff(names(fields), c("error", "transform", "noise", "effects"))
  setup[own] <- fields[own]
  setup$likelihood <- with_known_noise(setup$likelihood, fields)
  if (open && !is.null(known$tie) && isTRUE(first_part(setup$kernel %||% kernel_rbf())$ard)) {
    setup$prior <- tied_lengthscales(setup, known$tie)
  }
  for (name in fields$effects) {
    setup$kernel <- with_effect(setup$kernel %||% kernel_rbf(), name, inputs)
  }
  setup
}

with_known_noise <- function(lik, fields) {
  if (!is.null(fields$error)) lik <- as_likelihood(fields$error)
  if (!is.null(fields$transform) && fields$transform != "identity") {
    lik <- with_transform(lik %||% lik_gaussian(), fields$transform)
  }
  noise <- fields[["noise"]] # not `noiseless`
  if (is.null(noise)) lik else with_noise(lik %||% lik_gaussian(), noise)
}
