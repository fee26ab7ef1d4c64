# Likelihoods that are R functions: the twin of src/lik_custom.c.
#
# A value has, beside what other likelihoods have, `custom`: the user's functions and what is known
# of the hyperparameters that they take, in their order: names, starting values, lower and upper
# bounds, whether they are searched as logarithms (hyper-table.R), and the user's priors. C gets
# `custom` in the specification, and hands it back to logps_of_custom().

#' A likelihood of your own
#'
#' @description Makes a likelihood of functions that are written in R. Only the log density is
#' needed: expectation propagation, the evidence, learning, predictions with error bars,
#' leave-one-out, residuals and draws follow. It can be used wherever other [likelihoods] are, with
#' any kernel.
#'
#' *Experimental: arguments may change in a minor version, see [stability].*
#'
#' @details
#' For each observation, \eqn{\log E\, p(y|f)}{log E p(y|f)} under the cavity distribution of its
#' latent value and the two derivatives in the mean are computed by the trapezoid rule, whose error
#' falls exponentially with the number of nodes if `log_density` is smooth in `f`: 33 nodes as a
#' rule, up to 1025 where those and every second one of them disagree. Where the density is 0
#' (`-Inf`) beyond a bound, as of uniform or one-sided noise, the bounds are found by bisection and
#' integrals go from bound to bound, to 1e-8; a sweep takes some ten times as long then. For a
#' density with a corner, or a jump between two values other than 0, the result is accurate to some
#' 1e-5. One that jumps or turns so often that an error above 1e-4 is left is refused.
#' `log_density` is called for all observations at once.
#'
#' @section Arguments of the functions:
#' `f` is a matrix of latent values plus offset, of some observations at some nodes. `y` and
#' `weights` are matrices of the same shape, with the response and the weight of each. `theta` is a
#' named vector of the hyperparameters on their natural scale. The answer has the shape of `f`. The
#' latent function has prior mean 0: add a hyperparameter such as `theta[["bias"]]` to `f` if it is
#' to be learned. Responses are not scaled.
#'
#' | `response` | `y` | and it is given as |
#' |---|---|---|
#' | `"number"` | any numbers | numbers |
#' | `"count"` | 0, 1, 2, ... | numbers |
#' | `"label"` | -1 and 1 | a factor of two levels, a logical |
#' | `"positive"` | numbers above 0 | numbers |
#' | `"share"` | numbers between 0 and 1 | numbers |
#' | `"ordered"` | 1, 2, ... | an ordered factor, or whole numbers |
#'
#' With `width = 2` an observation has two latent functions, such as a mean and the logarithm of a
#' spread, or a rate and a gate. `f` is then a named list of two such matrices, by default `f$f1`
#' and `f$f2`, with independent priors unless a [kernel_coregion()] of rank 1 or more is given.
#' Labels and ordered categories have one latent function.
#'
#' With `data` the functions have a last argument `data`, a named list of matrices in the shape of
#' `f`, which have the constants of each observation; so have `mean`, `variance` and `draw`.
#'
#' @section Constants of observations:
#' Exposures, known errors, numbers of trials or limits belong to an observation as its response
#' does. `data = ~ exposure + limit` names columns of the data frame of the fit; they are read with
#' every later row by [update()], [predict()], streams and sources. `data = list(exposure = ...)`,
#' or a data frame, has a value for each row of the data; rows that `subset` or `na.action` leave
#' out are left out here, too. New rows need columns of these names, or
#' `predict(fit, newdata, weights = list(exposure = ...))`; a fit of a matrix needs the latter.
#' Predictions of the latent function need no constants. `weights` of [sparsegp()] are given among
#' `data` then.
#'
#' @section Checks:
#' With `check = TRUE`, [sparsegp()] evaluates the functions at a few observations and the starting
#' values. It stops with an error if shapes are wrong, values are not numbers, `gradient` differs
#' from finite differences, or any observation has a density of 0 at all latent values tried, within
#' 100 of 0. It gives a warning if the density does not integrate to one over the responses:
#' predictions then use the normalised density, and log evidences are not comparable. One that has
#' no
#' finite integral, as with a probability in place of a density beyond a limit of detection, has no
#' predictions of responses; those of the latent function are right.
#'
#' @section Saved fits:
#' A fit keeps the functions, with the environment that they were made in, and a saved fit has both.
#' Objects that they take from the global environment or from packages are looked up when they are
#' called. Whoever loads a fit and predicts runs its functions: load only what you trust.
#'
#' @section Cost:
#' A sweep of [method_ep()] calls R once for each 128 observations, and some hundred times where the
#' density has corners or bounds; a gradient calls it once more for each side of a hyperparameter's
#' difference. [method_ivm()] does so for all candidates of an inclusion, and [method_online()] for
#' single observations, which takes some 0.1 ms each.
#' With `width = 2` there are 33 x 33 nodes or more for each observation, which take some 2 ms in
#' each sweep: a few hundred observations at most. Threads are not used.
#'
#' Predictions of responses cost more than that where there is no `mean`, as moments are then
#' integrals over responses: some 3 ms a row with one latent function and half a second with two,
#' and pictures take long. Give `mean` and `variance`, or ask for `type = "latent"`.
#'
#' @param log_density `function(y, f, theta)`, with further arguments `weights` or `data` where it
#'   needs these: the logarithm of the density of `y` (for counts, labels and categories of the
#'   probability), see below. `-Inf` is allowed.
#' @param theta Named starting values of the hyperparameters, a vector or a list, in which [fixed()]
#'   values are kept: `c(scale = 1)`. `NULL`: the functions have none.
#' @param range A named list of bounds, `list(power = c(1, 2))`, open intervals that values lie in.
#'   A hyperparameter that is not named is positive if its start is, and else any number,
#'   `c(-Inf, Inf)`.
#' @param prior A named list of [priors]. By default positive hyperparameters are log-normal around
#'   the start, `log(theta / start)` ~ N(0, 1.5^2), those of a bounded range flat, and others normal
#'   around the start with standard deviation `max(1, |start|)`. `prior` of [gp_control()] replaces
#'   them.
#' @param response Kind of responses: one of the words in the table below.
#' @param gradient `function(y, f, theta)`: the derivatives of `log_density` in each hyperparameter,
#'   on its natural scale, a list of matrices in the order of `theta`. `NULL`: by differences.
#' @param mean,variance `function(f, theta)`: mean and variance of a response given `f`, in the
#'   shape of `f`. `NULL`: by quadrature of the density over responses.
#' @param draw `function(f, theta)`: a random response for each element of `f`. `NULL`: by inverting
#'   the distribution function.
#' @param label Name of the likelihood in print: one word.
#' @param check `TRUE` to check the functions when a fit is made.
#' @param data Constants of each observation: a formula of one side that names columns,
#'   `~ exposure`, or a named list or data frame of numbers, one for each row of the data. `NULL`:
#'   there are none.
#' @param width 1 or 2: number of latent functions of an observation.
#' @param components Names of two latent functions, by default `c("f1", "f2")`, for the list `f` and
#'   for the columns of `predict(type = "latent")`.
#' @return A value of class `sparsegp_likelihood`. Errors are of class `sparsegp_error`: they name
#'   the argument, and those of the functions `likelihood`, with the function's own message.
#' @references Minka, T. P. (2001), *A family of algorithms for approximate Bayesian inference*, PhD
#'   thesis, MIT, section 3.2: only the moments of tilted distributions depend on the likelihood.
#' @seealso [likelihoods] for those of the package; [kernel_custom()] for kernels.
#' @concept user-defined likelihood
#' @concept custom likelihood
#' @examples
#' # noise with heavier tails than the normal distribution: a logistic density
#' logistic <- lik_custom(function(y, f, theta) {
#'   dlogis(y, f + theta[["bias"]], theta[["scale"]], log = TRUE)
#' }, theta = c(scale = 0.2, bias = 0), label = "logistic")
#' set.seed(1)
#' d <- data.frame(x = seq(0, 1, length.out = 25))
#' d$y <- sin(6 * d$x) + 0.1 * rlogis(25)
#' fit <- sparsegp(y ~ x, d, likelihood = logistic, kernel = "rbf",
#'                 control = gp_control(integrate = "none"))
#' coef(fit)
#' predict(fit, d[1:3, ], type = "median", interval = "confidence")
#' @export
lik_custom <- function(log_density, theta = NULL, range = list(), prior = list(),
                       response = c("number", "count", "label", "positive", "share",
                                    "ordered"),
                       gradient = NULL, mean = NULL, variance = NULL, draw = NULL,
                       label = "custom", check = TRUE, data = NULL, width = 1,
                       components = NULL) {
  response <- check_choice(response, names(CUSTOM_RESPONSES), "response")
  custom <- list(fun = check_user_function(log_density, 3L, "log_density"),
                 gradient = optional_function(gradient, 3L, "gradient"),
                 mean = optional_function(mean, 2L, "mean"),
                 variance = optional_function(variance, 2L, "variance"),
                 draw = optional_function(draw, 2L, "draw"), response = response,
                 check = check_flag(check, "check"))
  custom$components <- check_latent_names(width, components, response)
  refuse_if(is.null(mean) != is.null(variance), "variance", "and `mean` belong together",
            "Give both, or neither")
  refuse_if(!is.null(data) && !takes_data(log_density), "log_density",
            "has no argument `data`, and there are constants", "Give function(y, f, theta, data)")
  custom$label <- check_custom_label(label)
  custom <- c(custom, custom_hyper(theta, range, prior), custom_constants(data))
  structure(list(type = "custom", params = stats::setNames(as.list(theta), names(theta)),
                 custom = custom), class = "sparsegp_likelihood")
}

# The codec of each kind of response
CUSTOM_RESPONSES <- c(number = "reals", count = "counts", label = "labels", positive = "positive",
                      share = "proportions", ordered = "ranks")

# The codec of each kind that may have two latent functions
CUSTOM_PAIRS <- c(number = "real_pairs", count = "count_pairs", positive = "positive_pairs",
                  share = "proportion_pairs")

# Returns the names of the latent functions of an observation; of a single one there are none.
check_latent_names <- function(width, components, response) {
  refuse_if(!is.numeric(width) || length(width) != 1L || !width %in% 1:2, "width", "is not 1 or 2",
            "Give the number of latent functions of an observation")
  if (width == 1) {
    if (is.null(components)) return(NULL)
    stop_sparsegp("components", "are for width = 2", "Leave them out")
  }
  refuse_if(!response %in% names(CUSTOM_PAIRS),
            "width", paste0("= 2 is not for response = \"", response, "\""),
            "Give width = 1; labels and ordered categories have one latent function")
  components <- components %||% c("f1", "f2")
  right <- is.character(components) && length(components) == 2L && !anyNA(components) &&
    !anyDuplicated(components) && all(components == make.names(components))
  if (!right) stop_sparsegp("components", "must be two names", "As in c(\"mean\", \"log_sd\")")
  components
}

check_user_function <- function(fun, arguments, argument) {
  names <- if (is.function(fun)) names(formals(args(fun)))
  if (length(names) >= arguments || "..." %in% names) return(fun)
  stop_sparsegp(argument, if (is.function(fun)) "takes too few arguments" else "is not a function",
                paste0("Give function(", if (arguments == 2L) "f, theta" else "y, f, theta", ")"))
}

optional_function <- function(fun, arguments, argument) {
  if (!is.null(fun)) check_user_function(fun, arguments, argument)
}

# Returns what is known of the hyperparameters.
custom_hyper <- function(theta, range, prior) {
  names <- names(theta)
  right <- is.null(theta) || (is.numeric(theta) || is.list(theta)) && length(names) &&
    !anyDuplicated(names) && identical(names, make.names(names))
  refuse_if(!right, "theta", "must be numbers with names", "As in theta = c(scale = 1)")
  for (argument in c("range", "prior")) {
    value <- list(range = range, prior = prior)[[argument]]
    if (!is.list(value) || !all(names(value) %in% names) || length(names(value)) < length(value)) {
      stop_sparsegp(argument, "must be a list with names of `theta`", "As in list(scale = ...)")
    }
  }
  start <- vapply(stats::setNames(nm = names), function(name) {
    value <- given_value(theta[[name]])
    if (is.numeric(value) && length(value) == 1L && is.finite(value)) return(as.double(value))
    stop_sparsegp("theta", paste0("has no single starting value of ", name),
                  "As in theta = c(scale = 1)")
  }, 0)
  bounds <- lapply(stats::setNames(nm = names), function(name) {
    custom_bounds(range[[name]], name, start[[name]])
  })
  for (name in names(prior)) {
    refuse_if(!is_prior(prior[[name]]), "prior",
              paste0("has no prior_*() value of ", name), "See ?priors")
  }
  lower <- vapply(bounds, `[`, 0, 1L)
  list(names = as.character(names), start = start, lower = lower,
       upper = vapply(bounds, `[`, 0, 2L), log = is.finite(lower), prior = prior)
}

custom_bounds <- function(own, name, start) {
  own <- own %||% (if (start > 0) c(0, Inf) else c(-Inf, Inf))
  check_bounds(own, name)
  refuse_if(start <= own[1L] || start >= own[2L],
            "theta", paste0("starts ", name, " outside of its range"),
            "Start within it, or give another `range`")
  as.double(own)
}

is_custom_likelihood <- function(x) {
  functions <- function(fields) all(vapply(x[fields], function(f) is.null(f) || is.function(f), NA))
  count <- length(x$names)
  is.list(x) && is.function(x$fun) && functions(c("gradient", "mean", "variance", "draw")) &&
    is_word(x$response, names(CUSTOM_RESPONSES)) && is.character(x$names) && is_text(x$label) &&
    is_flag(x$check) && are_doubles(unname(x$lower), count) &&
    are_doubles(unname(x$upper), count) && are_doubles(unname(x$start), count) &&
    is.logical(x$log) && length(x$log) == count &&
    !anyNA(c(x$lower, x$upper, x$start, x$log)) && are_priors(x$prior) &&
    all(vapply(x[c("lower", "upper", "start", "log")], function(each) {
      setequal(names(each), x$names)
    }, NA)) &&
    are_custom_extras(x)
}

# Checks what there is beside one latent function and a response: names of two, constants, and the
# number of categories.
are_custom_extras <- function(x) {
  pair <- x$components
  (is.null(pair) || is.character(pair) && length(pair) == 2L &&
     x$response %in% names(CUSTOM_PAIRS)) &&
    (is.null(x$data) || is.character(x$data) && !anyNA(x$data)) &&
    (is.null(x$constants) || is.matrix(x$constants) && is.numeric(x$constants) &&
       ncol(x$constants) == length(x$data)) &&
    (is.null(x$categories) || is_one(x$categories, 2, MAX_CLASSES))
}

# ---- Traits ----

# Returns the traits that all of them have; custom_traits_of() has the rest.
custom_traits <- function() c(lik_code(
  response = "reals", density = TRUE, data_rows = custom_rows, of_value = custom_traits_of
), lik_hyper(), lik_sample(draw = NULL))

# A data row is the response, its weight and its constants (lik-custom-data.R).
custom_rows <- function(y, weights) {
  n <- length(y)
  if (!is.list(weights)) {
    return(rbind(y, rep_len(weights_or_ones(weights, n), n), deparse.level = 0L))
  }
  rbind(y, rep(1, n), matrix(as.double(unlist(weights)), ncol = length(weights)),
        deparse.level = 0L)
}

custom_traits_of <- function(traits, lik) {
  custom <- lik$custom
  codecs <- if (is.null(custom$components)) CUSTOM_RESPONSES else CUSTOM_PAIRS
  traits_like(traits, response = codecs[[custom$response]], label = custom$label,
              density = !custom$response %in% c("count", "label", "ordered"),
              weighted = length(custom$data) > 0L ||
                "weights" %in% names(formals(args(custom$fun))),
              about = lapply(stats::setNames(nm = custom$names), custom_about, custom),
              draw = function(f, value, weights) draw_custom(custom, f, value, weights))
}

custom_about <- function(name, custom) {
  start <- custom$start[[name]]
  range <- c(custom$lower[[name]], custom$upper[[name]])
  log <- custom$log[[name]]
  list(argument = "theta", log = log, unit_power = 0, range = if (log) range,
       start = function(rows, offset) if (log) to_search(start, range[1L], range[2L]) else start,
       prior = function(unit, offset) {
         custom$prior[[name]] %||% (
           if (!log) prior_normal(start, max(1, abs(start)))
           else if (range[1L] == 0 && range[2L] == Inf) prior_lognormal(log(start), 1.5)
           else prior_flat()
         )
       })
}
