# Relevance of inputs for labels: a length scale for each input. The maximum of the evidence
# overfits them where observations are few, and leave-one-out at the hyperparameters of that maximum
# does, too. So they are tied to the common length scale that was learned before, by a prior under
# which most stay near it and a few may go far: a Cauchy density of the logarithm. Under it the
# evidence rises by a few nats if no input matters more than others, and by dozens if some do.

# Returns the setup with length scales tied to the one in `table`. A prior that the user gave stays.
with_tied_lengthscales <- function(setup, table) {
  if ("lengthscale" %in% names(setup$prior)) return(setup)
  # classes with kernels of their own have several
  common <- mean(log(hyper_value(table)[table$base == "lengthscale"]))
  prior <- prior_logcauchy(common, policy$relevance_spread)
  setup$prior <- c(list(lengthscale = prior), setup$prior)
  setup
}

# A list of the candidate with a length scale for each input, or NULL if there are too many inputs.
relevance_candidate <- function(model, inputs, rows, candidate) {
  if (has_labels(model)) {
    if (inputs > policy$max_tied_inputs) return(NULL)
    least <- min_relevance_gain(model, rows)
    return(list(candidate(kernel_rbf, least, ard = TRUE, tied = TRUE)))
  }
  if (inputs > policy$max_ard_inputs || model$response$processes > 1L) return(NULL)
  list(candidate(kernel_rbf, policy$min_evidence_gain, ard = TRUE))
}

# Returns the log evidence that length scales of labels have to gain on so many observations. That
# of one-vs-rest classes is a sum over models of the same labels.
min_relevance_gain <- function(model, rows) {
  processes <- model$response$processes
  models <- if (is_one_vs_rest(list(processes = processes, lik = model$lik))) processes else 1L
  models * max(policy$min_relevance_gain, policy$min_relevance_rate * rows)
}

has_labels <- function(model) lik_codec(model$lik)$labelled
