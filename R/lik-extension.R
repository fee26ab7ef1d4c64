# Likelihoods of other packages: the twin of src/glue_extension.c.
#
# A value has, beside its type and what was given for its hyperparameters, `extension`: names
# (package and registered name), response, and of each hyperparameter start, lower and upper bounds,
# unit_power and prior; and whether there are quantiles.

#' @rdname extensions
#' @param response Kind of responses: `"number"`, `"count"` (whole numbers of 0 or more) or
#'   `"label"` (two classes, which are -1 and 1 in C).
#' @param start Named starting values of the likelihood's hyperparameters, in the order of C's
#'   `theta`, for a response of standard deviation 1; `NULL`: there are none.
#' @param range A named list of bounds as in [kernel_custom()]. A hyperparameter that is not named
#'   is positive, and C gets its logarithm; with `c(2, Inf)` C gets `log(value - 2)`, with
#'   `c(-Inf, Inf)` the value, and with two bounds the logarithm of the ratio of its distances from
#'   both.
#' @param unit Named powers of the response's unit that hyperparameters have: `c(scale = 1)` for a
#'   standard deviation, 2 for a variance. Those that are not named are pure numbers.
#' @param prior A named list of [priors]. By default those of positive hyperparameters are
#'   log-normal around the start, others normal or, between two bounds, flat.
#' @param theta A named list of values in the response's units, numbers to start from or [fixed()].
#' @param draw `function(f, theta)`: random responses given latent values, in the units of C, for
#'   `simulate()`. `NULL`: there are no simulations.
#' @export
lik_extension <- function(package, name, response = c("number", "count", "label"), start = NULL,
                          range = list(), unit = NULL, prior = list(), theta = list(),
                          draw = NULL) {
  facts <- extension_facts(package, name, "likelihood")
  response <- check_choice(response, c("number", "count", "label"), "response")
  names <- check_theta_names(start, free = TRUE)
  refuse_if(length(names) != facts$count, "start",
            paste0("has ", counted(length(names), "value"), ", and the likelihood ",
                   name, " has ", counted(facts$count, "hyperparameter")),
            "Give one of each, in the order of C's theta")
  refuse_if(!all(names(unit) %in% names) || length(unit) && !is.numeric(unit),
            "unit", "must be powers with names of `start`", "As in unit = c(scale = 1)")
  range <- check_theta_ranges(range, names)
  for (each in names) check_theta_start(start[[each]], each, range[[each]])
  extension <- list(
    names = c(package = package, name = name), response = response,
    start = vapply(names, function(each) as.double(start[[each]]), 0),
    lower = vapply(range, `[`, 0, 1L), upper = vapply(range, `[`, 0, 2L),
    unit_power = vapply(names, function(each) sum(unit[names(unit) == each]), 0),
    prior = check_theta_priors(prior, names), ordered = facts$ordered && response != "label",
    draw = if (!is.null(draw)) check_custom_function(draw, 2L, "draw")
  )
  params <- lapply(stats::setNames(nm = names), function(each) theta[[each]])
  refuse_if(!is.list(theta) || !all(names(theta) %in% names),
            "theta", "must be a list with names of `start`", "As in list(df = fixed(4))")
  lik <- structure(list(type = "extension", params = params, extension = extension),
                   class = "sparsegp_likelihood")
  check_likelihood(lik)
}
