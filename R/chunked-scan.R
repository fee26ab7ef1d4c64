# The first pass over a source: what a data frame would show at once. Its result, a scan:
#   source   with the number of its chunks
#   recipe   how a chunk becomes a model frame (rows-recipe.R)
#   levels   of every variable that has some, see with_levels()
#   prints   of every chunk's frame (data-source.R); rows: how many complete rows each has
#   omitted  rows left out for missing values
#   inputs   moments of the model matrix's columns (data-scaling.R), or NULL
#   response moments of a response of numbers, or NULL
#   rows_kept, kept   numbers of the rows that were kept, and their frame
#   clocks   as clocks_of() has it

# setup: with the coding of factors; keep: rows to be kept; moments: are they wanted?
scan_source <- function(source, recipe, setup, keep, moments = TRUE) {
  scan <- scan_once(source, recipe, setup, keep, moments)
  if (sum(scan$rows) == 0) stop_incomplete("data")
  # columns of chunks that came before a level did lack it
  if (scan$late) scan <- scan_once(source, scan$recipe, setup, keep, moments, scan$levels)
  scan$source$chunks <- length(scan$rows)
  scan$kept <- with_levels(scan$kept, scan$levels)
  scan
}

# known: levels that an earlier pass found.
scan_once <- function(source, recipe, setup, keep, moments, known = NULL) {
  scan <- list(source = source, recipe = recipe, prints = list(), rows = numeric(), omitted = 0,
               late = FALSE, pool = new_pool(keep))
  seen <- list()
  read <- each_chunk(source, function(i, chunk) {
    frame <- read_frame(scan$recipe, chunk)
    if (!inherits(scan$recipe$terms, "terms")) {
      scan$recipe$terms <<- terms_of_frame(frame)
      refuse_data_dependent(attr(frame, "terms"))
      scan$clocks <<- clocks_of(frame)
    }
    scan$omitted <<- scan$omitted + length(attr(frame, "na.action"))
    scan$prints[[i]] <<- print_of_rows(frame)
    scan$rows[i] <<- nrow(frame)
    if (nrow(frame) == 0L) return(invisible())
    scan$recipe$terms <<- learn_classes(scan$recipe$terms, frame)
    before <- levels_of(seen)
    seen <<- more_levels(seen, frame)
    scan$pool <<- pool_rows(scan$pool, frame, sum(scan$rows, na.rm = TRUE) - nrow(frame))
    if (!moments) return(invisible())
    levels <- if (is.null(known)) levels_of(seen) else known
    if (is.null(known) && length(before) && !identical(before, levels)) scan$late <<- TRUE
    if (!scan$late) scan <<- add_moments(scan, with_levels(frame, levels), setup)
  })
  chunks <- if (is.na(source$chunks)) max(0L, read) else source$chunks
  rows <- scan$rows[seq_len(chunks)]
  scan$rows <- replace(rows, is.na(rows), 0) # no row was found in the others
  scan$levels <- levels_of(seen)
  scan[c("kept", "rows_kept")] <- pooled(scan$pool)
  scan$pool <- NULL
  scan
}

# ---- Levels ----

# Adds the levels of one more frame: of each variable that has some those that factors declare, in
# order, and those that were there.
more_levels <- function(seen, frame) {
  for (name in names(Filter(has_levels, frame))) {
    column <- frame[[name]]
    own <- seen[[name]]
    there <- unique(as.character(column[!is.na(column)]))
    declared <- levels(column)
    if (isTRUE(own$ordered) && length(setdiff(declared, own$declared))) {
      stop_sparsegp("data", paste0("has categories of ", name, " that the chunks before did not ",
                                   "have: ", toString(setdiff(declared, own$declared))),
                    "Give the ordered factor all its levels in every chunk")
    }
    seen[[name]] <- list(declared = union(own$declared, declared), there = union(own$there, there),
                         ordered = is.ordered(column))
  }
  seen
}

# Returns levels as a factor of all rows would have them: those of texts in alphabetic order.
levels_of <- function(seen) {
  lapply(seen, function(own) {
    levels <- if (is.null(own$declared)) sort(own$there)
              else c(own$declared[own$declared %in% own$there],
                     sort(setdiff(own$there, own$declared)))
    structure(levels, ordered = own$ordered)
  })
}

# ---- Rows that are kept ----

# The first `size` rows in the order of spread_rows(), whatever their number will be: those for
# which the fractional part of a multiple of the golden ratio is least. Beside them the rows in
# which an input was first seen to vary, `sights`: those are kept that alone show it.
new_pool <- function(size) list(size = size, frames = list(), at = list(), rank = list())

pool_rows <- function(pool, frame, before) {
  at <- before + seq_len(nrow(frame))
  rank <- golden_rank(at)
  y <- frame_response(frame)
  labels <- if (has_levels(y)) as.character(y)
  rank[!is.na(labels) & !labels %in% pool$labels & !duplicated(labels)] <- -1 # is kept
  chosen <- which(rank <= pool_limit(pool))
  pool <- add_rows_to(pool, frame, at, chosen, rank)
  pool$labels <- union(pool$labels, labels)
  pool <- note_sights(pool, frame, at)
  if (sum(lengths(pool$at)) > 2 * pool$size) trimmed(pool) else pool
}

# Appends rows `chosen` of a frame, numbers `at` among all.
add_rows_to <- function(pool, frame, at, chosen, rank = golden_rank(at)) {
  k <- length(pool$at) + 1L
  pool$frames[[k]] <- frame[chosen, , drop = FALSE]
  pool$at[[k]] <- at[chosen]
  pool$rank[[k]] <- rank[chosen]
  pool
}

golden_rank <- function(at) (at * (sqrt(5) - 1) / 2) %% 1

# Notes the first row of each level of an input, and the first with another number than the first of
# all. As many as half of the pool: more could not be kept.
note_sights <- function(pool, frame, at) {
  room <- pool$size %/% 2L - sum(lengths(pool$sights$at))
  if (room < 1L) return(pool)
  rows <- integer()
  inputs <- input_columns(frame)
  for (name in names(inputs)) {
    column <- inputs[[name]]
    seen <- pool$seen[[name]]
    first <- if (is.character(column)) match(setdiff(column, c(seen, NA)), column)
             else if (length(seen) < 2L) which(column != c(seen, column[1L])[1L])[1L]
    rows <- c(rows, first)
    pool$seen[[name]] <- c(seen, if (length(seen) == 0L && is.numeric(column)) column[1L],
                           column[first[!is.na(first)]])
  }
  rows <- utils::head(unique(rows[!is.na(rows)]), room)
  pool$sights <- add_rows_to(pool$sights, frame, at, rows)
  pool
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
  noted <- bound_rows(pool$sights)
  own <- input_columns(bound_rows(pool)$frame)
  shown <- input_columns(noted$frame)
  needed <- Map(function(own, shown) {
    if (is.character(own)) !shown %in% c(own, NA) & !duplicated(shown)
    else all(own == own[1L]) & seq_along(shown) == match(TRUE, shown != own[1L], 0L)
  }, own, shown[names(own)])
  needed <- which(Reduce(`|`, needed, logical(length(noted$at))))
  if (length(needed) == 0L) return(pool)
  trimmed(add_rows_to(pool, noted$frame, noted$at, needed, golden_rank(noted$at) - 1))
}

pool_limit <- function(pool) {
  rank <- unlist(pool$rank)
  if (length(rank) < pool$size) Inf else sort(rank, partial = pool$size)[pool$size]
}

trimmed <- function(pool) {
  least <- pool_limit(pool)
  for (k in seq_along(pool$at)) {
    kept <- pool$rank[[k]] <= least
    pool$frames[[k]] <- pool$frames[[k]][kept, , drop = FALSE]
    pool$at[[k]] <- pool$at[[k]][kept]
    pool$rank[[k]] <- pool$rank[[k]][kept]
  }
  pool
}

# One frame, in the order of the rows, and their numbers.
pooled <- function(pool) {
  pool <- trimmed(pool)
  if (length(pool$frames) == 0L) return(list(NULL, numeric()))
  if (length(unlist(pool$sights$at))) pool <- with_sights(pool)
  all <- bound_rows(pool)
  order <- order(all$at)
  frame <- all$frame[order, , drop = FALSE]
  attr(frame, "row.names") <- seq_along(order)
  list(frame, all$at[order])
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

# ---- Moments ----

# setup: with the coding of factors.
add_moments <- function(scan, frame, setup) {
  lik <- scan$recipe$likelihood
  rows <- frame_rows(with_coding(scan$recipe, frame, setup$coded), frame)
  scan$inputs <- join_moments(scan$inputs, input_moments(rows$x, levels_of_setup(setup)))
  if (!is.numeric(rows$y)) return(scan)
  moments_of <- if (is.null(lik)) moments_of_numbers else lik_codec(lik)$moments
  scan$response <- join_response(scan$response, moments_of(rows))
  scan
}
