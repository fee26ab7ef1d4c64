# Constants of observations that a likelihood in R is given: lik_custom(data =). `custom$data` has
# their names, and `custom$constants` a matrix of their values where they were given as such; else
# they are columns of the rows. They go the way of weights, of which each row then has a list entry
# with a number for each constant. C sees them behind the response and its weight in a data row.

# Returns the fields of `custom` that list its constants.
custom_constants <- function(data) {
  if (is.null(data)) return(list(data = NULL, constants = NULL))
  if (inherits(data, "formula")) {
    return(list(data = check_constant_names(names_in_formula(data)), constants = NULL))
  }
  values <- constant_columns(data, "data")
  list(data = check_constant_names(names(values)), constants = do.call(cbind, values))
}

names_in_formula <- function(data) {
  terms <- if (length(data) == 2L) as.list(attr(stats::terms(data), "variables"))[-1L]
  if (length(terms) && all(vapply(terms, is.symbol, NA))) return(vapply(terms, as.character, ""))
  stop_sparsegp("data", "is not a formula of one side with names of columns",
                "As in data = ~ exposure + limit; compute other columns beforehand")
}

check_constant_names <- function(names) {
  right <- length(names) && all(nzchar(names)) && !anyDuplicated(names)
  if (right) return(names)
  stop_sparsegp("data", "has no names, or the same name twice", "As in data = list(exposure = e)")
}

# Returns a list or data frame of constants as numbers of equal length.
constant_columns <- function(data, argument) {
  refuse_if(!is.list(data) || length(data) == 0L,
            argument, "is not a formula, a named list or a data frame",
            "Give ~ exposure, or list(exposure = e)")
  right <- vapply(data, function(x) (is.numeric(x) || is.logical(x)) && is.null(dim(x)), NA)
  refuse_if(!all(right) || length(unique(lengths(data))) > 1L || any(is.infinite(unlist(data))),
            argument, "has constants that are not finite numbers, one for each row",
            "Give vectors of one length; code factors by numbers")
  lapply(data, as.double)
}

has_constants <- function(likelihood) length(likelihood$custom$data) > 0L

# Returns what stands for the weights of the rows of a first call: the call that reads columns, or
# the values. given: the weights of the call
#' @export
weights_of_fit.weights_constants <- function(likelihood, given, rows = NULL) {
  refuse_if(!is.null(given), "weights", "and lik_custom(data =) exclude each other",
            "Give the weights among `data`")
  custom <- likelihood$custom
  if (is.null(custom$constants)) return(constants_call(likelihood))
  if (!is.null(rows)) refuse_wrong_constants(custom$constants, rows)
  custom$constants
}

refuse_wrong_constants <- function(constants, rows) {
  refuse_if(nrow(constants) != rows, "data",
            paste0("of the likelihood has ", nrow(constants), " values for ", rows, " rows"),
            paste("Give one for each row of the data, also for rows that are left out later;",
                  "rows in chunks need names of columns, data = ~ exposure"))
}

# Returns the call that makes a matrix of the columns of a data frame.
constants_call <- function(likelihood) {
  names <- likelihood$custom$data
  as.call(c(list(cbind), stats::setNames(lapply(names, as.name), names)))
}

# Refuses values of each row in a likelihood of rows that are still to come.
refuse_rows_of_likelihood <- function(likelihood) {
  refuse_variances_of_stream(likelihood)
  if (is.null(likelihood$custom$constants)) return(invisible())
  stop_sparsegp("data", "of the likelihood is for these rows only, and a stream continues",
                "Name columns, as in lik_custom(data = ~ exposure)")
}

# Returns the constants of more rows as users give them beside newdata, as a matrix.
given_constants <- function(likelihood, given, rows) {
  names <- likelihood$custom$data
  values <- constant_columns(given, "weights")
  lacking <- setdiff(names, names(values))
  refuse_if(length(lacking), "weights", paste("lack", toString(lacking)),
            "Give all constants of lik_custom(data =)")
  out <- do.call(cbind, values[names])
  if (nrow(out) == 1L && rows != 1L) out <- out[rep(1L, rows), , drop = FALSE]
  if (nrow(out) == rows) return(out)
  stop_sparsegp("weights", paste0("have constants of ", nrow(out), " rows for ", rows, " rows"),
                "Give one value for each row, or one for all")
}

#' @export
more_weights.weights_constants <- function(likelihood, weights, n) {
  if (is.matrix(weights)) return(weights)
  if (!is.null(weights)) return(given_constants(likelihood, weights, n))
  stop_sparsegp("weights", paste("lack the constants", toString(likelihood$custom$data)),
                "Give update(fit, x = , y = , weights = list(...)) with those of the new rows")
}

# Returns a matrix of weights that are no constants as what it is: one number a row.
plain_weights <- function(weights, likelihood) {
  constants <- is.list(likelihood) && length(likelihood$custom$data) > 0L
  if (constants || length(dim(weights)) != 2L) return(weights)
  refuse_if(ncol(weights) != 1L, "weights", "have several columns", "Give one number per row")
  if (is.data.frame(weights)) weights[[1L]] else weights[, 1L]
}

# Returns weights of rows as they are kept: a list with an entry for each row of a matrix.
listed_weights <- function(weights) {
  weights <- unname(weights)
  lapply(seq_len(nrow(weights)), function(i) weights[i, ])
}

# Checks weights in a model frame; those of constants have a column each.
check_frame_weights <- function(weights, n, zero = FALSE) {
  if (!is.matrix(weights)) {
    checked <- check_per_row(weights, n, "weights", 1, positive = !zero)
    if (!any(checked < 0, na.rm = TRUE)) return(checked)
    stop_sparsegp("weights", "are negative", "Give 0 for rows that should not count")
  }
  if (is.numeric(weights) && !any(is.infinite(weights))) return(weights)
  stop_sparsegp("data", "of the likelihood has columns that are not finite numbers",
                "Give numbers; code factors by numbers")
}

# Returns the constants of new rows where newdata has them, else NULL: only what is asked of
# responses needs them (see needed_constants()).
constants_in <- function(object, newdata) {
  names <- object$likelihood$custom$data
  if (!is.data.frame(newdata) || !all(names %in% names(newdata))) return(NULL)
  values <- constant_columns(as.list(newdata)[names], "newdata")
  listed_weights(do.call(cbind, values))
}

#' @export
weights_at.weights_constants <- function(object, latent, weights, needed = TRUE) {
  if (is.null(weights)) {
    lacking <- !is.list(latent$weights) && any(latent$complete)
    return(if (lacking) refuse_lacking_constants(object$likelihood$custom) else latent$weights)
  }
  rows <- length(latent$complete)
  listed_weights(given_constants(object$likelihood, weights, rows))[latent$complete]
}

#' @export
check_new_responses.weights_constants <- function(object, of_noise, weights) invisible()

refuse_lacking_constants <- function(custom) {
  stop_sparsegp("newdata", paste("lacks constants of lik_custom(data =):", toString(custom$data)),
                paste("Add columns of these names, or give predict(weights = list(...)), or",
                      "type = \"latent\""))
}

# Returns constants as a matrix with a column for each of n rows; NULL of a likelihood without.
needed_constants <- function(custom, weights, n) {
  if (length(custom$data) == 0L) return(NULL)
  if (!is.list(weights)) refuse_lacking_constants(custom)
  out <- matrix(as.double(unlist(weights)), length(custom$data))
  if (!anyNA(out)) return(out[, rep_len(seq_len(ncol(out)), n), drop = FALSE])
  stop_sparsegp("newdata", "has missing values among the constants of lik_custom(data =)",
                "Leave out those rows")
}
