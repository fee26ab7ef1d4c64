# Runs of fits that always end: variational inference in the place of EP without a fixed point.

# Stops if a method needs a power and the likelihood has none.
refuse_power <- function(method, problem) {
  if (is.null(method$power) || method$power == 1 || has_powers(problem)) return(invisible())
  stop_sparsegp("method", paste0("has power = ", method$power, ", and a term of the likelihood ",
                                 lik_label(problem$lik), " has several latent values"),
                "Leave `power` at 1, or use a likelihood of one latent value")
}

# Has EP led to what is no approximation of anything? Sweeps that go round the same few sites may
# end where the residual happens to be small, so it has to be smaller than where EP is on its way.
# Fewer sweeps than that, if all of them were used, are no sign of divergence: the user chose them.
is_lost <- function(run, problem) {
  if (run$status != 0L) return(TRUE)
  ended <- run$sweeps >= policy$wandering_sweeps || isTRUE(run$sweeps < problem$options$sweeps)
  wanders <- !run$converged && ended && !isTRUE(run$change <= NEAR / 10)
  wanders || run$impossible
}

# Runs EP for a fit, and where it is lost the limit in its place. run$fallback is then the record:
# what EP came to. A kernel matrix without a factor is no better in the limit, and remains an error.
run_to_end <- function(problem, theta, sites = NULL) {
  run <- engine_run(problem, theta, sites, posterior = TRUE)
  limit <- limit_of(problem)
  if (is.null(limit) || !is_lost(run, problem)) return(run)
  last <- engine_run(limit, theta, posterior = TRUE)
  if (last$status != 0L) return(run)
  refuse_lost_posterior(last, limit, theta)
  last$fallback <- list(power = 0, sweeps = run$sweeps, change = run$change,
                        log_evidence = run$logz,
                        replaced = any(theta_at_limit(limit, theta) != theta))
  last
}

# Stops where the limit's posterior has lost the latent values that the sites are about: with
# precisions as a scale far below the data makes them, predictions would be any numbers, far from
# the fitted ones.
refuse_lost_posterior <- function(run, problem, theta) {
  AGREE <- 0.01 # in units of the responses
  if (is.null(run$basis)) run$basis <- problem$basis # of batch EP
  again <- engine_latent(problem, theta_at_limit(problem, theta), run, problem$x)
  if (isTRUE(all(abs(c(again$mean) - c(run$mean)) <= AGREE * pmax(1, abs(c(run$mean)))))) {
    return(invisible())
  }
  stop_sparsegp("likelihood", paste0("is ", lik_label(problem$lik), ", for which neither EP nor ",
                                     "variational inference finds a fixed point with these rows ",
                                     "and hyperparameters (change ", signif(run$change, 3L), ")"),
                paste("Give hyperparameters nearer to the data, or leave them to be learned: a",
                      "scale far below the distances of the responses from any smooth function has",
                      "a maximum at every response"))
}
