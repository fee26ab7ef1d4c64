#' Likelihoods of positive numbers and of proportions
#'
#' `lik_gamma()` is for positive numbers whose errors grow as their mean does, such as costs,
#' durations and concentrations; `lik_beta()` for proportions between 0 and 1 that are not
#' successes of trials, such as cover or yield.
#'
#' @details
#' * `lik_gamma()`: the mean is \eqn{m = \exp(u + bias)}{m = exp(u + bias)} and the variance
#'   \eqn{m^2 / shape}{m^2 / shape}: the errors are a constant proportion of the mean, as in
#'   `glm(family = Gamma("log"))`, with the tails of a gamma distribution. `coef()` shows the
#'   hyperparameter as `gamma_shape`. An exposure enters as `offset(log(exposure))`. Log-concave.
#' * `lik_beta()`: the mean is \eqn{m = 1/(1 + \exp(-u - bias))}{m = 1 / (1 + exp(-u - bias))} and
#'   the variance \eqn{m (1 - m) / (1 + precision)}{m (1 - m) / (1 + precision)}. Responses of 0 and
#'   1 have no density: move them inwards, as by `(y * (n - 1) + 0.5) / n`, or give the numbers of
#'   successes and failures and [lik_binomial()][likelihoods_counts]. Not log-concave far from the
#'   observation, but with one mode.
#'
#' `predict(type = "response")` is the mean, averaged over the posterior; `interval = "prediction"`
#' and `type = "quantile"` are of a new response. Responses stay in their own units. Compare these
#' likelihoods with normal errors on another scale, `lik_gaussian(transform = "log")` or `"logit"`,
#' by `sum(loo(fit)$lpd)`, which is in the units of the response for all of them.
#'
#' *Source*: none of the papers; the gamma model is that of [stats::glm()], the beta model that of
#' Ferrari and Cribari-Neto (2004).
#'
#' @param bias Constant added to the latent function, the logarithm of a mean in units of the
#'   response, or for `lik_beta()` its log odds: `NULL` (learned), a number (start of learning) or
#'   `fixed(value)`.
#' @param shape Shape of the gamma distribution, one over the square of the coefficient of
#'   variation: `NULL` (learned), a positive number or `fixed(value)`.
#' @param precision Sum of the two parameters of the beta distribution: `NULL` (learned), a positive
#'   number or `fixed(value)`. Proportions scatter less for larger values.
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Values outside the ranges above, and responses of another kind, are errors of class
#'   `sparsegp_error`.
#' @concept gamma regression
#' @concept beta regression
#' @concept proportions
#' @concept positive response
#' @references McCullagh, P. and Nelder, J. A. (1989). *Generalized Linear Models*, second edition,
#'   chapter 8. Ferrari, S. and Cribari-Neto, F. (2004). Beta regression for modelling rates and
#'   proportions. *Journal of Applied Statistics*, 31, 799-815.
#' @seealso [likelihoods] for all, [response_scale()] for normal errors on another scale.
#' @examples
#' fit <- sparsegp(Volume ~ Girth, trees, likelihood = lik_gamma())
#' predict(fit, data.frame(Girth = c(10, 15)), interval = "prediction")
#'
#' # the proportion of men who work in agriculture
#' swiss$farmers <- swiss$Agriculture / 100
#' fit <- sparsegp(farmers ~ Education, swiss, likelihood = lik_beta(), learn = FALSE)
#' predict(fit, data.frame(Education = c(5, 20)), interval = "prediction")
#' @name likelihoods_positive
#' @order 1
NULL
