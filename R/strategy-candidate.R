# A candidate is a fit that might be made, an immutable value:
#   model    kernel, scaling, likelihood and response, read off the observations (model-read.R)
#   table    hyperparameters (hyper-table.R)
#   plan     algorithm, options, observations and where EP starts (plan-contract.R)
#   rows     the observations that the plan is restricted to; NULL: all
#   data     list(chunk, setup) that models are read from
#   factor   by which learned length scales have been multiplied
#   record   of the search that learned the hyperparameters (learn-search.R), or NULL
#   fields   what it changes of the structure, for the record (choices.R), or NULL
#   rougher  what a rougher kernel changes (strategy-roughness.R), or NULL
# with_*() return a copy that differs in one respect. Nothing else changes a candidate.

new_candidate <- function(model, table, plan, data, record = NULL) {
  list(model = model, table = table, plan = plan, rows = NULL, data = data, factor = 1,
       record = record)
}

count_observations <- function(candidate) problem_rows(candidate$plan$problem)

with_options <- function(candidate, ...) {
  changes <- list(...)
  candidate$plan$problem$options[names(changes)] <- changes
  candidate
}

# points: wanted number of inducing points, which need not be whole.
with_size <- function(candidate, points) {
  with_options(candidate, size = max(1, round(points)))
}

size_of <- function(candidate) candidate$plan$problem$options$size

# Restricts the candidate to some of its observations, in this order.
with_subset <- function(candidate, rows) {
  if (length(rows) == count_observations(candidate)) return(candidate)
  candidate$plan$problem <- part_of_problem(candidate$plan$problem, rows)
  candidate$plan$problem$tie_break <- as.double(seq_along(rows))
  candidate$rows <- rows
  candidate
}

labels_of <- function(candidate) {
  y <- candidate$model$response$given
  if (is.null(candidate$rows)) y else y[candidate$rows]
}

# Multiplies all free length scales.
with_lengthscale <- function(candidate, factor) {
  at <- free_lengthscales(candidate$table)
  candidate$table$theta[at] <- candidate$table$theta[at] + log(factor)
  candidate$factor <- candidate$factor * factor
  candidate
}

free_lengthscales <- function(table) which(table$base == "lengthscale" & table$free)

with_sites <- function(candidate, sites) {
  candidate$plan["sites"] <- list(sites)
  candidate
}

with_likelihood <- function(candidate, lik) {
  data <- candidate$data
  data$setup$likelihood <- lik
  model <- with_response(candidate$model, data$chunk, data$setup)
  with_model(candidate, with_kernel(model, data$chunk, data$setup))
}

# Gives the candidate another model of its observations. Hyperparameters that both models have keep
# their values.
with_model <- function(candidate, model) {
  at <- match(model$table$name, candidate$table$name)
  known <- candidate$table$theta
  candidate$table <- model$table
  candidate$table$theta <- ifelse(is.na(at), model$table$theta, known[at])
  candidate$model <- model
  of_model <- c("lik", "spec", "nkernel")
  candidate$plan$problem[of_model] <- model[of_model]
  candidate
}

# Gives the candidate the model and hyperparameters of another, and the sites found there if they
# are of the same observations.
as_found <- function(candidate, other) {
  candidate <- with_model(candidate, other$model)
  candidate$table <- other$table
  candidate$factor <- other$factor
  if (identical(candidate$rows, other$rows)) with_sites(candidate, other$plan$sites) else candidate
}

# Is something left open of the likelihood and of the one kernel's variance?
may_change_likelihood <- function(candidate) {
  variance <- candidate$table$base == "variance"
  is.null(candidate$data$setup$likelihood) && sum(variance) == 1L && candidate$table$free[variance]
}

# Turns a candidate that was learned for the probit into one with a margin: of width 4 it is about
# as steep. NULL if a likelihood was given, or the variance of the one kernel.
with_margin <- function(candidate) {
  if (candidate$model$lik$type != "probit" || !may_change_likelihood(candidate)) return(NULL)
  candidate <- with_likelihood(candidate, lik_margin(width = fixed(policy$margin_width)))
  table <- candidate$table
  steeper <- policy$margin_width / 4
  variance <- table$base == "variance"
  bias <- table$base == "bias"
  table$theta[variance] <- table$theta[variance] + 2 * log(steeper)
  table$theta[bias] <- table$theta[bias] * steeper
  candidate$table <- table
  with_sites(candidate, list(tau = candidate$plan$sites$tau / steeper^2,
                             nu = candidate$plan$sites$nu / steeper))
}

# Entries of a race: length scales times these factors, each from the sites of the best so far.
shorter <- function(candidate, factors) {
  entries <- lapply(factors, function(factor) {
    function(best) {
      with_sites(with_lengthscale(candidate, factor), best$candidate$plan$sites)
    }
  })
  stats::setNames(entries, paste("length scales x", signif(candidate$factor * factors, 3L)))
}
