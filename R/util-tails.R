# Probabilities of less and of more than a number, and the normal quantile that they are of.

# The normal quantile, from the smaller of the two tails, which has the digits. up: how far up a
# jump it lies, from 0 to 1
tail_quantiles <- function(tails, up) {
  mass <- pmax(1 - tails$below - tails$above, 0)
  # 37 standard deviations off the numbers end; tails that add up to 1 may do so but for rounding
  inside <- function(p) pmin(pmax(p, .Machine$double.xmin), 1)
  lower <- inside(tails$below + up * mass)
  upper <- inside(tails$above + (1 - up) * mass)
  ifelse(lower < upper, stats::qnorm(lower), stats::qnorm(upper, lower.tail = FALSE))
}
