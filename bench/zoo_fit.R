# One fit of one data set of the zoo, in a process of its own, and what it predicts of the test
# observations: bench/zoo.R starts it.
#
#   Rscript bench/zoo_fit.R SET WHO FILE [MOST]
#
# WHO is "ours" or a name of PEERS, MOST the number of training observations. FILE takes a list:
# set, kind, who, version, and for each of `plain` and, of a peer with positive responses, `log`
# (the response's logarithm): seconds (CPU, of tuning, fit and predictions of the mean or the
# probabilities), density (log predictive density of
# each test observation, in the response's own unit), mean and inside (is it in its 90 % interval?)
# of numbers or wrong of labels, held (mean log density of held-out observations). Of ours also the
# size of the fit in bytes, what it printed and what it said.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (name in c("common.R", "zoo_sets.R", "zoo_peers.R", "zoo_scores.R")) {
    source(file.path(dirname(self), name))
  }
})

# ---- One fit ----

run_fit <- function(name, who, file, most = MOST_TRAINING) {
  sets <- zoo_table()
  set <- zoo_split(sets[sets$name == name, ], as.integer(most))
  package <- if (who == "ours") "sparsegp" else who
  loadNamespace(package) # takes time of its own
  record <- list(set = name, kind = set$kind, who = who, n = nrow(set$train), y = NULL,
                 version = as.character(utils::packageVersion(package)))
  record$y <- set$test[[set$response]]
  keep <- function(part, values) {
    record[[part]] <<- utils::modifyList(as.list(record[[part]]), values)
    saveRDS(record, file)
  }
  score_set(set, who, keep)
}

asked <- commandArgs(TRUE)
do.call(run_fit, as.list(asked))
