# Reads a model off the rows before anything is learned, and builds the problem that C is given.

# Reads off the rows what is settled before anything is learned: response, scaling, and the table of
# hyperparameters with starts and priors. chunk$x is a matrix by now. setup$known: moments of more
# rows, which these are some of (chunked-scan.R), or NULL.
read_model <- function(chunk, setup, input_terms = colnames(chunk$x)) {
  x <- chunk$x
  y <- chunk$y
  lik <- model_likelihood(setup, y)
  codec <- lik_codec(lik)
  check_adjustments(chunk, lik)
  response <- codec$read(codec, y, lik, chunk$offset, chunk$weights, setup$streams)
  response <- in_known_units(codec_named(response$codec), response, setup$known$response)
  model <- list(
    lik = lik, response = response,
    rows = lik_traits(lik)$data_rows(response$y, response$weights),
    inputs = list(names = colnames(x), terms = input_terms, components = response$components),
    moments = if (is.null(setup$known)) input_moments(x) else setup$known$inputs
  )
  with_kernel(model, chunk, setup)
}

# Refuses weights and offsets that the likelihood gives no meaning to.
check_adjustments <- function(chunk, lik) {
  if (!is.null(chunk$weights) && !lik_traits(lik)$weighted) {
    stop_sparsegp("weights", paste0("are not defined for the ", lik_label(lik),
                                     " likelihood of this response"),
                  "They divide the noise variance of a Gaussian likelihood; leave them out")
  }
  if (!lik_codec(lik)$offsets && any(chunk$offset != 0)) {
    stop_sparsegp("offset", "shifts the latent functions of all classes alike, which says nothing",
                  "Leave it out, or set each class against the rest by lik_probit()")
  }
}

# Returns the model with the kernel and the scaling that `setup` asks for. The response stays as it
# was read; the hyperparameter table is made anew. chunk: the rows that the model was read from.
with_kernel <- function(model, chunk, setup) {
  response <- model$response
  inputs <- model$inputs
  together <- inputs_of_fields(setup$kernel, inputs)
  # of a stream later rows may vary where the first do not
  scaling <- scaling_of(model$moments, setup$scale, together,
                        setup$streams && is.null(setup$known))
  inputs$kept <- scaling$kept
  resolved <- resolve_kernel(setup$kernel, inputs)
  env <- list(response_unit = response$unit, input_scale = scaling$seen, input_unit = scaling$sd,
              component_var = relative_vars(response), component_unit = component_units(response),
              period = function(input, given) {
                period_start(scaled_input(chunk$x, scaling, input), response, given)
              })
  model$scaling <- scaling
  model$kernel <- resolved
  model$spec <- spec_for_c(resolved)
  model$table <- hyper_table(resolved, model$lik, env, model$rows, chunk$offset / response$unit,
                             setup$prior, if (response$processes > 1L) response$levels,
                             response$levels, response$components)
  model$nkernel <- sum(model$table$part == "kernel")
  model
}

# The same model as some of its rows see it.
part_of_model <- function(model, rows) {
  model$rows <- model$rows[, rows, drop = FALSE]
  for (field in c("y", "given", "weights")) {
    model$response[field] <- list(some_rows(model$response[[field]], rows))
  }
  model
}

TYPICAL_SPREAD <- 0.25 # prior variance of the logarithm of a spread, to start with

# Returns the variance of each component, in squared units; of one response 1.
relative_vars <- function(response) UseMethod("relative_vars", codec_named(response$codec))

#' @export
relative_vars.response <- function(response) 1

#' @export
relative_vars.response_spreads <- function(response) c(1, TYPICAL_SPREAD)

#' @export
relative_vars.response_vectors <- function(response) mean_squares(response$y^2)

#' @export
relative_vars.response_mixtures <- function(response) {
  mean_squares(mixture_squares(response$given) / response$unit^2)
}

# A component that hardly varies among these rows may yet do so.
mean_squares <- function(squares) pmax(colMeans(squares, na.rm = TRUE), 1e-4)

# Where one model of all classes would be too dear, and nothing was said of it, each class is set
# against the rest.
model_likelihood <- function(setup, y) {
  lik <- likelihood_for(setup$likelihood, y, declared = setup$streams)
  open <- is.null(setup$likelihood) && is.null(setup$basis) && leaves_open(setup$method)
  if (!open || is.numeric(y)) return(lik)
  several <- lik_codec(lik)$processes(unique(y))
  exceeds <- several > 1L &&
    exceeds_full_ep_budget(effort_of(setup$method), lik, length(y), several)
  if (exceeds) lik_probit() else lik
}

# Builds the problem of the rows that a model was read from, before a plan gives it a method.
problem_of <- function(model, chunk) {
  new_problem(model, points_of_rows(chunk$x, model), model$rows, chunk$offset,
              strata = strata_of(chunk$y))
}

# Returns inputs in the user's units as C sees them: scaled, and stacked where rows have several
# components. model: a model or a fit.
points_of_rows <- function(x, model) {
  stack_components(scaled_inputs(x, model$scaling), model$response$width)
}
