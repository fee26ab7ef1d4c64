# What is read off the rows before anything is learned, and the problem C is given.

# What is read off the rows before anything is learned: response, scaling, and the table of
# hyperparameters with starts and priors. chunk$x is a matrix by now. setup$known: moments of more
# rows, which these are some of (fold-scan.R), or NULL.
read_model <- function(chunk, setup, input_terms = colnames(chunk$x)) {
  x <- chunk$x
  check_finite_inputs(x)
  given <- setup$likelihood
  y <- check_response_length(chunk$y, nrow(x), !is.null(given) && lik_codec(given)$several)
  lik <- model_likelihood(setup, y)
  codec <- lik_codec(lik)
  check_no_missing(x = x, y = if (!codec$missing) y, offset = chunk$offset,
                   weights = chunk$weights)
  if (!is.null(chunk$weights) && !lik_traits(lik)$weighted) {
    stop_sparsegp("weights", paste0("are not defined for the ", lik_label(lik),
                                     " likelihood of this response"),
                  "They divide the noise variance of a Gaussian likelihood; leave them out")
  }
  response <- codec$read(codec, y, lik, chunk$offset, chunk$weights, setup$streams)
  response <- in_known_units(response, codec_named(response$codec), setup$known)
  inputs <- list(names = colnames(x), terms = input_terms, components = response$components)
  together <- inputs_of_fields(setup$kernel, inputs)
  # of a stream later rows may vary where the first do not
  scaling <- if (is.null(setup$known)) scale_inputs(x, setup$scale, together, setup$streams)
             else scaling_of(setup$known$inputs, setup$scale, together)
  inputs$kept <- scaling$kept
  resolved <- resolve_kernel(setup$kernel, inputs)
  rows <- lik_traits(lik)$data_rows(response$y, response$weights)
  env <- list(response_unit = response$unit, input_scale = scaling$seen, input_unit = scaling$sd,
              component_var = relative_vars(response), component_unit = component_units(response),
              period = function(input, given) {
                period_start(scaled_input(x, scaling, input), response, given)
              })
  if (!codec$offsets && any(chunk$offset != 0)) {
    stop_sparsegp("offset", "shifts the latent functions of all classes alike, which says nothing",
                  "Leave it out, or set each class against the rest by lik_probit()")
  }
  table <- hyper_table(resolved, lik, env, rows, chunk$offset / response$unit, setup$prior,
                       if (response$processes > 1L) response$levels, response$levels,
                       response$components)
  list(lik = lik, response = response, scaling = scaling, kernel = resolved,
       spec = spec_for_c(resolved), table = table, rows = rows)
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

# Of several components: the variance of each, in squared units. One that hardly varies may yet do.
relative_vars <- function(response) {
  if (is.null(response$components)) return(1)
  if (!is.matrix(response$y)) return(c(1, TYPICAL_SPREAD))
  squares <- if (is_mixture(response$y)) mixture_squares(response$given) / response$unit^2
             else response$y^2
  pmax(colMeans(squares, na.rm = TRUE), 1e-4)
}

# Where one model of all classes would be too dear, and nothing was said of it, each class is set
# against the rest.
model_likelihood <- function(setup, y) {
  lik <- likelihood_for(setup$likelihood, y, declared = setup$streams)
  open <- is.null(setup$likelihood) && is.null(setup$basis) && leaves_open(setup$method)
  if (!open || is.numeric(y)) return(lik)
  several <- lik_codec(lik)$processes(unique(y))
  if (several > 1L && too_dear(setup$method, lik, length(y), several)) lik_probit() else lik
}

# What C needs but hyperparameters (engine.R).
problem_of <- function(model, chunk) {
  x <- tall_inputs(scaled_inputs(chunk$x, model$scaling), model$response$width)
  new_problem(x = x, spec = model$spec,
              nkernel = sum(model$table$part == "kernel"), lik = model$lik, rows = model$rows,
              offset = tall_values(chunk$offset / model$response$unit),
              processes = model$response$processes, width = model$response$width,
              strata = strata_of(chunk$y))
}
