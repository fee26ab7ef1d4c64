#' Priors on hyperparameters
#'
#' A prior is the log density of a named hyperparameter on its natural scale, added to the log
#' evidence while [sparsegp()] learns. It is added unchanged, without the Jacobian of the logarithm
#' in which the search runs (as in the IVM paper, section 3.3 and 6.1), so the mode found is the
#' mode in the hyperparameter itself. `prior_lognormal` is a normal density in the logarithm,
#' `prior_logcauchy` a Cauchy density in it: it holds most values near `location` and lets a few go
#' far from it at little cost.
#'
#' Give priors as a named list, `gp_control(prior = list(lengthscale = prior_gamma(2, 1), bias =
#' prior_normal(0, 2)))`. A name is a full name as `coef()` prints it (`k1.lengthscale.age`), or the
#' part of it without the kernel's number and the input's name (`lengthscale`), which then applies
#' to all of them without an entry of their own. Hyperparameters that are not named keep their
#' defaults:
#'
#' | hyperparameter | default prior |
#' |---|---|
#' | `variance` | log-normal: `log(variance / v)` ~ N(1, 1.5^2), v the variance of the response, 1 for classes |
#' | `variance` of a part of [kernel_helmholtz()] | log-normal: `log(variance / start)` ~ N(0, 3^2) |
#' | `lengthscale` | log-normal: `log(lengthscale / start)` ~ N(0, 1), start as in [kernels]; with `ard = TRUE` N(0, 2^2); where a default fit of classes tries `ard`, log-Cauchy around the common one that it learned before, scale `r policy$relevance_spread` |
#' | `shape` | log-normal around the start with standard deviation 1.5 |
#' | `period` | log-normal around the start; the standard deviation is half a period in the range of the input, from 0.01 to 0.1, which keeps the search to the period and away from its multiples |
#' | `noise` | log-normal: `log(noise / v)` ~ N(-2, 2^2); where a default fit finds almost no noise ([model_structure]), N(-12, 3^2) |
#' | `scale` of [lik_student()] and [lik_laplace()] | log-normal: `log(scale / s)` ~ N(-1.35, 1), s^2 = v |
#' | `scale` of times | log-normal: `log(scale)` ~ N(-1, 1) |
#' | `df` | gamma with shape 2 and rate 0.1 |
#' | `bias` | normal N(-m, 25), m the mean offset (0 without one; IVM paper 6.1); for several classes N(0, 25), for counts N(-m, 100), for [lik_gamma()] N(b, 100), b the logarithm of the mean response less that of the offset |
#' | `size`, `gamma_shape` | log-normal: `log(size / 5)` ~ N(0, 2^2) |
#' | `precision` | log-normal: `log(precision / 10)` ~ N(0, 2^2) |
#' | `zero` | gamma with shape 1.5 and rate 1.5 |
#' | `flip` | log-normal: `log(flip / 0.05)` ~ N(0, 1) |
#' | `cut`, the first of them | normal N(m, 25) |
#' | `gap` between cut points; its full name has `gap.` where that of `coef()` has `cut.` | log-normal: `log(gap)` ~ N(0, 1.5^2) |
#' | `width` | log-normal: `log(width)` ~ N(0, 1) |
#' | `missing1`, `missing2` | flat |
#' | `correlation` | normal N(0, 0.25) |
#'
#' Those of `variance` and `lengthscale` are wider, and centred higher for the variance, than the
#' hyperpriors of the IVM paper's section 6.1 (log variance ~ N(-1, 1)): on the crabs and the sonar
#' data, where classes are nearly separable, the defaults gave test log likelihoods of -0.11 and
#' -0.33 per row, those of the paper -0.17 and -0.39.
#'
#' Without any prior the evidence of perfectly separable classes has no maximum.
#'
#' @param meanlog,sdlog Mean and standard deviation of the logarithm: one number each, `sdlog > 0`.
#' @param location,scale Median of the logarithm, and half of its interquartile range: one number
#'   each, `scale > 0`.
#' @param shape,rate Shape and rate of the gamma density: one positive number each.
#' @param mean,sd Mean and standard deviation of the normal density: one number each, `sd > 0`.
#' @return A value of class `sparsegp_prior`. Parameters outside their range are errors of class
#'   `sparsegp_error`.
#' @references Seeger, M., Lawrence, N. D. and Herbrich, R. *Efficient Nonparametric Bayesian
#'   Modelling with Sparse Gaussian Process Approximations*, section 6.1.
#' @examples
#' x <- seq(0, 1, length.out = 30)
#' y <- sin(6 * x)
#' fit <- sparsegp(x, y, control = gp_control(
#'   prior = list(lengthscale = prior_gamma(4, 4), noise = prior_flat())
#' ))
#' coef(fit)
#' @name priors
NULL

new_prior <- function(family, ...) {
  structure(list(family = family, par = c(...)), class = "sparsegp_prior")
}

# Squares of widths, and of their inverses, are to be numbers.
check_width <- function(x, argument) check_number(x, argument, 1e-100, 1e100)

#' @rdname priors
#' @export
prior_lognormal <- function(meanlog, sdlog) {
  new_prior("lognormal", meanlog = check_number(meanlog, "meanlog"),
            sdlog = check_width(sdlog, "sdlog"))
}

#' @rdname priors
#' @export
prior_logcauchy <- function(location, scale) {
  new_prior("logcauchy", location = check_number(location, "location"),
            scale = check_width(scale, "scale"))
}

#' @rdname priors
#' @export
prior_gamma <- function(shape, rate) {
  new_prior("gamma", shape = check_width(shape, "shape"), rate = check_width(rate, "rate"))
}

#' @rdname priors
#' @export
prior_normal <- function(mean, sd) {
  new_prior("normal", mean = check_number(mean, "mean"), sd = check_width(sd, "sd"))
}

#' @rdname priors
#' @export
prior_flat <- function() new_prior("flat")

# What a prior_*() function makes? Users can write to its parts, and it may come from a file.
is_prior <- function(x) {
  remade <- function() {
    make <- list(lognormal = prior_lognormal, logcauchy = prior_logcauchy, gamma = prior_gamma,
                 normal = prior_normal, flat = prior_flat)[[x$family]]
    do.call(make, as.list(x$par))
  }
  holds(is_made(x, "sparsegp_prior") && is_word(x$family, names(PRIOR_FAMILIES)) &&
          (is.null(x$par) || are_finite(x$par) && is.null(dim(x$par))) && identical(x, remade()))
}

are_priors <- function(x) is.list(x) && !is.object(x) && all(vapply(x, is_prior, NA))

FLAT_SPREAD <- 2 # of a prior without information

# The log density of each family at x, normalised, and its derivative d/dx. typical: a value whose
# log density is the family's constant, see hyper_log_constant(). of_log: is it the density of the
# logarithm? spread: about its standard deviation, of the logarithm or of the value (`of_value`).
PRIOR_FAMILIES <- list(
  lognormal = list(
    log_density = function(x, par) {
      stats::dnorm(log(x), par[["meanlog"]], par[["sdlog"]], log = TRUE)
    },
    slope = function(x, par) -(log(x) - par[["meanlog"]]) / par[["sdlog"]]^2 / x,
    typical = function(par) exp(par[["meanlog"]]),
    of_log = TRUE, spread = function(par) par[["sdlog"]]
  ),
  logcauchy = list(
    log_density = function(x, par) {
      stats::dcauchy(log(x), par[["location"]], par[["scale"]], log = TRUE)
    },
    slope = function(x, par) {
      z <- (log(x) - par[["location"]]) / par[["scale"]]
      -2 * z / (1 + z^2) / par[["scale"]] / x
    },
    typical = function(par) exp(par[["location"]]),
    of_log = TRUE, spread = function(par) 2 * par[["scale"]]
  ),
  gamma = list(
    log_density = function(x, par) {
      stats::dgamma(x, par[["shape"]], par[["rate"]], log = TRUE)
    },
    slope = function(x, par) (par[["shape"]] - 1) / x - par[["rate"]],
    typical = function(par) par[["shape"]] / par[["rate"]],
    of_log = FALSE, spread = function(par) 1 / sqrt(par[["shape"]])
  ),
  normal = list(
    log_density = function(x, par) stats::dnorm(x, par[["mean"]], par[["sd"]], log = TRUE),
    slope = function(x, par) -(x - par[["mean"]]) / par[["sd"]]^2,
    typical = function(par) par[["mean"]],
    of_log = FALSE, of_value = TRUE, spread = function(par) par[["sd"]]
  ),
  flat = list(log_density = function(x, par) 0 * x, slope = function(x, par) 0 * x,
              typical = function(par) 0, of_log = TRUE, spread = function(par) FLAT_SPREAD)
)

#' @export
print.sparsegp_prior <- function(x, ...) {
  refuse_if(!is_prior(x), "x", "was not made by a prior_*() function, or was changed afterwards",
            "Create it again; do not assign to parts of a prior")
  par <- paste0(names(x$par), " = ", format(x$par, digits = 4L, trim = TRUE), recycle0 = TRUE)
  cat("<prior> ", x$family, "(", toString(par), ")\n", sep = "")
  invisible(x)
}

# A log-normal default prior around `centre`, both in standardised units.
default_lognormal <- function(centre, sdlog) {
  function(unit) prior_lognormal(log(unit) + centre, sdlog)
}

# Puts a user's priors over the defaults in a table of hyperparameters (hyper-table.R).
apply_priors <- function(table, prior) {
  if (is.null(prior) || identical(prior, list())) return(table)
  named <- is.list(prior) && !is.null(names(prior)) && !any(names(prior) %in% c("", NA))
  refuse_if(!named || inherits(prior, "sparsegp_prior"), "prior", "must be a named list",
            "As in prior = list(lengthscale = prior_gamma(2, 1))")
  # what is named more closely is put in later, and stays
  breadth <- vapply(names(prior), function(name) length(matching_hyper(table, name)), 0L)
  for (name in names(prior)[order(-breadth)]) {
    refuse_if(!is_prior(prior[[name]]), paste0("prior$", name), "is not a prior",
              paste("Use prior_lognormal(), prior_logcauchy(), prior_gamma(), prior_normal() or",
                    "prior_flat()"))
    at <- matching_hyper(table, name)
    if (length(at) == 0L) {
      of_inputs <- grepl("lengthscale[.]", name) && any(grepl("lengthscale$", table$name))
      stop_sparsegp("prior", paste0("names an unknown hyperparameter, ", name),
                    paste0("This model has ", toString(table$name), if (of_inputs) {
                      paste(". For a length scale of each input give a kernel that has them,",
                            "kernel = kernel_rbf(ard = TRUE)")
                    }))
    }
    signed <- !table$log[at] | table$lower[at] < 0
    refuse_if(any(signed) && prior[[name]]$family %in% c("lognormal", "logcauchy", "gamma"),
              "prior",
              paste0("gives ", name, ", which may be negative, a density on positive numbers"),
              "Use prior_normal() or prior_flat()")
    table$prior[at] <- list(prior[[name]])
  }
  table
}

matching_hyper <- function(table, name) {
  number <- ifelse(grepl("^k[0-9]+[.]", table$name), sub("[.].*", ".", table$name), "")
  bare <- substring(table$name, nchar(number) + 1L)
  which(table$name == name | bare == name | table$base == name |
          (number != "" & paste0(number, table$base) == name))
}

# Returns the rows of a table that a user's priors are of.
hyper_with_priors <- function(table, prior) {
  as.integer(unlist(lapply(names(prior), matching_hyper, table = table)))
}

# ---- Tied length scales ----

# Length scales whose prior is log-Cauchy are tied to a common value: most stay near it, a few go
# far.
is_tied <- function(table) {
  table$free & table$base == "lengthscale" &
    vapply(table$prior, function(prior) prior$family == "logcauchy", NA)
}
