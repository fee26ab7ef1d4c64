# Values of methods: what a user's choice of one is, and what is asked of it.

new_method <- function(type, label = NULL, settings = NULL) {
  structure(c(list(type = type, label = label), settings),
            class = c(paste0("method_", type), "sparsegp_method"))
}

#' @export
print.sparsegp_method <- function(x, ...) {
  settings <- x[setdiff(names(x), c("type", "label"))]
  cat("<method> ", x$label, " (", toString(paste(names(settings), settings, sep = " = ")), ")\n",
      sep = "")
  invisible(x)
}

# Does it take rows as they come?
streams <- function(method) UseMethod("streams")

#' @export
streams.sparsegp_method <- function(method) FALSE

#' @export
streams.method_online <- function(method) TRUE

# The method where the user gives no method: a strategy chooses (strategy.R).
open_method <- function(effort) {
  new_method("default", "the default",
             list(effort = check_choice(effort, names(EFFORT), "effort")))
}

# Methods without one are for the usual effort.
effort_of <- function(method) method$effort %||% "normal"

# Was no method given?
leaves_open <- function(method) inherits(method, "method_default")

# Names the criteria by which its hyperparameters can be learned, see learn_control()
criteria <- function(method) UseMethod("criteria")

#' @export
criteria.sparsegp_method <- function(method) "evidence"

#' @export
criteria.method_ivm <- function(method) c("evidence", "ivm")
