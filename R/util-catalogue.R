# What C has, in its own words and order: nothing of it is written down a second time in R.

# kernels: names. likelihoods: of each q (numbers in a data row), npar, width (latent values of a
# process that a row sees at once; 0: any), classes, par (names of its hyperparameters), exact (are
# its sites the likelihood itself?), ordered (have its responses quantiles?). fates: what becomes
# of a row. record: what a stream counts beside them. scores, selections, stops: codes from 0.
# statuses: what a run returns.
catalogue <- function() REGISTRY$catalogue

# Likelihoods that sparsegp() takes: of rows that see one value of a process. One that is
# written in R is not among them: it has no name.
likelihood_names <- function() {
  types <- catalogue()$likelihoods
  names(types)[vapply(types, function(one) one$width == 1L && one$q >= 0L, NA)]
}

# What a stream counts, in the order of its record
record_names <- function() {
  known <- catalogue()
  c(known$fates, known$record)
}
