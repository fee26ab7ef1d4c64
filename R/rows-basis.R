# The basis a user gives: row numbers, or points in the inputs' space.

# Returns row numbers as they are, and points as a matrix of inputs: of a data frame of the
# formula's variables, or of a matrix with the inputs' columns. recipe: a coded one.
read_basis <- function(recipe, basis) {
  refuse_if(is.logical(basis), "basis", "is logical",
            "Give row numbers, as which() does, or points")
  if (is.null(basis) || (is.numeric(basis) && is.null(dim(basis)))) return(basis)
  if (!is.data.frame(basis)) return(named_inputs(basis, recipe$names, "basis"))
  recipe <- without_response(recipe, "basis")
  recipe$any_level <- single_levels(recipe$xlevels) # points of a level without rows carry nothing
  check_whole_inputs(refuse_unseen("basis", read_rows(recipe, basis)$x), "basis")
}

# Returns scaled points, and which training rows they are. A point given twice counts once: the
# second would make the basis's kernel matrix singular. x, and the points: stacked (data-tall.R).
resolve_basis <- function(basis, x, scaling, width = 1L) {
  if (is.null(basis)) return(list(x = NULL, rows = seq_len(nrow(x))))
  found <- basis_points(basis, row_inputs(x, width), scaling)
  list(x = stack_components(found$x, width),
       rows = if (!is.null(found$rows)) stacked_rows(found$rows, width))
}

basis_points <- function(basis, x, scaling) {
  if (is.matrix(basis)) {
    refuse_if(nrow(basis) == 0L || !all(is.finite(basis)),
              "basis", "must be a matrix of finite numbers with at least one row")
    return(list(x = unique(scaled_inputs(basis, scaling)), rows = NULL))
  }
  refuse_if(length(basis) == 1L && nrow(x) > 1L,
            "basis", paste0("is one number, ", basis, ", which would be a row and not a size"),
            paste0("For ", basis, " points that are chosen use method = method_ep(size = ",
                   basis, "); for one point give a matrix of one row"))
  inside <- length(basis) > 0L && all(basis %in% seq_len(nrow(x)))
  refuse_if(!inside,
            "basis", paste0("must be row numbers from 1 to ", nrow(x), ", of the rows used"),
            "Or give a matrix of points")
  rows <- as.integer(basis)
  rows <- rows[!duplicated(x[rows, , drop = FALSE])]
  list(x = x[rows, , drop = FALSE], rows = rows)
}
