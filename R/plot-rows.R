# Rows as pictures have them: kept inputs `x` in original units, response, offset, weights, the
# basis unless it is most of the rows, and raw(name), a variable of the data.

rows_of <- function(object, newdata) {
  if (is.null(newdata)) training_rows(object) else new_rows(object, newdata)
}

training_rows <- function(object) {
  at <- if (is.null(object$x)) object$basis_rows else seq_len(NROW(object$y))
  x <- if (is.null(object$x)) inducing_points(object) else kept_inputs(object, object$x)
  refuse_if(length(object$y) == 0L || length(at) == 0L || anyNA(at),
            "newdata", "is needed, as this fit keeps no rows",
            "Give data with the response, the first chunk of a stream for instance")
  object <- checked_rows(object)
  list(x = x, y = some_rows(shown_responses(object), at), offset = some_rows(object$offset, at),
       weights = object$weights[at], basis = marked_basis(object),
       censored = censored_rows(object)[at], raw = function(name) raw_values(object, name)[at])
}

new_rows <- function(object, newdata) {
  given <- new_data_parts(object, newdata)
  new <- new_inputs(object, given$x, given$offset)
  given <- lik_codec(object$likelihood)$gather(given)
  read <- read_more(object, given$y, nrow(new$x), given$weights)
  y <- shown_responses(object, read)
  known <- codec_of(object)$known_means(new$offset, c(nrow(new$x), n_outputs(object)))
  complete <- stats::complete.cases(new$x, known, labelled_rows(y), if (!is.matrix(y)) y)
  if (!any(complete)) stop_incomplete("newdata")
  x <- check_finite_inputs(kept_inputs(object, new$x[complete, , drop = FALSE]), "newdata")
  list(x = x, y = some_rows(y, complete), offset = some_rows(known, complete),
       weights = given$weights[complete], censored = censored_rows(object, read)[complete],
       raw = function(name) as.double(given$x[[name]])[complete], basis = marked_basis(object),
       given = given, responses = some_rows(read, complete), complete = complete)
}

# Returns responses as pictures show them: those of the fit, or new ones `y`.
shown_responses <- function(object, y = NULL) UseMethod("shown_responses", codec_of(object))

#' @export
shown_responses.response <- function(object, y = NULL) y %||% object$y

#' @export
shown_responses.response_mixtures <- function(object, y = NULL) {
  if (is.null(y)) observed_values(object) else codec_of(object)$observed(y)
}

# A time that is censored is drawn where it was.
#' @export
shown_responses.response_times <- function(object, y = NULL) unclass(y %||% object$y)[, 1L]

# Returns symbols of censored times, NA of events, or NULL of other responses: a right censored time
# points up, a left censored one down.
censored_rows <- function(object, y = NULL) UseMethod("censored_rows", codec_of(object))

#' @export
censored_rows.response <- function(object, y = NULL) NULL

#' @export
censored_rows.response_times <- function(object, y = NULL) {
  c(`0` = 24L, `2` = 25L, `3` = 23L)[as.character(time_status(y %||% object$y))]
}

inducing_points <- function(object) unscaled_inputs(object, basis_points_of(object))

# Returns the inducing points that pictures mark; NULL: most rows are, and marks would hide them.
marked_basis <- function(object) {
  if (every_row_in_basis(object)) return(NULL)
  points <- inducing_points(object)
  if (NROW(points) <= object$n / 2) points
}

# Inputs, response and offset of `newdata`, as predict() takes them.
new_data_parts <- function(object, newdata) {
  if (is.null(object$terms)) {
    if (is.list(newdata) && all(c("x", "y") %in% names(newdata))) {
      return(newdata[intersect(names(newdata), c("x", "y", "offset", "weights"))])
    }
    stop_sparsegp("newdata", "must be list(x = , y = )", "The model was fitted to a matrix")
  }
  recipe <- recipe_of(object)
  used <- c("na.action", trials_of(object, "weights"))
  recipe$arguments <- utils::modifyList(recipe$arguments, list(na.action = stats::na.pass))[used]
  frame <- read_frame(recipe, newdata)
  list(x = newdata, y = frame_response(frame), weights = stats::model.weights(frame))
}

# Returns weights that are numbers of trials, or NULL; they are not evaluated unless they are.
trials_of <- function(object, weights) UseMethod("trials_of", codec_of(object))

#' @export
trials_of.response <- function(object, weights) NULL

#' @export
trials_of.response_trials <- function(object, weights) weights

kept_inputs <- function(object, x) {
  x <- x[, object$scaling$kept, drop = FALSE]
  colnames(x) <- plain_names(object)[object$scaling$kept]
  x
}

unscaled_inputs <- function(object, x) {
  x <- unscale_kept(x, object$scaling)
  colnames(x) <- plain_names(object)[object$scaling$kept]
  x
}

# model.matrix() names the column of a variable `a b` with the backticks
plain_names <- function(object) without_backticks(object$scaling$names)

# A variable of the data as it was before terms were made of it, or NULL where it cannot be found.
raw_values <- function(object, name) {
  formula <- stats::formula(object$terms)
  formula[[3L]] <- call("+", formula[[3L]], as.name(name))
  value <- frame_again(object, formula)[[name]]
  if (is.numeric(value) && length(value) == object$n) as.double(value)
}
