# Chunks, rows as they come: list(x, y, offset, weights, time, omitted), where x is a model frame or
# a matrix, and weights and time may be NULL.

chunk_size <- function(chunk) if (is.null(chunk)) 0L else nrow(chunk$x)

chunk_omitted <- function(chunk) {
  if (is.matrix(chunk$x)) chunk$omitted else length(attr(chunk$x, "na.action"))
}

chunk_rows <- function(chunk, rows) {
  list(x = chunk$x[rows, , drop = FALSE], y = some_rows(chunk$y, rows),
       offset = some_rows(chunk$offset, rows), weights = chunk$weights[rows],
       time = chunk$time[rows])
}

check_chunk <- function(chunk, unlabelled) {
  y <- check_response_length(chunk$y, nrow(chunk$x), is.matrix(chunk$y))
  check_no_missing(y = if (!unlabelled) y, offset = chunk$offset, weights = chunk$weights)
  if (any(is.infinite(y))) stop_sparsegp("y", "has values that are not finite")
  if (is.matrix(chunk$x)) check_no_missing(x = check_finite_inputs(chunk$x))
}

bind_chunks <- function(first, second) {
  if (chunk_size(first) == 0L && chunk_size(second) == 0L) return(second)
  if (chunk_size(first) == 0L) return(second)
  mixed <- is.numeric(first$y) != is.numeric(second$y)
  if (mixed && !all(is.na(first$y)) && !all(is.na(second$y))) {
    stop_sparsegp("y", "is not of the type of the rows before")
  }
  rows <- if (is.matrix(first$x)) rbind(first$x, second$x)
          else rbind(as.data.frame(first$x), as.data.frame(second$x))
  list(x = rows, y = bind_responses(first$y, second$y),
       offset = bind_rows(first$offset, second$offset),
       weights = c(first$weights, second$weights), time = c(first$time, second$time))
}

bind_responses <- function(first, second) {
  if (!is.factor(first) && !is.factor(second)) return(bind_rows(first, second))
  if (is.ordered(first)) return(bind_ordered(first, second))
  levels <- union(levels(as.factor(first)), levels(as.factor(second)))
  factor(c(as.character(first), as.character(second)), levels)
}

# Where one of two levels stands that were never seen together nobody knows.
bind_ordered <- function(first, second) {
  new <- setdiff(as.character(second), c(levels(first), NA))
  if (length(new)) {
    stop_sparsegp("y", paste0("has categories that the rows before did not have: ", toString(new)),
                  "Give the ordered factor all its levels in the first rows")
  }
  factor(c(as.character(first), as.character(second)), levels(first), ordered = TRUE)
}
