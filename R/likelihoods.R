#' Likelihoods
#'
#' How the response depends on the latent function. Each constructor returns a small value that
#' prints itself. [sparsegp()] chooses one from the response when none is given: `lik_gaussian()`
#' for numbers, `lik_probit()` for a factor with two levels or a logical, `lik_mprobit()` for more.
#'
#' | constructor | model | hyperparameters |
#' |---|---|---|
#' | `lik_gaussian` | \eqn{y \sim N(u, noise / weight)}{y ~ N(u, noise / weight)} | `noise`, a variance in squared units of the response |
#' | `lik_probit` | \eqn{P(y = second level) = \Phi(u + bias)}{P(y = second level) = Phi(u + bias)} | `bias` |
#' | `lik_logit` | \eqn{P(y = second level) = 1/(1 + \exp(-u - bias))}{P(y = second level) = 1 / (1 + exp(-u - bias))} | `bias` |
#' | `lik_flip` | \eqn{P(y = second level) = flip + (1 - 2 flip) \Phi(u + bias)}{P(y = second level) = flip + (1 - 2 flip) Phi(u + bias)} | `bias`; `flip`, the probability of a wrong label, from 0 to 1/2 |
#' | `lik_step` | \eqn{P(y = second level) = noise + (1 - 2 noise) [u > 0]}{P(y = second level) = noise + (1 - 2 noise) [u > 0]} | `noise`, as `flip` |
#' | `lik_mprobit` | \eqn{P(y = c) = P(v_c = \max_j v_j)}{P(y = c) = P(v_c = max_j v_j)}, \eqn{v_j \sim N(u_j + bias_j, 1)}{v_j ~ N(u_j + bias_j, 1)} | `bias`, one per class |
#' | `lik_softmax` | \eqn{P(y = c) = \exp(u_c + bias_c) / \sum_j \exp(u_j + bias_j)}{P(y = c) = exp(u_c + bias_c) / sum_j exp(u_j + bias_j)} | `bias`, one per class |
#' | `lik_laplace` | \eqn{p(y) = \exp(-|y - u| / scale) / (2 scale)}{p(y) = exp(-|y - u| / scale) / (2 scale)} | `scale`, in units of the response; the noise has variance \eqn{2 scale^2}{2 scale^2} |
#' | `lik_student` | \eqn{(y - u) / scale \sim t_{df}}{(y - u) / scale ~ t(df)} | `scale`, in units of the response; `df` greater than 2, so that the noise has a variance |
#' | `lik_poisson` | \eqn{y \sim Poisson(\exp(u + bias))}{y ~ Poisson(exp(u + bias))} | `bias`, the logarithm of a rate |
#' | `lik_binomial` | \eqn{successes \sim Binomial(trials, 1/(1 + \exp(-u - bias)))}{successes ~ Binomial(trials, 1 / (1 + exp(-u - bias)))} | `bias` |
#' | `lik_density` | \eqn{p \propto u^2}{p proportional to u^2} for a point that was seen | none |
#'
#' The Gaussian and the probit likelihood have closed forms (thesis section 2.4; Minka's formulas
#' 56-60); the logit one is integrated numerically to a relative accuracy of 1e-9.
#'
#' `lik_probit(flip = )` is `lik_flip()`: the probit model with labels that are wrong with a small
#' probability, wherever they stand; `lik_step()` is Minka's (formulas 50-55), in which they are
#' wrong for no other reason. Rows far on the wrong side then say little. Neither is log-concave,
#' see `lik_student()` below.
#'
#' `lik_mprobit()` and `lik_softmax()` have a latent function \eqn{u_c} for every class, and up to
#' 256 classes. Given the winner's value the classes are independent, so that one integral in one
#' dimension does for any number of them: for the multinomial probit that of the IVM paper, appendix
#' D; for softmax, which is the same model with Gumbel in place of normal noise, an integral of
#' integrals, some hundred times slower. Both are accurate to 1e-9. Only differences of biases
#' matter.
#'
#' With more than two levels `lik_probit()` and `lik_logit()` set each class against the rest: a
#' latent function per class on a common basis, with a common kernel and a `bias` each, and nothing
#' else in common (thesis section 5.2). There is no evidence of the classes then, only the sum of
#' those of the indicators, which learning maximises.
#'
#' `lik_laplace()` is for numbers with outliers: a row far off pulls with a force that does not grow
#' with its distance. Its closed form (two truncated normals) keeps its digits in all tails.
#' `lik_student()` goes further: far off the force falls to nothing. It is not log-concave, and a
#' row may widen the posterior instead of narrowing it: its site has a negative precision
#' (`fit$convergence$widening` counts them). Evidence and gradient are exact for these, too. A step
#' of expectation propagation is taken only as far as the posterior, with all rows and without any
#' one of them, is a distribution, and halved until it is. Where a model fits so badly that there is
#' no such fixed point in reach, no row may widen the posterior from then on: it only shifts the
#' mean. `fit$convergence$flat` counts the rows that would rather do otherwise; unless it is 0 the
#' gradient of the evidence, which learning follows, is a few per cent off. Compare a few given
#' values by `logLik()` then, or take a wider `scale`.
#'
#' `lik_poisson()` is for counts. An exposure enters as `offset(log(exposure))`, as in
#' [stats::glm()]; `predict(type = "response")` is then the expected count, averaged over the
#' posterior of the rate.
#'
#' `lik_binomial()` takes `cbind(successes, failures)`, as [stats::glm()] does, or shares of
#' successes with the numbers of trials as `weights`. The response of predictions, residuals and
#' simulations is the share; that of new rows, of which the trials are not known, is of one trial.
#'
#' `lik_density()` is what [gp_density()] is made of (thesis section 5.3): the response is 1 for
#' every row, and the square of the latent function is the density of the inputs up to a constant.
#' It is the same for \eqn{u} and \eqn{-u}{-u}, so that without an `offset` nothing happens, and
#' not log-concave. What is predicted as the response is \eqn{u^2}{u^2}, which is not normalised.
#'
#' A likelihood may also be given to [sparsegp()] by name (`"probit"`) or as an R
#' [family][stats::family]: `gaussian()`, `binomial("probit")`, `binomial("logit")`,
#' `poisson()`; `binomial("logit")` means `lik_binomial()` where the response has two columns.
#'
#' @param variance Noise variance: `NULL` (learned), a positive number (where learning starts) or
#'   `fixed(value)`.
#' @param bias Constant added to the latent function: `NULL` (learned), a number or `fixed(value)`;
#'   of several classes one number for all or one per class.
#' @param scale Scale of the noise, in units of the response: `NULL` (learned), a positive number or
#'   `fixed(value)`.
#' @param df Degrees of freedom of Student's t: `fixed(value)`, a number greater than 2 (where
#' learning
#'   starts) or `NULL` (learned). A few gross outliers say little about it but that they are there.
#' @param flip,noise Probability of a wrong label: `NULL` (learned), a number between 0 and 1/2 or
#'   `fixed(value)`. With `flip = 0` labels are right, and `lik_probit()` is as if it had no `flip`.
#' @param shared Do the latent functions of all classes have the same kernel hyperparameters, or
#' each
#'   its own?
#' @return A value of class `sparsegp_likelihood`. Errors are of class `sparsegp_error`.
#' @references Minka, T. P. *Gaussian EP* (update formulas), eqs 56-61. Csató, L. (2002). *Gaussian
#'   Processes -- Iterative Sparse Approximations*, section 2.4. Seeger, Lawrence and Herbrich,
#'   *Efficient Nonparametric Bayesian Modelling with Sparse Gaussian Process Approximations*,
#'   section 4 and appendices B.1 and D.
#' @examples
#' lik_gaussian(variance = fixed(0.1))
#' lik_probit()
#' lik_mprobit(bias = fixed(0))
#' fit <- sparsegp(mtcars$wt, mtcars$am, likelihood = "logit")
#' predict(fit, c(2, 3, 4))
#' @name likelihoods
NULL

# As many as C has room for (SG_LIK_MAX_CLASSES)
MAX_CLASSES <- 256L

lik_traits <- function(lik) LIKELIHOODS[[lik$type]]

new_likelihood <- function(type, params) {
  for (name in names(params)) {
    about <- LIKELIHOODS[[type]]$about[[name]]
    check_hyper(params[[name]], about$argument, positive = about$log,
                single = !LIKELIHOODS[[type]]$response %in% c("binary", "classes"),
                range = hyper_range(about))
    if (length(unlist(params[[name]])) > MAX_CLASSES) {
      stop_sparsegp(about$argument, paste("must be at most", MAX_CLASSES, "numbers"))
    }
  }
  structure(list(type = type, params = params), class = "sparsegp_likelihood")
}

#' @rdname likelihoods
#' @export
lik_gaussian <- function(variance = NULL) new_likelihood("gaussian", list(noise = variance))

#' @rdname likelihoods
#' @export
lik_probit <- function(bias = NULL, flip = 0) {
  known <- if (is_fixed(flip)) flip$value else flip
  if (!identical(known, 0) && !identical(known, 0L)) return(lik_flip(bias, flip))
  new_likelihood("probit", list(bias = bias))
}

#' @rdname likelihoods
#' @export
lik_flip <- function(bias = NULL, flip = NULL) {
  new_likelihood("flip", list(bias = bias, flip = flip))
}

#' @rdname likelihoods
#' @export
lik_step <- function(noise = NULL) new_likelihood("step", list(noise = noise))

#' @rdname likelihoods
#' @export
lik_logit <- function(bias = NULL) new_likelihood("logit", list(bias = bias))

#' @rdname likelihoods
#' @export
lik_mprobit <- function(bias = NULL, shared = TRUE) new_class_likelihood("mprobit", bias, shared)

#' @rdname likelihoods
#' @export
lik_softmax <- function(bias = NULL, shared = TRUE) new_class_likelihood("softmax", bias, shared)

#' @rdname likelihoods
#' @export
lik_laplace <- function(scale = NULL) new_likelihood("laplace", list(scale = scale))

#' @rdname likelihoods
#' @export
lik_student <- function(scale = NULL, df = fixed(4)) {
  new_likelihood("student", list(scale = scale, df = df))
}

#' @rdname likelihoods
#' @export
lik_poisson <- function(bias = NULL) new_likelihood("poisson", list(bias = bias))

#' @rdname likelihoods
#' @export
lik_binomial <- function(bias = NULL) new_likelihood("binomial", list(bias = bias))

#' @rdname likelihoods
#' @export
lik_density <- function() new_likelihood("density", list())

new_class_likelihood <- function(type, bias, shared) {
  lik <- new_likelihood(type, list(bias = bias))
  if (!check_flag(shared, "shared")) lik$shared <- FALSE
  lik
}

#' @export
format.sparsegp_likelihood <- function(x, ...) {
  given <- Filter(Negate(is.null), x$params)
  show <- function(value) {
    text <- format(if (is_fixed(value)) value$value else value, digits = 4L, trim = TRUE)
    if (length(text) > 1L) text <- paste0("c(", toString(text), ")")
    if (is_fixed(value)) paste0("fixed(", text, ")") else text
  }
  arguments <- paste0(names(given), " = ", vapply(given, show, ""), recycle0 = TRUE)
  if (own_kernels(x)) arguments <- c(arguments, "shared = FALSE")
  paste0(x$type, "(", toString(arguments), ")")
}

#' @export
print.sparsegp_likelihood <- function(x, ...) {
  cat("<likelihood> ", format(x), "\n", sep = "")
  invisible(x)
}

# What a user may give as `likelihood`: nothing, a name, a family, a value. declared: do levels of a
# factor count that have not come yet?
as_likelihood <- function(likelihood, y, declared = FALSE) {
  likelihood <- called(likelihood)
  if (is.null(likelihood)) {
    return(default_likelihood(if (is.factor(y) && !declared) droplevels(y) else y))
  }
  if (inherits(likelihood, "sparsegp_likelihood")) return(likelihood)
  if (inherits(likelihood, "family")) return(likelihood_of_family(likelihood))
  known <- .Call(sg_catalogue)$likelihoods
  if (is.character(likelihood) && length(likelihood) == 1L) {
    return(do.call(paste0("lik_", check_choice(likelihood, known, "likelihood")), list()))
  }
  stop_sparsegp("likelihood", paste0("is of class ", class(likelihood)[1L]),
                "Give a lik_*() value, a name such as \"probit\", or a family such as binomial()")
}

default_likelihood <- function(y) {
  if (is.numeric(y)) return(lik_gaussian())
  if (is_two_valued(y)) return(lik_probit())
  if (!is.factor(y) && !is.character(y)) {
    stop_sparsegp("y", paste0("is of class ", class(y)[1L]),
                  "Give numbers, a logical, or a factor")
  }
  lik_mprobit()
}

# A matrix of successes and failures, where the likelihood is of trials
are_trials <- function(y) is.matrix(y) && is.numeric(y) && ncol(y) == 2L

# binomial() means trials for such a response, and classes for others.
for_trials <- function(likelihood, y) {
  likelihood <- called(likelihood)
  logit <- inherits(likelihood, "family") && likelihood$family == "binomial" &&
    likelihood$link == "logit"
  if (are_trials(y) && logit) lik_binomial() else likelihood
}

# Shares and trials in place of successes and failures
read_trials <- function(chunk, likelihood) {
  if (!are_trials(chunk$y) || is.null(likelihood)) return(chunk)
  if (!isTRUE(lik_traits(as_likelihood(likelihood, chunk$y))$trials)) return(chunk)
  if (!is.null(chunk$weights)) {
    stop_sparsegp("weights", "and a response of successes and failures exclude each other",
                  "Leave the weights out")
  }
  trials <- rowSums(chunk$y)
  wrong <- illegal_counts(chunk$y[!is.na(chunk$y)])
  if (!is.null(wrong)) stop_sparsegp("y", wrong)
  if (any(trials == 0, na.rm = TRUE)) {
    stop_sparsegp("y", "has rows without trials", "Leave them out")
  }
  chunk$y <- unname(chunk$y[, 1L] / trials)
  chunk$weights <- unname(trials)
  chunk
}

is_two_valued <- function(y) {
  is.logical(y) || (is.factor(y) && nlevels(y) <= 2L) ||
    (is.character(y) && length(unique(y[!is.na(y)])) <= 2L)
}

likelihood_of_family <- function(family) {
  known <- list("gaussian identity" = lik_gaussian, "binomial probit" = lik_probit,
                "binomial logit" = lik_logit, "poisson log" = lik_poisson)
  constructor <- known[[paste(family$family, family$link)]]
  if (!is.null(constructor)) return(constructor())
  stop_sparsegp("likelihood", paste0("is the family ", family$family, "(", family$link,
                                     "), which this package does not know"),
                "Use gaussian(), binomial(\"probit\"), binomial(\"logit\") or poisson()")
}
