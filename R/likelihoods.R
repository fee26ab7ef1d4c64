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
#' | `lik_mprobit` | \eqn{P(y = c) = P(v_c = \max_j v_j)}{P(y = c) = P(v_c = max_j v_j)}, \eqn{v_j \sim N(u_j + bias_j, 1)}{v_j ~ N(u_j + bias_j, 1)} | `bias`, one per class |
#' | `lik_softmax` | \eqn{P(y = c) = \exp(u_c + bias_c) / \sum_j \exp(u_j + bias_j)}{P(y = c) = exp(u_c + bias_c) / sum_j exp(u_j + bias_j)} | `bias`, one per class |
#' | `lik_laplace` | \eqn{p(y) = \exp(-|y - u| / scale) / (2 scale)}{p(y) = exp(-|y - u| / scale) / (2 scale)} | `scale`, in units of the response; the noise has variance \eqn{2 scale^2}{2 scale^2} |
#' | `lik_student` | \eqn{(y - u) / scale \sim t_{df}}{(y - u) / scale ~ t(df)} | `scale`, in units of the response; `df` greater than 2, so that the noise has a variance |
#' | `lik_poisson` | \eqn{y \sim Poisson(\exp(u + bias))}{y ~ Poisson(exp(u + bias))} | `bias`, the logarithm of a rate |
#'
#' The Gaussian and the probit likelihood have closed forms (thesis section 2.4; Minka's formulas
#' 56-60); the logit one is integrated numerically to a relative accuracy of 1e-9.
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
#' `lik_student()` goes further: far off the force falls to nothing. It is not log-concave, and a row
#' may widen the posterior instead of narrowing it. Expectation propagation for all rows at once gives
#' such a row a site without precision, which only shifts the mean; `fit$convergence$flat` counts them.
#' While there are any the gradient of the evidence is not exact (it leaves out that the other sites
#' move), by some per cent; the evidence itself is as it says.
#'
#' `lik_poisson()` is for counts. An exposure enters as `offset(log(exposure))`, as in [stats::glm()];
#' `predict(type = "response")` is then the expected count, averaged over the posterior of the rate.
#'
#' A likelihood may also be given to [sparsegp()] by name (`"probit"`) or as an R
#' [family][stats::family]: `gaussian()`, `binomial("probit")`, `binomial("logit")`,
#' `poisson()`.
#'
#' @param variance Noise variance: `NULL` (learned), a positive number (where learning starts) or
#'   `fixed(value)`.
#' @param bias Constant added to the latent function: `NULL` (learned), a number or `fixed(value)`;
#'   of several classes one number for all or one per class.
#' @param scale Scale of the noise, in units of the response: `NULL` (learned), a positive number or
#'   `fixed(value)`.
#' @param df Degrees of freedom of Student's t: `fixed(value)`, a number greater than 2 (where learning
#'   starts) or `NULL` (learned). A few gross outliers say little about it but that they are there.
#' @param shared Do the latent functions of all classes have the same kernel hyperparameters, or each
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

# A likelihood value is plain data: its C type and what was given for its hyperparameters. What R
# has to know of a type stands in LIKELIHOODS:
#   response   "numeric", "binary" or "classes": how sparsegp() reads y and how predict() words the
#              answer
#   legal      (y) -> what is wrong with these numbers, or NULL; left out: any finite ones will do
#   scales     does y -> c y + b map the model to itself? then y is standardised for C
#   weighted   do weights mean anything?
#   about      per hyperparameter: the constructor's argument, whether it is searched as a
#              logarithm (between what bounds, `range`, if not 0 and Inf), which power of the response's unit it has, where it starts (on C's scale,
#              from the data rows and offsets), and its default prior (from the unit and the
#              offsets)
#   data_rows  (y, weights) -> the q x n matrix C wants
#   draw       (f, value, weights) random responses given latent values; value: named, in C's units
#   quantile   (p, mean, var, value, weights) of a response under N(mean, var); NULL for classes
#   extra_var  (value, weights) what a row's response varies beyond one of weight 1
# Numbers that do not scale are for C as they are, and so is the latent function.
gaussian_traits <- list(
  response = "numeric", scales = TRUE, weighted = TRUE,
  about = list(noise = list(
    argument = "variance", log = TRUE, unit_power = 2, start = function(rows, offset) log(0.1),
    prior = function(unit, offset) default_lognormal(-2, 2)(unit)
  )),
  data_rows = function(y, weights) rbind(y, weights),
  draw = function(f, value, weights) {
    stats::rnorm(length(f), f, sqrt(value[["noise"]] / weights))
  },
  quantile = function(p, mean, var, value, weights) {
    stats::qnorm(p, mean, sqrt(var + value[["noise"]] / weights))
  },
  extra_var = function(value, weights) value[["noise"]] * (1 / weights - 1)
)

# A scale of noise, in units of the response. It starts where the Gaussian's standard deviation does.
noise_scale <- list(
  argument = "scale", log = TRUE, unit_power = 1, start = function(rows, offset) log(0.22),
  prior = function(unit, offset) default_lognormal(-1.35, 1)(unit)
)

laplace_traits <- list(
  response = "numeric", scales = TRUE, weighted = FALSE, about = list(scale = noise_scale),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    side <- ifelse(stats::runif(length(f)) < 0.5, -1, 1)
    f + side * value[["scale"]] * stats::rexp(length(f))
  },
  quantile = function(p, mean, var, value, weights) {
    scale <- value[["scale"]]
    mean + crossing(p, function(r) laplace_cdf(r, sqrt(var), scale), 0 * mean, scale + sqrt(var))
  },
  extra_var = function(value, weights) 0
)

student_traits <- list(
  response = "numeric", scales = TRUE, weighted = FALSE,
  about = list(scale = noise_scale, df = list(
    argument = "df", log = TRUE, unit_power = 0, range = c(2, Inf),
    start = function(rows, offset) log(5 - 2),
    prior = function(unit, offset) prior_gamma(2, 0.1)
  )),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    f + value[["scale"]] * stats::rt(length(f), value[["df"]])
  },
  quantile = function(p, mean, var, value, weights) {
    scale <- value[["scale"]]
    cdf <- function(y, f) stats::pt((y - f) / scale, value[["df"]])
    mixed_quantile(p, mean, sqrt(var), cdf, scale)
  },
  extra_var = function(value, weights) 0
)

# Counts: rows are as given. The bias starts where it and the offset give their sum.
poisson_traits <- list(
  response = "numeric", scales = FALSE, weighted = FALSE,
  legal = function(y) illegal_counts(y),
  about = list(bias = list(
    argument = "bias", log = FALSE, unit_power = 0,
    start = function(rows, offset) {
      log(sum(rows[1L, ]) + 0.5) - max(offset) - log(sum(exp(offset - max(offset))))
    },
    prior = function(unit, offset) prior_normal(-mean(offset), 10)
  )),
  data_rows = function(y, weights) rbind(y),
  draw = function(f, value, weights) {
    as.double(stats::rpois(length(f), exp(f + value[["bias"]])))
  },
  quantile = function(p, mean, var, value, weights) {
    log_rate <- mean + value[["bias"]]
    whole_quantile(p, log_rate, sqrt(var), function(y, f) stats::ppois(y, exp(f)),
                   width = function(y) 1 / sqrt(y + 1),
                   start = function(p, f) stats::qpois(p, exp(pmin(f, 35)))) # 1e15, all whole
  },
  extra_var = function(value, weights) 0
)

illegal_counts <- function(y) {
  if (any(y < 0)) "has negative values, which are no counts"
  else if (any(y != round(y))) "has values that are not whole numbers"
}

# Two classes: rows are -1 and 1. The bias starts where it and the mean offset give the classes'
# frequencies, and its default prior does not mind a constant in the offset.
binary_traits <- function(inverse_link, link) {
  list(
    response = "binary", scales = FALSE, weighted = FALSE,
    about = list(bias = list(
      argument = "bias", log = FALSE, unit_power = 0,
      start = function(rows, offset) {
        link((sum(rows > 0) + 0.5) / (length(rows) + 1)) - mean(offset)
      },
      prior = function(unit, offset) prior_normal(-mean(offset), 5)
    )),
    data_rows = function(y, weights) rbind(y),
    draw = function(f, value, weights) {
      ifelse(stats::runif(length(f)) < inverse_link(f + value[["bias"]]), 1, -1)
    },
    quantile = NULL,
    extra_var = function(value, weights) 0
  )
}

# Several classes: rows are 1..C. There is a bias per class: hyperparameters, offset and draw()'s f
# have a column or an entry for each, and value[["bias"]] of the other traits is all of value here.
# Only differences of biases matter; they start centred, where they alone give the classes'
# frequencies (nearly), and the default prior holds their mean there.
class_traits <- function(link, noise) {
  list(
    response = "classes", scales = FALSE, weighted = FALSE,
    about = list(bias = list(
      argument = "bias", log = FALSE, unit_power = 0,
      start = function(rows, offset, classes = max(rows)) {
        start <- link((tabulate(rows, classes) + 0.5) / (length(rows) + 0.5 * classes))
        start - mean(start)
      },
      prior = function(unit, offset) prior_normal(0, 5)
    )),
    data_rows = function(y, weights) rbind(as.double(y)),
    draw = function(f, value, weights) {
      f <- rbind(f) # one row may come as a vector
      v <- f + rep(value, each = nrow(f)) + noise(length(f))
      max.col(v, "first")
    },
    quantile = NULL,
    extra_var = function(value, weights) 0
  )
}

LIKELIHOODS <- list(
  gaussian = gaussian_traits,
  probit = binary_traits(stats::pnorm, stats::qnorm),
  logit = binary_traits(stats::plogis, stats::qlogis),
  # normal noise is much like Gumbel noise of its variance, for which the start would be exact
  mprobit = class_traits(function(p) log(p) * sqrt(6) / pi, stats::rnorm),
  softmax = class_traits(log, function(n) -log(stats::rexp(n))), # Gumbel noise
  poisson = poisson_traits,
  laplace = laplace_traits,
  student = student_traits
)

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
lik_probit <- function(bias = NULL) new_likelihood("probit", list(bias = bias))

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

is_two_valued <- function(y) {
  is.logical(y) || (is.factor(y) && nlevels(y) <= 2L) ||
    (is.character(y) && length(unique(y[!is.na(y)])) <= 2L)
}

likelihood_of_family <- function(family) {
  constructor <- list("gaussian identity" = lik_gaussian, "binomial probit" = lik_probit,
                      "binomial logit" = lik_logit, "poisson log" = lik_poisson)[[paste(family$family, family$link)]]
  if (!is.null(constructor)) return(constructor())
  stop_sparsegp("likelihood", paste0("is the family ", family$family, "(", family$link,
                                     "), which this package does not know"),
                "Use gaussian(), binomial(\"probit\"), binomial(\"logit\") or poisson()")
}
