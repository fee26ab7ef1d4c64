# Kernels that are R functions: the twin of src/kern_custom.c.
#
# A value has, beside what other kernels have, `custom`: the user's functions and what is known of
# the hyperparameters that they take, in their order: names, lower and upper bounds, whether they
# are searched as logarithms (hyper-table.R), and the user's priors. The kernel multiplies by a
# variance of its own. C gets `custom` in the specification, and hands it back to
# evaluate_kernel().

#' A kernel of your own
#'
#' @description Makes a kernel of a covariance function that is written in R. It can be used
#' wherever other [kernels] are: alone, in sums and products, of some inputs, for any likelihood and
#' method.
#'
#' *Experimental: arguments may change in a minor version, see [stability].*
#'
#' @details
#' The kernel is `variance * fun(x, z, theta)`. For reference, `kernel_rbf()` would be written
#' ```
#' kernel_custom(function(x, z, theta) {
#'   r2 <- outer(rowSums(x^2), rowSums(z^2), "+") - 2 * tcrossprod(x, z)
#'   exp(-pmax(r2, 0) / (2 * theta[["lengthscale"]]^2))
#' }, theta = c(lengthscale = 1))
#' ```
#' @section Arguments of the function:
#' `x` is an n x p matrix and `z` an m x p matrix, a row for each point and a named column for each
#' input of the kernel (`vars`). With `scale = TRUE` in [sparsegp()], the default, inputs are
#' centred and divided by their standard deviations; a function that reads degrees of longitude, or
#' other numbers with a unit, needs `scale = FALSE`. A factor's column has the numbers of its
#' levels. `theta` is a named vector of the hyperparameters on their natural scale. The answer is an
#' n x m matrix. Each element may depend only on its own pair of points: the function is called for
#' blocks of the matrix, of any size.
#'
#' @section Checks:
#' [sparsegp()] evaluates the function on 40 observations at the starting values, and stops with an
#' error if the matrix has wrong dimensions or values that are not finite, is not symmetric or not
#' positive semidefinite, if a part of the matrix differs from the matrix of a part, or if `diag`
#' or `grad` do not agree with it. Later calls check the dimensions. At hyperparameters where values
#' are not finite the search turns back.
#'
#' @section Saved fits:
#' A fit keeps the function, with the environment that it was made in, and a saved fit has both.
#' Objects that the function takes from the global environment or from packages are looked up when
#' it is called; make it in a function of its own if it needs large or changing data. Whoever loads
#' a fit and predicts runs its function: load only what you trust.
#'
#' @section Cost:
#' R is called once for each block of the matrix. Without `grad` the gradient in theta takes two
#' further calls for each hyperparameter (central differences, correct to about nine digits).
#' Kernels that contain the function are computed without the package's threads.
#'
#' @param fun A function of `x`, `z` and `theta`, see below.
#' @param theta Named starting values of the hyperparameters, a vector or a list, in which [fixed()]
#'   values are kept: `c(lengthscale = 1)`. `NULL`: the function has none. `variance` is not among
#'   them.
#' @param variance As in [kernels]: multiplies the function's values. `NULL`: learned; `fixed(1)`:
#'   the function's values are the covariance, in squared units of the response.
#' @param diag `function(x, theta)`: the n values of `fun` for each point with itself. `NULL`: they
#'   are taken from matrices of a few rows.
#' @param grad `function(x, z, theta)`: the derivatives of `fun` in each hyperparameter, on its
#'   natural scale, as a list of n x m matrices in the order of `theta`. `NULL`: by differences.
#' @param range A named list of bounds, `list(angle = c(-1, 1))`, open intervals that values lie in.
#'   A hyperparameter that is not named is positive, `c(0, Inf)`; `c(-Inf, Inf)` is any number.
#' @param prior A named list of [priors] for hyperparameters of `theta`. By default those in
#'   `c(0, Inf)`, or from a larger bound on, are log-normal around the start, `log(theta / start)` ~
#'   N(0, 1.5^2), those of a
#'   bounded range are flat, and others normal around the start with the standard deviation
#'   `max(1, |start|)`. `prior` of [gp_control()] replaces it.
#' @param vars As in [kernels].
#' @param label Name of the kernel in print: one word.
#' @return A value of class `sparsegp_kernel`. Errors are of class `sparsegp_error`: they name the
#'   argument, and those of the function itself `kernel`, with the function's own message.
#' @seealso [kernels]; [kernel_extension()] for kernels that are compiled.
#' @examples
#' # distances on a sphere, of longitudes and latitudes in degrees
#' great_circle <- kernel_custom(function(x, z, theta) {
#'   to_sphere <- function(at) {
#'     at <- at * pi / 180
#'     cbind(cos(at[, 2]) * cos(at[, 1]), cos(at[, 2]) * sin(at[, 1]), sin(at[, 2]))
#'   }
#'   chord <- pmin(pmax(tcrossprod(to_sphere(x), to_sphere(z)), -1), 1)
#'   exp(-acos(chord) / theta[["range"]])
#' }, theta = c(range = 0.5), label = "great_circle")
#' set.seed(1)
#' places <- data.frame(lon = runif(40, -180, 180), lat = runif(40, -60, 60))
#' places$y <- sin(places$lon * pi / 180) * cos(places$lat * pi / 180) + rnorm(40, sd = 0.1)
#' fit <- sparsegp(y ~ lon + lat, places, kernel = great_circle, scale = FALSE)
#' coef(fit)
#' predict(fit, data.frame(lon = c(179, -179), lat = 0)) # next to each other
#' @export
kernel_custom <- function(fun, theta = NULL, variance = NULL, diag = NULL, grad = NULL,
                          range = list(), prior = list(), vars = NULL, label = "custom") {
  custom <- list(fun = check_custom_function(fun, 3L, "fun"),
                 diag = if (!is.null(diag)) check_custom_function(diag, 2L, "diag"),
                 grad = if (!is.null(grad)) check_custom_function(grad, 3L, "grad"),
                 names = check_theta_names(theta), label = check_custom_label(label))
  range <- check_theta_ranges(range, custom$names)
  custom$lower <- vapply(range, `[`, 0, 1L)
  custom$upper <- vapply(range, `[`, 0, 2L)
  custom$prior <- check_theta_priors(prior, custom$names)
  for (name in custom$names) check_theta_start(theta[[name]], name, range[[name]])
  kernel <- new_kernel("custom", list(variance = variance), vars = vars)
  kernel$params[custom$names] <- as.list(theta)
  kernel$custom <- custom
  kernel
}

check_custom_function <- function(fun, arguments, argument) {
  if (is.function(fun) && accepts_arguments(fun, arguments)) return(fun)
  what <- if (is.function(fun)) "takes too few arguments" else "is not a function"
  stop_sparsegp(argument, what, paste0("Give function(", if (arguments == 2L) "x, theta"
                                                         else "x, z, theta", ")"))
}

accepts_arguments <- function(fun, count) {
  formals <- names(formals(args(fun)))
  length(formals) >= count || "..." %in% formals
}

# Names of hyperparameters are those of coef(), where kernels of a sum have numbers in front.
# free: may one of them be a variance?
check_theta_names <- function(theta, free = FALSE) {
  if (length(theta) == 0L) return(character())
  names <- names(theta)
  right <- (is.numeric(theta) || is.list(theta)) && !is.null(names) && !anyDuplicated(names) &&
    identical(names, make.names(names)) && !any(grepl("^k[0-9]+[.]", names))
  refuse_if(!right, "theta", "must be numbers with names", "As in theta = c(lengthscale = 1)")
  if (free || !any(names == "variance")) return(names)
  stop_sparsegp("theta", "has a variance, which kernel_custom() multiplies by already",
                "Leave it out of the function, and give kernel_custom(variance =) to start it")
}

check_theta_ranges <- function(range, names) {
  if (!is.list(range) || !all(names(range) %in% names) || length(range) != length(names(range))) {
    stop_sparsegp("range", "must be a list with names of `theta`",
                  "As in range = list(angle = c(-1, 1))")
  }
  for (name in names(range)) {
    check_bounds(range[[name]], name)
  }
  range <- lapply(stats::setNames(nm = names), function(name) range[[name]] %||% c(0, Inf))
  lapply(range, as.double)
}

check_theta_start <- function(start, name, range) {
  refuse_if(length(given_value(start)) != 1L, "theta",
            paste0("has no single starting value of ", name), "As in theta = c(lengthscale = 1)")
  check_hyper(start, name, range = range, single = TRUE)
}

check_theta_priors <- function(prior, names) {
  right <- is.list(prior) && length(prior) == length(names(prior)) &&
    all(names(prior) %in% names) && are_priors(prior)
  if (right) return(prior)
  stop_sparsegp("prior", "must be a list of prior_*() values with names of `theta`",
                "As in prior = list(lengthscale = prior_gamma(2, 1))")
}

check_custom_label <- function(label) {
  if (is_text(label) && identical(label, make.names(label))) return(label)
  stop_sparsegp("label", "must be one word", "As in label = \"great_circle\"")
}

# ---- Evaluation ----

# Returns what C asks for, see src/kernel.h; theta as it is searched. `what`: "cross", "diag", or
# "adjoint", the sums of Kbar times the derivatives in theta (z NULL: those of points with
# themselves).
evaluate_kernel <- function(custom, what, theta, x, z, Kbar) {
  colnames(x) <- custom$inputs
  if (!is.null(z)) colnames(z) <- custom$inputs
  switch(what, cross = custom_values(custom, theta, x, z),
         diag = custom_values(custom, theta, x, NULL),
         adjoint = custom_slopes(custom, theta, x, z, Kbar))
}

# Returns values of the function at pairs of points, or of points with themselves, as doubles.
custom_values <- function(custom, theta, x, z) {
  value <- natural_theta(custom, theta)
  if (!is.null(z)) return(as.double(custom_matrix(custom, "fun", value, x, z)))
  if (is.null(custom$diag)) return(diagonal_by_blocks(custom, value, x))
  k <- call_custom(custom$diag, x, value)
  if (is.numeric(k) && length(k) == nrow(x)) return(as.double(k))
  stop_sparsegp("kernel", paste0("has a `diag` that returned ", length(k), " values for ",
                                 counted(nrow(x), "row")), "Return one number for each row of x")
}

natural_theta <- function(custom, theta) {
  free <- custom$lower == -Inf
  value <- ifelse(free, theta, from_search(theta, ifelse(free, 0, custom$lower), custom$upper))
  stats::setNames(as.double(value), custom$names)
}

custom_matrix <- function(custom, which, value, x, z) {
  K <- call_custom(custom[[which]], x, z, value)
  if (is_matrix_of(K, nrow(x), nrow(z))) return(K)
  shape <- if (is.numeric(K)) paste(dim(K) %||% length(K), collapse = " x ")
           else paste("an object of class", dQuote(class(K)[1L], FALSE))
  stop_sparsegp("kernel", paste0("has a function that returned ", shape, " for ", nrow(x), " and ",
                                 nrow(z), " points"),
                "Return a numeric matrix with a row for each row of x and a column for each of z")
}

is_matrix_of <- function(K, nrow, ncol) {
  is.numeric(K) && is.matrix(K) && nrow(K) == nrow && ncol(K) == ncol
}

call_custom <- function(fun, ...) {
  tryCatch(fun(...), error = function(e) {
    stop_sparsegp("kernel", paste0("has a function that failed: ", conditionMessage(e)),
                  "See ?kernel_custom for its arguments")
  })
}

# Takes the diagonal of matrices of a few rows with themselves: O(n) numbers for each row of one.
diagonal_by_blocks <- function(custom, value, x) {
  ROWS <- 32L
  from <- seq(1L, nrow(x), by = ROWS)
  as.double(unlist(lapply(from, function(first) {
    own <- x[first:min(first + ROWS - 1L, nrow(x)), , drop = FALSE]
    diag(custom_matrix(custom, "fun", value, own, own))
  })))
}

# sum(Kbar * dk/dtheta) for each hyperparameter as it is searched
custom_slopes <- function(custom, theta, x, z, Kbar) {
  if (!is.null(custom$grad) && !is.null(z)) return(given_slopes(custom, theta, x, z, Kbar))
  STEP <- 1e-5 # truncation 1e-10 and rounding 1e-11 of values that are of the size of theta
  vapply(seq_along(theta), function(t) {
    at <- function(step) {
      moved <- replace(theta, t, theta[t] + step)
      custom_values(custom, moved, x, z)
    }
    sum(Kbar * (at(STEP) - at(-STEP))) / (2 * STEP)
  }, 0)
}

given_slopes <- function(custom, theta, x, z, Kbar) {
  value <- natural_theta(custom, theta)
  each <- call_custom(custom$grad, x, z, value)
  right <- is.list(each) && length(each) == length(theta) &&
    all(vapply(each, is_matrix_of, NA, nrow(x), nrow(z)))
  refuse_if(!right, "kernel", "has a `grad` that returned no matrix for each hyperparameter",
            paste("Return a list of", nrow(x), "x", nrow(z), "matrices, in theta's order"))
  table <- list(log = custom$lower > -Inf, lower = ifelse(custom$lower == -Inf, 0, custom$lower),
                upper = custom$upper)
  unname(vapply(each, function(slope) sum(Kbar * slope), 0) * hyper_slope(table, value))
}

# ---- Hyperparameters ----

# Returns how a hyperparameter of the function starts, and its default prior.
custom_start <- function(leaf, base) {
  at <- match(base, leaf$custom$names)
  start <- given_value(leaf$params[[base]])
  prior <- leaf$custom$prior[[base]]
  if (!is.null(prior)) return(list(start = start, unit = 1, prior = function(unit) prior))
  range <- c(leaf$custom$lower[[at]], leaf$custom$upper[[at]])
  list(start = start, unit = 1, prior = theta_prior(start, range))
}

# Returns the default prior of a user's hyperparameter, a function of its unit.
theta_prior <- function(start, range) {
  if (range[2L] < Inf) return(function(unit) prior_flat())
  if (range[1L] >= 0) return(default_lognormal(log(start), 1.5))
  function(unit) prior_normal(start * unit, max(1, abs(start)) * unit)
}

# Between what a hyperparameter of a kernel lies; infinite on both sides: it is not searched as a
# logarithm.
range_in <- function(kernel, name) {
  at <- match(name, kernel$custom$names)
  if (is.na(at)) kernel_range(name) else c(kernel$custom$lower[[at]], kernel$custom$upper[[at]])
}

resolve_custom <- function(kernel, inputs) {
  kernel <- resolve_leaf(kernel, inputs)
  kernel$custom$inputs <- kernel$input_names
  kernel
}

# Is this what kernel_custom() keeps of functions and their hyperparameters?
is_custom <- function(x) {
  is.list(x) && is.function(x$fun) && (is.null(x$diag) || is.function(x$diag)) &&
    (is.null(x$grad) || is.function(x$grad)) && is.character(x$names) && is_text(x$label) &&
    are_doubles(x$lower, length(x$names)) && are_doubles(x$upper, length(x$names)) &&
    !anyNA(c(x$lower, x$upper)) && all(x$lower < x$upper) && are_priors(x$prior)
}
