# The clock of a stream that forgets or drifts by a column (method-online.R): the time of each row.
# Attribute `clock` of the terms has its unit in the first rows, see measure_of().

clock_name <- function(recipe) as.character(recipe$arguments$clock)

# Returns plain data of a recipe that has a clock, with this, checked, as it was in the first rows.
with_clock <- function(recipe, data) {
  name <- clock_name(recipe)
  column <- clock_of_rows(recipe, data)
  refuse_if(is.null(column), recipe$argument, paste("lacks", name),
            "It needs the column with the time of each row that method_online() names")
  if (is.logical(column) && all(is.na(column))) return(data)
  refuse_if(!is_clock(column), recipe$argument,
            paste0("has ", name, " of class ", class(column)[1L], ", which is not a time"),
            CLOCK_REMEDY)
  was <- attr(recipe$terms, "clock")
  if (is.null(was)) return(data) # the first rows
  refuse_if(was != NO_MEASURE && is.null(measure_of(column)),
            recipe$argument, paste0("has ", name, " as numbers, which was ", was, " at the fit"),
            "Convert it to the class that it had in the first rows")
  in_measures(data, stats::setNames(was, name), recipe$argument)
}

CLOCK_REMEDY <- "Times are numbers, or of class Date, POSIXct or difftime"

NO_MEASURE <- "numbers"

is_clock <- function(column) {
  times <- is.numeric(column) || inherits(column, c("Date", "POSIXct", "difftime"))
  times && is.null(dim(column)) && !inherits(column, "integer64")
}

# Returns the clock, which may be where the formula was written, as other variables of a first call.
clock_of_rows <- function(recipe, data) {
  name <- clock_name(recipe)
  column <- if (is.list(data)) data[[name]]
  if (!is.null(column) || inherits(recipe$terms, "terms")) return(column)
  get0(name, environment(recipe$terms), mode = "numeric") # t is a function, too
}

# Returns the first frame of a recipe that has a clock, with a note of what it is.
note_clock <- function(frame, recipe, data) {
  column <- clock_of_rows(recipe, data)
  if (is.null(column) || is.logical(column)) return(frame)
  terms <- attr(frame, "terms")
  attr(terms, "clock") <- measure_of(column) %||% NO_MEASURE
  attr(frame, "terms") <- terms
  frame
}

# Returns the times of the rows of a frame that has a clock, as numbers.
times_of_frame <- function(recipe, frame) {
  time <- as.double(unclass(frame[["(clock)"]]))
  if (all(is.finite(time))) return(time)
  stop_sparsegp(recipe$argument, paste("has times that are not finite, in", clock_name(recipe)),
                NOT_FINITE_REMEDY)
}
