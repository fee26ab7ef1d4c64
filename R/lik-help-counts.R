#' Likelihoods of counts and of successes in trials
#'
#' `lik_poisson()` is for counts whose variance is their mean, `lik_negbin()` for counts that vary
#' more, `lik_zip()` and `lik_zinb()` for counts with more zeros than these explain, and
#' `lik_binomial()` for numbers of successes in known numbers of trials.
#'
#' @details
#' An exposure enters as `offset(log(exposure))`, as in [stats::glm()]. `predict(type = "response")`
#' is the expected count or proportion, averaged over the posterior.
#'
#' * `lik_poisson()`: \eqn{y \sim Poisson(\exp(u + bias))}{y ~ Poisson(exp(u + bias))}. The `bias`
#'   is the logarithm of a rate. With counts that vary more than this the function would follow
#'   their noise.
#' * `lik_negbin()`: each observation has a rate of its own, from a gamma distribution of shape
#'   `size` about \eqn{\exp(u + bias)}{exp(u + bias)}. About a mean \eqn{m} the variance is \eqn{m +
#'   m^2 / size}{m + m^2 / size}. As `size` grows it becomes the Poisson model, with the same
#'   digits. If `size` is learned to be much larger than the counts, use `lik_poisson()`.
#' * `lik_binomial()`: the response is `cbind(successes, failures)`, as in [stats::glm()], or the
#'   proportions of successes with the numbers of trials as `weights`. The `bias` is a log odds.
#'   Predictions, residuals and simulations are proportions; new observations whose numbers of
#'   trials are not given have one trial. Proportions of an amount, such as of water in a mixture,
#'   are not counts: `lik_gaussian(transform = "logit")` is for these.
#'
#' * `lik_zip()` and `lik_zinb()`: with probability `zero` a count is an excess zero, else it is
#'   from the Poisson or the negative binomial distribution. `predict(type = "response")` is the
#'   mean of all counts, excess zeros included; the rate of the others is `exp()` of `predict(type =
#'   "link")`. The probability that a new count is 0, for whatever reason, is `predict(type =
#'   "zero")`. If `zero` is learned to be near 0, use `lik_poisson()` or `lik_negbin()`.
#' * With `hurdle = TRUE` a count is 0 with probability `zero`, and otherwise follows the Poisson
#'   or the negative binomial distribution given that it is not 0: zeros may also be rarer than
#'   under these, and carry no information on the rate. The names `"hurdle_poisson"` and
#'   `"hurdle_negbin"` stand for
#'   these.
#'
#' `weights` of [sparsegp()] multiply the log likelihood of a count under `lik_poisson()` and
#' `lik_negbin()`, as the prior weights of [stats::glm()] do: a row of weight 3 is three
#' observations of the same count, and weights that are not whole numbers are read in the same way.
#' A new count has no weight, so predictions and simulations do not depend on it, but [loo()] leaves
#' out all that a row stands for. `lik_zip()` and `lik_zinb()` have no weights: repeat the rows.
#'
#' All are log-concave but `lik_zip()` and `lik_zinb()`, under which a zero may widen the posterior:
#' its site then has a negative precision, and `fit$convergence$widening` counts these. The
#' hyperparameter `zero` is one number for all inputs, and `coef()` shows it as a probability; its
#' prior falls to 0 at 0, so learning has a mode where there is no excess. *Source*: none of the
#' papers; the models are those of [stats::glm()], `MASS::glm.nb()`, Lambert (1992) and Mullahy
#' (1986).
#'
#' @param bias Constant added to the latent function, the logarithm of a rate or for
#'   `lik_binomial()` a log odds: `NULL` (learned), a number (start of learning) or `fixed(value)`.
#' @param size Shape of the gamma distribution of the rates, without unit: `NULL` (learned), a
#'   positive number or `fixed(value)`. Counts scatter more for smaller values.
#' @param zero Probability of an excess zero, or with `hurdle` of a zero: `NULL` (learned), a number
#'   in (0, 1) or `fixed(value)`.
#' @param hurdle `TRUE` if all zeros have their own process, `FALSE` if only excess zeros do.
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Values outside the ranges above, and responses of another kind, are errors of class
#'   `sparsegp_error`.
#' @concept Poisson regression
#' @concept negative binomial
#' @concept overdispersion
#' @concept count data
#' @concept zero-inflated
#' @concept hurdle model
#' @references McCullagh, P. and Nelder, J. A. (1989). *Generalized Linear Models*, second edition.
#'   Lambert, D. (1992). Zero-inflated Poisson regression. *Technometrics*, 34, 1-14. Mullahy, J.
#'   (1986). Specification and testing of some modified count data models. *Journal of
#'   Econometrics*, 33, 341-365.
#' @seealso [likelihoods] for all.
#' @examples
#' fit <- sparsegp(count ~ spray, InsectSprays, likelihood = lik_negbin())
#' predict(fit, data.frame(spray = c("A", "C")), interval = "prediction")
#'
#' shares <- sparsegp(cbind(ncases, ncontrols) ~ agegp + alcgp, esoph, likelihood = lik_binomial())
#' predict(shares, esoph[1:3, ])
#'
#' # counts with many zeros
#' set.seed(1)
#' d <- data.frame(x = runif(60, -2, 2))
#' d$n <- rpois(60, exp(1 + sin(d$x))) * rbinom(60, 1, 0.7)
#' fit <- sparsegp(n ~ x, d, likelihood = lik_zip())
#' coef(fit)["zero"]
#' predict(fit, data.frame(x = c(-1, 1)), type = "zero")
#' predict(fit, data.frame(x = c(-1, 1)), interval = "prediction")
#' @name likelihoods_counts
#' @order 1
NULL
