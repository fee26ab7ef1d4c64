# Decides what a value is, as TRUE or FALSE: the value may come from a file, or a user could have
# written to its parts. A kind (is_of_kind()) decides whether a value is one; a table of
# kinds is a list of them, by the names of the fields they are for.

#
# Nothing that is an object is plain numbers or text: is.numeric(), dim(), length(), all(), match()
# and comparisons ask the methods of a class, which a file can bring. C, which reads the numbers,
# takes no objects either (glue_read.c).

are_doubles <- function(x, count) is.double(x) && !is.object(x) && length(x) == count

are_words <- function(x, count = length(x)) {
  is.character(x) && !is.object(x) && length(x) == count
}

# A matrix; a file may have dimensions that its numbers have not.
is_table <- function(x, nrow, ncol) {
  is.double(x) && !is.object(x) && is.matrix(x) && nrow(x) == nrow && ncol(x) == ncol &&
    length(x) == as.double(nrow) * ncol
}

is_one <- function(x, least, most = Inf) {
  !is.object(x) && is.numeric(x) && is.null(dim(x)) && length(x) == 1L &&
    isTRUE(x >= least && x <= most)
}

is_flag <- function(x) is.logical(x) && !is.object(x) && length(x) == 1L && !is.na(x)

is_word <- function(x, words) are_words(x, 1L) && x %in% words

# Accepts text of any class, such as that of package glue; C does not read it as numbers.
is_text <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

# One number, or NA
is_number <- function(x) {
  !is.object(x) && (is.double(x) && length(x) == 1L || is.integer(x) && length(x) == 1L)
}

# One whole number, 0 or more
is_count <- function(x) is_one(x, 0, 2^53) && x == round(x)

# A number that is NaN or infinite, makes a sum so; finite ones may do it together.
are_finite <- function(x) {
  !is.object(x) && is.numeric(x) && (is.finite(sum(x)) || all(is.finite(x)))
}

# Whole numbers from `least` to `most`
are_whole_between <- function(x, least, most) {
  !is.object(x) && is.numeric(x) && all(is.finite(x)) && all(x == round(x)) &&
    all(x >= least & x <= most)
}

# A data frame of columns of one length, the named ones numbers
is_frame <- function(x, numbers = character()) {
  is.data.frame(x) && length(unique(lengths(unclass(x)))) <= 1L &&
    all(vapply(unclass(x)[numbers], is.numeric, NA))
}

frame_of <- function(...) {
  numbers <- c(...)
  function(x) is_frame(x, numbers)
}

optional <- function(kind) {
  kind <- as_kind(kind)
  function(x, whole) is.null(x) || kind(x, whole)
}

every <- function(kind) {
  kind <- as_kind(kind)
  function(x) is.list(x) && all(vapply(x, kind, NA, NULL))
}

# Does the condition hold? One that stops on a damaged value does not.
holds <- function(condition) isTRUE(tryCatch(condition, error = function(e) FALSE))

# A list of this class alone, as a constructor makes it: methods of another class could answer.
is_made <- function(x, class) is.list(x) && !isS4(x) && identical(oldClass(x), class)

# Are these settings what a constructor may be called with? A call among them would be evaluated.
are_settings <- function(x, constructor) {
  plain <- function(one) is.null(one) || is.atomic(one) && !is.object(one)
  all(names(x) %in% names(formals(constructor))) && all(vapply(x, plain, NA))
}

is_of_kind <- function(x, kind) isTRUE(as_kind(kind)(x, NULL))

# Returns a kind as function(x, whole), which is given what x is a field of, too. A kind may be
# written as a function(x), or as a table of the kinds of the fields of x.
as_kind <- function(kind) {
  if (!is.function(kind)) return(function(x, whole) is.list(x) && is.null(invalid_part(kind, x)))
  if ("whole" %in% names(formals(kind))) kind else function(x, whole) kind(x)
}

# Returns a table of kinds as invalid_part() reads it.
kind_table <- function(kinds) list(fields = names(kinds), kinds = unname(lapply(kinds, as_kind)))

# Returns the name of the first field of x that is not of its kind, or NULL. A kind that fails on
# its value is invalid, too. kinds: a table in the order in which it is gone through, so a
# kind may rely on what stands before it; a field may stand there twice. Or the name of a table in
# the registry, what stands before _kinds() in the name of the function that makes it.
invalid_part <- function(kinds, x) {
  table <- if (is.character(kinds)) registered("kinds", kinds) else kind_table(kinds)
  name <- ""
  tryCatch({
    for (i in seq_along(table$kinds)) {
      name <- table$fields[i]
      if (!isTRUE(table$kinds[[i]](x[[name]], x))) return(name)
    }
    NULL
  }, error = function(e) name)
}
