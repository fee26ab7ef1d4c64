# The one place that calls C. A problem is everything C needs but hyperparameters:
#   x        n x p double matrix of kept, scaled inputs
#   kernel   resolved specification; lik; rows (q x n); offset (n); method
#   basis    d x p double matrix of scaled inputs, or NULL: every row is in the basis
# theta is the full vector of hyperparameters on C's scale, kernel first.

spec_for_c <- function(kernel) {
  list(type = kernel$type, vars = as.integer(kernel$vars), ard = kernel$ard,
       degree = as.integer(kernel$degree), parts = lapply(kernel$parts, spec_for_c))
}

# One run of the method at theta. sites: list(tau, nu) to start from, NULL for scratch.
engine_run <- function(problem, theta, sites = NULL, gradient = FALSE, posterior = FALSE) {
  n <- nrow(problem$x)
  from_kernel <- seq_len(problem$nkernel)
  if (is.null(sites)) sites <- list(tau = numeric(n), nu = numeric(n))
  method <- problem$method
  options <- list(sweeps = method$sweeps, batch = ceiling(method$sweeps / 2),
                  damping = method$damping, tol = method$tol, gradient = gradient,
                  posterior = posterior)
  if (!is.null(method$batch)) options$batch <- method$batch
  if (is.null(problem$basis)) {
    full_or_advice(n, .Call(
      sg_ep_full, problem$spec, theta[from_kernel], problem$x, problem$lik["type"],
      theta[-from_kernel], problem$rows, problem$offset, sites, options
    ))
  } else {
    .Call(sg_ep_batch, problem$spec, theta[from_kernel], problem$x, problem$lik["type"],
          theta[-from_kernel], problem$rows, problem$offset, sites, options, problem$basis)
  }
}

# Full EP holds n x n matrices; where they do not fit, say what does.
full_or_advice <- function(n, run) {
  tryCatch(run, error = function(e) {
    if (!grepl("cannot allocate", conditionMessage(e), fixed = TRUE)) stop(e)
    stop_sparsegp("x", paste0("has too many rows for full EP: ", n, " rows take about ",
                              ceiling(3 * 8 * n^2 / 2^30), " GiB"),
                  "Give a `basis` of some hundred rows, as in basis = sample(nrow(x), 300)")
  })
}

# The status of a run, in words. Names the hyperparameters, since they are what a user can change.
check_run <- function(run, table) {
  if (run$status == 0L && is.finite(run$logz)) return(run)
  values <- paste(table$name, signif(hyper_value(table), 3), sep = " = ")
  what <- if (run$status == -1L) "made a kernel matrix impossible to factor"
          else "led to numbers that are not finite"
  stop_sparsegp("kernel", paste0(what, " (", toString(values), ")"),
                "Scale the inputs (scale = TRUE), or start from less extreme hyperparameters")
}

engine_predict <- function(fit, x, joint = FALSE) {
  .Call(sg_predict, fit$spec, kernel_theta(fit), fit$posterior, x, joint)
}

engine_lik_predict <- function(fit, mean, var, spread = FALSE) {
  .Call(sg_lik_predict, fit$likelihood["type"], lik_theta(fit), as.double(mean), as.double(var),
        spread)
}

engine_lik_eval <- function(fit, f, rows = NULL) {
  .Call(sg_lik_eval, fit$likelihood["type"], lik_theta(fit), rows, as.double(f))
}

kernel_theta <- function(fit) fit$hyper$theta[fit$hyper$part == "kernel"]

lik_theta <- function(fit) fit$hyper$theta[fit$hyper$part == "likelihood"]

# The likelihood's hyperparameters by name, in C's units.
lik_values <- function(fit) {
  table <- fit$hyper[fit$hyper$part == "likelihood", ]
  stats::setNames(ifelse(table$log, exp(table$theta), table$theta), table$name)
}
