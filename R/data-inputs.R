# Inputs and what goes with each row, checked: matrices of numbers, with names for the columns.

# Inputs of the default method: a numeric matrix with column names, or an error.
check_inputs <- function(x, argument = "x") {
  x <- if (inherits(x, "Matrix")) dense_inputs(x, argument)
       else if (is.list(x)) plain_data(x, argument) else plain_column(x, argument)
  if (is.data.frame(x)) {
    numeric <- vapply(x, function(column) {
      (is.numeric(column) || is.logical(column)) && NCOL(column) == 1L
    }, NA)
    refuse_if(!all(numeric), argument,
              paste0("has columns that are not numeric vectors: ", toString(names(x)[!numeric])),
              "Convert them to numbers; the formula method of sparsegp() does so for factors")
    x <- data.matrix(x)
    if (identical(rownames(x), as.character(seq_len(nrow(x))))) rownames(x) <- NULL
  }
  if (is.null(dim(x)) && (is.numeric(x) || is.logical(x))) x <- matrix(x, ncol = 1L)
  refuse_if(!is.matrix(x) || !(is.numeric(x) || is.logical(x)),
            argument, "must be a numeric matrix, a numeric vector or a data frame of numbers")
  if (ncol(x) == 0L) stop_sparsegp(argument, "has no columns", "Give at least one input")
  x <- matrix(as.double(x), nrow(x), ncol(x), dimnames = dimnames(x)) # no ts
  colnames(x) <- column_names(x)
  x
}

# Distinct names of columns: x1, x2, ... where they have no name, as cbind(age, 1) leaves it.
column_names <- function(x, letter = "x") {
  names <- colnames(x)
  if (is.null(names)) names <- character(ncol(x))
  nameless <- is.na(names) | names == ""
  names[nameless] <- paste0(letter, which(nameless))
  make.unique(names)
}

check_finite_inputs <- function(x, argument = "x") {
  if (is.finite(sum(x))) return(x)
  bad <- !is.finite(x) & !is.na(x)
  if (!any(bad)) return(x)
  columns <- colnames(x)[colSums(bad) > 0]
  stop_sparsegp(argument, paste0("has infinite values in ", toString(columns)),
                "Replace them by NA or by finite numbers")
}

# Refuses infinite numbers among the variables of a frame, which are not yet inputs.
check_finite_columns <- function(frame) {
  for (name in names(frame)) {
    column <- frame[[name]]
    if (is.numeric(column)) check_finite_inputs(matrix(column, dimnames = list(NULL, name)))
  }
}

# Refuses missing values that a na.action such as na.pass lets through.
check_no_missing <- function(...) {
  missing <- vapply(list(...), anyNA, NA)
  refuse_if(any(missing), names(missing)[missing][1L], "has missing values",
            "Remove those rows, or use na.action = na.omit")
}

# Refuses inputs with missing or infinite values.
check_whole_inputs <- function(x, argument) {
  if (anyNA(x)) do.call(check_no_missing, stats::setNames(list(x), argument))
  check_finite_inputs(x, argument)
}

check_per_row <- function(x, n, argument, default, positive = FALSE) {
  if (is.null(x)) return(rep(default, n))
  x <- plain_column(x, argument)
  if (is.logical(x) && all(is.na(x))) x <- as.double(x) # NA alone, which is a logical
  refuse_if(!is.numeric(x) || length(x) != n,
            argument, paste0("must be ", n, " numbers, one per row"))
  refuse_if(any(is.infinite(x)) || (positive && any(x <= 0, na.rm = TRUE)),
            argument, if (positive) "must be positive and finite" else "must be finite",
            "Leave out rows that should not count with `subset`")
  as.double(x)
}

# dims: so many dimensions at most
check_response_length <- function(y, n, dims) {
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  if (length(dim(y)) > dims || is.list(y) || is.raw(y)) refuse_response(y)
  if (NROW(y) == n) return(y)
  stop_sparsegp("y", paste0("has ", NROW(y), " values for ", n, " rows of `x`"))
}

refuse_response <- function(y) {
  refuse_if(are_times(y), "y", "is of times to an event, and the likelihood is not",
            "Leave the likelihood out, or use \"weibull\", \"loglogistic\" or \"lognormal\"")
  if (is.raw(y)) stop_sparsegp("y", "is of class raw", "Convert it to numbers, by as.integer()")
  stop_sparsegp("y", "must be one vector",
                paste("Several columns are components for lik_gaussian(), and successes and",
                      "failures for lik_binomial()"))
}

# The sum of a frame's offsets, or NULL.
frame_offset <- function(frame) {
  tryCatch(stats::model.offset(frame), error = function(e) {
    stop_sparsegp("offset", paste0("cannot be used: ", conditionMessage(e)),
                  "Give numbers, one per row")
  })
}

# An offset: one number per row, or a column for each component, of which gather() has to do with.
check_offset <- function(offset, n) {
  offset <- plain_column(offset, "offset")
  if (!is.matrix(offset)) return(check_per_row(offset, n, "offset", 0))
  refuse_if(!is.numeric(offset) || nrow(offset) != n || any(is.infinite(offset)),
            "offset", paste0("must be a matrix of finite numbers with ", n, " rows"))
  storage.mode(offset) <- "double"
  offset
}

# Returns a matrix with the columns `wanted`, by their names where x has names; NULL: any columns.
named_inputs <- function(x, wanted, argument) {
  refuse_source(x, argument)
  if (is.null(wanted)) return(check_inputs(x, argument))
  if (is.null(dim(x)) && is.numeric(x) && length(wanted) > 1L && length(x) == length(wanted)) {
    x <- matrix(x, 1L) # one row
  }
  given <- if (length(dim(x)) == 2L) colnames(x)
  by_name <- !is.null(given) && !anyDuplicated(given) && all(wanted %in% given)
  x <- check_inputs(if (by_name) x[, wanted, drop = FALSE] else x, argument)
  invented <- identical(wanted, paste0("x", seq_along(wanted)))
  inputs <- paste0("The inputs are ", toString(wanted))
  refuse_if(!is.null(given) && !invented && !identical(colnames(x), wanted),
            argument, paste0("lacks ", toString(setdiff(wanted, given))), inputs)
  refuse_if(ncol(x) != length(wanted),
            argument, paste0("has ", ncol(x), " columns for ", length(wanted), " inputs"), inputs)
  colnames(x) <- wanted
  x
}
