#' Likelihoods of two classes
#'
#' `lik_probit()` is the default for a factor with two levels or a logical. `lik_logit()` has log
#' odds in place of normal quantiles, `lik_flip()` allows for wrong labels, and `lik_step()` is for
#' classes that do not overlap but have a few wrong labels.
#'
#' @section Probit and logit:
#' * `lik_probit()`: \eqn{p = \Phi(u + bias)}{p = Phi(u + bias)}, in closed form (Minka's formulas
#'   56-60; IVM paper, appendix B.1).
#' * `lik_logit()`: \eqn{p = 1/(1 + \exp(-u - bias))}{p = 1 / (1 + exp(-u - bias))}. The
#'   probabilities are much the same; the pull of a label far on the wrong side does not grow with
#'   its distance. It takes half as much time again. Its integrals (formulas 61-70) are accurate to
#'   1e-9, by a quadrature that is centred where the likelihood times the cavity is large.
#' * `lik_logit(moments = "mackay")`, or `lik_mackay()`: MacKay's approximation (formulas 62-64,
#'   with its true second derivative in place of 65), as fast as probit. It is off by up to 0.013 in
#'   a probability, and has no evidence: hyperparameters have to be given, and `logLik()` is rough.
#'
#' @section Wrong labels:
#' * `lik_flip()`, or `lik_probit(flip = )`: \eqn{p = flip + (1 - 2 flip) \Phi(u + bias)}{p = flip +
#'   (1 - 2 flip) Phi(u + bias)}, a probit model in which any label is wrong with probability
#'   `flip`.
#' * `lik_step()`: \eqn{p = noise + (1 - 2 noise) [u > 0]}{p = noise + (1 - 2 noise) [u > 0]}. It
#'   has no bias; add a `kernel_constant()` to the kernel for one.
#' * Neither is log-concave: labels far on the wrong side carry little information.
#' * Small data cannot distinguish wrong labels from classes that overlap: give a `fixed()` value.
#' * `lik_step()` is not for classes that overlap. Labels that contradict each other at one place
#'   make the posterior sharper with every sweep, and EP has no fixed point. The fit is then by
#'   variational inference, with a warning; see [method_ep()]. A fit after a given number of sweeps,
#'   `method_ep(sweeps = 3)` for instance, is the thesis's estimate. `lik_step(fixed(0))` is the
#'   noiseless step of the thesis (4.6).
#' * *Source*: formulas 50-55 and 89-91; in closed form.
#'
#' @section More than two classes:
#' With one of these likelihoods and more than two levels the fit is one-vs-rest: a latent function
#' for each class, on common inducing points (the *basis*), with a common kernel and with
#' hyperparameters of the likelihood (`bias`, `flip`, `noise`) of its own (thesis, section 5.2).
#' Learning maximises the sum of the models' log evidences, which is not an evidence of the classes.
#' The models are independent; given that exactly one class is true, its probability is proportional
#' to the odds p / (1 - p) of its own model.
#'
#' @section Accuracy:
#' Against long Monte Carlo runs: on 96 observations of `MASS::Pima.tr` probabilities of new ones
#' were within 0.003 for `lik_probit()`, `lik_logit()` and `lik_flip()`. On 80 of `MASS::crabs`
#' standard deviations by `lik_step()` were a fifth too small, and probabilities off by up to 0.04.
#'
#' @param bias Constant added to the latent function, in standard deviations of the probit noise, or
#'   for `lik_logit()` in log odds: `NULL` (learned), a number (start of learning) or
#'   `fixed(value)`.
#' @param moments How the logit's integrals are computed: `"quadrature"`, or `"mackay"` for the
#'   approximation, which needs `learn = FALSE` or `fixed()` hyperparameters.
#' @param flip,noise Probability of a wrong label: `NULL` (learned), a number between 0 and 1/2 or
#'   `fixed(value)`. With `flip = 0` labels are right, as if `lik_probit()` had no `flip`.
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Values outside the ranges above, and responses of another kind, are errors of class
#'   `sparsegp_error`.
#' @concept classification
#' @concept probit
#' @concept probit regression
#' @concept logistic
#' @concept label noise
#' @concept one-vs-rest
#' @references See [likelihoods].
#' @seealso [likelihoods] for all, [calibration()] to check probabilities.
#' @examples
#' fit <- sparsegp(am ~ wt + hp, mtcars, likelihood = lik_logit())
#' predict(fit, data.frame(wt = 3, hp = 100), type = "prob")
#'
#' # one label in twenty may be wrong
#' sparsegp(am ~ wt, mtcars, likelihood = lik_flip(flip = fixed(0.05)))
#' @name likelihoods_two_classes
#' @order 1
NULL
