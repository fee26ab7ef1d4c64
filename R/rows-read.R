# Reads rows by a recipe (rows-recipe.R). Rows are a list, a chunk (rows-chunks.R):
#   x        inputs, a matrix; of a recipe that is not coded yet a model frame
#   y, weights, time   unless the recipe is for inputs alone; NULL where there are none
#   offset   one number a row, or a matrix
#   names    of the rows
#   omitted  as na.action leaves it: rows left out, or NULL

read_rows <- function(recipe, data, ...) UseMethod("read_rows")

#' @export
read_rows.formula_recipe <- function(recipe, data, offset = NULL, weights = NULL, ...) {
  check_no_dots(...)
  refuse_if(!is.null(offset), "offset", "is part of the formula", "Put it into `newdata`")
  if (!is.null(weights)) {
    recipe$arguments$weights <- more_weights(recipe$likelihood, weights, NROW(data))
  }
  frame <- read_frame(recipe, data)
  c(frame_rows(recipe, frame), list(names = rownames(frame)))
}

#' @export
read_rows.matrix_recipe <- function(recipe, data, y = NULL, offset = NULL, weights = NULL, ...) {
  check_no_dots(...)
  x <- named_inputs(data, recipe$names, recipe$argument)
  n <- nrow(x)
  rows <- list(x = x, offset = check_offset(offset, n),
               names = if (is.null(rownames(x))) as.character(seq_len(n)) else rownames(x))
  if (!recipe$response) return(rows)
  if (is.null(y)) stop_sparsegp("y", "is missing", "Give one response per row of `x`")
  weights <- more_weights(recipe$likelihood, plain_weights(weights, recipe$likelihood), n)
  codec <- lik_codec(recipe$likelihood)
  rows <- codec$gather(c(rows, list(y = plain_column(y, "y"), weights = weights)))
  rows$y <- check_response_length(rows$y, n, codec$dims)
  if (!is.null(weights)) rows$weights <- check_frame_weights(rows$weights, n, zero = TRUE)
  rows <- complete_rows(rows, recipe)
  check_whole_inputs(rows$x, "x")
  check_rows(rows, codec)
}

# Returns the rows that na.action leaves.
complete_rows <- function(rows, recipe) {
  frame <- data.frame(x = I(rows$x), offset = I(rows$offset))
  frame$y <- if (lik_codec(recipe$likelihood)$missing) labelled_rows(rows$y) else I(rows$y)
  frame$weights <- rows$weights
  left <- without_weightless(apply_na_action(frame, recipe$na.action), rows$weights, nrow(frame))
  omitted <- attr(left, "na.action")
  rows$names <- make.unique(rows$names) # as answers are data frames
  if (is.matrix(rows$weights)) rows$weights <- listed_weights(rows$weights)
  if (!is.null(omitted)) rows <- chunk_rows(rows, seq_along(rows$names)[-omitted])
  rows["omitted"] <- list(omitted)
  rows
}

# Makes rows of a model frame.
frame_rows <- function(recipe, frame) {
  rows <- list(x = frame, offset = check_offset(frame_offset(frame), nrow(frame)))
  if (recipe$response) {
    time <- if (!is.null(recipe$arguments$clock)) times_of_frame(recipe, frame)
    weights <- stats::model.weights(frame)
    if (is.matrix(weights)) weights <- listed_weights(weights)
    rows <- c(rows, list(y = frame_response(frame), weights = weights, time = time,
                         omitted = attr(frame, "na.action")))
    codec <- lik_codec(recipe$likelihood)
    rows <- check_rows(codec$gather(rows), codec)
  }
  if (recipe$coded) code_rows(recipe, rows) else rows
}

# Makes the matrix of inputs of rows whose inputs are a model frame. With responses it is an error
# if one is missing, or if a factor has a level that is not the recipe's and that it does not learn:
# `xlevels` of the rows are the levels with these. Without responses such rows are missing, with a
# warning, unless the factor takes any level, or is a number and the level has a place in its order.
code_rows <- function(recipe, rows) {
  if (is.null(recipe$terms)) return(rows)
  if (length(recipe$xlevels)) rows$x <- with_known_levels(recipe, rows$x)
  xlevels <- attr(rows$x, "xlevels")
  if (recipe$response) rows$xlevels <- xlevels
  rows$x <- model_inputs(recipe$terms, rows$x, recipe$contrasts, xlevels)$x
  if (!is.null(recipe$names) && !identical(colnames(rows$x), recipe$names)) {
    # the file of the fit was changed
    stop_sparsegp("object", paste0("was changed after it was fitted: its terms make the inputs ",
                                   toString(colnames(rows$x)), ", and its inputs were ",
                                   toString(recipe$names)), "Fit again")
  }
  if (recipe$response) check_whole_inputs(rows$x, recipe$argument)
  rows
}

# Returns the frame of rows with the levels of factors that the recipe has, see with_fit_levels().
with_known_levels <- function(recipe, x) {
  takes <- if (recipe$response) recipe$learns else recipe$any_level
  coded <- coded_by_number(recipe$contrasts)
  by_place <- if (!recipe$response) setdiff(coded, coded_by_level(recipe$contrasts))
  frame <- with_fit_levels(x, recipe$xlevels, takes, coded, by_place)
  unseen <- attr(frame, "unseen")
  refuse_if(recipe$response && length(unseen), recipe$argument, paste("has", unseen_words(unseen)),
            paste("Fit again with rows of all levels; a stream needs them among its first",
                  "rows, method_online(pilot =)"))
  signal_unseen(unseen, "warning")
  if (!recipe$response) {
    signal_unseen(attr(frame, "placed"), "place")
    signal_taken(attr(frame, "taken"), c(recipe$learns, by_place), single_levels(recipe$xlevels))
  }
  frame
}

# Checks the response and what goes with it; returns the rows, a response of one column as a vector.
check_rows <- function(rows, codec) {
  rows$y <- check_response_length(rows$y, nrow(rows$x), codec$dims)
  one <- !inherits(codec, c("response_components", "response_coupled"))
  refuse_if(one && NCOL(rows$offset) > 1L, "offset", "has several columns",
            "Give one number per row")
  check_no_missing(y = if (!codec$missing) rows$y, offset = rows$offset, weights = rows$weights)
  if (any(is.infinite(rows$y))) stop_not_finite("y")
  rows
}

# Reads the rows of a data frame. Returns list(recipe, rows, setup, clocks), recipe and setup with
# what these rows show.
first_rows <- function(recipe, data, setup) {
  frame <- read_frame(recipe, data)
  if (NROW(frame) == 0L && !setup$streams) refuse_empty(recipe, data)
  setup <- setup_for_frame(setup, frame)
  recipe["likelihood"] <- list(setup$likelihood)
  recipe$terms <- terms_of_frame(frame)
  rows <- c(frame_rows(recipe, frame), list(names = rownames(frame)))
  clocks <- clocks_of(frame)
  setup$clocks <- names(clocks)
  list(recipe = recipe, rows = rows, setup = setup, clocks = clocks)
}

# ---- New rows of a fit ----

# Returns inputs (columns as at the fit, not scaled), offsets and row names of new data. Rows with
# levels that the fit has not seen have missing inputs.
new_inputs <- function(object, newdata, offset = NULL) {
  read_rows(without_response(recipe_of(object)), newdata, offset = offset)
}

# Returns scaled inputs of the rows of new data without missing values, and what restore_rows()
# wants.
complete_inputs <- function(object, newdata, offset = NULL) {
  new <- new_inputs(object, newdata, offset)
  w <- n_outputs(object)
  known <- codec_of(object)$known_means(new$offset, c(nrow(new$x), w))
  if (length(object$scaling$dropped) || length(object$stream$constant)) {
    signal_constant(object, new$x)
  }
  complete <- stats::complete.cases(new$x, known)
  x <- check_finite_inputs(new$x[complete, , drop = FALSE], "newdata")
  rows <- list(x = stack_components(scaled_inputs(x, object$scaling), w),
               offset = some_rows(known, complete), complete = complete, names = new$names,
               na = NULL)
  if (has_constants(object$likelihood)) rows$weights <- constants_in(object, newdata)[complete]
  rows
}

# Returns the model frame of the rows of a fit's first call, or NULL where they are not there any
# longer. formula: another one of the same rows.
frame_again <- function(fit, formula = stats::formula(fit$terms)) {
  env <- environment(fit$terms)
  tryCatch(read_frame(new_recipe(formula, fit$call, env, fit$likelihood, drop = TRUE),
                      eval(fit$call$data, env)), error = function(e) NULL)
}
