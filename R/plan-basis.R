# Methods that choose their basis: selection at given hyperparameters, learning on what was
# selected, selection again.

# Does the method choose the basis itself? A size of all rows leaves no choice: that is full EP.
selects_basis <- function(problem) {
  is.null(problem$basis) && problem$method$size < nrow(problem$x)
}

# What a method that selects has to bring:
#   owns    (problem) does its own run give the posterior, rather than batch EP on what it chose?
#   choose  (problem, theta, learning) a run that ends with `id`, the rows chosen in order of
#           inclusion, or `ids`, those of each latent function; optionally tau and nu, sites of all
#           rows to start from
#   run     (problem, theta) where it owns the posterior: a run as engine_run() gives it
#   record  (run) what a choice leaves in the fit: exchanges, log_evidence and change of its sweeps,
#           or the gains of its inclusions
#   phi     can it be learned by the IVM paper's criterion?
SELECTIONS <- list(
  ep = list(
    owns = function(problem) {
      method <- problem$method
      is.null(problem$basis) && method$freeze == Inf ||
        method$projection == "kl" && (selects_basis(problem) || !is.null(problem$basis))
    },
    choose = function(problem, theta, learning) {
      sweeps <- min(problem$method$freeze, problem$method$sweeps, if (learning) SELECTION_SWEEPS)
      engine_sparse(problem, theta, freeze = sweeps, sweeps = sweeps)
    },
    run = function(problem, theta) sweeping_run(problem, theta),
    record = function(run) list(sweeps = run$trace),
    phi = FALSE
  ),
  ivm = list(
    owns = function(problem) is.null(problem$basis) && problem$method$refine != "basis",
    choose = function(problem, theta, learning) chosen_by_ivm(problem, engine_ivm(problem, theta)),
    run = function(problem, theta) active_run(problem, theta),
    record = function(run) list(selection = inclusions(run)),
    phi = TRUE
  )
)

SELECTION_SWEEPS <- 2 # with basis exchange, while learning; thesis 5.2: later exchanges gain little

selection_of <- function(problem) SELECTIONS[[problem$method$type]]

owns_posterior <- function(problem) selection_of(problem)$owns(problem)

# Before there are rows.
check_criterion <- function(control, method, basis) {
  if (is.null(control) || control$criterion != "ivm") return(invisible())
  if (is.null(method) || !isTRUE(SELECTIONS[[method$type]]$phi)) {
    stop_sparsegp("learn", "has criterion = \"ivm\", which only method_ivm() can be learned by",
                  "Use method = method_ivm(), or learn_control(criterion = \"evidence\")")
  }
  if (!is.null(basis)) {
    stop_sparsegp("learn", "has criterion = \"ivm\", which chooses its rows itself",
                  "Leave out `basis`, or use learn_control(criterion = \"evidence\")")
  }
}

# The problem with the basis chosen at theta, sites to start from, and the choice's record.
select_basis <- function(problem, table, learning) {
  selection <- selection_of(problem)
  run <- selection$choose(problem, table$theta, learning)
  if (run$status != 0L) check_run(run, table)
  if (length(run$id) == 0L && !length(run$ids)) stop_empty(run)
  problem$chosen <- as.integer(if (is.null(run$ids)) run$id else unique(unlist(run$ids)))
  problem["chosen_of"] <- list(run$ids)
  problem$basis <- if (is.null(run$ids)) problem$x[problem$chosen, , drop = FALSE]
                   else lapply(run$ids, function(rows) problem$x[rows, , drop = FALSE])
  problem$record <- selection$record(run)
  all <- nrow(problem$x) * problem$processes
  list(problem = problem, sites = if (length(run$tau) == all) run[c("tau", "nu")])
}

# The table with learned theta, the sites to start from, the record of the search, the problem with
# its basis.
learn_model <- function(problem, table, control, verbose) {
  if (is.null(control) || !any(table$free)) return(choose_at(problem, table))
  if (isFALSE(lik_traits(problem$lik)$learns)) {
    stop_sparsegp("learn", paste0("= TRUE needs an evidence, and the ", problem$lik$type,
                                  " likelihood has none"),
                  "Use learn = FALSE, fixed() hyperparameters, or another likelihood")
  }
  with_progress(new_progress(verbose, control$outer * control$inner), function(progress) {
    CRITERIA[[control$criterion]](problem, table, control, progress)
  })
}

# What a model is learned by: functions of (problem, table, control, progress) that return what
# learn_model() does.
CRITERIA <- list(
  evidence = function(problem, table, control, progress) {
    if (selects_basis(problem)) return(learn_rounds(problem, table, control, progress))
    c(learn_hyper(problem, table, control, progress), list(problem = problem))
  },
  ivm = function(problem, table, control, progress) {
    learned <- learn_by_phi(problem, table, control, progress)
    c(choose_at(learned$problem, learned$table), learned["record"])
  }
)

# The problem at the table's theta, with its basis where batch EP is to have one.
choose_at <- function(problem, table) {
  if (!selects_basis(problem) || owns_posterior(problem)) {
    return(list(table = table, problem = problem))
  }
  c(list(table = table), select_basis(problem, table, learning = FALSE))
}

# Rounds of (select, learn). Another basis may well be worse, so the best round is kept.
learn_rounds <- function(problem, table, control, progress) {
  best <- NULL
  reached <- numeric()
  spent <- 0L
  for (round in seq_len(control$outer)) {
    choice <- select_basis(problem, table, learning = TRUE)
    from <- if (round > 1L) table$theta[table$free]
    learned <- learn_hyper(choice$problem, table, control, progress, from)
    table <- learned$table
    reached <- c(reached, max(learned$record$objective))
    spent <- spent + learned$record$evaluations
    if (which.max(reached) == round) best <- c(learned, choice["problem"])
  }
  best$record$rounds <- reached
  best$record$evaluations <- spent
  if (owns_posterior(problem)) best$problem <- problem # chosen once more, at what was learned
  best
}

# The run the fit is made of.
final_run <- function(problem, learned) {
  theta <- learned$table$theta
  if (owns_posterior(problem)) return(selection_of(problem)$run(problem, theta))
  run <- engine_run(problem, theta, learned$sites, posterior = TRUE)
  run$selection <- problem$record$selection
  before <- problem$record$sweeps
  if (!is.null(before)) {
    run$exchanges <- c(exchanges(before), numeric(ncol(run$trace)))
    run$sweeps <- run$sweeps + ncol(before)
    run$trace <- cbind(before[c("log_evidence", "change"), , drop = FALSE], run$trace)
  }
  if (is.list(problem$basis)) run$basis <- problem$x[problem$chosen, , drop = FALSE]
  else if (!is.null(problem$basis)) run$basis <- problem$basis
  in_order <- if (problem$processes == 1L && !is.null(run$order)) problem$chosen[run$order]
              else problem$chosen
  run[c("basis_rows", "basis_rows_of")] <- list(in_order, problem$chosen_of)
  run
}
