# Every argument check of the package. A bad argument is an error of class `sparsegp_error` that
# names the argument, says what is wrong with it, and what to do.

stop_sparsegp <- function(argument, problem, remedy = NULL) {
  message <- paste0("`", argument, "` ", problem, ".")
  if (!is.null(remedy)) message <- paste0(message, "\n", remedy, ".")
  stop(structure(
    class = c("sparsegp_error", "error", "condition"),
    list(message = message, call = NULL, argument = argument, remedy = remedy)
  ))
}

warn_sparsegp <- function(...) {
  warning(structure(
    class = c("sparsegp_warning", "warning", "condition"),
    list(message = paste0(...), call = NULL)
  ))
}

check_no_dots <- function(...) {
  if (...length() == 0L) return(invisible())
  names <- ...names()
  unknown <- if (is.null(names)) "" else names
  unknown[is.na(unknown) | unknown == ""] <- "an unnamed argument"
  stop_sparsegp("...", paste0("holds what this function does not know: ", toString(unknown)),
                "Check the spelling; see the help page for the arguments")
}

check_number <- function(x, argument, lower = -Inf, upper = Inf, open = TRUE) {
  inside <- is.numeric(x) && length(x) == 1L && is.finite(x) &&
    (if (open) x > lower && x < upper else x >= lower && x <= upper)
  if (inside) return(as.double(x))
  brackets <- if (open) c("(", ")") else c("[", "]")
  stop_sparsegp(argument, "must be one number",
                paste0("Give a value in ", brackets[1L], lower, ", ", upper, brackets[2L]))
}

check_count <- function(x, argument, lower = 1L) {
  whole <- is.numeric(x) && length(x) == 1L && is.finite(x) && x == round(x) && x >= lower &&
    x <= .Machine$integer.max
  if (whole) return(as.integer(x))
  stop_sparsegp(argument, "must be one whole number", paste0("Give a value of at least ", lower))
}

check_count_or_inf <- function(x, argument) {
  if (identical(x, Inf)) x else check_count(x, argument)
}

check_damping <- function(x) {
  good <- is.numeric(x) && length(x) == 1L && is.finite(x) && x > 0 && x <= 1
  if (!good) stop_sparsegp("damping", "must be one number", "Give a value in (0, 1]")
  as.double(x)
}

# Below 1e-11 what the other points leave of one is lost in rounding.
check_novelty <- function(x) check_number(x, "novelty", 1e-11, 0.5, open = FALSE)

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

# A hyperparameter as a user gives it: NULL, positive numbers, or fixed() around them.
check_hyper <- function(x, argument, positive = TRUE, single = FALSE, range = c(0, Inf)) {
  value <- if (is_fixed(x)) x$value else x
  if (is.null(value)) return(x)
  if (!is.numeric(value) || length(value) == 0L || !all(is.finite(value))) {
    stop_sparsegp(argument, "must be finite numbers, fixed() around them, or NULL")
  }
  if (single && length(value) != 1L) stop_sparsegp(argument, "must be one number")
  if (positive && any(value <= range[1L] | value >= range[2L])) {
    what <- if (range[2L] < Inf) paste("must lie between", range[1L], "and", range[2L])
            else if (range[1L] > 0) paste("must be greater than", range[1L]) else "must be positive"
    stop_sparsegp(argument, what, "Leave it out (NULL) to have it learned")
  }
  x
}

# A constructor given in place of its value, as in kernel = kernel_rbf, is called; other functions
# are left for the class check to refuse.
called <- function(x) {
  if (!is.function(x)) return(x)
  tryCatch(x(), error = function(e) x)
}

# Inputs of the default method: a numeric matrix with column names, or an error.
check_inputs <- function(x, argument = "x") {
  if (is.data.frame(x)) {
    numeric <- vapply(x, function(column) is.numeric(column) || is.logical(column), NA)
    if (!all(numeric)) {
      stop_sparsegp(argument, paste0("has columns that are not numeric: ",
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

# Distinct names of columns: x1, x2, ... where there is none, as cbind(age, 1) leaves it.
input_names <- function(x) {
  names <- colnames(x)
  if (is.null(names)) names <- character(ncol(x))
  nameless <- is.na(names) | names == ""
  names[nameless] <- paste0("x", which(nameless))
  make.unique(names)
}

check_finite_inputs <- function(x, argument = "x") {
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
  if (!is.numeric(x) || length(x) != n) {
    stop_sparsegp(argument, paste0("must be ", n, " numbers, one per row"))
  }
  if (any(is.infinite(x)) || (positive && any(x <= 0, na.rm = TRUE))) {
    stop_sparsegp(argument, if (positive) "must be positive and finite" else "must be finite",
                  "Leave out rows that should not count with `subset`")
  }
  as.double(x)
}
