# Inputs and what goes with each row, checked: matrices of numbers, with names for the columns.

# Inputs of the default method: a numeric matrix with column names, or an error.
check_inputs <- function(x, argument = "x") {
  x <- if (inherits(x, "Matrix")) dense_inputs(x, argument)
       else if (is.list(x)) plain_data(x, argument) else plain_column(x, argument)
  if (is.data.frame(x)) {
    numeric <- vapply(x, function(column) {
      (is.numeric(column) || is.logical(column)) && is.null(dim(column))
    }, NA)
    if (!all(numeric)) {
      stop_sparsegp(argument, paste0("has columns that are not numeric vectors: ",
                                     toString(names(x)[!numeric])),
                    "Make numbers of them; the formula method of sparsegp() does that with factors")
    }
    x <- data.matrix(x)
    if (identical(rownames(x), as.character(seq_len(nrow(x))))) rownames(x) <- NULL
  }
  if (is.null(dim(x)) && (is.numeric(x) || is.logical(x))) x <- matrix(x, ncol = 1L)
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    stop_sparsegp(argument, "must be a numeric matrix, a numeric vector or a data frame of numbers")
  }
  if (ncol(x) == 0L) stop_sparsegp(argument, "has no columns", "Give at least one input")
  storage.mode(x) <- "double"
  colnames(x) <- input_names(x)
  x
}

# Sparse matrices of package Matrix, up to so many numbers: 800 megabytes.
MOST_DENSE <- 1e8

dense_inputs <- function(x, argument) {
  if (prod(dim(x)) <= MOST_DENSE) return(as.matrix(x))
  stop_sparsegp(argument, paste0("is a sparse matrix of ", nrow(x), " x ", ncol(x),
                                 " numbers, and kernels need all of them"),
                paste("Give fewer columns, a few principal components for instance, so that there",
                      "are at most 1e8 numbers"))
}

# Distinct names of columns: x1, x2, ... where there is none, as cbind(age, 1) leaves it.
input_names <- function(x) {
  names <- colnames(x)
  if (is.null(names)) names <- character(ncol(x))
  nameless <- is.na(names) | names == ""
  names[nameless] <- paste0("x", which(nameless))
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

# What a na.action such as na.pass lets through.
check_no_missing <- function(...) {
  missing <- vapply(list(...), anyNA, NA)
  if (!any(missing)) return(invisible())
  stop_sparsegp(names(missing)[missing][1L], "has missing values",
                "Remove those rows, or use na.action = na.omit")
}

check_per_row <- function(x, n, argument, default, positive = FALSE) {
  if (is.null(x)) return(rep(default, n))
  x <- plain_column(x, argument)
  if (!is.numeric(x) || length(x) != n) {
    stop_sparsegp(argument, paste0("must be ", n, " numbers, one per row"))
  }
  if (any(is.infinite(x)) || (positive && any(x <= 0, na.rm = TRUE))) {
    stop_sparsegp(argument, if (positive) "must be positive and finite" else "must be finite",
                  "Leave out rows that should not count with `subset`")
  }
  as.double(x)
}

check_response_length <- function(y, n, several = FALSE) {
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  if (!several && !is.null(dim(y)) || is.list(y)) {
    stop_sparsegp("y", "must be one vector",
                  paste("Several columns are components for lik_gaussian(), and successes and",
                        "failures for lik_binomial()"))
  }
  if (NROW(y) == n) return(y)
  stop_sparsegp("y", paste0("has ", NROW(y), " values for ", n, " rows of `x`"))
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
  if (!is.numeric(offset) || nrow(offset) != n || any(is.infinite(offset))) {
    stop_sparsegp("offset", paste0("must be a matrix of finite numbers with ", n, " rows"))
  }
  storage.mode(offset) <- "double"
  offset
}

# ---- New data for a fit ----

# Unscaled inputs (columns as at the fit), offsets and row names of new data. Rows with levels that
# the fit has not seen have missing inputs.
new_inputs <- function(object, newdata, offset = NULL) {
  if (is.null(object$terms)) return(new_inputs_matrix(object, newdata, offset))
  if (!is.null(offset)) {
    stop_sparsegp("offset", "is part of the formula", "Put it into `newdata`")
  }
  new <- coded_inputs(object, newdata)
  check_columns(new$x, object$scaling)
  new$offset <- check_offset(frame_offset(new$frame), nrow(new$x))
  new$names <- if (is.data.frame(newdata)) rownames(newdata) else rownames(new$frame)
  new[c("x", "offset", "names")]
}

# The matrix of inputs of new data, and its frame. coder: terms, xlevels and contrasts, of a fit for
# instance; coded: factors that may have levels of their own.
coded_inputs <- function(coder, newdata, coded = coded_by_level(coder$contrasts)) {
  newdata <- plain_data(newdata, "newdata", coder$terms)
  if (!is.list(newdata) && !is.environment(newdata)) {
    stop_sparsegp("newdata", "must be a data frame", "The model was fitted by a formula")
  }
  terms <- stats::delete.response(coder$terms)
  refuse_workspace(terms, newdata)
  warnings <- list() # told once the frame has proved good; else the error below says more
  frame <- tryCatch({
    frame <- withCallingHandlers(new_frame(terms, newdata, coder$xlevels, coded),
                                 warning = function(w) {
                                   warnings <<- c(warnings, list(w))
                                   invokeRestart("muffleWarning")
                                 })
    check_classes(coder$terms, frame)
    check_rows(check_frame_columns(frame), newdata)
  }, error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp("newdata", paste0("does not fit the formula: ", conditionMessage(e)),
                  "It needs the variables of the formula")
  })
  for (w in warnings) warning(w)
  warn_unseen(attr(frame, "unseen"))
  list(x = model_inputs(terms, frame, coder$contrasts, coder$xlevels)$x, frame = frame)
}

# Are the inputs that the terms make those of the scaling? Not where a file of the fit was changed.
check_columns <- function(x, scaling) {
  if (identical(colnames(x), scaling$names)) return(invisible())
  stop_sparsegp("object", paste0("is no fit as it was written: its terms make the inputs ",
                                 toString(colnames(x)), ", and its inputs were ",
                                 toString(scaling$names)), "Fit again")
}

new_inputs_matrix <- function(object, newdata, offset) {
  wanted <- object$scaling$names
  if (is.null(dim(newdata)) && is.numeric(newdata) && length(wanted) > 1L &&
        length(newdata) == length(wanted)) {
    newdata <- matrix(newdata, 1L) # one row
  }
  given <- if (length(dim(newdata)) == 2L) colnames(newdata)
  by_name <- !is.null(given) && !anyDuplicated(given) && all(wanted %in% given)
  x <- check_inputs(if (by_name) newdata[, wanted, drop = FALSE] else newdata, "newdata")
  invented <- identical(wanted, paste0("x", seq_along(wanted)))
  if (!is.null(given) && !invented && !identical(colnames(x), wanted)) {
    stop_sparsegp("newdata", paste0("lacks ", toString(setdiff(wanted, given))),
                  paste0("The inputs are ", toString(wanted)))
  }
  if (ncol(x) != length(wanted)) {
    stop_sparsegp("newdata", paste0("has ", ncol(x), " columns for ", length(wanted), " inputs"),
                  paste0("The inputs are ", toString(wanted)))
  }
  names <- rownames(x)
  list(x = x, offset = check_offset(offset, nrow(x)),
       names = if (is.null(names)) as.character(seq_len(nrow(x))) else names)
}
