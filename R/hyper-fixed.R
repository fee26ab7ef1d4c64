# A hyperparameter as a user gives it.

#' Keep a hyperparameter at a value
#'
#' Learning moves every hyperparameter that is `NULL` or a plain number; one wrapped in `fixed()`
#' stays.
#'
#' @param value A finite number, or a vector of them for several hyperparameters, in the range and
#'   the units of the hyperparameter.
#' @return A value of class `sparsegp_fixed`. Other values are errors of class `sparsegp_error`.
#' @examples
#' kernel_rbf(variance = fixed(1))
#' lik_probit(bias = fixed(0))
#' @export
fixed <- function(value) {
  value <- plain_numbers(value)
  refuse_if(!is.numeric(value) || length(value) == 0L || !all(is.finite(value)),
            "value", "must be finite numbers")
  structure(list(value = as.double(value)), class = "sparsegp_fixed")
}

is_fixed <- function(x) is.list(x) && inherits(x, "sparsegp_fixed")

given_value <- function(x) if (is_fixed(x)) x$value else x

# Values that were part of what was given, fixed if that was
given_like <- function(given, values) if (is_fixed(given)) fixed(values) else values

# Values of a hyperparameter that are looked at: a few bytes can stand for billions of them.
MOST_VALUES <- 1e6

# Checks a hyperparameter as a user gives it: NULL, positive numbers, or fixed() around them. limit:
# a bound of the range that a value may lie on if it is fixed, as there the search has no end.
check_hyper <- function(x, argument, positive = TRUE, single = FALSE, range = c(0, Inf),
                        limit = NULL) {
  value <- given_value(x)
  if (is.null(value)) return(x)
  numbers <- !is.object(value) && is.numeric(value) && length(value) %in% seq_len(MOST_VALUES)
  refuse_if(!numbers || !all(is.finite(value)), argument,
            "must be finite numbers, fixed() around them, or NULL")
  if (single && length(value) != 1L) stop_sparsegp(argument, "must be one number")
  within <- value > range[1L] & value < range[2L] | is_fixed(x) & value %in% limit
  if (positive && !all(within)) {
    what <- if (range[2L] < Inf) paste("must lie between", range[1L], "and", range[2L])
            else if (range[1L] > 0) paste("must be greater than", range[1L]) else "must be positive"
    if (!is.null(limit)) what <- paste0(what, ", or be fixed(", limit, ")")
    stop_sparsegp(argument, what, "Leave it out (NULL) to have it learned")
  }
  x
}

# Checks the bounds of a hyperparameter of a user's own kernel or likelihood.
check_bounds <- function(bounds, name) {
  right <- is.numeric(bounds) && length(bounds) == 2L && !anyNA(bounds) &&
    bounds[1L] < bounds[2L] && (bounds[1L] > -Inf || bounds[2L] == Inf)
  refuse_if(!right, "range", paste0("has bounds of ", name, " that are not an interval"),
            "Give c(lower, upper), c(lower, Inf) or c(-Inf, Inf)")
}
