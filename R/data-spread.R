# Some of many rows, without luck: the same rows give the same choice.

# All rows in an order every beginning of which is spread evenly over them: by the fractional parts
# of multiples of the golden ratio, whose gaps are of three lengths at most. strata: of every class
# a beginning has its share, and of each at least one as soon as it is as long as there are classes.
spread_rows <- function(n, strata = NULL) {
  if (is.null(strata)) return(order((seq_len(n) * (sqrt(5) - 1) / 2) %% 1))
  rank <- stats::ave(seq_len(n), strata, FUN = function(rows) order(spread_rows(length(rows))))
  size <- stats::ave(rank, strata, FUN = length)
  order(ifelse(rank == 1, 0, (rank - 0.5) / size))
}

# What rows are stratified by: labels, or numbers of which there are so few that they may be
# labels. Rows without one are a class of their own.
strata_of <- function(y) {
  if (is.null(y) || !is.null(dim(y))) return(NULL)
  values <- unique(y)
  if (is.numeric(y) && length(values) > MOST_STRATA) return(NULL)
  match(y, values)
}

MOST_STRATA <- 64L
