# A likelihood that is written in R: the twin of src/lik_custom.c. Its tilts are in
# lik-custom-tilt.R, what is asked of its responses in lik-custom-responses.R.

#' A likelihood of your own
#'
#' `lik_custom()` makes a likelihood of a function of R: the logarithm of the density, or of the
#' probability, of a response given the latent function. Everything that is done with a built-in
#' likelihood is done with it: expectation propagation, the log evidence, learning of its
#' hyperparameters, predictions, intervals, leave-one-out densities, residuals, simulation, pictures,
#' streams, sources and saving.
#'
#' @section The function:
#' `log_density(y, f, theta)` is given responses `y` and latent values `f`, two vectors of the same
#' length, and the hyperparameters `theta`, a named vector, all in the user's units. It returns as
#' many logarithms. It is called for many rows and many latent values at once (the nodes of a
#' quadrature), a few times for each sweep, so it has to be vectorised: use [ifelse()] in place of
#' `if`. A value that is not a number counts as a density of 0. If it has an argument `weights`, it is
#' given the weights of the rows, and if it has an argument `data` what was given as such.
#'
#' | `response` | a response `y` is | the latent function is |
#' |---|---|---|
#' | `"number"` | any number | in units of the response |
#' | `"positive"` | a number greater than 0 | without a unit, of prior mean 0 |
#' | `"share"` | a number between 0 and 1, not on them | the same |
#' | `"count"` | 0, 1, 2, ... | the same |
#' | `"label"` | -1 for the first of two levels, 1 for the second | the same |
#' | `"ordered"` | 1, 2, ... for the levels of an ordered factor | the same |
#'
#' Where the latent function has prior mean 0, give the density a parameter for its level, called
#' `bias` if it is added to the latent function: `predict(type = "link")` adds it, too.
#'
#' @section What is computed:
#' The integrals of density and normal distribution are found by the trapezoid rule, and where half
#' of its nodes do not agree with all of them by adaptive Gauss-Kronrod quadrature; both are right to
#' about 1e-10. The density may have corners, and two modes in the latent function together with the
#' prior, but as a function of `f` alone it should rise to one place and fall from there, or be
#' monotone. Mean and variance of a response that are not given are integrals over the responses, and
#' so are quantiles and leave-one-out tails, which take some 10 000 values of the density each.
#'
#' @section Saving:
#' A fit keeps the functions as data. [saveRDS()] therefore saves with them the environment in which
#' they were made, with all that is in it: make them at the top level of a script, or in a function
#' that holds nothing large. What they look up elsewhere, such as other functions of your script or of
#' a package that is attached, has to be there when the fit is loaded again; constants are safest in
#' `data`. Fits are merged only if their functions are identical.
#'
#' @param log_density A function, see below.
#' @param theta Hyperparameters: a named vector or list of numbers, at which learning starts. One
#'   that is [fixed()] stays. Empty: there are none.
#' @param prior Prior distributions of them, a named list, see [priors]. By default log-normal around
#'   the start with a standard deviation of 1.5 for positive ones, and normal around it with a
#'   standard deviation of 5 for others.
#' @param positive Names of those that are positive. By default those that start above 0.
#' @param data Constants that the functions are given as `data`; `NULL`: they are given none.
#' @param response What a response is, see below.
#' @param mean,variance Functions of `(f, theta)`: mean and variance of a response at latent values,
#'   of labels the probability of the second. `NULL`: found from the density.
#' @param quantile A function of `(p, f, theta)`: quantiles of a response at latent values, by which
#'   responses are simulated if `draw` is `NULL`.
#' @param draw A function of `(f, theta)`: a random response for each latent value.
#' @param gradient A function as `log_density`: its derivatives in `theta`, a matrix with a column
#'   for each hyperparameter. `NULL`: differences.
#' @param check Whether to try the functions: that they are vectorised, that the density adds up to 1
#'   at some latent values, and that `gradient` is right.
#' @return A value of class `sparsegp_likelihood`, for the argument `likelihood` of [sparsegp()].
#'   Errors are of class `sparsegp_error`.
#' @seealso [likelihoods] for those that are there.
#' @references Minka, T. P. *Gaussian EP*, for the update by the derivatives of the integral's
#'   logarithm.
#' @concept user-defined likelihood
#' @concept custom family
#' @examples
#' # waiting times with an exponential distribution, whose rate varies
#' exponential <- lik_custom(
#'   function(y, f, theta) dexp(y, exp(-f - theta["bias"]), log = TRUE),
#'   theta = c(bias = 0), response = "positive",
#'   mean = function(f, theta) exp(f + theta["bias"]),
#'   variance = function(f, theta) exp(2 * (f + theta["bias"]))
#' )
#' set.seed(1)
#' x <- seq(0, 6, length.out = 60)
#' wait <- rexp(60, exp(-1 - sin(x)))
#' fit <- sparsegp(x, wait, likelihood = exponential)
#' coef(fit)
#' predict(fit, c(1, 3, 5))
#' @export
lik_custom <- function(log_density, theta = c(), prior = NULL, positive = NULL, data = NULL,
                       response = c("number", "count", "label", "ordered", "positive", "share"),
                       mean = NULL, variance = NULL, quantile = NULL, draw = NULL,
                       gradient = NULL, check = TRUE) {
  functions <- list(log_density = log_density, mean = mean, variance = variance,
                    quantile = quantile, draw = draw, gradient = gradient)
  check_functions(functions)
  theta <- named_theta(theta)
  starts <- vapply(theta, given_value, 0)
  if (is.null(positive)) positive <- names(theta)[starts > 0]
  own <- c(functions, list(
    data = data, response = check_choice(response, CUSTOM_RESPONSES, "response"),
    positive = names(theta) %in% check_names(positive, names(theta), "positive"),
    starts = starts, prior = check_custom_priors(prior, names(theta)), units = c(0, 1)
  ))
  lik <- new_likelihood("custom", theta, list(custom = own))
  if (check_flag(check, "check")) check_custom(lik)
  lik
}

CUSTOM_RESPONSES <- c("number", "count", "label", "ordered", "positive", "share")

check_functions <- function(functions) {
  for (name in names(functions)) {
    given <- functions[[name]]
    if (is.function(given) || is.null(given) && name != "log_density") next
    stop_sparsegp(name, "must be a function", "See ?lik_custom for its arguments")
  }
}

# Returns hyperparameters as a list of numbers by name.
named_theta <- function(theta) {
  theta <- as.list(theta)
  unnamed <- length(theta) > 0L && (is.null(names(theta)) || !all(nzchar(names(theta))))
  if (unnamed || anyDuplicated(names(theta))) {
    stop_sparsegp("theta", "must have a name for each number", "Give c(scale = 1), say")
  }
  taken <- intersect(names(theta), c("variance", "lengthscale", "shape", "period"))
  if (length(taken)) {
    stop_sparsegp("theta", paste0("has the name ", taken[1L], ", which kernels use"),
                  "Give it another name")
  }
  for (name in names(theta)) {
    if (is.null(theta[[name]])) stop_sparsegp("theta", "has no start for one of its names")
    check_hyper(theta[[name]], "theta", positive = FALSE, single = TRUE)
  }
  lapply(theta, plain_numbers)
}

check_names <- function(given, known, argument) {
  unknown <- setdiff(given, known)
  if (length(unknown) == 0L) return(given)
  stop_sparsegp(argument, paste0("names ", toString(unknown), ", which is none of `theta`"),
                "Check the spelling")
}

check_custom_priors <- function(prior, names) {
  check_names(names(prior), names, "prior")
  for (one in prior) check_class(one, "sparsegp_prior", "prior", "Give a prior_*() for each name")
  prior
}

# What is known of every likelihood in R before one is given.
custom_traits <- function() c(lik_code(
  response = "custom_number", data_rows = function(y, weights) rbind(y), own = custom_traits_of
), lik_hyper(), lik_sample(draw = NULL))

# The traits of one
custom_traits_of <- function(lik) {
  own <- lik$custom
  weighted <- "weights" %in% names(formals(own$log_density))
  about <- Map(function(name, start, positive) {
    list(argument = "theta", log = positive, unit_power = 0,
         start = function(rows, offset) if (positive) log(start) else start,
         prior = function(unit, offset) custom_prior(own$prior[[name]], start, positive))
  }, names(lik$params), own$starts, own$positive)
  c(lik_code(
    response = CUSTOM_CODECS[[own$response]], weighted = weighted,
    density = own$response %in% c("number", "positive", "share"),
    data_rows = function(y, weights) {
      if (weighted) rbind(as.double(y), rep_len(weights %||% 1, length(y)), deparse.level = 0L)
      else rbind(as.double(y), deparse.level = 0L)
    }
  ), lik_hyper(about), lik_sample(
    draw = function(f, value, weights) draw_custom(lik, f, unlist(value))
  ))
}

CUSTOM_CODECS <- c(number = "custom_number", count = "counts", label = "labels",
                   ordered = "custom_ordered", positive = "custom_positive",
                   share = "custom_share")

custom_prior <- function(given, start, positive) {
  if (!is.null(given)) given
  else if (positive) prior_lognormal(log(start), 1.5) else prior_normal(start, 5)
}

# Returns the likelihood as it sees a response: numbers are given to it in their own units, which are
# C's times units[2] plus units[1]. The number of categories is known by now, too.
in_units_of_response <- function(lik, response) {
  if (identical(lik$custom$response, "number")) {
    lik$custom$units <- as.double(c(response$centre, response$unit))
  }
  if (!is.null(lik$custom)) lik$custom$categories <- as.double(length(response$levels))
  lik
}

is_custom <- function(x) {
  is.list(x) && is.function(x$log_density) && is_word(x$response, CUSTOM_RESPONSES) &&
    are_doubles(x$units, 2L) && are_finite(x$units) && is.logical(x$positive) &&
    all(vapply(x[c("mean", "variance", "quantile", "draw", "gradient")],
               function(one) is.null(one) || is.function(one), NA))
}

# ---- What C asks ----

# Returns what C gets of it: host(what, y, mu, s2, theta, ...) with theta on C's scale. Where each
# row's likelihood works depends on its response and on theta, and is found once for both.
custom_host <- function(lik) {
  last <- list()
  function(what, y, mu, s2, theta, ...) {
    value <- custom_values(lik, theta)
    logp <- custom_logp(lik, y, value)
    known <- function() {
      if (!identical(last$y, y) || !identical(last$theta, theta)) {
        last <<- list(y = y, theta = theta, known = located_rows(lik, y, value))
      }
      last$known
    }
    switch(what,
           tilts = {
             out <- tilts_custom(logp, mu, s2, known())
             c(out$logz, out$d1, out$d2)
           },
           slopes = rowSums(slopes_of_custom(lik, y, theta, tilts_custom(logp, mu, s2, known()))),
           tilt = {
             out <- tilts_custom(logp, mu, s2, known())
             c(out[c("logz", "d1", "d2")], list(dpar = slopes_of_custom(lik, y, theta, out)))
           },
           predict = predict_custom(lik, value, mu, s2),
           tails = tails_custom(lik, y, value, mu, s2),
           quantile = quantile_custom(lik, y, value, mu, s2, ...),
           eval = c(list(logp = if (!is.null(y)) logp(seq_along(mu), mu)),
                    moments_of_custom(lik, value, mu)))
  }
}

# Returns the hyperparameters as the functions see them.
custom_values <- function(lik, theta) {
  stats::setNames(ifelse(lik$custom$positive, exp(theta), theta), names(lik$params))
}

# Places are the same for rows that are equal.
located_rows <- function(lik, y, value) {
  key <- if (nrow(y) == 1L) c(y) else paste(y[1L, ], y[2L, ])
  first <- which(!duplicated(key))
  known <- locate_custom(custom_logp(lik, y[, first, drop = FALSE], value), length(first))
  lapply(known, `[`, match(key, key[first]))
}

# Returns log p of data rows y at values of f in C's units: function(row, f).
custom_logp <- function(lik, y, value) {
  function(row, f) custom_density(lik, y[1L, row], f, value, if (NROW(y) > 1L) y[2L, row])
}

# Calls the log density at responses and latent values in C's units.
custom_density <- function(lik, y, f, value, weights = NULL) {
  own <- lik$custom
  out <- call_custom(lik, "log_density", list(y * own$units[2L] + own$units[1L],
                                              f * own$units[2L] + own$units[1L], value),
                     weights = weights) + log(own$units[2L])
  if (any(out == Inf, na.rm = TRUE)) {
    stop_sparsegp("likelihood", "has a log_density that is infinite at some latent values",
                  "Bound it: a density has to be finite")
  }
  replace(out, is.na(out), -Inf)
}

# Calls one of the functions; its result has to be a number for each latent value, or `columns` of
# them. An error of its own becomes one about the likelihood.
call_custom <- function(lik, name, arguments, weights = NULL, columns = 1L) {
  fun <- lik$custom[[name]]
  takes <- names(formals(fun))
  if ("weights" %in% takes) arguments$weights <- weights %||% rep(1, length(arguments[[2L]]))
  if ("data" %in% takes) arguments$data <- lik$custom$data
  out <- tryCatch(suppressWarnings(do.call(fun, arguments)), error = function(e) {
    stop_sparsegp("likelihood", paste0("has a function `", name, "` that stopped: ",
                                       conditionMessage(e)),
                  "Correct it; all it looks up has to be there")
  })
  wanted <- length(arguments[[if (name %in% c("mean", "variance", "draw")) 1L else 2L]]) * columns
  if (is.numeric(out) && length(out) == wanted) return(as.double(out))
  stop_sparsegp("likelihood", paste0("has a function `", name, "` that gives ",
                                     if (is.numeric(out)) paste(length(out), "numbers for")
                                     else paste("values of class", class(out)[1L], "for"), " ",
                                     wanted, " latent values"),
                "It has to be vectorised: ifelse() in place of if, pmax() in place of max()")
}

# Returns dlogZ/dtheta of each row, npar x n, theta on C's scale: the expectation of the density's
# derivative, which is the given one or a central difference of order 4.
slopes_of_custom <- function(lik, y, theta, tilted) {
  n <- ncol(y)
  out <- matrix(0, length(theta), n)
  if (length(theta) == 0L) return(out)
  for (nodes in tilted$nodes) {
    slopes <- theta_slopes(lik, y[, nodes$row, drop = FALSE], nodes$f, theta)
    slopes[nodes$weight == 0, ] <- 0
    sums <- rowsum(nodes$weight * slopes, nodes$row)
    at <- as.integer(rownames(sums))
    out[, at] <- out[, at] + t(sums)
  }
  out
}

# Derivatives of log p in theta at rows and latent values: a column for each.
theta_slopes <- function(lik, y, f, theta) {
  own <- lik$custom
  weights <- if (nrow(y) > 1L) y[2L, ]
  value <- custom_values(lik, theta)
  if (!is.null(own$gradient)) {
    slopes <- call_custom(lik, "gradient", list(y[1L, ] * own$units[2L] + own$units[1L],
                                                f * own$units[2L] + own$units[1L], value),
                          weights, length(theta))
    return(matrix(slopes, length(f)) * rep(ifelse(own$positive, value, 1), each = length(f)))
  }
  STEP <- 1e-3
  at <- function(k, shift) {
    custom_density(lik, y[1L, ], f, custom_values(lik, replace(theta, k, theta[k] + shift)), weights)
  }
  each <- vapply(seq_along(theta), function(k) {
    (8 * (at(k, STEP) - at(k, -STEP)) - at(k, 2 * STEP) + at(k, -2 * STEP)) / (12 * STEP)
  }, numeric(length(f)))
  each[is.nan(each)] <- 0 # of densities of 0
  matrix(each, length(f))
}
