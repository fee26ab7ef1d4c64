# Rows of w components are stacked for C: w points each, one after the other, whose last column is
# the number of the component. With w = 1 a row is its point.

stack_components <- function(x, w) {
  if (w == 1L) return(x)
  cbind(x[rep(seq_len(nrow(x)), each = w), , drop = FALSE],
        .component = rep(as.double(seq_len(w)), nrow(x)))
}

# The columns of a point that are no inputs: the number of its component.
component_columns <- function(w) as.integer(w > 1L)

# The inputs of rows, from their points.
row_inputs <- function(x, w) {
  inputs <- seq_len(ncol(x) - component_columns(w))
  x[seq(1L, by = w, length.out = nrow(x) %/% w), inputs, drop = FALSE]
}

# Finds the points of a basis that are the first of their location. Not all of its components need
# be there, nor follow each other.
first_points <- function(points) !duplicated(points[, -ncol(points), drop = FALSE])

# Returns a key for each point, equal where all numbers are.
point_keys <- function(x) {
  do.call(paste, lapply(seq_len(ncol(x)), function(j) sprintf("%a", x[, j])))
}

# The rows a basis is made of, from the numbers of its points. Of several components all may be
# there, copies of a location too; else no location is there twice.
basis_rows_from <- function(numbers, points, w) {
  if (is.null(numbers) || w == 1L) return(numbers)
  rows <- rows_of_points(numbers, w)
  if (length(numbers) == w * length(unique(rows))) unique(rows) else rows[first_points(points)]
}

# A column for each component to a value for each point, and back.
stacked_values <- function(values) if (is.matrix(values)) c(t(values)) else values

by_component <- function(values, components) {
  matrix(values, ncol = length(components), byrow = TRUE, dimnames = list(NULL, components))
}

# Numbers of the points of rows, and of the rows of points.
stacked_rows <- function(rows, w) {
  rep(w * (rows - 1L), each = w) + rep(seq_len(w), length(rows))
}

rows_of_points <- function(points, w) (points - 1L) %/% w + 1L

# Some rows of what has an entry for each, or a row.
some_rows <- function(values, rows) {
  if (is.matrix(values)) values[rows, , drop = FALSE] else values[rows]
}

bind_rows <- function(first, second) {
  if (is.matrix(second)) rbind(first, second) else c(first, second)
}
