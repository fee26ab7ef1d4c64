# From the arguments of a call to a chunk of rows.

# The part of the call that model.frame() understands, evaluated where the user called. Known
# variances of the likelihood go along as weights, rows without a label only where it takes them.
model_frame <- function(call, env, drop = TRUE, likelihood = NULL) {
  if (!is.null(call$data)) call$data <- data_given(call, env)
  refuse_two_weights(likelihood, !is.null(call$weights))
  keep <- match(c("formula", "data", "subset", "weights", "na.action", "forget"), names(call), 0L)
  call <- call[c(1L, keep)]
  call$drop.unused.levels <- drop
  if (has_variances(likelihood)) call$weights <- weights_of_variances(likelihood)
  let_through <- "na.action" %in% names(call) && is.null(call$na.action)
  if (!let_through) call$na.action <- na_action_for(eval(call$na.action, env), likelihood)
  call[[1L]] <- quote(stats::model.frame)
  frame <- tryCatch(eval(call, env), error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    if (has_variances(likelihood) && grepl("(weights)", conditionMessage(e), fixed = TRUE)) {
      call$weights <- call$subset <- NULL
      call$na.action <- quote(stats::na.pass)
      refuse_wrong_count(likelihood$variances, nrow(eval(call, env)))
    }
    stop_sparsegp("formula", paste0("and data do not make a model frame: ", conditionMessage(e)),
                  "Check the variables in `formula`, `data`, `subset` and `weights`")
  })
  check_per_row(stats::model.weights(frame), nrow(frame), "weights", 1, positive = TRUE)
  note_variables(frame, call$data)
}

# Returns the data that a call names, with plain columns; in the units of the call's terms, where
# these are a fit's.
data_given <- function(call, env) {
  plain_data(evaluated_data(eval(call$data, env)),
             terms = if (inherits(call$formula, "terms")) call$formula)
}

# Evaluates the argument `data`; an error becomes one in words.
evaluated_data <- function(data) {
  tryCatch(data, error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp("data", paste0("cannot be had: ", conditionMessage(e)), "Give a data frame")
  })
}

# Where the response may be missing that is no reason to leave a row out, nor is a component that is
# missing. Which of them it is shows when the response is there.
na_action_for <- function(given, likelihood) {
  force(given)
  function(frame) {
    lik <- meant_by(likelihood, frame_response(frame))
    if (takes_unlabelled(lik)) but_for_labels(given)(frame) else apply_na_action(frame, given)
  }
}

# Rows as they come: inputs (a model frame, or a matrix), response, offset, weights.
frame_chunk <- function(frame, likelihood) {
  gathered(list(x = frame, y = frame_response(frame),
                offset = check_offset(frame_offset(frame), nrow(frame)),
                weights = stats::model.weights(frame), time = frame_times(frame)), likelihood)
}

# How old rows are, where a stream forgets by a column.
frame_times <- function(frame) {
  time <- frame[["(forget)"]]
  if (is.null(time)) return(NULL)
  time <- as.double(unclass(time))
  if (all(is.finite(time))) return(time)
  stop_sparsegp("forget", "names a column with values that are not finite")
}

# A matrix of inputs and what goes with it as a chunk of rows: without those `na.action` leaves out.
matrix_chunk <- function(x, y, offset, weights, na.action, likelihood) {
  x <- check_inputs(x)
  y <- plain_column(y, "y")
  n <- nrow(x)
  if (is.null(y)) stop_sparsegp("y", "is missing", "Give one response per row of `x`")
  whole <- gathered(list(y = y, weights = weights, offset = check_offset(offset, n)), likelihood)
  weights <- whole$weights
  y <- check_response_length(whole$y, n, !is.null(likelihood) && lik_codec(likelihood)$multi_output)
  offset <- whole$offset
  weights <- if (!is.null(weights)) check_per_row(weights, n, "weights", 1, positive = TRUE)
  frame <- data.frame(x = I(x), offset = I(offset))
  frame$y <- if (takes_unlabelled(likelihood)) told_rows(y) else I(y)
  frame$weights <- weights
  omitted <- attr(apply_na_action(frame, na.action), "na.action")
  rows <- if (is.null(omitted)) seq_len(n) else seq_len(n)[-omitted]
  list(chunk = list(x = if (is.null(omitted)) x else x[rows, , drop = FALSE], # no needless copy
                    y = some_rows(y, rows), offset = some_rows(offset, rows),
                    weights = weights[rows],
                    omitted = length(omitted)),
       given = n, rows = rows, omitted = omitted,
       columns = if (length(rows) == 0L) c(as.list(as.data.frame(x)), list(y = y)),
       # answers are data frames, whose rows have names of their own
       names = if (is.null(rownames(x))) as.character(rows) else make.unique(rownames(x)[rows]))
}

# The likelihood and the kernel that are meant, once the response is there.
with_meaning <- function(setup, y, weights) {
  lik <- meant_by(setup$likelihood, y, weights)
  setup["likelihood"] <- list(lik)
  codec <- if (!is.null(lik)) lik_codec(lik)
  if (is.null(codec$offset_matrix)) return(setup)
  # mean and spread of one response know nothing of each other unless somebody says so
  if (is.null(setup$kernel)) setup$kernel <- kernel_coregion(rank = if (!codec$multi_output) 0)
  else refuse_blind(setup$kernel)
  setup
}
