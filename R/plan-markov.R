# Markov EP: full EP of one numeric input by a filter and a smoother.

#' @export
plan_for.method_markov <- function(method, problem, basis) {
  refuse_power(method, problem)
  refuse_without_points(basis, "Markov EP", what_forbids_markov(problem))
  problem$options <- method
  if (!is.null(method$window)) problem <- without_mean(problem)
  plan_markov(problem)
}

# Returns the plan of a problem that can have it. problem$states: how many states the process has,
# which makes engine_run() filter and smooth.
plan_markov <- function(problem) {
  problem$basis <- NULL
  problem$states <- markov_form(problem$spec)$states
  new_plan("plan_markov", problem, rows = seq_len(nrow(problem$x)))
}

#' @export
refuse_forbidden.plan_markov <- function(plan) refuse_found(what_forbids_markov(plan$problem))

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

# Learns on all rows. Of very many, a search on some of them comes first, as in the race for
# structure: its starts, and that it is made again, cost little there.
#' @export
learn.plan_markov <- function(plan, table, control, progress, from = NULL) {
  count <- policy$series_rows
  problem <- plan$problem
  first <- NULL
  if (is.null(from) && nrow(problem$x) > count) {
    pilot <- plan
    pilot$problem <- part_of_problem(problem, rows_of_series(problem$x[, 1L], count))
    first <- learn.plan(pilot, table, pilot_control(control), progress)
    from <- first$table$theta[table$free]
    control$within <- policy$search_tolerance
  }
  learned <- learn.plan(plan, table, control, progress, from)
  if (!is.null(first)) learned$record <- with_spent(learned$record, first$record)
  learned
}

# Returns `count` rows of a series with these times: half of them in windows of consecutive rows, as
# noise and a rough function differ from one row to the next alone, and half spread over all, which
# see what is slow. A filter is not slowed by gaps.
rows_of_series <- function(times, count) {
  n <- length(times)
  if (count >= n) return(seq_len(n))
  width <- count %/% (2 * policy$pilot_windows)
  first <- round((n - width) * (seq_len(policy$pilot_windows) - 1 / 2) / policy$pilot_windows)
  near <- outer(seq_len(width), first, `+`)
  sort(order(times)[unique(c(near, spread_rows(n)))[seq_len(count)]])
}

# Warns of a periodic part with finer ripples than there are cosines for.
#' @export
run_plan.plan_markov <- function(plan, theta) {
  run <- NextMethod()
  problem <- plan$problem
  if (run$status != 0L) return(run)
  own <- seq_len(count_kernel_hyper(problem$spec))
  form <- markov_form(problem$spec, theta[own], as.double(problem$x[1L, 1L]))
  if (form$left_out > 1e-3) {
    warn_sparsegp("The periodic part of the kernel has finer ripples than the ", form$harmonics,
                  " cosines that ", MOST_STATES, " states have room for: ",
                  signif(100 * form$left_out, 2L), " % of the variance of the kernel is left out. ",
                  "Use fewer other parts, or a lower bound of its length scale (prior =).")
  }
  run
}
