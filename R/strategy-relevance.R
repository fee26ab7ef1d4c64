# Relevance of inputs for labels: a length scale for each input. The maximum of the evidence
# overfits them where observations are few, and leave-one-out at the hyperparameters of that maximum
# does, too. So they are tied to the common length scale that was learned before, by a prior under
# which most stay near it and a few may go far: a Cauchy density of the logarithm. Under it the
# evidence rises by a few nats if no input matters more than others, and by dozens if some do.

# Returns the priors of `setup` with length scales tied to a common one, given by its logarithm. A
# prior of these that the user gave stays.
tied_lengthscales <- function(setup, common) {
  if ("lengthscale" %in% names(setup$prior)) return(setup$prior)
  c(list(lengthscale = prior_logcauchy(common, policy$relevance_spread)), setup$prior)
}

# Returns the logarithm of the length scale of a table; classes with kernels of their own have
# several, and tied ones have it in their prior.
common_lengthscale <- function(table) {
  tied <- which(is_tied(table))
  if (length(tied)) return(table$prior[[tied[1L]]]$par[["location"]])
  mean(log(hyper_value(table)[table$base == "lengthscale"]))
}

# Returns the log evidence that length scales of labels have to gain on m of the model's n
# observations. As it grows with the observations, so much less is asked of a pilot. One-vs-rest
# classes have their models' sum, and length scales in common, which are a compromise of what each
# would have: they have to gain it for every model, on the pilot, and by the observation.
min_relevance_gain <- function(model, n, m) {
  models <- count_models(model$lik, model$response$processes)
  if (models == 1L) return(policy$min_relevance_gain * m / n)
  models * max(policy$min_relevance_gain, policy$min_relevance_rate * m)
}
