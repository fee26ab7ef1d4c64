# The informative vector machine: its inclusions choose a basis for batch EP, or give the posterior.

#' @export
plan_for.method_ivm <- function(method, problem, basis) {
  problem$options <- method
  shared <- is_coupled(problem$lik, problem$processes) # active sets that could share a total
  refuse_if(!is.null(method$total) && !shared, "method",
            "has a total, which is for several latent functions of one model",
            "Use size = alone, or lik_mprobit() or lik_softmax() for several classes")
  if (problem$processes > 1L) refuse_several(method)
  by_component <- problem_width(problem) > 1L
  if (by_component) refuse_components(method, problem)
  if (!is.null(basis$x)) return(plan_ep(problem, basis))
  if (method$refine != "basis") problem <- without_mean(problem)
  chooses <- c(if (by_component) "plan_locations", "plan_ivm", "plan_choosing")
  plan <- if (method$size < problem_rows(problem)) new_plan(chooses, problem)
          else plan_ep(problem, basis)
  if (method$refine == "basis") return(plan)
  new_plan(c("plan_active", "plan_with_posterior"), problem, evidence = plan)
}

# Refuses what cannot be had with several latent functions.
refuse_several <- function(method) {
  refuse_if(method$refine == "active",
            "method", "has refine = \"active\", which is for one latent function",
            "Use refine = \"basis\" or \"none\"")
  refuse_if(method$exchange > 0, "method", "has exchange moves, which are for one latent function",
            "Use exchange = 0, or method_ep(size =)")
}

# Refuses what cannot be had of responses of several components.
refuse_components <- function(method, problem) {
  refuse_if(method$refine != "basis",
            "method", paste0("has refine = \"", method$refine, "\", which is for one response"),
            "Use refine = \"basis\"")
  refuse_if(is.null(lik_traits(problem$lik)$alone), "method",
            paste0("selects rows by one value at a time, which the ",
                   problem$lik$type, " likelihood does not allow"), "Use method_ep(size = )")
}

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

# The rows of one basis for all latent functions, or of one for each. A latent function on which
# no row has information gets the first point of the others: its posterior is then the prior.
#' @export
choose_basis.plan_ivm <- function(plan, table, learning) {
  problem <- plan$problem
  run <- engine_ivm(problem, table$theta)
  record <- list(selection = if (run$status == 0L) inclusions(run))
  if (problem$processes > 1L && run$status == 0L) {
    ids <- lapply(run$each, function(active) as.integer(active$id))
    all <- unique(record$selection$trace$row)
    if (problem$options$common) run$id <- all
    else if (length(all)) run$ids <- lapply(ids, function(rows) if (length(rows)) rows else all[1L])
  }
  chosen <- plan_chosen(problem, run, table, record)
  chosen$included <- sites_of_vectors(problem, run)
  chosen
}

# Sites of all rows: those that inclusions left, and none of the others.
sites_of_vectors <- function(problem, run) {
  each <- if (is.null(run$each)) list(run) else run$each
  sites <- no_sites(problem)
  for (k in seq_along(each)) {
    at <- (k - 1) * nrow(problem$x) + each[[k]]$id
    sites$tau[at] <- each[[k]]$tau
    sites$nu[at] <- each[[k]]$nu
  }
  sites
}

# Rows have several components: values are included one by one, each under the likelihood of its
# component alone, and the first rows that are included are the basis, with all their components.
#' @export
choose_basis.plan_locations <- function(plan, table, learning) {
  problem <- plan$problem
  w <- problem_width(problem)
  from_kernel <- seq_len(problem$nkernel)
  alone <- lik_traits(problem$lik)$alone(problem$rows, table$theta[-from_kernel])
  there <- which(!is.na(alone$rows[1L, ]))
  values <- problem
  values$options$size <- points_of(problem$options$size, problem)
  values[c("lik", "width")] <- list(alone$lik, 1L)
  values$x <- problem$x[there, , drop = FALSE]
  values$rows <- alone$rows[, there, drop = FALSE]
  values$offset <- problem$offset[there]
  run <- engine_ivm(values, c(table$theta[from_kernel], alone$theta))
  record <- list(selection = if (run$status == 0L) inclusions(run))
  at <- rows_of_points(there[record$selection$trace$row], w)
  record$selection$trace$row <- at
  rows <- utils::head(unique(at), problem$options$size)
  at <- stacked_rows(rows, w)
  plan_chosen(problem, list(status = run$status, logz = run$logz, id = at), table, record)
}

# The posterior of the active rows alone. The other rows are predicted.
#' @export
run_plan.plan_active <- function(plan, theta) {
  problem <- plan$problem
  run <- engine_ivm(problem, theta)
  if (run$status != 0L) return(run)
  chosen <- inclusions(run)
  if (problem$processes > 1L) return(several_active(problem, theta, run, chosen))
  rows <- chosen$trace$row
  refined <- problem$options$refine == "active" && length(rows) > 0L
  (if (refined) refined_active else once_active)(problem, theta, run, rows, chosen)
}

# Returns the run whose sites are set once, each at its inclusion. The evidence is that of the rows
# that learning sees, too.
once_active <- function(problem, theta, run, rows, chosen) {
  posterior <- list(status = 0L, basis = problem$x[rows, , drop = FALSE], alpha = run$alpha,
                    G = run$G, H = run$H)
  latent <- engine_latent(problem, theta, posterior, problem$x)
  none <- numeric(nrow(problem$x))
  all <- cavities_of_all(problem, theta, replace(none, rows, run$tau), replace(none, rows, run$nu),
                         replace(none + 1, rows, left_out(run)), latent, log_det_active(run))
  if (all$status == 0L && length(rows)) {
    all$logz <- engine_phi(problem, theta, active_set(run), gradient = FALSE)$logz
  }
  posterior[names(all)] <- all
  new_run(posterior, basis_rows = rows, selection = chosen)
}

# Their sites refined by full EP on these rows; precisions may be 0 or negative.
refined_active <- function(problem, theta, run, rows, chosen) {
  run <- engine_run(part_of_problem(problem, rows), theta, run[c("tau", "nu")], posterior = TRUE)
  if (run$status != 0L) return(run)
  latent <- engine_latent(problem, theta, run, problem$x)
  none <- numeric(nrow(problem$x))
  cav_mean <- replace(latent$mean, rows, run$cav_mean)
  cav_var <- replace(latent$var, rows, run$cav_var)
  lpd <- engine_tilt(problem, theta, cav_mean, cav_var)$logz
  new_run(run, mean = latent$mean, var = latent$var, tau = replace(none, rows, run$tau),
          nu = replace(none, rows, run$nu), cav_mean = cav_mean, cav_var = cav_var, lpd = lpd,
          logz = run$logz + sum(lpd[-rows]), jitter = 0, basis_rows = rows[run$order],
          selection = chosen)
}

# Several latent functions, each with its own active set; sites set once.
several_active <- function(problem, theta, run, chosen) {
  n <- nrow(problem$x)
  ids <- lapply(run$each, function(active) as.integer(active$id))
  each <- Map(function(active, rows) {
    list(basis = problem$x[rows, , drop = FALSE], alpha = active$alpha, G = active$G, H = NULL)
  }, run$each, ids)
  posterior <- joined_posterior(each, problem$x, ids)
  latent <- engine_latent(problem, theta, posterior, problem$x)
  by_row <- function(of, others = 0) {
    mapply(function(active, rows) replace(rep(others, n), rows, of(active)), run$each, ids)
  }
  log_det <- sum(mapply(log_det_active, run$each))
  all <- cavities_of_all(problem, theta, by_row(function(active) active$tau),
                         by_row(function(active) active$nu), by_row(left_out, 1), latent, log_det)
  new_run(c(posterior[c("basis", "alpha", "G", "H", "each")], all), basis_rows = posterior$rows,
          basis_rows_of = ids, selection = chosen)
}

# log|U| of an active set: G = T^1/2 U^-1
log_det_active <- function(active) {
  sum(log(sqrt(active$tau)) - log(diag(as.matrix(active$G))))
}

# 1 - tau var of the active rows, the cavity's precision as a share of the marginal's: the diagonal
# of (I + T^1/2 K T^1/2)^-1 = U^-1 U^-T, where G = T^1/2 U^-1. A sharp site costs no digits so.
left_out <- function(active) rowSums(as.matrix(active$G)^2) / active$tau

# Sites, cavities and the evidence of all rows: those of the sites for the active ones (which need
# not be at a fixed point), the predictive density for the rest. g: 1 - tau var. A row without a
# cavity is a failure, as it is in C (sites.c).
cavities_of_all <- function(problem, theta, tau, nu, g, latent, log_det) {
  if (!all(g > 0)) return(list(status = catalogue()$statuses[["not_finite"]]))
  shift <- nu - tau * latent$mean
  sharp <- g < 0.5 # there 1 - g has the digits that the variance has lost
  cav_var <- ifelse(sharp, (1 - g) / ifelse(sharp, tau, 1), latent$var) / g
  cav_mean <- latent$mean - cav_var * shift
  lpd <- engine_tilt(problem, theta, cav_mean, cav_var)$logz
  c(list(status = 0L, tau = tau, nu = nu, cav_mean = cav_mean, cav_var = cav_var, lpd = lpd,
         logz = sum(lpd) - sum(log(g) + cav_mean * shift) / 2 - log_det), latent)
}
