# From rows to a fit.

# Returns the fit of the rows that a recipe made first, by which their inputs are coded now.
# setup$provisional: is the fit one on some rows, which that of all rows follows?
fit_read <- function(recipe, rows, setup) {
  progress <- open_progress(line_display(setup$verbose))
  on.exit(close_progress(progress))
  recipe <- with_coding(recipe, rows$x, setup$coded)
  setup$basis <- read_basis(recipe, setup$basis)
  rows <- code_rows(recipe, rows)
  if (!identical(setup$scale, "log")) refuse_lost_values(rows$x) # a logarithm keeps all of them
  made <- make_settled(rows, choose_structure(rows, setup, recipe$input_terms))
  learned <- made$learned
  tuned <- made$tuned
  rows$offset <- tuned$candidate$data$chunk$offset # as many as classes, where these are coupled
  fit <- fit_of(tuned, rows, learned$setup)
  if (!is.null(setup$augment)) fit <- fit_with_copies(fit, tuned, rows, learned$setup)
  if (!isTRUE(setup$provisional)) {
    warn_about(fit$convergence, fit$learning, fit)
    warn_about_unseen(tuned$candidate)
  }
  recipe <- with_read_levels(recipe, learned$setup)
  known <- c(recipe[CODING], list(na.action = rows$omitted, row_names = rows$names))
  known <- known[lengths(known) > 0L]
  fit[names(known)] <- known
  if (isTRUE(setup$provisional)) fit else with_window(fit)
}

# Learns all rows under a structure that is settled, and runs what was found: list(learned, tuned),
# see learn_from() and tune(). If EP fails under a noise that the race has chosen, the structure
# before it is made in its place, and kept if EP converges there. A search that has not settled is
# no reason: without the noise that outliers ask for hyperparameters are far worse.
make_settled <- function(rows, settled) {
  if (is.null(settled$before_noise)) return(make_once(rows, settled))
  made <- tryCatch(make_once(rows, settled), sparsegp_error = identity)
  if (!inherits(made, "error") && has_converged(made$tuned)) return(made)
  before <- make_once(rows, settled$before_noise())
  if (inherits(made, "error") || has_converged(before$tuned)) before else made
}

make_once <- function(rows, settled) {
  learned <- learn_from(rows, settled)
  candidate <- with_coupled_classes(learned$candidate, learned$setup)
  if (learned$nothing_to_learn && !is.null(candidate$record)) {
    candidate$record$nothing_to_learn <- TRUE
  }
  list(learned = learned, tuned = tune(candidate$plan, candidate))
}

has_converged <- function(tuned) tuned$run$converged && is.null(tuned$run$fallback)

# Gives one warning at most: learning cannot settle where EP did not. A limit on sweeps that is
# lower than usual, and reached, is no sign of divergence.
warn_about <- function(run, record, fit) {
  if (!is.null(run$fallback)) return(warn_about_fallback(run, fit$likelihood))
  if (run$converged) return(warn_about_search(record))
  limited <- run$sweeps < method_ep()$sweeps && identical(run$sweeps, fit$options$sweeps)
  remedy <- if (limited) "Raise method_ep(sweeps =) to have it converge" else {
    divergence_remedy(fit$likelihood, "Raise method_ep(sweeps =) or lower its damping")
  }
  warn_sparsegp("EP did not converge in ", counted(run$sweeps, "sweep"), " (change ",
                signif(run$change, 3), "). ", remedy, ".")
}

# Warns of a fit that is not by EP.
warn_about_fallback <- function(run, lik) {
  warn_sparsegp("EP found no fixed point (change ", signif(run$fallback$change, 3L), " after ",
                counted(run$fallback$sweeps, "sweep"), "). Variational inference was used ",
                "(?method_ep); the log evidence is a lower bound",
                if (run$fallback$replaced) {
                  paste0("; labels are assumed wrong with probability ",
                         policy$least_label_noise)
                }, ". ", divergence_remedy(lik, "method_ep(power = 0.5) may do better"), ".")
}

# Warns of a fit that calls noise what neighbouring rows have in common: their responses differ by
# less than half of it.
warn_about_unseen <- function(candidate) {
  table <- candidate$table
  problem <- candidate$plan$problem
  noise <- exp(table$theta[table$base == "noise"]) # in variances of the response
  if (length(noise) != 1L || !any(table$free) || noise < 0.5 || !have_neighbours(problem)) return()
  order <- spread_problem(problem)
  if (length(order) < policy$min_points) return()
  unlike <- unlikeness(problem$x, rank(problem$rows[1L, ]), order, length(order))
  if (unlike > noise / 2) return()
  warn_sparsegp("Most of the response is fitted as noise, yet neighbouring rows are alike: the ",
                "function varies faster than this fit can follow. Give a shorter length scale, ",
                "kernel = kernel_rbf(lengthscale = ), kernel_periodic() for cycles, or fewer rows.")
}
