# Words that messages and pictures share.

counted <- function(n, what) paste0(n, " ", what, if (n != 1L) "s")

percent <- function(level) paste0(format(100 * level, digits = 4L), "%")

nonempty <- function(words) words[nzchar(words)]

# How many rows there are in all: an integer, or a double where there are more than integers.
row_count <- function(...) {
  total <- sum(as.double(c(...)))
  if (total <= .Machine$integer.max) as.integer(total) else total
}

# Returns names of columns, or of variables in a formula, as they are in the data.
without_backticks <- function(names) sub("^`([^`]*)`$", "\\1", names)
