# A likelihood that is written in R: the twin of src/lik_custom.c. Its functions are called in
# lik-custom-call.R; its tilts are in lik-custom-tilt.R, what is asked of its responses in
# lik-custom-responses.R.

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
    data = data, response = check_choice(response, names(CUSTOM_CODECS), "response"),
    positive = names(theta) %in% check_names(positive, names(theta), "positive"),
    starts = starts, prior = check_custom_priors(prior, names(theta)), units = c(0, 1)
  ))
  lik <- new_likelihood("custom", theta, list(custom = own))
  if (check_flag(check, "check")) check_custom(lik)
  lik
}

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
  ), list(host = function(rows) custom_host(lik, rows)))
}

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

# ---- What C asks ----

# Returns what C gets of it: host(what, y, mu, s2, theta, ...) with theta on C's scale. rows: data
# rows of the problem, or NULL
custom_host <- function(lik, rows) {
  places <- remembered_places(lik, rows)
  function(what, y, mu, s2, theta, ...) {
    value <- custom_values(lik, theta)
    logp <- custom_logp(lik, y, value)
    tilted <- function() tilts_custom(logp, mu, s2, places(y, theta, value))
    old <- options(warn = -1) # of NaN at values far out, which are taken for densities of 0
    on.exit(options(old))
    switch(what,
           tilts = unlist(tilted()[c("logz", "d1", "d2")], use.names = FALSE),
           slopes = rowSums(slopes_of_custom(lik, y, theta, tilted())),
           tilt = {
             out <- tilted()
             c(out[c("logz", "d1", "d2")], list(dpar = slopes_of_custom(lik, y, theta, out)))
           },
           predict = predict_custom(lik, value, mu, s2),
           tails = tails_custom(lik, y, value, mu, s2),
           quantile = quantile_custom(lik, y, value, mu, s2, ...),
           eval = c(list(logp = if (!is.null(y)) logp(seq_along(mu), mu)),
                    moments_of_custom(lik, value, mu)))
  }
}

# Returns a function of (y, theta, value) that finds where the likelihood of data rows works. That of
# the rows of the problem is found for all of them at once and kept until theta changes, as
# algorithms ask for the same rows time and again, some of them one by one.
remembered_places <- function(lik, rows) {
  table <- at <- NULL
  function(y, theta, value) {
    if (!identical(at, theta)) {
      table <<- located_rows(lik, if (is.null(rows)) y else rows, value)
      at <<- theta
    }
    where <- match(row_keys(y), table$key)
    if (anyNA(where)) return(located_places(lik, y, value))
    list(centre = table$centre[where], width = table$width[where])
  }
}
