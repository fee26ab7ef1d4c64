#' Likelihoods of several classes and of ordered categories
#'
#' `lik_mprobit()` is the default for a factor with more than two levels, and `lik_ordinal()` for an
#' ordered factor with more than two, unless a latent function for each category predicts better
#' ([model_structure]). `lik_softmax()` is the multinomial logit.
#'
#' | response | likelihood | hyperparameters, in `coef()` |
#' |---|---|---|
#' | factor of 3 to 256 levels | `lik_mprobit()`, multinomial probit | `bias` of each class |
#' | the same | `lik_softmax()`, multinomial logit: half as much time again | `bias` of each class |
#' | ordered factor | `lik_ordinal()`, cumulative probit | cut points, named as by `MASS::polr()` |
#'
#' With few observations the posterior has the dependences between the classes' latent functions
#' (`coupled = TRUE`); for one-vs-rest models see [likelihoods_two_classes].
#'
#' @details
#' ## Several classes
#'
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
#' * *Coupled or not*: labels make the latent functions depend on each other. With `coupled = TRUE`
#'   the approximate posterior has these dependences (Seeger and Jordan, 2004; Riihimäki et al.,
#'   2013): a site of an observation is a C x C matrix, the integral over the winner's value has
#'   some 25 nodes, at each of which expectation propagation integrates over the other classes. With
#'   `coupled = FALSE` the functions are independent in the posterior. On 60 observations of `iris`,
#'   sepals alone, their standard deviations were then a third too small, the log evidence was 2.5
#'   nats too low, and probabilities of new observations were within 0.012. Coupled, standard
#'   deviations were right to 1 %, the log evidence to 0.1 nats, and probabilities to 0.003, which
#'   was the error of the comparison.
#' * `predict(type = "latent", se.fit = TRUE)` has the standard deviation of each function by
#'   itself: probabilities are not products or integrals of these marginals, as the functions depend
#'   on each other. [draws()] are joint draws of all of them at all rows.
#' * Coupled classes are learned as independent ones first: the structure of the model and where the
#'   search for hyperparameters begins. A last search and the fit are coupled. The time is that of n
#'   C x n C matrices: for 400 observations of 3 classes or 200 of 6 some 8 seconds for the fit
#'   alone. `NULL` couples classes where the fit and 3000 predictions take less than 5 seconds: 330
#'   observations of 3 classes, 190 of 5 or 100 of 8; with `lik_softmax()`, each prediction of which
#'   takes a millisecond or more, 60 of 3; and makes the last search if 5 seconds are enough for
#'   that, too: for about 150 observations of 3 classes.
#' * `coupled = TRUE` needs full expectation propagation of all observations, at most 8 classes and
#'   `shared = TRUE`; streams, sources of rows, inducing points (the *basis*) and virtual copies do
#'   without, and hyperparameters are not integrated over ([integration]).
#'
#' ## Ordered categories
#'
#' `lik_ordinal()` is the cumulative probit model: a latent function, noise of variance 1, and cut
#' points between neighbouring categories, \eqn{P(y \le k) = \Phi(cut_k - u)}{P(y <= k) = Phi(cut_k
#' - u)}.
#'
#' * Hyperparameters: the cut points. They are learned as the first, `cut`, and the gaps after it,
#'   `gap`; a [prior][priors] is of these. `coef()` shows cut points, named as by `MASS::polr()`.
#' * One latent function has to order all categories. Where the inputs change their probabilities in
#'   other ways a function for each may predict better: a default fit compares the two on a pilot
#'   sample, see [model_structure]. The response stays ordered: its mean, quantiles and intervals
#'   follow from the probabilities of the categories ([predict()][predict.sparsegp]), by
#'   `lik_mprobit()`, `lik_softmax()` and one-vs-rest models alike.
#' * Unused levels of the response are left out, as for other classes. A stream keeps them, because
#'   their observations may yet come.
#' * The integrals are in closed form, accurate for categories however narrow or far. *Source*:
#'   McCullagh (1980); Chu and Ghahramani (2005).
#'
#' @param bias Constant added to each latent function, in standard deviations of the probit noise,
#'   or for `lik_softmax()` in log odds: `NULL` (learned), a number (start of learning) or
#'   `fixed(value)`; one for all classes, or one for each.
#' @param coupled `TRUE` if the latent functions of the classes are dependent in the posterior,
#'   `FALSE` if they are independent. `NULL`: `TRUE` where it is possible, and fit and predictions
#'   take seconds.
#' @param shared `TRUE` if all classes have the same kernel hyperparameters, `FALSE` if each has its
#'   own.
#' @param cuts Cut points between categories, in units of the latent function (standard deviations
#'   of the noise): `NULL` (learned), increasing numbers, one less than there are categories, or
#'   `fixed()` around them.
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Values outside the ranges above, and responses of another kind, are errors of class
#'   `sparsegp_error`.
#' @concept multiclass
#' @concept multinomial
#' @concept softmax
#' @concept ordinal regression
#' @concept cumulative probit
#' @concept multivariate probit
#' @references See [likelihoods]. Seeger, M. and Jordan, M. I. (2004). *Sparse Gaussian process
#'   classification with multiple classes*. Technical report 661, Department of Statistics,
#'   University of California, Berkeley.
#'
#' McCullagh, P. (1980). Regression models for ordinal data. *Journal of the Royal Statistical
#' Society B* 42, 109-142. Chu, W. and Ghahramani, Z. (2005). Gaussian processes for ordinal
#' regression. *Journal of Machine Learning Research* 6, 1019-1041.
#'
#' Riihimäki, J., Jylänki, P. and Vehtari, A. (2013). Nested expectation propagation for Gaussian
#' process classification with a multinomial probit likelihood. *Journal of Machine Learning
#' Research* 14, 75-109.
#' @seealso [likelihoods] for all, [likelihoods_two_classes] for one-vs-rest models.
#' @examplesIf requireNamespace("MASS", quietly = TRUE)
#' lik_mprobit(bias = fixed(0))
#' fit <- sparsegp(Species ~ Petal.Length + Petal.Width, iris[1:25 * 6, ],
#'                 likelihood = "softmax", structure = "fixed")
#' predict(fit, iris[c(1, 71, 120), ], type = "prob")
#'
#' each <- MASS::housing[rep(1:72, MASS::housing$Freq), ]
#' satisfied <- sparsegp(Sat ~ Infl + Type, each[seq(1, 1681, 40), ])
#' coef(satisfied)
#' @name likelihoods_classes
#' @order 1
NULL
