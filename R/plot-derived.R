# Columns of the model matrix that follow from others: products a:b, and calls such as I(a^2) beside
# a. They are found by the terms of the formula, never by reading text: a column's name may hold a
# level of a factor, and that is data.

# Returns a named list of function(x) -> column, x: kept inputs in original units. A column is
# said to follow from others only if this reproduces it.
derived_columns <- function(object, x) {
  if (is.null(object$terms)) return(list())
  kept <- colnames(x)
  makers <- c(called_columns(object$terms, kept), product_columns(object, kept))
  holds <- vapply(names(makers), function(name) {
    value <- tryCatch(makers[[name]](x), error = function(e) NULL)
    isTRUE(all.equal(value, unname(x[, name]), tolerance = 1e-6))
  }, NA)
  makers[holds]
}

# Returns the variables of the terms, as calls or names, named as columns of the model matrix.
term_variables <- function(terms, attribute = "variables") {
  variables <- as.list(attr(terms, attribute))[-1L]
  written <- rownames(attr(terms, "factors"))
  if (length(written) != length(variables)) return(list())
  stats::setNames(variables, written)
}

# Makes columns of calls whose variables are columns, too.
called_columns <- function(terms, kept) {
  calls <- term_variables(terms, if (is.null(attr(terms, "predvars"))) "variables" else "predvars")
  calls <- Filter(function(call) {
    is.call(call) && length(all.vars(call)) && all(all.vars(call) %in% kept)
  }, calls[names(calls) %in% kept])
  env <- environment(terms)
  lapply(calls, function(call) {
    function(x) as.double(eval(call, as.data.frame(x, optional = TRUE), env))
  })
}

# Makes columns of interactions whose parts are columns, too.
product_columns <- function(object, kept) {
  factors <- attr(object$terms, "factors")
  joint <- which(attr(object$terms, "order") > 1L)
  if (!is.matrix(factors) || length(joint) == 0L) return(list())
  own <- columns_of_variables(object, kept)
  made <- unlist(lapply(joint, function(term) products_of(own[factors[, term] > 0L])),
                 recursive = FALSE)
  made <- made[names(made) %in% kept]
  lapply(made, function(parts) {
    function(x) Reduce(`*`, lapply(parts, function(part) unname(x[, part])))
  })
}

# Returns for every variable the kept columns that it makes by itself, each named as interactions
# write it, with backticks where a variable's name needs them.
columns_of_variables <- function(object, kept) {
  written <- rownames(attr(object$terms, "factors"))
  plain <- without_backticks(written)
  codings <- factor_columns(object, kept)
  Map(function(written, plain) {
    if (plain %in% kept) return(stats::setNames(plain, written))
    own <- if (is.null(codings[[plain]])) kept[startsWith(kept, written)] # of poly(), say
           else colnames(codings[[plain]])
    stats::setNames(nm = own)
  }, written, plain)
}

# Returns every product of a column of each variable, as a list of the columns' names.
products_of <- function(columns) {
  grid <- function(each) as.matrix(expand.grid(unname(each), stringsAsFactors = FALSE))
  parts <- grid(columns)
  names <- grid(lapply(columns, names))
  stats::setNames(lapply(seq_len(nrow(parts)), function(i) unname(parts[i, ])),
                  apply(names, 1L, paste, collapse = ":"))
}

# For every factor (and logical) the coding of its kept columns: a matrix with a row per level.
factor_columns <- function(object, kept) {
  codings <- lapply(stats::setNames(nm = names(object$contrasts)), function(variable) {
    coding <- coding_of(object, variable)
    if (!any(colnames(coding) %in% kept)) {
      colnames(coding) <- sub(variable, paste0("`", variable, "`"), colnames(coding), fixed = TRUE)
    }
    coding[, colnames(coding) %in% kept, drop = FALSE]
  })
  Filter(ncol, codings)
}

coding_of <- function(object, variable) {
  levels <- object$xlevels[[variable]] %||% c("FALSE", "TRUE")
  if (variable %in% coded_by_number(object$contrasts)) {
    return(matrix(seq_along(levels), dimnames = list(levels, variable)))
  }
  frame <- data.frame(v = factor(levels, levels, exclude = NULL))
  coding <- stats::model.matrix(~ v, frame, stats::setNames(object$contrasts[variable], "v"))
  dimnames(coding) <- list(levels, paste0(variable, substring(colnames(coding), 2L)))
  coding
}
