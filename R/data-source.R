# Rows that are read in chunks, time and again, and never all held. A source is a list of class
# sparsegp_source:
#   label   what it is, in words
#   chunks  how many there are; NA: that shows when they are read
#   reader  () -> list(read, close): read(i) gives chunk i, a data frame, or NULL beyond the last.
#           i goes up by one from 1, or where chunks stand `apart` is any of them
#   apart   may any chunk be read by itself, by any process?
#   hold    generations of sites of so many numbers at most are held in memory (chunked-sites.R)
#   only    NULL, or names -> a source of the same rows without the columns of other names

new_source <- function(label, chunks, reader, apart, hold, only = NULL) {
  structure(list(label = label, chunks = chunks, reader = reader, apart = apart,
                 hold = if (identical(hold, Inf)) Inf
                        else check_number(hold, "hold", 0, open = FALSE),
                 only = only),
            class = "sparsegp_source")
}

check_source <- function(source, argument = "data") {
  refuse_if(!holds(is_made(source, "sparsegp_source") && is_of_kind(source, source_kinds())),
            argument, "was not made by row_source(), or was changed afterwards", "Create it again")
  source
}

source_kinds <- function() list(
  label = is_text, reader = is.function, apart = is_flag, only = optional(is.function),
  chunks = function(x) identical(x, NA_integer_) || is_one(x, 1, .Machine$integer.max),
  hold = function(x) is_one(x, 0)
)

# Returns a source that need not read columns of other names; NULL: all columns count.
narrowed_to <- function(source, names) {
  if (is.null(names) || is.null(source$only)) source else source$only(names)
}

# A source without a number of chunks ends with NULL, or after this many consecutive chunks without
# rows: readers such as DBI::dbFetch() return such chunks for ever.
MOST_EMPTY <- 100L

# Calls use(i, chunk) for every chunk of a source that has rows, or those of `which`, in their
# order; returns their numbers.
each_chunk <- function(source, use, which = NULL) {
  chunks <- open_chunks(source, which)
  on.exit(chunks$close())
  used <- integer()
  while (!is.null(found <- chunks$read())) {
    use(found$i, found$chunk)
    used <- c(used, found$i)
  }
  used
}

# read() returns the next chunk that has rows, as list(i, chunk), or NULL after the last.
open_chunks <- function(source, which = NULL) {
  reader <- source$reader()
  at <- 0L
  read <- function() {
    empty <- 0L
    while (empty < MOST_EMPTY || !is.na(source$chunks)) {
      at <<- at + 1L
      i <- if (is.null(which)) at else which[at]
      chunk <- if (!is.na(i) && !isTRUE(i > source$chunks)) as_chunk(reader$read(i), source, i)
      if (is.null(chunk)) break
      if (nrow(chunk)) return(list(i = i, chunk = chunk))
      empty <- empty + 1L
    }
  }
  list(read = read, close = reader$close)
}

as_chunk <- function(chunk, source, i) {
  if (is.null(chunk) && (is.na(source$chunks) || i > source$chunks)) return(NULL)
  if (is.data.frame(chunk)) return(as.data.frame(chunk))
  stop_sparsegp("data", paste0("is ", source$label, ", whose chunk ", i, " is not a data frame"),
                "Every chunk must be a data frame with the variables of the formula")
}

# ---- Has a chunk changed since? ----

# A record of the chunks that were read has the print of each at its number; NULL: it had no rows.

# Compares the print of chunk i with that of an earlier read.
check_chunk_again <- function(source, prints, i, print) {
  first <- if (i <= length(prints)) prints[[i]]
  if (!is_same_print(first, print)) stop_changed(source, i)
}

# Bytes are the same or not. Sums are so to rounding, as another machine may have added up.
is_same_print <- function(first, print) {
  sums <- first$sums
  identical(first$bytes, print$bytes) && length(sums) == length(print$sums) &&
    all(abs(sums - print$sums) <= 1e-12 * sums[1L] * (1 + abs(sums)))
}

# Checks that all chunks of an earlier read were there, where `seen` are the numbers of those.
check_all_again <- function(source, prints, seen) {
  lacking <- setdiff(which(lengths(prints) > 0L), seen)
  if (length(lacking)) stop_changed(source, lacking[1L])
}

stop_changed <- function(source, i) {
  stop_sparsegp("data", paste0("is ", source$label, ", whose chunk ", i, " is not what it was when",
                               " it was read first"),
                paste("Every read must find the same rows in the same order: give a query an",
                      "ORDER BY, do not write to it meanwhile, and resume a checkpoint with the",
                      "rows that it is of"))
}

# Returns the print of a chunk: of its columns that the formula and the arguments read the digest of
# all bytes in their order, and of the model frame, which is computed, sums.
print_of_chunk <- function(recipe, chunk, frame) {
  read <- unique(c(all.vars(recipe$terms), unlist(lapply(recipe$arguments, all_names))))
  columns <- if ("." %in% read) names(chunk) else intersect(names(chunk), read)
  list(sums = sums_of_rows(frame), bytes = digest_of(as.list(chunk)[columns]))
}

# Returns the same of rows that are held.
print_of_rows <- function(frame) {
  list(sums = sums_of_rows(frame), bytes = digest_of(as.list(frame)))
}

# Names that an argument of a call reads.
all_names <- function(argument) if (is.language(argument)) all.vars(argument)

# Returns for every column the sum of its values, each times a number of its row, so rows that
# have changed places show, too.
sums_of_rows <- function(frame) {
  rows <- sin(seq_len(nrow(frame)))
  c(nrow(frame), unlist(lapply(as.list(frame), column_print, rows), use.names = FALSE))
}

column_print <- function(column, rows) {
  if (is.matrix(column)) {
    return(vapply(seq_len(ncol(column)), function(j) column_print(column[, j], rows), 0))
  }
  if (!has_levels(column)) {
    numbers <- as.double(unclass(column))
    if (!anyNA(numbers)) return(drop(crossprod(rows, numbers)))
    known <- !is.na(numbers)
    return(sum(rows[known] * numbers[known]) + sum(rows[!known]))
  }
  known <- !is.na(column)
  text <- as.character(column)
  words <- unique(text[known])
  value <- vapply(words, function(word) {
    code <- utf8ToInt(enc2utf8(word))
    sum(code * cos(seq_along(code)))
  }, 0)
  sum(rows[known] * value[match(text[known], words)]) + sum(rows[!known])
}
