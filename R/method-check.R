# Methods of fits that come from a file.

# What the constructors make: numbers and words, one of each.
is_method <- function(method) {
  plain <- function(value) is.null(value) || is.atomic(value) && length(value) == 1L
  given <- unclass(method)
  settings <- given[intersect(names(given), c("sweeps", "damping", "mixing", "tol"))]
  number <- function(value) is.numeric(value) && isTRUE(value >= 0)
  is.list(given) && is.character(given$type) && all(vapply(given, plain, NA)) &&
    identical(class(method), class(new_method(given$type))) && all(vapply(settings, number, NA))
}

# One of version 0.1.0, which had no class of its own.
method_of_first_form <- function(method) {
  given <- unclass(method)
  new_method(given$type, given$label, given[setdiff(names(given), c("type", "label"))])
}

pilot_of <- function(method) method$pilot
