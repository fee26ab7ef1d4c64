#' Choose which rows of a stream to label
#'
#' @description Rows arrive one after the other, and a budget limits the number of labels. `ask()`
#' decides for each row whether to label it: rows whose score of [next_rows()] is above a threshold.
#' The threshold rises with each labelled row and falls with each skipped row, so the proportion of
#' labelled rows meets the budget however scores change: they fall as the fit improves and rise if
#' rows come from new places.
#'
#' *Experimental: arguments may change in a minor version, see [stability].*
#'
#' @details
#' Let \eqn{b}{b} be the distance between the bounds of the logarithm of the threshold; after
#' \eqn{t} rows the proportion labelled is within \eqn{b / (\eta t)} of the budget, with
#' \eqn{\eta}{eta} the step (0.2). The threshold starts at the quantile of the first rows that
#' corresponds to the budget, and for a single row at its own score, so the first row is labelled.
#' Rows of one call are chosen jointly, as in [next_rows()]: a chosen row makes its neighbours less
#' informative.
#'
#' Labelled rows are not a random sample of the stream. Their frequencies differ from those of the
#' stream; estimate errors on other rows.
#'
#' @inheritParams next_rows
#' @param newdata The new rows, as for [predict][predict.sparsegp], without responses. Rows with
#'   missing values are skipped, and do not count.
#' @param budget A proportion of rows in (0, 1); or a total number of labels, a whole number, with
#'   `rows`.
#' @param rows Total number of rows, if `budget` is a number of labels: the remaining labels are
#'   spread over the remaining rows, and never exceeded.
#' @param after The result of `ask()` for the rows before; `NULL` for the first.
#' @param score `"information"`, `"variance"` or `"entropy"`; not the entropy of numbers, which may
#'   be negative.
#' @return A logical vector, one per row of `newdata`: `newdata[ask(fit, newdata, 0.1), ]` are the
#'   rows to label. Give it as `after` in the next call. Attributes: `score`, of each row given the
#'   chosen rows before it, `NA` for rows with missing values; `state`, the state of the threshold.
#'   Errors are of class `sparsegp_error`.
#' @seealso [next_rows()] for rows that are all available at once; [method_online()] for fits that
#' take
#'   rows as they come.
#' @concept active learning
#' @concept streaming
#' @examples
#' set.seed(1)
#' rows <- data.frame(x = runif(400, -4, 4))
#' truth <- function(x) factor(sin(2 * x) > 0)
#' first <- transform(rows[1:20, , drop = FALSE], y = truth(x))
#' fit <- sparsegp(y ~ x, first, likelihood = "probit", method = method_online(pilot = 20))
#' asked <- NULL
#' for (i in 1:19) {
#'   chunk <- rows[20 * i + 1:20, , drop = FALSE]
#'   asked <- ask(fit, chunk, budget = 0.2, after = asked)
#'   if (any(asked)) fit <- update(fit, transform(chunk[asked, , drop = FALSE], y = truth(x)))
#' }
#' attr(asked, "state")$asked / attr(asked, "state")$seen
#' @export
ask <- function(fit, newdata, budget, rows = NULL, after = NULL,
                score = c("information", "variance", "entropy"), offset = NULL,
                weights = NULL) {
  fit <- one_fit(fit)
  score <- check_choice(score, c("information", "variance", "entropy"), "score")
  check_score(score, fit, costs = TRUE)
  state <- asking_state(after, budget, rows)
  given <- blaming("newdata", candidate_rows(fit, newdata, offset, weights), "candidates")
  lookahead <- lookahead_for(fit, given, score, "min", NULL)
  at <- which(given$complete)
  asked <- rep(FALSE, length(given$complete))
  scores <- rep(NA_real_, length(asked))
  if (is.null(state$threshold) && length(at)) {
    first <- stats::quantile(scores_of(lookahead, score, seq_along(at)), 1 - proportion_left(state),
                             names = FALSE)
    state$threshold <- log(max(first, .Machine$double.xmin))
  }
  for (i in seq_along(at)) {
    scores[at[i]] <- scores_of(lookahead, score, i)
    left <- is.null(state$rows) || state$asked < state$budget
    asked[at[i]] <- left && log(scores[at[i]]) >= state$threshold
    state <- moved_threshold(state, asked[at[i]])
    if (asked[at[i]] && i < length(at)) lookahead <- condition_on(lookahead, i)
  }
  structure(asked, class = "sparsegp_asked", score = scores, state = state)
}

asking_state <- function(after, budget, rows) {
  if (!is.null(after)) check_class(after, "sparsegp_asked", "after", "Give what ask() returned")
  state <- if (is.null(after)) list(seen = 0L, asked = 0L) else attr(after, "state")
  counted <- is.numeric(budget) && length(budget) == 1L && !is.na(budget) && budget >= 1
  state["rows"] <- list(if (counted) rows_of_budget(budget, rows))
  refuse_if(!counted && !is.null(rows), "rows", "are for a budget that is a number of labels",
            "Leave them out")
  state$budget <- if (counted) check_count(budget, "budget")
                  else check_number(budget, "budget", 0, 1)
  state
}

# Returns the number of rows that a budget of labels is for.
rows_of_budget <- function(budget, rows) {
  refuse_if(!is.finite(budget) || budget != round(budget),
            "budget", "is neither a proportion nor a whole number of labels",
            "Give a value in (0, 1), or a whole number with `rows`")
  refuse_if(is.null(rows), "budget", "is a number of labels, and the number of rows is missing",
            "Give the number of all rows as `rows`, or a proportion in (0, 1)")
  rows <- check_count(rows, "rows")
  if (budget <= rows) return(rows)
  stop_sparsegp("budget", paste0("asks for ", budget, " labels from only ", rows, " rows"),
                "Give at most `rows` labels")
}

# Returns the proportion of the rows to come that may be asked for.
proportion_left <- function(state) {
  if (is.null(state$rows)) return(state$budget)
  min(max(state$budget - state$asked, 0) / max(state$rows - state$seen, 1), 1)
}

# Moves the threshold up for a row asked for and down for others, which cancel at the budget.
moved_threshold <- function(state, asked) {
  STEP <- 0.2
  state$threshold <- state$threshold + STEP * (asked - proportion_left(state))
  state$seen <- state$seen + 1L
  state$asked <- state$asked + asked
  state
}

#' @export
print.sparsegp_asked <- function(x, ...) {
  check_no_dots(...)
  state <- attr(x, "state")
  cat("<asked> ", sum(x), " of ", length(x), " rows; so far ", state$asked, " of ", state$seen,
      " for a budget of ", if (is.null(state$rows)) percent(state$budget)
      else paste(state$budget, "labels in", state$rows, "rows"), "\n", sep = "")
  print(as.logical(x))
  invisible(x)
}
