#' Likelihoods of several classes and of ordered categories
#'
#' `lik_mprobit()` is the default for a factor with more than two levels, and `lik_ordinal()` for an
#' ordered factor with more than two. `lik_softmax()` is the multinomial logit.
#'
#' @section Several classes:
#' There is a latent function \eqn{u_c}{u_c} for each of up to 256 classes.
#'
#' * `lik_mprobit()`: the class of the largest \eqn{v_c}{v_c}, where \eqn{v_c \sim N(u_c + bias_c,
#'   1)}{v_c ~ N(u_c + bias_c, 1)}. Given the winner's value the classes are independent: one
#'   integral in one dimension serves any number of them, accurate to 1e-9 (IVM paper, section 4 and
#'   appendix D).
#' * `lik_softmax()`: \eqn{P(y = c) = \exp(u_c + bias_c) / \sum_j \exp(u_j + bias_j)}{P(y = c) =
#'   exp(u_c + bias_c) / sum_j exp(u_j + bias_j)}: the same with Gumbel noise. It takes half as much
#'   time again, and more where latent variances exceed 25.
#' * Hyperparameters: one `bias` a class, of which only differences matter. `shared = FALSE` gives
#'   each class kernel hyperparameters of its own.
#' * *Accuracy*: the approximate posterior takes the latent functions of the classes for
#'   independent, which labels make them not. On 60 observations of `iris`, sepals alone, their
#'   standard deviations were a third too small and the log evidence was 2.3 nats too low;
#'   probabilities of new observations were within 0.01.
#'
#' @section Ordered categories:
#' `lik_ordinal()` is the cumulative probit model: a latent function, noise of variance 1, and cut
#' points between neighbouring categories, \eqn{P(y \le k) = \Phi(cut_k - u)}{P(y <= k) = Phi(cut_k
#' - u)}.
#'
#' * Hyperparameters: the cut points. They are learned as the first, `cut`, and the gaps after it,
#'   `gap`; a [prior][priors] is of these. `coef()` shows cut points, named as by `MASS::polr()`.
#' * Unused levels of the response are left out, as for other classes. A stream keeps them, because
#'   their observations may yet come.
#' * The integrals are in closed form, accurate for categories however narrow or far. None of the
#'   papers has the model.
#'
#' @param bias Constant added to each latent function: `NULL` (learned), a number (start of
#'   learning) or `fixed(value)`; one for all classes, or one for each.
#' @param shared Do all classes have the same kernel hyperparameters, or each its own?
#' @param cuts Cut points between categories: `NULL` (learned), increasing numbers, one less than
#'   there are categories, or `fixed()` around them.
#' @return A value of class `sparsegp_likelihood`. Errors are of class `sparsegp_error`.
#' @concept multiclass
#' @concept multinomial
#' @concept softmax
#' @concept ordinal regression
#' @concept cumulative probit
#' @references See [likelihoods].
#' @seealso [likelihoods] for all, [likelihoods_two_classes] for one-vs-rest models;
#'   `vignette("multiclass")`.
#' @examples
#' lik_mprobit(bias = fixed(0))
#' fit <- sparsegp(Species ~ Petal.Length + Petal.Width, iris[1:50 * 3, ],
#'                 likelihood = "softmax")
#' predict(fit, iris[c(1, 71, 120), ], type = "prob")
#'
#' each <- MASS::housing[rep(1:72, MASS::housing$Freq), ]
#' satisfied <- sparsegp(Sat ~ Infl + Type, each[seq(1, 1681, 20), ])
#' coef(satisfied)
#' @name likelihoods_classes
#' @order 1
NULL
