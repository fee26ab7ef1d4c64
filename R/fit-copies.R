# A fit whose points have copies (strategy-copies.R). Hyperparameters, length scales and margins are
# those of the rows alone: leave-one-out probabilities of a fit with copies would be of rows whose
# copies it has seen.

# first: the fit without copies; tuned: what it was made of, see tune().
fit_with_copies <- function(first, tuned, chunk, setup) {
  candidate <- tuned$candidate
  model <- candidate$model
  with <- function(rows) problem_with_copies(model, chunk, setup$augment, rows)
  vectors <- if (is.null(first$basis_rows_of)) first$basis_rows else first$basis_rows_of
  candidate$plan <- plan_copies(problem_of(model, chunk), setup$method, vectors, with,
                                engine_evidence(first), first$sites)
  run <- checked_run(candidate)
  setup$options <- run$options
  power <- if (!is.null(tuned$power)) {
    best_temper(loo_label_scores(candidate, run), labels_of(candidate))$power
  }
  tuned <- list(candidate = candidate, run = run, power = power, choices = tuned$choices)
  fit_of(tuned, chunk, setup)
}

# The problem of all rows and of copies of some of them, which have their rows' responses and
# offsets. Where weights mean something a row and its copies divide its own among them, and the
# rows' weight in all remains what it was. Labels have no weights: copies count as rows do (see
# ?copies).
problem_with_copies <- function(model, chunk, augment, rows) {
  made <- copies_of_rows(augment, chunk$x[rows, , drop = FALSE])
  refuse_if(length(made$of) == 0L, "augment", "makes no copy that differs from its row")
  of <- rows[made$of]
  refuse_other_levels(made$x, chunk$x[of, , drop = FALSE], model$scaling)
  n <- nrow(chunk$x)
  all <- c(seq_len(n), of)
  joined <- chunk_rows(chunk, all)
  joined$x[-seq_len(n), ] <- made$x
  response <- model$response
  weights <- weights_or_ones(response$weights, n) / (1 + tabulate(of, n))
  model$rows <- lik_traits(model$lik)$data_rows(some_rows(response$y, all), weights[all])
  list(problem = problem_of(model, joined), of = of)
}

# Refuses copies of other levels of a factor than their rows: numbers of levels are no positions.
refuse_other_levels <- function(copies, x, scaling) {
  factors <- which(scaling$kept)[scaling$levels > 0]
  changed <- factors[vapply(factors, function(j) any(copies[, j] != x[, j]), NA)]
  if (length(changed) == 0L) return(invisible())
  stop_sparsegp("augment", paste0("changes the levels of ", toString(scaling$names[changed])),
                "Leave columns of factors alone, or give coding = \"contrasts\"")
}

copies_words <- function(fit) {
  made <- fit$copies$made
  if (is.null(made)) return(NULL)
  each <- if (nrow(made) > 1L) ", over all classes" else ""
  paste0("virtual informative vectors: ", sum(made$copies), " copies of ",
         counted(sum(made$vectors), "row"), "; ", sum(made$copied), " of ",
         counted(sum(made$points), "point"), " are copies", each)
}
