# This file has what C asks of likelihoods that are R functions: the log density of a user, and its
# derivatives in the hyperparameters, at many points at once (hosted_tilts.h).

# Called by C (glue_host.c). rows: q x m, a data row for each point; f[m x w]. Returns m numbers.
logps_of_custom <- function(custom, theta, rows, f) {
  custom_log_density(custom, natural_custom(custom, theta), rows, latent_columns(custom, f))
}

# Returns a matrix with a row for each hyperparameter and a column for each point.
slopes_of_custom <- function(custom, theta, rows, f) {
  do.call(rbind, lapply(density_slopes(custom, c(theta), rows, latent_columns(custom, f)), c))
}

# Returns latent values, n or n x 2 of them, as a list of columns.
latent_columns <- function(custom, f) {
  f <- matrix(f, ncol = max(1L, length(custom$components)))
  lapply(seq_len(ncol(f)), function(k) f[, k, drop = FALSE])
}

# Returns the hyperparameters on their natural scale, by name.
natural_custom <- function(custom, theta) {
  natural <- from_search(c(theta), replace(custom$lower, !custom$log, 0), custom$upper)
  stats::setNames(ifelse(custom$log, natural, c(theta)), custom$names)
}

# Returns the log density of data rows at latent values f, a list of a matrix [rows x nodes] for
# each latent function. What is wrong with it is an error in words; -Inf is a density of 0.
custom_log_density <- function(custom, value, rows, f) {
  answer <- call_user(custom$fun, "log_density", row_arguments(custom, custom$fun, rows, f, value))
  check_answer(answer, f[[1L]], "log_density")
}

# Returns the arguments of a user's function of data rows, y, weights and constants in the shape of
# f; weights only where it takes them.
row_arguments <- function(custom, fun, rows, f, value) {
  alike <- function(x) matrix(x, nrow(f[[1L]]), ncol(f[[1L]]))
  c(list(alike(rows[1L, ])), latent_arguments(custom, fun, f, value, rows[-(1:2), , drop = FALSE]),
    if ("weights" %in% names(formals(args(fun)))) list(weights = alike(rows[2L, ])))
}

# Returns the arguments of a user's function of latent values: f, theta and, where the function
# takes them, constants, of which there is a column for each row of f.
latent_arguments <- function(custom, fun, f, value, constants) {
  seen <- if (is.null(custom$components)) f[[1L]] else stats::setNames(f, custom$components)
  out <- list(seen, value)
  if (length(custom$data) == 0L || !takes_data(fun)) return(out)
  if (NROW(constants) < length(custom$data)) refuse_lacking_constants(custom)
  each <- lapply(seq_along(custom$data), function(k) {
    matrix(constants[k, ], nrow(f[[1L]]), ncol(f[[1L]]))
  })
  c(out, list(data = stats::setNames(each, custom$data)))
}

takes_data <- function(fun) any(c("data", "...") %in% names(formals(args(fun))))

call_user <- function(fun, name, arguments) {
  force(arguments) # whose errors are not the function's
  tryCatch(do.call(fun, arguments, quote = TRUE), error = function(e) {
    stop_sparsegp("likelihood", paste0("has a `", name, "` that stops: ", conditionMessage(e)),
                  "See ?lik_custom for its arguments")
  })
}

check_answer <- function(answer, f, name) {
  refuse_if(!is.numeric(answer) || length(answer) != length(f), "likelihood",
            paste0("has a `", name, "` that returns ", length(answer),
                   " values of class ", class(answer)[1L], " for ",
                   nrow(f), " x ", ncol(f), " latent values"),
            "Return a matrix of numbers in the shape of `f`")
  if (anyNA(answer) || any(answer == Inf)) {
    at <- which(is.na(answer) | answer == Inf)[1L]
    stop_sparsegp("likelihood", paste0("has a `", name, "` that returns ", answer[at],
                                       " at f = ", signif(f[at], 4L)),
                  "Return finite numbers, or -Inf where the density is 0")
  }
  dim(answer) <- dim(f)
  answer
}

# Called by C (glue_host.c) where the integral of a row has a large relative error.
refuse_lost_integrals <- function(error) {
  stop_sparsegp("likelihood", paste0("has a `log_density` that jumps or turns too often in `f` to ",
                                     "be integrated: an error of ", signif(error, 1L), " is left"),
                "Return a function that is smooth in `f`, but for a few corners and jumps")
}

# Derivatives in theta on C's scale: the user's, or central differences, whose error is about 1e-9
# of the third derivative.
density_slopes <- function(custom, theta, rows, f) {
  if (!is.null(custom$gradient)) return(user_slopes(custom, theta, rows, f))
  STEP <- 1e-4
  lapply(seq_along(theta), function(j) {
    at <- function(by) {
      moved <- natural_custom(custom, replace(theta, j, theta[j] + by))
      pmax(custom_log_density(custom, moved, rows, f), -1e300)
    }
    (at(STEP) - at(-STEP)) / (2 * STEP)
  })
}

user_slopes <- function(custom, theta, rows, f) {
  value <- natural_custom(custom, theta)
  given <- call_user(custom$gradient, "gradient",
                     row_arguments(custom, custom$gradient, rows, f, value))
  refuse_if(!is.list(given) || length(given) != length(theta),
            "likelihood", "has a `gradient` that is no list with a matrix for each of theta",
            "Return list(d1, d2, ...), in the order of `theta`")
  bounded <- custom$upper < Inf
  share <- (custom$upper - value) / (custom$upper - custom$lower)
  chain <- ifelse(custom$log, (value - custom$lower) * ifelse(bounded, share, 1), 1)
  Map(function(slope, by) check_answer(slope, f[[1L]], "gradient") * by, given, chain)
}
