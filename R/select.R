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
  all <- nrow(problem$x) * problem$latents
  list(problem = problem, sites = if (length(run$tau) == all) run[c("tau", "nu")])
}

# Nothing was chosen.
stop_empty <- function(run) {
  if (identical(run$stop, match("min_gain", STOPS) - 1L)) {
    stop_sparsegp("method", "has a min_gain that no row reaches at these hyperparameters",
                  "Lower method_ivm(min_gain =)")
  }
  stop_sparsegp("kernel", paste("is zero at every row, or the likelihood would have every row",
                                "widen the posterior, so that no row can carry the others"),
                "Leave constant inputs out, add kernel_constant(), or start from other values")
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
  in_order <- if (problem$latents == 1L && !is.null(run$order)) problem$chosen[run$order]
              else problem$chosen
  run[c("basis_rows", "basis_rows_of")] <- list(in_order, problem$chosen_of)
  run
}

# ---- Sparse EP: the posterior of the sweeps ----

# Points that joined the basis, by sweep.
exchanges <- function(trace) trace["exchanged", ] + trace["added", ]

# The thesis to the letter. Evidence and jitter are those of batch EP on the final basis, with
# moments matched.
sweeping_run <- function(problem, theta) {
  method <- problem$method
  run <- engine_sparse(problem, theta, method$freeze, method$sweeps)
  if (run$status != 0L) return(run)
  rows <- as.integer(run$id)
  from <- if (is.null(problem$basis)) problem$x else problem$basis
  run$basis <- from[rows, , drop = FALSE]
  run$basis_rows <- if (is.null(problem$basis)) rows else problem$chosen[rows]
  latent <- engine_latent(problem, theta, run, problem$x)
  problem$basis <- run$basis
  batch <- engine_run(problem, theta, run[c("tau", "nu")])
  sweeps <- ncol(run$trace)
  flat <- if (run$narrow) sum(engine_tilt(problem, theta, run$cav_mean, run$cav_var)$d2 > 0) else 0L
  c(run[setdiff(names(run), "trace")], latent, list(
    logz = batch$logz, jitter = 0, sweeps = sweeps, change = last_change(run),
    converged = last_change(run) <= method$tol, damped = 0L, sequential = sweeps,
    skipped = sum(run$trace["skipped", ]), flat = flat, exchanges = exchanges(run$trace),
    trace = run$trace[c("log_evidence", "change"), , drop = FALSE]
  ))
}

# ---- The informative vector machine ----

STOPS <- c("size", "min_gain", "no row left")

# Inclusion by inclusion: what was gained, and the log evidence after it, or with several latent
# functions whose active set the row joined.
inclusions <- function(run) {
  several <- length(run$each) > 1L
  count <- stats::ave(seq_along(run$sequence), run$sequence, FUN = seq_along)
  at <- function(field) {
    if (!several) return(run[[field]])
    mapply(function(class, k) run$each[[class]][[field]][k], run$sequence, count)
  }
  trace <- data.frame(size = seq_along(at("id")), row = as.integer(at("id")), gain = at("gain"))
  if (several) trace$class <- run$sequence else trace$log_evidence <- run$logz
  list(stopped = STOPS[run$stop + 1L], exchanged = run$exchanged, trace = trace)
}

# The rows of one basis for all latent functions, or of one for each. A latent function of which no
# row says anything gets the first point of the others: its posterior is the prior then.
chosen_by_ivm <- function(problem, run) {
  if (problem$latents == 1L || run$status != 0L) return(run)
  ids <- lapply(run$each, function(active) as.integer(active$id))
  all <- unique(inclusions(run)$trace$row)
  if (problem$method$common) {
    run$id <- all
    return(run)
  }
  if (length(all)) run$ids <- lapply(ids, function(rows) if (length(rows)) rows else all[1L])
  run
}

# The posterior of the active rows alone: their sites set once, each at its inclusion, or refined by
# full EP on these rows. The other rows are predicted.
active_run <- function(problem, theta) {
  run <- engine_ivm(problem, theta)
  if (run$status != 0L) return(run)
  if (problem$latents > 1L) return(active_classes(problem, theta, run))
  chosen <- inclusions(run)
  rows <- chosen$trace$row
  refined <- problem$method$refine == "active" && length(rows) > 0L
  if (refined) run <- refine_active(problem, theta, run, rows)
  if (run$status != 0L) return(run)
  if (!refined) run$basis <- problem$x[rows, , drop = FALSE]
  latent <- engine_latent(problem, theta, run, problem$x)
  all <- (if (refined) refined_rows else all_rows)(problem, theta, run, rows, latent)
  if (!refined && length(rows)) { # over the rows at hand, of which learning knows as well
    all$logz <- engine_phi(problem, theta, active_set(run), gradient = FALSE)$logz
  }
  steps <- if (refined) run[names(SET_ONCE)] else SET_ONCE
  in_order <- if (refined) rows[run$order] else rows
  c(list(status = 0L, basis = run$basis, basis_rows = in_order, alpha = run$alpha, G = run$G,
         H = run$H, jitter = 0, selection = chosen), latent, all, steps)
}

# The same for several latent functions, each with its own active set.
active_classes <- function(problem, theta, run) {
  n <- nrow(problem$x)
  ids <- lapply(run$each, function(active) as.integer(active$id))
  each <- Map(function(active, rows) {
    list(basis = problem$x[rows, , drop = FALSE], alpha = active$alpha, G = active$G, H = NULL)
  }, run$each, ids)
  posterior <- joined_posterior(each, problem$x, ids)
  latent <- engine_latent(problem, theta, posterior, problem$x)
  by_row <- function(field) {
    mapply(function(active, rows) replace(numeric(n), rows, active[[field]]), run$each, ids)
  }
  log_det <- sum(mapply(log_det_active, run$each))
  all <- cavities_of_all(problem, theta, by_row("tau"), by_row("nu"), latent, log_det)
  c(list(status = 0L, jitter = 0, selection = inclusions(run), basis_rows = posterior$rows,
         basis_rows_of = ids), posterior[c("basis", "alpha", "G", "H", "each")], latent, all,
    SET_ONCE)
}

# log|U| of an active set: G = T^1/2 U^-1
log_det_active <- function(active) {
  sum(log(sqrt(active$tau)) - log(diag(as.matrix(active$G))))
}

SET_ONCE <- list(sweeps = 0L, change = 0, converged = TRUE, damped = 0L, sequential = 0L,
                 skipped = 0L, flat = 0L, trace = matrix(0, 2L, 0L))

refine_active <- function(problem, theta, run, rows) {
  few <- problem
  few$x <- problem$x[rows, , drop = FALSE]
  few$rows <- problem$rows[, rows, drop = FALSE]
  few$offset <- problem$offset[rows]
  engine_run(few, theta, run[c("tau", "nu")], posterior = TRUE)
}

# Sites, cavities and the evidence of all rows: those of the sites for the active ones (which need
# not be at a fixed point), the predictive density for the rest.
all_rows <- function(problem, theta, run, rows, latent) {
  n <- nrow(problem$x)
  cavities_of_all(problem, theta, replace(numeric(n), rows, run$tau),
                  replace(numeric(n), rows, run$nu), latent, log_det_active(run))
}

# The same after full EP on the active rows, whose precisions may be 0 or negative.
refined_rows <- function(problem, theta, run, rows, latent) {
  none <- numeric(nrow(problem$x))
  cav_mean <- replace(latent$mean, rows, run$cav_mean)
  cav_var <- replace(latent$var, rows, run$cav_var)
  lpd <- engine_tilt(problem, theta, cav_mean, cav_var)$logz
  list(tau = replace(none, rows, run$tau), nu = replace(none, rows, run$nu), cav_mean = cav_mean,
       cav_var = cav_var, lpd = lpd, logz = run$logz + sum(lpd[-rows]))
}

cavities_of_all <- function(problem, theta, tau, nu, latent, log_det) {
  g <- pmax(1 - tau * latent$var, .Machine$double.eps)
  shift <- nu - tau * latent$mean
  cav_var <- latent$var / g
  cav_mean <- latent$mean - cav_var * shift
  lpd <- engine_tilt(problem, theta, cav_mean, cav_var)$logz
  list(tau = tau, nu = nu, cav_mean = cav_mean, cav_var = cav_var, lpd = lpd,
       logz = sum(lpd) - sum(log(g) + cav_mean * shift) / 2 - log_det)
}
