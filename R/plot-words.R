# Writes what stands on axes.

response_name <- function(object) {
  expression <- if (is.null(object$terms)) object$call$y
                else stats::formula(object$terms)[[2L]]
  if (is.call(expression) && identical(expression[[1L]], quote(I))) expression <- expression[[2L]]
  share <- is.call(expression) && identical(expression[[1L]], quote(cbind))
  if (share) expression <- expression[[2L]] # of successes
  label <- if (is.language(expression)) deparse1(expression) else "y"
  if (nchar(label) > 40L) label <- "y"
  paste0(if (share) "share of ", label)
}

# Returns the name of what is predicted: of two classes the probability of the second.
response_label <- function(object) UseMethod("response_label", codec_of(object))

#' @export
response_label.response <- function(object) response_name(object)

#' @export
response_label.response_labels <- function(object) {
  second <- object$response$levels[2L]
  paste0("P(", response_name(object), if (second != "TRUE") paste(" =", second), ")")
}

# A vector given as `x` has no name but the one in the call.
input_label <- function(object, name) {
  expression <- object$call$x
  unnamed <- is.null(object$terms) && identical(object$scaling$names, "x1")
  label <- if (unnamed && is.language(expression)) deparse1(expression) else name
  if (nchar(label) > 40L) name else label
}
