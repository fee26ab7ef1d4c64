# Rows that are read in chunks, time and again, and never all held. A source is a list of class
# sparsegp_source:
#   label   what it is, in words
#   chunks  how many there are; NA: that shows when they are read
#   reader  () -> list(read, close): read(i) gives chunk i, a data frame, or NULL beyond the last.
#           i goes up by one from 1, or where chunks stand `apart` is any of them
#   apart   may any chunk be read by itself, by any process?
#   hold    sites of so many numbers at most are held in memory (fold-sites.R)

new_source <- function(label, chunks, reader, apart, hold) {
  structure(list(label = label, chunks = chunks, reader = reader, apart = apart,
                 hold = check_number(hold, "hold", 0, open = FALSE)),
            class = "sparsegp_source")
}

is_source <- function(data) inherits(data, "sparsegp_source")

# use(i, chunk) for every chunk of a source, or those of `which`, in their order; how many there
# were.
each_chunk <- function(source, use, which = NULL) {
  reader <- source$reader()
  on.exit(reader$close())
  count <- 0L
  for (i in if (is.null(which)) seq_len(.Machine$integer.max) else which) {
    chunk <- if (is.na(source$chunks) || i <= source$chunks) as_chunk(reader$read(i), source, i)
    if (is.null(chunk)) break
    use(i, chunk)
    count <- count + 1L
  }
  count
}

as_chunk <- function(chunk, source, i) {
  if (is.null(chunk) && (is.na(source$chunks) || i > source$chunks)) return(NULL)
  if (is.data.frame(chunk)) return(as.data.frame(chunk))
  stop_sparsegp("data", paste0("is ", source$label, ", whose chunk ", i, " is no data frame"),
                "Every chunk must be a data frame with the variables of the formula")
}

# ---- What tells whether a chunk is still what it was ----

# Of every column of a frame a sum of its values, each times a number of its row, so that rows that
# have changed places show, too.
print_of_rows <- function(frame) {
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

# To rounding, as another machine may have added up
same_rows <- function(one, other) {
  length(one) == length(other) && all(abs(one - other) <= 1e-12 * one[1L] * (1 + abs(one)))
}

has_levels <- function(column) is.factor(column) || is.character(column)
