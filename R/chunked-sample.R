# Rows of a source that are kept to learn from, found by one pass over chunks or by several over
# shares of them. A pool is a list of
#   size     how many rows are to be kept; n: of how many it is
#   frames, at, rank, label   lists, an element for each part of the rows: their frame, their
#            numbers among the n; the rank of each, the least are kept; and the label of which it is
#            the first row, or NA: such rows are kept before all others
#   labels   of the response, all that were seen
#   sights   list(key, at, frame, rows): what inputs have shown, `key`, and the number of the row
#            that did so first: a level, or of numbers that another one came than the first of all.
#            `frame` has these rows and the first of all, numbers `rows`
# Which rows are kept depends on their numbers alone, not on chunks or on how pools are joined: rows
# spread evenly, or of a series `block` consecutive ones at a time.

new_pool <- function(size) list(size = size, n = 0)

# Returns the ranks of rows with these numbers, by which spread_rows() orders them.
golden_rank <- function(at) (at * (sqrt(5) - 1) / 2) %% 1

# Returns the pool of a frame with rows, all of them, to be joined to another. before: how many rows
# the source has before them
pool_of_frame <- function(frame, before, block = 1) {
  at <- seq_len(nrow(frame))
  y <- frame_response(frame)
  labels <- if (has_levels(y)) as.character(y) else rep(NA_character_, nrow(frame))
  list(n = nrow(frame), frames = list(frame), at = list(at),
       rank = list(golden_rank(ceiling((before + at) / block))),
       label = list(replace(labels, duplicated(labels), NA)),
       labels = unique(labels[!is.na(labels)]), sights = sights_of_frame(frame, at))
}

# Returns a pool of rows, and of the rows that follow.
join_pools <- function(one, other) {
  limit <- pool_limit(one)
  for (k in seq_along(other$frames)) {
    label <- other$label[[k]]
    label[label %in% one$labels] <- NA
    chosen <- which(ranked(other$rank[[k]], label) <= limit)
    one <- add_rows_to(one, other$frames[[k]], one$n + other$at[[k]], other$rank[[k]], label,
                       chosen)
  }
  one$labels <- union(one$labels, other$labels)
  one$sights <- join_sights(one$sights, other$sights, one$n, one$size %/% 2L)
  one$n <- one$n + other$n
  if (sum(lengths(one$at)) > 2 * one$size) trimmed(one) else one
}

# Appends rows `chosen` of a frame.
add_rows_to <- function(pool, frame, at, rank, label, chosen) {
  k <- length(pool$at) + 1L
  pool$frames[[k]] <- frame[chosen, , drop = FALSE]
  pool$at[[k]] <- at[chosen]
  pool$rank[[k]] <- rank[chosen]
  pool$label[[k]] <- label[chosen]
  pool
}

ranked <- function(rank, label) replace(rank, !is.na(label), -1)

pool_limit <- function(pool) {
  if (sum(lengths(pool$rank)) < pool$size) return(Inf)
  rank <- ranked(unlist(pool$rank), unlist(pool$label))
  if (length(rank) < pool$size) Inf else sort(rank, partial = pool$size)[pool$size]
}

trimmed <- function(pool) {
  least <- pool_limit(pool)
  for (k in seq_along(pool$at)) {
    kept <- ranked(pool$rank[[k]], pool$label[[k]]) <= least
    pool$frames[[k]] <- pool$frames[[k]][kept, , drop = FALSE]
    pool$at[[k]] <- pool$at[[k]][kept]
    pool$rank[[k]] <- pool$rank[[k]][kept]
    pool$label[[k]] <- pool$label[[k]][kept]
  }
  pool
}

# Returns the pool in one part.
whole_pool <- function(pool) {
  if (length(pool$frames) == 0L) return(pool)
  pool <- trimmed(pool)
  bound <- bound_rows(pool)
  pool[c("frames", "at")] <- list(list(bound$frame), list(bound$at))
  pool[c("rank", "label")] <- lapply(pool[c("rank", "label")], function(each) list(unlist(each)))
  pool
}

pool_with_terms <- function(pool, terms) {
  if (length(pool$frames) == 0L) return(pool)
  attr(pool$frames[[1L]], "terms") <- attr(pool$sights$frame, "terms") <- terms
  pool
}

# Returns one frame, in the order of the rows, and their numbers.
pooled <- function(pool) {
  all <- bound_rows(with_sights(trimmed(pool)))
  order <- order(all$at)
  frame <- all$frame[order, , drop = FALSE]
  attr(frame, "row.names") <- seq_along(order)
  list(frame = frame, at = all$at[order])
}

# Frames of chunks below one another.
bound_rows <- function(parts) {
  frames <- parts$frames
  columns <- lapply(stats::setNames(nm = names(frames[[1L]])), function(name) {
    parts <- lapply(frames, `[[`, name)
    if (is.matrix(parts[[1L]])) return(do.call(rbind, parts))
    if (!has_levels(parts[[1L]])) return(do.call(c, parts))
    unlist(lapply(parts, as.character))
  })
  at <- unlist(parts$at)
  frame <- structure(columns, row.names = seq_along(at), class = "data.frame")
  attr(frame, "terms") <- attr(frames[[1L]], "terms")
  list(frame = frame, at = at)
}

# ---- What inputs have shown ----

sights_of_frame <- function(frame, at) {
  each <- lapply(input_columns(frame), function(column) {
    if (is.character(column)) {
      values <- setdiff(column, NA)
      return(stats::setNames(match(values, column), values))
    }
    other <- if (isTRUE(column[2L] != column[1L])) 2L else match(TRUE, column != column[1L])
    c(number = other)[!is.na(other)]
  })
  list(key = key_of_sights(rep(names(each), lengths(each)), unlist(lapply(each, names))),
       at = unlist(each, use.names = FALSE), frame = frame, rows = at)
}

key_of_sights <- function(name, value) paste(name, value, sep = "\r", recycle0 = TRUE)

# Returns the sights of rows and of those that follow, from number `before` on: as many as there is
# room for, since more could not be kept.
join_sights <- function(one, other, before, room) {
  if (!is.null(one)) other <- seen_after(one, other)
  known <- !other$key %in% one$key
  new <- which(known)[order(other$at[known])]
  new <- utils::head(new, room - length(one$key))
  rows <- unique(c(if (is.null(one)) other$rows[1L], other$at[new]))
  if (length(rows) == 0L) return(one)
  frame <- other$frame[match(rows, other$rows), , drop = FALSE]
  bound <- bound_rows(list(frames = c(list(one$frame)[!is.null(one)], list(frame)),
                           at = list(one$rows, before + rows)))
  list(key = c(one$key, other$key[new]), at = c(one$at, before + other$at[new]),
       frame = bound$frame, rows = bound$at)
}

# Returns later sights as they are after others: a number that differs from the first of all may be
# the first of the later rows.
seen_after <- function(one, other) {
  first <- input_columns(one$frame[1L, , drop = FALSE])
  later <- input_columns(other$frame[1L, , drop = FALSE])
  differs <- vapply(names(first), function(name) {
    is.numeric(first[[name]]) && isTRUE(first[[name]] != later[[name]])
  }, NA)
  moved <- key_of_sights(names(first)[differs], "number")
  stays <- !other$key %in% moved
  other$at <- c(rep(other$rows[1L], length(moved)), other$at[stays])
  other$key <- c(moved, other$key[stays])
  other
}

# Returns the inputs of a frame that are one column: numbers, or levels as text.
input_columns <- function(frame) {
  columns <- Filter(function(column) is.null(dim(column)), used_inputs(attr(frame, "terms"), frame))
  lapply(columns, function(column) {
    if (has_levels(column) || is.logical(column)) as.character(column) else as.double(column)
  })
}

# Puts those sights into the pool, in place of its last rows, that show what its own rows do not.
with_sights <- function(pool) {
  sights <- pool$sights
  own <- input_columns(bound_rows(pool)$frame)
  shown <- input_columns(sights$frame)
  needed <- Map(function(own, shown) {
    if (is.character(own)) !shown %in% c(own, NA) & !duplicated(shown)
    else all(own == own[1L]) & seq_along(shown) == match(TRUE, shown != own[1L], 0L)
  }, own, shown[names(own)])
  needed <- which(Reduce(`|`, needed, logical(length(sights$rows))))
  if (length(needed) == 0L) return(pool)
  none <- rep(NA_character_, length(sights$rows))
  trimmed(add_rows_to(pool, sights$frame, sights$rows, golden_rank(sights$rows) - 1, none, needed))
}
