# Codes for missing values, such as -99, -999 and 9999, that were left among the numbers, and other
# numbers that are far from the rest.

# Dates that stand for "missing" in many files, as days and as seconds since 1970; the last is of
# the end of its day.
MISSING_DATES <- local({
  dates <- as.Date(c("1899-12-30", "1900-01-01", "2099-12-31", "2999-12-31", "9999-12-31"))
  days <- as.double(dates)
  last <- 86400 * max(days) + 86399
  stats::setNames(c(days, 86400 * days, last), format(dates)[c(1:5, 1:5, 5L)])
})

# The numbers that stand for "missing" in many files: all digits 7, 8 or 9, of two digits or more
# and up to three decimals, with either sign; -9; the ends of types of numbers; and dates.
SENTINELS <- local({
  digits <- outer(7:9, (10^(2:8) - 1) / 9)
  codes <- c(outer(digits, 10^(0:3), `/`))
  codes <- codes[codes >= 77]
  c(codes, -codes, -9, -32768, 32767, 2147483647, -2147483648, 1e20, 1e30, 1e36,
    unname(MISSING_DATES))
})

# Returns the codes among numbers that stand alone, each as its value, named by how often it is
# there. A code stands alone if it is farther from all that are no codes than these are from each
# other, or if it is negative, of at least two digits, and no other number is.
lone_codes <- function(x) {
  LEAST <- 5L # other numbers, which have a spread to compare with
  x <- x[is.finite(x)]
  if (length(x) == 0L || !any(range(x) %in% SENTINELS)) return(lone_repeats(x))
  values <- unique(x)
  counts <- tabulate(match(x, values))
  codes <- values %in% SENTINELS
  if (sum(counts[!codes]) < LEAST || sum(!codes) < 2L) return(numeric())
  others <- range(values[!codes])
  gap <- pmax(others[1L] - values, values - others[2L])
  alone <- codes & (gap > diff(others) | values <= -77 & others[1L] >= 0)
  stats::setNames(values[alone], counts[alone])
}

# Returns the least or greatest of numbers, named likewise, if it may be a code that is in no list:
# it is there more than once, and many times as far from the others as these are from each other,
# which have more values than a design of few levels.
lone_repeats <- function(x) {
  PROPORTION <- 0.25 # of numbers, at most
  FAR <- 20
  LEAST <- 10L # other values
  for (end in unique(if (length(x)) range(x))) {
    others <- x[x != end]
    times <- length(x) - length(others)
    if (times == 1L || times > PROPORTION * length(x)) next
    far <- min(abs(others - end)) > FAR * diff(range(others))
    if (far && length(unique(others)) >= LEAST) return(stats::setNames(end, times))
  }
  numeric()
}

# Are some of the lowest or highest tenth of numbers twice as far from the rest as the rest is wide?
# Values of smooth functions are not.
stand_apart <- function(y) {
  PROPORTION <- 0.1
  FAR <- 2
  y <- sort(y)
  n <- length(y)
  few <- floor(PROPORTION * n)
  above <- function(y) {
    at <- n - seq_len(few)
    any(y[at + 1L] - y[at] > FAR * (y[at] - y[few + 1L]))
  }
  few > 0 && (above(y) || above(-rev(y)))
}

# Warns of codes that stand alone in numeric columns, a list by name. Returns nothing.
warn_of_codes <- function(columns) {
  said <- unlist(Map(function(x, name) {
    found <- lone_codes(x)
    if (length(found)) paste0(name, " has ", words_of_codes(found))
  }, columns, names(columns)), use.names = FALSE)
  if (is.null(said)) return(invisible())
  warn_sparsegp("Values far from all others may be codes for missing values: ",
                paste(said, collapse = "; "), ".\nIf they are, make them NA before fitting.")
}

words_of_codes <- function(found) {
  times <- as.integer(names(found))
  values <- vapply(unname(found), format, "", digits = 8L)
  dates <- names(MISSING_DATES)[match(found, MISSING_DATES)]
  values <- paste0(values, ifelse(is.na(dates), "", paste(", as a date", dates)))
  paste(paste0(values, " (", vapply(times, counted, "", "row"), ")"), collapse = ", ")
}
