# Times to an event as a column: a matrix with a row for each observation and the columns `time`,
# `time2`, `status` and `entry`, by which package survival's objects are read. All numbers are
# finite, so that a saved fit and a chunk of rows need nothing but this class:
#   status 1   the event was at `time`
#   status 0   it was after `time`, right censored
#   status 2   before `time`, left censored
#   status 3   between `time` and `time2`
# `time2` is `time` but for status 3. No event before `entry` would have been seen: left truncation,
# of which 0 is none.

TIME_COLUMNS <- c("time", "time2", "status", "entry")

TIME_STATUS <- c("after", "event", "before", "between") # from status 0

# Relative width of an interval whose bounds' logarithms may not differ but by rounding.
SAME_TIME <- 1e-12

# numbers: a matrix with these columns, the last of which may be left out
new_times <- function(numbers) {
  if (ncol(numbers) == 3L) numbers <- cbind(numbers, ifelse(is.na(numbers[, 3L]), NA, 0))
  structure(numbers, dimnames = list(NULL, TIME_COLUMNS), class = "sparsegp_times")
}

are_times <- function(y) inherits(y, "sparsegp_times")

as_times <- function(y) UseMethod("as_times")

#' @export
as_times.sparsegp_times <- function(y) {
  numbers <- unclass(y)
  refuse_if(!holds(!isS4(y) && is.double(numbers) && ncol(numbers) == length(TIME_COLUMNS)), "y",
            "has times that were changed afterwards", "Give Surv(time, status) again")
  y
}

# Numbers are times of events, and a matrix with the columns `time` and `status`, or `start`, `stop`
# and `status`, is of times that are right censored where the status is 0, unless it is still said
# of what type it was.
#' @export
as_times.default <- function(y) {
  if (has_lost_class(y)) return(as_times(structure(y, class = "Surv")))
  if (is_matrix_of_times(y)) {
    type <- if (ncol(y) == 3L) "counting" else "right"
    return(as_times(structure(y, type = type, class = "Surv")))
  }
  refuse_if(!is.numeric(y) || is.matrix(y), "y", "has no times to an event",
            paste("Give positive numbers, Surv(time, status) of package survival, or",
                  "cbind(time, status) with a status of 0 and 1"))
  y <- as.double(y)
  new_times(cbind(y, y, ifelse(is.na(y), NA, 1)))
}

# Is this a Surv object without its class, as unclass() leaves it?
has_lost_class <- function(y) {
  is.numeric(y) && is.matrix(y) && is.character(attr(y, "type")) &&
    "status" %in% colnames(y)
}

# Has a matrix the columns of a Surv object of any type?
may_be_times <- function(y) {
  is_matrix_of_times(y) ||
    is.matrix(y) && "status" %in% colnames(y) && any(c("time1", "start") %in% colnames(y))
}

is_matrix_of_times <- function(y) {
  named <- list(c("time", "status"), c("start", "stop", "status"))
  is.numeric(y) && is.matrix(y) && list(colnames(y)) %in% named &&
    all(y[, ncol(y)] %in% c(0, 1, NA))
}

# Reads a matrix of package survival. An interval that begins at 0 or -Inf is left censored, one
# without an end right censored, and one whose bounds are the same is the time of an event. The
# first column of type "counting" is that of entries, of which -Inf is none.
#' @export
as_times.Surv <- function(y) {
  type <- attr(y, "type")
  numbers <- matrix(as.double(unclass(y)), nrow(y))
  refuse_if(!is_word(type, c("right", "left", "interval", "interval2", "counting")), "y",
            paste0("is a Surv object of type \"", format(type)[1L],
                   "\", with several kinds of events"),
            paste("Give Surv(time, status), Surv(entry, time, status), or one of type",
                  "\"left\" or \"interval2\", and one event"))
  if (type == "counting") {
    numbers[numbers[, 1L] %in% -Inf, 1L] <- 0
    return(new_times(numbers[, c(2L, 2L, 3L, 1L), drop = FALSE]))
  }
  status <- numbers[, ncol(numbers)]
  if (type == "left") status <- ifelse(status == 1, 1, 2)
  time <- numbers[, 1L]
  time2 <- if (ncol(numbers) == 3L) numbers[, 2L] else time
  between <- status %in% 3
  from_start <- which(between & time <= 0)
  status[which(between & time2 == Inf)] <- 0
  status[which(between & abs(time2 - time) <= SAME_TIME * time)] <- 1
  status[from_start] <- 2
  time[from_start] <- time2[from_start]
  new_times(cbind(time, ifelse(status %in% 3, time2, time), status))
}

time_status <- function(y) unclass(y)[, 3L]

# 0 for observations that were followed from the start.
time_entry <- function(y) unclass(y)[, 4L]

is_event <- function(y) time_status(y) == 1

# Returns the bounds between which each time is known to be.
known_times <- function(y) {
  status <- time_status(y)
  list(lower = ifelse(status == 2, time_entry(y), y[, 1L]),
       upper = ifelse(status == 0, Inf, y[, 2L]))
}

#' @export
`[.sparsegp_times` <- function(x, i, j, ..., drop = TRUE) {
  if (!missing(j)) return(unclass(x)[i, j, drop = drop])
  numbers <- unclass(x)
  if (!missing(i)) numbers <- numbers[i, , drop = FALSE]
  new_times(matrix(numbers, ncol = 4L))
}

#' @export
length.sparsegp_times <- function(x) nrow(unclass(x))

# One column.
#' @export
as.data.frame.sparsegp_times <- function(x, ...) as.data.frame.model.matrix(x, ...)

#' @export
is.na.sparsegp_times <- function(x) is.na(rowSums(unclass(x)))

#' @export
anyNA.sparsegp_times <- function(x, recursive = FALSE) anyNA(unclass(x))

#' @export
rbind.sparsegp_times <- function(..., deparse.level = 1) {
  new_times(do.call(rbind, lapply(list(...), function(y) unclass(as_times(y)))))
}

# As survival prints them: 5+ is after 5, 5- before it, (2, 5] the event at 5 of what entered at 2.
#' @export
format.sparsegp_times <- function(x, ...) {
  numbers <- unclass(x)
  time <- format(numbers[, 1L], trim = TRUE, ...)
  status <- numbers[, 3L]
  interval <- paste0("[", time, ", ", format(numbers[, 2L], trim = TRUE, ...), "]")
  out <- ifelse(status == 3, interval, paste0(time, c("+", "", "-", "")[status + 1]))
  entry <- format(numbers[, 4L], trim = TRUE, ...)
  out <- ifelse(numbers[, 4L] > 0, paste0("(", entry, ", ", out, "]"), out)
  ifelse(is.na(x), NA_character_, out)
}

#' @export
as.character.sparsegp_times <- function(x, ...) format(x, digits = 15L)

#' @export
print.sparsegp_times <- function(x, ...) {
  print(format(x, ...), quote = FALSE)
  invisible(x)
}
