# The basis a user gives: row numbers, or points in the inputs' space.

# Points as a data frame of the formula's variables become model-matrix columns.
formula_basis <- function(basis, terms, frame, x) {
  if (!is.data.frame(basis)) return(matrix_basis(basis, x))
  coder <- list(terms = terms, xlevels = stats::.getXlevels(terms, frame),
                contrasts = attr(x, "contrasts"))
  points <- refuse_unseen("basis", blaming("basis", coded_inputs(coder, basis, character())$x))
  check_no_missing(basis = points)
  points
}

matrix_basis <- function(basis, x) {
  if (is.logical(basis)) {
    stop_sparsegp("basis", "is logical", "Give row numbers, as which() does, or points")
  }
  if (is.null(basis) || (is.numeric(basis) && is.null(dim(basis)))) return(basis)
  given <- colnames(basis)
  points <- check_inputs(basis, "basis")
  if (all(colnames(x) %in% given)) return(points[, colnames(x), drop = FALSE])
  invented <- identical(colnames(x), paste0("x", seq_len(ncol(x))))
  if (!is.null(given) && !invented && !identical(colnames(points), colnames(x))) {
    stop_sparsegp("basis", paste0("lacks ", toString(setdiff(colnames(x), given))),
                  paste0("The inputs are ", toString(colnames(x))))
  }
  if (ncol(points) != ncol(x)) {
    stop_sparsegp("basis", paste0("has ", ncol(points), " columns for ", ncol(x), " inputs"),
                  "Give row numbers, or a matrix with the inputs' columns")
  }
  points
}

# Scaled points, and which training rows they are. A point given twice counts once: the second
# would make the basis's kernel matrix singular. x: tall (data-tall.R), and so is what comes back.
resolve_basis <- function(basis, x, scaling, width = 1L) {
  if (is.null(basis)) return(list(x = NULL, rows = seq_len(nrow(x))))
  found <- basis_points(basis, row_inputs(x, width), scaling)
  list(x = tall_inputs(found$x, width),
       rows = if (!is.null(found$rows)) tall_rows(found$rows, width))
}

basis_points <- function(basis, x, scaling) {
  if (is.matrix(basis)) {
    if (nrow(basis) == 0L || !all(is.finite(basis))) {
      stop_sparsegp("basis", "must be a matrix of finite numbers with at least one row")
    }
    return(list(x = unique(scaled_inputs(basis, scaling)), rows = NULL))
  }
  if (length(basis) == 1L && nrow(x) > 1L) {
    stop_sparsegp("basis",
                  paste0("is one number, ", basis, ", which would be a row and not a size"),
                  paste0("For ", basis, " points that are chosen use method = method_ep(size = ",
                         basis, "); for one point give a matrix of one row"))
  }
  inside <- length(basis) > 0L && all(basis %in% seq_len(nrow(x)))
  if (!inside) {
    stop_sparsegp("basis", paste0("must be row numbers from 1 to ", nrow(x), ", of the rows used"),
                  "Or give a matrix of points")
  }
  rows <- as.integer(basis)
  rows <- rows[!duplicated(x[rows, , drop = FALSE])]
  list(x = x[rows, , drop = FALSE], rows = rows)
}
