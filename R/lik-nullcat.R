# Two classes with a null category between them, and rows without a label; and the same where every
# row has one, as a margin: the twin of src/lik_nullcat.c.

#' @rdname likelihoods_margin
#' @order 16
#' @export
lik_nullcat <- function(bias = NULL, width = fixed(1), missing = fixed(0.5)) {
  values <- given_value(missing)
  if (length(values) > 2L) stop_sparsegp("missing", "must be one number, or one for each class")
  of_class <- function(class) {
    if (length(values) < 2L) missing else given_like(missing, values[class])
  }
  new_likelihood("nullcat", list(bias = bias, width = width, missing1 = of_class(1L),
                                 missing2 = of_class(2L)))
}

# A probability that a label is missing. It starts at the proportion of rows without one.
missing_label <- list(
  argument = "missing", log = TRUE, unit_power = 0, range = c(0, 1),
  start = function(rows, offset) to_search((sum(rows == 0) + 0.5) / (length(rows) + 1), 0, 1),
  prior = function(unit, offset) prior_flat()
)

#' @rdname likelihoods_margin
#' @order 17
#' @export
lik_margin <- function(bias = NULL, width = fixed(8)) {
  new_likelihood("margin", list(bias = bias, width = width))
}

# Two classes with a null category between them: rows are -1, 1, or 0 without a label.
nullcat_traits <- function() {
  plain <- traits_like(apart_traits(), response = "some_labels", normalised = FALSE)
  all_rows <- plain$about$bias$start
  plain$about$bias$start <- function(rows, offset) all_rows(rows[rows != 0], offset)
  plain$about[c("missing1", "missing2")] <- list(missing_label, missing_label)
  label <- plain$draw
  plain$draw <- function(f, value, weights) {
    drawn <- label(f, value, weights)
    missing <- ifelse(drawn > 0, value[["missing2"]], value[["missing1"]])
    ifelse(stats::runif(length(f)) < missing, 0, drawn)
  }
  plain
}

margin_traits <- function() traits_like(apart_traits(), tempered = TRUE, normalised = FALSE)

# Two classes, and between them a category of that width in which no row is drawn.
apart_traits <- function() {
  plain <- binary_traits(stats::pnorm, stats::qnorm)
  plain$about$width <- list(
    argument = "width", log = TRUE, unit_power = 0, start = function(rows, offset) 0,
    prior = function(unit, offset) prior_lognormal(0, 1)
  )
  plain$draw <- function(f, value, weights) {
    m <- f + value[["bias"]]
    odds <- stats::pnorm(m - value[["width"]] / 2, log.p = TRUE) -
      stats::pnorm(-m - value[["width"]] / 2, log.p = TRUE)
    ifelse(stats::runif(length(f)) < stats::plogis(odds), 1, -1)
  }
  plain
}
