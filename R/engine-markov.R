# The calls of C for a process of one input that is Markov (src/ep_markov.h).

# States of a Markov process, at most: SG_MARKOV_STATES of src/markov_form.h.
MOST_STATES <- 24L

# Returns list(states, harmonics, left_out) of a kernel for C (src/glue_markov.c); the number of
# states does not depend on theta. at: a scaled input where the variance that is left out is looked
# at; NULL: it is not.
markov_form <- function(spec, theta = numeric(count_kernel_hyper(spec)), at = NULL) {
  .Call(sg_markov_states, spec, as.double(theta), at)
}

# Returns the order of the rows of a problem with `states` (plan-markov.R), as C takes them.
order_in_time <- function(problem) {
  if (!problem$states %in% seq_len(MOST_STATES)) {
    stop_sparsegp("kernel", "is that of no Markov process, or of one with too many states",
                  "Use method_ep(size =)")
  }
  order(problem$x[, 1L])
}

# Returns the run with its posterior (posterior-markov.R): the sites themselves, of each latent
# function those of its own.
markov_posterior <- function(problem, run) {
  own <- function(field, class) matrix(run[[field]], ncol = problem$processes)[, class]
  each <- lapply(seq_len(problem$processes), function(class) {
    list(basis = problem$x, alpha = own("alpha", class), G = NULL, H = NULL,
         markov = list(tau = own("tau", class), nu = own("nu", class)))
  })
  if (!is.null(run$trend)) each[[1L]]$trend <- c(problem$mean, run$trend) # of one process
  if (problem$processes == 1L) {
    run[names(each[[1L]])] <- each[[1L]]
    return(run)
  }
  run[c("basis", "alpha")] <- list(problem$x, NULL)
  run$each <- each
  run
}
