# Chunks: rows as read_rows() makes them (rows-read.R), in parts and together.

chunk_size <- function(chunk) if (is.null(chunk)) 0L else nrow(chunk$x)

chunk_rows <- function(chunk, rows) {
  list(x = chunk$x[rows, , drop = FALSE], y = some_rows(chunk$y, rows),
       offset = some_rows(chunk$offset, rows), weights = chunk$weights[rows],
       time = chunk$time[rows], names = chunk$names[rows])
}

bind_chunks <- function(first, second) {
  if (chunk_size(first) == 0L) return(second)
  mixed <- is.numeric(first$y) != is.numeric(second$y)
  refuse_if(mixed && !all(is.na(first$y)) && !all(is.na(second$y)),
            "y", "is not of the type of the rows before")
  rows <- if (is.matrix(first$x)) rbind(first$x, second$x)
          else rbind(as.data.frame(first$x), as.data.frame(second$x))
  list(x = rows, y = bind_responses(first$y, second$y),
       offset = bind_rows(first$offset, second$offset),
       weights = c(first$weights, second$weights), time = c(first$time, second$time))
}

# Refuses late levels of an ordered factor, as their place in the order is unknown.
bind_responses <- function(first, second) {
  if (!is.factor(first) && !is.factor(second)) return(bind_rows(first, second))
  levels <- union(levels(as.factor(first)), levels(as.factor(second)))
  if (is.ordered(first)) {
    levels <- levels(first)
    new <- setdiff(as.character(second), c(levels, NA))
    refuse_if(length(new),
              "y", paste0("has categories that the rows before did not have: ", toString(new)),
              "Give the ordered factor all its levels in the first rows")
  }
  factor(c(as.character(first), as.character(second)), levels, ordered = is.ordered(first))
}
