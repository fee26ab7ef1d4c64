# Ordered categories: the twin of src/lik_ordinal.c.

#' @rdname likelihoods_classes
#' @order 15
#' @export
lik_ordinal <- function(cuts = NULL) {
  values <- plain_numbers(given_value(cuts))
  check_hyper(values, "cuts", positive = FALSE)
  refuse_if(is.unsorted(values, strictly = TRUE), "cuts", "must be in increasing order",
            "Give one number between any two neighbouring categories")
  part <- function(values) if (length(values)) given_like(cuts, values)
  new_likelihood("ordinal", list(cut = part(values[1L]), gap = part(diff(values))))
}

# Cut points from the hyperparameters: the first, and the gaps after it.
cut_points <- function(value) cumsum(unlist(value, use.names = FALSE))

# They start where they alone give the categories' frequencies, half a row added to each; the mean
# offset moves all of them.
starting_cuts <- function(rows, categories) {
  share <- cumsum(tabulate(rows, categories) + 0.5) / (length(rows) + 0.5 * categories)
  stats::qnorm(share[-categories])
}

# Ordered categories: rows are 1..K. Hyperparameters are named by the categories on either side.
ordinal_traits <- function() c(lik_code(
  response = "ordered", weighted = FALSE,
  data_rows = function(y, weights) rbind(as.double(y))
), lik_hyper(
  about = list(
    cut = list(
      argument = "cuts", log = FALSE, unit_power = 0,
      start = function(rows, offset, categories) {
        starting_cuts(rows, categories)[1L] + mean(offset)
      },
      prior = function(unit, offset) prior_normal(mean(offset), 5),
      between = function(categories) 1L
    ),
    gap = list(
      argument = "cuts", log = TRUE, unit_power = 0, adds_to = "cut",
      start = function(rows, offset, categories) log(diff(starting_cuts(rows, categories))),
      prior = function(unit, offset) prior_lognormal(0, 1.5),
      between = function(categories) seq_len(categories - 1L)[-1L]
    )
  )
), lik_sample(
  draw = function(f, value, weights) {
    findInterval(f + stats::rnorm(length(f)), cut_points(value)) + 1
  }
))
