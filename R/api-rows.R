# From the arguments of a call to a chunk of rows.

# The part of the call that model.frame() understands, evaluated where the user called. Known
# variances of the likelihood go along as weights, rows without a label only where it takes them.
model_frame <- function(call, env, drop = TRUE, likelihood = NULL) {
  refuse_two_weights(likelihood, !is.null(call$weights))
  keep <- match(c("formula", "data", "subset", "weights", "na.action"), names(call), 0L)
  call <- call[c(1L, keep)]
  call$drop.unused.levels <- drop
  if (has_variances(likelihood)) call$weights <- weights_of_variances(likelihood)
  if (takes_unlabelled(likelihood)) call$na.action <- but_for_labels(eval(call$na.action, env))
  call[[1L]] <- quote(stats::model.frame)
  frame <- tryCatch(eval(call, env), error = function(e) {
    if (has_variances(likelihood) && grepl("(weights)", conditionMessage(e), fixed = TRUE)) {
      call$weights <- call$subset <- NULL
      call$na.action <- quote(stats::na.pass)
      refuse_wrong_count(likelihood$variances, nrow(eval(call, env)))
    }
    stop_sparsegp("formula", paste0("and data do not make a model frame: ", conditionMessage(e)),
                  "Check the variables in `formula`, `data`, `subset` and `weights`")
  })
  check_per_row(stats::model.weights(frame), nrow(frame), "weights", 1, positive = TRUE)
  frame
}

# Rows as they come: inputs (a model frame, or a matrix), response, offset, weights.
frame_chunk <- function(frame, likelihood) {
  gathered(list(x = frame, y = stats::model.response(frame, "any"),
                offset = check_per_row(stats::model.offset(frame), nrow(frame), "offset", 0),
                weights = stats::model.weights(frame)), likelihood)
}

# A matrix of inputs and what goes with it as a chunk of rows: without those `na.action` leaves out.
matrix_chunk <- function(x, y, offset, weights, na.action, likelihood) {
  x <- check_inputs(x)
  n <- nrow(x)
  if (is.null(y)) stop_sparsegp("y", "is missing", "Give one response per row of `x`")
  whole <- gathered(list(y = y, weights = weights), likelihood)
  weights <- whole$weights
  y <- check_response_length(whole$y, n)
  offset <- check_per_row(offset, n, "offset", 0)
  weights <- if (!is.null(weights)) check_per_row(weights, n, "weights", 1, positive = TRUE)
  frame <- data.frame(x = I(x), offset = offset)
  if (!takes_unlabelled(likelihood)) frame$y <- I(y)
  frame$weights <- weights
  omitted <- attr(apply_na_action(frame, na.action), "na.action")
  rows <- if (is.null(omitted)) seq_len(n) else seq_len(n)[-omitted]
  list(chunk = list(x = if (is.null(omitted)) x else x[rows, , drop = FALSE], # no needless copy
                    y = y[rows], offset = offset[rows], weights = weights[rows],
                    omitted = length(omitted)),
       given = n, rows = rows, omitted = omitted,
       names = if (is.null(rownames(x))) as.character(rows) else rownames(x)[rows])
}
