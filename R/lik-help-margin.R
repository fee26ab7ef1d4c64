#' Likelihoods of two classes with a margin, missing labels, or by least squares
#'
#' `lik_nullcat()` learns from observations without a label, too. `lik_margin()` and `lik_squares()`
#' are for classes that hardly overlap; a default fit of many labels tries them.
#'
#' | you have | use | not for |
#' |---|---|---|
#' | a factor of two levels with missing labels, `NA` (semi-supervised learning) | `lik_nullcat()` | classes that overlap much |
#' | classes that hardly overlap | `lik_margin()` | classes that overlap |
#' | the same, with many inputs, such as pixels | `lik_squares()` (least-squares classification) | classes that overlap |
#'
#' More than two classes are one-vs-rest. Log evidences are not comparable with those of other
#' likelihoods; compare by [loo()].
#'
#' @details
#' ## Missing labels (`lik_nullcat()`)
#'
#' Observations whose response is `NA` are kept; other likelihoods leave them to `na.action`.
#' Between the classes lies a null category, to which no observation belongs. An observation without
#' a label is on one of the two sides, without information on which: the latent function avoids 0
#' where there are observations, and the boundary passes where there are few.
#'
#' * *Model*: the probabilities of the second and of the first level are proportional to \eqn{\Phi(u
#'   + bias - width/2)}{Phi(u + bias - width / 2)} and \eqn{\Phi(-u - bias - width/2)}{Phi(-u - bias
#'   - width / 2)}.
#' * *Hyperparameters*: `bias`; `width`, fixed at 1 by default; `missing1` and `missing2` (the
#'   argument is `missing`), probabilities that a label of the first and of the second level is
#'   missing. Their value does not matter if they are equal; give two numbers if labels of
#'   one class are missing more often.
#' * It misleads where classes overlap much. With few labels learning tends to length scales that
#'   are too long for the gap; if you expect the boundary to bend, give a short one, with `learn =
#'   FALSE`.
#' * Observations without a label are not log-concave, see [lik_student()]. They count in the log
#'   evidence, which is not comparable with other likelihoods'. Predictions are probabilities of the
#'   two classes, given that it is one of them.
#' * *Accuracy*: on 80 crabs, of which 48 had no label, probabilities were off by up to 0.03.
#' * *Source*: IVM paper, section 5; Lawrence and Jordan's null category noise model.
#'
#' ## Margin (`lik_margin()`)
#'
#' This is the null category with a label for every observation. Observations near the boundary have
#' more weight, those far from it none: where classes hardly overlap predictions are sharper than
#' those of `lik_probit()`.
#'
#' * *Hyperparameters*: `bias`; `width`, fixed at 8 by default. The log evidence prefers a narrow
#'   margin, because it includes the probability that no observation is in the null category; it is
#'   not comparable with other likelihoods'. A wider margin needs a kernel variance that is larger
#'   by the square of the width.
#' * It is not for classes that overlap. More than two classes are one-vs-rest.
#' * *Accuracy*: on the same 80 crabs the log evidence was 0.5 nats too low, and probabilities were
#'   off by up to 0.03.
#' * *Source*: IVM paper, section 5, without missing labels. The likelihood is in closed form,
#'   predictive probabilities are by quadrature.
#'
#' ## Least squares (`lik_squares()`)
#'
#' Labels are treated as the numbers -1 and 1 with normal noise (least-squares classification). With
#' many inputs, such as pixels, and classes that hardly overlap this predicts better than a probit:
#' 4.1 per cent of errors in place of 5.3 on the ten digits of USPS with the same inducing points
#' (the *basis*).
#'
#' * *Hyperparameters*: `bias`, which starts at the mean label; `noise`, a variance next to a kernel
#'   variance of about 1. The posterior needs one sweep, and classes with common inducing points
#'   share its factor.
#' * Probabilities are means of \eqn{1/(1 + \exp(-4 (u + bias)))}{1 / (1 + exp(-4 (u + bias)))} over
#'   the posterior, by quadrature. The slope is a convention: default fits recalibrate these
#'   probabilities, elsewhere check them by [calibration()].
#' * It is not for classes that overlap, and the log evidence is that of numbers, not comparable
#'   with other likelihoods'. More than two classes are one-vs-rest.
#' * *Source*: Rasmussen and Williams (2006), section 6.5, with probabilities averaged over the
#'   posterior.
#'
#' @param bias Constant added to the latent function, in standard deviations of the probit noise
#'   (for `lik_squares()` in half distances of the labels): `NULL` (learned), a number (start of
#'   learning) or `fixed(value)`.
#' @param width Width of the null category, in units of the noise's standard deviation: `NULL`
#'   (learned), a positive number or `fixed(value)`.
#' @param missing Probability that an observation has no label, between 0 and 1: one number, or one
#'   for each class, or `fixed()` around them; `NULL`: two, learned.
#' @param noise Variance of the noise about labels -1 and 1, without unit: `NULL` (learned), a
#'   positive number or `fixed(value)`.
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Values outside the ranges above, and responses of another kind, are errors of class
#'   `sparsegp_error`.
#' @concept semi-supervised
#' @concept large margin
#' @concept null category noise model
#' @concept least-squares classification
#' @references Lawrence, N. D. and Jordan, M. I. (2005). Semi-supervised learning via Gaussian
#'   processes. *Advances in Neural Information Processing Systems* 17. Rasmussen, C. E. and
#'   Williams, C. K. I. (2006). *Gaussian Processes for Machine Learning*. Others: see
#'   [likelihoods].
#' @seealso [likelihoods] for all, [fit_methods] for when default fits try these.
#' @examplesIf requireNamespace("MASS", quietly = TRUE)
#' few <- transform(MASS::crabs[seq(1, 200, 4), ], sex = replace(sex, -seq(1, 50, 5), NA))
#' fit <- sparsegp(sex ~ RW + CL, few, likelihood = lik_nullcat())
#' mean(predict(fit, MASS::crabs, type = "class") == MASS::crabs$sex)
#' @name likelihoods_margin
#' @order 1
NULL
