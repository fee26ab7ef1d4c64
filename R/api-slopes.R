#' Slopes of a fit
#'
#' Computes the derivative of the mean response, or of the latent function, along an input, with its
#' standard error and interval, at every row or averaged over the rows (the average marginal
#' effect).
#'
#' @details The derivative of a Gaussian process is jointly Gaussian with it (Rasmussen and Williams
#' 2006, section 9.4). With \eqn{k(x)} the covariances of \eqn{x} with the inducing points (the
#' *basis*) and \eqn{v} the direction in which inputs move with the variable, the posterior of the
#' slope has \deqn{E f' = v' \nabla k(x) \alpha, \quad Var f' = v' \nabla_x \nabla_{x'} k(x, x') v -
#' |G' v' \nabla k|^2 + |H' v' \nabla k|^2}{E f' = v'dk(x) alpha, Var f' = v' d2k(x, x') v - |G'
#' v'dk|^2 +
#' |H' v'dk|^2}
#' where the prediction at \eqn{x} has \eqn{k} in place of its derivative. Log scales of inputs, and
#' terms such as `log(x)`, `poly(x, 2)` or `x:z`, follow the chain rule: the derivatives of such
#' columns are differences of sixth order, the others are formulas.
#'
#' `scale = "response"`: with \eqn{g} the mean response at a latent value, \eqn{g'(f) f'} is the
#' slope, whose mean over the posterior is the derivative of `predict(type = "response")`. Its
#' standard error and interval are those of its distribution, by integration over \eqn{f}; several
#' latent functions use a lattice of 1022 points, accurate to about one hundredth. Each of several
#' classes has a slope of its probability, and ordered categories have the slope of their mean
#' number. The standard error of an average takes each slope as linear in \eqn{f} and \eqn{f'} about
#' their posterior (exact where the mean response is the latent function), and its interval is
#' normal.
#'
#' Slopes of fits that are integrated over their hyperparameters, and of averages of fits, are those
#' of the mixture.
#'
#' Functions of [kernel_matern12()], and fields, have no slopes, nor have levels of a factor: these
#' are errors that name the remedy. Other inputs of the same fit have slopes.
#'
#' If marginaleffects is attached after this package, `slopes()` is its function, which accepts a
#' fit, too (see [other-packages]); where this package is the last, `slopes()` of other models is
#' passed on to it.
#'
#' @param object A fit of [sparsegp()].
#' @param newdata As in [predict][predict.sparsegp]; missing: the training rows.
#' @param vars Names of variables in the formula, or of columns of a matrix of inputs. `NULL`: all
#'   numeric ones.
#' @param scale `"response"` for slopes of the mean response, or the probability of the second of
#'   two classes; `"link"` for slopes of the latent function.
#' @param average `TRUE` for the slope averaged over the rows, instead of one per row.
#' @param level Nominal coverage of the intervals: one number in (0, 1).
#' @param offset As in [predict][predict.sparsegp], for fits of a matrix.
#' @param ... Not used; unknown arguments are an error.
#' @return A data frame with a row for each row of `newdata`, each variable, and each component or
#'   class: `row` (its name; not with `average`), `variable`, `output` (where there are several),
#'   `estimate`, `std.error`, `conf.low` and `conf.high`, in units of the response (latent function)
#'   per unit of the variable. Rows with missing values have `NA`. Errors are of class
#'   `sparsegp_error`.
#'
#'   `draws(type = "slope", vars =, scale =)` draws slopes jointly at all rows.
#' @references Rasmussen, C. E. and Williams, C. K. I. (2006). *Gaussian Processes for Machine
#'   Learning*. MIT Press, section 9.4.
#'
#'   Stein, C. M. (1981). Estimation of the mean of a multivariate normal distribution. *Annals of
#'   Statistics* 9, 1135-1151.
#' @seealso `plot(type = "slope")` in [plot.sparsegp()].
#' @examples
#' fit <- sparsegp(mpg ~ wt + hp, mtcars)
#' slopes(fit, mtcars[1:3, ])
#' slopes(fit, average = TRUE)
#'
#' # how fast the probability of a manual gearbox falls with weight
#' fit <- sparsegp(am ~ wt, mtcars, likelihood = "probit")
#' slopes(fit, data.frame(wt = c(2, 3, 4)))
#' @export
slopes <- function(object, ...) UseMethod("slopes")

#' @rdname slopes
#' @usage NULL
#' @export
slopes.default <- function(object, ...) pass_on("slopes", object, ...)

#' @rdname slopes
#' @export
slopes.sparsegp <- function(object, newdata, vars = NULL, scale = c("response", "link"),
                            average = FALSE, level = 0.95, offset = NULL, ...) {
  check_no_dots(...)
  scale <- check_choice(scale, c("response", "link"), "scale")
  check_flag(average, "average")
  check_number(level, "level", 0, 1)
  object <- slope_object(object, scale)
  newdata <- if (!missing(newdata)) newdata
  vars <- check_slope_variables(object, vars)
  if (average) return(warn_once(average_table(object, newdata, vars, scale, level, offset)))
  found <- warn_once(slopes_asked(object, newdata, vars, scale, offset))
  at <- asked_rows(found$rows)
  outputs <- slope_outputs(object, scale)
  tables <- lapply(vars, function(name) {
    slope_table(slope_columns(found$each[[name]], level), name, at, outputs)
  })
  `rownames<-`(do.call(rbind, tables), NULL)
}

# Returns rows for a variable, those of an output after those of the one before.
slope_table <- function(columns, name, at, outputs) {
  n <- length(at)
  count <- ncol(columns$estimate)
  columns <- lapply(columns, function(column) c(column[at, , drop = FALSE]))
  keys <- data.frame(row = rep(names(at) %||% as.character(seq_len(n)), count),
                     variable = rep(name, n * count))
  if (!is.null(outputs)) keys$output <- rep(factor(outputs, outputs), each = n)
  cbind(keys, as.data.frame(columns))
}

average_table <- function(object, newdata, vars, scale, level, offset) {
  found <- average_slopes(object, newdata, vars, scale, offset)
  columns <- slope_columns(found, level)
  outputs <- slope_outputs(object, scale)
  keys <- data.frame(variable = rep(vars, ncol(columns$estimate)))
  if (!is.null(outputs)) keys$output <- rep(factor(outputs, outputs), each = length(vars))
  cbind(keys, as.data.frame(lapply(columns, c)))
}
