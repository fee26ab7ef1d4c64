# More rows for a fit, as a user gives them: chunks made as those of its first call were.

more_rows_of_matrix <- function(object, x, y, offset = NULL, weights = NULL, ...) {
  check_no_dots(...)
  if (missing(y)) stop_sparsegp("y", "is missing", "Give one response per row: update(fit, x, y)")
  names <- input_names_of(object)
  if (!is.null(names)) {
    read <- list(terms = NULL, scaling = list(names = names))
    x <- blaming("x", new_inputs_matrix(read, x, NULL)$x)
    colnames(x) <- names
  }
  read <- matrix_chunk(x, y, offset, weights, object$stream$setup$na.action,
                       likelihood_of_rows(object))
  c(read$chunk, list(names = read$names))
}

# A stream whose rows wait may not have its likelihood yet.
likelihood_of_rows <- function(object) {
  if (is_stream(object)) object$stream$setup$likelihood else object$likelihood
}

input_names_of <- function(object) {
  if (is.null(object$scaling)) colnames(object$stream$waiting$x) else object$scaling$names
}

# The model frame of new rows, as the first call made it: same terms and na.action, and the weights'
# expression in the new rows unless weights are given.
more_frame <- function(object, newdata, weights = NULL, ...) {
  check_no_dots(...)
  newdata <- plain_data(newdata, "newdata", object$terms)
  if (!is.data.frame(newdata)) {
    stop_sparsegp("newdata", "must be a data frame", "The model was fitted by a formula")
  }
  refuse_workspace(object$terms, newdata)
  if (is.null(weights)) refuse_workspace_weights(object$call$weights, newdata)
  call <- as.call(c(list(quote(stats::model.frame), formula = object$terms, data = newdata),
                    as.list(object$call)["na.action"[!is.null(object$call$na.action)]]))
  if (takes_unlabelled(likelihood_of_rows(object))) {
    call$na.action <- but_for_labels(eval(call$na.action, environment(object$terms)))
  }
  call$forget <- time_column(object$method)
  call$weights <- if (is.null(weights)) object$call$weights else weights
  frame <- tryCatch({
    frame <- with_missing_numbers(eval(call, environment(object$terms)), object$terms)
    check_classes(object$terms, check_frame_columns(frame))
    frame
  }, error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp("newdata", paste0("does not fit the formula: ", conditionMessage(e)),
                  "It needs the variables of the formula, the response among them")
  })
  check_per_row(stats::model.weights(frame), nrow(frame), "weights", 1, positive = TRUE)
  frame
}

# The chunk that a model frame of new rows makes.
rows_of_frame <- function(object, frame) {
  c(frame_chunk(frame, likelihood_of_rows(object)), list(names = rownames(frame)))
}

more_rows_of_formula <- function(object, newdata, ...) {
  rows_of_frame(object, more_frame(object, newdata, ...))
}

refuse_workspace_weights <- function(expression, newdata) {
  names <- all.vars(expression)
  if (is.null(expression) || length(names) && all(names %in% names(newdata))) return(invisible())
  stop_sparsegp("weights", "are not in the new rows",
                paste("Give them as a column that the first call names, or as",
                      "update(fit, newdata, weights =)"))
}
