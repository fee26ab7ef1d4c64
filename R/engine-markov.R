# The calls of C for a process of one input that is Markov (src/ep_markov.h).

# States of a Markov process, at most: SG_MARKOV_STATES of src/markov_form.h.
MOST_STATES <- 24L

# Returns list(states, harmonics, left_out) of a kernel for C (src/glue_markov.c); the number of
# states does not depend on theta. at: a scaled input where the variance that is left out is looked
# at; NULL: it is not.
markov_form <- function(spec, theta = numeric(count_kernel_hyper(spec)), at = NULL) {
  .Call(sg_markov_states, spec, as.double(theta), at)
}

# Returns why a problem has no Markov EP: list(argument, problem, remedy), or NULL.
what_forbids_markov <- function(problem) {
  use_ep <- "Leave `method` out, or use method_ep(size =)"
  why <- function(argument, what, remedy) list(argument = argument, what = what, remedy = remedy)
  lik <- problem$lik
  if (problem_width(problem) > 1L) {
    return(why("method", "is for a response of one component", use_ep))
  }
  if (is_coupled(lik, problem$processes)) {
    return(why("likelihood", paste0("is ", lik_label(lik), ", which has several latent functions ",
                                    "at once, and Markov EP is for one"), use_ep))
  }
  if (is_modal(lik)) {
    return(why("likelihood", paste0("is ", lik_label(lik), ", whose posterior has several modes, ",
                                    "and Markov EP finds one"), use_ep))
  }
  if (ncol(problem$x) != 1L) {
    return(why("method", paste("is for one numeric input, and there are", ncol(problem$x)),
               "Leave `method` out, or give a formula with the time alone"))
  }
  if (reads_any_levels(problem$spec)) {
    return(why("method", "is for one numeric input, and the kernel reads levels of a factor",
               use_ep))
  }
  form <- markov_form(problem$spec)
  if (form$states == 0L) {
    return(why("kernel", "is not that of a Markov process of one numeric input",
               paste("Use sums of kernel_matern12(), kernel_matern32(), kernel_matern52(),",
                     "kernel_linear(), kernel_constant() and kernel_periodic(), and products of",
                     "a Matern kernel with one of the others; kernel_matern52() or a sum of two",
                     "Matern kernels stands for kernel_rbf()")))
  }
  if (form$states > MOST_STATES) {
    why("kernel", paste0("needs ", form$states, " states, and there may be ", MOST_STATES),
        "Leave parts out, or lower the degree of kernel_poly() or k0 of kernel_trig()")
  }
}

# Returns a function of theta and a start that runs EP of a problem with `states` (plan-markov.R).
# problem$from: of each process the state it begins with (fit-window.R), or NULL. call_c: that of
# caller_of()
markov_entry <- function(problem, call_c, options) {
  if (!problem$states %in% seq_len(MOST_STATES)) {
    stop_sparsegp("kernel", "is not that of a Markov process, or has too many states",
                  "Use method_ep(size =)")
  }
  options$order <- order(problem$x[, 1L])
  options["from"] <- list(problem$from)
  function(theta, start, basis) {
    run <- call_c(sg_markov, theta, start, options)
    if (is.null(problem$from) || run$status != 0L) return(run)
    lacks <- sum(run$alpha * means_from(problem, theta)) / 2 # src/ep_markov.h
    run$logz <- run$logz + lacks
    run$trace[1L, ] <- run$trace[1L, ] + lacks
    run
  }
}

# Returns the means at a problem's rows that its states alone give, a column for each process.
means_from <- function(problem, theta) {
  processes <- problem$processes
  vapply(seq_len(processes), function(class) {
    own <- class_kernel_theta(theta, problem$lik, processes, class)
    none <- list(basis = problem$x[0L, , drop = FALSE],
                 markov = list(tau = numeric(), nu = numeric(), from = problem$from[[class]]))
    markov_moments(problem$spec, own[seq_len(count_kernel_hyper(problem$spec))], none,
                   problem$x)$mean
  }, numeric(nrow(problem$x)))
}

# Returns the state of a process behind all rows x, whose sites are list(tau, nu, from):
# list(t, m, P), its moments at the last time; NULL if these sites have no posterior.
markov_end <- function(spec, theta, x, sites) {
  found <- .Call(sg_markov_end, spec, theta, unname(x), sites, order(x[, 1L]))
  if (found$status == 0L) found[c("t", "m", "P")]
}

# Returns the run with its posterior (posterior-sites.R): the sites themselves, of each latent
# function those of its own.
markov_posterior <- function(problem, run) {
  own <- function(field, class) matrix(run[[field]], ncol = problem$processes)[, class]
  each <- lapply(seq_len(problem$processes), function(class) {
    list(basis = problem$x, alpha = own("alpha", class), G = NULL, H = NULL,
         markov = c(list(tau = own("tau", class), nu = own("nu", class)),
                    if (!is.null(problem$from)) list(from = problem$from[[class]])))
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
