# Deterministic, evenly spread subsets of rows: the same rows give the same choice.

# Returns all rows in an order every beginning of which is spread evenly over them: by the
# fractional parts of multiples of the golden ratio, whose gaps are of three lengths at most.
# strata: a beginning has every class in proportion, and at least one row of each if it has as many
# rows as there are classes. x: inputs; one that hardly ever varies does so among the first rows,
# too.
spread_rows <- function(n, strata = NULL, x = NULL) {
  if (!is.null(x)) return(varying_rows_first(spread_rows(n, strata), x))
  if (is.null(strata)) return(order((seq_len(n) * (sqrt(5) - 1) / 2) %% 1))
  rank <- stats::ave(seq_len(n), strata, FUN = function(rows) order(spread_rows(length(rows))))
  size <- stats::ave(rank, strata, FUN = length)
  order(ifelse(rank == 1, 0, (rank - 0.5) / size))
}

# Moves rows up, so an input that is constant among the first min_points rows, and not among
# all, varies among them. A rare level of a factor may be the only input that distinguishes its
# rows. Rows that move up take every other place, so any prefix keeps at
# least half its rows.
varying_rows_first <- function(order, x) {
  witnesses <- rows_that_vary(order, x)
  count <- length(witnesses)
  if (count == 0L) return(order)
  others <- setdiff(order, witnesses)
  place <- c(2 * seq_len(count) - 0.5, seq_along(others))
  c(witnesses, others)[base::order(place)]
}

# Returns a row for each input that is constant in the beginning of `order` and varies further on;
# one row may serve several inputs.
rows_that_vary <- function(order, x) {
  if (length(order) <= policy$min_points) return(integer())
  first <- x[order[1L], ]
  start <- x[order[seq_len(policy$min_points)], , drop = FALSE]
  constant <- which(colSums(start != rep(first, each = policy$min_points)) == 0)
  found <- integer()
  for (column in constant) {
    if (any(x[found, column] != first[column])) next
    other <- which(x[order, column] != first[column])
    found <- c(found, order[other[1L]][length(other) > 0L])
  }
  found
}

# Returns the strata of rows: labels, or numbers of which there are so few that they may be
# labels. Rows without one are a class of their own.
strata_of <- function(y) {
  if (is.null(y) || !is.null(dim(y))) return(NULL)
  values <- unique(y)
  if (is.numeric(y) && length(values) > MOST_STRATA) return(NULL)
  match(y, values)
}

MOST_STRATA <- 64L

# Returns so many rows of a chunk, in their order: a pilot sample.
pilot_rows <- function(chunk, count) {
  n <- nrow(chunk$x)
  if (count == n) seq_len(n)
  else sort(spread_rows(n, strata_of(chunk$y), chunk$x)[seq_len(count)])
}
