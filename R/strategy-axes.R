# The axes of the race for structure (strategy-structure.R), in their order.

# of_problem: do the alternatives follow from the problem of the best so far, whatever its kernel?
structure_axis <- function(stage, alternatives, least = worth_a_change, of_problem = FALSE) {
  list(stage = stage, alternatives = alternatives, least = least, of_problem = of_problem)
}

# Returns the axes that the user left open, if candidates can be learned by their evidence. With a
# kernel that was given, inputs and response are as they are, and its degree alone may be open, or
# the mean of a field. forecast: see is_forecast()
open_axes <- function(setup, model, n, forecast = FALSE) {
  if (!is.null(setup$structure) || !identical(setup$control$criterion, "evidence")) return(list())
  if (!is.null(setup$kernel)) return(c(mean_axis(setup), degree_axis(setup$kernel)))
  coding <- structure_axis("coding", function(model, chunk, setup, table) codings(setup))
  if (model$response$width > 1L) return(axes_of_components(coding, model))
  series <- is_series(setup, model, n)
  c(list(
    coding,
    structure_axis("response scale", scales_of_response, worth_a_scale),
    structure_axis("error of log times", errors_of_times),
    structure_axis("input scale", scales_of_inputs)
  ), if (lik_codec(model$lik)$labelled) axes_of_labels(setup, model, n) else c(list(
    structure_axis("kernel", inputs_that_matter, of_problem = TRUE)
  ), kernel_axes(2L, series, forecast), list(
    structure_axis("kernel", rough_each, worth_a_part)
  ), if (series) rhythm_axes(1L), list(
    structure_axis("noise", noise_levels)
  )))
}

# Returns the axes of several latent functions of one response or more. A trend comes before rougher
# functions, which explain it as well. Their runs are costly: of one input the first kernel stays,
# and under a likelihood that is an R function, whose tilts of two values take minutes.
axes_of_components <- function(coding, model) {
  if (sum(model$scaling$kept) == 1L || !is.null(model$lik$custom)) return(list())
  list(coding, structure_axis("kernel", lengthscale_each),
       structure_axis("kernel", with_trend, worth_a_part), structure_axis("kernel", kernel_shapes))
}

# Returns the axes of the kernel of numbers and counts, with so many of rhythms. A rough part costs
# a filter of a series one state, and need not pay for time.
kernel_axes <- function(rhythms, series, forecast = FALSE) {
  least <- if (series) worth_a_change else worth_a_part
  c(list(structure_axis("kernel", lengthscale_each), structure_axis("kernel", kernel_shapes)),
    rhythm_axes(rhythms), list(structure_axis("kernel", with_time_alone, worth_a_part)),
    list(if (forecast) structure_axis("kernel", trend_of_time, worth_a_trend)
         else structure_axis("kernel", with_trend, worth_a_part),
         structure_axis("kernel", with_rough_part, least)))
}

# A series may have several rhythms, the weakest of which shows beside a rough part alone.
rhythm_axes <- function(count) {
  rep(list(structure_axis("kernel", with_rhythm, worth_a_part)), count)
}

# A trend is for labels that full EP takes: of more, the kernel of two or one-vs-rest labels has one
# variance, which a margin and least squares are made for. Those of a series may have a rhythm.
axes_of_labels <- function(setup, model, n) {
  method <- setup$method
  few <- leaves_open(method) &&
    !exceeds_full_ep_budget(method$effort, model$lik, n, model$response$processes)
  c(list(structure_axis("kernel", lengthscale_tied, min_relevance_gain),
         structure_axis("kernel", kernel_shapes)),
    if (few || is_series(setup, model, n)) rhythm_axes(1L),
    if (few) list(structure_axis("kernel", with_trend)))
}

# ---- What an alternative has to gain on a pilot of m of the model's n observations ----

worth_a_change <- function(model, n, m) policy$min_evidence_gain * m / n

# Another part of a sum costs time, as more inducing points do.
worth_a_part <- function(model, n, m) max(policy$min_evidence_gain / n, policy$min_gain) * m

# Without a trend a forecast returns to the mean, of which the evidence says little: it consists of
# densities of each row given those before. So the variance of a trend of time has no price.
worth_a_trend <- function(model, n, m) -price_of_hyper(m, n)

# Predictions on another scale of the response are less simple to explain.
worth_a_scale <- function(model, n, m) {
  max(policy$min_transform_gain / n, policy$min_transform_gain_per_row) * m
}

# ---- Alternatives ----

# Another scale of a response of numbers, if nothing that was given is in its units. Weights divide
# the noise variance on any scale. Later rows of a stream may lie outside of the domain of one, as
# other rows of a source may, whose range is known.
scales_of_response <- function(model, chunk, setup, table) {
  lik <- model$lik
  in_units <- any(chunk$offset != 0) || identical(setup$mean, "zero") ||
    has_prior_in_units(lik, setup$prior, table)
  if (!open_transform(lik) || in_units) return(NULL)
  y <- c(model$response$given, setup$known$response$range)
  names <- response_scales(y)
  if (setup$streams && is.null(setup$known)) names <- setdiff(names, scales_at_risk(y))
  lapply(names, function(name) {
    list(label = name, setup = list(likelihood = with_transform(lik, name)),
         fields = list(transform = name))
  })
}

# Returns other distributions of the error of log times, unless one was given.
errors_of_times <- function(model, chunk, setup, table) {
  if (!isTRUE(model$lik$open_error)) return(NULL)
  lapply(list(model$lik, lik_loglogistic(), lik_lognormal()), function(lik) {
    list(label = lik$type, setup = list(likelihood = lik), fields = list(error = lik$type))
  })
}

# Is one of a user's priors on a hyperparameter in units of the response, such as the noise?
has_prior_in_units <- function(lik, prior, table) {
  any(table$base[hyper_with_priors(table, prior)] %in% c("variance", hyper_in_units(lik)))
}

# One scale for all inputs, where they have a unit in common, or skewed inputs on a log scale.
scales_of_inputs <- function(model, chunk, setup, table) {
  if (!is.null(setup$scale)) return(NULL)
  shared <- can_share_scale(scaling_of(model$moments, TRUE, factors = setup$factors))
  c(list(list(label = EACH_SCALED)),
    if (shared) list(list(label = ONE_SCALE, setup = list(scale = "common"))),
    input_scales(model, chunk, setup)[-1L])
}

# A length scale for each input, or one for all. Few inputs that matter have one each; an input that
# matters by its product with another alone may not be among them, so all inputs are tried, too.
lengthscale_each <- function(model, chunk, setup, table) {
  inputs <- sum(model$scaling$kept)
  first <- first_part(setup$kernel)
  if (inputs == 1L || inputs > policy$max_ard_inputs) return(NULL)
  if (!is.null(first$vars)) {
    return(alternative_kernels(list(setup$kernel, with_first(setup, ard = TRUE, vars = NULL))))
  }
  alternative_kernels(list(setup$kernel, with_first(setup, ard = !first$ard)), first$ard)
}

# The same, tied to the common one (strategy-relevance.R).
lengthscale_tied <- function(model, chunk, setup, table) {
  if (first_part(setup$kernel)$ard) return(NULL)
  offered <- lengthscale_each(model, chunk, setup, table)
  if (length(offered) == 0L) return(offered)
  offered[[2L]]$fields <- offered[[2L]]$setup
  offered[[2L]]$setup["prior"] <- list(tied_lengthscales(setup, common_lengthscale(table)))
  offered
}

SHAPES <- c("rbf", "matern52", "matern32", "matern12") # the smoothest first

# Rougher functions; of a long series all are Markov processes.
kernel_shapes <- function(model, chunk, setup, table) {
  others <- setdiff(shapes_of_model(model, chunk, setup), first_part(setup$kernel)$type)
  alternative_kernels(c(list(setup$kernel), lapply(others, with_first, setup = setup)))
}

# Returns the types of the functions that are compared for a model, the smoothest first.
shapes_of_model <- function(model, chunk, setup) {
  series <- is_series(setup, model, nrow(chunk$x))
  near <- inherits(setup$method, "method_neighbours")
  # which lose nothing by a rough function, as inducing points do
  exact <- series || near || is_forecast(model, chunk, setup)
  setdiff(SHAPES, c(if (series) "rbf", if (!exact) "matern12"))
}

# Another periodic part besides; the strongest one also beside a smooth function, as what varied so
# fast may have been the rhythm (strategy-rhythm.R).
with_rhythm <- function(model, chunk, setup, table) {
  rhythms <- rhythms_beside(model, chunk, setup)
  if (length(rhythms) == 0L) return(NULL)
  smooth <- with_first(setup, type = shapes_of_model(model, chunk, setup)[1L])
  beside <- lapply(rhythms, function(rhythm) setup$kernel + rhythm)
  alternative_kernels(c(list(setup$kernel), beside, list(smooth + rhythms[[1L]])))
}

# A rough function in place of a sum, with the trend of the sum or without one: parts of several
# roughnesses may stand for it where it was not offered, as where points carry no rough function.
rough_alone <- function(model, chunk, setup, table) {
  parts <- kernel_parts(setup$kernel)
  if (length(parts) == 1L) return(NULL)
  rough <- kernel_matern12(ard = parts[[1L]]$ard, vars = parts[[1L]]$vars)
  trend <- Filter(function(part) part$type == "linear", parts)
  kernels <- list(setup$kernel, Reduce(`+`, trend, rough), rough)
  alternative_kernels(kernels, simpler = TRUE)
}

# Another part besides, a trend of all inputs, or what there is without it. Where few inputs matter,
# a trend of these comes first.
with_trend <- function(model, chunk, setup, table) {
  vars <- first_part(setup$kernel)$vars
  trends <- lapply(unique(list(vars, NULL)), function(vars) kernel_linear(vars = vars))
  alternatives_of_part(setup$kernel, trends)
}

# Another part besides, a trend of the one input, which is time. It stays: where it explains little,
# its variance is small.
trend_of_time <- function(model, chunk, setup, table) {
  trends <- alternatives_of_part(setup$kernel, list(kernel_linear()))
  if (!isTRUE(trends[[2L]]$simpler)) trends
}

# Another part besides, a rough function of the same inputs, or what there is without it.
with_rough_part <- function(model, chunk, setup, table) {
  if (first_part(setup$kernel)$type == "matern12") return(NULL) # it is rough itself
  alternatives_of_part(setup$kernel, list(kernel_matern12(vars = first_part(setup$kernel)$vars)))
}

# Another part besides, a function of time alone, or what there is without it. Beside other inputs a
# function of all of them that follows changes from day to day learns from a few days alone what the
# others do. What looked like a rhythm may have been such a function.
with_time_alone <- function(model, chunk, setup, table) {
  time <- time_beside_others(model, chunk, setup)
  if (is.null(time)) return(NULL)
  alone <- kernel_matern32(vars = model$inputs$names[time])
  parts <- kernel_parts(setup$kernel)
  lasting <- Reduce(`+`, parts[vapply(parts, `[[`, "", "type") != "periodic"])
  offered <- alternatives_of_part(setup$kernel, list(alone))
  if (offered[[2L]]$simpler) return(offered)
  alternative_kernels(list(setup$kernel, setup$kernel + alone, lasting + alone))
}

# A length scale for each input of the rough function, if there is one, and the smooth one has them.
rough_each <- function(model, chunk, setup, table) {
  parts <- setup$kernel$parts
  last <- length(parts)
  if (last == 0L || parts[[last]]$type != "matern12" || !parts[[1L]]$ard) return(NULL)
  simpler <- parts[[last]]$ard
  parts[[last]]$ard <- !simpler
  alternative_kernels(list(setup$kernel, Reduce(`+`, parts)), simpler)
}

# Noise near none, if the noise that was learned is below its start, rows with the same inputs agree
# and no responses stand apart, as a function can be made to pass through outliers; also with a
# length scale for each input, which few rows tell apart only without noise.
noise_levels <- function(model, chunk, setup, table) {
  noise <- which(table$base == "noise" & table$free)
  open <- length(noise) == 1L && may_be_noiseless(model$lik) &&
    length(hyper_with_priors(table[noise, ], setup$prior)) == 0L
  if (!open || table$theta[noise] > table$start[noise]) return(NULL)
  y <- as.double(chunk$y)
  if (contradicts(chunk$x, y) || stand_apart(y)) return(NULL)
  each <- lengthscale_each(model, chunk, setup, table)
  tied <- length(each) == 2L && !first_part(setup$kernel)$ard
  c(list(list(label = NOISE_LEARNED),
         list(label = NOISE_NEAR_NONE, setup = list(noiseless = TRUE))),
    if (tied) list(list(label = paste0(NOISE_NEAR_NONE, ", ", each[[2L]]$label),
                        setup = c(list(noiseless = TRUE), each[[2L]]$setup))))
}

# Do rows with the same inputs have different responses?
contradicts <- function(x, y) {
  copies <- duplicated(x)
  any(copies) && any(!duplicated(cbind(x, y))[copies])
}

# Velocities have a natural zero, and with a vague constant a whole region without observations may
# drift, so a field begins with mean zero unless the user gives a mean, and a constant has to gain
# enough evidence.
has_open_mean <- function(setup) {
  codec <- lik_codec(setup$likelihood)
  vectors <- inherits(codec, "response_vectors") && !inherits(codec, "response_mixtures")
  vectors && is.null(setup$mean) && is_field(setup$kernel)
}

mean_axis <- function(asked) {
  if (!has_open_mean(asked)) return(list())
  list(structure_axis("prior mean", function(model, chunk, setup, table) {
    offered <- list(list(label = "zero", setup = list(mean = "zero")),
                    list(label = "constant", setup = list(mean = "constant")))
    if (identical(setup$mean, "zero")) offered else rev(offered)
  }, worth_a_drift))
}

worth_a_drift <- function(model, n, m) policy$min_drift_gain * model$response$width * m / n

# Returns the axis of the degree that `given` leaves open, or none.
degree_axis <- function(given) {
  if (!has_open_degree(given)) return(list())
  list(structure_axis("kernel", function(model, chunk, setup, table) {
    alternative_kernels(lapply(seq_len(policy$most_degree), with_open_degree,
                               kernel = setup$kernel, given = given))
  }))
}
