#' Likelihoods of times to an event
#'
#' These likelihoods are for times until an event. Some of the times may be censored, where
#' observation ended before the event. The response is `Surv(time, status)` of package survival, as
#' in `Surv(time, status) ~ age + sex`, with delayed entry `Surv(entry, time, status)`, or positive
#' numbers, each of which is the time of an event.
#'
#' @details
#' The models are accelerated failure times, as those of `survival::survreg()`: \deqn{\log T = f(x)
#' + scale \cdot e,}{log T = f(x) + scale e,} in which the latent function \eqn{f}, on the scale of
#' log times, may be any smooth function. Likelihoods differ in the distribution of \eqn{e}.
#'
#' | likelihood | error \eqn{e} | survival \eqn{P(T > t)} with \eqn{z = (\log t - f) / scale}{z = (log t - f) / scale} | for hazards that |
#' |---|---|---|---|
#' | `lik_weibull()` | minimum extreme value | \eqn{\exp(-\exp z)}{exp(-exp(z))} | rise (`scale` < 1) or fall all the time |
#' | `lik_loglogistic()` | logistic | \eqn{1 / (1 + \exp z)}{1 / (1 + exp(z))} | rise, then fall; with long tails |
#' | `lik_lognormal()` | normal | \eqn{1 - \Phi(z)}{1 - Phi(z)} | rise, then fall |
#'
#' The hyperparameter `scale` is that of the error on the scale of log times (1 / `scale` is the
#' shape of the Weibull distribution). A Weibull model has proportional hazards too, with the log
#' hazard ratio \eqn{-f / scale}.
#'
#' * *Default.* If a `Surv` response comes without a likelihood, the distribution is among what is
#'   chosen (see [model_structure]): the log evidence of a pilot compares the three, and Weibull,
#'   the first, stays unless another is better by a nat. If a kernel is given, and for `structure =
#'   "fixed"`, it is Weibull without a comparison.
#' * *Censoring.* Right (`Surv(time, status)`), left (`type = "left"`) and interval censoring
#'   (`Surv(lower, upper, type = "interval2")`) may be mixed. Several kinds of events are an error.
#'   Censoring has to be independent of the time, given the inputs. Times are greater than 0.
#' * *Left truncation* (delayed entry): an observation of `Surv(entry, time, status)` would not
#'   have been made if its event had been before `entry`. Its likelihood is divided by the
#'   probability of
#'   survival until then, \eqn{P(T > entry)}; an entry of 0 truncates nothing. Leave-one-out
#'   densities and quantile residuals are given that survival, too, and predictions of new times
#'   are from time 0. Inputs that vary with time are given as consecutive intervals of one subject.
#'   Where an observation entered late, `lik_weibull()` is log-concave and the other two
#'   are not: such an observation may widen the posterior (see [lik_student()]), and if most of
#'   them entered close to their times, EP may need more iterations or have no fixed point.
#'   `lik_weibull()` or `method_ep(power = 0.5)` is the remedy.
#' * *Predictions* are in the units of the times: `predict()` of type `"response"` is the mean time,
#'   which may be infinite (`lik_loglogistic()` with a scale of 1 or more), `"median"` the median
#'   time, `"quantile"` quantiles, `"survival"` the probability of no event until each of the times
#'   `at`, and `"rmst"` the restricted mean \eqn{E \min(T, at)}{E min(T, at)}; the last two and
#'   the median have intervals. Types `"link"` and `"latent"` are on the scale of log times, and so
#'   is an `offset`.
#' * *Rows of the fit.* Response and Pearson residuals of censored times are `NA`; their quantile
#'   residuals are drawn at random from the possible times. [loo()] has the concordance (Harrell's
#'   C) of leave-one-out medians, as has `summary()`. [simulate()] draws times without censoring.
#'   [calibration()] spreads a censored time over its possible values, which favours the model under
#'   heavy censoring.
#' * *Log evidence and log densities* refer to times, not to their logarithms (they have the
#'   Jacobian); for censored observations they are log probabilities. So `lik_lognormal()` without
#'   censoring is `lik_gaussian(transform = "log")`, with the same evidence.
#' * `weights` are an error: repeat rows.
#'
#' All are log-concave, except for late entries. The integrals of normal errors are in closed form,
#' others and those of late entries by quadrature to 1e-10. *Source*: none of the papers;
#' Kalbfleisch and Prentice (2002), chapter 3.
#'
#' @param scale Scale of the error of log times, without unit: `NULL` (learned), a positive number
#'   (start of learning) or `fixed(value)`.
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Values outside the ranges above, and responses of another kind, are errors of class
#'   `sparsegp_error`.
#' @concept survival analysis
#' @concept left truncation
#' @concept delayed entry
#' @concept time to event
#' @concept censored data
#' @concept accelerated failure time
#' @concept Weibull
#' @concept log-logistic
#' @concept Tobit
#' @references Kalbfleisch, J. D. and Prentice, R. L. (2002). *The Statistical Analysis of Failure
#'   Time Data*, second edition, chapter 3. Harrell, F. E., Lee, K. L. and Mark, D. B. (1996).
#'   Multivariable prognostic models. *Statistics in Medicine* 15, 361-387.
#' @seealso [likelihoods] for all, [predict][predict.sparsegp], [plot(type =
#'   "survival")][plot.sparsegp].
#' @examplesIf requireNamespace("survival", quietly = TRUE)
#' library(survival)
#' fit <- sparsegp(Surv(time, status) ~ age + sex, lung[1:50, ], lik_weibull(), kernel = "rbf")
#' fit
#' new <- data.frame(age = c(50, 70), sex = 1)
#' predict(fit, new, type = "median", interval = "confidence")
#' predict(fit, new, type = "survival", at = c(180, 365))
#' predict(fit, new, type = "rmst", at = 365, se.fit = TRUE)
#' @name likelihoods_times
#' @order 1
NULL
