# Power EP: EP with a power of each likelihood term, and what is done where EP finds no fixed point.
#
# A power p of a term leaves its cavity, is in its tilt, and 1 / p of the result is its site (Minka
# 2004). p = 1 is EP; in the limit p = 0 the posterior is the normal distribution of least
# Kullback-Leibler divergence from it, and log Z a lower bound of the log evidence. A bound has a
# maximum, and each step raises it (ep_loop.c): the limit always ends, with a log evidence that
# responses can have.

# Can the terms be raised to a power? Their quadratures are over one latent value.
has_powers <- function(problem) {
  known <- catalogue()$likelihoods[[problem$lik$type]]
  problem_width(problem) == 1L && !known$classes
}

check_power <- function(power) {
  LEAST <- 0.01 # digits of a tilt are divided by the power
  power <- check_number(power, "power", 0, 1, open = FALSE)
  if (power > 0 && power < LEAST) {
    stop_sparsegp("power", paste("must be 0, the limit, or from", LEAST, "to 1"))
  }
  power
}

# Stops where a method wants a power and the likelihood has none.
refuse_power <- function(method, problem) {
  if (is.null(method$power) || method$power == 1 || has_powers(problem)) return(invisible())
  stop_sparsegp("method", paste0("has power = ", method$power, ", and a term of the likelihood ",
                                 lik_label(problem$lik), " has several latent values"),
                "Leave `power` at 1, or use a likelihood of one latent value")
}

variational <- function(problem) {
  problem$options$power <- 0
  problem
}

# Returns theta for the limit, in which no label is impossible: a label noise of 0 is replaced by the
# least that is not (`least` of lik_code()).
theta_at_limit <- function(problem, theta) {
  least <- lik_traits(problem$lik)$least
  if (is.null(least) || !identical(as.double(problem$options$power), 0)) return(theta)
  replace(theta, theta == -Inf, least)
}

# Has EP led to what is no approximation of anything? Sweeps that go round the same few sites may
# end where the residual happens to be small, so it has to be smaller than where EP is on its way.
is_lost <- function(run, problem) {
  run$status != 0L || !isTRUE(run$converged) && !isTRUE(run$change <= NEAR / 10) ||
    is_impossible(problem$lik, run$logz, problem_rows(problem))
}

# Is there a limit to go to, where EP is not there already, nor exact?
has_limit <- function(problem) {
  has_powers(problem) && !lik_traits(problem$lik)$exact &&
    !identical(as.double(problem$options$power), 0)
}

# Runs EP for a fit, and where it is lost the limit in its place. run$fallback is then the record:
# what EP came to. A kernel matrix without a factor is no better in the limit, and remains an error.
run_to_end <- function(problem, theta, sites = NULL) {
  run <- engine_run(problem, theta, sites, posterior = TRUE)
  if (!has_limit(problem) || !is_lost(run, problem)) return(run)
  limit <- engine_run(variational(problem), theta, posterior = TRUE)
  if (limit$status != 0L) return(run)
  replaced <- theta_at_limit(variational(problem), theta)
  limit$fallback <- list(power = 0, sweeps = run$sweeps, change = run$change,
                         log_evidence = run$logz, replaced = any(replaced != theta))
  limit
}
