# Reads what C has, in its own words and order: nothing of it is written down a second time in R.

# kernels: names. likelihoods: of each q (numbers in a data row), npar, width (latent values of a
# process that a row sees at once; 0: any), classes, par (names of its hyperparameters), exact (are
# its sites the likelihood itself?), ordered (have its responses quantiles?). fates: what becomes
# of a row. record: what a stream counts beside them. scores, selections, stops: codes from 0.
# statuses: what a run returns.
catalogue <- function() REGISTRY$catalogue

# Likelihoods that sparsegp() takes: of rows that see one value of a process.
likelihood_names <- function() {
  types <- catalogue()$likelihoods
  setdiff(names(types)[vapply(types, `[[`, 0L, "width") == 1L], "custom")
}

# Names what a stream counts, in the order of its record.
record_names <- function() {
  known <- catalogue()
  c(known$fates, known$record)
}
