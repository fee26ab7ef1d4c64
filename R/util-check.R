# Every check of a small argument. A bad argument is an error of class `sparsegp_error` that names
# the argument, gives the fault and the remedy. Checks of data stand in data-inputs.R.

stop_sparsegp <- function(argument, problem, remedy = NULL) {
  raise_sparsegp(paste0("`", argument, "` ", problem), argument, remedy)
}

# Stops if the condition holds. The other arguments are evaluated only then.
refuse_if <- function(condition, argument, problem, remedy = NULL) {
  if (condition) stop_sparsegp(argument, problem, remedy)
}

# Stops for numbers among which are infinite ones.
stop_not_finite <- function(argument) {
  verb <- if (argument == "means") "have" else "has"
  stop_sparsegp(argument, paste(verb, "values that are not finite"), NOT_FINITE_REMEDY)
}

NOT_FINITE_REMEDY <- paste("Correct these values, or make them NA: rows with missing values are",
                           "left out")

raise_sparsegp <- function(message, argument, remedy, class = NULL) {
  message <- paste0(message, ".")
  if (!is.null(remedy)) message <- paste0(message, "\n", remedy, ".")
  stop(structure(
    class = c(class, "sparsegp_error", "error", "condition"),
    list(message = message, call = NULL, argument = argument, remedy = remedy)
  ))
}

# A fit, or another value that was saved, is not what was written.
stop_damaged <- function(fault, argument = "object", what = "fit",
                         remedy = "Fit again, or load an undamaged copy") {
  which <- if (argument != "object") paste0(" (`", argument, "`)")
  raise_sparsegp(paste0("this ", what, which, " is damaged: ", fault), argument, remedy)
}

warn_sparsegp <- function(...) {
  warning(structure(
    class = c("sparsegp_warning", "warning", "condition"),
    list(message = paste0(...), call = NULL)
  ))
}

# Evaluates `expr`; an error about the argument `inner`, as the function that is used here calls it,
# becomes one about `argument`, by which the user gave it.
blaming <- function(argument, expr, inner = "newdata") {
  tryCatch(expr, sparsegp_error = function(e) {
    if (!identical(e$argument, inner)) stop(e)
    e$argument <- argument
    e$message <- gsub(paste0("`", inner, "`"), paste0("`", argument, "`"), e$message, fixed = TRUE)
    stop(e)
  })
}

check_no_dots <- function(...) {
  if (...length() == 0L) return(invisible())
  names <- ...names()
  unknown <- if (is.null(names)) "" else names
  stop_unknown(unknown, "Check the spelling; see the help page for the arguments")
}

stop_unknown <- function(names, remedy) {
  unnamed <- is.na(names) | names == ""
  shown <- ifelse(unnamed, "an unnamed argument", paste0("`", names, "`"))
  raise_sparsegp(paste0("Unknown argument", if (length(names) > 1L) "s", ": ", toString(shown)),
                 "...", remedy)
}

check_number <- function(x, argument, lower = -Inf, upper = Inf, open = TRUE) {
  x <- plain_numbers(x)
  inside <- is.numeric(x) && length(x) == 1L && is.finite(x) &&
    (if (open) x > lower && x < upper else x >= lower && x <= upper)
  if (inside) return(as.double(x))
  brackets <- if (open) c("(", ")") else c("[", "]")
  stop_sparsegp(argument, "must be one number",
                paste0("Give a value in ", brackets[1L], lower, ", ", upper, brackets[2L]))
}

check_count <- function(x, argument, lower = 1L, upper = .Machine$integer.max) {
  x <- plain_numbers(x) # as COUNT(*) of a database
  whole <- is.numeric(x) && length(x) == 1L && is.finite(x) && x == round(x) && x >= lower &&
    x <= upper
  if (whole) return(as.integer(x))
  stop_sparsegp(argument, "must be one whole number",
                paste0("Give a value of at least ", lower,
                       if (upper < .Machine$integer.max) paste(", at most", upper)))
}

check_count_or_inf <- function(x, argument) {
  if (identical(x, Inf)) x else check_count(x, argument)
}

# print() adds two digits to those of a log evidence, and R has 22 at most.
check_digits <- function(x) as.integer(check_number(x, "digits", 1, 20, open = FALSE))

check_damping <- function(x) {
  good <- is.numeric(x) && length(x) == 1L && is.finite(x) && x > 0 && x <= 1
  if (!good) stop_sparsegp("damping", "must be one number", "Give a value in (0, 1]")
  as.double(x)
}

# Below 1e-11 what the other points leave of one is lost in rounding.
check_novelty <- function(x) check_number(x, "novelty", 1e-11, 0.5, open = FALSE)

# Is `frame`, the sys.parent() of a method, a call of that function?
called_from <- function(frame, fun) frame > 0L && identical(sys.function(frame), fun)

check_flag <- function(x, argument) {
  if (is.logical(x) && length(x) == 1L && !is.na(x)) return(x)
  stop_sparsegp(argument, "must be TRUE or FALSE")
}

check_choice <- function(x, choices, argument) {
  if (identical(x, choices)) return(choices[1L])
  at <- if (is.character(x) && length(x) == 1L) pmatch(x, choices) else NA_integer_
  if (!is.na(at)) return(choices[at])
  stop_sparsegp(argument, "is not one of the choices",
                paste0("Use one of ", toString(dQuote(choices, FALSE))))
}

check_class <- function(x, class, argument, remedy) {
  if (inherits(x, class)) return(x)
  stop_sparsegp(argument, paste0("is of class ", toString(dQuote(class(x), FALSE))), remedy)
}

# Returns the value of an argument; an error while it is evaluated becomes one of that argument.
evaluated <- function(value, argument, wrong, remedy) {
  tryCatch(value, error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp(argument, paste0(wrong, ": ", conditionMessage(e)), remedy)
  })
}

# A constructor given in place of its value, as in kernel = kernel_rbf, is called; other functions
# are left for the class check to refuse.
called <- function(x) {
  if (!is.function(x)) return(x)
  tryCatch(x(), error = function(e) x)
}
