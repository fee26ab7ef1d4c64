# Times to an event: the twins of src/lik_times.c, which differ in the distribution of their error.

#' @rdname likelihoods_times
#' @order 2
#' @export
lik_weibull <- function(scale = NULL) new_likelihood("weibull", list(scale = scale))

#' @rdname likelihoods_times
#' @order 3
#' @export
lik_loglogistic <- function(scale = NULL) new_likelihood("loglogistic", list(scale = scale))

#' @rdname likelihoods_times
#' @order 4
#' @export
lik_lognormal <- function(scale = NULL) new_likelihood("lognormal", list(scale = scale))

weibull_traits <- function() times_traits("weibull")

loglogistic_traits <- function() times_traits("loglogistic")

lognormal_traits <- function() times_traits("lognormal")

times_traits <- function(type) c(lik_code(
  response = "times", density = TRUE, weighted = FALSE,
  data_rows = function(y, weights) unname(t(unclass(codes_as_times(y)))),
  start_rows = if (type != "weibull") function(rows) replace(rows, row(rows) == 4L, NO_ENTRY)
), lik_hyper(
  about = list(scale = time_scale)
), lik_sample(
  draw = function(f, value, weights) f + value[["scale"]] * TIME_ERRORS[[type]]$draw(length(f)),
  outcomes = function(mean, var, value, weights) number_outcomes(mean, var, value[["scale"]])
))

# Codes that are numbers are those of events without an entry.
codes_as_times <- function(y) if (are_times(y)) y else new_times(cbind(y, y, 1, NO_ENTRY))

# The scale of the errors of log times, which are most of what log times vary. Its prior is that of
# the standard deviation of normal noise.
time_scale <- list(
  argument = "scale", log = TRUE, unit_power = 1, start = function(rows, offset) log(0.6),
  prior = function(unit, offset) default_lognormal(-1, 1)(unit)
)

# The likelihood of times of which nothing was said: the evidence may choose another error.
open_times <- function() {
  lik <- lik_weibull()
  lik$open_error <- TRUE
  lik
}
