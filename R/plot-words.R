# Writes what stands on axes.

response_name <- function(object) {
  expression <- if (is.null(object$terms)) object$call$y
                else stats::formula(object$terms)[[2L]]
  if (is.call(expression) && identical(expression[[1L]], quote(I))) expression <- expression[[2L]]
  share <- is.call(expression) && identical(expression[[1L]], quote(cbind))
  if (share) expression <- expression[[2L]] # of successes
  label <- if (is.language(expression)) deparse1(expression) else "y"
  if (nchar(label) > 40L) label <- "y"
  paste0(if (share) "proportion of ", label)
}

# Returns the name of what is predicted: of two classes the probability of the second.
response_label <- function(object) UseMethod("response_label", codec_of(object))

#' @export
response_label.response <- function(object) {
  name <- response_name(object)
  title_in(object, name) %||% name
}

# Returns what the axis of a variable says if the variable has a label or a unit (data-columns.R),
# or NULL. name: of a variable; expressions of variables have none.
title_in <- function(object, name) {
  titles <- attr(object$terms, "titles")
  if (name %in% names(titles)) titles[[name]]
}

# The variable of the times in Surv(); of Surv(entry, time, status) the second.
#' @export
response_label.response_times <- function(object) {
  response <- if (!is.null(object$terms)) stats::formula(object$terms)[[2L]]
  of_surv <- is.call(response) && grepl("(^|::)Surv$", deparse1(response[[1L]]))
  if (!of_surv) return(NextMethod())
  given <- as.list(response)[-1L]
  late <- length(given) == 3L && !"type" %in% names(given)
  name <- deparse1(if (late) given$time2 %||% given[[2L]] else given[[1L]])
  title_in(object, name) %||% name
}

#' @export
response_label.response_labels <- function(object) {
  second <- object$response$levels[2L]
  paste0("P(", response_name(object), if (second != "TRUE") paste(" =", second), ")")
}

# A vector given as `x` has no name but the one in the call.
input_label <- function(object, name) {
  title <- title_in(object, name)
  if (!is.null(title)) return(title)
  expression <- object$call$x
  unnamed <- is.null(object$terms) && identical(object$scaling$names, "x1")
  label <- if (unnamed && is.language(expression)) deparse1(expression) else name
  if (nchar(label) > 40L) name else label
}
