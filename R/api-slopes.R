#' Slopes of a fit
#'
#' How fast the response changes with an input: the derivative of the mean response, or of the
#' latent function, with its standard error and interval, at every row or averaged over the rows
#' (the average marginal effect).
#'
#' @details
#' The derivative of a Gaussian process is one, too, and known jointly with it (Rasmussen and
#' Williams 2006, section 9.4). With \eqn{k(x)} the covariances of \eqn{x} with the inducing points
#' (the *basis*) and \eqn{v} the direction in which inputs move with the variable, the posterior of
#' the slope has
#' \deqn{E f' = v' \nabla k(x) \alpha, \quad Var f' = v' \nabla_x \nabla_{x'} k(x, x') v - |G' v'
#' \nabla k|^2 + |H' v' \nabla k|^2}{E f' = v'dk(x) alpha, Var f' = v' d2k(x, x') v - |G' v'dk|^2 +
#' |H' v'dk|^2}
#' where the prediction at \eqn{x} has \eqn{k} in place of its derivative. Log scales of inputs, and
#' terms such as `log(x)`, `poly(x, 2)` or `x:z`, follow the chain rule: the derivatives of such
#' columns are differences of sixth order, the others are formulas.
#'
#' `scale = "response"`: with \eqn{g} the mean response at a latent value, \eqn{g'(f) f'} is the
#' slope, whose mean over the posterior is the derivative of `predict(type = "response")`. Its
#' standard error and interval are those of its distribution, by integration over \eqn{f}; of
#' several classes, for each of which there is a slope of its probability, by a lattice of 1022
#' points, to about one hundredth. The standard error of an average takes each slope as linear in
#' \eqn{f} and \eqn{f'} about their posterior (exact where the mean response is the latent
#' function), and its interval is normal.
#'
#' Slopes of fits that are integrated over their hyperparameters, and of averages of fits, are those
#' of the mixture.
#'
#' Functions of [kernel_matern12()], and fields, have no slopes, and levels of a factor none: those
#' are errors that name the remedy. Along other inputs of the same fit there are slopes.
#'
#' Where marginaleffects is attached after this package, `slopes()` is its function, which
#' understands a fit, too (see [other-packages]); where this package is the last, `slopes()` of
#' other models is passed on to it.
#'
#' @param object A fit of [sparsegp()].
#' @param newdata As in [predict][predict.sparsegp]; missing: the training rows.
#' @param vars Names of variables: of the formula, or columns of a matrix of inputs. `NULL`: all
#'   that are numbers.
#' @param scale `"response"`: of the mean response, or the probability of the second of two classes;
#'   `"link"`: of the latent function.
#' @param average Of the average over the rows, instead of each row?
#' @param level Probability content of the intervals, in (0, 1).
#' @param offset As in [predict][predict.sparsegp], for fits of a matrix.
#' @param ... Nothing: an unknown argument is an error.
#' @return A data frame with a row for each row of `newdata`, each variable, and each component or
#'   class: `row` (its name; not with `average`), `variable`, `output` (where there are several),
#'   `estimate`, `std.error`, `conf.low` and `conf.high`, in units of the response (latent function)
#'   per unit of the variable. Rows with missing values have `NA`. Errors are of class
#'   `sparsegp_error`.
#'
#'   `predict(type = "slope", vars =, scale =)` has the same numbers as vectors and matrices, and
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
#' predict(fit, data.frame(wt = 3), type = "slope", se.fit = TRUE)
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

# Returns a fit that slopes may be asked of, or stops.
slope_object <- function(object, scale) {
  object <- ready(object)
  check_offered(codec_of(object), "slope", character())
  check_latent_type(object, if (scale == "link") "link" else "response")
  object
}

# Returns the columns of an answer, a matrix with a column for each output in each.
slope_columns <- function(answer, level) {
  ends <- c((1 - level) / 2, (1 + level) / 2)
  columns <- list(estimate = answer$mean, std.error = answer$sd,
                  conf.low = slope_quantile(answer, ends[1L]),
                  conf.high = slope_quantile(answer, ends[2L]))
  lapply(columns, function(column) unname(as.matrix(column)))
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

# ---- predict() and draws() ----

# Returns what predict(type = "slope") answers: rows x (fit, lwr, upr) x variables x outputs, of which
# sides of one are left out.
predict_slopes <- function(object, newdata, offset, request) {
  object <- slope_object(object, request$scale)
  vars <- check_slope_variables(object, request$vars)
  found <- slopes_asked(object, newdata, vars, request$scale, offset)
  at <- asked_rows(found$rows)
  columns <- lapply(found$each, slope_columns, request$level)
  values <- function(fields, interval) {
    each <- unlist(lapply(columns, function(own) {
      lapply(own[fields], function(column) column[at, , drop = FALSE])
    }))
    outputs <- slope_outputs(object, request$scale)
    count <- max(1L, length(outputs))
    out <- array(each, c(length(at), count, length(fields), length(vars)),
                 list(names(at), outputs, interval, vars))
    drop_sides(aperm(out, c(1L, 3L, 4L, 2L)))
  }
  fit <- if (request$interval == "none") values("estimate", NULL)
         else values(c("estimate", "conf.low", "conf.high"), c("fit", "lwr", "upr"))
  if (request$se.fit) list(fit = fit, se.fit = values("std.error", NULL)) else fit
}

# Leaves out the sides of an array, but the first, that have one place.
drop_sides <- function(x) {
  kept <- c(TRUE, dim(x)[-1L] > 1L)
  if (sum(kept) == 1L) return(stats::setNames(c(x), dimnames(x)[[1L]]))
  array(x, dim(x)[kept], dimnames(x)[kept])
}

# Draws slopes along one variable, jointly at all rows: rows x draws, or x outputs.
slope_draws <- function(object, newdata, n, vars, scale) {
  object <- slope_object(object, scale)
  vars <- check_slope_variables(object, vars)
  if (length(vars) > 1L) {
    stop_sparsegp("vars", paste0("are ", length(vars), " variables, and draws are along one"),
                  "Name one of them")
  }
  from <- drawn_members(object, n)
  each <- lapply(split(from, from), function(own) {
    member <- if (has_members(object)) as_member(object, own[1L]) else object
    if (has_members(member)) slope_draws(member, newdata, length(own), vars, scale)
    else slope_draws_of(member, newdata, length(own), vars, scale)
  })
  bound_draws(each, order(order(from)))
}

slope_draws_of <- function(object, newdata, n, name, scale) {
  rows <- rows_with_slopes(object, newdata, name)
  along <- rows$along[[1L]]
  points <- nrow(rows$x)
  both <- lapply(seq_len(processes(object)), function(class) {
    joint <- if (points) joint_slopes(object, rows$x, along$v, class)
             else list(mean = numeric(), var = matrix(0, 0L, 0L))
    drawn_normal(joint$mean, matrix(joint$var, 2L * points), n)
  })
  w <- n_outputs(object)
  drawn <- lapply(seq_len(n), function(j) {
    f <- by_row(lapply(both, function(own) own[seq_len(points), j]), w)
    slope <- by_row(lapply(both, function(own) own[points + seq_len(points), j]), w)
    drawn_slopes(object, f, slope, rows$offset, along$shift, scale)
  })
  outputs <- slope_outputs(object, scale)
  out <- array(unlist(drawn), c(points %/% w, max(1L, length(outputs)), n),
               list(NULL, outputs, paste0("draw_", seq_len(n))))
  out <- aperm(out, c(1L, 3L, 2L))
  at <- asked_rows(rows)
  out <- out[at, , , drop = FALSE]
  rownames(out) <- names(at)
  if (is.null(outputs)) array(out, dim(out)[1:2], dimnames(out)[1:2]) else out
}

# Returns a matrix with a row for each row and its latent values of all classes, or components.
by_row <- function(each, w) {
  if (w > 1L) matrix(each[[1L]], ncol = w, byrow = TRUE)
  else matrix(unlist(each), ncol = length(each))
}

# Returns slopes at latent values f with derivatives `slope`.
drawn_slopes <- function(object, f, slope, offset, shift, scale) {
  if (scale == "response") {
    refuse_jumps(object)
    return(slopes_at(object, f, slope, offset, shift))
  }
  units <- if (has_components(object)) component_units(object$response) else object$response$unit
  slope * rep(units, each = nrow(f), length.out = length(slope)) + shift
}
