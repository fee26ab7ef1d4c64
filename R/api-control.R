# How a fit is computed, kept and shown, apart from the model: gp_control().

#' How a fit is computed
#'
#' `gp_control()` collects the arguments of [sparsegp()] that do not describe the model:
#' `sparsegp(y ~ x, data, control = gp_control(effort = "quick"))`.
#'
#' Until version 0.6.0 these were arguments of [sparsegp()] itself. They still work there and in
#' [update()][update.sparsegp], where each replaces the one in `control`; a message, once a session,
#' shows what to write instead.
#'
#' @param effort Computational budget for large data: `"quick"`, `"normal"` or `"thorough"`; each
#'   level allows eight times the work of the previous one.
#' @param integrate Are hyperparameters integrated out? `"none"`, or the rule: `"ccd"`, `"laplace"`,
#'   `"grid"` or `"mcmc"`, see [integration]. `NULL`: in default fits of few rows, if it widens
#'   intervals by more than 3 %.
#' @param keep_x Keep the inputs in the fit? `TRUE`, `FALSE`, or `NULL`: of up to 10^6 numbers, or
#'   two columns, and always if the posterior needs all rows, as full EP does; never for streams.
#' @param checkpoint For a source of rows ([row_source()]): the name of a file in which the fit
#'   saves its progress, see [sparsegp()], "Checkpoints". `NULL`: it is not saved.
#' @param verbose Show progress? A line with the stage of the fit in an interactive session, where it
#'   appears after five seconds anyway; otherwise a line for each evaluation.
#' @return A list of class `sparsegp_control` with these elements. Errors are of class
#'   `sparsegp_error`: any other value.
#' @seealso [learn_control()] on how hyperparameters are learned.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars, control = gp_control(integrate = "ccd"))
#' predict(fit, data.frame(speed = 10), interval = "prediction")
#' update(fit, control = gp_control(integrate = "none"))
#' @export
gp_control <- function(effort = "normal", integrate = NULL, keep_x = NULL, checkpoint = NULL,
                       verbose = FALSE) {
  if (!is.null(keep_x)) check_flag(keep_x, "keep_x")
  if (!is.null(checkpoint)) check_checkpoint(checkpoint)
  structure(class = "sparsegp_control",
            list(effort = check_choice(effort, names(EFFORT), "effort"),
                 integrate = check_integrate(integrate), keep_x = keep_x,
                 checkpoint = checkpoint, verbose = check_flag(verbose, "verbose")))
}

#' @export
print.sparsegp_control <- function(x, ...) {
  values <- vapply(unclass(x), function(value) paste(deparse(value), collapse = " "), "")
  cat("gp_control(", paste(names(values), "=", values, collapse = ", "), ")\n", sep = "")
  invisible(x)
}

# Returns the control with the arguments of sparsegp() of earlier versions, which are among `...`;
# anything else there is an error.
full_control <- function(control, ...) {
  older <- list(...)
  do.call(check_no_dots, older[!is_setting(older)])
  with_older(control, ...)
}

# The same, without a look at anything else.
with_older <- function(control, ...) {
  check_class(control, "sparsegp_control", "control", "Give gp_control()")
  older <- list(...)
  older <- older[is_setting(older)]
  if (length(older) == 0L) return(control)
  names <- names(older)
  tell_once(names, "sparsegp()", paste0("control = gp_control(",
                                        paste(names, "= ...", collapse = ", "), ")"))
  values <- unclass(control)
  values[names(older)] <- older
  do.call(gp_control, values)
}

is_setting <- function(arguments) {
  names <- names(arguments) %||% character(length(arguments))
  names %in% names(formals(gp_control))
}

# Shows, once a session for each function, what to write in place of arguments of earlier versions.
tell_once <- function(names, of, now) {
  if (of %in% REGISTRY$told) return(invisible())
  REGISTRY$told <- c(REGISTRY$told, of)
  message("Write ", now, ": ", toString(names), if (length(names) > 1L) " are" else " is",
          " deprecated as an argument of ", of, ".")
}
