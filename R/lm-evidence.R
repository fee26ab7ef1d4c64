#' The log evidence of a fit
#'
#' `logLik()` is the log evidence: the log density of the responses with the latent function
#' integrated out, at the fitted hyperparameters. It is not a maximised likelihood and has no
#' degrees of freedom (`df` is `NA`): the integral penalises complex kernels by itself.
#'
#' To compare two models of the same responses take the difference of their log evidences, in nats:
#' `exp()` of it is the Bayes factor (apart from the hyperparameters, which are maximised over). A
#' difference below about 1 is weak evidence. Alternatively compare leave-one-out predictions, with
#' the standard error of their differences: [compare()].
#'
#' `AIC()`, `BIC()`, `step()`, `drop1()`, `add1()` and `lmtest::lrtest()` need a number of
#' parameters or a chi-square statistic, which an evidence does not have; they are errors of class
#' `sparsegp_error`.
#'
#' @param object,k A fit of [sparsegp()]; `k` is not used.
#' @param ... Further fits, for `AIC()`, `BIC()` and `lrtest()`.
#' @return `logLik()`: an object of class `logLik`, one number in nats, with `df` `NA` and `nobs`
#'   the number of rows.
#' @examples
#' small <- sparsegp(mpg ~ wt, mtcars)
#' large <- update(small, . ~ . + hp)
#' as.numeric(logLik(large) - logLik(small))
#'
#' compare(small, large)
#' @export
logLik.sparsegp <- function(object, ...) {
  object <- ready(object)
  refuse_without_evidence(object, "no evidence")
  structure(object$log_evidence, df = NA_integer_, nobs = nobs(object), class = "logLik")
}

#' @rdname logLik.sparsegp
#' @export
AIC.sparsegp <- function(object, ..., k = 2) refuse_penalty("AIC()")

#' @rdname logLik.sparsegp
#' @export
BIC.sparsegp <- function(object, ...) refuse_penalty("BIC()")

#' @rdname logLik.sparsegp
#' @exportS3Method lmtest::lrtest
lrtest.sparsegp <- function(object, ...) refuse_penalty("A likelihood ratio test")

refuse_penalty <- function(what) {
  stop_sparsegp("object", paste0("has a log evidence, which has no parameter count. ", what,
                                 " is for maximised likelihoods"),
                paste("Compare logLik() of the fits by its difference, or both by compare();",
                      "see ?logLik.sparsegp"))
}

# step(), drop1() and add1() ask for an AIC of every model.

#' @rdname logLik.sparsegp
#' @param fit,scale,scope As for [stats::extractAIC()] and [stats::drop1()]; not used.
#' @importFrom stats extractAIC
#' @export
extractAIC.sparsegp <- function(fit, scale, k = 2, ...) refuse_penalty("step()")

#' @rdname logLik.sparsegp
#' @importFrom stats drop1
#' @export
drop1.sparsegp <- function(object, scope, ...) refuse_penalty("drop1()")

#' @rdname logLik.sparsegp
#' @importFrom stats add1
#' @export
add1.sparsegp <- function(object, scope, ...) refuse_penalty("add1()")
