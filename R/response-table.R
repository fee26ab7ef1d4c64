# Tables of the responses that there may be, in their order, and their probabilities: list(y, p), p
# a row for each response to predict and a column for each of y.

# Returns the table of labels, numbered from 1. prob: a column for each
table_of_labels <- function(prob) list(y = seq_len(ncol(prob)), p = unname(prob))

table_mean <- function(table) c(table$p %*% table$y)

table_moments <- function(table) {
  mean <- table_mean(table)
  list(mean = mean, var = rowSums(table$p * outer(-mean, table$y, `+`)^2))
}

# Returns the probabilities of less and of more than y.
table_tails <- function(table, y) {
  side <- function(compare) rowSums(table$p * outer(y, table$y, compare))
  list(below = side(`>`), above = side(`<`))
}

# Returns the first response up to which the probabilities add up to p, one or one for each row.
table_quantile <- function(table, p) {
  ROUNDING <- 1e-12
  enough <- rep_len(p * (1 - ROUNDING), nrow(table$p))
  each <- seq_along(enough)
  table$y[vapply(each, function(i) which(cumsum(table$p[i, ]) >= enough[i])[1L], 1L)]
}
