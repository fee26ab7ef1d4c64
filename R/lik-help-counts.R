#' Likelihoods of counts and of successes in trials
#'
#' `lik_poisson()` is for counts whose variance is their mean, `lik_negbin()` for counts that vary
#' more, and `lik_binomial()` for numbers of successes in known numbers of trials.
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
#'   are not counts: `transform = "logit"` with `lik_gaussian()` is for these.
#'
#' All are log-concave. None is from the papers; the models are those of [stats::glm()] and
#' `MASS::glm.nb()`.
#'
#' @param bias Constant added to the latent function: `NULL` (learned), a number (start of learning)
#'   or `fixed(value)`.
#' @param size Shape of the gamma distribution of the rates: `NULL` (learned), a positive number or
#'   `fixed(value)`. The smaller, the more the counts scatter.
#' @return A value of class `sparsegp_likelihood`. Errors are of class `sparsegp_error`.
#' @concept Poisson regression
#' @concept negative binomial
#' @concept overdispersion
#' @concept count data
#' @references McCullagh, P. and Nelder, J. A. (1989). *Generalized Linear Models*, second edition.
#' @seealso [likelihoods] for all.
#' @examples
#' fit <- sparsegp(count ~ spray, InsectSprays, likelihood = lik_negbin())
#' predict(fit, data.frame(spray = c("A", "C")), interval = "prediction")
#'
#' shares <- sparsegp(cbind(ncases, ncontrols) ~ agegp + alcgp, esoph, likelihood = lik_binomial())
#' predict(shares, esoph[1:3, ])
#' @name likelihoods_counts
#' @order 1
NULL
