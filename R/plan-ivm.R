# The informative vector machine.

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
  list(stopped = stop_of(run), exchanged = run$exchanged, trace = trace)
}

# The rows of one basis for all latent functions, or of one for each. A latent function of which no
# row says anything gets the first point of the others: its posterior is the prior then.
chosen_by_ivm <- function(problem, run) {
  if (problem$processes == 1L || run$status != 0L) return(run)
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
  if (problem$processes > 1L) return(active_classes(problem, theta, run))
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
