# Reads a model off the rows before anything is learned, and builds the problem that C is given.

# Reads off the rows what is settled before anything is learned: response, scaling, and the table of
# hyperparameters with starts and priors. chunk$x is a matrix by now. setup$known: moments of more
# rows, which these are some of (chunked-scan.R), or NULL. A fit reads its model once: candidates
# that differ in it take with_response() and with_kernel(), which leave the inputs as they were
# read.
read_model <- function(chunk, setup, input_terms = colnames(chunk$x)) {
  model <- list(
    inputs = list(names = colnames(chunk$x), terms = input_terms),
    moments = if (is.null(setup$known)) input_moments(chunk$x, levels_of_setup(setup))
              else setup$known$inputs
  )
  with_kernel(with_response(model, chunk, setup), chunk, setup)
}

# Returns the model with the likelihood that `setup` asks for and the response as this reads it.
# with_kernel() has to follow: starts and priors depend on the response.
with_response <- function(model, chunk, setup) {
  lik <- model_likelihood(setup, chunk$y)
  refuse_scale_of_labels(lik, chunk$y)
  codec <- lik_codec(lik)
  check_adjustments(chunk, lik)
  response <- codec$read(codec, chunk$y, lik, chunk$offset, chunk$weights, setup$streams)
  response <- in_known_units(codec_named(response$codec), response, setup$known$response)
  if (identical(lik$custom$response, "ordered")) {
    lik$custom$categories <- as.double(length(response$levels))
  }
  if (identical(setup$mean, "zero")) response <- at_zero(response, chunk, setup$known$response)
  model$lik <- lik
  model$response <- response
  model$rows <- rows_of_response(lik, model$response)
  model$inputs$components <- model$response$components
  model
}

# Refuses a scale for a response that is made of labels, which have none.
refuse_scale_of_labels <- function(lik, y) {
  if (is.null(lik$transform) || !is.logical(y) && !has_levels(y)) return(invisible())
  stop_sparsegp("transform", paste0("is for numbers, and the response is of class ", class(y)[1L],
                                    ": labels have no scale"), "Leave it out")
}

# Returns the names of factors that kernels may read as levels.
levels_of_setup <- function(setup) c(setup$factors, setdiff(setup$ordered, setup$factors))

# Refuses weights and offsets that the likelihood gives no meaning to.
check_adjustments <- function(chunk, lik) {
  refuse_if(!is.null(chunk$weights) && !lik_traits(lik)$weighted, "weights",
            paste0("are not defined for the ", lik_label(lik), " likelihood of this response"),
            paste("Repeat rows; for two classes give numbers 0 and 1 and likelihood =",
                  "\"binomial\", whose weights are numbers of trials"))
  refuse_if(has_constants(lik) && !is.list(chunk$weights),
            "weights", paste("lack the constants", toString(lik$custom$data)),
            "Give those of lik_custom(data =) with the rows")
  refuse_if(lik_traits(lik)$even && all(chunk$offset == 0), "likelihood",
            paste0("is ", lik_label(lik), ", the same for f and -f, so a ",
                   "prior mean of 0 cannot distinguish them"),
            "Give an offset, a prior mean other than 0, or use gp_density()")
  refuse_if(!lik_codec(lik)$offsets && any(chunk$offset != 0),
            "offset", "shifts the latent functions of all classes alike, which has no effect",
            "Leave it out, or fit one-vs-rest models by lik_probit()")
}

# Returns the model with the kernel and the scaling that `setup` asks for. The response stays as it
# was read; the hyperparameter table is made anew. chunk: the rows that the model was read from.
with_kernel <- function(model, chunk, setup) {
  response <- model$response
  inputs <- model$inputs
  scaling <- model_scaling(model, chunk, setup)
  inputs[c("kept", "levels", "sphere")] <- scaling[c("kept", "levels", "sphere")]
  resolved <- resolve_kernel(setup$kernel, inputs)
  slopes <- warp_slopes(chunk$x[, scaling$kept, drop = FALSE], scaling$warp)
  each <- function(values) rep(values, each = 3L)
  env <- list(response_unit = response$unit,
              input_scale = c(scaling$seen, each(scaling$sphere$seen)),
              input_unit = c(ifelse(scaling$levels > 0, NA, scaling$sd / slopes),
                             each(scaling$sphere$sd)),
              component_var = relative_vars(response), component_unit = component_units(response),
              spacing = function(vars) {
                spacing_of_rows(scaled_inputs(chunk$x, scaling)[, vars, drop = FALSE])
              },
              step = function(input) step_of_grid(scaled_input(chunk$x, scaling, input)),
              period = function(input, given, turn) {
                period_start(scaled_input(chunk$x, scaling, input), response, given, turn)
              })
  model$factors <- setup$factors
  model$scaling <- scaling
  model$kernel <- resolved
  model$spec <- model_spec(resolved, response, inputs)
  of_bias <- integrates_bias(setup$mean, model$lik, response)
  model["mean"] <- list(resolve_mean(setup, inputs, mean_width(response), function(column) {
    scaled_inputs(chunk$x, scaling)[, column]
  }, of_bias))
  model$table <- hyper_table(resolved, model$lik, env, model$rows, chunk$offset / response$unit,
                             setup$prior, response)
  if (of_bias) model <- with_integrated_bias(model)
  check_custom_kernels(resolved, model$table, scaled_inputs(custom_sample(chunk$x), scaling))
  refuse_fixed_beside_open(model$table, is_open(response) && !is.null(setup$control))
  model$nkernel <- sum(model$table$part == "kernel")
  model
}

# Returns the specification of the kernel for C; of coupled classes it is of a component each.
model_spec <- function(kernel, response, inputs) {
  spec <- spec_for_c(kernel)
  if (!inherits(codec_named(response$codec), "response_coupled")) spec
  else coupled_spec(spec, response$width, point_inputs(inputs))
}

# Returns the scaling of the model's inputs that `setup` asks for.
model_scaling <- function(model, chunk, setup) {
  warp <- if (identical(setup$scale, "log")) {
    warps_of(chunk$x, inputs_left_alone(setup, model$inputs))
  }
  # of a stream later rows may vary where the first do not
  pairs <- sphere_pairs(setup$kernel, model$inputs, setup$labels)
  moments <- model$moments
  if (!is.null(warp)) moments <- warped_moments(moments, chunk$x, warp)
  scaling <- scaling_of(moments, setup$scale,
                        inputs_of_fields(setup$kernel, model$inputs),
                        setup$streams && is.null(setup$known), setup$factors, pairs)
  if (!scaling$scale) check_unscaled(scaling)
  if (!is.null(warp)) scaling$warp <- some_warps(warp, scaling$kept)
  if (ncol(pairs)) scaling$sphere <- sphere_of(pairs, scaling$kept, chunk$x, scaling$scale)
  scaling
}

# Refuses inputs whose squares a computer cannot hold in the user's units.
check_unscaled <- function(scaling) {
  extreme <- scaling$levels == 0 & (scaling$seen < 1e-152 | scaling$seen > 1e152)
  if (!any(extreme)) return(invisible())
  stop_sparsegp("x", paste0("has inputs whose standard deviation is below 1e-152 or above 1e152, ",
                            "which are not scaled: ",
                            toString(scaling$names[scaling$kept][extreme])),
                "Use scale = TRUE, or give them in other units")
}

# Returns the numbers of inputs that have no other scale than their own: times, products of several
# variables, which are 0 wherever one of them is, and those of periodic kernels, of levels, of
# fields and on the sphere.
inputs_left_alone <- function(setup, inputs) {
  leaves <- Filter(function(leaf) registered("kernels", leaf$type)$reads %in% c("one", "levels"),
                   kernel_leaves(setup$kernel))
  c(which(without_backticks(inputs$terms) %in% c(setup$clocks, setup$factors)),
    grep(":", gsub("`[^`]*`", "", inputs$terms), fixed = TRUE),
    inputs_of_fields(setup$kernel, inputs), sphere_pairs(setup$kernel, inputs),
    unlist(lapply(leaves, function(leaf) resolve_vars(leaf$vars, inputs))))
}

# Returns the scales of inputs among which a fit may choose, the simplest first: a list of
# list(label, setup), the latter the fields of `setup` that change. Empty if no input is skewed. The
# log scale is as simple as the other: few doses far apart gain less than a nat by it, as a short
# length scale fits each of them by itself, and then the fit dips between them.
input_scales <- function(model, chunk, setup) {
  warp <- model_scaling(model, chunk, utils::modifyList(setup, list(scale = "log")))$warp
  if (is.null(warp)) return(list())
  skewed <- model$inputs$names[model$scaling$kept][warp$side != 0]
  list(list(label = "inputs unchanged"),
       list(label = paste(counted(length(skewed), "skewed input"), "on a log scale"),
            setup = list(scale = "log"), simpler = TRUE))
}

# Returns the data rows of a response; while its scale is being learned they have the response
# itself (engine-scale.R).
rows_of_response <- function(lik, response) {
  lik_traits(lik)$data_rows(response$reference$y %||% response$y, response$weights)
}

# Returns the model of the same rows once the parameter of the response's scale is known: theta's
# last value. The values of `table`, in units of C's, stay, in those of the scale.
with_settled_scale <- function(model, table, chunk, setup) {
  if (!is_open(model$response)) return(list(model = model, table = table))
  lik <- model$lik
  value <- scale_value(lik, table$theta, model$response$scale)
  known <- lik
  known$transform[c("value", "settled")] <- list(value, TRUE)
  codec <- codec_named(model$response$codec)
  model$response <- codec$read(codec, chunk$y, known, chunk$offset, chunk$weights, setup$streams)
  model$rows <- rows_of_response(lik, model$response)
  model <- with_kernel(model, chunk, setup)
  for (column in c("theta", "start")) {
    model$table[[column]][table$free] <- table[[column]][table$free]
  }
  list(model = model, table = model$table)
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
relative_vars.response_pairs <- function(response) c(1, 1)

#' @export
relative_vars.response_vectors <- function(response) mean_squares(response$y^2)

#' @export
relative_vars.response_mixtures <- function(response) {
  mean_squares(mixture_squares(response$given) / response$unit^2)
}

# A component that hardly varies among these rows may yet do so.
mean_squares <- function(squares) pmax(colMeans(squares, na.rm = TRUE), 1e-4)

# Returns the likelihood: one-vs-rest where one model of all classes would cost too much and none
# was asked for; of ordered categories that of unordered ones, if each has a latent function.
model_likelihood <- function(setup, y) {
  if (isTRUE(setup$each_category)) class(y) <- "factor"
  lik <- likelihood_for(setup$likelihood, y, declared = setup$streams)
  if (isTRUE(setup$noiseless)) lik$noiseless <- TRUE # its noise is expected to be near none
  open <- is.null(setup$likelihood) && is.null(setup$basis)
  if (!open || is.numeric(y)) return(lik)
  several <- lik_codec(lik)$processes(unique(y))
  exceeds <- several > 1L && exceeds_budget(setup$method, lik, length(y), several)
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
