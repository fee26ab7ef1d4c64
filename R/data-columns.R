# Columns as users bring them. Every data frame goes through plain_data() before a formula is
# evaluated in it, every vector of the matrix methods through plain_column(): what is stored
# otherwise than it is meant becomes numbers or times here, or is refused.

# Names that model.frame() gives to columns of its own.
FRAME_COLUMNS <- c("(weights)", "(offset)", "(clock)", "(subset)", "(na.action)")

# Returns the numbers of those columns that have a class, dimensions or other attributes. Plain
# numbers, texts and logical values have none, and are what they are meant to be: nothing of what
# follows is asked of them.
dressed <- function(columns) which(lengths(lapply(columns, attributes)) > 0L)

# Returns one column as plain numbers or times: integer64 as doubles, POSIXlt as POSIXct, times to
# an event of survival as this package's, a sparse column as an ordinary one, an array of one
# dimension as a vector, the column of a data frame of one column as that.
plain_column <- function(x, argument = "data") {
  if (is.null(attributes(x))) return(x)
  if (is.data.frame(x) && length(x) == 1L) return(plain_column(x[[1L]], argument))
  if (inherits(x, "integer64")) return(plain_column(plain_numbers(x), argument))
  if (inherits(x, "POSIXlt")) return(as.POSIXct(x))
  if (inherits(x, "Surv") || has_lost_class(x)) return(as_times(x))
  if (inherits(x, c("Matrix", "sparseVector"))) return(drop(dense_inputs(x, argument)))
  if (length(dim(x)) != 1L) return(x)
  dim(x) <- NULL
  if (inherits(x, "table")) unclass(x) else x
}

# Sparse matrices of package Matrix, up to so many numbers: 800 megabytes.
MOST_DENSE <- 1e8

dense_inputs <- function(x, argument) {
  if (prod(dim(x)) <= MOST_DENSE) return(as.matrix(x))
  stop_sparsegp(argument, paste0("is a sparse matrix of ", nrow(x), " x ", ncol(x),
                                 " numbers, and kernels need all of them"),
                paste("Give fewer columns, a few principal components for instance:",
                      "at most 1e8 numbers"))
}

# Returns a data frame or list with plain columns, in the units of `terms`, see measure_of(). A
# matrix of class mts becomes a data frame, as lm() does it; environments stay.
plain_data <- function(data, argument = "data", terms = NULL) {
  if (!is.data.frame(data)) refuse_source(data, argument)
  if (is.matrix(data) && is.object(data)) data <- as.data.frame(data)
  if (!is.list(data)) return(data)
  for (i in dressed(data)) {
    plain <- plain_column(data[[i]], argument)
    if (identical(plain, data[[i]])) next
    if (is.data.frame(data)) data <- as.data.frame(data)
    data[[i]] <- plain
  }
  measures <- attr(terms, "measures")
  if (is.null(measures)) data else in_measures(data, measures, argument)
}

# Refuses rows in chunks where all of them are needed.
refuse_source <- function(data, argument) {
  if (!inherits(data, c("sparsegp_source", "tbl_sql", "FileSystemDataset"))) return(invisible())
  stop_sparsegp(argument, "is a source of rows, which sparsegp(formula), update(), predict() read",
                "Give a data frame, such as one chunk of its rows")
}

# Refuses integer64 in a model frame that was not in `data`, so that nothing has converted it: the
# formula's expressions may have been computed with the wrong numbers. beside: variables that were
# not in `data` either.
refuse_integer64 <- function(frame, beside = list()) {
  columns <- c(as.list(frame), beside)
  strange <- names(Filter(function(column) inherits(column, "integer64"), columns))
  refuse_if(length(strange) > 0L, "data",
            paste0("does not hold ", toString(unique(strange)), ", which is of class integer64"),
            "Make it a column of `data`, or convert it by as.double()")
}

has_levels <- function(column) is.factor(column) || is.character(column)

# ---- Units ----

# How measures begin that are of a kind with several units, which follow
IN_DIFFTIME <- "difftime in "
IN_UNITS <- "units "
IN_SYSTEM <- "coordinates of "

# Returns the unit in which numbers of such a column count, in words, or NULL.
measure_of <- function(x) {
  if (inherits(x, "difftime")) return(paste0(IN_DIFFTIME, attr(x, "units")))
  if (inherits(x, "units")) return(paste0(IN_UNITS, unit_text(x) %||% "1"))
  if (!is.null(attr(x, "crs"))) return(paste0(IN_SYSTEM, attr(x, "crs")))
  if (inherits(x, "Date")) return("Date")
  if (inherits(x, "POSIXct")) "POSIXct"
}

# Returns the unit of a measure of this kind, or NULL if it is of another.
unit_of_kind <- function(measure, kind) {
  if (startsWith(measure, kind)) substring(measure, nchar(kind) + 1L)
}

# Returns the coordinate system that the measures of two variables have in common, or NULL.
common_system <- function(measures) {
  systems <- unlist(lapply(measures[!is.na(measures)], unit_of_kind, IN_SYSTEM))
  if (length(systems) == 2L && systems[[1L]] == systems[[2L]]) systems[[1L]]
}

# Returns the remedy for a variable of another class or unit than `was`.
conversion_to <- function(was) {
  unit <- unit_of_kind(was, IN_UNITS)
  if (!is.null(unit)) {
    return(paste0("Convert it, by units::set_units(x, \"", unit, "\") for instance"))
  }
  system <- unit_of_kind(was, IN_SYSTEM)
  if (!is.null(system)) {
    return(paste0("Use sf::st_transform() or terra::project() with \"", system, "\""))
  }
  how <- c(Date = "as.Date()", POSIXct = "as.POSIXct()", numeric = "as.numeric()")
  if (was %in% names(how)) paste0("Convert it to ", was, ", by ", how[[was]], " for instance")
  else "Convert it to the class that it had at the fit"
}

# Returns what there is to note of the variables of a first call: those, by name, that are more than
# plain numbers. Attribute `beside`: names of those that are not in `data`.
noted_variables <- function(terms, data) {
  names <- all.vars(terms)
  taken <- intersect(names, FRAME_COLUMNS)
  refuse_if(length(taken), "formula",
            paste0("has a variable called ", toString(taken), ", a name that ",
                   "model frames use themselves"), "Rename that column")
  within <- if (is.list(data) || is.environment(data)) intersect(names, names(data))
  beside <- setdiff(names, within)
  values <- c(lapply(stats::setNames(nm = within), function(name) data[[name]]),
              mget(beside, environment(terms), inherits = TRUE, ifnotfound = list(NULL)))
  values <- values[dressed(values)]
  structure(values, beside = intersect(beside, names(values)))
}

# Returns the model frame of a first call, checked, with the measures of its variables in attribute
# `measures` of the terms: a named vector, NULL if none has one; and in attribute `titles` what axes
# of pictures say of those variables that have a label or a unit. Later frames keep what was noted.
note_variables <- function(frame, values) {
  refuse_integer64(frame, values[attr(values, "beside")])
  terms <- attr(frame, "terms")
  if (!is.null(attr(terms, "measures"))) return(frame)
  attr(terms, "measures") <- unlist(lapply(values, measure_of))
  attr(terms, "titles") <- unlist(Map(title_of, values, names(values)))
  attr(frame, "terms") <- terms
  frame
}

# Returns the title of an axis for a variable: its label (attribute `label`, as packages haven,
# labelled and Hmisc set it), else its name, and its unit in brackets; NULL if it has neither.
title_of <- function(x, name) {
  label <- text_attribute(x, "label")
  unit <- unit_text(x)
  if (is.null(label) && is.null(unit)) return(NULL)
  if (is.null(label) || nchar(label) > LONGEST_TITLE) label <- name
  if (is.null(unit)) label else paste0(label, " (", unit, ")")
}

LONGEST_TITLE <- 60L # characters

text_attribute <- function(x, name) {
  text <- attr(x, name, exact = TRUE)
  if (is.character(text) && length(text) == 1L && !is.na(text) && nzchar(text)) unname(text)
}

# Returns the unit of a variable in words, or NULL: of class units, of differences of time, or
# attribute `units`.
unit_text <- function(x) {
  unit <- attr(x, "units", exact = TRUE)
  if (!inherits(unit, "symbolic_units")) return(text_attribute(x, "units"))
  unit <- unclass(unit)
  above <- factors_text(unit$numerator)
  below <- factors_text(unit$denominator)
  text <- paste0(if (nzchar(above)) above else "1",
                 if (nzchar(below)) paste0("/", if (grepl(" ", below)) paste0("(", below, ")")
                                                else below))
  if (nzchar(above) || nzchar(below)) text
}

# Returns c("m", "s", "s") as "m s^2".
factors_text <- function(symbols) {
  counts <- table(factor(symbols, unique(symbols)))
  paste0(names(counts), ifelse(counts > 1L, paste0("^", counts), ""), recycle0 = TRUE,
         collapse = " ")
}

# Returns new data in the units of the fit: differences of time and units of one kind are converted,
# others refused.
in_measures <- function(data, measures, argument) {
  for (name in intersect(names(measures), names(data))) {
    now <- measure_of(data[[name]])
    was <- measures[[name]]
    if (is.null(now) || identical(now, was)) next
    both <- function(kind) all(startsWith(c(now, was), kind))
    converted <- if (both(IN_DIFFTIME)) in_difftime(data[[name]], was)
                 else if (both(IN_UNITS)) in_units(data[[name]], was)
    refuse_if(is.null(converted),
              argument, paste0("has ", name, " as ", now, ", which was ", was, " at the fit"),
              conversion_to(was))
    data[[name]] <- converted
  }
  data
}

in_difftime <- function(x, was) {
  to <- unit_of_kind(was, IN_DIFFTIME)
  structure(as.vector(unclass(x)) * (SECONDS[[attr(x, "units")]] / SECONDS[[to]]),
            class = "difftime", units = to)
}

# Returns NULL if package units is not installed, or has no conversion.
in_units <- function(x, was) {
  if (!requireNamespace("units", quietly = TRUE)) return(NULL)
  tryCatch(units::set_units(x, unit_of_kind(was, IN_UNITS), mode = "standard"),
           error = function(e) NULL)
}

SECONDS <- c(secs = 1, mins = 60, hours = 3600, days = 86400, weeks = 604800)
