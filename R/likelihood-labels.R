# Likelihoods whose labels say more, or less, than a class: ordered categories, and rows without a
# label. What R has to know of each is said in likelihood-traits.R.

# Cut points from the hyperparameters: the first, and the gaps after it.
cut_points <- function(value) cumsum(unlist(value, use.names = FALSE))

# They start where they alone give the categories' frequencies, half a row added to each.
starting_cuts <- function(rows, offset, categories) {
  share <- cumsum(tabulate(rows, categories) + 0.5) / (length(rows) + 0.5 * categories)
  stats::qnorm(share[-categories]) + mean(offset)
}

# Ordered categories: rows are 1..K. Hyperparameters are named by the categories on either side.
ordinal_traits <- list(
  response = "ordered", scales = FALSE, weighted = FALSE,
  about = list(
    cut = list(
      argument = "cuts", log = FALSE, unit_power = 0,
      start = function(rows, offset, categories) starting_cuts(rows, offset, categories)[1L],
      prior = function(unit, offset) prior_normal(mean(offset), 5),
      between = function(categories) 1L
    ),
    gap = list(
      argument = "cuts", log = TRUE, unit_power = 0, adds_to = "cut",
      start = function(rows, offset, categories) log(diff(starting_cuts(rows, offset, categories))),
      prior = function(unit, offset) prior_lognormal(0, 1.5),
      between = function(categories) seq_len(categories - 1L)[-1L]
    )
  ),
  data_rows = function(y, weights) rbind(as.double(y)),
  draw = function(f, value, weights) {
    findInterval(f + stats::rnorm(length(f)), cut_points(value)) + 1
  },
  quantile = function(p, mean, var, value, weights) {
    findInterval(mean + stats::qnorm(p) * sqrt(1 + var), cut_points(value), left.open = TRUE) + 1
  },
  extra_var = function(value, weights, within) 0
)

# A probability that a label is missing. It starts at the share of rows without one.
missing_label <- list(
  argument = "missing", log = TRUE, unit_power = 0, range = c(0, 1),
  start = function(rows, offset) to_search((sum(rows == 0) + 0.5) / (length(rows) + 1), 0, 1),
  prior = function(unit, offset) prior_flat()
)

# Two classes with a null category between them: rows are -1, 1, or 0 without a label.
nullcat_traits <- function() {
  plain <- binary_traits(stats::pnorm, stats::qnorm)
  plain$unlabelled <- TRUE
  all_rows <- plain$about$bias$start
  plain$about$bias$start <- function(rows, offset) all_rows(rows[rows != 0], offset)
  plain$about$width <- list(
    argument = "width", log = TRUE, unit_power = 0, start = function(rows, offset) 0,
    prior = function(unit, offset) prior_lognormal(0, 1)
  )
  plain$about$missing1 <- plain$about$missing2 <- missing_label
  # where it is not the null category
  plain$draw <- function(f, value, weights) {
    m <- f + value[["bias"]]
    odds <- stats::pnorm(m - value[["width"]] / 2, log.p = TRUE) -
      stats::pnorm(-m - value[["width"]] / 2, log.p = TRUE)
    second <- stats::runif(length(f)) < stats::plogis(odds)
    missing <- ifelse(second, value[["missing2"]], value[["missing1"]])
    ifelse(stats::runif(length(f)) < missing, 0, ifelse(second, 1, -1))
  }
  plain
}
