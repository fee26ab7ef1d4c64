#' Likelihoods: how the response depends on the latent function
#'
#' [sparsegp()] chooses a likelihood from the response: normal errors for numbers, a probit model
#' for a factor of two levels or a logical, a multinomial probit for a factor of more levels,
#' usually a cumulative probit for an ordered factor, and likelihoods of their own for a [mixture()]
#' and for times to an event. Give `likelihood =` for another: a constructor such as
#' `lik_student()`, its name (`"student"`), or an R [family][stats::family].
#'
#' | you have | use | page |
#' |---|---|---|
#' | numbers, errors normal | `lik_gaussian()`, the default | [likelihoods_numbers] |
#' | numbers with known error bars | `lik_gaussian(variance = <vector>)` | [likelihoods_numbers] |
#' | numbers whose errors change their size with the inputs | `lik_heteroscedastic()` | [likelihoods_numbers] |
#' | numbers with some outliers, or gross ones | `lik_laplace()`, or `lik_student()` | [likelihoods_numbers] |
#' | prices, sizes, concentrations: positive and skewed | `lik_gaussian(transform = "log")`, by default where it fits better | [response_scale()] |
#' | several numbers, `cbind(u, v)` | `lik_gaussian(covariance =)` | [likelihoods_numbers] |
#' | counts | `lik_poisson()`, or `lik_negbin()` if they vary more | [likelihoods_counts] |
#' | counts with many zeros | `lik_zip()` or `lik_zinb()`, with `hurdle = TRUE` if zeros have a process of their own | [likelihoods_counts] |
#' | positive numbers whose errors grow with their mean | `lik_gamma()` | [likelihoods_positive] |
#' | proportions of an amount | `lik_beta()` | [likelihoods_positive] |
#' | successes and failures | `lik_binomial()` | [likelihoods_counts] |
#' | two classes | `lik_probit()`, the default, or `lik_logit()` | [likelihoods_two_classes] |
#' | two classes, some labels wrong | `lik_flip()` | [likelihoods_two_classes] |
#' | two classes, many labels missing | `lik_nullcat()` | [likelihoods_margin] |
#' | classes that hardly overlap, many inputs | `lik_margin()`, `lik_squares()`, tried by default | [likelihoods_margin] |
#' | three classes or more | `lik_mprobit()`, the default, or `lik_softmax()` | [likelihoods_classes] |
#' | ordered categories, such as ratings | `lik_ordinal()`, the default | [likelihoods_classes] |
#' | vectors with several possible values each | `lik_mixture()`, the default | [mixture()] |
#' | times to an event, some of them censored, `Surv(time, status)` | `lik_weibull()`, `lik_loglogistic()` or `lik_lognormal()`, chosen by default | [likelihoods_times] |
#' | points, to estimate their density | `lik_density()`, through [gp_density()] | [gp_density()] |
#' | anything else | an R function of the log density | [lik_custom()] |
#'
#' Any likelihood of two classes serves for more of them as well, by one-vs-rest models; see
#' [likelihoods_two_classes].
#'
#' @section Models:
#' Here \eqn{u} is the latent function (\eqn{u_c} that of class c), and for two classes \eqn{p} is
#' the probability of the second level.
#'
#' | constructor | model | hyperparameters |
#' |---|---|---|
#' | `lik_gaussian` | \eqn{y \sim N(u, noise / weight)}{y ~ N(u, noise / weight)} | `noise` |
#' | `lik_heteroscedastic` | \eqn{y \sim N(u, noise \exp(2 g))}{y ~ N(u, noise exp(2 g))} | `noise` |
#' | `lik_mixture` | one of several vectors is right, see [mixture()] | |
#' | `lik_probit` | \eqn{p = \Phi(u + bias)}{p = Phi(u + bias)} | `bias` |
#' | `lik_logit` | \eqn{p = 1/(1 + \exp(-u - bias))}{p = 1 / (1 + exp(-u - bias))} | `bias` |
#' | `lik_flip` | \eqn{p = flip + (1 - 2 flip) \Phi(u + bias)}{p = flip + (1 - 2 flip) Phi(u + bias)} | `bias`, `flip` |
#' | `lik_step` | \eqn{p = noise + (1 - 2 noise) [u > 0]}{p = noise + (1 - 2 noise) [u > 0]} | `noise` |
#' | `lik_mprobit` | \eqn{P(y = c) = P(v_c = \max_j v_j)}{P(y = c) = P(v_c = max_j v_j)}, \eqn{v_j \sim N(u_j + bias_j, 1)}{v_j ~ N(u_j + bias_j, 1)} | `bias` |
#' | `lik_softmax` | \eqn{P(y = c) = \exp(u_c + bias_c) / \sum_j \exp(u_j + bias_j)}{P(y = c) = exp(u_c + bias_c) / sum_j exp(u_j + bias_j)} | `bias` |
#' | `lik_ordinal` | \eqn{P(y \le k) = \Phi(cut_k - u)}{P(y <= k) = Phi(cut_k - u)} | `cut`, `gap` |
#' | `lik_nullcat` | \eqn{p \propto \Phi(u + bias - width/2)}{p ~ Phi(u + bias - width / 2)} | `bias`, `width`, `missing` |
#' | `lik_margin` | as `lik_nullcat`, for rows that all have labels | `bias`, `width` |
#' | `lik_squares` | \eqn{y = \pm 1 \sim N(u + bias, noise)}{y = +-1 ~ N(u + bias, noise)} | `bias`, `noise` |
#' | `lik_laplace` | \eqn{p(y) = \exp(-|y - u| / scale) / (2 scale)}{p(y) = exp(-|y - u| / scale) / (2 scale)} | `scale` |
#' | `lik_student` | \eqn{(y - u) / scale \sim t_{df}}{(y - u) / scale ~ t(df)} | `scale`, `df` |
#' | `lik_poisson` | \eqn{y \sim Poisson(\exp(u + bias))}{y ~ Poisson(exp(u + bias))} | `bias` |
#' | `lik_negbin` | \eqn{y \sim NegBin(\exp(u + bias), size)}{y ~ NegBin(exp(u + bias), size)} | `bias`, `size` |
#' | `lik_zip`, `lik_zinb` | 0 with probability `zero`, else as `lik_poisson`, `lik_negbin` | `bias`, `size`, `zero` |
#' | `lik_zip`, `lik_zinb` (`hurdle = TRUE`) | 0 with probability `zero`, else as `lik_poisson`, `lik_negbin` given that \eqn{y > 0}{y > 0} | `bias`, `size`, `zero` |
#' | `lik_gamma` | \eqn{y \sim Gamma(shape, mean = \exp(u + bias))}{y ~ Gamma(shape, mean = exp(u + bias))} | `bias`, `gamma_shape` |
#' | `lik_beta` | \eqn{y \sim Beta(precision\,m, precision\,(1 - m))}{y ~ Beta(precision m, precision (1 - m))}, \eqn{m = 1/(1 + \exp(-u - bias))}{m = 1 / (1 + exp(-u - bias))} | `bias`, `precision` |
#' | `lik_binomial` | \eqn{successes \sim Binomial(trials, 1/(1 + \exp(-u - bias)))}{successes ~ Binomial(trials, 1 / (1 + exp(-u - bias)))} | `bias` |
#' | `lik_weibull` | \eqn{\log t = u + scale\,e}{log(t) = u + scale e}, \eqn{P(e > z) = \exp(-\exp z)}{P(e > z) = exp(-exp(z))} | `scale` |
#' | `lik_loglogistic` | the same with logistic \eqn{e} | `scale` |
#' | `lik_lognormal` | the same with normal \eqn{e} | `scale` |
#' | `lik_density` | density \eqn{\propto u^2}{~ u^2} at an observed point | none |
#'
#' @section Names and families:
#' `gaussian()`, `binomial("probit")`, `binomial("logit")`, `poisson()` and `Gamma("log")` are
#' accepted, and from other packages `MASS::negative.binomial()`, mgcv's `nb()`, `negbin()`,
#' `betar()` and `ziP()`, whose zeros depend on the mean where those of `lik_zip()` do not;
#' `binomial("logit")` means `lik_binomial()` if the response has two columns. Their names stand for
#' them, as in [glm()]: with `"binomial"` a factor, a logical or numbers 0 and 1 are classes
#' (`lik_logit()`), and two columns of counts, or proportions with `weights`, are trials. For other
#' families and links an error names the nearest likelihood.
#'
#' @section Weights:
#' `weights` of [sparsegp()] divide the noise variance (`lik_gaussian()`), are numbers of trials
#' (`lik_binomial()`) or numbers of observations (`lik_poisson()`, `lik_negbin()`). Classes, times
#' and other likelihoods have none: a power of their likelihood has no moments in closed form.
#' Repeat an observation that stands for several, `data[rep(seq_len(n), weights), ]`. Two classes
#' take one row for each as trials: numbers 0 and 1 with `likelihood = "binomial"` and `weights`.
#' Weights that balance classes or correct for how a sample was drawn are not numbers of
#' observations; they would make intervals too narrow or too wide.
#'
#' @section Hyperparameters:
#' An argument that is a hyperparameter may be `NULL` (learned), a number (learned, with this start)
#' or `fixed(number)` (not learned). `coef()` shows it in the units that its page
#' names. For prior distributions see [priors].
#'
#' @section How exact they are:
#' Normal noise is exact. For other likelihoods the posterior is approximated by expectation
#' propagation. Each page gives its distance from long Monte Carlo runs (`bench/truth.R` of the
#' sources). Likelihoods that are *not log-concave* may have several optima and need more
#' iterations.
#'
#' @concept noise model
#' @concept robust regression
#' @concept count data
#' @concept classification
#' @concept one-vs-rest
#' @concept calibration
#' @references Minka, T. P. *Gaussian EP* (update formulas). Csató, L. (2002). *Gaussian Processes
#'   -- Iterative Sparse Approximations* (the thesis). Seeger, Lawrence and Herbrich, *Efficient
#'   Nonparametric Bayesian Modelling with Sparse Gaussian Process Approximations* (the IVM paper).
#'   The pages of the families refer to them by these names.
#' @seealso [sparsegp()], [kernels], [fit_methods]; `vignette("likelihoods")` shows them on data.
#' @examples
#' fit <- sparsegp(mtcars$wt, mtcars$am, likelihood = "logit")
#' predict(fit, c(2, 3, 4))
#'
#' counts <- sparsegp(count ~ spray, InsectSprays, likelihood = lik_poisson())
#' predict(counts, data.frame(spray = c("A", "C")), interval = "confidence")
#' @name likelihoods
NULL
