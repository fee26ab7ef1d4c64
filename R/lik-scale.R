# The scale of a response, as a likelihood has it: lik$transform, list(name, value), value that of
# the scale's parameter as a user gives it. NULL: none was given, and responses are not transformed.

#' The scale of a response
#'
#' Prices, wages, times and sizes are skewed, and their scatter grows with their mean. On another
#' scale, often that of the logarithm, they are about normal with equal scatter. The argument
#' `transform` of the [likelihoods] of numbers, as in `lik_gaussian(transform = "log")`, names that
#' scale; the model is fitted there, and predictions are in the response's own units again.
#'
#' | `transform` | \eqn{g(y)} | for responses |
#' |---|---|---|
#' | `"identity"` | \eqn{y} | any |
#' | `"log"` | \eqn{\log y}{log(y)} | greater than 0 |
#' | `"sqrt"` | \eqn{\sqrt y}{sqrt(y)} | of 0 or more |
#' | `"boxcox"` | \eqn{((y / m)^\lambda - 1) / \lambda}{((y / m)^lambda - 1) / lambda} | greater than 0; m their geometric mean |
#' | `"logit"` | \eqn{\log(y / (1 - y))}{log(y / (1 - y))} | between 0 and 1 |
#' | `"asinh"` | \eqn{\sinh^{-1}((y - m) / s)}{asinh((y - m) / s)} | any, with heavy tails; m their median, or if one tail is heavy the quantile of 1 % at the other end |
#'
#' The model is that \eqn{g(y)} has the likelihood's noise about the latent function.
#' \eqn{\lambda}{lambda} (`lambda` in [coef()]) and \eqn{s} (`asinh`) are hyperparameters, learned
#' with the others. \eqn{\lambda}{lambda} lies between 0, the logarithm, and 2. Give a start, or
#' keep a value by [fixed()]: `transform = response_scale("boxcox", fixed(0.5))`. Their default
#' priors are flat, and log-normal around the interquartile range with a standard deviation of 1.5.
#'
#' @section What is on which scale:
#' * On the response's own: `predict()` of types `"response"` (the mean of a new response, by
#'   quadrature over its distribution), `"median"` and `"quantile"`, intervals, `fitted()`,
#'   `residuals()`, `simulate()`, pictures. Quantiles, medians and intervals are those on the fitted
#'   scale, mapped back, and so exact. The standard error of a mean is that of the mean over the
#'   noise, as the latent function varies. A mean may be infinite: on the log scale it is
#'   \eqn{\exp(\mu + v / 2)}{exp(mu + v / 2)}. With other noise than Gaussian, whose exponential may
#'   have no mean, it is the mean between the quantiles of 3e-5 and 1 - 3e-5.
#' * On the fitted one: types `"link"`, `"latent"` and `"terms"`, [sigma()], [sites()] and the
#'   hyperparameters. So are `offset`, known variances and `weights`: noise is Gaussian there.
#' * Log evidence, [loo()], [compare()] and all log densities are those of the response in its own
#'   units (they have the Jacobian of the scale), so fits on different scales can be compared.
#'
#' Beyond the range of \eqn{g} (below \eqn{-1/\lambda}{-1 / lambda} for Box and Cox, below 0 for the
#' square root) the inverse is 0. A response of 0 on the square-root scale has the density of the
#' range up to the smallest positive response, as the slope of the square root at 0 is infinite.
#'
#' Streams learn a parameter from their pilot, sources from the rows that are kept in memory; then
#' it stays. Several components, counts and classes have no `transform`.
#'
#' @param transform The name of a scale.
#' @param value A start for its parameter, or one to keep, as `fixed(value)`; `NULL`: learned from a
#'   start read off the responses. `lambda` in (0, 2); `s` is positive, in units of the response.
#' @return A value for the argument `transform`. Errors are of class `sparsegp_error`: responses
#'   outside the domain of the scale, and likelihoods of other responses than numbers.
#' @references Box, G. E. P. and Cox, D. R. (1964). An analysis of transformations. *Journal of the
#'   Royal Statistical Society B* 26, 211-252. Snelson, E., Rasmussen, C. E. and Ghahramani, Z.
#'   (2004). Warped Gaussian processes. *NIPS* 16.
#' @concept warped Gaussian process
#' @concept lognormal
#' @concept Box-Cox
#' @examples
#' fit <- sparsegp(Volume ~ Girth + Height, trees,
#'                 likelihood = lik_gaussian(transform = "log"))
#' fit
#' predict(fit, trees[1:3, ], interval = "prediction")
#' compare(fit, update(fit, likelihood = lik_gaussian(transform = "identity")))
#' coef(sparsegp(Volume ~ Girth, trees, likelihood = lik_gaussian(transform = "boxcox")))
#' @export
response_scale <- function(transform, value = NULL) {
  transform <- check_choice(transform, c("identity", names(SCALES)), "transform")
  about <- SCALE_PARAMETERS[[transform]]
  refuse_if(is.null(about) && !is.null(value),
            "value", paste0("is not used: \"", transform, "\" has no parameter"), "Leave it out")
  value <- plain_numbers(value)
  check_hyper(value, "value", single = TRUE, range = about$range %||% c(0, Inf))
  structure(list(name = transform, value = value), class = "sparsegp_scale")
}

#' @export
print.sparsegp_scale <- function(x, ...) {
  cat("<response scale> ", format_scale(x), "\n", sep = "")
  invisible(x)
}

# A name, with its value where one was given: as print() shows it in a likelihood.
format_scale <- function(transform) {
  value <- given_value(transform$value)
  if (is.null(value)) return(dQuote(transform$name, FALSE))
  shown <- format(value, digits = 4L)
  if (is_fixed(transform$value)) shown <- paste0("fixed(", shown, ")")
  paste0("response_scale(", dQuote(transform$name, FALSE), ", ", shown, ")")
}

# The parameters of scales, as hyperparameters (hyper-table.R)
#   base, range   name and bounds
#   unit, prior   (record) -> of a value
SCALE_PARAMETERS <- list(
  boxcox = list(base = "lambda", range = c(0, 2), unit = function(record) 1,
                prior = function(record) prior_flat()),
  asinh = list(base = "asinh", range = c(0, Inf), unit = function(record) record[["spread"]],
               prior = function(record) prior_lognormal(log(record[["spread"]]), 1.5))
)

scale_parameter <- function(lik) SCALE_PARAMETERS[[lik$transform$name %||% "identity"]]

# Returns its row of the table of hyperparameters, or NULL. record: of the response's scale
scale_hyper <- function(lik, record) {
  about <- scale_parameter(lik)
  if (is.null(about)) return(NULL)
  unit <- about$unit(record)
  start <- to_search(record[["value"]], about$range[1L], about$range[2L], unit)
  hyper_rows(about$base, about$base, "response", TRUE, unit, start, lik$transform$value,
             function(unit) about$prior(record), range = about$range)
}

# Returns the value of the parameter, the last of theta.
scale_value <- function(lik, theta, record) {
  about <- scale_parameter(lik)
  from_search(theta[length(theta)], about$range[1L], about$range[2L], about$unit(record))
}

# ---- Likelihoods with a scale ----

is_transform <- function(x) {
  is.list(x) && is_word(x$name, c("identity", names(SCALES))) &&
    (is.null(x$value) || is.numeric(given_value(x$value)))
}

# Values in units of the fitted scale cannot be kept while that scale is being learned.
refuse_fixed_beside_open <- function(table, open) {
  kept <- !table$free & table$base %in% c("variance", "noise", "scale") & table$unit != 1
  if (!open || !any(kept) || !any(table$free[table$part == "response"])) return(invisible())
  stop_sparsegp("transform", paste0("has a parameter to be learned, and ",
                                    toString(table$name[kept]), " is fixed in units of its scale"),
                "Keep the parameter, as response_scale(\"boxcox\", fixed(0.5)), or free the other")
}
