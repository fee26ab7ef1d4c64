# Counts with more zeros than their rate explains, or fewer: the twins of src/lik_zero.c.

#' @rdname likelihoods_counts
#' @order 15
#' @export
lik_zip <- function(bias = NULL, zero = NULL, hurdle = FALSE) {
  type <- if (check_flag(hurdle, "hurdle")) "hurdle_poisson" else "zip"
  new_likelihood(type, list(bias = bias, zero = zero))
}

#' @rdname likelihoods_counts
#' @order 16
#' @export
lik_zinb <- function(bias = NULL, size = NULL, zero = NULL, hurdle = FALSE) {
  type <- if (check_flag(hurdle, "hurdle")) "hurdle_negbin" else "zinb"
  new_likelihood(type, list(bias = bias, size = size, zero = zero))
}

# The names "hurdle_poisson" and "hurdle_negbin" stand for these.
lik_hurdle_poisson <- function(bias = NULL, zero = NULL) lik_zip(bias, zero, hurdle = TRUE)

lik_hurdle_negbin <- function(bias = NULL, size = NULL, zero = NULL) {
  lik_zinb(bias, size, zero, hurdle = TRUE)
}

zip_traits <- function() excess_traits(poisson_traits())

zinb_traits <- function() excess_traits(negbin_traits())

hurdle_poisson_traits <- function() hurdle_traits(poisson_traits())

hurdle_negbin_traits <- function() hurdle_traits(negbin_traits())

# Returns the traits of counts that are 0 with a probability of its own beside what the part, a
# likelihood of counts, has. start: of that probability, of the rows.
with_zeros <- function(part, start, draw) {
  bias <- part$about$bias$start
  part$about$bias$start <- function(rows, offset) bias(rows, offset) - log1p(-start(rows))
  part$about$zero <- list(
    argument = "zero", log = TRUE, unit_power = 0, range = c(0, 1),
    start = function(rows, offset) to_search(start(rows), 0, 1),
    # it falls to 0 at 0, so that there is a mode where there is no excess
    prior = function(unit, offset) prior_gamma(1.5, 1.5)
  )
  traits_like(part, draw = draw, weighted = FALSE, repeated = FALSE, beyond_moments = TRUE,
              data_rows = function(y, weights) count_rows(y))
}

# An excess zero, or a count of the part
excess_traits <- function(part) {
  count <- part$draw
  with_zeros(part, excess_at_first, function(f, value, weights) {
    ifelse(stats::runif(length(f)) < value[["zero"]], 0, count(f, value, weights))
  })
}

# Zero, or a count of the part that is not: its quantile at a random place above the probability of
# 0.
hurdle_traits <- function(part) {
  with_zeros(part, proportion_of_zeros, function(f, value, weights) {
    passed <- stats::runif(length(f)) >= value[["zero"]]
    ifelse(passed, positive_counts(exp(pmin(f + value[["bias"]], 300)), value), 0)
  })
}

# Returns random counts that are not 0, of a rate each. The upper tail has its digits where the rate
# is small; below 1e-300 counts are 1.
positive_counts <- function(rate, value) {
  size <- if ("size" %in% names(value)) value[["size"]] else Inf
  positive <- if (is.finite(size)) -expm1(-size * log1p(rate / size)) else -expm1(-rate)
  upper <- stats::runif(length(rate)) * positive
  quantile <- if (is.finite(size)) stats::qnbinom(upper, size, mu = rate, lower.tail = FALSE)
              else stats::qpois(upper, rate, lower.tail = FALSE)
  as.double(pmax(quantile, 1))
}

proportion_of_zeros <- function(rows) {
  (sum(rows[1L, ] == 0) + 0.5) / (ncol(rows) + 1)
}

# Returns the proportion of zeros beyond what a Poisson distribution with the mean of the other
# counts has, of which half is left to how rates vary.
excess_at_first <- function(rows) {
  zeros <- proportion_of_zeros(rows)
  counts <- rows[1L, rows[1L, ] > 0]
  rate <- max(mean(counts), 1.01, na.rm = TRUE) - 1 # where all are zeros, too
  min(max(zeros - (1 - zeros) * exp(-rate) / -expm1(-rate), 0.1 * zeros) / 2 + 0.01, 0.9)
}
