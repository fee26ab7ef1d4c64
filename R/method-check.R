# Methods as a user gives them, and those of fits that come from a file.

# Makes a method of what a user may give: nothing, a name, a value.
as_method <- function(method, effort) {
  method <- called(method)
  if (is.null(method)) return(open_method(effort))
  if (is.character(method) && length(method) == 1L) {
    name <- check_choice(method, known_methods(), "method")
    return(do.call(paste0("method_", name), list()))
  }
  check_class(method, "sparsegp_method", "method", "Give a method_*() value such as method_ep()")
  check_method(method)
  if ("size" %in% names(method) && is.null(method$size)) method$effort <- effort
  method
}

# Returns the methods that have a constructor, a function method_<name>().
known_methods <- function() {
  constructors <- ls(topenv(), pattern = "^method_[a-z]+$")
  sub("method_", "", constructors)
}

# Stops where a method is not what its constructor makes of the same settings, by the constructor's
# own words where it takes no such argument.
check_method <- function(method) {
  if (leaves_open(method)) {
    if (!identical(method, open_method(method$effort))) stop_method()
    return(method)
  }
  make <- registered("methods", method$type)
  if (is.null(make) || !is.list(method)) stop_method()
  given <- unclass(method)
  given <- given[intersect(names(given), names(formals(make)))]
  # a setting that is a call would be evaluated by do.call()
  if (!holds(are_settings(given, make))) stop_method()
  made <- do.call(make, given, quote = TRUE)
  same_setting <- function(one, other) { # plans may set a whole number that is stored as a double
    identical(one, other) || is.numeric(one) && is.numeric(other) && isTRUE(one == other)
  }
  same <- all(mapply(same_setting, given, unclass(made)[names(given)])) &&
    identical(class(method), class(made)) && identical(method$label, made$label) &&
    (is.null(method$effort) || is_word(method$effort, names(EFFORT)))
  if (!same) stop_method()
  method
}

stop_method <- function() {
  stop_sparsegp("method", "was not made by a method_*() function, or was changed afterwards",
                "Create it again; do not assign to parts of a method")
}

# Checks the power of power EP.
check_power <- function(power) {
  LEAST <- 0.01 # digits of a tilt are divided by the power
  power <- check_number(power, "power", 0, 1, open = FALSE)
  refuse_if(power > 0 && power < LEAST,
            "power", paste("must be 0, the limit, or from", LEAST, "to 1"))
  power
}
