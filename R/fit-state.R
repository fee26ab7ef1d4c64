# Fits on a basis as sums over their rows: the factor R of the basis and for every process S = sum
# tau v v' and t = sum nu v (state.h), a list of them in fit$state, one for each basis. Sums of rows
# seen apart add up, and rows may go on being added.

has_state <- function(fit) !is.null(fit$state)

takes_rows <- function(fit) is_stream(fit) || has_state(fit)

# Are the inputs of all rows that the fit has seen still there? Not those of copies of rows.
keeps_inputs <- function(fit) {
  !is.null(fit[["x"]]) && nrow(fit[["x"]]) == fit$n && is.null(fit$copies)
}

# The points of each of the bases.
bases_of <- function(fit) {
  each <- fit$posterior$each
  if (is.null(each)) list(fit$posterior$basis) else lapply(each, `[[`, "basis")
}

# The same bases without any row.
no_rows_state <- function(state) {
  lapply(state, function(one) list(R = one$R, S = 0 * one$S, t = 0 * one$t))
}

add_states <- function(f, g) {
  Map(function(a, b) list(R = a$R, S = a$S + b$S, t = a$t + b$t), f, g)
}

# (mean of z, log|A|) of every process, A'A = I + S: list of matrices with a column for each.
state_moments <- function(one) {
  d <- nrow(one$R)
  each <- lapply(seq_len(ncol(one$t)), function(c) {
    A <- chol(diag(d) + one$S[, (c - 1L) * d + seq_len(d), drop = FALSE])
    list(mean = backsolve(A, backsolve(A, one$t[, c], transpose = TRUE)),
         log_det = sum(log(diag(A))))
  })
  list(mean = matrix(vapply(each, `[[`, numeric(d), "mean"), d),
       log_det = sum(vapply(each, `[[`, 0, "log_det")))
}

# log of the integral of N(z; 0, I) exp(-z'S z / 2 + t'z) over all processes: t'M t / 2 - log|A|.
state_mass <- function(state) {
  sum(vapply(state, function(one) {
    moments <- state_moments(one)
    sum(one$t * moments$mean) / 2 - moments$log_det
  }, 0))
}

# t_before'(mean after) / 2: what C's sum over new rows lacks of their evidence where rows before
# them stand (ep_loop.h: base), but for state_mass(before).
state_pull <- function(before, after) {
  sum(unlist(Map(function(b, a) sum(b$t * state_moments(a)$mean) / 2, before, after)))
}

# The fit without its rows.
without_rows <- function(fit, keep_x) {
  keeps <- if (is.null(keep_x)) length(fit$scaling$names) <= 2L else check_flag(keep_x, "keep_x")
  fit$state <- no_rows_state(fit$state)
  fit$n <- 0L
  fit["x"] <- list(if (keeps) {
    matrix(0, 0L, length(fit$scaling$names), dimnames = list(NULL, fit$scaling$names))
  })
  fit["basis_rows"] <- fit["basis_rows_of"] <- list(NULL) # they are not rows of this fit
  fit$copies <- NULL
  fit
}

# The posterior that belongs to the state.
with_posterior <- function(fit) {
  stored <- lapply(fit$state, state_posterior)
  if (is.null(fit$posterior$each)) fit$posterior[c("alpha", "G", "H")] <- stored[[1L]]
  else fit$posterior$each <- Map(function(each, new) utils::modifyList(each, new),
                                 fit$posterior$each, stored)
  fit
}

# ---- More rows ----

# EP of the rows of `problem` on the fit's bases. sites: where to begin; base: states of rows that
# are not among them.
run_on_state <- function(fit, problem, sites = NULL, base = NULL) {
  each <- fit$posterior$each
  problem$basis <- if (is.null(each)) fit$posterior$basis else bases_of(fit)
  problem["base"] <- list(base)
  problem$method <- batch_settings(fit$method)
  run <- check_run(engine_run(problem, fit$hyper$theta, sites, posterior = TRUE), fit$hyper)
  if (is.null(base)) refuse_impossible(run, fit$likelihood, problem_rows(problem))
  warn_about(run, NULL, fit$likelihood)
  new_run(run)
}

# The fit with more rows: inputs x, as the user has them and `problem` has them scaled; response,
# offset, weights, names; sites to begin with. Where the inputs of all rows are there EP goes on
# with all of them, and what it finds is the fit of all rows on this basis at these hyperparameters.
# Where they are not, the sites of the rows before stand, and nothing is known of these rows any
# more.
take_more <- function(fit, problem, rows) {
  all <- keeps_inputs(fit)
  again <- all && fit$n > 0
  before <- if (!all && fit$n > 0) fit$state
  joint <- if (again) join_problems(problem_of_kept_rows(fit), problem) else problem
  sites <- if (again) join_sites(fit, rows$sites, problem) else rows$sites
  run <- run_on_state(fit, joint, sites, before)
  new <- fit
  new$n <- row_count(fit$n, problem_rows(problem))
  new$state <- run$state
  new$posterior[c("alpha", "G", "H")] <- run[c("alpha", "G", "H")]
  new$posterior["each"] <- list(run$each)
  own <- run$logz - unit_shift(fit, rows$y)
  new$log_evidence <- if (is.null(before)) own - if (again) unit_shift(fit, fit$y) else 0
                      else fit$log_evidence + own + state_pull(before, run$state) -
                        state_mass(before)
  new$convergence <- convergence_of(run, new$log_evidence - run$logz, n_outputs(fit))
  note_rows(new, fit, rows, problem, run, all)
}

# Builds the problem of the rows that a fit has kept.
problem_of_kept_rows <- function(fit) {
  fit <- checked_rows(fit)
  problem_of_new_rows(fit, fit[["x"]], fit$data_rows, fit$offset)
}

# Builds the problem of more rows for a fit; x: inputs in the user's units.
problem_of_new_rows <- function(fit, x, data_rows, offset, ...) {
  new_problem(model_of_fit(fit), points_of_rows(x, fit), data_rows, offset, fit$method, ...)
}

# Returns what new_problem() asks of a model, from a fit.
model_of_fit <- function(fit) {
  list(lik = fit$likelihood, spec = fit$spec, nkernel = sum(fit$hyper$part == "kernel"),
       response = fit$response)
}

# What C sees of responses that read_more() has read.
data_rows_of <- function(fit, y, weights) {
  weights <- weights_or_ones(weights, NROW(y))
  lik_traits(fit$likelihood)$data_rows(codec_of(fit)$codes(y, fit$response), weights)
}

join_problems <- function(first, second) {
  first$x <- rbind(first$x, second$x)
  first$rows <- cbind(first$rows, second$rows)
  first$offset <- c(first$offset, second$offset)
  first
}

# Sites of the fit's rows, and of new ones: given, or saying nothing. Processes are columns.
join_sites <- function(fit, given, problem) {
  if (is.null(given)) given <- no_sites(problem)
  join <- function(field) {
    rbind(matrix(fit$sites[[field]], ncol = processes(fit)),
          matrix(given[[field]], ncol = processes(fit)))
  }
  list(tau = c(join("tau")), nu = c(join("nu")))
}

ROW_FIELDS <- c("y", "data_rows", "offset", "weights", "latent", "cavity", "sites", "row_names")

# What a fit keeps of its rows, with those of the run; of none where not all of them are in it.
note_rows <- function(new, fit, rows, problem, run, all) {
  new$modes <- NULL # more rows may tell which it is
  if (!all && fit$n > 0) {
    new[c(ROW_FIELDS, "x", "na.action")] <- list(NULL)
    return(new)
  }
  old <- fit[ROW_FIELDS]
  if (fit$n == 0) old[] <- list(NULL)
  new$y <- if (is.null(old$y)) rows$y else bind_responses(old$y, rows$y)
  new$data_rows <- cbind(old$data_rows, problem$rows)
  new$offset <- bind_rows(old$offset, rows$offset)
  new["weights"] <- list(c(old$weights, rows$weights))
  new$row_names <- make.unique(c(old$row_names, rows$names))
  new["na.action"] <- list(NULL) # rows that were left out have no place among these
  new <- keep_moments(new, run)
  new["x"] <- list(if (all) rbind(fit[["x"]], rows$x))
  new
}
